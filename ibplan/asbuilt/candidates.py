"""Ways to say a shape in a spec: switches that it can be built of, and the keys of `network` that sizing turns on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Final, Literal

from ibplan.asbuilt.shape import Shape
from ibplan.catalog.store import Catalog
from ibplan.errors import UsageError
from ibplan.fabric.geometry import Geometry
from ibplan.fabric.request import Attached, FabricRequest, TierRequest
from ibplan.plan.switches import SwitchModel, catalog_switch, inline_switch
from ibplan.spec.models import Fabric, InlineSwitch
from ibplan.units import format_ratio

MOST_SWITCHES: Final = 16
_MOST_TRIED: Final = 4_096
# What the spec takes of an inline switch.
_MOST_PER_CAGE, _MOST_CAGES, _MOST_PORTS = 16, 4_096, 16_384
# The spec takes ratios up to this, either way.
_FARTHEST: Final = 1000


@dataclass(frozen=True, slots=True)
class SwitchChoice:
    """Switches for all tiers: what the spec says, and their ports."""

    written: Any
    leaf: Geometry
    spine: Geometry
    core: Geometry
    in_catalog: bool


def switch_choices(shape: Shape, catalog: Catalog, fabric: Fabric, asked: str | None) -> list[SwitchChoice]:
    """The switch that is asked for; else those of the catalogue with the ports that were found, then an inline one.

    Raises UsageError for a switch that the catalogue does not have.
    """
    if asked is not None:
        entry = catalog.switches.get(asked)
        if entry is None:
            near = catalog.nearest(asked, "switches")
            raise UsageError(f"--switch: the catalogue has no {asked!r}" + (f"; nearest: {near}" if near else ""))
        return [_choice(catalog_switch(entry, catalog))]
    models = [catalog_switch(entry, catalog) for entry in catalog.switches.values() if entry.role == "fabric"]
    fitting = [model for model in models if model.serves(fabric) and not model.gaps and _fits(model.geometry, shape)]
    named = [model for model in fitting if _is_called(model, shape)]
    fitting = sorted(named or fitting, key=lambda model: (model.geometry.ports(_down(shape)), model.id))
    return [*map(_choice, fitting[:MOST_SWITCHES]), _inline(shape, catalog)]


def whole_gbps(gbps: float | None) -> int:
    """A speed as a spec states it: whole Gb/s, one at least."""
    return max(1, round(gbps or 0))


def _choice(model: SwitchModel) -> SwitchChoice:
    return SwitchChoice(model.id, model.geometry, model.geometry, model.geometry, True)


def _down(shape: Shape) -> int:
    return whole_gbps(shape.servers.gbps)


def _fits(geometry: Geometry, shape: Shape) -> bool:
    """Whether a switch has the ports of every tier: as many as are stated, else as many as are in use."""
    for tier in shape.switches:
        for gbps, used in ((tier.down_gbps, tier.down), (tier.up_gbps, tier.up)):
            if used and (gbps is None or geometry.ports(whole_gbps(gbps)) < used):
                return False
        ports = geometry.ports(whole_gbps(tier.down_gbps))
        # A switch of InfiniBand counts the port of its aggregation node, too.
        if tier.radix is not None and ports not in (tier.radix, tier.radix - 1):
            return False
    return True


def _is_called(model: SwitchModel, shape: Shape) -> bool:
    """Whether what the switches say of their make holds the model: `MQM9700` holds `qm9700`."""
    words = "".join(c for c in model.id.rpartition("nvidia-")[2].lower() if c.isalnum())
    return any(words in made.lower().replace("-", "") for tier in shape.switches for made in tier.models)


def _inline(shape: Shape, catalog: Catalog) -> SwitchChoice:
    """A switch of as many ports as are stated, else as the fullest of its tier uses, an even number."""
    written: dict[str, Any] = {}
    geometries = {}
    for tier in shape.switches:
        used = tier.down + tier.up
        speeds = [whole_gbps(speed) for speed in (tier.down_gbps, tier.up_gbps) if speed] or [1]
        gbps, fast = min(speeds), max(speeds)
        per_cage = fast // gbps if fast % gbps == 0 else 1
        ports = tier.radix or used + used % 2
        if 1 < per_cage <= _MOST_PER_CAGE:
            # An uplink of a whole cage takes the place of as many slower ports.
            ports = tier.radix or (tier.down + tier.up * per_cage)
            form = {"cages": min(-(-ports // per_cage), _MOST_CAGES), "ports_per_cage": per_cage, "port_gbps": gbps}
        else:
            form = {"ports": min(max(2, ports), _MOST_PORTS), "port_gbps": gbps}
        written[tier.tier] = form
        geometries[tier.tier] = inline_switch(InlineSwitch.model_validate(form), catalog).geometry
    leaf = geometries["leaf"]
    spine = geometries.get("spine", leaf)
    alike = all(form == written["leaf"] for form in written.values())
    return SwitchChoice(written["leaf"] if alike else written, leaf, spine, geometries.get("core", spine), False)


@dataclass(frozen=True, slots=True)
class Knobs:
    """The keys of `network` that sizing turns on; the defaults are those of the spec."""

    leaf_ratio: Fraction = Fraction(1)
    spine_ratio: Fraction = Fraction(1)
    leaf_ports: Literal["half", "all"] = "half"
    spine_ports: Literal["half", "all"] = "half"
    partial_units: Literal["whole", "packed"] = "whole"
    second_tier: Literal["pod", "rail"] = "pod"
    rail_optimized: bool = True
    unit_servers: int | None = None
    pod_units: int | None = None
    min_spines: int = 1

    @property
    def changed(self) -> int:
        """How many are not the default: the fewer, the better a spec reads."""
        plain = Knobs()
        return sum(getattr(self, name) != getattr(plain, name) for name in self.__slots__)

    def apply(self, request: FabricRequest) -> FabricRequest:
        """A request with these."""
        return replace(
            request,
            leaf=replace(request.leaf, ratio=self.leaf_ratio, ports=self.leaf_ports),
            spine=replace(request.spine, ratio=self.spine_ratio, ports=self.spine_ports),
            partial_units=self.partial_units,
            second_tier=self.second_tier,
            rail_optimized=self.rail_optimized,
            unit_servers=self.unit_servers,
            pod_units=self.pod_units,
            min_spines=self.min_spines,
        )

    def written(self) -> dict[str, Any]:
        """The keys as the spec has them, those that are not the default."""
        found: dict[str, Any] = {}
        if self.leaf_ratio != 1 or self.spine_ratio != 1:
            leaf, spine = format_ratio(self.leaf_ratio), format_ratio(self.spine_ratio)
            found["oversubscription"] = leaf if self.spine_ratio == 1 else {"leaf": leaf, "spine": spine}
        if (self.leaf_ports, self.spine_ports) != ("half", "half"):
            both = {"leaf": self.leaf_ports, "spine": self.spine_ports}
            found["leaf_ports"] = self.leaf_ports if self.spine_ports == "half" else both
        plain = Knobs()
        for name in ("partial_units", "second_tier", "rail_optimized", "unit_servers", "pod_units", "min_spines"):
            if getattr(self, name) != getattr(plain, name):
                found[name] = getattr(self, name)
        return found


def base_request(shape: Shape, switch: SwitchChoice, domain_servers: int) -> FabricRequest:
    """What sizing is asked for, before any knob is turned."""
    leaf, spine = shape.tier("leaf"), shape.tier("spine")
    down = _down(shape)
    up = whole_gbps((leaf.up_gbps if leaf is not None else None) or down)
    core_up = whole_gbps((spine.up_gbps if spine is not None else None) or up)
    attached = tuple(
        Attached(group.name, group.hosts, max(1, group.ports // shape.planes), whole_gbps(group.gbps or down))
        for group in shape.attached
    )
    return FabricRequest(
        shape.servers.hosts,
        shape.rails,
        TierRequest(switch.leaf, down, up),
        TierRequest(switch.spine, up, core_up),
        switch.core,
        domain_servers,
        attached,
        shape.tiers,  # type: ignore[arg-type]  # 1, 2 or 3: there are no others
        "two_leaves" if shape.tiers == 1 and shape.links.leaf_leaf else "one_switch",
        reserved_total=shape.managers // shape.fabrics if shape.managers % shape.fabrics == 0 else shape.managers,
    )


def knobs_for(shape: Shape, request: FabricRequest) -> Iterator[Knobs]:
    """Settings of the knobs to try, those with the fewest changes first."""
    leaf, spine = shape.tier("leaf"), shape.tier("spine")
    three = shape.tiers > 2
    spines = spine.switches // (shape.pods if three else shape.fabrics) if spine is not None else 1
    values: Mapping[str, list[Any]] = {
        "leaf_ratio": _ratios(leaf, request.leaf),
        "spine_ratio": _ratios(spine, request.spine) if three else [Fraction(1)],
        "leaf_ports": ["half", "all"],
        "spine_ports": ["half", "all"] if three else ["half"],
        "partial_units": ["whole", "packed"],
        "second_tier": [shape.second_tier],
        "rail_optimized": [shape.rail_optimized],
        "unit_servers": [None, shape.unit.servers],
        "pod_units": _pod_units(shape) if three else [None],
        "min_spines": [1, spines] if spines > 1 else [1],
    }
    found = [Knobs(*choice) for choice in product(*values.values())][:_MOST_TRIED]
    yield from sorted(dict.fromkeys(found), key=lambda knobs: knobs.changed)


def _pod_units(shape: Shape) -> list[int | None]:
    per_fabric = max(1, shape.pods // shape.fabrics)
    return [None, -(-shape.unit.count // per_fabric)]


def _ratios(tier: Any, asked: TierRequest) -> list[Fraction]:
    """Ratios that the numbers of a switch's links can come from: of the links in use, and of the ports set aside."""
    if tier is None or not tier.up:
        return [Fraction(1)]
    ports = asked.geometry.ports(asked.down_gbps)
    up = tier.up * asked.up_gbps
    downs = (tier.down, ports // 2, ports - up // asked.down_gbps)
    found = {Fraction(down * asked.down_gbps, up) for down in downs if down >= max(1, tier.down)}
    sensible = {ratio for ratio in found if ratio * _FARTHEST >= 1 and ratio <= _FARTHEST}
    return [Fraction(1), *sorted(sensible - {Fraction(1)})]
