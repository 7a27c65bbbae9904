"""CSV that spreadsheets and programs both read: RFC 4180, texts quoted, no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

# A cell that starts with one of these is a formula, or ends up as one, in a spreadsheet.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]], *, crlf: bool = False) -> str:
    """Rows as CSV. Numbers stand plain, texts in quotes, None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n" if crlf else "\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def safe(text: str) -> str:
    """A text that a spreadsheet shows and does not run: an apostrophe before what looks like a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # Without an exponent and without a decimal point that says nothing.
        written = f"{Decimal(repr(value)):f}"
        return Decimal(written.rstrip("0").rstrip(".") if "." in written else written)
    return value if isinstance(value, int | Decimal) else safe(str(value))
