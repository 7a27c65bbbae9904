"""What a plan says: frozen results whose fields are those of the JSON output (docs: design document, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ibplan.catalog.entries import PriceKind
from ibplan.economics.items import LineItem
from ibplan.economics.licences import Licence
from ibplan.economics.price_spread import PriceSpread
from ibplan.economics.running import Energy, TotalCost
from ibplan.economics.sensitivity import Sensitivity
from ibplan.findings import Finding
from ibplan.performance.bandwidth import BandwidthGroup
from ibplan.performance.latency import PathSwitches
from ibplan.plan.assumed_results import ServerPrice, SideDefault
from ibplan.plan.job_results import Performance
from ibplan.plan.place import SiteResult
from ibplan.plan.scorecard_results import Scorecard
from ibplan.plan.value_results import MarginalValue, Pareto
from ibplan.site.rules import Measure
from ibplan.spec.models import Fabric

if TYPE_CHECKING:
    from ibplan.plan.growth_results import Growth


@dataclass(frozen=True, slots=True)
class RatioPair:
    """Oversubscription down:up by bandwidth, asked and built, and the switch with the worst built ratio.

    None where the tier does not exist or has no uplinks. `down_gbps` and `up_gbps` are speeds of one link; of a leaf
    that hosts of several speeds share, `down_gbps` is the mean.
    """

    asked: Fraction
    built: Fraction | None
    downlinks: int | None = None
    down_gbps: int | Fraction | None = None
    uplinks: int | None = None
    up_gbps: int | None = None


@dataclass(frozen=True, slots=True)
class Oversubscription:
    """The ratios of both tiers that can be oversubscribed."""

    leaf: RatioPair
    spine: RatioPair


@dataclass(frozen=True, slots=True)
class UnitResult:
    """Servers that share one set of leaves, in one plane (or rail)."""

    servers: int
    leaves: int
    count: int


@dataclass(frozen=True, slots=True)
class PodResult:
    """Units whose leaves share one set of spines, in one plane (or rail)."""

    units: int
    spines: int
    count: int


@dataclass(frozen=True, slots=True)
class SwitchRow:
    """The switches of one tier, over all planes."""

    tier: str
    switch: str
    count: int
    ports_used: int
    ports_free: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Four separate numbers for links, cages, modules and cables; None where parts could not be chosen.

    Reserved links are not in here. `cages` are the lit switch cages.
    """

    endpoints: int
    leaf: int
    spine: int
    core: int
    switches: int
    links: int
    cages: int
    modules_switch: int | None
    modules_server: int | None
    cables: int | None


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One class of links. `recipe` names the link recipe that chose its parts; `longest_m` is the longest run."""

    kind: str
    count: int
    gbps: int
    cables: int | None
    medium: str | None
    recipe: str | None
    reach_m: float | None
    host: str | None
    longest_m: float | None


@dataclass(frozen=True, slots=True)
class PortMinimum:
    """The bare port minimum of spines and cores, beside the even spread that is built."""

    spine: int
    core: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """One direction, Gb/s, summed over planes (rails if separate).

    `nic_gbps_per_gpu` = NIC ports of a server / its GPUs; `per_gpu_gbps` = that x 2 x bisection / injection: what a GPU
    gets when everyone talks across the bisection. `pod_groups` is empty where there are not several pods.
    """

    injection_gbps: int
    bisection_gbps: float
    nic_gbps_per_gpu: float
    per_gpu_gbps: float
    cross_rail: bool
    leaf_groups: tuple[BandwidthGroup, ...]
    pod_groups: tuple[BandwidthGroup, ...]


@dataclass(frozen=True, slots=True)
class Latency:
    """One way, 64 B, idle, in microseconds. None = no such path, or no measured figure for the fabric.

    `extrapolated` names the figures that no published measurement covers. Each is `host_us` + `hop_us` x `switches`.
    """

    same_leaf: float | None
    cross_leaf: float | None
    cross_pod: float | None
    extrapolated: tuple[str, ...]
    host_us: float | None
    hop_us: float | None
    switches: PathSwitches


@dataclass(frozen=True, slots=True)
class NetworkResult:
    """One network of a design."""

    fabric: Fabric
    tiers: int
    planes: int
    rail_optimized: bool
    rail_only: bool
    second_tier: str
    partial_units: str
    leaf_ports: str
    single_tier: str
    unit: UnitResult
    pod: PodResult
    oversubscription: Oversubscription
    switches: tuple[SwitchRow, ...]
    counts: Counts
    minimum: PortMinimum
    links: tuple[LinkRow, ...]
    bandwidth: Bandwidth
    latency_us: Latency


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of a design; None = not planned."""

    compute: NetworkResult
    storage: NetworkResult | None = None
    inband: NetworkResult | None = None
    oob: NetworkResult | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A part without a price."""

    part: str
    quantity: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A network that is not planned, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals over all planned networks of a design.

    `capex_usd` counts the priced parts; `complete` says whether those are all.
    `power_w` is the maximum of switches and modules, None if any of it is unknown; `power_typical_w` likewise.
    `power_known_w` is the maximum of those parts of which it is known.
    `site_usd`: racks and rack PDUs, apart from `capex_usd`; None = none of those to buy has a price.
    `cluster_usd`: network, servers and racks, as far as priced; None = a server has no price.
    """

    gpus: int
    servers: int
    switches: int
    links: int
    cables: int | None
    modules: int | None
    capex_usd: Decimal
    complete: bool
    estimated_fraction: float
    unpriced: tuple[Unpriced, ...]
    capex_per_gpu_usd: Decimal
    capex_by_category_usd: dict[str, Decimal]
    capex_by_tier_usd: dict[str, Decimal]
    capex_by_network_usd: dict[str, Decimal]
    power_w: float | None
    power_typical_w: float | None
    power_known_w: float
    racks: int | None
    site_usd: Decimal | None
    site_complete: bool
    server_usd: Decimal | None
    server_price_kind: PriceKind | None
    cluster_usd: Decimal | None
    cluster_complete: bool


@dataclass(frozen=True, slots=True)
class Fits:
    """Whether a design keeps each limit; None = no limit was set, or it cannot be known.

    `growth`: whether it can grow to the last stage with the same switches. It ranks designs, but refuses none.
    `memory`: whether the job fits the memory of the GPUs in some parallel mapping, or in the stated one; `latency`:
    whether a service keeps its limits.
    """

    network_budget: bool | None
    cluster_budget: bool | None
    power: bool | None
    facility_power: bool | None
    growth: bool | None = None
    memory: bool | None = None
    latency: bool | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another switch of the same form (radix, speeds, tiers, ratio, wiring), listed under the cheapest."""

    id: str
    switch: str
    capex_usd: Decimal
    complete: bool


@dataclass(frozen=True, slots=True)
class Design:
    """One complete answer. `rank` None = not fully priced, so not ranked; `site` None = no layout can be made.

    `line_items` are those of the networks and add up to `capex_usd`; `site_items`, of racks, to `site_usd`.
    """

    id: str
    rank: int | None
    pinned: bool
    why: tuple[str, ...]
    fabric: Fabric
    totals: Totals
    site: SiteResult | None
    networks: Networks
    left_out: tuple[Missing, ...]
    line_items: tuple[LineItem, ...]
    site_items: tuple[LineItem, ...]
    licences: tuple[Licence, ...]
    price_spread: PriceSpread
    energy: Energy
    tco: TotalCost
    sensitivity: tuple[Sensitivity, ...]
    scorecard: Scorecard
    performance: Performance
    fits: Fits
    alternatives: tuple[Alternative, ...]

    @property
    def bill_items(self) -> tuple[LineItem, ...]:
        """All that is bought: the lines of the networks, then those of the racks."""
        return (*self.line_items, *self.site_items)


@dataclass(frozen=True, slots=True)
class RejectReason:
    """Why a design cannot be built."""

    code: str
    text: str
    need: int | None
    have: int | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A design that cannot be built."""

    id: str
    reasons: tuple[RejectReason, ...]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A limit that no design keeps: what was asked, the best there is, and whose it is.

    Money in USD, power in W, time in s, memory of a GPU in GB (asked: what is there; best: the least that is needed).
    """

    limit: str
    asked: float
    best: float | None
    design: str | None


@dataclass(frozen=True, slots=True)
class Nearest:
    """A nearest change to the spec that fits: a dotted key with its value, as `--set` takes it, and what it costs."""

    change: str
    value: str
    design: str
    capex_usd: Decimal


@dataclass(frozen=True, slots=True)
class PriceBookId:
    """Which price book was used."""

    name: str
    date: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the plan rests on besides the spec. `measures`: of the site, those that the spec states among them.

    `locked`: design and prices are those of a lock. `server_price` None = not known.
    `side_defaults`: what storage and management networks are built with where the spec says nothing.
    """

    catalog_digest: str
    price_book: PriceBookId
    measures: tuple[Measure, ...]
    locked: bool = False
    server_price: ServerPrice | None = None
    side_defaults: tuple[SideDefault, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All designs of a spec with the choice. `designs` in rank order, unranked ones after them.

    `growth`: of the chosen design through the stages of the spec; None where there are no stages, or no choice.
    `pareto` and `marginal`: of the designs with all prices.
    """

    schema_version: str
    name: str
    effective_spec: dict[str, Any]
    defaults: tuple[str, ...]
    inputs: Inputs
    recommended: str | None
    designs: tuple[Design, ...]
    rejected: tuple[Rejected, ...]
    shortfall: tuple[Shortfall, ...]
    nearest: tuple[Nearest, ...]
    findings: tuple[Finding, ...]
    growth: Growth | None
    pareto: Pareto
    marginal: tuple[MarginalValue, ...]

    @property
    def choice(self) -> str | None:
        """Id of the design to order: the locked one, else the recommended one; None if there is none."""
        return self.designs[0].id if self.inputs.locked else self.recommended

    @property
    def fits(self) -> bool:
        """Whether there is a design, and not all break a limit: one without prices may fit, and is not recommended."""
        return self.recommended is not None or (bool(self.designs) and not self.shortfall)

    def design(self, design_id: str) -> Design:
        """The design with an id. Raises KeyError."""
        for design in self.designs:
            if design.id == design_id:
                return design
        raise KeyError(design_id)
