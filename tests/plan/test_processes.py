"""Work in several processes: the order of the items, errors, and processes that end or are left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibplan.errors import IbplanError, InputError, Problem
from ibplan.plan.processes import in_processes, processors


def _square(number: int) -> int:
    time.sleep(0.02 * (number % 3 == 0))  # the first are not the first to be done
    return number * number


@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
def test_results_stand_in_the_order_of_the_items(jobs: int) -> None:
    assert in_processes(_square, range(7), jobs) == [n * n for n in range(7)]
    assert in_processes(_square, [], jobs) == []


def test_one_job_is_done_in_this_process_several_are_not() -> None:
    assert in_processes(lambda _: os.getpid(), range(3), 1) == [os.getpid()] * 3
    found = in_processes(lambda _: os.getpid(), range(4), 2)
    assert os.getpid() not in found
    assert len(set(found)) <= 2


class _OddError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)


def _fail(number: int) -> int:
    if number == 1:
        raise InputError([Problem("a.yaml", 1, 2, "wrong")])
    if number == 3:
        raise _OddError("cannot", "be pickled")
    return number


def test_the_error_of_the_first_item_that_failed_is_raised_as_it_was() -> None:
    with pytest.raises(InputError) as error:
        in_processes(_fail, range(4), 2)
    assert str(error.value) == "a.yaml:1:2: wrong"
    with pytest.raises(RuntimeError, match="_OddError: cannot"):
        in_processes(_fail, [0, 3, 1], 2)


def _die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_process_that_is_killed_is_an_error_and_no_wait_for_ever() -> None:
    with pytest.raises(IbplanError, match="a process ended before its work was done"):
        in_processes(_die, range(5), 2)


_ALONE = """
import os, sys, time
from ibplan.plan.processes import in_processes
def work(number):
    os.write(1, f"{os.getpid()}\\n".encode())  # one write, so that lines of two workers never mix
    time.sleep(0.3 if number < 2 else 60)
in_processes(work, range(4), 2)
"""


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_where_the_caller_ends(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _ALONE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as caller:
        assert caller.stdout is not None
        workers = [int(caller.stdout.readline()) for _ in range(2)]
        caller.send_signal(number)
        caller.wait(5)
        for _ in range(60):
            if not any(map(_runs, workers)):
                return
            time.sleep(0.05)
    raise AssertionError("a worker is still there")


def test_there_is_a_processor() -> None:
    assert 1 <= processors() <= (os.cpu_count() or 1)
