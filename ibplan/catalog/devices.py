"""Devices with cages: switches, network adapters, servers; and the GPUs in them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ibplan.catalog.base import Confidence, Entry, Form, HeatSink, Id, LinkLayer, Power, Sourced
from ibplan.units import Gbps


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


class Switch(Sourced):
    """A switch. `part_numbers` maps airflow (p2c, c2p, or `any`) to the maker's part number.

    `rdma`: fit for RDMA (lossless or congestion-controlled) traffic. `role: management`: a 1G box that stands in a
    compute network only if it is named. `manager_cage_class`: the cage of the fabric
    manager appliance that its reserved ports go to. `in_network_reduction`: what sums the switch makes itself (SHARP):
    `streaming` those of large messages too, `low_latency` small ones only; None = none stated. `load_balancing`: how it
    can spread RDMA traffic over uplinks beyond hashing, `spray` packet by packet, `flowlet` at gaps; None: not stated.
    """

    link_layers: tuple[LinkLayer, ...] = Field(min_length=1)
    generation: str | None = None
    asic: str | None = None
    cages: tuple[CageGroup, ...] = Field(min_length=1)
    capacity_gbps: int | None = Field(default=None, ge=1)
    rdma: bool = True
    role: Literal["fabric", "management"] = "fabric"
    rack_units: int | None = Field(default=None, ge=1)
    switches_in_box: int = Field(default=1, ge=1, le=4)
    weight_kg: float | None = Field(default=None, gt=0)
    power: Power = Power()
    cage_power_limit_w: float | None = Field(default=None, gt=0)
    latency_ns: int | None = Field(default=None, ge=1)
    in_network_reduction: Literal["streaming", "low_latency"] | None = None
    load_balancing: Literal["spray", "flowlet"] | None = None
    buffer_mb: float | None = Field(default=None, gt=0)
    manager_cage_class: Id | None = None
    part_numbers: dict[Literal["p2c", "c2p", "any"], str] = Field(default_factory=dict)

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
        """What is missing to plan with this switch: capacity (checks the radix), and the kind of each cage.

        A box that holds several switches cannot be planned with either: a count of switches is no count of boxes.
        """
        gaps = ["capacity_gbps"] if self.capacity_gbps is None else []
        gaps += ["price and place of one of its switches"] if self.switches_in_box > 1 else []
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
    """How the server is sold when not alone: an NVL72 rack is 18 trays. Maximum power and weight of the whole."""

    unit: str
    servers: int = Field(ge=2)
    power_w: float | None = Field(default=None, gt=0)
    weight_kg: float | None = Field(default=None, gt=0)


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
    """A GPU's published peak figures (dense, no sparsity). `link_generation`: of its NVLink; None = not NVLink."""

    id: Id
    name: str
    bf16_tflops: float | None = Field(default=None, gt=0)
    fp8_tflops: float | None = Field(default=None, gt=0)
    memory_gbytes: float | None = Field(default=None, gt=0)
    memory_gbytes_per_s: float | None = Field(default=None, gt=0)
    tdp_w: float | None = Field(default=None, gt=0)
    link_gbytes_per_s: float | None = Field(default=None, ge=0)
    link_generation: Literal["nvlink3", "nvlink4", "nvlink5"] | None = None
    confidence: Confidence
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None
