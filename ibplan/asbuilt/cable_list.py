"""A list of cables as people keep it: a row a cable with both its ends, as CSV or in a workbook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, get_args

from ibplan.asbuilt.found import FoundDevice, FoundEnd, FoundLink, Place, Problems, Read
from ibplan.asbuilt.rates import Rate
from ibplan.sheets import heads
from ibplan.sheets.cells import Cell, Limits, Row, Sheet
from ibplan.units import parse_gbps

Key = Literal["a_device", "a_port", "b_device", "b_port", "speed", "network"]
KEYS: Final[tuple[Key, ...]] = get_args(Key)
LIMITS: Final = Limits("cable list", mib=64, rows=500_000, cells_mib=32, other_mib=8, columns=64)
_MOST_ENDS: Final = 64
_SEVERAL: Final = re.compile(r"[,;]")
_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: 00:00:00)?|[0-9]{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*", re.I
)


def _names(device: Sequence[str], port: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the columns of one end: each word alone or with `device` or `port` before or after it."""
    forms = ["{} device", "device {}", "{} device name", "{} host", "host {}", "{} hostname", "hostname {}"]
    forms += ["{} name", "{} node", "node {}", "{} end device", "{} switch", "switch {}", "{}"]
    ends = ("{} port", "port {}", "{} port name", "{} interface", "interface {}", "{} if", "{} end port", "{} name")
    named = [form.format(word) for form in forms for word in device]
    return (*named, *device), (*(end.format(word) for end in ends for word in device), *port)


_A: Final = ("a", "side a", "end a", "near", "near end", "local", "source", "src", "from")
_B: Final = ("b", "side b", "end b", "far", "far end", "remote", "peer", "neighbor", "neighbour", "target")
_B_MORE: Final = (*_B, "destination", "dest", "dst", "to", "z", "side z", "end z")
_A_DEVICE, _A_PORT = _names(_A, ("port", "interface"))
_B_DEVICE, _B_PORT = _names(_B_MORE, ("port 2", "interface 2"))
_SPEEDS: Final = ("gbps", "speed", "speed gbps", "rate", "link speed", "bandwidth")
NAMES: Final[Mapping[Key, tuple[str, ...]]] = {
    "a_device": (*_A_DEVICE, "device", "host", "hostname", "switch"),
    # NetBox calls the port of an end `side_a_name`; it names the device only where there is no `side_a_device`.
    "a_port": _A_PORT,
    "b_device": (*_B_DEVICE, "device 2", "host 2", "hostname 2", "switch 2"),
    "b_port": _B_PORT,
    "speed": _SPEEDS,
    "network": ("network",),
}
NETWORKS: Final = frozenset({"compute", "storage", "inband", "oob"})


def _enough(columns: Mapping[Key, tuple[int, ...]]) -> bool:
    ends = [columns.get(key) for key in ("a_device", "b_device")]
    return None not in ends and ends[0] != ends[1]


def _plain(cell: Cell) -> str:
    return heads.plain_name(cell)


COLUMNS: Final[heads.Columns[Key]] = heads.Columns(
    NAMES, _enough, "the device at both ends of a cable", "a_device=NAME,b_device=NAME", _plain
)


def read_cable_list(sheets: Sequence[Sheet], asked: Mapping[Key, str], network: str) -> Read:
    """Read the sheet that names its columns; of a list that names networks as ibplan does, the rows of one network.

    Such a list may go on in other sheets with the same head.

    Raises InputError with every row that cannot be read.
    """
    tables = list(_tables(sheets, asked))
    sheet = tables[0][0]
    problems = Problems(sheet.source)
    index: dict[str, int] = {}
    links: list[FoundLink] = []
    skipped, others = 0, Counter[str]()
    for number, row in ((number, _row(cells, head)) for its, head in tables for number, cells in _below(its, head)):
        if not row["a_device"] and not row["b_device"]:
            skipped += 1
            continue
        if row["network"] in NETWORKS - {network}:
            others[row["network"]] += 1
            continue
        links += _links(number, row, index, sheet, problems)
    if not links and not problems:
        problems.add(0, f"no row below the head names the devices of a cable of the {network} network")
    problems.check()
    notes = [f"Rows that name no device: {skipped:,}."] if skipped else []
    devices = tuple(FoundDevice(name) for name in index)
    return Read(sheet.source, "list", devices, tuple(links), {}, tuple(notes), others)


def _tables(sheets: Sequence[Sheet], asked: Mapping[Key, str]) -> Iterator[tuple[Sheet, heads.Head[Key]]]:
    """The sheet that names its columns best; with all that have the same head, if it tells networks apart."""
    best, head = heads.find_head(sheets, COLUMNS, asked)
    yield best, head
    if "network" in head.columns:
        yield from (found for found in heads.same_heads(sheets, head, COLUMNS, asked) if found[0] is not best)


def _below(sheet: Sheet, head: heads.Head[Key]) -> Iterator[Row]:
    """The rows under the head."""
    return (row for row in sheet.rows if row[0] > head.row)


def _row(cells: Sequence[Cell], head: heads.Head[Key]) -> dict[str, str]:
    """The texts of a row, by key; a number of a port stays a whole one."""
    found: dict[str, str] = {}
    for key in KEYS:
        column = head.columns.get(key, (len(cells),))[0]
        cell = cells[column] if column < len(cells) else None
        whole = int(cell) if isinstance(cell, float) and cell.is_integer() else cell
        found[key] = "" if whole is None else str(whole).strip()
    if head.columns["a_device"] == head.columns.get("a_port"):
        found["a_port"] = ""
    if head.columns["b_device"] == head.columns.get("b_port"):
        found["b_port"] = ""
    return found


def _links(
    number: int, row: Mapping[str, str], index: dict[str, int], sheet: Sheet, problems: Problems
) -> Iterator[FoundLink]:
    """The links of one cable: several where it is a splitter (`;`) or carries two links (`,`)."""
    try:
        near = list(_ends(row["a_device"], row["a_port"]))
        far = list(_ends(row["b_device"], row["b_port"]))
        rate = _rate(row["speed"])
    except ValueError as error:
        problems.add(number, str(error))
        return
    if len(near) != len(far):
        problems.add(number, f"{len(near)} ends on one side, {len(far)} on the other")
        return
    for (a, a_port), (b, b_port) in zip(near, far, strict=True):
        ends = [FoundEnd(index.setdefault(name, len(index)), port) for name, port in ((a, a_port), (b, b_port))]
        if ends[0] == ends[1] and a_port is not None:
            problems.add(number, f"{a} {a_port} is joined to itself")
            continue
        yield FoundLink(ends[0], ends[1], rate, None, Place(0, number))


def _ends(device: str, port: str) -> Iterator[tuple[str, str | None]]:
    """(device, port) of every link at one side of a cable. A cell may hold both as `leaf-001:swp1`."""
    if not device:
        raise ValueError("one end of the cable names no device")
    if port and _DATE.fullmatch(port):
        raise ValueError(f"the spreadsheet took a port for a date, {port!r}: set the column to text and write it anew")
    if port and not _SEVERAL.search(device + port):
        yield device, port
        return
    devices, ports = _split(device, ";"), _split(port, ";")
    if len(ports) not in (0, len(devices)) and len(devices) > 1:
        raise ValueError(f"{len(devices)} devices, but {len(ports)} ports: {device[:40]!r}, {port[:40]!r}")
    if len(devices) == 1 and len(ports) > 1:
        ports = [port]
    if max(len(devices), port.count(",") + 1) > _MOST_ENDS:
        raise ValueError(f"more than {_MOST_ENDS} ends of one cable")
    for name, its in zip(devices, ports or [""] * len(devices), strict=True):
        before, colon, after = name.rpartition(":")
        if colon and not its and before and after:
            name, its = before, after
        for one in re.split(r"[,;]", its):
            yield name.strip(), one.strip() or None


def _split(text: str, sign: str) -> list[str]:
    return [part.strip() for part in text.split(sign) if part.strip()]


@lru_cache(maxsize=256)
def _rate(text: str) -> Rate | None:
    """`400`, `400G`, `400 Gb/s`; None where nothing is stated. Raises ValueError."""
    if not text:
        return None
    plain = re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3})?", text)
    return Rate(float(text) if plain else float(parse_gbps(text)))
