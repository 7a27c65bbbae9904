"""What a check of a built fabric answers with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ibplan.asbuilt.found import FormatName

DifferenceKind = Literal[
    "exchanged",
    "swapped",
    "wrong-rail",
    "wrong-device",
    "wrong-port",
    "unknown-device",
    "missing",
    "unconnected",
    "unexpected",
    "port-twice",
    "rate",
    "width",
    "not-active",
    "ambiguous",
]
KINDS: Final[tuple[DifferenceKind, ...]] = get_args(DifferenceKind)
Action = Literal["move", "swap", "add", "remove", "exchange", "check"]
# Those that carry one end of a cable to another port.
MOVES: Final[frozenset[Action]] = frozenset({"move", "swap"})


@dataclass(frozen=True, slots=True)
class End:
    """A port of a device, or a whole device (`port` None). None = not known: the place, or whether there is a port.

    `port` is called as on its panel where the plan knows it, else as the source calls it. `rack_unit`: the lowest one.
    """

    device: str
    port: str | None
    rack: str | None
    rack_unit: float | None

    def __str__(self) -> str:
        return self.device if self.port is None else f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as planned, with the one action that mends it.

    at: where to go. found: what is joined to it. planned: what should be. to: where the plug (or the device) of `at`
    belongs; the action is `swap` where the other cable of two that change places is in it. group: those of one number
    hang together: cables that change places, from 1. links: how many it is about.
    source: file and line that say so.
    """

    kind: DifferenceKind
    action: Action
    at: End
    found: End | None = None
    planned: End | None = None
    to: End | None = None
    group: int | None = None
    links: int = 1
    note: str = ""
    source: str | None = None

    @property
    def place(self) -> End:
        """The end to walk to: `at`, or what is joined to it where nobody knows where `at` stands."""
        return self.found if self.at.rack is None and self.found is not None else self.at


@dataclass(frozen=True, slots=True)
class Pattern:
    """Many differences in one sentence: a shifted rail, a leaf whose uplinks go to one spine."""

    kind: Literal["rails", "uplinks"]
    devices: tuple[str, ...]
    links: int
    text: str


@dataclass(frozen=True, slots=True)
class UnknownDevice:
    """A device that the plan does not have. `looks_like`: the planned one that would be cabled as it is."""

    name: str
    links: int
    looks_like: str | None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Found devices, each of which could be any of the planned ones."""

    found: tuple[str, ...]
    planned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchedDevices:
    """How many devices were found, and by what they were told."""

    found: int
    by_name: int
    by_map: int
    by_structure: int
    anonymous: int


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """A built network against its plan. Links: planned ones; those expected of a partial build; those that are right.

    `ahead`: right, but not expected yet. `unnamed`: right as far as is known: some host is there, none says which.
    `open_links`: found ones of ambiguous devices, of which nothing can be said.
    To mend it: `moves` of one end of a cable, the fewest that do; cables to add and to remove; devices to exchange.
    """

    spec: str
    design: str
    network: str
    sources: tuple[str, ...]
    formats: tuple[FormatName, ...]
    planned_links: int
    expected_links: int
    right_links: int
    ahead_links: int
    unnamed_links: int
    open_links: int
    moves: int
    added_links: int
    removed_links: int
    exchanged_devices: int
    devices: MatchedDevices
    differences: tuple[Difference, ...]
    patterns: tuple[Pattern, ...]
    unknown: tuple[UnknownDevice, ...]
    ambiguous: tuple[Ambiguous, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> dict[DifferenceKind, int]:
        """Differences by kind, those that there are."""
        found = Counter(difference.kind for difference in self.differences)
        return {kind: found[kind] for kind in KINDS if found[kind]}
