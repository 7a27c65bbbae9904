"""Failures as they are written: `leaf=1,link=3,spine-002,leaf-001:spine-004=2`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import numpy as np

from ibplan.errors import UsageError
from ibplan.fabric.wiring_model import LEAF, Wiring
from ibplan.performance.failures import (
    FAILURE_KINDS,
    Failure,
    FailureKind,
    NamedFailure,
    RandomFailure,
    failing,
    links_between,
)

_WORD: Final = re.compile(r"(?P<name>[^=:,]+)(?::(?P<other>[^=:,]+))?(?:=(?P<count>[0-9]{1,9}))?")
_FORMS: Final = "leaf=1, spine=1, core=1, link=3, nic=2, spine-004, leaf-001:spine-004 or leaf-001:spine-004=2"
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class FailureWord:
    """One failure as written: a kind with how many, or the name of a switch, or two names with how many links."""

    name: str
    other: str | None
    count: int | None

    def __str__(self) -> str:
        between = "" if self.other is None else f":{self.other}"
        return f"{self.name}{between}" + ("" if self.count is None else f"={self.count}")


def parse_failures(texts: tuple[str, ...]) -> tuple[FailureWord, ...]:
    """The failures of `--fail` options. Raises UsageError with every word that is none."""
    words, wrong = [], []
    for part in (part.strip() for text in texts for part in text.split(",")):
        found = _WORD.fullmatch(part)
        if found is None:
            wrong.append(f"--fail: {_short(part)} is no failure; write {_FORMS}")
            continue
        count = None if found["count"] is None else int(found["count"])
        words.append(FailureWord(found["name"].strip(), found["other"] and found["other"].strip(), count))
    wrong += [problem for word in words for problem in _misused(word)]
    kinds = [word.name for word in words if word.name in FAILURE_KINDS]
    wrong += [f"--fail: {kind} is given twice" for kind in dict.fromkeys(kinds) if kinds.count(kind) > 1]
    if wrong:
        raise UsageError("\n".join(dict.fromkeys(wrong)))
    return tuple(words)


def _misused(word: FailureWord) -> list[str]:
    if word.count == 0:
        return [f"--fail: {_short(str(word))} is no failure: state 1 or more"]
    if word.name in FAILURE_KINDS and word.other is None:
        return [] if word.count else [f"--fail: say how many: {word.name}=1"]
    if word.other is None and word.count is not None:
        near = get_close_matches(word.name, FAILURE_KINDS, 1)
        hint = f"did you mean {near[0]}={word.count}?" if near else f"the kinds are {', '.join(FAILURE_KINDS)}"
        return [f"--fail: {_short(word.name)} is no kind of failure; {hint}"]
    return []


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


def resolve_failures(wiring: Wiring, words: tuple[FailureWord, ...]) -> tuple[Failure, ...]:
    """The failures that are written, on a wiring. Raises UsageError for a name or a number that it does not have."""
    found: list[Failure] = []
    wrong: list[str] = []
    names = wiring.device_names() if any(word.name not in FAILURE_KINDS for word in words) else []
    devices = {name: number for number, name in enumerate(names)}
    for word in words:
        try:
            found.append(_resolved(wiring, word, devices))
        except UsageError as error:
            wrong.append(str(error))
    wrong += _too_many(wiring, found)
    if wrong:
        raise UsageError("\n".join(dict.fromkeys(wrong)))
    return tuple(found)


def _resolved(wiring: Wiring, word: FailureWord, devices: dict[str, int]) -> Failure:
    kind = next((kind for kind in FAILURE_KINDS if kind == word.name), None)
    if kind is not None and word.other is None and word.count is not None:
        return RandomFailure(kind, word.count)
    device = _device(wiring, word.name, devices)
    if word.other is None:
        if wiring.devices.kind[device] < LEAF:
            raise UsageError(f"--fail: {_short(word.name)} is no switch; nic=N takes links of servers away")
        return NamedFailure(word.name, device)
    other = _device(wiring, word.other, devices)
    there, wanted = len(links_between(wiring, device, other)), word.count or 1
    if wanted > there:
        raise UsageError(f"--fail: {word}: {there:,} link{'' if there == 1 else 's'} between the two")
    return NamedFailure(str(word), device, other, wanted)


def _device(wiring: Wiring, name: str, devices: dict[str, int]) -> int:
    if name in devices:
        return devices[name]
    switches = [known for known, number in devices.items() if wiring.devices.kind[number] >= LEAF]
    near = get_close_matches(name[:_SHOWN], switches, 3) or switches[:3]
    raise UsageError(f"--fail: there is no {_short(name)}; nearest: {', '.join(near)}")


def _too_many(wiring: Wiring, found: list[Failure]) -> list[str]:
    """What is to fail beyond what there is, after what is named."""
    wrong = []
    named = [f for f in found if isinstance(f, NamedFailure)]
    for failure in found:
        if isinstance(failure, NamedFailure):
            continue
        taken = _taken(wiring, failure.kind, named)
        there = len(failing(wiring, failure.kind)) - taken
        if failure.count > there:
            left = " besides those named" if taken else ""
            wrong.append(f"--fail: {failure.kind}={failure.count:,}: there {_are(failure.kind, there)}{left}")
    return wrong


_NOUNS: Final = {
    "leaf": ("leaf", "leaves"),
    "link": ("link between switches", "links between switches"),
    "nic": ("link of a server", "links of servers"),
}


def _are(kind: FailureKind, count: int) -> str:
    """`is 1 leaf`, `are 4 leaves`."""
    one, many = _NOUNS.get(kind, (kind, f"{kind}s"))
    return f"is 1 {one}" if count == 1 else f"are {count:,} {many}"


def _taken(wiring: Wiring, kind: FailureKind, named: list[NamedFailure]) -> int:
    """Switches of a tier, or links, that the named failures take before chance does."""
    mine = failing(wiring, kind)
    if kind in ("link", "nic"):
        lost = [links_between(wiring, f.device, f.other)[: f.count] for f in named if f.other is not None]
        return int(np.isin(mine, np.concatenate(lost)).sum()) if lost else 0
    return int(np.isin(mine, [f.device for f in named if f.other is None]).sum())
