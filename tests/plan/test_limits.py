"""Limits, ranks, the recommendation with its sentences, and what helps where nothing fits."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.plan.results import Design, Plan
from tests.examples import share
from tests.plan.planning import only, plan, with_prices

QM9700 = "gpus: 1024\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, oversubscription: [1:1, 2:1]}\n"
ONE = QM9700.replace("[1:1, 2:1]", "1:1")


def cost(text: str) -> Decimal:
    return only(plan(text)).totals.capex_usd


@pytest.mark.parametrize(("cents", "kept"), [(0, True), (1, True), (-1, False)])
def test_a_network_budget_is_kept_to_the_cent(cents: int, kept: bool) -> None:
    limit = cost(ONE) + Decimal(cents) / 100
    result = plan(ONE + f"budget: ${limit}\n")
    assert only(result).fits.network_budget is kept
    assert (result.recommended is not None) is kept


def test_without_a_limit_there_is_nothing_to_keep() -> None:
    fits = only(plan(ONE)).fits
    assert (fits.network_budget, fits.cluster_budget, fits.power, fits.facility_power) == (None, None, None, None)


def test_a_lower_bound_above_the_limit_breaks_it_and_one_below_proves_nothing() -> None:
    # With vendor optics only the switches are priced.
    design = only(plan(ONE, "optics=vendor"))
    assert not design.totals.complete
    low = design.totals.capex_usd
    assert only(plan(ONE, "optics=vendor", f"budget=${low - 1}")).fits.network_budget is False
    assert only(plan(ONE, "optics=vendor", f"budget=${low + 1}")).fits.network_budget is None
    assert only(plan(ONE, "optics=vendor", "budget=$1T")).fits.network_budget is None


def test_an_unpriced_design_is_never_ranked_or_recommended() -> None:
    result = plan(ONE, "optics=vendor")
    design = only(result)
    assert (result.recommended, design.rank) == (None, None)
    assert design.why[0] == f"Not ranked: {len(design.totals.unpriced)} parts have no price."
    # Nor where the spec pins it.
    assert plan(ONE + f"design: {design.id}\n", "optics=vendor").recommended is None


INLINE = """
servers: 4
server: {gpus: 8, nics: 8, port_gbps: 400, cage_class: nic-osfp-400, power: 10 kW, price: $300k}
fabrics: infiniband
network: {switch: nvidia-qm9700, medium: copper}
"""


def test_power_is_that_of_servers_and_network() -> None:
    # A switch of 1,720 W and four servers of 10 kW. The copper cables state 0.1 W an end, or nothing.
    design = only(plan(INLINE))
    assert design.totals.power_w is not None
    total = 40_000 + design.totals.power_w
    assert 41_720 <= total < 41_800
    for limit, kept in ((total + 1, True), (total - 1, False)):
        assert only(plan(INLINE, f"budget.power={limit} W")).fits.power is kept
    # The facility draws 1.3 times as much by default.
    for limit, kept in ((1.3 * total + 1, True), (1.3 * total - 1, False)):
        assert only(plan(INLINE, f"budget.facility_power={limit} W")).fits.facility_power is kept
    assert only(plan(INLINE, f"budget.facility_power={1.1 * total + 1} W", "site.pue=1.1")).fits.facility_power is True


def test_unknown_power_breaks_a_limit_only_for_certain() -> None:
    text = INLINE.replace("power: 10 kW, ", "")
    assert only(plan(text, "budget.power=1 kW")).fits.power is False
    assert only(plan(text, "budget.power=1 MW")).fits.power is None


def test_a_cluster_budget_is_broken_for_certain_or_not_known() -> None:
    # Racks belong to the cluster, too. They have no price here, so this is a lower bound: 4 x 300,000 and the network.
    text = INLINE.replace(", medium: copper", "")
    network = cost(text)
    assert only(plan(text, f"budget.cluster=${network + 1_200_000 - 1}")).fits.cluster_budget is False
    assert only(plan(text, f"budget.cluster=${network + 1_200_000 + 1}")).fits.cluster_budget is None


def test_more_bandwidth_comes_first_where_the_budget_allows_it() -> None:
    result = plan(QM9700)
    assert [d.networks.compute.bandwidth.per_gpu_gbps for d in result.designs] == [400.0, 200.0]
    assert [d.rank for d in result.designs] == [1, 2]
    assert result.recommended == result.designs[0].id


def test_the_budget_decides_between_ratios() -> None:
    wide, narrow = plan(QM9700).designs
    assert wide.totals.capex_usd > narrow.totals.capex_usd
    limit = wide.totals.capex_usd - 1
    result = plan(QM9700 + f"budget: ${limit}\n")
    assert result.recommended == narrow.id
    assert [d.id for d in result.designs] == [narrow.id, wide.id]
    assert (result.shortfall, result.nearest) == ((), ())
    # The dearer one is named with what it would give and what it breaks.
    assert any(s.startswith(f"{wide.id} gives 400 Gb/s per GPU, but: ") for s in result.design(narrow.id).why)


def test_equal_bandwidth_goes_to_the_cheaper() -> None:
    for usd, first in ((20_000, "infiniband"), (60_000, "roce")):
        result = plan("gpus: 1024\n", using=with_prices({"nvidia-qm9700": usd, "nvidia-qm9790": 90_000}))
        assert result.designs[0].fabric == first
        capex = [d.totals.capex_usd for d in result.designs if d.rank is not None]
        assert capex == sorted(capex)


def money(text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\$([\d,]+)", text)]


def best_of(result: Plan) -> Design:
    return result.design(result.recommended or "")


@settings(max_examples=share(12), deadline=None)
@given(st.integers(20_000, 80_000), st.integers(20_000, 120_000), st.integers(1_000_000, 9_000_000))
def test_the_sentences_agree_with_the_figures(infiniband: int, roce: int, budget: int) -> None:
    prices = {"nvidia-qm9700": infiniband, "nvidia-qm9790": 200_000, "nvidia-sn5610": roce, "nvidia-sn5600": 300_000}
    spec = f"gpus: 1024\nbudget: ${budget}\nnetwork: {{oversubscription: [1:1, 2:1]}}\n"
    result = plan(spec, using=with_prices(prices))
    if result.recommended is None:
        assert all(d.fits.network_budget is not True or d.rank is None for d in result.designs)
        return
    best = best_of(result)
    usd = best.totals.capex_usd
    assert abs(money(best.why[0])[0] - usd) <= 1
    fitting = [d for d in result.designs if d.rank is not None and d.fits.network_budget]
    widths = [d.networks.compute.bandwidth.per_gpu_gbps for d in fitting]
    mine = best.networks.compute.bandwidth.per_gpu_gbps
    assert mine == max(widths)
    same = [d.totals.capex_usd for d in fitting if d.networks.compute.bandwidth.per_gpu_gbps == mine]
    assert usd == min(same)
    expected = {
        "The only fully priced form": len(fitting) == 1,
        "The most bandwidth of the designs": len(fitting) > 1 and widths.count(mine) == 1,
        "The cheapest of the designs with the most bandwidth": widths.count(mine) > 1,
    }
    assert [start for start in expected if best.why[0].startswith(start)] == [
        k for k, holds in expected.items() if holds
    ]
    left = next(s for s in best.why if s.startswith("It leaves "))
    assert abs(money(left)[0] - (budget - usd)) <= 1
    for design in result.designs:
        if design.rank is not None and design.id != best.id:
            beside = next(s for s in design.why if s.startswith("It costs ") and best.id in s)
            assert abs(money(beside)[0] - abs(design.totals.capex_usd - usd)) <= 1
            assert (" more than " in beside) == (design.totals.capex_usd > usd)


TIGHT = "gpus: 1024\nbudget: $3M\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"


def test_where_nothing_fits_the_shortfall_says_how_far_off_the_best_is() -> None:
    result = plan(TIGHT)
    assert result.recommended is None
    (short,) = result.shortfall
    design = only(result)
    assert (short.limit, short.asked, short.design) == ("network_budget", 3e6, design.id)
    assert short.best == float(design.totals.capex_usd)
    assert design.why[0].startswith("It costs ")
    assert "over the network budget of $3,000,000" in design.why[0]


@pytest.mark.parametrize(
    "text",
    [
        TIGHT,
        TIGHT.replace("$3M", "$2.8M"),
        TIGHT.replace("gpus: 1024", "servers: 128"),
        TIGHT.replace("gpus: 1024", "gpus: 1000").replace("$3M", "$1M"),
        "gpus: 1024\nbudget: $3.5M\nfabrics: infiniband\n",
        "gpus: 1024\nbudget: $3M\nnetwork: {oversubscription: [1:1, 3:2]}\n",
        "gpus: 2300\nbudget: $8M\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, tiers: 3}\n",
        "gpus: 1024\nbudget: {network: $10M, power: 1 MW}\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n",
        "gpus: 16384\nbudget: $60M\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n",
    ],
)
def test_every_nearest_change_applied_gives_a_design_that_fits(text: str) -> None:
    result = plan(text)
    assert result.recommended is None
    assert result.shortfall
    assert result.nearest
    for change in result.nearest:
        changed = plan(text, f"{change.change}={change.value}")
        assert changed.recommended is not None, change
        best = changed.design(changed.recommended)
        assert best.rank == 1
        assert False not in (best.fits.network_budget, best.fits.power)
        ids = {d.id: d.totals.capex_usd for d in changed.designs}
        ids |= {a.id: a.capex_usd for d in changed.designs for a in d.alternatives}
        assert ids[change.design] == change.capex_usd


def test_one_more_server_than_the_nearest_size_does_not_fit() -> None:
    (size,) = [n for n in plan(TIGHT).nearest if n.change == "gpus"]
    assert plan(TIGHT, f"gpus={size.value}").recommended is not None
    assert plan(TIGHT, f"gpus={int(size.value) + 8}").recommended is None


def test_nothing_is_suggested_where_nothing_helps() -> None:
    # One switch alone costs more than a dollar.
    result = plan("servers: 2\nbudget: $1\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n")
    assert (result.recommended, result.nearest) == (None, ())
    assert len(result.shortfall) == 1


SMALL = """
model: llama3.1-70b
workload: {task: inference}
servers: 4
server: nvidia-hgx-h100
"""


def test_plain_ethernet_wins_for_a_small_inference_cluster_and_says_why() -> None:
    # 70.6 billion parameters take 141 GB in bf16; 8 GPUs of 80 GB can give 512 GB: requests stay inside a server.
    result = plan(SMALL)
    best = best_of(result)
    assert best.fabric == "ethernet"
    assert best.why[0].startswith("The cheapest that carries the job: ")
    assert any("141 GB of the 512 GB" in s for s in best.why)
    priced = [d.totals.capex_usd for d in result.designs if d.rank is not None]
    assert best.totals.capex_usd == min(priced)
    # The NICs that the servers lack are bought.
    assert sum(i.quantity for i in best.line_items if i.category == "NIC") == 4
    assert ("ethernet-enough", best.id) in {(f.code, f.design) for f in result.findings}


def test_plain_ethernet_that_does_not_carry_the_job_is_ranked_last_and_not_recommended() -> None:
    # 405 billion parameters do not fit one server.
    result = plan(SMALL.replace("llama3.1-70b", "llama3.1-405b"))
    assert best_of(result).fabric != "ethernet"
    ranked = [d.fabric for d in result.designs if d.rank is not None]
    first = ranked.index("ethernet")
    assert first > 0
    assert set(ranked[first:]) == {"ethernet"}
    codes = {f.code for f in result.findings}
    assert "ethernet-not-enough" in codes
    assert "ethernet-enough" not in codes


def test_plain_ethernet_of_an_unknown_model_is_not_recommended() -> None:
    text = SMALL.replace("model: llama3.1-70b\n", "")
    result = plan(text)
    assert best_of(result).fabric != "ethernet"
    ethernet = [d for d in result.designs if d.fabric == "ethernet"]
    assert ethernet
    assert all(any("cannot be known" in s for s in d.why) for d in ethernet)


@pytest.mark.parametrize(("servers", "considered"), [(8, True), (9, False)])
def test_plain_ethernet_is_considered_by_itself_up_to_eight_servers(servers: int, considered: bool) -> None:
    result = plan(SMALL.replace("servers: 4", f"servers: {servers}"))
    assert any(d.fabric == "ethernet" for d in result.designs) is considered


def test_plain_ethernet_is_left_out_where_the_fabrics_are_named() -> None:
    result = plan(SMALL + "fabrics: [infiniband, roce]\n")
    assert {d.fabric for d in result.designs} == {"infiniband", "roce"}
    # Named alone it is recommended even where it is slow: nothing else is asked for.
    alone = plan(SMALL.replace("70b", "405b") + "fabrics: ethernet\n")
    assert best_of(alone).fabric == "ethernet"
    assert any("not recommended" in s for s in best_of(alone).why)
