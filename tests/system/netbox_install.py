"""NetBox in a virtual environment of its own: it needs a later Python than this project, and other packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = _ROOT / ".cache" / "netbox"
_REQUIREMENTS: Final = Path(__file__).with_name("netbox-requirements.txt")
_STAMP: Final = ENVIRONMENT / "installed.txt"
_OLDEST: Final = (3, 12)


def _candidates() -> Iterator[str]:
    """Pythons that may be late enough: the one that NETBOX_PYTHON names, on the search path, those of pyenv."""
    if named := os.environ.get("NETBOX_PYTHON"):
        yield named
        return
    for minor in (13, 12, 14):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    home = os.environ.get("PYENV_ROOT") or str(Path.home() / ".pyenv")
    yield from sorted(glob(f"{home}/versions/3.1[2-9]*/bin/python3"), reverse=True)
    yield sys.executable


def _python() -> str:
    """The first that runs (a shim of pyenv may not) and is late enough."""
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info < {_OLDEST})"
    tried = list(_candidates())
    for path in tried:
        if subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
            return path
    oldest = ".".join(map(str, _OLDEST))
    raise SystemExit(f"NetBox needs Python {oldest} or later; tried {', '.join(tried)}; set NETBOX_PYTHON=...")


def install() -> None:
    """Make the environment, or leave it as it is where it has what is asked for."""
    wanted = _REQUIREMENTS.read_text(encoding="utf-8")
    if _STAMP.exists() and _STAMP.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([_python(), "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # All that it needs is in the list. What is imported gets compiled when it is.
    subprocess.run([*pip, "--no-deps", "--no-compile", "--requirement", str(_REQUIREMENTS)], check=True)
    _STAMP.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    install()
