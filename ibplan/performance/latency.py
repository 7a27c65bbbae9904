"""Latency by number of switches passed: a line through two published points a fabric, marked where it leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.fabric.request import FabricSize

_FILE = Path(__file__).parent / "data" / "latency.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


class LatencyPoint(_Model):
    """One measurement: switches passed, microseconds one way."""

    switches: int = Field(ge=1)
    latency_us: float = Field(gt=0)


class Calibration(_Model):
    """Measurements of one fabric at one port speed."""

    fabric: str
    port_gbps: int
    points: tuple[LatencyPoint, ...] = Field(min_length=2, max_length=2)
    device: str
    sources: tuple[str, ...] = Field(min_length=1)

    @property
    def hop_us(self) -> float:
        """Microseconds a further switch adds."""
        first, second = self.points
        return (second.latency_us - first.latency_us) / (second.switches - first.switches)

    @property
    def host_us(self) -> float:
        """Microseconds at both hosts together: the line at no switch."""
        return self.points[0].latency_us - self.points[0].switches * self.hop_us


class _File(_Model):
    calibrations: tuple[Calibration, ...]


@lru_cache(maxsize=1)
def calibrations() -> dict[str, Calibration]:
    """Measured latencies by fabric. Plain Ethernet (kernel TCP) has none."""
    loaded = validate(_File, read_document(_FILE))
    return {c.fabric: c for c in loaded.calibrations}


@dataclass(frozen=True, slots=True)
class PathSwitches:
    """Switches on the shortest path between two servers; None where the fabric has no such pair."""

    same_leaf: int | None
    cross_leaf: int | None
    cross_pod: int | None


@dataclass(frozen=True, slots=True)
class PathLatency:
    """Microseconds over each kind of path: `host_us` + switches passed x `hop_us`.

    None = no such path, or no measurement of the fabric. `extrapolated`: the paths that no measurement covers.
    """

    host_us: float | None
    hop_us: float | None
    switches: PathSwitches
    extrapolated: tuple[str, ...]

    def over_us(self, switches: int | None) -> float | None:
        """Microseconds over a number of switches."""
        if switches is None or self.host_us is None or self.hop_us is None:
            return None
        return self.host_us + switches * self.hop_us


def path_latency(fabric_kind: str, port_gbps: int, fabric: FabricSize, servers: int) -> PathLatency:
    """Latency in microseconds, one way, 64 B, idle: host + switches passed x hop.

    A path of the calibration's own switch counts and port speed is measured; any other is extrapolated.
    """
    calibration = calibrations().get(fabric_kind)
    passed = switches_passed(fabric, servers)
    if calibration is None:
        return PathLatency(None, None, passed, ())
    measured = {p.switches for p in calibration.points} if calibration.port_gbps == port_gbps else set()
    found = {"same_leaf": passed.same_leaf, "cross_leaf": passed.cross_leaf, "cross_pod": passed.cross_pod}
    marked = tuple(name for name, switches in found.items() if switches is not None and switches not in measured)
    return PathLatency(calibration.host_us, calibration.hop_us, passed, marked)


def switches_passed(fabric: FabricSize, servers: int) -> PathSwitches:
    """Switches on the shortest path between two servers of each kind of pair."""
    across = 2 if fabric.isl else 3
    several_pods = sum(pod.count for pod in fabric.pods) > 1
    return PathSwitches(
        same_leaf=1 if servers > 1 and fabric.unit.servers > 1 else None,
        cross_leaf=across if fabric.leaf_count > 1 else None,
        cross_pod=5 if several_pods else None,
    )
