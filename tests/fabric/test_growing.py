"""Stages of a fabric: nothing is re-cabled on the way, and the count of what is agrees with sets of names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.growing import Ahead, plan_ahead, stage_request
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import FabricRequest
from ibplan.fabric.rewiring import rewiring
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.spines import choose_core
from ibplan.fabric.wiring import Wiring, wire
from tests.fabric.shapes import built, network, plain, property_settings, request, requests, tiers


def stage(last: FabricRequest, servers: int) -> NetworkSize:
    return network(stage_request(last, size_fabric(last), servers))


def named(wiring: Wiring) -> set[tuple[str, int, str, int]]:
    """Every link by the names of its devices and its ports."""
    names, links = wiring.device_names(), wiring.links
    columns = (links.a_device, links.a_port, links.b_device, links.b_port)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(names[a], p, names[b], q) for a, p, b, q in rows}


def test_the_first_of_two_stages_has_the_spines_of_the_second() -> None:
    # 2,048 ports on 64-port switches take 32 spines, one link from every leaf to each; half of them would do for 1,024.
    last = request(256)
    assert tiers(network(request(128))) == (32, 16, 0)
    assert tiers(stage(last, 128)) == (32, 32, 0)
    found = rewiring(wire(stage(last, 128)), wire(network(last)))
    assert (found.kept, found.moved, found.removed, found.added) == (2048, 0, 0, 2048)


def test_without_planning_ahead_uplinks_move() -> None:
    # Two links to each of 16 spines become one to each of 32: all but each spine's own first port go elsewhere.
    before, after = wire(network(request(128))), wire(network(request(256)))
    found = rewiring(before, after)
    stay = named(before) & named(after)
    assert (found.kept, found.moved, found.removed) == (len(stay), 2048 - len(stay), 0)
    assert found.moved == 1023


def test_a_third_tier_waits_for_the_second_pod() -> None:
    last = request(2048)
    pod = stage(last, 128)
    assert (pod.fabric.tiers, tiers(pod)) == (2, (32, 32, 0))
    assert rewiring(wire(pod), wire(network(last))).moved == 0
    two_pods = stage(last, 129)
    assert (two_pods.fabric.tiers, tiers(two_pods)) == (3, (40, 64, tiers(network(last))[2]))


def test_spines_of_the_only_pod_keep_ports_for_the_cores() -> None:
    last = request(2048)
    size = size_fabric(last)
    pod = stage(last, 128)
    (spines,) = [row for row in pod.tiers if row.tier == "spine"]
    assert spines.ports_free >= spines.count * size.pods[0].uplinks


def test_a_stage_as_large_as_the_last_is_the_last() -> None:
    for last in (request(3), request(127, reserved_total=4), request(300), request(2048, second_tier="rail")):
        assert stage(last, last.servers).tiers == network(last).tiers


def test_what_cannot_be_reached_is_planned_as_far_as_it_goes() -> None:
    asked = request(128, tiers=2)
    ahead = plan_ahead(asked, (256, 512))
    assert ahead.out_of_reach is not None
    assert ahead.out_of_reach.code == "spine-ports"
    assert tiers(network(ahead.request)) == (32, 32, 0)
    assert ahead.last is not None
    assert ahead.last[0].servers == 256
    alone = plan_ahead(asked, (512,))
    assert (alone.request, alone.last) == (asked, None)
    assert plan_ahead(asked, ()) == Ahead(asked)


def test_given_cores_must_take_the_uplinks_evenly() -> None:
    assert choose_core([(2, 4)], 6, 64, (2, 3)).ports_used == 8
    for pinned, code in (((3, 3), "core-spread"), ((2, 4), "core-spread"), ((1, 1), "core-ports")):
        with pytest.raises(Unbuildable) as refusal:
            choose_core([(2, 4)], 6, 8, pinned)
        assert refusal.value.reasons[0].code == code


@property_settings
@given(requests(extras=False), st.integers(1, 120))
def test_whole_units_are_never_recabled(asked: FabricRequest, servers: int) -> None:
    last = replace(asked, partial_units="whole")
    final = built(last)
    if final is None:
        return
    early = stage(last, min(servers, last.servers))
    found = rewiring(wire(early), wire(final))
    assert (found.moved, found.removed) == (0, 0)
    assert found.kept + found.added == sum(link.count for link in final.links)


@property_settings
@given(requests(), st.integers(1, 120))
def test_rewiring_is_the_difference_of_sets(asked: FabricRequest, servers: int) -> None:
    before, after = built(replace(asked, servers=min(servers, asked.servers))), built(asked)
    if before is None or after is None:
        return
    one, two = wire(before), wire(after)
    found, old, new = rewiring(one, two), named(one), named(two)
    assert found.kept == len(old & new)
    assert found.kept + found.moved + found.removed == len(old)
    assert found.kept + found.moved + found.added == len(new)


def test_several_planes_are_compared_plane_by_plane() -> None:
    last = request(256, rails=4)
    early = network(stage_request(last, size_fabric(last), 100), fabrics=2)
    found = rewiring(wire(early), wire(network(last, fabrics=2)))
    assert (found.moved, found.removed) == (0, 0)


def test_one_switch_stays_one_switch() -> None:
    assert tiers(stage(request(8), 2)) == (1, 0, 0)
    assert tiers(stage(request(4, rails=1, leaf=plain(4), single_tier="two_leaves"), 2))[1:] == (0, 0)
