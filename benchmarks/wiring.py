"""One wiring in a process of its own: `python -m benchmarks.wiring ENDPOINTS` prints links, tiers, and seconds."""

from __future__ import annotations

import sys
import time

from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.network import HostEnd, build_network
from ibplan.fabric.request import FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.wiring import wire

RAILS = 8


def switch(ports: int) -> Geometry:
    """A switch of twin cages at 400 Gb/s."""
    return Geometry(f"{ports} ports", (CageSet(ports // 2, (Mode(400, 2),), "ndr-osfp"),))


def main() -> None:
    """Size a 1:1 fat tree of 8-rail servers and wire it."""
    endpoints = int(sys.argv[1])
    # The smallest of the usual radices that three tiers reach with.
    model = switch(64 if endpoints <= 32768 else 128 if endpoints <= 262144 else 256)
    tier = TierRequest(model, 400, 400)
    request = FabricRequest(endpoints // RAILS, RAILS, tier, tier, model)
    host = HostEnd("nic-osfp-400", 1)
    start = time.perf_counter()
    network = build_network(request, size_fabric(request), 1, server=host, server_ports=RAILS)
    sized = time.perf_counter()
    wiring = wire(network)
    wired = time.perf_counter()
    seconds = f"sized in {sized - start:.3f} s, wired in {wired - sized:.3f} s"
    sys.stdout.write(f"{len(wiring.links):,} links, {seconds}\n")


if __name__ == "__main__":
    main()
