"""Runs the program in a child of its own, and measures what it takes: processor time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cli.run import ROOT, command, environment

# Two seconds and 200 MB. The seconds are of processor time, beyond what the program takes here and now to start and to
# read a small sound spec (0.5 s where this was written, where the slowest case took half a second more, and up to twice
# that when the processor was shared): work that grows with the size takes many times as long.
MAX_SECONDS = 2.0
MAX_MB = 200.0


@dataclass(frozen=True)
class Measured:
    """What a child did and took."""

    code: int
    out: str
    err: str
    seconds: float
    mb: float


@cache
def _launcher() -> subprocess.Popen[str]:
    """The process that starts all that is measured: it ends when this one does, which closes its standard input."""
    return subprocess.Popen(
        [sys.executable, "-S", "-E", str(Path(__file__).with_name("launcher.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def measured(*arguments: str, cwd: Path | None = None, stdin: Path | None = None) -> Measured:
    """Run a command; its standard input is a file."""
    launcher = _launcher()
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        out.touch()
        err.touch()
        files = {"stdin": str(stdin or os.devnull), "stdout": str(out), "stderr": str(err)}
        job = {"argv": command(*arguments), "cwd": str(cwd or ROOT), "env": environment(), **files}
        print(json.dumps(job), file=launcher.stdin, flush=True)
        status, seconds, mb = json.loads(launcher.stdout.readline())
        return Measured(os.waitstatus_to_exitcode(status), out.read_text(), err.read_text(), seconds, mb)


@cache
def start_seconds() -> float:
    """Processor time of a command that has little to do."""
    done = measured("validate", "specs/one-switch.yaml")
    assert (done.code, done.err) == (0, "")
    return done.seconds


def refused(done: Measured, *words: str) -> None:
    """It was refused as bad input: at once, in little memory, with nothing on standard output and a clear message."""
    assert (done.code, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    assert len(done.err) < 20_000
    for word in words:
        assert word in done.err
    assert done.seconds < MAX_SECONDS + start_seconds()
    assert done.mb < MAX_MB
