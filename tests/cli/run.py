"""Runs the program as a user does: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ibplan", *arguments]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("IBPLAN_DEBUG", "FORCE_COLOR")}
    return kept | PLAIN


def run(
    *arguments: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=cwd or ROOT,
        env=environment() | (env or {}),
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
