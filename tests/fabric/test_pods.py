"""Pods alike together, against pods one by one; their spines and cores, against every number of spines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.leaves import build_units, downlinks, unit_rule
from ibplan.fabric.pods import PodLoad, pod_loads, pod_of_units, upper_tiers
from ibplan.fabric.request import FabricRequest, LeafLoad, Pod, UnitLoad
from ibplan.fabric.sizing import size_fabric
from ibplan.fabric.spines import choose_core, choose_spines, spine_downlinks
from tests.examples import share
from tests.fabric.shapes import plain, property_settings, request, requests

Leaves = tuple[LeafLoad, ...]


def one_by_one(leaves: Leaves) -> Leaves:
    return tuple(replace(x, count=1) for x in leaves for _ in range(x.count))


def dealt(units: list[UnitLoad], room: int, most: int | None) -> Counter[tuple[int, Leaves]]:
    """Pods of (units, leaves), filled unit by unit."""
    pods: list[tuple[int, Leaves]] = [(0, ())]
    for unit in units:
        for _ in range(unit.count):
            count, leaves = pods[-1]
            if len(leaves) + unit.leaf_count > room or (most is not None and count >= most):
                pods.append((0, ()))
                count, leaves = pods[-1]
            pods[-1] = count + 1, leaves + one_by_one(unit.leaves)
    return Counter(pods)


def three_tiers(asked: FabricRequest) -> tuple[list[UnitLoad], int] | None:
    """Units and the leaves of a pod, None where there are no pods at all."""
    asked = replace(asked, tiers=3)
    try:
        units, _ = build_units(asked, unit_rule(asked))
    except Unbuildable:
        return None
    room = downlinks(asked.spine) if asked.spine.geometry.ports(asked.spine.down_gbps) else 0
    return (units, room) if max(u.leaf_count for u in units) <= room else None


# Pods are taken apart here: fewer examples than elsewhere.
few = settings(property_settings, max_examples=share(80))


@given(requests(), st.integers(1, 20), st.booleans())
@few
def test_pods_are_those_of_dealing_unit_by_unit(asked: FabricRequest, times: int, rail: bool) -> None:
    asked = replace(asked, servers=asked.servers * times, second_tier="rail" if rail else "pod")
    found = three_tiers(asked)
    if found is None:
        return
    units, room = found
    expected: Counter[tuple[int, Leaves]] = Counter()
    if rail:
        for position in range(max(u.leaf_count for u in units)):
            column = [replace(u, leaves=(one_by_one(u.leaves)[position],)) for u in units if position < u.leaf_count]
            expected += dealt(column, room, asked.pod_units)
    else:
        expected = dealt(units, room, asked.pod_units)
    pods = pod_loads(asked, units, room)
    built: Counter[tuple[int, Leaves]] = Counter()
    for pod in pods:
        built[pod.units, one_by_one(pod.leaves)] += pod.count
    assert built == expected
    sizes = [pod.leaf_count for pod in pods]
    assert sizes == sorted(sizes, reverse=True)


def by_trying_all(asked: FabricRequest, groups: list[PodLoad], room: int) -> tuple[int, int] | None:
    """(switches above the leaves, links to cores): every number of spines in the smaller pods, then in all pods."""
    found = []
    radix = asked.core.ports(asked.spine.up_gbps)
    most = max(x.most for pod in groups for x in pod.leaves)

    def tried(full: int, least: int) -> tuple[int, int] | None:
        pods = []
        try:
            for group in groups:
                alike = group.leaf_count == groups[0].leaf_count
                spines, leaves = choose_spines(group.leaves, room, full if alike else least)
                pods.append(Pod(group.count, group.units, leaves, spines, spine_downlinks(leaves, spines)))
            uplinks = asked.spine.uplinks_for(max(pod.downlinks for pod in pods))
            core = choose_core([(pod.count, pod.spines) for pod in pods], uplinks, radix)
        except Unbuildable:
            return None
        total = sum(pod.count * pod.spines for pod in pods)
        return total + core.count, total * uplinks

    try:
        spines, _ = choose_spines(groups[0].leaves, room, asked.min_spines)
    except Unbuildable:
        return None
    if asked.partial_units == "packed":
        found = [rank for least in range(asked.min_spines, spines) if (rank := tried(spines, least)) is not None]
    for same in range(spines, most + 1):
        if (rank := tried(same, same)) is not None:
            found.append(rank)
        if found:
            break
    return min(found, default=None)


@given(requests(), st.integers(1, 20), st.sampled_from([2, 3, 8, 24, 100]))
@few
def test_no_other_number_of_spines_takes_fewer_switches(asked: FabricRequest, times: int, core_ports: int) -> None:
    asked = replace(
        asked, servers=asked.servers * times, core=plain(core_ports, asked.spine.up_gbps), partial_units="packed"
    )
    found = three_tiers(asked)
    if found is None:
        return
    units, room = found
    groups = pod_loads(asked, units, room)
    expected = by_trying_all(asked, groups, room)
    try:
        pods, core = upper_tiers(asked, groups, room)
    except Unbuildable:
        assert expected is None
    else:
        spines = sum(pod.count * pod.spines for pod in pods)
        assert (spines + core.count, spines * pods[0].uplinks) == expected


@pytest.mark.parametrize(("servers", "pods"), [(1_000_000, 1_000_000), (999_999, 999_999)])
def test_a_million_pods_alike_are_one_row(servers: int, pods: int) -> None:
    asked = request(servers, 1, plain(4), core=plain(2**21), tiers=3, pod_units=1, unit_servers=1)
    units, _ = build_units(asked, unit_rule(asked))
    found = pod_loads(asked, units, downlinks(asked.spine))
    assert sum(pod.count for pod in found) == pods
    assert len(found) <= 2


def test_pods_of_units_have_the_leaves_of_all_their_units() -> None:
    leaf = LeafLoad(2, 4, (), 0, 4, 4, 4, down_gbps=400)
    pod = pod_of_units([UnitLoad(3, 4, (leaf,)), UnitLoad(1, 2, (replace(leaf, count=1),))], 5)
    assert (pod.count, pod.units, pod.leaf_count) == (5, 4, 7)


def test_the_largest_cluster_of_the_smallest_switches_is_refused_by_name() -> None:
    # Every pod is a leaf and its spine: a core of two ports joins two of them.
    asked = request(4_194_304, 1, plain(2), tiers=3)
    with pytest.raises(Unbuildable, match="4,194,304 ports needed, 2 available"):
        size_fabric(asked)
