"""Runs the program as a user does: a process of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cli.forked import ask

ROOT = Path(__file__).parents[2]
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
# What Python looks at when it starts, by the beginning of the name.
_LOOKED_AT = ("PYTHON", "LC_", "LANG")


@dataclass(frozen=True)
class Measured:
    """What a run did, and what it took: processor time in seconds, peak memory in MB with what the modules take."""

    code: int
    out: str
    err: str
    seconds: float
    mb: float


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ibplan", *arguments]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("IBPLAN_DEBUG", "FORCE_COLOR")}
    return kept | PLAIN


@cache
def _forker() -> str:
    """The socket of what runs the program. It ends when this process does, which closes its standard input."""
    folder = Path(tempfile.mkdtemp())
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forker.py")), str(folder / "forker")],
        cwd=ROOT,
        env=environment() | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "2"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(_end, process, folder)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return str(folder / "forker")


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    process.communicate()
    shutil.rmtree(folder)


def measured(
    *arguments: str, cwd: Path | None = None, stdin: Path | str = "", env: dict[str, str] | None = None
) -> Measured:
    """Run the program; its standard input is a text or a file."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        given, out, err = (Path(folder) / name for name in ("stdin", "stdout", "stderr"))
        if isinstance(stdin, str):
            given.write_text(stdin, encoding="utf-8", errors="surrogateescape")
        else:
            given = stdin
        opened = [given.open("rb"), *(file.open("wb") for file in (out, err))]
        streams = [stack.enter_context(file).fileno() for file in opened]
        job = {"arguments": arguments, "cwd": str(cwd or ROOT), "env": environment() | (env or {})}
        code, seconds, mb = ask(_forker(), job | {"streams": [0, 1, 2]}, streams)
        texts = [file.read_text(encoding="utf-8", errors="surrogateescape") for file in (out, err)]
    return Measured(code, *texts, seconds, mb)


def run(
    *arguments: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program: from its very start only where `env` has what Python looks at when it starts."""
    if any(name.startswith(_LOOKED_AT) for name in env or {}):
        return _started(*arguments, cwd=cwd, stdin=stdin, env=env or {})
    done = measured(*arguments, cwd=cwd, stdin=stdin, env=env)
    return subprocess.CompletedProcess(command(*arguments), done.code, done.out, done.err)


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
    client = f'"{sys.executable}" -I -S "{Path(__file__).with_name("forked.py")}" "{_forker()}"'
    program = f'ibplan() {{ {client} "$@"; }}; set -o pipefail; '
    return subprocess.run(
        ["bash", "-c", program + script, "bash", *arguments],
        cwd=cwd or ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
