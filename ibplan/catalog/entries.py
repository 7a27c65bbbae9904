"""What a catalogue entry states. Every check lives in the model, so that a user's overlay gets it too.

A field that is None is unknown; nothing is filled in. `planning_gaps()` says what an entry lacks to be planned with.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ibplan.units import Gbps, UsdNumber

LinkLayer = Literal["infiniband", "ethernet"]
HeatSink = Literal["finned", "flat", "none"]
Medium = Literal["passive_copper", "active_copper", "aoc", "multimode", "single_mode"]
Status = Literal["active", "unclear", "retired", "prototype"]
Confidence = Literal["high", "medium", "low"]
PriceKind = Literal["list", "street", "estimate"]
Form = Literal[
    "OSFP",
    "QSFP-DD800",
    "QSFP112-DD",
    "QSFP112",
    "QSFP-DD",
    "QSFP56",
    "QSFP28",
    "SFP28",
    "RJ45",
    "MPO-12",
    "MMC-12",
]

_ID = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


def _check_id(value: Any) -> Any:
    if isinstance(value, str) and (len(value) > 80 or not _ID.fullmatch(value)):
        raise ValueError("an id is lower-case letters, digits, dots and hyphens, such as nvidia-qm9700")
    return value


Id = Annotated[str, BeforeValidator(_check_id)]


def _fraction(value: Any) -> Any:
    if isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError('a fraction is written like 2 or "1/2"') from None
    return value


class Entry(BaseModel):
    """Base of all catalogue models: frozen, no unknown keys, no silent conversion."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=True
    )


class Sourced(Entry):
    """An entry that can be bought: its identity and where its facts come from."""

    id: Id
    vendor: str
    model: str
    status: Status = "active"
    status_note: str | None = None
    confidence: Confidence
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class Breakout(Entry):
    """How one cage can be run: `ports` ports of `gbps` with `lanes` lanes each.

    `cages_lost` neighbouring cages go dark for every cage run so; `max_ports` caps the ports of the whole group.
    """

    ports: int = Field(ge=1, le=16)
    gbps: Gbps
    lanes: int = Field(ge=1, le=16)
    cages_lost: int = Field(default=0, ge=0, le=3)
    max_ports: int | None = Field(default=None, ge=1)
    note: str | None = None


class CageGroup(Entry):
    """Cages of one kind on a device. `cage_class` names what can be plugged in; link recipes refer to it.

    The three are None where no source names the kind of cage: such a device is kept, but no part can be chosen for it.
    """

    count: int = Field(ge=1, le=4096)
    form: Form | None = None
    cage_class: Id | None = None
    heat_sink: HeatSink | None = None
    lanes: int = Field(ge=1, le=16)
    lane_gbps: int = Field(ge=1)
    breakouts: tuple[Breakout, ...] = Field(min_length=1)

    def breakout_at(self, gbps: int) -> Breakout | None:
        """The breakout for a port speed in Gb/s: the one with the most ports in the group; None if there is none."""
        fitting = [b for b in self.breakouts if b.gbps == gbps]
        return max(fitting, key=self.ports_with, default=None)

    def ports_with(self, breakout: Breakout) -> int:
        """Ports of the whole group when every cage that can be is run with `breakout`."""
        ports = self.count // (1 + breakout.cages_lost) * breakout.ports
        return min(ports, breakout.max_ports) if breakout.max_ports else ports

    @model_validator(mode="after")
    def _lanes_fit(self) -> CageGroup:
        for b in self.breakouts:
            if b.ports * b.lanes > self.lanes:
                raise ValueError(f"{b.ports} ports of {b.lanes} lanes do not fit a cage of {self.lanes} lanes")
            if b.gbps > b.lanes * self.lane_gbps:
                raise ValueError(f"{b.gbps} Gb/s does not fit {b.lanes} lanes of {self.lane_gbps} Gb/s")
        return self


class Power(Entry):
    """Power in watts. `max_includes_modules`: the maximum already holds the modules in the device's own cages."""

    typical_w: float | None = Field(default=None, ge=0)
    max_w: float | None = Field(default=None, ge=0)
    max_includes_modules: bool = False
    note: str | None = None


class Switch(Sourced):
    """A switch. `part_numbers` maps airflow (p2c, c2p, or `any`) to the maker's part number.

    `rdma`: fit for RDMA (lossless or congestion-controlled) traffic. `role: management`: a 1G box that stands in a
    compute network only if it is named. `manager_cage_class`: the cage of the fabric
    manager appliance that its reserved ports go to.
    """

    link_layers: tuple[LinkLayer, ...] = Field(min_length=1)
    generation: str | None = None
    asic: str | None = None
    cages: tuple[CageGroup, ...] = Field(min_length=1)
    capacity_gbps: int | None = Field(default=None, ge=1)
    rdma: bool = True
    role: Literal["fabric", "management"] = "fabric"
    rack_units: int | None = Field(default=None, ge=1)
    weight_kg: float | None = Field(default=None, gt=0)
    power: Power = Power()
    cage_power_limit_w: float | None = Field(default=None, gt=0)
    latency_ns: int | None = Field(default=None, ge=1)
    buffer_mb: float | None = Field(default=None, gt=0)
    manager_cage_class: Id | None = None
    part_numbers: dict[Literal["p2c", "c2p", "any"], str] = {}

    @property
    def uplink_gbps(self) -> int:
        """The fastest port speed in Gb/s that any cage offers."""
        return max(b.gbps for group in self.cages for b in group.breakouts)

    def radix(self, gbps: int) -> int:
        """Ports at a speed in Gb/s over all cages; 0 if no cage has it."""
        return sum(group.ports_with(b) for group in self.cages if (b := group.breakout_at(gbps)) is not None)

    @model_validator(mode="after")
    def _radix_agrees_with_capacity(self) -> Switch:
        if self.capacity_gbps is None:
            return self
        natural = sum(max(group.ports_with(b) * b.gbps for b in group.breakouts) for group in self.cages)
        if natural != self.capacity_gbps:
            raise ValueError(
                f"cages, ports and speeds give {natural:,} Gb/s, but capacity_gbps says {self.capacity_gbps:,}: a cage "
                "or a port is missing or counted twice"
            )
        return self

    def planning_gaps(self) -> tuple[str, ...]:
        """What is missing to plan with this switch: capacity (checks the radix), height, and the kind of each cage."""
        gaps = [name for name in ("capacity_gbps", "rack_units") if getattr(self, name) is None]
        gaps += [f"cages[{i}].cage_class" for i, group in enumerate(self.cages) if group.cage_class is None]
        return tuple(gaps)


class NicMode(Entry):
    """A link layer a NIC cage can run: `ports` links of `gbps` from each cage, `lanes` electrical lanes per link."""

    link_layer: LinkLayer
    ports: int = Field(ge=1, le=8)
    gbps: Gbps
    lanes: int | None = Field(default=None, ge=1, le=16)
    lane_gbps: int | None = Field(default=None, ge=1)


class Nic(Sourced):
    """A network adapter. `shared_gbps` caps all its ports together where the maker says so."""

    form_factor: str | None = None
    cage_count: int = Field(ge=1, le=8)
    form: Form | None
    cage_class: Id | None
    heat_sink: HeatSink
    modes: tuple[NicMode, ...] = Field(min_length=1)
    shared_gbps: Gbps | None = None
    power: Power = Power()
    part_numbers: tuple[str, ...] = ()

    def planning_gaps(self) -> tuple[str, ...]:
        """What is missing to plan with this NIC."""
        return ("cage_class",) if self.cage_class is None else ()


class PortGroup(Entry):
    """Network ports a server has for one purpose: `cages` cages of a class, and what they can run.

    `modes` give links per cage. A DGX H100 has 4 cages with 2 links of 400 Gb/s each for its 8 compute NICs.
    """

    cages: int = Field(ge=1, le=64)
    form: Form
    cage_class: Id
    heat_sink: HeatSink
    modes: tuple[NicMode, ...] = Field(min_length=1)
    nic: Id | None = None

    def mode(self, layer: LinkLayer) -> NicMode | None:
        """The fastest mode on a link layer, None if the cages cannot run it."""
        return max((m for m in self.modes if m.link_layer == layer), key=lambda m: m.ports * m.gbps, default=None)


class SoldAs(Entry):
    """How the server is sold when not alone: an NVL72 rack is 18 trays."""

    unit: str
    servers: int = Field(ge=2)


class Server(Sourced):
    """What has one hostname. `compute_nics` is the number of NICs on the compute network (for rails).

    `ethernet` are plain host ports (25 to 100 Gb/s), `inband` the fast ports for the management network.
    `nvlink_domain_gpus` is the number of GPUs joined by NVLink (8, 72), None where there is no such link.
    """

    gpu: str | None = None
    gpus: int = Field(ge=1, le=64)
    nvlink_domain_gpus: int | None = Field(default=None, ge=1)
    sold_as: SoldAs | None = None
    compute_nics: int = Field(ge=1, le=64)
    compute: PortGroup | None
    ethernet: PortGroup | None = None
    storage: PortGroup | None = None
    inband: PortGroup | None = None
    bmc_ports: int | None = None
    rack_units: float | None = Field(default=None, gt=0)
    weight_kg: float | None = Field(default=None, gt=0)
    cooling: Literal["air", "liquid"] | None = None
    power: Power = Power()
    part_numbers: tuple[str, ...] = ()

    def planning_gaps(self) -> tuple[str, ...]:
        """What is missing to plan with this server."""
        return ("compute",) if self.compute is None else ()

    @model_validator(mode="after")
    def _domains_hold_servers(self) -> Server:
        domain = self.nvlink_domain_gpus
        if domain is not None and domain % self.gpus:
            raise ValueError(f"an NVLink domain of {domain} GPUs does not hold whole servers of {self.gpus}")
        return self


class Gpu(Entry):
    """A GPU's published peak figures (dense, no sparsity)."""

    id: Id
    name: str
    bf16_tflops: float | None = Field(default=None, gt=0)
    fp8_tflops: float | None = Field(default=None, gt=0)
    memory_gbytes: float | None = Field(default=None, gt=0)
    memory_gbytes_per_s: float | None = Field(default=None, gt=0)
    tdp_w: float | None = Field(default=None, gt=0)
    link_gbytes_per_s: float | None = Field(default=None, ge=0)
    confidence: Confidence
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class Fibre(Entry):
    """The optical face of a module or a cable end."""

    kind: Literal["multimode", "single_mode"]
    connector: Literal["MPO-12", "MPO-16", "LC", "MTP-4"]
    polish: Literal["APC", "UPC"] | None


class Module(Sourced):
    """A transceiver. `links` links of `gbps` each, `lanes_per_link` electrical lanes of `lane_gbps`.

    `line_gbps` is the rate of one optical lane (a fibre or a wavelength): a 400G DR4 in a QSFP-DD has 8 electrical
    lanes of 50 and 4 optical ones of 100. `cable_ports` fibre connectors face the cable. `compatible_with` names the
    maker's part that it stands in for.
    """

    part_number: str | None = None
    link_layers: tuple[LinkLayer, ...] = Field(min_length=1)
    form: Form
    heat_sink: HeatSink
    links: int = Field(ge=1, le=8)
    gbps: Gbps
    lanes_per_link: int = Field(ge=1, le=8)
    lane_gbps: int = Field(ge=1)
    line_gbps: int = Field(ge=1)
    fibre: Fibre
    cable_ports: int = Field(ge=1, le=8)
    reach_m: float | None = Field(default=None, gt=0)
    power: Power = Power()
    compatible_with: Id | None = None


class Cable(Sourced):
    """A cable as bought. `ends_b` far ends (a splitter has several).

    `part_number_by_m` maps a length in metres to a part number. `end_power_w` is drawn at each end, in watts.
    """

    part_number: str | None = None
    part_number_by_m: dict[str, str] = {}
    kind: Literal["fibre", "dac", "acc", "aoc", "rj45"]
    form_a: Form | None = None
    form_b: Form | None = None
    heat_sink_a: HeatSink | None = None
    heat_sink_b: HeatSink | None = None
    fibre_a: Fibre | None = None
    fibre_b: Fibre | None = None
    ends_b: int = Field(default=1, ge=1, le=8)
    lengths_m: tuple[float, ...] = ()
    end_power_w: float | None = Field(default=None, ge=0)
    compatible_with: Id | None = None

    @model_validator(mode="after")
    def _ends_are_stated(self) -> Cable:
        if self.kind == "fibre" and (self.fibre_a is None or self.fibre_b is None):
            raise ValueError("a fibre cable states fibre_a and fibre_b")
        if self.kind != "fibre" and (self.form_a is None or self.form_b is None):
            raise ValueError("a copper or active optical cable states form_a and form_b")
        return self


class RecipeEnd(Entry):
    """One end of a link: the cage classes it fits, links per cage, lanes, module (None for a cable with heads)."""

    cage_classes: tuple[Id, ...] = Field(min_length=1)
    links_per_cage: int = Field(ge=1, le=16)
    lanes_per_link: int = Field(ge=1, le=16)
    lane_gbps: int = Field(ge=1)
    module: Id | None = None


class Recipe(Entry):
    """How one planned link becomes parts: two ends, a cable, and how many links one cable carries.

    `links_per_cable` is 1 for a straight fibre, 2 or 4 for a splitter, 1/2 where a link needs two fibres.
    `same_peer`: the cable binds all its links to one cage at each end. `basis: inferred` marks a pair that no maker
    states.
    """

    id: Id
    link_layer: LinkLayer
    gbps: Gbps
    medium: Medium
    end_a: RecipeEnd
    end_b: RecipeEnd
    cable: Id
    links_per_cable: Annotated[Fraction, BeforeValidator(_fraction)]
    same_peer: bool = False
    min_length_m: float | None = Field(default=None, ge=0)
    max_length_m: float | None = Field(default=None, gt=0)
    basis: Literal["stated", "inferred"] = "stated"
    status: Status
    status_note: str | None = None
    confidence: Confidence
    constraints: tuple[str, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _heads_or_modules(self) -> Recipe:
        optical = self.medium in ("multimode", "single_mode")
        modules = (self.end_a.module is not None, self.end_b.module is not None)
        if not optical and any(modules):
            raise ValueError("copper and active optical cables bring their own heads: no modules")
        return self


class Price(Entry):
    """One price of one part. Foreign currency is kept as written; `usd` is None until a rate is stated.

    `length_m` is the cable length the price was read for; None where it was read for no length in particular.
    """

    part: Id
    kind: PriceKind
    usd: UsdNumber | None = None
    amount: float | None = None
    currency: str | None = None
    low_usd: UsdNumber | None = None
    high_usd: UsdNumber | None = None
    length_m: float | None = Field(default=None, gt=0)
    used: bool = False
    date: str | None = Field(default=None, pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")
    source: str
    note: str | None = None

    @model_validator(mode="after")
    def _has_an_amount(self) -> Price:
        if self.usd is None and (self.amount is None or self.currency is None):
            raise ValueError("a price states usd, or amount and currency")
        return self


class ExchangeRate(Entry):
    """US dollars for one unit of a currency."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    usd: float = Field(gt=0)
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    source: str


class CatalogFile(Entry):
    """A catalogue file: any of the sections. An entry with an id that exists replaces it whole."""

    switches: tuple[Switch, ...] = ()
    nics: tuple[Nic, ...] = ()
    servers: tuple[Server, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    modules: tuple[Module, ...] = ()
    cables: tuple[Cable, ...] = ()
    recipes: tuple[Recipe, ...] = ()


class PriceFile(Entry):
    """A price book, or an overlay on one: prices of an overlay stand before those of the book for the same part."""

    name: str
    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    rates: tuple[ExchangeRate, ...] = ()
    prices: tuple[Price, ...] = ()
