"""Starts programs one by one and reports what each took. It runs in a small process of its own.

The peak memory that the system reports of a child includes what it held before its program took over: as much as the
process that forked it. A test runner holds hundreds of megabytes; this one holds a few. It imports no other module.

Each line of standard input is a JSON object: `argv`, `cwd`, `env`, and the files `stdin`, `stdout` and `stderr`. It
is answered with a line: the wait status, processor time in seconds, and peak memory in MB.
"""

import json
import os
import sys


def _start(job: dict) -> None:
    for number, (name, flags) in enumerate((("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))):
        os.dup2(os.open(job[name], flags), number)
    os.closerange(3, 64)
    os.chdir(job["cwd"])
    os.execve(job["argv"][0], job["argv"], job["env"])


for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            _start(json.loads(line))
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    sys.stdout.write(json.dumps([status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]) + "\n")
    sys.stdout.flush()
