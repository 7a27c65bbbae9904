"""The spec as a user writes it: strict, frozen, every default visible. Resolving ids is the plan's work."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from ibplan.units import Gbps, Metres, Ratio, Scaled, Share, Usd, UsdPerKwh, Watts

Fabric = Literal["infiniband", "roce", "ethernet"]
PartialUnits = Literal["whole", "packed"]
LeafPorts = Literal["half", "all"]
MediumChoice = Literal["optical", "multimode", "single_mode", "copper"]

MAX_GPUS = 4_194_304


class Strict(BaseModel):
    """Base of the spec's models."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _wrong(at: tuple[str | int, ...], message: str) -> PydanticCustomError:
    """What a check of a whole raises about its part `at`: the reader reports it at that part's position."""
    return PydanticCustomError("at", "{message}", {"at": at, "message": message})


def _not_bool(value: Any) -> Any:
    # In Python True equals 1, so a Literal would take it.
    if isinstance(value, bool):
        raise ValueError(f"expected a number, got {'true' if value else 'false'}")
    return value


def _or_keys(word: str, example: str) -> BeforeValidator:
    """For a union of one word and a mapping: says both when it is neither."""

    def check(value: Any) -> Any:
        if value != word and not isinstance(value, dict | BaseModel):
            raise ValueError(f"expected {word} or keys with values, such as {example}")
        return value

    return BeforeValidator(check)


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _as_leaf(value: Any) -> Any:
    return value if isinstance(value, dict | BaseModel) else {"leaf": value}


def _kind(value: Any) -> str:
    return "inline" if isinstance(value, dict | BaseModel) else "id"


_EXPLORED = Field(min_length=1, max_length=16)
_MANY = Field(max_length=100)
_Listed = BeforeValidator(_listed)
ExploredRatio = Annotated[tuple[Ratio, ...], _Listed, _EXPLORED]
ExploredGbps = Annotated[tuple[Gbps, ...], _Listed, _EXPLORED]
ExploredBool = Annotated[tuple[bool, ...], _Listed, _EXPLORED]
ExploredLeafPorts = Annotated[tuple[LeafPorts, ...], _Listed, _EXPLORED]
_Tiers = Annotated[Literal["auto", 1, 2, 3], BeforeValidator(_not_bool)]
ExploredTiers = Annotated[tuple[_Tiers, ...], _Listed, _EXPLORED]


class ModelSpec(Strict):
    """The model: its size, a preset, or its shape. A scalar is read as a size or as a preset id."""

    parameters: Scaled | None = None
    preset: str | None = None
    layers: int | None = Field(default=None, ge=1, le=100_000)
    hidden: int | None = Field(default=None, ge=1, le=10_000_000)
    heads: int | None = Field(default=None, ge=1, le=100_000)
    kv_heads: int | None = Field(default=None, ge=1, le=100_000)
    ffn: int | None = Field(default=None, ge=1, le=100_000_000)
    vocab: int | None = Field(default=None, ge=1, le=100_000_000)
    experts: int | None = Field(default=None, ge=0, le=100_000)
    experts_per_token: int | None = Field(default=None, ge=0, le=100_000)


def _as_model(value: Any) -> Any:
    if isinstance(value, dict | BaseModel) or value is None:
        return value
    text = str(value)
    size_like = isinstance(value, int | float) or (text[:1].isdigit() and text[-1:] in "0123456789kMBT")
    return {"parameters": value} if size_like else {"preset": value}


class Parallelism(Strict):
    """A parallel mapping given by hand."""

    tp: int = Field(default=1, ge=1)
    pp: int = Field(default=1, ge=1)
    dp: int = Field(default=1, ge=1)
    cp: int = Field(default=1, ge=1)
    ep: int = Field(default=1, ge=1)
    micro_batch: int = Field(default=1, ge=1)
    interleave: int = Field(default=1, ge=1)
    zero: Annotated[Literal[0, 1, 2, 3], BeforeValidator(_not_bool)] = 1


class Job(Strict):
    """One kind of job in the mix."""

    gpus: int = Field(ge=1, le=MAX_GPUS)
    share: Share


class Workload(Strict):
    """What the cluster runs. None = a default by model size (docs)."""

    task: Literal["training", "inference"] = "training"
    tokens: Scaled | None = None
    sequence: int | None = Field(default=None, ge=1, le=100_000_000)
    global_batch: int | None = Field(default=None, ge=1, le=100_000_000)
    precision: Literal["bf16", "fp8"] = "bf16"
    recompute: Literal["none", "selective", "full"] = "selective"
    parallelism: Annotated[
        Annotated[Literal["auto"], Tag("id")] | Annotated[Parallelism, Tag("inline")],
        Discriminator(_kind),
        _or_keys("auto", "{tp: 8, pp: 8}"),
    ] = "auto"
    jobs: Annotated[tuple[Job, ...], BeforeValidator(_tuple), _MANY] = ()


class InlineServer(Strict):
    """A server that is not in the catalogue. What it does not state is unknown."""

    gpus: int = Field(ge=1, le=64)
    nics: int = Field(ge=1, le=64)
    ports_per_nic: int = Field(default=1, ge=1, le=16)
    port_gbps: Gbps
    cage_class: str | None = None
    nvlink_domain_gpus: int | None = Field(default=None, ge=1)
    rack_units: float | None = Field(default=None, gt=0, le=100)
    power: Watts | None = None
    price: Usd | None = None


class InlineSwitch(Strict):
    """A switch that is not in the catalogue: `ports`, or `cages` with `ports_per_cage` (a cage also runs whole)."""

    ports: int | None = Field(default=None, ge=2, le=16384)
    cages: int | None = Field(default=None, ge=1, le=4096)
    ports_per_cage: int | None = Field(default=None, ge=1, le=16)
    port_gbps: Gbps
    cage_class: str | None = None
    rack_units: int | None = Field(default=None, ge=1, le=100)
    power: Watts | None = None
    price: Usd | None = None

    @model_validator(mode="after")
    def _one_form(self) -> InlineSwitch:
        caged = self.cages is not None and self.ports_per_cage is not None
        if (self.ports is not None) == caged or (self.cages is None) != (self.ports_per_cage is None):
            raise ValueError("state ports, or cages and ports_per_cage")
        return self


SwitchRef = Annotated[Annotated[str, Tag("id")] | Annotated[InlineSwitch, Tag("inline")], Discriminator(_kind)]
ServerRef = Annotated[Annotated[str, Tag("id")] | Annotated[InlineServer, Tag("inline")], Discriminator(_kind)]


class TierSwitches(Strict):
    """Which switch stands in which tier. None = the same as the leaf."""

    leaf: Annotated[tuple[SwitchRef, ...], _Listed, _EXPLORED] | None = None
    spine: SwitchRef | None = None
    core: SwitchRef | None = None


def _as_tier_switches(value: Any) -> Any:
    if isinstance(value, dict) and set(value) & set(InlineSwitch.model_fields):
        return {"leaf": value}
    return _as_leaf(value)


class TierRatios(Strict):
    """Oversubscription (down:up by bandwidth) of each tier."""

    leaf: ExploredRatio = (Fraction(1),)
    spine: ExploredRatio = (Fraction(1),)


class TierSpeeds(Strict):
    """Uplink speed in Gb/s of each tier. None = whole-cage speed where both ends have it, else the downlink speed."""

    leaf: ExploredGbps | None = None
    spine: ExploredGbps | None = None


class TierLeafPorts(Strict):
    """How many of a switch's ports are set aside for downlinks."""

    leaf: ExploredLeafPorts = ("half",)
    spine: ExploredLeafPorts = ("half",)


class ReservedPorts(Strict):
    """Ports kept free of servers: `total` for the fabric manager, `per_leaf` and `per_spine` on every switch."""

    total: int = Field(default=0, ge=0, le=100_000)
    per_leaf: int = Field(default=0, ge=0, le=4096)
    per_spine: int = Field(default=0, ge=0, le=4096)


def _as_reserved(value: Any) -> Any:
    return {"total": value} if isinstance(value, int) and not isinstance(value, bool) else value


class LinkMedia(Strict):
    """The medium of each kind of link."""

    server_leaf: MediumChoice = "optical"
    leaf_spine: MediumChoice = "optical"
    spine_core: MediumChoice = "optical"
    leaf_leaf: MediumChoice = "optical"
    attached: MediumChoice = "optical"
    reserved: MediumChoice = "optical"


def _as_media(value: Any) -> Any:
    if isinstance(value, str):
        return dict.fromkeys(LinkMedia.model_fields, value)
    return value


class NetworkSpec(Strict):
    """The compute network. A scalar pins a value, a list explores its values, lists multiply."""

    switch: Annotated[TierSwitches, BeforeValidator(_as_tier_switches)] = TierSwitches()
    oversubscription: Annotated[TierRatios, BeforeValidator(_as_leaf)] = TierRatios()
    tiers: ExploredTiers = ("auto",)
    single_tier: Annotated[tuple[Literal["one_switch", "two_leaves"], ...], _Listed, _EXPLORED] = ("one_switch",)
    rail_optimized: ExploredBool = (True,)
    rail_only: ExploredBool = (False,)
    planes: Annotated[tuple[Annotated[int, Field(ge=1, le=16)], ...], _Listed, _EXPLORED] = (1,)
    second_tier: Annotated[tuple[Literal["pod", "rail"], ...], _Listed, _EXPLORED] = ("pod",)
    uplink_gbps: Annotated[TierSpeeds, BeforeValidator(_as_leaf)] = TierSpeeds()
    partial_units: Annotated[tuple[PartialUnits, ...], _Listed, _EXPLORED] = ("whole",)
    leaf_ports: Annotated[TierLeafPorts, BeforeValidator(_as_leaf)] = TierLeafPorts()
    unit_servers: int | None = Field(default=None, ge=1, le=100_000)
    pod_units: int | None = Field(default=None, ge=1, le=100_000)
    min_spines: int = Field(default=1, ge=1, le=100_000)
    reserved_ports: Annotated[ReservedPorts, BeforeValidator(_as_reserved)] = ReservedPorts()
    medium: Annotated[LinkMedia, BeforeValidator(_as_media)] = LinkMedia()


class AttachedHosts(Strict):
    """Other hosts on the compute network."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    servers: int = Field(ge=1, le=1_000_000)
    ports: int = Field(ge=1, le=64)
    port_gbps: Gbps
    cage_class: str | None = None


class Budget(Strict):
    """Limits. A scalar is the purchase price of the network."""

    network: Usd | None = None
    cluster: Usd | None = None
    power: Watts | None = None
    facility_power: Watts | None = None


def _as_budget(value: Any) -> Any:
    return value if isinstance(value, dict | BaseModel) else {"network": value}


class StorageSpec(Strict):
    """The storage network (planned from the next releases on; checked and carried along today)."""

    ports_per_server: int | None = Field(default=None, ge=1, le=64)
    port_gbps: Gbps | None = None
    appliance_ports: int | None = Field(default=None, ge=1, le=100_000)
    appliance_gbps: Gbps | None = None
    gbps_per_gpu: float | None = Field(default=None, gt=0)


class Management(Strict):
    """Which management networks are wanted."""

    inband: bool = True
    oob: bool = True


class RackSpec(Strict):
    """One rack."""

    rack_units: int = Field(default=48, ge=1, le=100)
    power: Watts = 45_000.0


class HallSpec(Strict):
    """The hall."""

    rows: int | None = Field(default=None, ge=1, le=10_000)
    racks_per_row: int | None = Field(default=None, ge=1, le=10_000)
    aisle_pitch: Metres | None = None


class Site(Strict):
    """Where it stands. `airflow` selects the part number of a switch."""

    pue: float = Field(default=1.3, ge=1, le=5)
    electricity: UsdPerKwh = Decimal("0.09")
    years: int = Field(default=4, ge=1, le=30)
    airflow: Literal["p2c", "c2p"] = "p2c"
    rack: RackSpec = RackSpec()
    hall: HallSpec = HallSpec()


class GrowthStage(Strict):
    """A later size."""

    year: int = Field(ge=1, le=50)
    gpus: int = Field(ge=1, le=MAX_GPUS)


class Spec(Strict):
    """A whole spec. `gpus` or `servers` is required; everything else has a default."""

    name: str | None = Field(default=None, min_length=1, max_length=120)
    model: Annotated[ModelSpec, BeforeValidator(_as_model)] | None = None
    workload: Workload = Workload()
    gpus: int | None = Field(default=None, ge=1, le=MAX_GPUS)
    servers: int | None = Field(default=None, ge=1, le=MAX_GPUS)
    server: ServerRef = "nvidia-dgx-h100"
    attached: Annotated[tuple[AttachedHosts, ...], BeforeValidator(_tuple), _MANY] = ()
    budget: Annotated[Budget, BeforeValidator(_as_budget)] = Budget()
    fabrics: Annotated[tuple[Fabric, ...], _Listed, Field(min_length=1, max_length=3)] = (
        "infiniband",
        "roce",
    )
    design: str | None = Field(default=None, min_length=1, max_length=200)
    network: NetworkSpec = NetworkSpec()
    optics: Literal["compatible", "vendor"] = "compatible"
    storage: (
        Annotated[Annotated[Literal["none"], Tag("id")] | Annotated[StorageSpec, Tag("inline")], Discriminator(_kind)]
        | None
    ) = None
    management: Management = Management()
    site: Site = Site()
    prices: str | None = None
    catalog: Annotated[tuple[str, ...], _Listed, _MANY] = ()
    growth: Annotated[tuple[GrowthStage, ...], BeforeValidator(_tuple), _MANY] = ()

    @model_validator(mode="after")
    def _has_a_size(self) -> Spec:
        if self.gpus is None and self.servers is None:
            raise ValueError("state gpus or servers")
        names: set[str] = set()
        for index, hosts in enumerate(self.attached):
            if hosts.name in names:
                raise _wrong(("attached", index, "name"), f"another entry is named {hosts.name!r}, too")
            names.add(hosts.name)
        self._check_growth()
        return self

    def _check_growth(self) -> None:
        year, gpus = 0, self.gpus or 0
        for index, stage in sorted(enumerate(self.growth), key=lambda item: item[1].year):
            at = ("growth", index)
            if stage.year == year:
                raise _wrong((*at, "year"), f"year {year} is given twice")
            if stage.gpus < gpus:
                raise _wrong((*at, "gpus"), f"stages never shrink: {stage.gpus:,} GPUs after {gpus:,}")
            year, gpus = stage.year, stage.gpus
