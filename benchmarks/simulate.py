"""One simulation in a process of its own: `python -m benchmarks.simulate GPUS ROUTING` prints seconds of its parts."""

from __future__ import annotations

import sys
import time
from typing import cast

import numpy as np

from benchmarks.wiring import RAILS, switch
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import build_network
from ibplan.fabric.request import FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.wiring import wire
from ibplan.performance.flow_network import flow_network
from ibplan.performance.flows import cluster_of, port_flows
from ibplan.performance.patterns import members_of, permutation
from ibplan.performance.rates import Fabric, Routing, flow_rates


def main() -> None:
    """Wire a 1:1 fat tree of three tiers, and share it among the flows of one random permutation of its GPUs."""
    gpus, routing = int(sys.argv[1]), cast("Routing", sys.argv[2])
    model = switch(64 if gpus <= 32768 else 128)
    tier = TierRequest(model, 400, 400)
    request = FabricRequest(gpus // RAILS, RAILS, tier, tier, model, tiers=3)
    host = HostEnd("nic-osfp-400", 1)
    wiring = wire(build_network(request, size_fabric(request), 1, server=host, server_ports=RAILS))
    start = time.perf_counter()
    fabric, cluster = Fabric(flow_network(wiring)), cluster_of(wiring, RAILS, RAILS)
    ranks = np.arange(gpus, dtype=np.int32)
    members = members_of(ranks, cluster.places, np.zeros(gpus, np.int32))
    pairs = permutation(members, np.random.default_rng(0))
    flows = port_flows(cluster, pairs.source, pairs.target, "network").flows
    made = time.perf_counter()
    rates = flow_rates(fabric, flows, routing, np.random.default_rng(1))
    shared = time.perf_counter()
    mean = rates.gbps.mean() / 400
    seconds = f"network and flows in {made - start:.3f} s, routed and shared in {shared - made:.3f} s"
    sys.stdout.write(f"{len(flows):,} flows, {seconds}; mean {mean:.1%}\n")


if __name__ == "__main__":
    main()
