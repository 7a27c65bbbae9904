"""What uneven load takes from the fabric, without a simulation: a curve that the simulator made, and its look-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import log2, prod
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ibplan.document import read_document, validate
from ibplan.fabric.network import NetworkSize

_FILE = Path(__file__).parent / "data" / "load_balancing.yaml"

Scheme = Literal["adaptive", "static", "ecmp", "flowlet", "spray"]
Basis = Literal["exact", "simulated", "interpolated", "nearest"]
Axis = Literal["leaves", "pods", "uplinks", "leaf_ratio", "spine_ratio", "speedup", "flows"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class DefaultScheme(_Model):
    """How a kind of fabric balances load if nothing else is known, and flows of a pair of ports where they are hashed.

    Each with where it comes from.
    """

    scheme: Scheme
    source: str
    flows: int = Field(ge=1)
    flows_source: str


class Curve(_Model):
    """Results over a grid. `mean` and `worst` stand in the order of the axes, the last one fastest."""

    scheme: Scheme
    tiers: Literal[2, 3]
    axes: dict[Axis, tuple[float, ...]]
    mean: tuple[float, ...]
    worst: tuple[float, ...]

    @model_validator(mode="after")
    def _fits(self) -> Curve:
        count = prod(len(values) for values in self.axes.values())
        if len(self.mean) != count or len(self.worst) != count:
            raise ValueError(f"the axes have {count} points, but there are {len(self.mean)} and {len(self.worst)}")
        if any(tuple(sorted(set(values))) != values or values[0] <= 0 for values in self.axes.values()):
            raise ValueError("the values of an axis have to rise from above 0")
        return self


class LoadBalancingData(_Model):
    """The packaged file. `made`: how the curves were made."""

    made: str
    defaults: dict[Literal["infiniband", "roce", "ethernet"], DefaultScheme]
    curves: tuple[Curve, ...]


@lru_cache(maxsize=1)
def load_balancing_data() -> LoadBalancingData:
    """The packaged curves and defaults."""
    return validate(LoadBalancingData, read_document(_FILE))


@dataclass(frozen=True, slots=True)
class FabricForm:
    """What of a fabric decides how load spreads. Ratios are down:up by bandwidth, of the ports in use.

    `leaves` of one fabric, `uplinks` of a leaf, `speedup` = speed of an uplink over that of a NIC port.
    """

    tiers: int
    leaves: int
    uplinks: int
    leaf_ratio: float
    speedup: float
    pods: int = 1
    spine_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class LoadBalancing:
    """What is left of the bandwidth that even spreading gives, 0 to 1: of the mean flow, and of the slowest one.

    `flows` of a pair of ports. `basis`: exact (nothing to share, or spread in the limit of many packets), simulated (a
    point of the curve), interpolated between points, or the nearest point of the curve, which does not reach so far.
    """

    scheme: Scheme
    flows: int
    mean: float
    worst: float
    basis: Basis


def default_scheme(fabric: Literal["infiniband", "roce", "ethernet"], stated: Scheme | None) -> DefaultScheme:
    """How a fabric balances load: as its leaf switch is `stated` to do with RDMA traffic, else the kind's default."""
    found = load_balancing_data().defaults[fabric]
    if stated is None or fabric == "ethernet":
        return found
    return found.model_copy(update={"scheme": stated, "source": "the catalogue's entry of the leaf switch"})


def fabric_form(network: NetworkSize) -> FabricForm:
    """The form of one fabric of a network: that of its most frequent leaf, and of the first pod's spines."""
    request, fabric = network.request, network.fabric
    pod = max(fabric.pods, key=lambda pod: pod.count * pod.leaf_count)
    load = max(pod.leaves, key=lambda load: (load.servers > 0, load.count))
    uplinks, up_gbps = fabric.isl or load.uplinks, request.leaf.up_gbps
    ratio = load.servers * load.down_gbps / (uplinks * up_gbps) if uplinks and load.servers else 1.0
    spine = pod.downlinks * up_gbps / (pod.uplinks * request.spine.up_gbps) if pod.uplinks else 1.0
    pods = sum(pod.count for pod in fabric.pods)
    return FabricForm(fabric.tiers, fabric.leaf_count, uplinks, ratio, up_gbps / load.down_gbps, pods, spine)


def load_balancing(form: FabricForm, scheme: Scheme, flows: int = 1) -> LoadBalancing:
    """How a scheme balances random traffic in which every NIC port sends to one behind another leaf.

    Adaptive routing and packet spray share out evenly in the limit of many packets: nothing is lost then. Everything
    else is looked up in curves that `benchmarks/load_balancing.py` made, linear in the logarithm of every axis.
    """
    if scheme in ("adaptive", "spray") or form.leaves < 2 or form.uplinks < 2:
        return LoadBalancing(scheme, flows, 1.0, 1.0, "exact")
    tiers = 3 if form.tiers == 3 and form.pods > 1 else 2
    curve = next(c for c in load_balancing_data().curves if (c.scheme, c.tiers) == (scheme, tiers))
    wanted: dict[Axis, float] = {
        "leaves": form.leaves,
        "pods": form.pods,
        "uplinks": form.uplinks,
        "leaf_ratio": form.leaf_ratio,
        "spine_ratio": form.spine_ratio,
        "speedup": form.speedup,
        "flows": flows,
    }
    at = [_between(values, wanted[axis]) for axis, values in curve.axes.items()]
    basis: Basis = "simulated" if all(place.part == 0 for place in at) else "interpolated"
    basis = "nearest" if any(place.outside for place in at) else basis
    sizes = [len(values) for values in curve.axes.values()]
    return LoadBalancing(scheme, flows, _mixed(curve.mean, sizes, at), _mixed(curve.worst, sizes, at), basis)


@dataclass(frozen=True, slots=True)
class _Place:
    """Between the values `low` and `low` + 1 of an axis, `part` of the way from the first to the second."""

    low: int
    part: float
    outside: bool


def _between(values: Sequence[float], wanted: float) -> _Place:
    if wanted <= values[0]:
        return _Place(0, 0.0, wanted < values[0])
    if wanted >= values[-1]:
        return _Place(len(values) - 1, 0.0, wanted > values[-1])
    low = max(i for i, value in enumerate(values) if value <= wanted)
    return _Place(low, log2(wanted / values[low]) / log2(values[low + 1] / values[low]), False)


def _mixed(figures: Sequence[float], sizes: Sequence[int], at: Sequence[_Place]) -> float:
    total = 0.0
    for corner in product(*(((p.low, 1 - p.part), (p.low + 1, p.part)) if p.part else ((p.low, 1.0),) for p in at)):
        index = 0
        for size, (number, _) in zip(sizes, corner, strict=True):
            index = index * size + number
        total += figures[index] * prod(weight for _, weight in corner)
    return total
