"""What every command shares: its options, and the one place where an exception becomes a message and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from ibplan.cli.output import ClosedPipeError, emit, narrow_encoding
from ibplan.errors import EXIT_FAULT, EXIT_OK, IbplanError, InputError, UsageError
from ibplan.system import escaped, readable

__all__ = [
    "DesignOption",
    "Format",
    "FormatOption",
    "LockOption",
    "Network",
    "NetworkOption",
    "NoLockOption",
    "OutputOption",
    "OverlaysOption",
    "PricesOption",
    "SettingsOption",
    "SpecArgument",
    "SpecsArgument",
    "WidthOption",
    "ascii_only",
    "emit",
    "page",
    "run_guarded",
    "say",
    "terminal",
]

EXIT_INTERRUPTED: Final = 130
NARROWEST: Final = 20
WIDEST: Final = 500
# Where nothing limits the width (a pipe, a file), lines are as long as people like to read.
_READABLE: Final = 100
REPORT: Final = "This is a fault of ibplan, not of your input: please report it with the spec and the command line."


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    MARKDOWN = "markdown"


class Network(StrEnum):
    """A network of a design."""

    COMPUTE = "compute"
    STORAGE = "storage"
    INBAND = "inband"
    OOB = "oob"


SpecArgument = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file; - is standard input.")]
SpecsArgument = Annotated[list[Path], typer.Argument(metavar="SPEC", help="Spec files; - is standard input.")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        parser=readable,
        help="Change the spec: network.oversubscription=2:1. May be given more than once.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a file, whole or not at all."),
]
FormatOption = Annotated[Format, typer.Option("--format", metavar="FORMAT", help="table, json, yaml, csv or markdown.")]
DesignOption = Annotated[
    str | None,
    typer.Option(
        "--design", metavar="ID", parser=readable, help="Only this design, by the id that `ibplan design` lists."
    ),
]
NetworkOption = Annotated[Network, typer.Option("--network", metavar="NAME", help="compute, storage, inband or oob.")]
OverlaysOption = Annotated[
    list[Path] | None,
    typer.Option("--catalog", metavar="FILE", help="Lay a file over the catalogue. May be given more than once."),
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Lay a price file over the price book.")
]
LockOption = Annotated[
    Path | None,
    typer.Option("--lock", metavar="FILE", help="The lock to keep to; default: <spec>.lock.yaml, if it is there."),
]
NoLockOption = Annotated[bool, typer.Option("--no-lock", help="Plan as if there were no lock.")]
WidthOption = Annotated[
    int | None,
    typer.Option("--width", metavar="COLUMNS", min=60, max=WIDEST, help="Width of a table; default: the terminal's."),
]


def terminal(output: Path | None) -> tuple[int, bool]:
    """Width and color for a table. Where no terminal limits the width, a table is as wide as it needs."""
    shown = (output is None or str(output) == "-") and sys.stdout is not None and sys.stdout.isatty()
    width = _columns() or WIDEST
    if shown and width == WIDEST:
        width = shutil.get_terminal_size((WIDEST, 24)).columns
    return width, shown and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def page(output: Path | None, asked: int | None) -> tuple[int, bool]:
    """Width and color of text for people: the width that is `asked` for, or else that of the terminal."""
    limit, color = terminal(output)
    return asked or (_READABLE if limit == WIDEST else limit), color


def ascii_only(output: Path | None) -> bool:
    """Whether what is written to can show no more than ASCII."""
    if output is not None and str(output) != "-":
        return False
    return narrow_encoding() is not None


def _columns() -> int | None:
    """The width that the environment states, if it is one that anything can be shown in."""
    stated = os.environ.get("COLUMNS", "")
    columns = int(stated) if re.fullmatch("[0-9]{1,4}", stated) else 0
    return columns if NARROWEST <= columns <= WIDEST else None


def run_guarded(command: Callable[[], object]) -> int:
    """Run a command; the exit code. Whatever it raises ends here as a message on standard error."""
    if _columns() is None:
        os.environ.pop("COLUMNS", None)  # rich would take it at its word where it shows help, and show nothing
    try:
        command()
        code = EXIT_OK
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich and typer leave so while they print help
            return EXIT_OK
        code = stop.code if isinstance(stop.code, int) else EXIT_OK if stop.code is None else EXIT_FAULT
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except ClosedPipeError:
        code = EXIT_OK
    except Exception as error:  # the last line of defence: no traceback for anyone who did not ask for one
        code = _report(error)
    return _flush(code)


def _report(error: Exception) -> int:
    if os.environ.get("IBPLAN_DEBUG") == "1":
        traceback.print_exception(error)
    if isinstance(error, InputError):
        say(str(error))
    elif isinstance(error, UsageError):
        say(f"ibplan: {error}")
    elif isinstance(error, IbplanError):
        say(f"ibplan: {error}" if str(error) else "ibplan: failed")
    elif isinstance(error, MemoryError):
        say("ibplan: out of memory: plan fewer GPUs, or explore fewer values")
    elif isinstance(error, RecursionError):
        say("ibplan: the input is nested too deep")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        say(f"ibplan: the disk is full: {error.filename or 'standard output'}")
    else:
        say(f"ibplan: internal fault: {type(error).__name__}: {error}\n{REPORT} IBPLAN_DEBUG=1 shows the trace.")
    return error.exit_code if isinstance(error, IbplanError) else EXIT_FAULT


def say(message: str) -> None:
    """A message to the user, on standard error. What a file name or an argument brings cannot drive the terminal."""
    with contextlib.suppress(OSError, ValueError):  # where standard error is closed, the exit code still tells
        print(escaped(message, keep="\n"), file=sys.stderr, flush=True)  # noqa: T201  # the one place that prints messages


def _flush(code: int) -> int:
    """Write out what is pending, so that a closed pipe or a full disk is not found only when Python ends."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except BrokenPipeError:
        _discard_stdout()
        return EXIT_OK
    except (OSError, ValueError) as error:
        _discard_stdout()
        say(f"ibplan: standard output cannot be written: {getattr(error, 'strerror', None) or error}")
        return EXIT_FAULT
    return code


def _discard_stdout() -> None:
    # What is pending can go nowhere; without this, Python would complain about it at its end.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
