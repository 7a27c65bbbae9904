"""Starts the program many times without reading its modules again: it reads them once, and forks for every run.

Each line of the file descriptor named first is a JSON object: `arguments`, `cwd`, `env`, and the files `stdin`,
`stdout` and `stderr`. It is answered on the second with a line: the wait status. A run is a process of its own, with
its own streams, that ends as the program ends; one that takes over a minute is killed.
"""

import importlib
import json
import os
import pkgutil
import runpy
import signal
import sys

import ibplan

SECONDS = 60


def _become(job: dict) -> None:
    for number, (name, flags) in enumerate((("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))):
        os.dup2(os.open(job[name], flags), number)
    os.closerange(3, 64)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv[1:] = job["arguments"]
    signal.alarm(SECONDS)


def _serve(jobs: int, answers: int) -> None:
    """Returns in the children alone."""
    with os.fdopen(jobs, encoding="utf-8", closefd=False) as lines:
        for line in lines:
            child = os.fork()
            if not child:
                _become(json.loads(line))
                return
            _, status = os.waitpid(child, 0)
            os.write(answers, f"{status}\n".encode())
    os._exit(0)


for module in pkgutil.walk_packages(ibplan.__path__, "ibplan."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
_serve(int(sys.argv[1]), int(sys.argv[2]))
runpy.run_module("ibplan", run_name="__main__", alter_sys=True)
