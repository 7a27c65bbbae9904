"""The compute network as a user asks for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ibplan.spec.forms import AS_LEAF, NOT_BOOL, Explored, OrShort, Strict, Word, WordOr, one_of
from ibplan.units import Gbps, Ratio, Usd, Watts

PartialUnits = Literal["whole", "packed"]
LeafPorts = Literal["half", "all"]
MediumChoice = Literal["auto", "optical", "multimode", "single_mode", "copper"]
Tiers = Annotated[Literal["auto", 1, 2, 3], NOT_BOOL]
ExploredRatio = Explored[Ratio]
ExploredGbps = Explored[Gbps]
ExploredBool = Explored[bool]
ExploredLeafPorts = Explored[LeafPorts]
ExploredTiers = Explored[Tiers]


class InlineSwitch(Strict):
    """A switch that is not in the catalogue: `ports`, or `cages` with `ports_per_cage` (a cage also runs whole)."""

    model_config = one_of(("ports",), ("cages", "ports_per_cage"))

    ports: int | None = Field(default=None, ge=2, le=16384)
    cages: int | None = Field(default=None, ge=1, le=4096)
    ports_per_cage: int | None = Field(default=None, ge=1, le=16)
    port_gbps: Gbps
    cage_class: Word | None = None
    rack_units: int | None = Field(default=None, ge=1, le=100)
    power: Watts | None = None
    price: Usd | None = None

    @model_validator(mode="after")
    def _one_form(self) -> InlineSwitch:
        caged = self.cages is not None and self.ports_per_cage is not None
        if (self.ports is not None) == caged or (self.cages is None) != (self.ports_per_cage is None):
            raise ValueError("state ports, or cages and ports_per_cage")
        return self


SwitchRef = WordOr[InlineSwitch]


class TierSwitches(Strict):
    """Which switch stands in which tier. None = the same as the leaf."""

    leaf: Explored[SwitchRef] | None = None
    spine: SwitchRef | None = None
    core: SwitchRef | None = None


def _as_tier_switches(value: Any) -> Any:
    if isinstance(value, dict) and set(value) & set(InlineSwitch.model_fields):
        return {"leaf": value}
    return value if isinstance(value, dict | TierSwitches) else {"leaf": value}


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

    switch: Annotated[
        TierSwitches, BeforeValidator(_as_tier_switches), OrShort(lambda long: long["properties"]["leaf"])
    ] = TierSwitches()
    oversubscription: Annotated[TierRatios, *AS_LEAF] = TierRatios()
    tiers: ExploredTiers = ("auto",)
    single_tier: Explored[Literal["one_switch", "two_leaves"]] = ("one_switch",)
    rail_optimized: ExploredBool = (True,)
    rail_only: ExploredBool = (False,)
    planes: Explored[Annotated[int, Field(ge=1, le=16)]] = (1,)
    second_tier: Explored[Literal["pod", "rail"]] = ("pod",)
    uplink_gbps: Annotated[TierSpeeds, *AS_LEAF] = TierSpeeds()
    partial_units: Explored[PartialUnits] = ("whole",)
    leaf_ports: Annotated[TierLeafPorts, *AS_LEAF] = TierLeafPorts()
    unit_servers: int | None = Field(default=None, ge=1, le=100_000)
    pod_units: int | None = Field(default=None, ge=1, le=100_000)
    min_spines: int = Field(default=1, ge=1, le=100_000)
    reserved_ports: Annotated[
        ReservedPorts, BeforeValidator(_as_reserved), OrShort(lambda long: long["properties"]["total"])
    ] = ReservedPorts()
    medium: Annotated[
        LinkMedia, BeforeValidator(_as_media), OrShort(lambda long: long["properties"]["server_leaf"])
    ] = LinkMedia()

    def explored(self) -> dict[str, int]:
        """How many values each key explores, by dotted name; they multiply."""
        found: dict[str, int] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            parts = {f"{name}.{tier}": getattr(value, tier, None) for tier in ("leaf", "spine")}
            found |= {key: len(part) for key, part in {name: value, **parts}.items() if isinstance(part, tuple)}
        return found
