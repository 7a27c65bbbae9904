"""Golden files: expected output kept beside the tests. `IBPLAN_GOLDEN=1` (`make golden`) writes them anew."""

from __future__ import annotations

import os
from pathlib import Path


def check_golden(path: Path, text: str) -> None:
    """Hold `text` against the file; write the file where IBPLAN_GOLDEN=1."""
    if os.environ.get("IBPLAN_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing: run `make golden` and read what it wrote"
    assert text == path.read_text(encoding="utf-8"), f"{path} differs: if that is wanted, run `make golden`"
