"""Whether a committed file still says what would be written now, and if not, what differs."""

from __future__ import annotations

from difflib import unified_diff

from ibplan.document import printable
from ibplan.report.workbook_text import is_workbook, workbook_lines


def stale_lines(committed: bytes, current: bytes, source: str) -> list[str]:
    """A unified diff from the committed file to what would be written now; empty: nothing differs.

    Workbooks are compared cell by cell, texts line by line; how lines end does not count. Raises InputError, which
    names the `source`, if the committed file cannot be read.
    """
    if committed == current:
        return []
    if is_workbook(current):
        old, new = workbook_lines(committed, source), workbook_lines(current, source)
    else:
        old, new = _lines(committed), _lines(current)
    return [_shown(line) for line in unified_diff(old, new, f"{source} (committed)", f"{source} (now)", lineterm="")]


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "backslashreplace").replace("\r\n", "\n").split("\n")


def _shown(line: str) -> str:
    """A line that cannot drive the terminal."""
    return "".join(part if part == "\t" else printable(part) for part in line)
