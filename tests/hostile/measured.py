"""What a run of the program may take."""

from __future__ import annotations

from functools import cache

from tests.cli.run import Measured, measured

# A second and 200 MB. The second is of processor time, beyond what the program takes here and now to read a small sound
# spec. The slowest case took a quarter of that where this was written.
MAX_SECONDS = 1.0
MAX_MB = 200.0


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
