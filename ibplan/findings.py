"""The registry of findings: things the user should know that are not errors. A code is stable; its text may improve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What a code means: severity, the sentence (with named fields), and what to do about it."""

    code: str
    severity: Severity
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: its sentence filled in; `design` id and `pointer` (JSON pointer into the spec) where it has one."""

    severity: Severity
    code: str
    message: str
    design: str | None = None
    pointer: str | None = None


_KINDS = (
    FindingKind(
        "gpus-rounded-up",
        "warning",
        "Asked for {asked}, planned {planned} in {servers}: a server holds {per_server}.",
        "Ask for a multiple of the GPUs in a server.",
    ),
    FindingKind(
        "domain-not-filled",
        "warning",
        "{servers} planned, which leaves an NVLink rack of {per_domain} partly empty: {racks} would hold {capacity:,}.",
        "Ask for whole racks if the server is sold only so.",
    ),
    FindingKind(
        "ratio-below-half",
        "warning",
        "An oversubscription of {ratio} has more uplink than downlink bandwidth; was {swapped} meant?",
        "ibplan reads down:up. Some publications write up:down.",
    ),
    FindingKind(
        "lengths-unknown",
        "info",
        "It is not known where both ends of {kinds} links stand, so their lengths are not known, either: the parts "
        "chosen reach {reach_m:g} m at most.",
        "State the height of what has no place (rack_units), or check the longest run by hand.",
    ),
    FindingKind(
        "lengths-not-listed",
        "warning",
        "No source states in which lengths {part} is sold: the longest run is {run_m:g} m, the length to order stays "
        "open.",
        "Ask the vendor; `ibplan cables` has the run of every cable.",
    ),
    FindingKind(
        "reach-unknown",
        "warning",
        "No source states how far {recipe} links reach; the longest run is {run_m:g} m.",
        "Ask the vendor.",
    ),
    FindingKind(
        "length-price-unknown",
        "info",
        "The price of {parts} was read for no stated length: what a longer cable adds is not in it.",
        "State prices by length (length_m) in a price file.",
    ),
    FindingKind(
        "reserved-added-leaves",
        "warning",
        "No downlink was free for {ports}: {leaves} added.",
        "Give up one server of the last unit, set network.partial_units: packed, or reserve fewer ports.",
    ),
    FindingKind(
        "rail-only",
        "warning",
        "Rails are separate fabrics: GPUs of different rails reach each other only through their servers.",
        "Set network.rail_only: false if a job or a storage system needs every path.",
    ),
    FindingKind(
        "unpriced-parts",
        "warning",
        "Without a price: {parts}. The total is a lower bound and the design is not ranked.",
        "Give their prices in a file named by `prices:`.",
    ),
    FindingKind(
        "estimated-prices",
        "info",
        "{share:.0%} of the cost rests on estimates (marked ~).",
        "Replace them by quotes in a file named by `prices:`.",
    ),
    FindingKind(
        "inferred-recipe",
        "warning",
        "The {kind} link pairs {module_a} with {module_b} by form, lanes and fibre; no maker's statement of the pair "
        "was found.",
        "Ask the vendor before ordering.",
    ),
    FindingKind(
        "part-status",
        "warning",
        "{part} is marked {status!r}: {note}",
        "Ask the vendor whether it can still be ordered.",
    ),
    FindingKind(
        "power-assumed",
        "info",
        "No power is published for {parts}: that of {named} is used.",
        "",
    ),
    FindingKind(
        "power-unknown",
        "warning",
        "The maximum power of {parts} is not published: the design's power is unknown.",
        "State it in a catalogue overlay.",
    ),
    FindingKind(
        "networks-not-planned",
        "info",
        "Only the compute network is planned and priced: storage, in-band and out-of-band networks, racks, licences, "
        "support and spares are left out.",
        "Add them to the budget by hand.",
    ),
    FindingKind(
        "growth-not-planned",
        "warning",
        "The growth stages are checked, but not planned: the design is sized for the first size alone.",
        "Plan the last stage as a spec of its own.",
    ),
    FindingKind(
        "airflow-not-sold",
        "warning",
        "{switch} is listed with {have} airflow only: its part number is left open.",
        "Set site.airflow, or ask the vendor.",
    ),
    FindingKind(
        "keys-not-used",
        "info",
        "These keys are read and checked, but change nothing yet: {keys}.",
        "",
    ),
    FindingKind(
        "single-switch",
        "info",
        "A single {tier} switch carries all traffic between its neighbors: if it fails, the network is down.",
        "Set network.min_spines: 2, or network.single_tier: two_leaves.",
    ),
    FindingKind(
        "slower-uplinks-fewer-tiers",
        "warning",
        "With uplinks at {gbps} Gb/s instead of whole-cage speed, {fewer} tiers would do instead of {tiers}: {instead} "
        "instead of {switches}.",
        "Set network.uplink_gbps: {gbps}.",
    ),
    FindingKind(
        "mixed-media",
        "info",
        "Some links are multimode, others single-mode, each the cheapest of its kind: two kinds of fiber and modules "
        "in stock.",
        "Set network.medium: multimode or single_mode.",
    ),
    FindingKind(
        "optics-unknown",
        "warning",
        "The {kind} links join a cage of unknown kind: modules and cables cannot be chosen.",
        "State cage_class for the inline server or switch.",
    ),
    FindingKind(
        "reserved-far-end-unknown",
        "info",
        "The far end of {ports} is not known: only the switch side is counted.",
        "",
    ),
    FindingKind(
        "domain-split",
        "warning",
        "An NVLink domain of {servers} servers does not fit one unit of {unit}: domains are split over units.",
        "Use a switch with more ports.",
    ),
    FindingKind(
        "low-port-use",
        "info",
        "{tier} switches use {used} of {total} ports ({share:.0%}).",
        "A smaller switch, or a pinned unit, may cost less.",
    ),
    FindingKind(
        "ethernet-enough",
        "info",
        "{reason}",
        "",
    ),
    FindingKind(
        "ethernet-not-enough",
        "info",
        "{reason}",
        "",
    ),
)

KINDS: dict[str, FindingKind] = {kind.code: kind for kind in _KINDS}


def finding(code: str, /, *, design: str | None = None, pointer: str | None = None, **fields: object) -> Finding:
    """Make a finding of a registered kind. Raises KeyError for an unknown code or a missing field."""
    kind = KINDS[code]
    return Finding(kind.severity, code, kind.text.format(**fields), design, pointer)


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 leaf`, `2 leaves`, `1,024 GPUs`: a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
