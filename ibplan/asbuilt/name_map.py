"""A name map: which device of the plan is meant by a name or by a GUID that the fabric has.

A line holds both, the found one first, apart by blanks, a comma or `=`; names with blanks stand in quotes. The form of
OpenSM's node-name map (`0x0000000000005000 "leaf-001"`) is one of these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ibplan.asbuilt.found import Problems
from ibplan.asbuilt.nodes import bare_guid
from ibplan.document import printable
from ibplan.sheets.cells import Limits, decoded, read_bytes

_FIELD: Final = r'("[^"]{1,255}"|[^\s",=]{1,255})'
_LINE: Final = re.compile(rf"\s*{_FIELD}(?:\s*[,=]\s*|\s+){_FIELD}\s*(?:#.*)?")
_GUID: Final = re.compile(r"0x[0-9a-f]{1,16}", re.IGNORECASE)
_LIMITS: Final = Limits("name map", mib=16, rows=500_000, cells_mib=1)


@dataclass(frozen=True, slots=True)
class Named:
    """What an entry stands for: a device of the plan, and the adapter where a GUID is that of one; and its line."""

    device: str
    adapter: str | None
    line: int


@dataclass(frozen=True, slots=True)
class NameMap:
    """Entries by found name in small letters, and by GUID in bare hexadecimal."""

    source: str
    names: dict[str, Named]
    guids: dict[str, Named]


EMPTY: Final = NameMap("", {}, {})


def read_name_map(path: Path) -> NameMap:
    """Read a name map. Raises InputError with every line that is not of the form, or says a second thing of a name."""
    data, source = read_bytes(path, _LIMITS)
    problems = Problems(source)
    found = NameMap(source, {}, {})
    for number, line in enumerate(decoded(data, source).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.add(number, "is not of the form: found name, planned name", "for example: sw-17 leaf-001")
            continue
        theirs, ours = (part.strip('"').strip() for part in match.groups())
        device, _, adapter = ours.partition(" ")
        entry = Named(printable(device), printable(adapter.strip()) or None, number)
        table, key = (found.guids, bare_guid(theirs)) if _GUID.fullmatch(theirs) else (found.names, theirs.lower())
        if key in table:
            problems.add(number, f"{theirs!r} has an entry in line {table[key].line} already")
        table[key] = entry
    problems.check()
    return found
