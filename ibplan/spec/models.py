"""The spec as a user writes it: strict, frozen, every default visible. Resolving ids is the plan's work."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from ibplan.host_groups import NORTH_SOUTH
from ibplan.spec.addressing import AddressingSpec
from ibplan.spec.economics import (
    Discounts,
    ExchangeRateSpec,
    Licences,
    Spares,
    SparesField,
    Support,
    SupportField,
)
from ibplan.spec.ethernet import EthernetSpec
from ibplan.spec.forms import (
    NOT_BOOL,
    Explored,
    FilePath,
    Many,
    OneOrMany,
    OrShort,
    Strict,
    Word,
    WordOr,
    kind_of_form,
    or_keys,
    wrong_at,
)
from ibplan.spec.naming import NamingSpec
from ibplan.spec.network import (
    ExploredBool,
    ExploredGbps,
    ExploredLeafPorts,
    ExploredRatio,
    ExploredTiers,
    InlineSwitch,
    LeafPorts,
    LinkMedia,
    MediumChoice,
    NetworkSpec,
    PartialUnits,
    ReservedPorts,
    SwitchRef,
    TierLeafPorts,
    TierRatios,
    TierSpeeds,
    TierSwitches,
)
from ibplan.spec.side_networks import InbandSpec, Management, ManagementHosts, OobSpec, StorageSpec
from ibplan.units import Gbps, Metres, Scaled, Seconds, Share, Usd, UsdPerKwh, Watts

# The whole spec in one place to import from.
__all__ = [
    "MAX_GPUS",
    "AddressingSpec",
    "AttachedHosts",
    "Budget",
    "CablingSpec",
    "Discounts",
    "EthernetSpec",
    "ExchangeRateSpec",
    "ExploredBool",
    "ExploredGbps",
    "ExploredLeafPorts",
    "ExploredRatio",
    "ExploredTiers",
    "Fabric",
    "GrowthStage",
    "HallSpec",
    "InbandSpec",
    "InlineServer",
    "InlineSwitch",
    "Job",
    "LeafPorts",
    "Licences",
    "LinkMedia",
    "Management",
    "ManagementHosts",
    "MediumChoice",
    "ModelSpec",
    "NamingSpec",
    "NetworkSpec",
    "OobSpec",
    "Parallelism",
    "PartialUnits",
    "RackSpec",
    "ReservedPorts",
    "ServerRef",
    "Site",
    "Spares",
    "Spec",
    "StorageSpec",
    "Strict",
    "Support",
    "SwitchRef",
    "TierLeafPorts",
    "TierRatios",
    "TierSpeeds",
    "TierSwitches",
    "Workload",
]

Fabric = Literal["infiniband", "roce", "ethernet"]

MAX_GPUS = 4_194_304
MAX_COMBINATIONS = 512


class ModelSpec(Strict):
    """The model: its size, a preset, or its shape. A scalar is read as a size or as a preset id.

    What a shape leaves out is a default of docs/workload.md. The last five keys are of latent attention (MLA).
    """

    parameters: Scaled | None = None
    preset: Word | None = None
    layers: int | None = Field(default=None, ge=1, le=100_000)
    hidden: int | None = Field(default=None, ge=1, le=10_000_000)
    heads: int | None = Field(default=None, ge=1, le=100_000)
    kv_heads: int | None = Field(default=None, ge=1, le=100_000)
    ffn: int | None = Field(default=None, ge=1, le=100_000_000)
    vocab: int | None = Field(default=None, ge=1, le=100_000_000)
    experts: int | None = Field(default=None, ge=0, le=100_000)
    experts_per_token: int | None = Field(default=None, ge=0, le=100_000)
    shared_experts: int | None = Field(default=None, ge=0, le=1_000)
    expert_ffn: int | None = Field(default=None, ge=1, le=100_000_000)
    dense_layers: int | None = Field(default=None, ge=0, le=100_000)
    moe_every: int | None = Field(default=None, ge=1, le=100_000)
    gated: bool | None = None
    tied_embeddings: bool | None = None
    learned_positions: int | None = Field(default=None, ge=0, le=100_000_000)
    head_dim: int | None = Field(default=None, ge=1, le=100_000)
    window: int | None = Field(default=None, ge=1, le=100_000_000)
    full_attention_every: int | None = Field(default=None, ge=2, le=100_000)
    q_latent: int | None = Field(default=None, ge=1, le=1_000_000)
    kv_latent: int | None = Field(default=None, ge=1, le=1_000_000)
    rope_dim: int | None = Field(default=None, ge=1, le=100_000)
    qk_nope_dim: int | None = Field(default=None, ge=1, le=100_000)
    v_dim: int | None = Field(default=None, ge=1, le=100_000)


def _as_model(value: Any) -> Any:
    if isinstance(value, dict | BaseModel) or value is None:
        return value
    text = str(value)
    size_like = isinstance(value, int | float) or (text[:1].isdigit() and text[-1:] in "0123456789kMBT")
    return {"parameters": value} if size_like else {"preset": value}


class Parallelism(Strict):
    """A parallel mapping given by hand. Without `dp`: as many data-parallel ranks as the GPUs allow."""

    tp: int = Field(default=1, ge=1)
    pp: int = Field(default=1, ge=1)
    dp: int | None = Field(default=None, ge=1)
    cp: int = Field(default=1, ge=1)
    ep: int = Field(default=1, ge=1)
    micro_batch: int = Field(default=1, ge=1)
    interleave: int = Field(default=1, ge=1)
    zero: Annotated[Literal[0, 1, 2, 3], NOT_BOOL] = 1


class Job(Strict):
    """One kind of job in the mix."""

    gpus: int = Field(ge=1, le=MAX_GPUS)
    share: Share


class Workload(Strict):
    """What the cluster runs. None = a default (docs/workload.md, docs/inference.md).

    Inference: tokens of a request, of whose input `cached_fraction` is found in a cache; at most `ttft` to the first
    token, `tpot` for each later one; `disaggregated`: prefill and decode on GPUs of their own.
    """

    task: Literal["training", "inference"] = "training"
    tokens: Scaled | None = None
    sequence: int | None = Field(default=None, ge=1, le=100_000_000)
    global_batch: int | None = Field(default=None, ge=1, le=100_000_000)
    precision: Literal["bf16", "fp8"] = "bf16"
    recompute: Literal["none", "selective", "full"] = "selective"
    parallelism: Annotated[
        Annotated[Literal["auto"], Tag("id")] | Annotated[Parallelism, Tag("inline")],
        Discriminator(kind_of_form),
        or_keys("auto", "{tp: 8, pp: 8}"),
    ] = "auto"
    jobs: Many[Job] = ()
    input_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    output_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    cached_fraction: Share | None = None
    ttft: Seconds | None = None
    tpot: Seconds | None = None
    kv_cache: Literal["bf16", "fp8"] | None = None
    disaggregated: bool | None = None


class InlineServer(Strict):
    """A server that is not in the catalogue. What it does not state is unknown. `gpu`: id of its GPU."""

    gpus: int = Field(ge=1, le=64)
    gpu: Word | None = None
    nics: int = Field(ge=1, le=64)
    ports_per_nic: int = Field(default=1, ge=1, le=16)
    port_gbps: Gbps
    cage_class: Word | None = None
    nvlink_domain_gpus: int | None = Field(default=None, ge=1)
    rack_units: float | None = Field(default=None, gt=0, le=100)
    weight_kg: float | None = Field(default=None, gt=0)
    power: Watts | None = None
    price: Usd | None = None


ServerRef = WordOr[InlineServer]


_DEVICE_NAMES = ("server", "leaf", "spine", "core", "manager")


class AttachedHosts(Strict):
    """Other hosts on the compute network."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    servers: int = Field(ge=1, le=1_000_000)
    ports: int = Field(ge=1, le=64)
    port_gbps: Gbps
    cage_class: Word | None = None
    rack_units: float | None = Field(default=None, gt=0, le=100)
    weight_kg: float | None = Field(default=None, gt=0)
    power: Watts | None = None

    @field_validator("name")
    @classmethod
    def _names_no_other_device(cls, name: str) -> str:
        if name.partition("-")[0] in _DEVICE_NAMES:
            raise ValueError(f"{name!r} would name other devices too: not {', '.join(_DEVICE_NAMES)}, nor one with '-'")
        return name


class Budget(Strict):
    """Limits. A scalar is the purchase price of the network."""

    network: Usd | None = None
    cluster: Usd | None = None
    power: Watts | None = None
    facility_power: Watts | None = None


def _as_budget(value: Any) -> Any:
    return value if isinstance(value, dict | BaseModel) else {"network": value}


class RackSpec(Strict):
    """One rack. What is not stated is a default of the site (docs/site.md), a weight limit then unknown.

    `price` of one rack, `pdu_price` of one rack PDU: no default, because no public price fits every rack.
    """

    rack_units: int | None = Field(default=None, ge=1, le=100)
    reserved_units: int | None = Field(default=None, ge=0, le=99)
    power: Watts | None = None
    weight_kg: float | None = Field(default=None, gt=0)
    width: Metres | None = None
    depth: Metres | None = None
    pdus: int | None = Field(default=None, ge=0, le=12)
    price: Usd | None = None
    pdu_price: Usd | None = None


class HallSpec(Strict):
    """The hall. With `rows`, everything has to stand in so many rows."""

    rows: int | None = Field(default=None, ge=1, le=10_000)
    racks_per_row: int | None = Field(default=None, ge=2, le=10_000)
    aisle_pitch: Metres | None = None


class CablingSpec(Strict):
    """Structured cabling: trunks and panels between racks. What is not stated is a default (docs/cabling.md)."""

    structured: bool = False
    trunk_fibers: int | None = Field(default=None, ge=2, le=6912)
    panel_ports: int | None = Field(default=None, ge=1, le=1000)
    panel_units: int | None = Field(default=None, ge=1, le=20)
    spare_fraction: Share | None = None


class Site(Strict):
    """Where it stands. `airflow` selects the part number of a switch, `placement` where the leaves stand.

    `utilization`: mean power of the servers over their maximum.
    """

    pue: float = Field(default=1.3, ge=1, le=5)
    electricity: UsdPerKwh = Decimal("0.09")
    utilization: Share = Fraction(1)
    years: int = Field(default=4, ge=1, le=30)
    airflow: Literal["p2c", "c2p"] = "p2c"
    placement: Literal["middle_of_row", "end_of_row", "top_of_rack", "central_rows"] = "middle_of_row"
    tray_above_rack: Metres | None = None
    slack: Metres | None = None
    rack: RackSpec = RackSpec()
    hall: HallSpec = HallSpec()
    cabling: CablingSpec = CablingSpec()


class GrowthStage(Strict):
    """A later size."""

    year: int = Field(ge=1, le=50)
    gpus: int = Field(ge=1, le=MAX_GPUS)


def _given(key: str) -> dict[str, Any]:
    return {"required": [key], "properties": {key: {"type": "integer"}}}


class Spec(Strict):
    """A whole spec. `gpus` or `servers` is required; everything else has a default.

    `naming`, `addressing`, `ethernet`: None = the defaults of those models.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [_given("gpus"), _given("servers")]})

    name: str | None = Field(default=None, min_length=1, max_length=120)
    model: (
        Annotated[ModelSpec, BeforeValidator(_as_model), OrShort(lambda _: {"type": ["string", "number"]})] | None
    ) = None
    workload: Workload = Workload()
    gpus: int | None = Field(default=None, ge=1, le=MAX_GPUS)
    servers: int | None = Field(default=None, ge=1, le=MAX_GPUS)
    server: ServerRef = "nvidia-dgx-h100"
    attached: Many[AttachedHosts] = ()
    budget: Annotated[Budget, BeforeValidator(_as_budget), OrShort(lambda long: long["properties"]["network"])] = (
        Budget()
    )
    fabrics: Explored[Fabric] = (
        "infiniband",
        "roce",
    )
    design: str | None = Field(default=None, min_length=1, max_length=200)
    network: NetworkSpec = NetworkSpec()
    optics: Literal["compatible", "vendor"] = "compatible"
    storage: (
        Annotated[
            Annotated[Literal["none"], Tag("id")] | Annotated[StorageSpec, Tag("inline")],
            Discriminator(kind_of_form),
            or_keys("none", "{gbps_per_gpu: 16}"),
        ]
        | None
    ) = None
    management: Management = Management()
    site: Site = Site()
    discounts: Discounts = Discounts()
    exchange_rates: Many[ExchangeRateSpec] = ()
    spares: SparesField = Spares()
    licences: Licences = Licences()
    support: SupportField = Support()
    prices: FilePath | None = None
    catalog: OneOrMany[FilePath] = ()
    growth: Many[GrowthStage] = ()
    naming: NamingSpec | None = None
    addressing: AddressingSpec | None = None
    ethernet: EthernetSpec | None = None

    @model_validator(mode="after")
    def _has_a_size(self) -> Spec:
        if self.gpus is None and self.servers is None:
            raise ValueError("state gpus or servers")
        names: set[str] = set()
        for index, hosts in enumerate(self.attached):
            if hosts.name in names:
                raise wrong_at(("attached", index, "name"), f"another entry is named {hosts.name!r}, too")
            names.add(hosts.name)
        self._check_currencies()
        self._check_growth()
        self._check_converged()
        self._check_combinations()
        return self

    @property
    def on_compute(self) -> tuple[Literal["storage", "inband"], ...]:
        """The networks whose ports are on the leaves of the compute network."""
        storage, inband = self.storage, self.management.inband
        carried = isinstance(inband, InbandSpec) and inband.converged_with is not None
        meets = ("compute", "inband") if carried else ("compute",)
        found: list[Literal["storage", "inband"]] = ["inband"] if carried else []
        if isinstance(storage, StorageSpec) and storage.converged_with in meets:
            found.insert(0, "storage")
        return tuple(found)

    def _check_converged(self) -> None:
        if not self.on_compute:
            return
        if self.growth:
            raise wrong_at(
                ("growth",),
                "a compute network that carries storage or in-band traffic is of one switch or one pair, which is not "
                "planned to grow: leave out growth, or converged_with: compute",
            )
        for index, hosts in enumerate(self.attached):
            if hosts.name in NORTH_SOUTH:
                message = f"{hosts.name!r} names hosts that converged_with: compute puts there: take another name"
                raise wrong_at(("attached", index, "name"), message)

    def _check_combinations(self) -> None:
        lists = {"fabrics": len(self.fabrics)} | {f"network.{key}": n for key, n in self.network.explored().items()}
        count = prod(lists.values())
        if count > MAX_COMBINATIONS:
            named = " x ".join(f"{key} {n}" for key, n in lists.items() if n > 1)
            message = f"the lists multiply to {count:,} combinations, {MAX_COMBINATIONS} is the limit: {named}"
            raise wrong_at(("network",), message)

    def _check_currencies(self) -> None:
        currencies = [rate.currency for rate in self.exchange_rates]
        for index, currency in enumerate(currencies):
            if currency in currencies[:index]:
                raise wrong_at(("exchange_rates", index, "currency"), f"a rate of {currency} is given twice")

    def _check_growth(self) -> None:
        year, gpus = 0, self.gpus or 0
        for index, stage in sorted(enumerate(self.growth), key=lambda item: item[1].year):
            at = ("growth", index)
            if stage.year == year:
                raise wrong_at((*at, "year"), f"year {year} is given twice")
            if stage.gpus < gpus:
                raise wrong_at((*at, "gpus"), f"stages never shrink: {stage.gpus:,} GPUs after {gpus:,}")
            year, gpus = stage.year, stage.gpus
