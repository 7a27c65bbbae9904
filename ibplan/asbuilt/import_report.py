"""An imported fabric: the spec with its description as comments, the description alone, as Markdown, as data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, wrap
from typing import Any, Final

from ibplan.asbuilt.describing import describe
from ibplan.asbuilt.importing import Imported
from ibplan.document import printable
from ibplan.report import markdown
from ibplan.report.data import plain

_COMMENT: Final = "# "
_WIDTH: Final = 110
_NEXT: Final = "This spec can be planned, priced and grown: ibplan design, ibplan bom, ibplan verify."
_UNPRICED: Final = (
    "This spec can be planned and checked: ibplan design, ibplan verify. Some parts have no price: nothing is "
    "recommended, and ibplan bom --design {} leaves these prices open. --server and --switch name parts that have one."
)
_UNPLANNED: Final = "This spec cannot be planned as it is: change what stands above, then ibplan design."


def imported_spec(imported: Imported, sources: Sequence[str]) -> str:
    """The spec as YAML under the description as comments."""
    lines = [*describe(imported, tuple(sources)), _next(imported)]
    head = [f"{_COMMENT}{part}" for line in lines for part in wrap(printable(line), _WIDTH, break_on_hyphens=False)]
    return "\n".join(head) + "\n" + imported.text


def _next(imported: Imported) -> str:
    if imported.design is None:
        return _UNPLANNED
    return _NEXT if imported.priced else _UNPRICED.format(imported.design)


def imported_text(imported: Imported, sources: Sequence[str], *, width: int) -> str:
    """The description for a terminal."""
    lines = describe(imported, tuple(sources))
    return "".join(f"{fill(printable(line), width, break_on_hyphens=False)}\n" for line in lines)


def imported_markdown(imported: Imported, sources: Sequence[str]) -> str:
    """The description and the spec as Markdown."""
    items = "".join(
        f"- {markdown.escape(printable(line.removeprefix('- ')))}\n" for line in describe(imported, tuple(sources))
    )
    return f"# {markdown.escape(imported.data['name'])}\n\n{items}\n```yaml\n{imported.text}```\n"


def imported_data(imported: Imported, sources: Sequence[str]) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "schema_version": "1",
        "files": [printable(Path(source).name) for source in sources],
        "spec": imported.data,
        "design": imported.design,
        "reproduced": imported.reproduced,
        "differences": list(imported.differences),
        "shape": plain(imported.shape),
        "notes": list(imported.notes),
    }
