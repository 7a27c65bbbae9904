"""Where the program starts. Thin: what is heavy is imported only when a signal can already end the program quietly."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

# What ends a program from outside. What the caller has set to be ignored (nohup) stays ignored.
_ENDING: Final = [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """The `ibplan` program."""
    _handle(_end)
    _start_fast()
    from ibplan.cli.common import run_guarded
    from ibplan.cli.main import app_for

    _leave(run_guarded(lambda: _stoppable(lambda: app_for(sys.argv[1:])(prog_name="ibplan"))))


def _leave(code: int) -> NoReturn:
    """End without taking the objects of a plan apart one by one, unless a profiler or a debugger waits for the end.

    What was written is out: `run_guarded` flushes, and no handlers are kept for the end.
    """
    if sys.getprofile() is None and sys.gettrace() is None:
        os._exit(code)
    sys.exit(code)


def _start_fast() -> None:
    """A short life: little garbage in cycles, no plugins of pydantic, no threads for algebra that is never done."""
    import gc

    gc.set_threshold(200_000, 20, 20)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _stoppable(command: Callable[[], object]) -> None:
    """Run a command that a signal ends by an exception."""
    _handle(_stop)
    try:
        command()
    finally:
        _handle(_end)


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: nothing has been written yet, or everything has."""
    os._exit(128 + number)


def _stop(number: int, frame: FrameType | None) -> None:
    """End by an exception, so that files in the making are cleaned up; another signal does not disturb that."""
    _handle(signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
