"""Work on every item of a list in several processes: the order is that of the items, whoever does which."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any, Final, TypeVar

from ibplan.errors import IbplanError

T = TypeVar("T")
R = TypeVar("R")

# A forked process has all that is loaded already. Elsewhere it is not safe, and what is sent has to be picklable.
_METHOD: Final = "fork" if sys.platform == "linux" else None


def processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(work: Callable[[T], R], items: Sequence[T], jobs: int) -> list[R]:
    """`work` of every item, in order, on at most `jobs` processes; on one, in this process.

    Raises what `work` raised for the first item that it failed for; IbplanError if a process ended before its work.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1:
        return [work(item) for item in items]
    context: Any = multiprocessing.get_context(_METHOD)
    pipes: list[Any] = []
    workers = []
    try:
        for _ in range(jobs):
            here, there = context.Pipe()
            pipes.append(here)
            copied = pipes if _METHOD == "fork" else []
            workers.append(context.Process(target=_serve, args=(work, items, there, copied), daemon=True))
            workers[-1].start()
            there.close()  # only the worker holds it now: when it ends, reading does
        return _results(pipes, len(items))
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _results(pipes: Sequence[Any], count: int) -> list[Any]:
    """Deal the numbers of the items, one at a time to each worker, and put their answers in order."""
    answers: dict[int, tuple[Any, Exception | None]] = {}
    numbers = iter(range(count))
    for pipe in pipes:
        pipe.send(next(numbers))
    busy = list(pipes)
    while busy:
        ready: Any = wait(busy)
        for pipe in ready:
            try:
                number, *answer = pipe.recv()
                answers[number] = (answer[0], answer[1])
                following = next(numbers, None)
                if following is not None:
                    pipe.send(following)
                    continue
            except (EOFError, OSError):  # it ended; what it had in hand is missed below
                pass
            busy.remove(pipe)
    if len(answers) < count:
        raise IbplanError("a process ended before its work was done: is there enough memory? --jobs 1 needs the least")
    for _, error in (answers[number] for number in range(count)):
        if error is not None:
            raise error
    return [answers[number][0] for number in range(count)]


def _serve(work: Callable[[T], R], items: Sequence[T], pipe: Any, copied: Sequence[Any]) -> None:
    """Do what comes, until the caller is gone or ends this. What the caller does on a signal is not for this process.

    `copied`: ends of pipes that are the caller's, and came along.
    """
    for end in copied:
        end.close()  # or nobody would see that the caller is gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the keyboard interrupts all: the caller ends this one
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        while True:
            number = pipe.recv()
            answer: tuple[R | None, Exception | None]
            try:
                answer = work(items[number]), None
            except Exception as error:  # for the caller to raise
                answer = None, _sendable(error)
            pipe.send((number, *answer))
    except (EOFError, OSError):
        return


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever it is: its name and its words can be sent
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
