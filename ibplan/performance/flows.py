"""From pairs of GPUs to flows between NIC ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ibplan.fabric.wiring_model import Wiring
from ibplan.performance.fairness import Indices
from ibplan.performance.flow_network import Bools, Ports, server_ports
from ibplan.performance.patterns import Places
from ibplan.performance.routing import PortFlows

# How traffic gets from one rail to another: over the network, or over NVLink to the GPU of the far rail.
CrossRail = Literal["network", "nvlink"]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The GPUs on a wiring: `server_gpus` in a server, `domain_gpus` that NVLink joins; NIC ports of every server.

    GPU i of a server has `lanes` ports, from i x ports div GPUs on: GPUs share a port where there are fewer.
    """

    wiring: Wiring
    server_gpus: int
    domain_gpus: int
    ports: Ports

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return len(self.ports.link) * self.server_gpus

    @property
    def port_count(self) -> int:
        """NIC ports of a server."""
        return int(self.ports.link.shape[1])

    @property
    def lanes(self) -> int:
        """NIC ports of a GPU, one at least."""
        return max(1, self.port_count // self.server_gpus)

    @property
    def nic_gbps_per_gpu(self) -> float:
        """Bandwidth of a server's ports over its GPUs, Gb/s."""
        links = self.wiring.links.link_class[self.ports.link[0]]
        return float(sum(self.wiring.classes[k].gbps for k in links.tolist()) / self.server_gpus)

    @property
    def places(self) -> Places:
        """NVLink domain (a server, if it is no larger) and first leaf of every GPU."""
        gpu = np.arange(self.gpus, dtype=np.int32)
        port = gpu % self.server_gpus * self.port_count // self.server_gpus
        return Places(gpu // np.int32(self.domain_gpus), self.ports.leaf[gpu // self.server_gpus, port])


def cluster_of(wiring: Wiring, server_gpus: int, domain_gpus: int, works: Bools | None = None) -> Cluster:
    """The GPUs on a wiring whose links work, or do not."""
    return Cluster(wiring, server_gpus, max(server_gpus, domain_gpus), server_ports(wiring, works))


@dataclass(frozen=True, slots=True)
class Lanes:
    """Flows between ports of some pairs of GPUs: `pair` of each, and whether both ports are in one fabric.

    `source`: the sending GPU of every pair, shape (pairs,).
    """

    source: Indices
    flows: PortFlows
    pair: Indices
    joined: Bools


def port_flows(cluster: Cluster, source: Indices, target: Indices, cross_rail: CrossRail) -> Lanes:
    """One flow for each NIC port of a GPU; shape of `source` and `target`: (pairs,), GPUs.

    Port m of the source sends to port m of the target. With `nvlink` the data goes to the GPU at the target's place in
    the source's server first, and leaves by the NIC there, so that it stays on one rail.
    """
    size, lanes = cluster.server_gpus, cluster.lanes
    place = target % size
    first = (place if cross_rail == "nvlink" else source % size) * cluster.port_count // size
    lane = np.arange(lanes)
    out = (source[:, None] // size, first[:, None] + lane)
    into = (target[:, None] // size, (place * cluster.port_count // size)[:, None] + lane)
    ports = cluster.ports
    flows = PortFlows(
        ports.link[out].ravel(),
        ports.link[into].ravel(),
        ports.leaf[out].ravel(),
        ports.leaf[into].ravel(),
        ports.place[into].ravel(),
    )
    pair = np.repeat(np.arange(len(source), dtype=np.int32), lanes)
    return Lanes(source, flows, pair, (ports.fabric[out] == ports.fabric[into]).ravel())
