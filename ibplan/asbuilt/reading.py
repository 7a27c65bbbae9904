"""From files to the fabric that is there: which form a file has is told by its content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ibplan.asbuilt import iblinkinfo, ibnetdiscover, lldp
from ibplan.asbuilt.cable_list import LIMITS, Key, read_cable_list
from ibplan.asbuilt.found import FoundFabric, Read, joined
from ibplan.asbuilt.panels import through_panels
from ibplan.document import printable
from ibplan.errors import InputError, Problem, UsageError
from ibplan.sheets.cells import decoded, is_workbook, read_bytes, refuse, sheets_of

MOST_FILES: Final = 20_000
_MOST_BYTES: Final = LIMITS.mib * 1024**2
_LONGEST_LINE: Final = 4_096
_LONG: Final = re.compile(rf"[^\n]{{{_LONGEST_LINE + 1}}}")
_PORTS_REPORT: Final = re.compile(r"^(?:SW|CA|RT)\s+[0-9]+\s+[0-9]+\s+0x[0-9a-f]{16} ", re.MULTILINE)
_MIB: Final = 1024**2
_MANIFEST: Final = "ibplan-export.json"


def read_fabric(
    paths: Sequence[Path],
    columns: Mapping[Key, str] | None = None,
    sheet: str | None = None,
    network: str = "compute",
) -> FoundFabric:
    """Read all files, those of a folder too, and join them.

    `columns`, `sheet`, `network`: of cable lists. Raises InputError with the problems of the first file that has any:
    nothing is half-read; UsageError where there is no file.
    """
    files = list(_files(paths))
    if not files:
        raise UsageError("no file of the fabric is named")
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files):,} files are named; {MOST_FILES:,} is the limit")
    reads, size = [], 0
    for path in files:
        data, source = read_bytes(path, LIMITS)
        size += len(data)
        if size > _MOST_BYTES:
            refuse(source, f"all files together are larger than {_MOST_BYTES // _MIB} MiB, the limit")
        reads.append(_read(data, source, path, _List(columns or {}, sheet, network)))
    return through_panels(joined(reads))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Files as they stand; of a folder all by name, or where there is none those of its folders."""
    for path in paths:
        if str(path) == "-" or not path.is_dir():
            yield path
            continue
        files, folders = _listed(path)
        if not files:
            files = [file for folder in folders for file in _listed(folder)[0]]
        if not files:
            refuse(printable(path), "there is no file in this folder, nor in a folder in it")
        yield from files


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files and the folders in a folder, by name, but hidden ones and the list of files of an export.

    Links to folders are not followed.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted((e for e in entries if e.name[0] != "." and e.name != _MANIFEST), key=lambda e: e.name)
            files = [folder / entry.name for entry in found if entry.is_file()]
            folders = [folder / entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise InputError([Problem(printable(folder), 0, 0, f"cannot be read: {error.strerror}")]) from None
    return files, folders


@dataclass(frozen=True, slots=True)
class _List:
    """How cable lists are to be read."""

    columns: Mapping[Key, str]
    sheet: str | None
    network: str

    def read(self, data: bytes, source: str) -> Read:
        """Read one."""
        return read_cable_list(sheets_of(data, source, self.sheet, LIMITS), self.columns, self.network)


def _read(data: bytes, source: str, path: Path, cable_list: _List) -> Read:
    if is_workbook(data):
        return cable_list.read(data, source)
    text = decoded(data, source)
    if not text.strip():
        refuse(source, "there is nothing in it")
    stem = None if str(path) == "-" else printable(path.name.partition(".")[0])
    if text.lstrip()[:1] in "{[":
        return lldp.read_lldp_json(text, source, stem)
    if (long := _LONG.search(text)) is not None:
        line = text.count("\n", 0, long.start()) + 1
        raise InputError([Problem(source, line, 1, f"a line of more than {_LONGEST_LINE:,} characters")])
    if lldp.looks_like_table(text):
        return lldp.read_lldp_table(text, source, stem)
    if iblinkinfo.looks_like(text):
        return iblinkinfo.read_iblinkinfo(text, source)
    if ibnetdiscover.looks_like(text):
        return ibnetdiscover.read_ibnetdiscover(text, source)
    if _PORTS_REPORT.search(text) is not None:
        refuse(source, "is the report of ibnetdiscover -p", "give what ibnetdiscover prints without -p, or iblinkinfo")
    return cable_list.read(data, source)
