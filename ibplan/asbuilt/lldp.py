"""Neighbors by LLDP: the JSON of `lldpctl -f json` and `-f json0`, and the table of SONiC's `show lldp table`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ibplan.asbuilt.found import FoundDevice, FoundEnd, FoundLink, Place, Problems, Read
from ibplan.asbuilt.rates import Rate
from ibplan.document import printable
from ibplan.errors import InputError, Problem

LONGEST_NAME: Final = 255
_MAC: Final = re.compile(r"[0-9A-Fa-f]{2}([:.-]?[0-9A-Fa-f]{2}){5}")
_PROMPT: Final = re.compile(r"(?:[\w.-]+@)?([\w.-]+)(?::[^$#>]*)?[$#>]\s*show lldp table\s*")
_SPEED: Final = re.compile(r"([0-9]{1,4})G(?:ig)?base", re.IGNORECASE)
_COLUMNS: Final = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
_TOTAL: Final = re.compile(r"Total entries displayed:\s*([0-9]+)\s*")
_OF_WHOM: Final = "name the file after the device that it is of: leaf-001.json"


class _Far(NamedTuple):
    """A neighbor: its device and port, and the rate that the local port negotiated."""

    device: str
    port: str
    rate: Rate | None = None


@dataclass(slots=True)
class _Neighbors:
    """Devices by name, and links, as they are read."""

    source: str
    index: dict[str, int] = field(default_factory=dict)
    links: list[FoundLink] = field(default_factory=list)

    def add(self, device: str, port: str, far: _Far, line: int) -> None:
        """One neighbor of a port of a device."""
        a, b = FoundEnd(self.number(device), port), FoundEnd(self.number(far.device), far.port)
        if a != b:  # a port that hears itself, through a loop of glass for a test, has no neighbor
            self.links.append(FoundLink(a, b, far.rate, None, Place(0, line)))

    def number(self, name: str) -> int:
        """The index of a device."""
        return self.index.setdefault(name, len(self.index))

    def read(self) -> Read:
        """All of it. A device that gives no name is called by its MAC address, which does not say which it is."""
        devices = tuple(FoundDevice(name, named=_MAC.fullmatch(name) is None) for name in self.index)
        return Read(self.source, "lldp", devices, tuple(self.links))


def read_lldp_json(text: str, source: str, stem: str | None) -> Read:
    """Read the JSON of one device, or of several as `{"leaf-001": {"lldp": ...}, ...}`.

    `stem`: the device that the file is of, where the text does not say. Raises InputError.
    """
    data = _parsed(text, source)
    found = _Neighbors(source)
    for device, part in _devices(data, source, stem):
        found.number(device)
        for port, neighbor in _interfaces(part, source):
            found.add(device, port, _far(neighbor, f"{device} {port}", source), 0)
    return found.read()


def _parsed(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = (error.lineno, error.colno)
        end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        raise InputError(
            [Problem(source, *where, f"not JSON: {error.msg}", "the file is cut off" if end else "")]
        ) from None
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        said = "nested too deep" if isinstance(error, RecursionError) else "a number in it is too long"
        raise InputError([Problem(source, 0, 0, said)]) from None


def _devices(data: Any, source: str, stem: str | None) -> Iterator[tuple[str, Any]]:
    """(device, its `lldp`): of the text itself, else of each of its keys."""
    if not isinstance(data, Mapping):
        raise _wrong(source, "is JSON, but not that of lldpctl: no mapping", "")
    if "lldp" in data:
        name = _local_name(data) or stem
        if name is None:
            raise _wrong(source, "does not say of which device it is", _OF_WHOM)
        yield name, data["lldp"]
        return
    parts = [(name, part) for name, part in data.items() if isinstance(part, Mapping) and "lldp" in part]
    if not parts or len(parts) < len(data):
        raise _wrong(source, "is JSON, but not that of lldpctl: no key 'lldp'", "give what `lldpctl -f json` prints")
    for name, part in parts:
        yield _name(name, source), part["lldp"]


def _local_name(data: Mapping[str, Any]) -> str | None:
    """The device's own name, where `lldpcli show chassis` was added."""
    local = _first(data.get("local-chassis"))
    return _chassis_name(_first(local.get("chassis"))) if isinstance(local, Mapping) else None


def _interfaces(part: Any, source: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(local port, neighbor) of every interface: keyed by name, one mapping or a list of them; or with a key `name`."""
    lists = [each.get("interface", []) for each in _all(part) if isinstance(each, Mapping)]
    if not lists and _all(part):
        raise _wrong(source, "'lldp' is not of the form of lldpctl", "")
    for each in (item for found in lists for item in _all(found)):
        if not isinstance(each, Mapping):
            raise _wrong(source, "an 'interface' of 'lldp' is not of the form of lldpctl", "")
        if isinstance(each.get("name"), str):
            yield _name(each["name"], source), each
            continue
        for name, neighbors in each.items():
            for neighbor in _all(neighbors):
                if not isinstance(neighbor, Mapping):
                    raise _wrong(source, f"interface {printable(name)} is not of the form of lldpctl", "")
                yield _name(name, source), neighbor


def _far(neighbor: Mapping[str, Any], where: str, source: str) -> _Far:
    chassis, port = _first(neighbor.get("chassis")), _first(neighbor.get("port"))
    name = _chassis_name(chassis)
    if name is None or not isinstance(port, Mapping):
        raise _wrong(source, f"{where}: the neighbor has no chassis or no port", "")
    identity, described = _first(port.get("id")), _text(port.get("descr"))
    written = _text(identity.get("value")) if isinstance(identity, Mapping) else None
    by_mac = written is None or _MAC.fullmatch(written) is not None
    called = described if by_mac and described else written
    if called is None:
        raise _wrong(source, f"{where}: the port of the neighbor has no id", "")
    return _Far(_name(name, source), _name(called, source), _rate(port.get("auto-negotiation")))


def _rate(negotiated: Any) -> Rate | None:
    """The rate from `current`: `100GbaseCR4 - ...`."""
    current = _first(negotiated)
    match = _SPEED.match(_text(current.get("current")) or "") if isinstance(current, Mapping) else None
    return None if match is None else Rate(float(match[1]))


def _chassis_name(chassis: Any) -> str | None:
    """The name of a chassis: its key, or under `name`; else its id."""
    if not isinstance(chassis, Mapping) or not chassis:
        return None
    if (name := _text(chassis.get("name"))) is not None:
        return name
    identity = _first(chassis.get("id"))
    if isinstance(identity, Mapping):
        return _text(identity.get("value"))
    key, inner = next(iter(chassis.items()))
    return key if isinstance(inner, Mapping) else None


def _text(value: Any) -> str | None:
    """A text, also as `[{"value": text}]`; None if it is empty or none."""
    inner = _first(value)
    if isinstance(inner, Mapping):
        inner = _first(inner.get("value"))
    return inner.strip() or None if isinstance(inner, str) else None


def _all(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _first(value: Any) -> Any:
    found = _all(value)
    return found[0] if found else None


def _name(text: str, source: str) -> str:
    if len(text) > LONGEST_NAME:
        raise _wrong(source, f"a name of {len(text):,} characters; {LONGEST_NAME} is the limit", "")
    return printable(text.strip())


def _wrong(source: str, message: str, remedy: str) -> InputError:
    return InputError([Problem(source, 0, 0, message, remedy)])


def looks_like_table(text: str) -> bool:
    """Whether a text has the head of SONiC's table."""
    return re.search(r"^LocalPort\s+RemoteDevice\s+RemotePortID\b", text, re.MULTILINE) is not None


def read_lldp_table(text: str, source: str, stem: str | None) -> Read:
    """Read one or several tables of SONiC. The prompt before a table names its device, else `stem`.

    Raises InputError with every line that cannot be read, and where entries are missing.
    """
    problems = Problems(source)
    found = _Neighbors(source)
    device, spans, rows = stem, None, 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        if (match := _PROMPT.fullmatch(line)) is not None:
            device = printable(match[1])
        elif line.startswith(_COLUMNS[0]):
            spans, rows = _spans(lines[number] if number < len(lines) else ""), 0
            if spans is None:
                problems.add(number, "the head of the table has no rule of dashes below it", "the file is cut off")
            if device is None:
                problems.add(number, "it is not said of which device this is", _OF_WHOM)
        elif (total := _TOTAL.fullmatch(line)) is not None:
            if int(total[1]) != rows:
                problems.add(number, f"{total[1]} entries are announced, {rows} are there", "the file is cut off")
            spans, device = None, stem
        elif spans is not None and line and not set(line) <= {"-", " "}:
            rows += 1
            _table_row(line, spans, device or "", number, found, problems)
    if spans is not None:
        problems.add(len(lines), "the line with the number of entries is missing", "the file is cut off")
    problems.check()
    return found.read()


def _spans(rule: str) -> list[tuple[int, int | None]] | None:
    """Where the columns are, from the dashes below the head; the last one has no end."""
    starts = [match.start() for match in re.finditer(r"-+", rule)] if set(rule.rstrip()) <= {"-", " "} else []
    if len(starts) < len(_COLUMNS):
        return None
    return list(zip(starts, [*starts[1:], None], strict=True))


def _table_row(
    line: str, spans: list[tuple[int, int | None]], device: str, number: int, found: _Neighbors, problems: Problems
) -> None:
    port, far, far_port, _, described = (line[start:end].strip() for start, end in spans[: len(_COLUMNS)])
    called = described if _MAC.fullmatch(far_port) and described else far_port
    if not port or not called or max(map(len, (port, far, called))) > LONGEST_NAME:
        problems.add(number, f"no port or no neighbor can be read: {line[:60]!r}", "the line may be cut off")
        return
    found.add(device, printable(port), _Far(printable(far or far_port), printable(called)), number)
