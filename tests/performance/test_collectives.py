"""Collectives: published points, limiting cases, bounds of the wire."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.collective_group import group_of
from ibplan.performance.collectives import (
    LIBRARY,
    ROW_BYTES,
    Collective,
    all_gather_s,
    all_reduce_algorithm,
    all_reduce_s,
    all_to_all_algorithm,
    all_to_all_s,
    allreduce_rows,
    fastest_s,
    reduce_scatter_s,
    send_s,
    times,
    transferred,
)
from ibplan.performance.interconnect import Interconnect

GIB, MIB = 2**30, 2**20
# A pod of 32 servers of 8 H100 on rails; the path latency is one that NCCL's network steps already hold.
H100 = Interconnect(
    domain_gpus=8,
    domain_gbytes_per_s=450,
    domain_generation="nvlink4",
    nic_gbytes_per_s=50,
    link_layer="infiniband",
    latency_us=2.7,
    cross_rail=True,
    rail_optimized=True,
    in_network_reduction=False,
    spine_share=1.0,
    leaf_gpus=256,
)
B200 = replace(H100, domain_gbytes_per_s=900, domain_generation="nvlink5")
SHARP = replace(H100, in_network_reduction=True)
TCP = replace(H100, link_layer="ethernet", latency_us=None)
COLLECTIVES = (all_reduce_s, all_gather_s, reduce_scatter_s, all_to_all_s, send_s)


def busbw(size: float, n: int, g: int, net: Interconnect, algorithms: tuple[str, ...] = LIBRARY) -> float:
    return float(2 * (n - 1) / n * size / all_reduce_s(size, n, g, net, algorithms=algorithms) / 1e9)


# NCCL's own estimate of an empty all-reduce, us: 2 (n-1) ring steps, 2 (7 + log2 nodes) tree steps.
@pytest.mark.parametrize(("gpus", "ring", "tree"), [(8, 15, 15), (64, 156, 45), (1024, 2484, 85), (8192, 19867, 115)])
def test_empty_all_reduces_take_what_nccl_estimates(gpus: int, ring: int, tree: int) -> None:
    assert all_reduce_s(0, gpus, 8, H100, algorithms=("ring/ll",)) * 1e6 == pytest.approx(ring, abs=0.6)
    assert all_reduce_s(0, gpus, 8, H100, algorithms=("tree/ll",)) * 1e6 == pytest.approx(tree, abs=0.6)


def test_the_switch_from_ring_to_nvls_is_where_nccl_has_it_on_h200() -> None:
    # stas00/ml-engineering: NCCL reports RING with LL up to 1 MiB and NVLS from 2 MiB on 8 H200.
    sizes = [2**i for i in range(15, 35)]
    expected = ["ring/ll" if size <= MIB else "nvls" for size in sizes]
    assert list(all_reduce_algorithm(sizes, 8, 8, H100)) == expected


def test_few_gpus_do_not_sum_in_the_switches() -> None:
    # stas00/ml-engineering: NVLS from 5 GPUs on with H200, from 6 on with B200.
    for net, least in ((H100, 5), (B200, 6)):
        names = all_reduce_algorithm(8 * GIB, range(2, 9), range(2, 9), net)
        assert [str(name) == "nvls" for name in names] == [n >= least for n in range(2, 9)]


def test_four_nodes_of_b200_at_4_gib() -> None:
    # Measured 22.05 ms. The naive single NIC gives 85.9 ms, hierarchical phases 16.1 (longest) to 26.2 (their sum).
    net = replace(B200, link_layer="roce", latency_us=18)
    seconds = all_reduce_s(4 * GIB, 32, 8, net, algorithms=("ring", "tree"))
    assert seconds == pytest.approx(22.05e-3, rel=0.02)
    by_phases = all_reduce_s(4 * GIB, 32, 8, net, algorithms=("hierarchical",))
    longest = 1.5 * 4 * GIB / 8 / 50e9
    assert longest == pytest.approx(16.1e-3, rel=0.01)
    assert longest < by_phases < 26.2e-3


def test_hierarchical_phases_add_up_where_a_message_is_one_chunk() -> None:
    size = 32 * MIB
    by_phases = all_reduce_s(size, 32, 8, B200, algorithms=("hierarchical",))
    inside = all_gather_s(size, 8, 8, B200) + reduce_scatter_s(size, 8, 8, B200)
    rails = all_reduce_s(size / 8, 4, 1, B200, algorithms=("ring/simple",))
    assert by_phases == pytest.approx(inside + rails, rel=0.25)
    assert by_phases > rails


def test_rings_use_all_nics_of_a_domain() -> None:
    # NVIDIA: 192 GB/s from 8 x 200G = 0.96 of the line rate; 24 and 48 from one NIC; 10 over TCP on 100 GbE.
    a100 = replace(H100, domain_gbytes_per_s=300, domain_generation="nvlink3", nic_gbytes_per_s=25)
    assert busbw(16 * GIB, 32, 8, a100) == pytest.approx(192, rel=0.01)
    for rate, expected in ((25, 24), (50, 48)):
        assert busbw(16 * GIB, 4, 1, replace(H100, nic_gbytes_per_s=rate)) == pytest.approx(expected, rel=0.01)
    assert busbw(16 * GIB, 4, 1, replace(TCP, nic_gbytes_per_s=12.5)) == pytest.approx(10, rel=0.01)


def test_trees_win_small_messages_and_large_clusters() -> None:
    assert str(all_reduce_algorithm(64 * 1024, 8192, 8, H100)).startswith("tree")
    assert str(all_reduce_algorithm(GIB, 8192, 8, H100)) in {"nvls_tree", "tree/simple", "tree/ll128"}
    assert str(all_reduce_algorithm(16 * GIB, 32, 8, H100)).startswith("ring")


def test_sums_in_the_network_are_seen_in_large_clusters_of_one_fabric_only() -> None:
    with_sums, without = busbw(8 * GIB, 1024, 8, SHARP), busbw(8 * GIB, 1024, 8, H100)
    assert 1.2 < with_sums / without < 1.5  # NVIDIA: 480 against 370 to 380 GB/s
    assert all_reduce_s(GIB, 8, 8, SHARP) == all_reduce_s(GIB, 8, 8, H100)
    a100 = replace(SHARP, domain_gbytes_per_s=300, domain_generation="nvlink3")
    assert str(all_reduce_algorithm(GIB, 1024, 8, a100)) == "sharp"  # chains where the domain's switches cannot sum


@pytest.mark.parametrize("function", COLLECTIVES)
def test_one_gpu_waits_for_nobody(function) -> None:  # type: ignore[no-untyped-def]
    assert function(GIB, 1, 1, H100) == 0
    assert str(all_reduce_algorithm(GIB, 1, 1, H100)) == "none"


@pytest.mark.parametrize("function", COLLECTIVES)
def test_one_domain_does_not_see_the_network(function) -> None:  # type: ignore[no-untyped-def]
    slow = replace(H100, nic_gbytes_per_s=1, latency_us=100, spine_share=0.1, leaf_gpus=8)
    assert function(GIB, 8, 8, H100) == function(GIB, 8, 8, slow)


def test_two_gpus_send_each_other_all_of_the_buffer_once() -> None:
    size = 16 * GIB
    moved = size / (0.96 * 50e9)  # 2 (n-1)/n S with n = 2
    assert all_reduce_s(size, 2, 1, H100) == pytest.approx(moved, rel=0.001)
    assert all_gather_s(size, 2, 1, H100) == pytest.approx(moved / 2, rel=0.001)
    assert send_s(size, 2, 1, H100) == pytest.approx(moved, rel=0.001)
    share = all_to_all_s(size, 2, 1, H100) / moved
    assert share == pytest.approx(0.5 * 0.96 / 0.902, rel=0.001)


def test_a_ring_all_reduce_is_a_reduce_scatter_and_an_all_gather_in_one_launch() -> None:
    for n, g in ((8, 8), (64, 8), (16, 1)):
        group = group_of(np.array([1e5, 1e7, 1e9]), n, g, H100, None)
        whole, half = times("all_reduce", group), times("all_gather", group)
        for name, base_us in (("ring/ll", 6.6), ("ring/ll128", 14.0), ("ring/simple", 8.4)):
            assert whole[name] == pytest.approx(2 * half[name] - 1e-6 * base_us)


def test_all_to_all_on_rails_keeps_off_the_spines_of_one_unit() -> None:
    congested = replace(H100, spine_share=0.25)
    assert str(all_to_all_algorithm(64 * MIB, 256, 8, congested)) == "rail_aligned"
    assert all_to_all_s(64 * MIB, 256, 8, congested) == all_to_all_s(64 * MIB, 256, 8, H100)
    # Without NVLink between its members, each GPU is on one rail, and so is its traffic.
    assert str(all_to_all_algorithm(64 * MIB, 32, 1, congested)) == "flat"
    assert all_to_all_s(64 * MIB, 32, 1, congested) == all_to_all_s(64 * MIB, 32, 1, H100)
    # Leaves of whole servers: flat traffic below a leaf stays there too.
    assert all_to_all_s(64 * MIB, 256, 8, replace(congested, rail_optimized=False)) < 1.3 * all_to_all_s(
        64 * MIB, 256, 8, H100
    )


def test_all_to_all_beyond_a_unit_waits_for_the_spines() -> None:
    free, congested = all_to_all_s(GIB, 1024, 8, H100), all_to_all_s(GIB, 1024, 8, replace(H100, spine_share=0.5))
    # 768 of 1016 outside bytes cross spines, at half the rate.
    assert congested / free == pytest.approx(2 * 768 / 1016, rel=0.01)


def test_rails_that_never_meet_carry_all_to_all_by_nvlink_only() -> None:
    rail_only = replace(H100, cross_rail=False)
    assert str(all_to_all_algorithm([1024, GIB], 64, 8, rail_only)[0]) == "rail_aligned"
    assert all_to_all_s(GIB, 64, 8, rail_only) >= all_to_all_s(GIB, 64, 8, H100)


def test_a_ring_along_the_leaves_has_the_uplinks_of_all_its_neighbours() -> None:
    congested = replace(H100, spine_share=0.25)
    free = all_reduce_s(16 * GIB, 512, 8, H100, algorithms=("ring",))
    # 32 domains a leaf: the one flow that leaves has a quarter of 32 uplinks to itself.
    assert all_reduce_s(16 * GIB, 512, 8, congested, algorithms=("ring",)) == free
    # A pipeline of 4 stages over 1,024 GPUs: every send crosses spines, and every GPU sends.
    spread = send_s(GIB, 4, 1, congested, span_gpus=1024)
    assert spread / send_s(GIB, 4, 1, H100, span_gpus=1024) == pytest.approx(4, rel=0.01)


def test_wire_efficiency_of_a_sick_system() -> None:
    # NVIDIA/nccl issue 2409: 231 GB/s where 470 were expected of 2 x 8 H100 over 8 x 400G.
    sick = replace(H100, link_layer="roce", latency_us=3.6, wire_efficiency=0.5)
    sound = replace(sick, wire_efficiency=None)
    assert busbw(8 * GIB, 16, 8, sound) == pytest.approx(470, rel=0.05)
    assert busbw(8 * GIB, 16, 8, sick) < 0.8 * busbw(8 * GIB, 16, 8, sound)
    assert all_to_all_s(GIB, 16, 8, sick) > 1.5 * all_to_all_s(GIB, 16, 8, sound)


def test_unknown_links_make_times_unknown_only_where_they_are_used() -> None:
    unknown = replace(H100, domain_gbytes_per_s=None, domain_generation=None)
    assert np.isnan(all_reduce_s(GIB, 64, 8, unknown))
    assert str(all_reduce_algorithm(GIB, 64, 8, unknown)) == "unknown"
    assert all_reduce_s(GIB, 8, 1, unknown) > 0
    assert transferred(unknown)
    rows = allreduce_rows(64, unknown)
    assert {(row.time_us, row.busbw_gbytes_per_s) for row in rows} == {(None, None)}


def test_unknown_generation_takes_the_nearest_rate_without_sums_in_its_switches() -> None:
    like_h100 = replace(H100, domain_gbytes_per_s=448, domain_generation=None)
    assert transferred(like_h100)
    assert not transferred(H100)
    assert transferred(TCP)  # no latency of kernel TCP is measured
    # The ring's rate follows the links; NVLS is not assumed.
    assert busbw(8 * GIB, 8, 8, like_h100) == pytest.approx(busbw(8 * GIB, 8, 8, H100, ("ring",)) * 448 / 450, rel=1e-3)


def test_rows_of_a_design() -> None:
    rows = allreduce_rows(1024, H100)
    assert tuple(row.bytes for row in rows) == ROW_BYTES
    for row in rows:
        assert row.time_us is not None
        assert row.busbw_gbytes_per_s is not None
        assert row.busbw_gbytes_per_s == pytest.approx(2 * 1023 / 1024 * row.bytes / row.time_us / 1e3)
        assert not row.transferred
    alone = allreduce_rows(1, H100)
    assert {(row.time_us, row.busbw_gbytes_per_s, row.algorithm) for row in alone} == {(0.0, None, "none")}
    assert allreduce_rows(100, replace(B200, domain_gpus=72))[-1].time_us is not None  # a domain partly used


@pytest.mark.parametrize(("n", "g", "span"), [(0, 1, None), (4, 8, None), (16, 16, None), (8, 0, None), (64, 8, 32)])
def test_impossible_groups_are_refused(n: int, g: int, span: int | None) -> None:
    with pytest.raises(ValueError, match=r"a group has|span_gpus"):
        all_reduce_s(GIB, n, g, H100, span_gpus=span)
    with pytest.raises(ValueError, match="a group has"):
        all_reduce_s(-1, 8, 8, H100)


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain_gpus": 0},
        {"leaf_gpus": 0},
        {"nic_gbytes_per_s": 0},
        {"spine_share": 0},
        {"spine_share": 1.5},
        {"domain_gbytes_per_s": 0},
        {"wire_efficiency": 0},
    ],
)
def test_impossible_machines_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"above 0|at least one"):
        replace(H100, **wrong)  # type: ignore[arg-type]


def test_arrays_broadcast_and_agree_with_scalars() -> None:
    sizes, n, g = np.array([[1e4], [1e9]]), np.array([2, 8, 64, 1]), np.array([2, 8, 8, 1])
    for function in COLLECTIVES:
        whole = function(sizes, n, g, SHARP)
        assert whole.shape == (2, 4)
        for i, size in enumerate(sizes[:, 0]):
            for j, (gpus, inside) in enumerate(zip(n, g, strict=True)):
                assert whole[i, j] == function(size, gpus, inside, SHARP)


nets = st.builds(
    lambda generation, sums, share, leaf, layer, rails: replace(
        H100,
        domain_generation=generation[0],
        domain_gbytes_per_s=generation[1],
        in_network_reduction=sums,
        spine_share=share,
        leaf_gpus=leaf,
        link_layer=layer,
        rail_optimized=rails,
    ),
    st.sampled_from([("nvlink3", 300), ("nvlink4", 450), ("nvlink5", 900), ("pcie5", 63), (None, 448)]),
    st.booleans(),
    st.floats(0.05, 1),
    st.sampled_from([32, 256, 4096]),
    st.sampled_from(["infiniband", "roce", "ethernet"]),
    st.booleans(),
)
groups = st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(1, 200)).map(lambda gk: (gk[0] * gk[1], gk[0]))
sizes = st.floats(0, 1e12)


@given(nets, groups, sizes, st.floats(1, 100), st.sampled_from(COLLECTIVES))
def test_larger_messages_take_longer(net, group, size, factor, function) -> None:  # type: ignore[no-untyped-def]
    small, large = function(np.array([size, size * factor]), *group, net)
    assert small <= large * (1 + 1e-12)


@given(nets, groups, sizes, st.sampled_from(COLLECTIVES))
def test_congestion_never_helps(net, group, size, function) -> None:  # type: ignore[no-untyped-def]
    assert function(size, *group, replace(net, spine_share=1.0)) <= function(size, *group, net) * (1 + 1e-12)


@given(nets, groups, sizes)
def test_nothing_is_faster_than_the_wire(net, group, size) -> None:  # type: ignore[no-untyped-def]
    (n, g), nic, inside = group, net.nic_gbytes_per_s * 1e9, (net.domain_gbytes_per_s or 0) * 1e9
    domains = n // g
    # A domain must hear of the sum of the others (S), of their pieces ((k-1)/k S), of what they send it.
    hears = {all_reduce_s: float(domains > 1), all_gather_s: (domains - 1) / domains}
    for function, share in hears.items():
        assert function(size, n, g, net) >= share * size / (g * nic) * (1 - 1e-12)
    assert all_to_all_s(size, n, g, net) >= (n - g) / n * size / nic * (1 - 1e-12)
    if g > 1:
        assert all_gather_s(size, n, g, net) >= (g - 1) / g * size / inside * (1 - 1e-12)
        assert all_reduce_s(size, n, g, net) >= size / inside * (1 - 1e-12)


@given(nets, groups, sizes)
def test_without_sums_in_switches_each_gpu_moves_a_ring_s_bytes(net, group, size) -> None:  # type: ignore[no-untyped-def]
    (n, g), inside = group, (net.domain_gbytes_per_s or 0) * 1e9
    if n == g > 1:
        seconds = all_reduce_s(size, n, g, net, algorithms=("ring", "tree"))
        assert seconds >= 2 * (n - 1) / n * size / inside * (1 - 1e-12)


@given(nets, groups, sizes)
def test_the_library_takes_the_fastest_that_it_has(net, group, size) -> None:  # type: ignore[no-untyped-def]
    whole = group_of(size, *group, net, None)
    names: list[Collective] = ["all_reduce", "all_gather", "all_to_all", "send"]
    for name in names:
        found = times(name, whole)
        assert fastest_s(whole, found) == (min(float(t) for t in found.values()) if group[0] > 1 else 0)
