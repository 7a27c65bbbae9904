"""Figures of the storage and management networks, and of all networks together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ibplan.explain.core import HOST_KINDS, Data, Figure, Get, Input, at, plain, sized

NETWORKS: Final = {
    "compute": "compute network",
    "storage": "storage network",
    "inband": "in-band network",
    "oob": "out-of-band network",
}
SIDE_NETWORKS: Final = {key: words for key, words in NETWORKS.items() if key != "compute"}
_COUNTS: Final = {"switches": "switches", "links": "links", "cables": "cables"}


def _planned(design: Data) -> Iterator[tuple[str, Data]]:
    for key in NETWORKS:
        if design["networks"][key] is not None:
            yield key, design["networks"][key]


def _of_each(count: str) -> Get:
    """A count of every planned network; None in it where it is unknown."""
    return lambda design, plan: {key: network["counts"][count] for key, network in _planned(design)}


def _modules_of_each(design: Data, plan: Data) -> dict[str, Any]:
    found = {}
    for key, network in _planned(design):
        sides = [network["counts"][f"modules_{side}"] for side in ("switch", "server")]
        found[key] = None if None in sides else sum(sides)
    return found


def _endpoints(name: str) -> Get:
    """The links to hosts of a network by row; nothing where it is not planned."""

    def get(design: Data, plan: Data) -> dict[str, Any]:
        network = design["networks"][name]
        rows = [] if network is None else [row for row in network["links"] if row["kind"] in HOST_KINDS]
        return {f"{number} {row['host'] or 'servers'}": row["count"] for number, row in enumerate(rows, 1)}

    return get


def side_figures() -> Iterator[Figure]:
    """Endpoints, switches and links of each side network, and the storage bandwidth of a GPU."""
    for name, words in SIDE_NETWORKS.items():
        hosts = Input("host_links", "links", f"links of the {words} to servers and other hosts", _endpoints(name))
        title = f"ports on the {words}: of servers, and of the other hosts and switches that hang on it"
        get = at("networks", name, "counts", "endpoints")
        yield Figure(f"{name}_endpoints", title, "ports", "sum(host_links)", get, (hosts,))
        for count in ("switches", "links"):
            rule = sized(
                "units, leaves and spines as of the compute network, with the figures of docs/side-networks.md"
            )
            get = at("networks", name, "counts", count)
            yield plain(f"{name}_{count}", f"{count} of the {words}", count, get, rule)
    yield plain(
        "storage_gbps_per_gpu",
        "storage ports of a server over its GPUs",
        "Gb/s",
        at("networks", "storage", "bandwidth", "nic_gbps_per_gpu"),
        "storage ports of a server x their speed / GPUs of a server",
    )


def network_total_figures() -> Iterator[Figure]:
    """Counts over all planned networks."""
    for count, words in _COUNTS.items():
        each = Input(f"{count}_of_networks", words, f"{words} of every planned network", _of_each(count))
        title = f"{words} of all planned networks, those of reserved ports apart"
        get = at("totals", count)
        yield Figure(f"total_{count}", title, words, f"sum({count}_of_networks)", get, (each,))
    each = Input("modules_of_networks", "modules", "modules of every planned network", _modules_of_each)
    title = "modules of all planned networks, those of reserved ports apart"
    yield Figure("total_modules", title, "modules", "sum(modules_of_networks)", at("totals", "modules"), (each,))
