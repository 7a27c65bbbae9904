"""Runs commands within this process, by the same way in as the program's."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass

import pytest
from typer.main import get_command

from ibplan.cli.common import run_guarded
from ibplan.cli.main import app

# Made once: looking at the options of every command takes longer than many a command does.
_PROGRAM = get_command(app)


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


def cli(*arguments: str, stdin: bytes = b"") -> Done:
    """Run a command with standard streams of its own."""
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        for name, stream in (("stdout", out), ("stderr", err)):
            wrapped = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", write_through=True)
            patch.setattr(sys, name, wrapped)
        code = run_guarded(lambda: _PROGRAM(list(arguments), prog_name="ibplan"))
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, out.getvalue().decode(), err.getvalue().decode())
