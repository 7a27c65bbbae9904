"""Figures of form, counts, cabling and bandwidth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibplan.explain.core import (
    GPUS,
    HOST_KINDS,
    MAIN_KINDS,
    SWITCH_TIERS,
    Data,
    Figure,
    Input,
    at,
    compute,
    east_west_rows,
    group_rows,
    item_lines,
    link_rows,
    plain,
    sized,
    slowest,
    switch_row,
    total_links,
)

_RANK = (
    "fully priced designs that keep every limit come first, plain Ethernet that does not carry the job last; among the "
    "rest more bandwidth per GPU, then joined rails before separate ones, then the lower price; where plain Ethernet "
    "carries the job, only the price counts"
)
_TIERS = sized("the first of 1, 2, 3 that can be built; network.tiers pins it")
_SERVERS = "servers of the spec; or gpus of the spec / GPUs of a server, rounded up"
_SWITCHES = {
    "leaf_switches": "units x leaves of a unit x planes, with leaves for reserved ports and attached hosts",
    "spine_switches": "pods x spines of a pod x planes; a smaller last pod may differ",
    "core_switches": "the fewest, in groups to which every spine sends equally many uplinks, x planes",
}


def form_figures() -> Iterator[Figure]:
    """Tiers, units, pods and ratios."""
    yield plain("rank", "place in the order of the fully priced designs", "", at("rank"), _RANK)
    yield plain("tiers", "tiers of switches", "tiers", compute("tiers"), _TIERS)
    yield plain(
        "planes", "disjoint fabrics of the same form", "planes", compute("planes"), "network.planes of the spec"
    )
    yield plain(
        "unit_servers",
        "servers that share one set of leaves",
        "servers",
        compute("unit", "servers"),
        sized("downlinks of a leaf / rails on a leaf, rounded down; network.unit_servers pins it"),
    )
    yield plain(
        "unit_leaves",
        "leaves of one unit, in one plane",
        "leaves",
        compute("unit", "leaves"),
        sized("rails / rails on a leaf; 1 without rails"),
    )
    yield plain(
        "units",
        "units (sets of leaves with their servers)",
        "units",
        compute("unit", "count"),
        sized("servers / servers of a unit, rounded up"),
    )
    yield plain(
        "pod_units",
        "units whose leaves share one set of spines",
        "units",
        compute("pod", "units"),
        sized(
            "all units below three tiers; else as many as a spine has downlinks for their leaves, or network.pod_units"
        ),
    )
    yield plain(
        "pod_spines",
        "spines of one pod, in one plane",
        "spines",
        compute("pod", "spines"),
        sized("the fewest to which every leaf can have equally many uplinks, and whose ports hold all of them"),
    )
    yield plain(
        "pods",
        "pods (sets of spines with their units)",
        "pods",
        compute("pod", "count"),
        sized("units / units of a pod, rounded up; 1 below three tiers"),
    )
    for tier in ("leaf", "spine"):
        title = f"oversubscription of a {tier} switch, down:up by bandwidth of its configured ports"
        yield plain(
            f"{tier}_ratio_asked",
            f"{title}, asked",
            "down:up",
            compute("oversubscription", tier, "asked"),
            "network.oversubscription of the spec",
        )
        inputs = tuple(
            Input(name, unit, meaning, compute("oversubscription", tier, name))
            for name, unit, meaning in (
                ("downlinks", "links", f"configured downlinks of the {tier} with the worst ratio"),
                ("down_gbps", "Gb/s", "speed of one of them; the mean where they differ"),
                ("uplinks", "links", "its uplinks"),
                ("up_gbps", "Gb/s", "speed of one of them"),
            )
        )
        formula = "downlinks * down_gbps / (uplinks * up_gbps)"
        get = compute("oversubscription", tier, "built")
        yield Figure(f"{tier}_ratio_built", f"{title}, the worst that is built", "down:up", formula, get, inputs)


def count_figures() -> Iterator[Figure]:
    """Endpoints, switches and ports."""
    yield plain(
        "gpus", "GPUs of all planned servers", "GPUs", at("totals", "gpus"), "planned servers x GPUs of a server"
    )
    yield plain("servers", "planned servers", "servers", at("totals", "servers"), _SERVERS)
    hosts = Input("host_links", "links", "links to servers and attached hosts", link_rows("count", *HOST_KINDS))
    title = "NIC ports of servers and attached hosts that need a switch port"
    yield Figure("endpoints", title, "ports", "sum(host_links)", compute("counts", "endpoints"), (hosts,))
    tiers = tuple(
        Input(f"{t}_switches", "switches", f"switches of the {t} tier", compute("counts", t)) for t in SWITCH_TIERS
    )
    for tier in tiers:
        yield plain(tier.name, tier.meaning, "switches", tier.get, sized(_SWITCHES[tier.name]))
    formula = "leaf_switches + spine_switches + core_switches"
    title = "switches of all tiers and planes of the compute network"
    yield Figure("switches", title, "switches", formula, compute("counts", "switches"), tiers)
    for name in ("spine", "core"):
        title = f"{name} switches that the ports alone would need; an even spread of links may take more"
        yield plain(
            f"minimum_{name}_switches",
            title,
            "switches",
            compute("minimum", name),
            sized("uplinks that the tier below needs / ports of a switch, rounded up"),
        )
    for name in SWITCH_TIERS:
        used, free = switch_row(name, "ports_used"), switch_row(name, "ports_free")
        yield plain(
            f"{name}_ports_used",
            f"ports in use on all {name} switches",
            "ports",
            used,
            sized("ports that carry a link, up or down, each at its own speed"),
        )
        yield plain(
            f"{name}_ports_free",
            f"free ports of all {name} switches at downlink speed",
            "ports",
            free,
            sized("ports at downlink speed that the cages left over, uplinks taken off, still give"),
        )


def cabling_figures() -> Iterator[Figure]:
    """Links, cages, modules and cables."""
    for kind in (*MAIN_KINDS, "reserved"):
        name, words = f"{kind.replace('-', '_')}_links", "attached-host" if kind == "attached" else kind
        rows = Input("links_of_rows", "links", f"rows of {kind} links", link_rows("count", kind))
        yield Figure(name, f"{words} links", "links", "sum(links_of_rows)", total_links(kind), (rows,))
        speeds = Input("gbps_of_rows", "Gb/s", f"speeds of the rows of {kind} links", link_rows("gbps", kind))
        title = f"speed of {'an' if words[0] == 'a' else 'a'} {words} link, the slowest if there are several"
        yield Figure(f"{name.removesuffix('s')}_gbps", title, "Gb/s", "min(gbps_of_rows)", slowest(kind), (speeds,))
    rows = Input("links_of_rows", "links", "all rows but the reserved ones", link_rows("count", *MAIN_KINDS))
    title = "links of the compute network, reserved ones apart"
    yield Figure("links", title, "links", "sum(links_of_rows)", compute("counts", "links"), (rows,))
    title = "switch cages that hold at least one link's end (a cage may carry several links), reserved ones apart"
    yield plain(
        "cages",
        title,
        "cages",
        compute("counts", "cages"),
        sized("over all switches: links of a kind / links that a cage carries, rounded up for each switch"),
    )
    sides = []
    for side, tiers in (("switch", SWITCH_TIERS), ("server", ("server", "attached"))):

        def chosen(item: Data, tiers: tuple[str, ...] = tiers) -> bool:
            wanted = item["network"] == "compute" and item["category"] == "transceiver"
            return wanted and item["tier"] in tiers

        meaning = f"modules in cages of {'switches' if side == 'switch' else 'servers and attached hosts'}"
        lines = Input("module_quantities", "modules", f"lines of {meaning}", item_lines("quantity", chosen))
        get = compute("counts", f"modules_{side}")
        sides.append(Input(f"modules_{side}", "modules", meaning, get))
        yield Figure(f"modules_{side}", meaning, "modules", "sum(module_quantities)", get, (lines,))
    formula = "modules_switch + modules_server"
    title = "modules (transceivers) of the compute network, those of reserved ports apart"
    yield Figure("modules", title, "modules", formula, _modules, tuple(sides))
    rows = Input("cables_of_rows", "cables", "cables of all rows but reserved", link_rows("cables", *MAIN_KINDS))
    title = "cables and splitters of the compute network, those of reserved ports apart"
    yield Figure("cables", title, "cables", "sum(cables_of_rows)", compute("counts", "cables"), (rows,))


def _modules(design: Data, plan: Data) -> Any:
    sides = [compute("counts", f"modules_{side}")(design, plan) for side in ("switch", "server")]
    return None if None in sides else sum(sides)


def bandwidth_figures() -> Iterator[Figure]:
    """Bandwidth and latency."""
    counts = Input("host_links", "links", "links to servers and attached hosts", east_west_rows("count", *HOST_KINDS))
    speeds = Input("link_gbps", "Gb/s", "speed of each of them", east_west_rows("gbps", *HOST_KINDS))
    formula = "sum(n * gbps for n, gbps in zip(host_links, link_gbps))"
    title = "all endpoints sending at once, one direction"
    injection = compute("bandwidth", "injection_gbps")
    yield Figure("injection_gbps", title, "Gb/s", formula, injection, (counts, speeds))
    title = (
        "half the sum over leaves of the smaller of endpoint bandwidth below and uplink bandwidth, one direction; with "
        "three tiers the smaller of that and the same over pods; summed over planes"
    )
    bisection = compute("bandwidth", "bisection_gbps")
    all_sending = Input("injection_gbps", "Gb/s", "all endpoints sending at once, one direction", injection)
    formula = (
        "min(sum(n * min(down, up or down) for n, down, up in zip(leaves, leaf_endpoint_gbps, leaf_uplink_gbps)), "
        "sum(n * min(down, up) for n, down, up in zip(pods, pod_endpoint_gbps, pod_uplink_gbps)) if pods "
        "else injection_gbps) / 2"
    )
    sides = (*_groups("leaf", "leaves"), *_groups("pod", "pods"), all_sending)
    yield Figure("bisection_gbps", title, "Gb/s", formula, bisection, sides)
    servers = (
        Input("server_links", "links", "links to servers", link_rows("count", "server-leaf")),
        Input("link_gbps", "Gb/s", "speed of each of them", link_rows("gbps", "server-leaf")),
        GPUS,
    )
    formula = "sum(n * gbps for n, gbps in zip(server_links, link_gbps)) / gpus"
    nics = compute("bandwidth", "nic_gbps_per_gpu")
    yield Figure("nic_gbps_per_gpu", "network ports of a server over its GPUs", "Gb/s", formula, nics, servers)
    parts = (
        Input("nic_gbps_per_gpu", "Gb/s", "network ports of a server over its GPUs", nics),
        Input("bisection_gbps", "Gb/s", "bisection bandwidth, one direction", bisection),
        all_sending,
    )
    formula = "nic_gbps_per_gpu * min(1, 2 * bisection_gbps / injection_gbps)"
    title = "what each GPU gets when all endpoints talk across the bisection, one direction"
    yield Figure("per_gpu_gbps", title, "Gb/s", formula, compute("bandwidth", "per_gpu_gbps"), parts)
    title = "whether the fabric joins different rails"
    yield plain(
        "cross_rail",
        title,
        "yes/no",
        compute("bandwidth", "cross_rail"),
        ("no where network.rail_only makes every rail a network of its own; else yes"),
    )
    for path, words in (("same_leaf", "under one leaf"), ("cross_leaf", "over a spine"), ("cross_pod", "over a core")):
        title = f"latency {words}, one way, 64 B, idle, on the line through two measured points of the fabric"
        inputs = (
            Input("host_us", "us", "both hosts together", compute("latency_us", "host_us")),
            Input("hop_us", "us", "what each switch adds", compute("latency_us", "hop_us")),
            Input("switches_passed", "switches", "on the shortest path", compute("latency_us", "switches", path)),
        )
        formula, get = "host_us + hop_us * switches_passed", compute("latency_us", path)
        yield Figure(f"latency_{path}_us", title, "us", formula, get, inputs)


def _groups(one: str, many: str) -> tuple[Input, Input, Input]:
    """Leaves or pods, those alike together, as three inputs."""
    rows = f"{one}_groups"
    alone = "; none under a single switch, which blocks nothing" if one == "leaf" else ""
    return (
        Input(many, many, f"{many} alike, over all planes", group_rows(rows, "count")),
        Input(f"{one}_endpoint_gbps", "Gb/s", f"endpoints below one {one}", group_rows(rows, "endpoint_gbps")),
        Input(f"{one}_uplink_gbps", "Gb/s", f"uplinks of one {one}{alone}", group_rows(rows, "uplink_gbps")),
    )
