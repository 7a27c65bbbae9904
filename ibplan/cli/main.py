"""The command line. Each command lives in a module of its own that imports what is heavy only when it runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from typing import Annotated

import typer

from ibplan._version import __version__
from ibplan.cli import (
    bom,
    cables,
    catalog,
    compare,
    design,
    diagram,
    diff,
    export,
    growth,
    imports,
    lock,
    quote,
    racks,
    show,
    simulate,
    specs,
    verify,
)
from ibplan.cli.output import emit

app = typer.Typer(
    name="ibplan",
    help="Plan, price and compare fat-tree networks for GPU clusters: InfiniBand, RoCE and plain Ethernet.",
    epilog="Start with: ibplan init -o spec.yaml",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("design")(design.design)
app.command("compare")(compare.compare)
app.command("bom")(bom.bom)
app.command("cables")(cables.cables)
app.command("lock")(lock.lock)
app.command("diff")(diff.diff)
app.command("quote")(quote.quote)
app.command("show")(show.show)
app.command("racks")(racks.racks)
app.command("simulate")(simulate.simulate)
app.command("diagram")(diagram.diagram)
app.command("export")(export.export)
app.command("growth")(growth.growth)
app.command("verify")(verify.verify)
app.command("import")(imports.import_)
app.command("validate")(specs.validate)
app.command("schema")(specs.schema)
app.command("init")(specs.init)
app.add_typer(catalog.app, name="catalog")


def _show_version(wanted: bool) -> None:
    if wanted:
        emit(f"ibplan {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Plan, price and compare fat-tree networks for GPU clusters: InfiniBand, RoCE and plain Ethernet."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """The app with as many of its commands as these arguments can need.

    Looking at the options of every command takes as long as all else that a start does, so a command that is named is
    the only one that is looked at, and `--version` needs none.
    """
    first = words[0] if words and "_IBPLAN_COMPLETE" not in os.environ else ""
    named = [command for command in app.registered_commands if command.name == first]
    if not named and first != "--version":
        return app
    narrow = copy(app)
    narrow.registered_commands = named or app.registered_commands[:1]
    narrow.registered_groups = []
    return narrow
