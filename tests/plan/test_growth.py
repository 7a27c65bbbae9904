"""Growth: purchases add up, planning ahead moves nothing, and what cannot be reached is said."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from ibplan.errors import InputError
from ibplan.plan.growth_results import Growth, GrowthPath
from ibplan.plan.results import Plan
from tests.plan.planning import plan

ALONE = "storage: none\nmanagement: {inband: false, oob: false}\n"
GROWS = "model: 70B\ngpus: 1024\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n" + ALONE
STAGES = "growth: [{year: 1, gpus: 2048}, {year: 3, gpus: 4096}]\n"


def growth_of(result: Plan) -> Growth:
    assert result.growth is not None
    return result.growth


def bought(path: GrowthPath) -> Counter[str]:
    found: Counter[str] = Counter()
    for stage in path.stages:
        for part in stage.purchases:
            found[part.part] += part.quantity
    return found


def bill(result: Plan, design: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for item in result.design(design).line_items:
        found[item.part] += item.quantity
    return found


def test_purchases_add_up_to_the_final_bill() -> None:
    growth = growth_of(plan(GROWS + STAGES))
    last = plan(GROWS.replace("1024", "4096"))
    final = bill(last, growth.design.replace("-2t-", "-3t-") if last.recommended != growth.design else growth.design)
    assert bought(growth.planned) == final
    surplus = Counter({s.part: s.quantity for s in growth.unplanned.stages[-1].surplus})
    assert bought(growth.unplanned) == final + surplus
    assert growth.planned.purchase_usd == sum(
        (i.extended_usd or Decimal(0) for i in last.design(str(last.recommended)).line_items), Decimal(0)
    )


def test_the_design_of_today_is_the_first_stage() -> None:
    result = plan(GROWS + STAGES)
    growth = growth_of(result)
    design = result.design(growth.design)
    assert design.totals.capex_usd == growth.planned.stages[0].capex_usd
    assert bill(result, growth.design) == Counter({p.part: p.quantity for p in growth.planned.stages[0].purchases})
    assert design.fits.growth is True


def test_planning_ahead_moves_nothing_and_has_a_price() -> None:
    growth = growth_of(plan(GROWS + STAGES))
    assert growth.planned.links_recabled == 0
    assert growth.unplanned.links_recabled is not None
    assert growth.unplanned.links_recabled > 0
    # 1,024 ports are 32 leaves of 64; one pod of the last stage has 32 spines, 16 would do.
    assert [(p.part, p.quantity) for p in growth.reserved] == [("nvidia-qm9700", 16)]
    price = growth.reserved[0].unit_price_usd
    assert price is not None
    assert growth.reserved_usd == 16 * price


def test_a_new_tier_is_said() -> None:
    findings = plan(GROWS + STAGES).findings
    (tier,) = [f for f in findings if f.code == "growth-tier"]
    # 2,048 GPUs are two pods of the last stage, where a two-tier fabric of their own would do.
    assert tier.message == "Year 1 takes 3 tiers of compute switches instead of 2."
    assert [f.code for f in findings if f.code.startswith("growth")] == ["growth-reserved", "growth-tier"]


def test_what_the_switches_cannot_reach_is_said() -> None:
    result = plan(GROWS.replace("9700}", "9700, tiers: 2}") + STAGES)
    assert result.designs[0].fits.growth is False
    (finding,) = [f for f in result.findings if f.code == "growth-out-of-reach"]
    assert finding.message.startswith("It cannot grow to 4,096 GPUs with the same switches: spine tier")
    growth = growth_of(result)
    assert (growth.reaches, growth.reason is not None) == (False, True)
    # As far as it goes, it is planned ahead: year 1 moves nothing.
    assert [stage.links_recabled for stage in growth.planned.stages] == [0, 0]
    assert growth.planned.refusal is not None
    assert growth.planned.refusal.startswith("year 3: spine tier")


def test_a_design_that_reaches_the_last_stage_is_ranked_first() -> None:
    text = "gpus: 1024\nnetwork: {tiers: [2, 3], switch: nvidia-qm9700}\n"
    result = plan(text + "growth: [{year: 2, gpus: 4096}]\n")
    assert [d.networks.compute.tiers for d in result.designs] == [3, 2]
    assert [d.fits.growth for d in result.designs] == [True, False]
    assert growth_of(result).reaches
    assert plan(text).recommended == "infiniband-nvidia-qm9700-2t-1to1"


def test_stages_that_hold_no_more_change_nothing() -> None:
    same = plan(GROWS + "growth: [{year: 1, gpus: 1024}]\n")
    assert same.designs[0].line_items == plan(GROWS).designs[0].line_items
    growth = growth_of(same)
    assert (growth.reserved, growth.reserved_usd) == ((), Decimal(0))
    assert growth.planned.stages[1].purchases == ()


def test_without_stages_there_is_no_growth() -> None:
    assert plan(GROWS).growth is None
    assert plan(GROWS + STAGES, "growth=[]").growth is None


def test_servers_never_shrink() -> None:
    with pytest.raises(InputError, match="stages never shrink: 64 GPUs in year 1 after 128"):
        plan("servers: 16\ngrowth: [{year: 1, gpus: 64}]\n")


def test_the_specs_that_grow_recable_neither_compute_nor_storage() -> None:
    for file in Path("specs").glob("growth-*.yaml"):
        for stage in growth_of(plan(file.read_text(encoding="utf-8"))).planned.stages:
            recabled = {network.network: network.recabled for network in stage.networks}
            assert (recabled["compute"], recabled["storage"]) == (0, 0)


def test_later_stages_beyond_the_budget_are_said_with_both_numbers() -> None:
    text = "servers: 64\nserver: nvidia-dgx-h100\nnetwork: {oversubscription: [1:1, 2:1]}\n" + ALONE
    result = plan(text + "budget: $3M\ngrowth: [{year: 2, gpus: 1024}]\n")
    growth = growth_of(result)
    whole = growth.planned.purchase_usd
    assert growth.planned.stages[0].purchase_usd < 3_000_000 < whole
    said = {f.design: f for f in result.findings if f.code == "growth-over-budget"}
    chosen = said[growth.design]
    assert (chosen.severity, chosen.pointer) == ("warning", "/growth")
    assert f"Through year 2 the network costs ${whole:,.0f}" in chosen.message
    assert "$3,000,000" in chosen.message
    # Today's stage keeps the budget, which is today's; every design that passes it later is named, no other is.
    assert all(design.fits.network_budget for design in result.designs)
    lasts = {d.id: plan(text.replace("64", "128") + f"design: {d.id}\n").design(d.id) for d in result.designs}
    assert set(said) == {i for i, last in lasts.items() if last.totals.capex_usd > 3_000_000} < set(lasts)


def test_a_budget_that_all_stages_keep_or_that_today_breaks_says_nothing_of_later() -> None:
    for budget in ("$1k", "$100M"):
        findings = plan(GROWS + STAGES + f"budget: {budget}\n").findings
        assert not any(f.code == "growth-over-budget" for f in findings)
