"""make_plan: which designs there are, how they are named, and what is refused."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import InputError, Problem
from ibplan.plan.resolve import resolve
from ibplan.spec.load import load_spec
from ibplan.spec.models import MAX_GPUS
from tests.examples import share
from tests.plan.planning import COMPUTE_ONLY, catalog, only, plan, with_prices

THREE_LINES = "model: 70B\ngpus: 1024\nbudget: $6M\n"
POD = "servers: 127\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, reserved_ports: 4}\n"


def problems(text: str, *sets: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        plan(text, *sets)
    return caught.value.problems


def test_three_lines_are_enough() -> None:
    result = plan(THREE_LINES)
    assert {d.fabric for d in result.designs} == {"infiniband", "roce"}
    assert result.recommended in {d.id for d in result.designs}
    assert [d.rank for d in result.designs] == list(range(1, len(result.designs) + 1))
    best = result.design(result.recommended or "")
    assert (best.rank, best.fits.network_budget, best.totals.complete) == (1, True, True)
    assert (best.totals.gpus, best.totals.servers) == (1024, 128)
    # 1,024 ports of 400G: 32 leaves and 16 spines of 64 ports (dgx-b200-su4), 16 and 8 of 128 with 800G uplinks.
    sizes = {d.fabric: (d.networks.compute.counts.leaf, d.networks.compute.counts.spine) for d in result.designs}
    assert sizes == {"infiniband": (32, 16), "roce": (16, 8)}


def test_the_plan_lists_its_defaults_and_the_spec_in_force() -> None:
    result = plan(THREE_LINES, "network.oversubscription=2:1")
    assert "/server" in result.defaults
    assert "/network/tiers" in result.defaults
    assert "/gpus" not in result.defaults
    assert result.effective_spec["server"] == "nvidia-dgx-h100"
    assert result.effective_spec["gpus"] == 1024
    assert result.effective_spec["workload"]["task"] == "training"
    assert result.inputs.catalog_digest == catalog().digest
    assert result.inputs.price_book.name == catalog().prices.name


def test_the_same_spec_gives_the_same_plan() -> None:
    assert plan(THREE_LINES) == plan(THREE_LINES)
    tight = THREE_LINES.replace("$6M", "$1M")
    assert plan(tight) == plan(tight)


def test_one_design_stands_for_a_form_and_the_others_are_listed_under_it() -> None:
    result = plan(THREE_LINES)
    for design in result.designs:
        complete = [a for a in design.alternatives if a.complete]
        assert all(a.capex_usd >= design.totals.capex_usd for a in complete)
        assert design.id not in {a.id for a in design.alternatives}
        # Fully priced ones first, each kind by price.
        assert [a.complete for a in design.alternatives] == sorted(
            (a.complete for a in design.alternatives), reverse=True
        )
        assert all(x.capex_usd <= y.capex_usd for x, y in pairwise(complete))
    switches = {a.switch for d in result.designs for a in d.alternatives}
    assert "nvidia-qm9790" in switches


def test_the_cheapest_priced_switch_stands_whichever_it_is() -> None:
    for cheap, dear in (("nvidia-qm9700", "nvidia-qm9790"), ("nvidia-qm9790", "nvidia-qm9700")):
        text = "servers: 32\nfabrics: infiniband\nnetwork: {switch: [nvidia-qm9700, nvidia-qm9790]}\n"
        design = only(plan(text, using=with_prices({cheap: 10_000, dear: 10_001})))
        assert design.networks.compute.switches[0].switch == cheap
        assert [a.switch for a in design.alternatives] == [dear]


def test_a_pin_promotes_an_alternative() -> None:
    text = "servers: 32\nfabrics: infiniband\nnetwork: {switch: [nvidia-qm9700, nvidia-qm9790]}\n"
    first = only(plan(text))
    other = first.alternatives[0].id
    design = only(plan(text + f"design: {other}\n"))
    assert (design.id, design.pinned) == (other, True)
    assert [a.id for a in design.alternatives] == [first.id]
    assert not first.pinned


def test_a_pin_holds_against_a_cheaper_design() -> None:
    # A price change must not silently change the order.
    pinned = "infiniband-nvidia-qm9700-2t-1to1"
    result = plan(THREE_LINES + COMPUTE_ONLY + f"design: {pinned}\n", using=with_prices({"nvidia-qm9700": 60_000}))
    assert result.recommended == pinned
    assert result.design(pinned).rank != 1
    assert result.design(pinned).why[0].startswith("Pinned by the spec: ")


ID = re.compile(
    r"(infiniband|roce|ethernet)-[a-z0-9+.-]+?-(1|2|3|auto)t-\d+to\d+(-\d+g)?(-spine\d+to\d+)?(-\d+planes)?(-railonly)?"
    r"(-norail)?(-railpods)?(-twoleaves)?(-up\d+g)?(-spineup\d+g)?(-packed)?(-allports)?(-spineallports)?"
)

EXPLORED = """
servers: 256
server: nvidia-dgx-b300
fabrics: [infiniband, roce]
network:
  switch: [nvidia-q3400-ra, nvidia-sn5610]
  oversubscription: {leaf: [1:1, 2:1], spine: [1:1, 7:1]}
  tiers: [auto, 3]
  rail_optimized: [true, false]
  rail_only: [true, false]
  planes: [1, 2]
  partial_units: [whole, packed]
"""


def test_ids_are_unique_and_follow_the_grammar() -> None:
    result = plan(EXPLORED)
    ids = [d.id for d in result.designs] + [a.id for d in result.designs for a in d.alternatives]
    ids += [r.id for r in result.rejected]
    assert len(ids) > 50
    assert len(set(ids)) == len(ids)
    for name in ids:
        assert ID.fullmatch(name), name


@pytest.mark.parametrize(
    ("network", "suffix"),
    [
        ("", "2t-1to1"),
        (", oversubscription: 3:2", "2t-3to2"),
        (", rail_optimized: false", "2t-1to1-norail"),
        (", rail_only: true", "1t-1to1-railonly"),
        (", uplink_gbps: 400", "2t-1to1-up400g"),
        (", partial_units: packed", "2t-1to1-packed"),
        (", leaf_ports: all, oversubscription: 2:1", "2t-2to1-allports"),
        (", tiers: 3, oversubscription: {spine: 2:1}", "3t-1to1-spine2to1"),
        (", tiers: 3, second_tier: rail, partial_units: packed", "3t-1to1-railpods-packed"),
        # What two tiers do not have is left out.
        (", oversubscription: {spine: 2:1}, second_tier: rail, single_tier: two_leaves", "2t-1to1"),
    ],
)
def test_an_id_names_every_choice_that_is_not_the_default(network: str, suffix: str) -> None:
    text = f"servers: 64\nserver: nvidia-hgx-h100\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700{network}}}\n"
    assert only(plan(text)).id == f"infiniband-nvidia-qm9700-{suffix}"


def test_equal_designs_have_equal_ids() -> None:
    # One switch has no uplinks, no units and no wiring to choose: all of these are one design.
    text = """
servers: 8
fabrics: infiniband
network:
  switch: nvidia-qm9700
  oversubscription: [1:1, 2:1]
  rail_optimized: [true, false]
  partial_units: [whole, packed]
  leaf_ports: [half, all]
  second_tier: [pod, rail]
  tiers: [auto, 1]
"""
    assert only(plan(text)).id == "infiniband-nvidia-qm9700-1t-1to1"


def test_an_unknown_switch_is_an_input_error_with_its_place_and_the_nearest_name() -> None:
    (problem,) = problems("servers: 8\nfabrics: infiniband\nnetwork:\n  switch: nvidia-qm9770\n")
    assert (problem.line, problem.column) == (4, 11)
    assert "nvidia-qm9770" in problem.message
    assert "nvidia-qm9700" in problem.remedy


def test_every_unknown_switch_is_reported_at_once() -> None:
    found = problems("servers: 8\nnetwork:\n  switch:\n    leaf: qm97\n    spine: qm98\n    core: qm99\n")
    assert [(p.line, p.column) for p in found] == [(4, 11), (5, 12), (6, 11)]


def test_a_spine_without_a_leaf_is_refused() -> None:
    (problem,) = problems("servers: 8\nnetwork:\n  switch: {spine: nvidia-qm9700}\n")
    assert "no leaf" in problem.message


def test_an_unknown_server_is_an_input_error() -> None:
    (problem,) = problems("gpus: 64\nserver: nvidia-dgx-h10\n")
    assert (problem.line, problem.column) == (2, 9)
    assert "nvidia-dgx-h100" in problem.remedy


def test_a_server_that_lacks_what_planning_needs_is_refused() -> None:
    (problem,) = problems("gpus: 64\nserver: nvidia-dgx-rubin-nvl8\n")
    assert "compute" in problem.message


def test_an_unknown_preset_is_an_input_error() -> None:
    (problem,) = problems("gpus: 64\nmodel: llama3.1-7b\n")
    assert problem.line == 2
    assert "llama3.1-" in problem.remedy


def test_an_unknown_design_is_an_input_error_with_the_nearest() -> None:
    text = (
        "servers: 32\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\ndesign: infiniband-nvidia-qm9700-2t-2to1\n"
    )
    (problem,) = problems(text)
    assert (problem.line, problem.column) == (4, 9)
    assert "infiniband-nvidia-qm9700-2t-1to1" in problem.remedy


def test_a_pinned_design_that_cannot_be_built_says_why() -> None:
    text = "servers: 32\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, tiers: 1}\n"
    (refused,) = plan(text).rejected
    (problem,) = problems(text + f"design: {refused.id}\n")
    assert refused.reasons[0].text in problem.message


@pytest.mark.parametrize(("gpus", "agree"), [(1024, True), (1017, True), (1016, False), (1025, False), (1, False)])
def test_gpus_and_servers_must_agree(gpus: int, agree: bool) -> None:
    text = f"gpus: {gpus}\nservers: 128\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700}}\n"
    if agree:
        assert only(plan(text)).totals.servers == 128
    else:
        (problem,) = problems(text)
        assert (problem.line, problem.column) == (2, 10)
        assert "disagree" in problem.message


def test_servers_are_held_to_the_limit_of_gpus() -> None:
    (problem,) = problems(f"servers: {MAX_GPUS // 8 + 1}\nserver: nvidia-dgx-h100\n")
    assert (problem.line, problem.column) == (1, 10)
    assert "4,194,312 GPUs; 4,194,304 is the limit" in problem.message
    loaded = load_spec("-", stdin=BytesIO(f"servers: {MAX_GPUS // 8}\nserver: nvidia-dgx-h100\n".encode()))
    assert resolve(loaded, catalog()).gpus == MAX_GPUS


def test_gpus_that_do_not_fill_servers_are_rounded_up_with_a_finding() -> None:
    result = plan("gpus: 1001\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n")
    assert (only(result).totals.servers, only(result).totals.gpus) == (126, 1008)
    (found,) = [f for f in result.findings if f.code == "gpus-rounded-up"]
    assert found.pointer == "/gpus"
    assert "1,001" in found.message
    assert "1,008" in found.message
    assert not [f for f in plan(THREE_LINES).findings if f.code == "gpus-rounded-up"]


def test_only_the_fabrics_asked_for_are_planned() -> None:
    for fabric in ("infiniband", "roce"):
        result = plan(f"servers: 16\nfabrics: {fabric}\n")
        assert {d.fabric for d in result.designs} == {fabric}
        assert {r.id.split("-")[0] for r in result.rejected} <= {fabric}


def test_a_switch_of_another_link_layer_is_refused_with_the_reason() -> None:
    result = plan("servers: 8\nfabrics: roce\nnetwork: {switch: nvidia-qm9700}\n")
    assert (result.designs, result.recommended) == ((), None)
    (refused,) = result.rejected
    assert [r.code for r in refused.reasons] == ["link-layer"]
    assert "nvidia-qm9700" in refused.reasons[0].text
    # With the default fabrics it serves one of them, and nothing is said of the other.
    assert only(plan("servers: 16\nnetwork: {switch: nvidia-qm9700}\n")).fabric == "infiniband"


def test_a_server_without_ports_for_a_fabric_is_a_reason() -> None:
    result = plan("servers: 16\nserver: generic-mi300x-8gpu-pollara\nfabrics: infiniband\n")
    (refused,) = result.rejected
    assert [r.code for r in refused.reasons] == ["no-host-ports"]


@pytest.mark.parametrize(
    ("text", "code", "need", "have"),
    [
        # 32 servers bring 256 ports to one switch of 64.
        ("servers: 32\nnetwork: {switch: nvidia-qm9700, tiers: 1}", "one-switch", 256, 64),
        # 16 servers bring 64 ports to each of two leaves; as many links join the leaves.
        (
            "servers: 16\nnetwork: {switch: nvidia-qm9700, tiers: 1, single_tier: two_leaves}",
            "two-leaves",
            128,
            64,
        ),
        # 2 ports of a NIC over 3 planes.
        ("servers: 16\nserver: nvidia-dgx-b300\nnetwork: {switch: nvidia-sn5610, planes: 3}", "planes", 3, 2),
    ],
)
def test_rejected_designs_say_what_they_need_and_have(text: str, code: str, need: int, have: int) -> None:
    result = plan(text + "\nfabrics: " + ("roce" if "sn5610" in text else "infiniband") + "\n")
    (refused,) = result.rejected
    (reason,) = refused.reasons
    assert (reason.code, reason.need, reason.have) == (code, need, have)


def test_the_default_uplink_is_the_whole_cage_where_both_tiers_have_it() -> None:
    def uplink(switch: str, server: str = "nvidia-hgx-h100", fabric: str = "roce") -> int:
        text = f"servers: 64\nserver: {server}\nfabrics: {fabric}\nnetwork: {{switch: {switch}, tiers: 2}}\n"
        return next(r.gbps for r in only(plan(text)).networks.compute.links if r.kind == "leaf-spine")

    assert uplink("nvidia-sn5610") == 800
    # A cage of Quantum-2 never runs whole, nor does one of 2 x 800G.
    assert uplink("nvidia-qm9700", fabric="infiniband") == 400
    assert uplink("nvidia-q3400-ra", "nvidia-dgx-b300", "infiniband") == 800


def test_an_inline_switch_runs_its_cages_whole() -> None:
    text = """
servers: 32
server: {gpus: 8, nics: 8, port_gbps: 400, cage_class: nic-osfp-400}
fabrics: roce
network: {switch: {cages: 64, ports_per_cage: 2, port_gbps: 400, cage_class: spectrum4-osfp, price: $50k}}
"""
    design = only(plan(text))
    assert {r.kind: r.gbps for r in design.networks.compute.links} == {"server-leaf": 400, "leaf-spine": 800}
    # What the spec does not state is unknown.
    assert design.totals.power_w is None
    assert design.totals.complete


def test_unknown_cages_leave_the_counts_unknown_and_the_design_unranked() -> None:
    text = """
servers: 8
server: {gpus: 8, nics: 8, port_gbps: 400}
fabrics: infiniband
network: {switch: {ports: 64, port_gbps: 400, price: $30k}}
"""
    result = plan(text)
    design = only(result)
    counts = design.networks.compute.counts
    assert (counts.links, counts.modules_switch, counts.modules_server, counts.cables) == (64, None, None, None)
    assert (design.rank, design.totals.complete, result.recommended) == (None, False, None)
    assert design.totals.capex_usd == Decimal(30_000)
    assert sum(u.quantity for u in design.totals.unpriced) == 64


def test_attached_hosts_fill_free_ports() -> None:
    text = """
servers: 30
fabrics: infiniband
attached: [{name: storage, servers: 8, ports: 2, port_gbps: 400, cage_class: nic-qsfp112}]
network: {switch: nvidia-qm9700}
"""
    # 8 leaves with 30 servers have two ports free each: 16.
    design = only(plan(text))
    network = design.networks.compute
    assert (network.counts.leaf, network.counts.endpoints) == (8, 256)
    assert {(r.kind, r.count, r.host) for r in network.links} >= {("attached", 16, "storage")}
    # 24 ports do not fit: a leaf of their own is added.
    more = only(plan(text, "attached[0].servers=12")).networks.compute
    assert (more.counts.leaf, more.counts.endpoints) == (9, 264)


def test_attached_hosts_do_not_go_with_separate_rails() -> None:
    text = """
servers: 32
fabrics: infiniband
attached: [{name: storage, servers: 8, ports: 2, port_gbps: 400, cage_class: nic-qsfp112}]
network: {switch: nvidia-qm9700, rail_only: true}
"""
    (refused,) = plan(text).rejected
    assert "storage" in refused.reasons[0].text


def test_vendor_optics_never_buy_a_compatible_part() -> None:
    compatible = only(plan(POD))
    vendor = only(plan(POD, "optics=vendor"))
    stand_ins = {k for k, m in {**catalog().modules, **catalog().cables}.items() if m.compatible_with}
    assert {i.part for i in compatible.line_items} & stand_ins
    assert not {i.part for i in vendor.line_items} & stand_ins
    assert compatible.networks.compute.counts == vendor.networks.compute.counts


def test_separate_rails_come_with_a_warning() -> None:
    # Pain 68.
    result = plan("servers: 64\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, rail_only: true}\n")
    (found,) = [f for f in result.findings if f.code == "rail-only"]
    assert (found.severity, found.design) == ("warning", only(result).id)


def test_a_ratio_below_one_half_is_asked_about_and_never_swapped() -> None:
    result = plan("servers: 64\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, oversubscription: 1:3}\n")
    (found,) = [f for f in result.findings if f.code == "ratio-below-half"]
    assert "3:1" in found.message
    built = only(result).networks.compute.oversubscription.leaf.built
    assert built is not None
    assert built <= Fraction(1, 3)


@settings(max_examples=share(40), deadline=None)
@given(st.integers(1, 2048), st.sampled_from(["1:1", "3:2", "2:1", "7:1", "22/18"]), st.sampled_from(["half", "all"]))
def test_the_built_ratio_never_exceeds_the_asked_one(servers: int, ratio: str, ports: str) -> None:
    text = (
        f"servers: {servers}\nfabrics: infiniband\n"
        f"network: {{switch: nvidia-qm9700, oversubscription: {ratio}, leaf_ports: {ports}}}\n"
    )
    result = plan(text)
    for design in result.designs:
        pair = design.networks.compute.oversubscription.leaf
        assert pair.built is None or pair.built <= pair.asked
        for row in design.networks.compute.switches:
            assert row.ports_free >= 0
    assert result.designs or result.rejected


@settings(max_examples=share(20), deadline=None)
@given(st.integers(1, 600), st.integers(1, 600), st.sampled_from(["nvidia-qm9700", "nvidia-sn5610"]))
def test_more_servers_never_cost_less(one: int, other: int, switch: str) -> None:
    few, many = sorted((one, other))
    fabric = "infiniband" if switch == "nvidia-qm9700" else "roce"
    costs = []
    for servers in (few, many):
        found = plan(f"servers: {servers}\nfabrics: {fabric}\nnetwork: {{switch: {switch}, tiers: [1, 2, 3]}}\n")
        costs.append({d.networks.compute.tiers: d.totals.capex_usd for d in found.designs})
    for tiers in costs[0].keys() & costs[1].keys():
        assert costs[0][tiers] <= costs[1][tiers]


def test_a_network_not_planned_is_none_and_said_so() -> None:
    result = plan(THREE_LINES + COMPUTE_ONLY)
    for design in result.designs:
        networks = design.networks
        assert [row.what for row in design.left_out] == ["storage network", "in-band network", "out-of-band network"]
        assert [f.name for f in fields(networks) if getattr(networks, f.name) is None] == ["storage", "inband", "oob"]
    assert [f.code for f in result.findings].count("racks-not-priced") == 1


def test_power_is_the_sum_where_every_part_states_it() -> None:
    # A QM9700 states 1,720 W at most with its own modules; those of servers and the fabric manager come on top.
    design = only(plan(POD + COMPUTE_ONLY))
    watts = 48 * 1720.0
    for item in design.line_items:
        if item.category == "transceiver" and not item.power_in_host:
            assert item.tier in ("server", "reserved")
            watts += item.quantity * (item.power_each_w or 0.0)
    assert design.totals.power_w == watts
    assert sum(i.quantity for i in design.line_items if i.power_in_host) == 1536
