"""`ibplan export`: a design in the files of the programs that will run it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ibplan.cli.common import (
    DesignOption,
    Format,
    LockOption,
    Network,
    NetworkOption,
    NoLockOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    WidthOption,
    ascii_only,
    page,
    say,
)
from ibplan.cli.output import emit, emit_pieces
from ibplan.errors import UsageError
from ibplan.system import readable


def export(
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="The spec file; - is standard input.", show_default=False)
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="TARGET", parser=readable, help="What to write; --list has all.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="The directory to write to; - is standard output, for a single file."
        ),
    ] = None,
    list_targets: Annotated[bool, typer.Option("--list", help="List the targets, and write nothing.")] = False,
    form: Annotated[
        Format, typer.Option("--format", metavar="FORMAT", help="Of the list: table, json, yaml, csv or markdown.")
    ] = Format.TABLE,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that ibplan did not write, or that were changed.")
    ] = False,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    network: NetworkOption = Network.COMPUTE,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    lock: LockOption = None,
    no_lock: NoLockOption = False,
    width: WidthOption = None,
) -> None:
    """Write a design in the files of another program: subnet manager, scheduler, simulator, source of truth."""
    if list_targets:
        _list(form, width)
        return
    if spec is None or to is None or output is None:
        missing = [name for name, value in (("SPEC", spec), ("--to", to), ("-o", output)) if value is None]
        raise UsageError(f"{' and '.join(missing)} missing: ibplan export SPEC --to TARGET -o DIR, or --list")
    from ibplan.cli.planning import load_inputs
    from ibplan.export.registry import find_target, make_export
    from ibplan.export.scheme import make_scheme

    target = find_target(to)
    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, lock, no_lock)
    scheme = make_scheme(loaded, catalog, design_id, network.value)
    made = make_export(target, scheme)
    if str(output) == "-":
        if len(made.files) > 1:
            raise UsageError(f"--to {target.name} writes {len(made.files)} files: name a directory with -o")
        emit_pieces(made.files[0].pieces)
    else:
        from ibplan.cli.output_tree import write_tree

        about = {"spec": scheme.wired.name, "design": scheme.wired.id, "network": network.value}
        write_tree(output, target.name, about, [(file.path, file.pieces) for file in made.files], force=force)
    for note in made.notes:
        say(f"note: {note}")


def _list(form: Format, width: int | None) -> None:
    from ibplan.export.registry import target_rows
    from ibplan.report.catalog import render_rows

    rows = target_rows()
    shown, color = page(None, width)
    columns = tuple(rows[0]) if form is not Format.TABLE else ("target", "what", "for", "files")
    emit(render_rows(rows, columns, form.value, width=shown, color=color, ascii_only=ascii_only(None)))
