"""Runs the program as a user does: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[2]
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ibplan", *arguments]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("IBPLAN_DEBUG", "FORCE_COLOR")}
    return kept | PLAIN


@cache
def _forker() -> tuple[subprocess.Popen[bytes], TextIO, TextIO]:
    """What takes runs and what answers them: it ends when this process does, which closes the first."""
    jobs, asks = os.pipe()
    answers, tells = os.pipe()
    forker = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forker.py")), str(jobs), str(tells)],
        pass_fds=(jobs, tells),
        cwd=ROOT,
        env=environment() | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    os.close(jobs)
    os.close(tells)
    return forker, os.fdopen(asks, "w", encoding="utf-8"), os.fdopen(answers, encoding="utf-8")


def run(
    *arguments: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program: from its very start only where `env` has what Python looks at when it starts.

    One run after the other: threads that run it at once have to use `run_shell`.
    """
    if any(name.startswith(("PYTHON", "LC_", "LANG")) for name in env or {}):
        return _started(*arguments, cwd=cwd, stdin=stdin, env=env or {})
    _, asks, answers = _forker()
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / name for name in ("stdin", "stdout", "stderr")}
        for file in files.values():
            file.write_text(stdin if file.name == "stdin" else "", encoding="utf-8", errors="surrogateescape")
        names = {name: str(file) for name, file in files.items()}
        job = {"arguments": arguments, "cwd": str(cwd or ROOT), "env": environment() | (env or {}), **names}
        print(json.dumps(job), file=asks, flush=True)
        code = os.waitstatus_to_exitcode(int(answers.readline()))
        out, err = (files[name].read_text(encoding="utf-8", errors="surrogateescape") for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(command(*arguments), code, out, err)


def _started(*arguments: str, cwd: Path | None, stdin: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=cwd or ROOT,
        env=environment() | env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def run_shell(
    script: str, *, cwd: Path | None = None, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a bash script in which `ibplan` is the program."""
    program = f'ibplan() {{ "{sys.executable}" -m ibplan "$@"; }}; set -o pipefail; '
    return subprocess.run(
        ["bash", "-c", program + script, "bash", *arguments],
        cwd=cwd or ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
