"""Runs the program in a child of its own, and measures what it takes: processor time and peak memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cli.run import ROOT, command, environment

# A second and 200 MB. The second is of processor time, beyond what the program takes here and now to start and to read
# a small sound spec (0.5 s where this was written): so it holds on slow and shared machines too.
MAX_SECONDS = 1.0
MAX_MB = 200.0


@dataclass(frozen=True)
class Measured:
    """What a child did and took."""

    code: int
    out: str
    err: str
    seconds: float
    mb: float


def measured(*arguments: str, cwd: Path | None = None, stdin: Path | None = None) -> Measured:
    """Run a command; its standard input is a file."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(stdin or os.devnull).open("rb") as into:
        child = subprocess.Popen(
            command(*arguments), cwd=cwd or ROOT, env=environment(), stdin=into, stdout=out, stderr=err
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        seconds, mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        return Measured(child.returncode, out.read().decode(), err.read().decode(), seconds, mb)


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
