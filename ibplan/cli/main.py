"""The command line. Each command lives in a module of its own that imports what is heavy only when it runs."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Annotated

import typer

from ibplan._version import __version__
from ibplan.cli import bom, cables, catalog, design, diagram, show, specs
from ibplan.cli.common import run_guarded
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
app.command("bom")(bom.bom)
app.command("cables")(cables.cables)
app.command("show")(show.show)
app.command("diagram")(diagram.diagram)
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


def _terminate(number: int, frame: object) -> None:
    # As an exception, so that files in the making are cleaned up.
    sys.exit(128 + number)


def _start_fast() -> None:
    """A short life: little garbage in cycles to look for, and no plugins of pydantic that could change a result."""
    gc.set_threshold(200_000, 20, 20)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def main() -> None:
    """The `ibplan` program."""
    _start_fast()
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run_guarded(lambda: app(prog_name="ibplan")))


if __name__ == "__main__":
    main()
