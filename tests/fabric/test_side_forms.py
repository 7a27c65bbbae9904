"""Forms that only side networks have: separate leaves, ports of a server apart, leaves for one group of hosts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.checks import check_wiring
from ibplan.fabric.geometry import CageSet, Geometry, Mode
from ibplan.fabric.host_links import HostEnd
from ibplan.fabric.network import NetworkSize, build_network
from ibplan.fabric.request import Attached, FabricRequest, TierRequest
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.wiring import wire
from ibplan.performance.bandwidth import bisection_gbps, injection_gbps
from tests.examples import share

BOX = Geometry("48 x 1G + 4 x 100G", (CageSet(48, (Mode(1, 1),)), CageSet(4, (Mode(100, 1),))))
SWITCH = Geometry("64 x 100G", (CageSet(64, (Mode(100, 1),)),))


def separate(servers: int, *groups: Attached, uplinks: int = 2, unit_servers: int | None = None) -> FabricRequest:
    leaf = TierRequest(BOX, 1, 100, ports="all", fixed_uplinks=uplinks)
    return FabricRequest(
        servers,
        1,
        leaf,
        TierRequest(BOX, 100, 100),
        BOX,
        attached=groups,
        tiers=1,
        single_tier="separate",
        unit_servers=unit_servers,
    )


def apart(servers: int, *groups: Attached, ratio: int = 8) -> FabricRequest:
    tier = TierRequest(SWITCH, 100, 100, Fraction(ratio), "all")
    return FabricRequest(
        servers, 2, tier, tier, SWITCH, attached=groups, single_tier="two_leaves", min_spines=2, most_rails_per_leaf=1
    )


def built(request: FabricRequest) -> NetworkSize:
    end = HostEnd(None, 1)
    return build_network(
        request,
        size_fabric(request),
        1,
        server=end,
        server_ports=request.rails,
        attached=tuple(end for _ in request.attached),
    )


def sound(network: NetworkSize) -> bool:
    return check_wiring(wire(network, planes=1, ports_per_nic=1)) == []


def counts(network: NetworkSize) -> dict[str, int]:
    return {tier.tier: tier.count for tier in network.tiers}


@pytest.mark.parametrize(
    ("servers", "switches", "strips", "leaves"),
    # ceil(ports / 48), whoever they belong to.
    [(1, 1, 1, 1), (48, 1, 1, 2), (30, 10, 8, 1), (127, 64, 108, 7), (96, 97, 0, 5), (2048, 900, 0, 62)],
)
def test_separate_leaves_are_as_few_as_hold_all_ports(servers: int, switches: int, strips: int, leaves: int) -> None:
    groups = [Attached("switch", switches, 1, 1), *([Attached("pdu", strips, 1, 1)] if strips else [])]
    network = built(separate(servers, *groups))
    assert counts(network) == {"leaf": leaves}
    (tier,) = network.tiers
    assert tier.ports_used == servers + switches + strips
    assert tier.ports_used + tier.ports_free == 48 * leaves
    assert sound(network)


def test_separate_leaves_are_not_a_bottleneck_where_their_uplinks_are_fast() -> None:
    # 48 x 1G below, 2 x 100G above: what crosses is what the servers send.
    network = built(separate(96))
    assert network.fabric.separate
    assert bisection_gbps(network) == Fraction(injection_gbps(network), 2)
    assert network.fabric.leaf_built == Fraction(48, 200)


def test_one_switch_and_two_leaves_are_not_separate() -> None:
    assert not size_fabric(apart(8)).separate
    assert not size_fabric(replace(separate(8), single_tier="one_switch")).separate


def test_a_pinned_unit_spreads_servers_over_more_leaves() -> None:
    assert counts(built(separate(127, unit_servers=16))) == {"leaf": 8}


@pytest.mark.parametrize("servers", [1, 2, 20, 56, 57, 112, 300])
def test_the_two_ports_of_a_server_end_in_different_leaves(servers: int) -> None:
    network = built(apart(servers))
    wiring = wire(network, planes=1, ports_per_nic=1)
    assert check_wiring(wiring) == []
    links = wiring.links
    at_server = links.link_class == next(i for i, c in enumerate(network.links) if c.kind == "server-leaf")
    pairs = set(zip(links.a_device[at_server].tolist(), links.b_device[at_server].tolist(), strict=True))
    assert len(pairs) == 2 * servers


def test_two_leaves_are_joined_by_two_links_at_least() -> None:
    assert size_fabric(replace(apart(2), min_isl=2)).isl == 2
    assert size_fabric(apart(2)).isl == 1


def test_a_group_on_leaves_of_its_own_has_its_own_ratio() -> None:
    # The published storage pod: 8 leaves with 32 down and 24 up (4:3), 4 with 12 down and 12 up (1:1), 4 spines.
    tier = TierRequest(SWITCH, 100, 100, Fraction(4, 3))
    group = Attached("appliance", 48, 1, 100, own_leaves=True, leaves=4, ratio=Fraction(1))
    request = replace(apart(127, group), leaf=tier, spine=replace(tier, ratio=Fraction(1)), min_spines=1)
    network = built(request)
    assert counts(network) == {"leaf": 12, "spine": 4}
    assert {(x.servers, sum(x.attached), x.uplinks) for x in network.fabric.pods[0].leaves} == {
        (32, 0, 24),
        (31, 0, 24),
        (0, 12, 12),
    }
    assert sound(network)


def test_a_group_without_a_number_of_leaves_has_two_at_least() -> None:
    group = Attached("appliance", 6, 1, 100, own_leaves=True)
    assert counts(built(apart(100, group)))["leaf"] == 4 + 2


def test_a_group_that_its_leaves_cannot_hold_is_refused_with_both_numbers() -> None:
    with pytest.raises(Unbuildable) as refused:
        built(apart(100, Attached("appliance", 200, 1, 100, own_leaves=True, leaves=2)))
    (reason,) = refused.value.reasons
    assert (reason.code, reason.need, reason.have) == ("leaf-attached", 100, 56)


@settings(max_examples=share(40))
@given(servers=st.integers(1, 400), devices=st.integers(1, 300), strips=st.integers(0, 200), hosts=st.integers(1, 60))
def test_every_side_form_is_wired_as_it_was_sized(servers: int, devices: int, strips: int, hosts: int) -> None:
    strip = [Attached("pdu", strips, 1, 1)] if strips else []
    assert sound(built(separate(servers, Attached("switch", devices, 1, 1), *strip)))
    assert sound(built(apart(servers, Attached("oob.leaf", hosts, 2, 100))))
