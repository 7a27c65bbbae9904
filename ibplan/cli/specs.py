"""Commands about the spec itself: validate, schema, init."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ibplan.cli.common import OutputOption, SettingsOption, SpecsArgument
from ibplan.cli.output import emit
from ibplan.errors import InputError, Problem, UsageError
from ibplan.system import system_path

# Reading specs needs pydantic: each command imports it when it runs, so that `--help` does not.


def validate(specs: SpecsArgument, settings: SettingsOption = None) -> None:
    """Check specs, and locks beside them: every problem of every file, with its line and column."""
    from ibplan.catalog.store import Catalog, load_catalog
    from ibplan.document import printable
    from ibplan.plan.extent import check_forms
    from ibplan.plan.resolve import resolve
    from ibplan.spec.load import LOCK_SUFFIX, check_specs
    from ibplan.spec.lock import read_lock

    problems: list[Problem] = []
    good: list[str] = []
    locks = [path for path in specs if path.name.endswith(LOCK_SUFFIX)]
    catalogs: dict[tuple[tuple[Path, ...], Path | None], Catalog] = {}
    for lock in locks:
        try:
            read_lock(lock)
            good.append(f"{printable(lock)}: ok\n")
        except InputError as error:
            problems += error.problems
    for result in check_specs([path for path in specs if path not in locks], settings or ()):
        try:
            if isinstance(result, InputError):
                raise result
            files = result.catalog_paths, result.price_path
            if files not in catalogs:
                catalogs[files] = load_catalog(*files)
            check_forms(result, catalogs[files], resolve(result, catalogs[files]))
            good.append(f"{result.source}: ok\n")
        except InputError as error:
            problems += error.problems
    if good:
        emit("".join(good))
    if problems:
        raise InputError(problems)


def schema(output: OutputOption = None) -> None:
    """Print the JSON Schema of the spec, for editors and for programs that write specs."""
    from ibplan.spec.schema import read_schema

    emit(read_schema(), output)


def init(
    output: OutputOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Print a spec to start from: three lines, and every other key with its default as a comment."""
    from importlib.resources import files

    if output is not None and str(output) != "-" and system_path(output).is_file() and not force:
        raise UsageError(f"{output}: the file exists; --force overwrites it")
    emit(files("ibplan.spec").joinpath("starter.yaml").read_text(encoding="utf-8"), output)
