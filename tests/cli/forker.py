"""Starts the program many times without reading its modules again: it reads them once, and forks for every run.

It listens on the socket that is named first. Whoever connects sends a byte with the file descriptors of the run's
streams and then a line, a JSON object: `arguments`, `cwd`, `env` and `streams` (the numbers of those descriptors; what
is not among them is closed). The answer is a line: the wait status, the processor time that the run took in seconds,
and its peak memory in MB, which counts what the modules take. A run is a process of its own that ends as the program
ends; one that takes over a minute is killed. The forker ends when its standard input does.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys

import ibplan

SECONDS = 60


def _job(connection: socket.socket) -> tuple[dict, list[int]]:
    _, handles, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile(encoding="utf-8", errors="surrogateescape") as lines:
        return json.loads(lines.readline()), handles


def _become(job: dict, handles: list[int]) -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number not in job["streams"]:
            os.close(number)
            setattr(sys, name, None)  # as Python does when it starts
    for number, handle in zip(job["streams"], handles, strict=True):
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv[1:] = job["arguments"]
    signal.alarm(SECONDS)


def _serve(listener: socket.socket) -> None:
    """Returns in the children alone."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == sys.stdin.fileno():
                    os._exit(0)
                elif key.fd in running:
                    child, connection = running.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _, status, took = os.wait4(child, 0)
                    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                        connection.sendall(
                            f"{status} {took.ru_utime + took.ru_stime} {took.ru_maxrss / 1024}\n".encode()
                        )
                    connection.close()
                else:
                    connection, _ = listener.accept()
                    job, handles = _job(connection)
                    child = os.fork()
                    if not child:
                        for ended, (_, other) in running.items():
                            os.close(ended)
                            other.close()
                        connection.close()
                        _become(job, handles)
                        return
                    for handle in handles:
                        os.close(handle)
                    ended = os.pidfd_open(child)
                    running[ended] = child, connection
                    selector.register(ended, selectors.EVENT_READ)


def _warm() -> None:
    """Run the program once here: what it keeps of the packaged data and of its own models, runs need not make again."""
    from ibplan.cli.main import app

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for words in (["design", "specs/one-switch.yaml"], ["bom", "--help"]):
            app(words, standalone_mode=False)


for module in pkgutil.walk_packages(ibplan.__path__, "ibplan."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
_warm()
gc.freeze()
with socket.socket(socket.AF_UNIX) as door:
    door.bind(sys.argv[1])
    door.listen()
    os.write(sys.stdout.fileno(), b"ready\n")
    _serve(door)
runpy.run_module("ibplan", run_name="__main__", alter_sys=True)
