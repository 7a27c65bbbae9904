"""How many forms, designs and groups of hosts are planned at once, and what is said where there are more."""

from __future__ import annotations

import pytest

from ibplan.errors import InputError
from ibplan.plan.extent import MAX_DESIGNS, MAX_FORMS, MAX_PLACEMENTS
from ibplan.plan.results import Plan
from tests.plan.planning import COMPUTE_ONLY, plan

QM9700 = "fabrics: infiniband\nnetwork:\n  switch: nvidia-qm9700\n"


def ratios(count: int) -> str:
    return "[" + ", ".join(f"{100 + i}:100" for i in range(count)) + "]"


def made(result: Plan) -> int:
    """Designs, those that could not be built, and the others of each design's form."""
    return len(result.designs) + len(result.rejected) + sum(len(d.alternatives) for d in result.designs)


def refusal(text: str) -> str:
    with pytest.raises(InputError) as refused:
        plan(text)
    (problem,) = refused.value.problems
    return str(problem)


def test_designs_up_to_the_limit_are_compared_and_one_more_list_entry_is_refused() -> None:
    # Three tiers: every pair of ratios is a design.
    text = f"gpus: 16384\n{COMPUTE_ONLY}{QM9700}  oversubscription: {{leaf: {ratios(16)}, spine: {ratios(8)}}}\n"
    assert len(plan(text).designs) == MAX_DESIGNS == 16 * 8
    said = refusal(text.replace(ratios(8), ratios(9)))
    assert said == (
        "<stdin>:6:3: there are 144 designs to compare, 128 is the limit (shorten the lists: "
        "network.oversubscription.leaf 16 x network.oversubscription.spine 9)"
    )


def test_forms_are_those_of_the_lists_times_switches_and_ports() -> None:
    # Two tiers: the ratio of the spines plays no part, so that sixteen forms are one design.
    text = f"gpus: 1024\n{QM9700}  oversubscription: {{leaf: {ratios(16)}, spine: {ratios(16)}}}\n  tiers: 2\n"
    assert len(plan(text).designs) == 16
    one = made(plan("gpus: 1024\nfabrics: roce\n"))
    assert one > 1
    most = MAX_FORMS // one
    few = f"gpus: 1024\nfabrics: roce\nnetwork:\n  oversubscription: {ratios(min(16, most))}\n"
    assert made(plan(few)) > min(16, most)
    said = refusal(few + "  leaf_ports: [half, all]\n  partial_units: [whole, packed]\n")
    combinations = 4 * min(16, most)
    assert f"there are {combinations * one:,} designs to try, 512 is the limit: roce {combinations} x " in said
    assert "(name a switch in network.switch, or shorten the lists: network.oversubscription.leaf " in said


def test_groups_of_hosts_count_for_every_form() -> None:
    groups = 64
    hosts = ", ".join(f"{{name: h{i}, servers: 1, ports: 1, port_gbps: 400}}" for i in range(groups))
    text = f"gpus: 1024\nattached: [{hosts}]\n{QM9700}  oversubscription: {ratios(MAX_PLACEMENTS // groups)}\n"
    assert len(plan(text).designs) == MAX_PLACEMENTS // groups == 16
    said = refusal(text + "  leaf_ports: [half, all]\n")
    assert "there are 32 designs to try, 16 is the limit with 64 groups of attached hosts" in said
    assert "merge groups in attached" in said


def test_the_fabrics_are_named_where_there_are_several() -> None:
    said = refusal(f"gpus: 1024\nnetwork:\n  oversubscription: {ratios(16)}\n  min_spines: 2\n")
    assert ": infiniband 16 x " in said
    assert ", roce 16 x " in said
    assert "name one of the fabrics" in said


def test_nearest_changes_of_many_designs_are_those_of_the_cheapest() -> None:
    alone = "storage: none\nmanagement: {inband: false, oob: false}\n"
    text = f"gpus: 1024\nbudget: $2.5M\n{alone}{QM9700}  oversubscription: {ratios(16)}\n"
    result = plan(text)
    assert result.recommended is None
    changes = {n.change: n for n in result.nearest}
    assert {"gpus", "network.oversubscription"} <= set(changes)
    one = plan(text.replace(ratios(16), "115:100"))
    assert {n.change: (n.value, n.design) for n in one.nearest}["gpus"] == (
        changes["gpus"].value,
        changes["gpus"].design,
    )
    for change in result.nearest:
        assert plan(text, f"{change.change}={change.value}").recommended is not None
