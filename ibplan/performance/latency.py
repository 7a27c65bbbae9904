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
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)


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
class PathLatency:
    """Microseconds over each kind of path; None = no such path, or no measurement. `extrapolated`: the unmeasured."""

    same_leaf: float | None
    cross_leaf: float | None
    cross_pod: float | None
    extrapolated: tuple[str, ...]


def path_latency(fabric_kind: str, port_gbps: int, fabric: FabricSize, servers: int) -> PathLatency:
    """Latency in microseconds, one way, 64 B, idle: host + switches passed x hop.

    A path of the calibration's own switch counts and port speed is measured; any other is extrapolated.
    """
    calibration = calibrations().get(fabric_kind)
    passed = _switches_passed(fabric, servers)
    if calibration is None:
        return PathLatency(None, None, None, ())
    measured = {p.switches for p in calibration.points} if calibration.port_gbps == port_gbps else set()
    figures = {
        name: None if switches is None else calibration.host_us + switches * calibration.hop_us
        for name, switches in passed.items()
    }
    marked = tuple(name for name, switches in passed.items() if switches is not None and switches not in measured)
    return PathLatency(figures["same_leaf"], figures["cross_leaf"], figures["cross_pod"], marked)


def _switches_passed(fabric: FabricSize, servers: int) -> dict[str, int | None]:
    """Switches on the shortest path between two servers; None where the fabric has no such pair."""
    across = 2 if fabric.isl else 3
    several_pods = sum(pod.count for pod in fabric.pods) > 1
    return {
        "same_leaf": 1 if servers > 1 and fabric.unit.servers > 1 else None,
        "cross_leaf": across if fabric.leaf_count > 1 else None,
        "cross_pod": 5 if several_pods else None,
    }
