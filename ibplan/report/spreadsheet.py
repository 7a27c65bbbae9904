"""CSV that spreadsheets and programs both read: RFC 4180, texts quoted, no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final
from unicodedata import category, normalize

# A cell that starts with one of these is a formula, or ends up as one, in a spreadsheet. Blanks and what cannot be seen
# before it may be cut off; some programs take the full-width, small and raised forms of a sign for the sign.
_FORMULA_SIGNS: Final = frozenset("=+-@\N{MINUS SIGN}")
_BREAKS: Final = ("\t", "\r", "\n")
_UNSEEN: Final = ("Cc", "Cf")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]], *, crlf: bool = False) -> str:
    """Rows as CSV. Numbers stand plain, texts in quotes, None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n" if crlf else "\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def safe(text: str) -> str:
    """A text that a spreadsheet shows and does not run: an apostrophe before what looks like a formula."""
    first = next((c for c in text if not _is_blank(c)), "")
    looks = normalize("NFKC", first)[:1] in _FORMULA_SIGNS
    return f"'{text}" if looks or text.startswith(_BREAKS) else text


def _is_blank(c: str) -> bool:
    return c.isspace() or category(c) in _UNSEEN


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
