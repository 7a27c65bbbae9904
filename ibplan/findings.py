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
        "memory-short",
        "error",
        "The model does not fit: of the {usable:,.1f} GB that a job can use of a GPU's memory, the smallest parallel "
        "mapping that the spec allows needs {need:,.1f} GB.",
        "Take more GPUs, GPUs with more memory, recomputation, or a smaller batch or sequence.",
    ),
    FindingKind(
        "no-time-to-train",
        "warning",
        "A job on {gpus:,} GPUs would be stopped every {hours:.2g} hours at the rate of the fleet {fleet}, and a stop "
        "costs more than that: days, energy and cost of its tokens are not given.",
        "Split the cluster into jobs (workload.jobs).",
    ),
    FindingKind(
        "job-assumed",
        "info",
        "The spec does not state all of the job. Taken: {what}.",
        "State it under model or workload (docs/workload.md).",
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
        "layout-unknown",
        "info",
        "No rack layout can be made: {what} not known. Racks are not counted, and cable lengths stay open.",
        "State rack_units, in an inline server or switch or in a catalogue overlay.",
    ),
    FindingKind(
        "rack-over-limit",
        "warning",
        "{what} draws more than the {limit} that is assumed for a rack: it stands alone in one.",
        "Set site.rack.power to what a rack may draw.",
    ),
    FindingKind(
        "rack-power-unchecked",
        "info",
        "The maximum power of {what} is not known: racks are filled by height, and their power is not checked.",
        "State it in a catalogue overlay.",
    ),
    FindingKind(
        "rack-weight-unchecked",
        "warning",
        "The weight of {what} is not known: the weight limit of the racks is not checked for it.",
        "State weight_kg in a catalogue overlay.",
    ),
    FindingKind(
        "hosts-not-placed",
        "info",
        "These hosts have no place: {what}. Their height or number of racks is not known, so they are in no rack, and "
        "lengths to them stay open.",
        "Of attached hosts, state rack_units under attached.",
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
        "foreign-price",
        "info",
        "Prices in {currencies} are known of {parts}, but no exchange rate.",
        "State one under exchange_rates:, with its date and source.",
    ),
    FindingKind(
        "own-price-without-rate",
        "warning",
        "Your prices in {currencies} do not stand, for want of an exchange rate: {parts}. Where these parts are "
        "bought, it is at another price, or without one.",
        "State the rate under exchange_rates:, with its date and source, or under rates: of your price file.",
    ),
    FindingKind(
        "licence-required",
        "warning",
        "Required, and without a public price: {quantity} x {licence}. The purchase price does not hold it.",
        "State its price under licences:, or `none` if you go without.",
    ),
    FindingKind(
        "licences-not-priced",
        "info",
        "No public price was found for these licences, and the purchase price does not hold them: {licences}.",
        "State prices under licences:, or `none` for what you do not buy.",
    ),
    FindingKind(
        "no-spares",
        "info",
        "No spares are planned.",
        "Set spares: 2%, or a stock by failure rate and lead time (docs/economics.md).",
    ),
    FindingKind(
        "support-unknown",
        "info",
        "No support is in the total cost: what vendors ask is not published (resellers say 2 to 20% of the price, a "
        "year).",
        "Set support: 10%.",
    ),
    FindingKind(
        "energy-at-maximum",
        "info",
        "Where no typical power is published, energy is counted at the maximum power, and for servers at "
        "site.utilization of it: for those parts an upper bound.",
        "Set site.utilization to the mean power of your servers over their maximum.",
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
        "The maximum power of {parts} is not published: power and energy are those of the other parts, a lower bound.",
        "State it in a catalogue overlay.",
    ),
    FindingKind(
        "locked",
        "info",
        "Design and prices are those of the lock, written by ibplan {version}: other designs are not planned.",
        "--no-lock compares all designs at today's prices; ibplan lock --update-prices or --update moves the lock.",
    ),
    FindingKind(
        "racks-not-priced",
        "info",
        "Counted, but not priced: {what}.",
        "State site.rack.price and site.rack.pdu_price, or add them to the budget by hand.",
    ),
    FindingKind(
        "network-left-out",
        "warning",
        "The {network} is not planned, priced or counted: {reason}.",
        "Leave it out on purpose with storage: none, or management: {inband: false, oob: false}.",
    ),
    FindingKind(
        "storage-appliances-unknown",
        "warning",
        "The ports of the storage appliances are not known: the storage network holds the servers' links alone.",
        "State storage.appliance_ports, or storage.gbps_per_gpu.",
    ),
    FindingKind(
        "storage-ports-too-slow",
        "warning",
        "{wanted} Gb/s of storage are wanted for each GPU, but the servers' ports give {have}.",
        "Lower storage.gbps_per_gpu, or take a server with more storage ports.",
    ),
    FindingKind(
        "storage-nowhere",
        "warning",
        "Storage is to be on the in-band network, which is not planned.",
        "State the ports of management.inband, or leave out storage.converged_with.",
    ),
    FindingKind(
        "far-cages-assumed",
        "info",
        "The ports of the {hosts} are taken to be of class {cage_class}, like those of the servers.",
        "State their cage class.",
    ),
    FindingKind(
        "pdus-unknown",
        "info",
        "Power strips (PDUs) are not counted on the out-of-band network: their number is not known.",
        "State management.oob.pdus.",
    ),
    FindingKind(
        "oob-uplinks-open",
        "warning",
        "The uplinks of the out-of-band switches end nowhere, because no in-band network is planned: their cables are "
        "not counted.",
        "State the ports of management.inband.",
    ),
    FindingKind(
        "growth-reserved",
        "info",
        "Built for growth to {gpus}: {cost} more than the first size alone needs ({parts}).",
        "`ibplan growth` shows all stages; --set growth=[] plans the first size alone.",
    ),
    FindingKind(
        "growth-tier",
        "info",
        "Year {year} takes {tiers} tiers of {network} switches instead of {before}.",
        "",
    ),
    FindingKind(
        "growth-recabled",
        "warning",
        "Year {year} re-cables {links}.",
        "`partial_units: whole` moves fewest; attached hosts and managers move where the last unit fills up.",
    ),
    FindingKind(
        "growth-over-budget",
        "warning",
        "Through year {year} the network costs {cost}: {over} over the network budget of {budget}, which today's stage "
        "alone is held against.",
        "Have the money by then, or set a budget that all stages keep; `ibplan growth` has the price of every stage.",
    ),
    FindingKind(
        "growth-out-of-reach",
        "warning",
        "It cannot grow to {gpus} with the same switches: {reason}.",
        "A later stage needs switches with more ports, or must be a fabric of its own.",
    ),
    FindingKind(
        "run-too-long",
        "warning",
        "On the assumed floor, {reason}: these cables are without length.",
        "State racks and rows as they are under site:, another site.placement, or another network.medium.",
    ),
    FindingKind(
        "trunks-need-layout",
        "warning",
        "Structured cabling needs a rack layout, and there is none: trunks and panels are not counted, all cables go "
        "from device to device.",
        "State the height of what has no place (rack_units).",
    ),
    FindingKind(
        "trunks-not-needed",
        "info",
        "Structured cabling is asked for, but no fiber link with modules joins two racks: there are no trunks.",
        "Copper, active optical cables and splitters go from device to device: set network.medium to have modules.",
    ),
    FindingKind(
        "channel-loss",
        "warning",
        "{kind}: {channels} over trunks lose more than {limit}: {loss_db} dB in the longest.",
        "Take plugs of low loss, shorten the runs, or leave these links without panels.",
    ),
    FindingKind(
        "loss-limit-unknown",
        "info",
        "{kind}: the longest channel over trunks is {length_m} m and loses {loss_db} dB; how much these modules "
        "bear is not known.",
        "Ask the vendor of the modules.",
    ),
    FindingKind(
        "channel-too-long",
        "warning",
        "{kind}: the longest channel over trunks, cords included, is {length_m} m; the parts reach {reach_m} m.",
        "Set another network.medium, or racks closer to each other.",
    ),
    FindingKind(
        "panels-need-units",
        "warning",
        "In {racks} the panels need more rack units than the {kept} kept free at the top: {units}.",
        "Use units that `ibplan racks` shows free, raise site.rack.reserved_units, or take denser panels.",
    ),
    FindingKind(
        "panels-fit",
        "info",
        "Rack units of panels, within the {kept} kept free at the top: {units}.",
        "",
    ),
    FindingKind(
        "airflow-not-sold",
        "warning",
        "{switch} is listed with {have} airflow only: its part number is left open.",
        "Set site.airflow, or ask the vendor.",
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
        "Set network.uplink_gbps to that speed.",
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
