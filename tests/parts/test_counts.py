"""Modules and cables of whole designs against published bills and against counts made by hand."""

from __future__ import annotations

import pytest

from tests.plan.planning import COMPUTE_ONLY, compute, only, plan, quantities

POD = (
    """
servers: 127
server: nvidia-dgx-h100
fabrics: infiniband
network: {switch: nvidia-qm9700, reserved_ports: 4}
"""
    + COMPUTE_ONLY
)


def rows(network: object) -> dict[str, tuple[int, int | None]]:
    return {row.kind: (row.count, row.cables) for row in network.links}  # type: ignore[attr-defined]


def test_published_pod_has_the_modules_and_cables_of_its_bill() -> None:
    # DGX SuperPOD RA, DGX H100 (RA-11333-001): Table 7 gives 1,016 + 4 node-side and 1,024 leaf-spine links, Table 8
    # 1,536 twin-port switch modules and 508 twin-port system modules.
    counts = compute(POD).counts
    assert (counts.modules_switch, counts.modules_server) == (1536, 508)
    assert counts.cables == 2040
    assert rows(compute(POD)) == {"server-leaf": (1016, 1016), "reserved": (4, 4), "leaf-spine": (1024, 1024)}


def test_reserved_links_stand_apart_and_share_the_modules_of_server_links() -> None:
    # One downlink of a leaf that carries 31 servers is free, in a cage that is lit already: no further switch module.
    design = only(plan(POD))
    assert design.networks.compute.counts.links == 1016 + 1024
    assert quantities(design, "transceiver", "leaf") + quantities(design, "transceiver", "spine") == 1536
    assert quantities(design, "transceiver", "reserved") == 4
    assert quantities(design, "cable", "reserved") == 4


def test_reserved_links_beside_even_ports_light_a_cage_of_their_own() -> None:
    # 30 servers leave two ports of a leaf free, both in one dark cage: four leaves light it for one link each.
    text = POD.replace("127", "30")
    design = only(plan(text))
    # 8 leaves x 15 cages down and 16 up, 4 spines x 32; reserved: 4 modules in switches and 4 at the far end.
    assert quantities(design, "transceiver", "leaf") == 8 * 15 + 8 * 16
    assert quantities(design, "transceiver", "reserved") == 4 + 4
    assert quantities(design, "transceiver", "spine") == 4 * 32


@pytest.mark.parametrize(("server", "modules"), [("nvidia-dgx-h100", 4), ("nvidia-hgx-h100", 8)])
def test_modules_a_server_follow_its_cages(server: str, modules: int) -> None:
    # Sizing rules, 9: a DGX H100 takes one twin-port module for two NICs, most other servers one for every NIC.
    network = compute(
        f"servers: 16\nserver: {server}\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700, tiers: 2}}\n"
    )
    assert network.counts.modules_server == 16 * modules


def test_reseller_order_for_256_gpus() -> None:
    # Optics notes: 256 GPUs on the server side were sold as 256 single-port and 128 twin-port modules and 256 fibres.
    text = "servers: 32\nserver: nvidia-hgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"
    design = only(plan(text))
    down = [i for i in design.line_items if "servers" in i.where and i.category != "switch"]
    assert [(i.tier, i.category, i.quantity) for i in down] == [
        ("leaf", "transceiver", 128),
        ("server", "transceiver", 256),
        ("leaf", "cable", 256),
    ]


@pytest.mark.parametrize("servers", [4, 8])
def test_basepod_joins_two_leaves_with_copper(servers: int) -> None:
    # dgx-basepod-4 and -8: the links between the leaves are half of the server links. A twin copper cable carries two
    # links from cage to cage; 4 systems: 8 cables, 16 modules in the switches and 16 in the systems.
    network = compute(
        f"servers: {servers}\nserver: nvidia-dgx-h100\nfabrics: infiniband\n"
        "network: {switch: nvidia-qm9700, tiers: 1, single_tier: two_leaves, medium: {leaf_leaf: copper}}\n"
    )
    assert rows(network)["leaf-leaf"] == (servers * 4, servers * 2)
    assert (network.counts.modules_switch, network.counts.modules_server) == (servers * 4, servers * 4)


def test_an_800g_uplink_over_twin_modules_takes_two_fibres_and_one_module_an_end() -> None:
    # Sizing rules, 9: switch modules = server links / 2 + 2 x uplinks. Pain 14: 4 leaves, 2 spines, 256 and 128 links.
    network = compute("servers: 32\nserver: nvidia-hgx-h100\nfabrics: roce\nnetwork: {switch: nvidia-sn5610}\n")
    assert (network.counts.leaf, network.counts.spine) == (4, 2)
    assert rows(network) == {"server-leaf": (256, 256), "leaf-spine": (128, 256)}
    assert {row.kind: row.gbps for row in network.links} == {"server-leaf": 400, "leaf-spine": 800}
    assert network.counts.modules_switch == 256 // 2 + 2 * 128
    assert network.counts.cables == 512


def test_two_planes_share_the_cages_of_the_servers() -> None:
    # A DGX B300 cage runs 2 x 400G on Ethernet, one port for each plane: 8 modules a server, not 16.
    network = compute(
        "servers: 16\nserver: nvidia-dgx-b300\nfabrics: roce\nnetwork: {switch: nvidia-sn5610, planes: 2}\n"
    )
    assert network.counts.leaf == 2
    assert network.counts.endpoints == 16 * 16
    assert network.counts.modules_server == 16 * 8
    # 128 links fill 64 cages of each plane's switch.
    assert network.counts.modules_switch == 2 * 64


def test_odd_links_round_up_in_every_leaf() -> None:
    # 31 links of a leaf light 16 cages. Over 8 leaves that is 128 modules; halving the 248 links would give 124.
    text = "servers: 31\nserver: nvidia-hgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"
    design = only(plan(text))
    down = [i.quantity for i in design.line_items if i.where == "leaves, links to servers"]
    assert down == [128]


NDR200 = """
servers: 31
server: {gpus: 8, nics: 8, port_gbps: 200, cage_class: nic-osfp-400}
fabrics: infiniband
network: {switch: nvidia-qm9700, tiers: 2, uplink_gbps: 400}
"""


def test_ndr200_takes_one_splitter_for_two_links_of_a_half_cage() -> None:
    # 128 ports of 200G in 32 cages of 4; half of them down: 64. Two rails of 31 servers on a leaf: 62 links, 4 leaves.
    # 62 links: 31 halves with one 1:2 fibre each, 16 cages.
    design = only(plan(NDR200))
    network = design.networks.compute
    assert network.counts.leaf == 4
    assert rows(network)["server-leaf"] == (248, 4 * 31)
    assert quantities(design, "splitter", "leaf") == 4 * 31
    assert [i.quantity for i in design.line_items if i.where == "leaves, links to servers"] == [4 * 16]
    assert network.counts.modules_server == 248


def test_a_splitter_is_counted_where_its_single_end_is() -> None:
    # 32 ports of a leaf: 16 down, 6 up at 8:3. 64 servers on 4 leaves: 24 links, 8 on each of 3 spines, which break
    # 400G cages out into 4: 2 splitters a spine. Six links of a leaf would need two as well, 8 in all.
    text = """
servers: 64
server: {gpus: 8, nics: 1, port_gbps: 100, cage_class: nic-qsfp28}
fabrics: roce
network: {switch: {leaf: nvidia-sn3700c, spine: nvidia-sn4700}, tiers: 2, min_spines: 3, oversubscription: 8:3,
  uplink_gbps: 100}
"""
    network = compute(text)
    assert (network.counts.leaf, network.counts.spine) == (4, 3)
    assert rows(network)["leaf-spine"] == (24, 3 * 2)
