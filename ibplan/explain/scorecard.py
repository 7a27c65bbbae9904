"""Figures of the scorecard: ports that have to be tuned against packet loss, and makers of the form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibplan.explain.core import Data, Figure, Input, at


def scorecard_figures() -> Iterator[Figure]:
    """Counts of the scorecard."""
    rows = Input("ports_used", "ports", "in use on the switches of each tier that are to be tuned", _tuned_ports)
    title = "switch ports of the compute and storage networks that PFC and ECN have to be tuned on; 0 where credits or "
    get = at("scorecard", "switch_ports_to_tune")
    yield Figure("switch_ports_to_tune", f"{title}TCP keep from loss", "ports", "sum(ports_used)", get, (rows,))
    names = Input(
        "makers", "makers", "each of them", lambda design, plan: dict.fromkeys(design["scorecard"]["makers"], 1)
    )
    title = "makers of whom the catalogue has switches with the same ports for every tier of the compute network"
    yield Figure("form_makers", title, "makers", "len(makers)", _makers, (names,))


def _makers(design: Data, plan: Data) -> Any:
    return len(design["scorecard"]["makers"])


def _tuned_ports(design: Data, plan: Data) -> dict[str, int]:
    """Ports in use by network and tier, of the networks that are tuned."""
    if not design["scorecard"]["switch_ports_to_tune"]:
        return {}
    networks = {name: design["networks"][name] for name in ("compute", "storage")}
    return {
        f"{name} {row['tier']}": row["ports_used"]
        for name, network in networks.items()
        if network is not None and network["fabric"] == design["fabric"]
        for row in network["switches"]
    }
