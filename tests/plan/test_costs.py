"""Costs of whole plans: discounts, exchange rates, spares, licences, support, energy, and whether a choice survives."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ibplan.catalog.entries import Price, PriceFile
from ibplan.catalog.layers import packaged_prices
from ibplan.catalog.prices import PriceBook
from ibplan.catalog.store import Catalog
from ibplan.errors import InputError
from ibplan.plan.results import Design, Plan
from tests.plan.planning import COMPUTE_ONLY, catalog, only, plan, with_prices

SPEC = f"""
servers: 64
server: nvidia-dgx-h100
fabrics: infiniband
network: {{switch: nvidia-qm9700}}
{COMPUTE_ONLY}"""


def one(*settings: str, spec: str = SPEC) -> Design:
    return only(plan(spec, *settings))


def codes(result: Plan) -> set[str]:
    return {found.code for found in result.findings}


def test_a_vendor_discount_shows_what_it_was_taken_off() -> None:
    base, less = one(), one("discounts={vendor: {NVIDIA: 20%}}")
    switches = [i for i in less.line_items if i.category == "switch"]
    assert {(i.list_price_usd, i.unit_price_usd) for i in switches} == {(Decimal("32870.00"), Decimal("26296.00"))}
    assert {round(i.discount_percent or 0, 6) for i in switches} == {20}
    assert less.price_spread.list_usd == base.totals.capex_usd
    saved = base.totals.capex_by_category_usd["switch"] / 5
    assert less.totals.capex_usd == base.totals.capex_usd - saved


def test_a_vendor_stands_before_a_category() -> None:
    design = one("discounts={vendor: {NVIDIA: 20%}, category: {switch: 50%, cable: 10%}}")
    shares = {i.category: round(i.discount_percent or 0) for i in design.line_items}
    assert shares == {"switch": 20, "transceiver": 0, "cable": 10}


def test_no_discount_changes_nothing() -> None:
    assert one("discounts={vendor: {NVIDIA: 0%}, category: {cable: 0}}") == one()


def test_quotes_are_not_discounted() -> None:
    using = with_prices({"nvidia-qm9700": 30_000})
    design = only(plan(SPEC, "discounts={category: {switch: 50%}}", using=using))
    (price,) = {i.unit_price_usd for i in design.line_items if i.category == "switch"}
    assert price == 30_000
    # A quote is the only price that is known, too.
    assert {(i.low_price_usd, i.high_price_usd) for i in design.line_items if i.category == "switch"} == {
        (price, price)
    }


def test_a_discount_can_change_which_part_is_bought() -> None:
    def modules(*settings: str) -> set[str | None]:
        return {i.manufacturer for i in one(*settings).line_items if i.category == "transceiver"}

    assert "NVIDIA" not in modules()
    with pytest.raises(InputError, match="did you mean NVIDIA"):
        one("discounts={vendor: {Nvidia: 20%}}")
    assert modules("discounts={vendor: {QSFPTEK: 0%}}") == modules()


def test_a_server_discount_reaches_the_cluster_budget() -> None:
    # 64 servers at an estimated 400,000 are 25.6 million, and the network is about 1.8.
    assert one("budget={cluster: $30M}").fits.cluster_budget is None
    assert one("budget={cluster: $15M}").fits.cluster_budget is False
    assert one("budget={cluster: $15M}", "discounts={category: {server: 50%}}").fits.cluster_budget is None


def test_a_rate_brings_foreign_prices_in() -> None:
    spec = f"gpus: 1024\nfabrics: roce\nnetwork: {{switch: fs-n9600-64od}}\n{COMPUTE_ONLY}"
    assert not only(plan(spec)).totals.complete
    (told,) = [f for f in plan(spec).findings if f.code == "foreign-price"]
    assert told.message == "Prices in EUR, GBP are known of fs-n9600-64od, but no exchange rate."
    rate = 'exchange_rates=[{currency: EUR, usd: 1.10, date: "2026-11-30", source: treasury}]'
    design = only(plan(spec, rate))
    (item,) = {i for i in design.line_items if i.category == "switch" and i.tier == "leaf"}
    assert item.unit_price_usd == Decimal("37283.40")
    assert item.price_source is not None
    assert item.price_source.endswith("1 EUR = 1.1 USD on 2026-11-30 (treasury)")
    with pytest.raises(InputError, match="more than"):
        plan(spec, 'exchange_rates=[{currency: EUR, usd: 1000000, date: "2026-11-30", source: x}]', using=dear_euros())
    with pytest.raises(InputError, match="given twice"):
        plan(spec, rate.replace("]", ", {currency: EUR, usd: 2, date: '2026-11-30', source: x}]"))


def own_price(amount: float, currency: str) -> Catalog:
    """The packaged catalogue, and a quote of the user's for the switch."""
    price = Price(part="nvidia-qm9700", kind="street", amount=amount, currency=currency, source="the test")
    overlay = PriceFile(name="the test", date="2026-01-01", prices=(price,))
    return replace(catalog(), prices=PriceBook.of(packaged_prices()[0], overlay))


def test_an_own_price_that_does_not_stand_is_told() -> None:
    def switch(found: Plan) -> set[Decimal | None]:
        return {i.unit_price_usd for i in only(found).line_items if i.category == "switch"}

    dollars = plan(SPEC, using=own_price(100, "USD"))
    assert switch(dollars) == {Decimal(100)}
    assert "own-price-without-rate" not in codes(dollars)
    euros = plan(SPEC, using=own_price(100, "EUR"))
    assert switch(euros) == {Decimal(32870)}
    (told,) = [f for f in euros.findings if f.code == "own-price-without-rate"]
    assert (told.severity, told.pointer) == ("warning", "/exchange_rates")
    assert "prices in EUR do not stand, for want of an exchange rate: nvidia-qm9700." in told.message
    rate = 'exchange_rates=[{currency: EUR, usd: 1.10, date: "2026-11-30", source: treasury}]'
    rated = plan(SPEC, rate, using=own_price(100, "EUR"))
    assert switch(rated) == {Decimal(110)}
    assert "own-price-without-rate" not in codes(rated)


@pytest.mark.parametrize(
    ("currency", "usd", "said"),
    [("EUR", 1e-6, "a price of .* EUR would be less than a cent"), ("USD", 1.1, "a US dollar is 1 US dollar")],
)
def test_rates_that_cannot_be(currency: str, usd: float, said: str) -> None:
    rate = f'exchange_rates=[{{currency: {currency}, usd: {usd:f}, date: "2026-11-30", source: x}}]'
    with pytest.raises(InputError, match=said):
        plan(SPEC, rate, using=own_price(100, "EUR"))


def dear_euros() -> Catalog:
    """A catalogue whose only price is absurd in dollars."""
    price = Price(part="nvidia-qm9700", kind="street", amount=1e9, currency="EUR", source="the test")
    overlay = PriceFile(name="the test", date="2026-01-01", prices=(price,))
    return replace(catalog(), prices=PriceBook.of(PriceFile(name="none", date="2026-01-01"), overlay))


def test_spares_are_lines_of_their_own_and_in_the_budget() -> None:
    base, kept = one(), one("spares=2%")
    spares = [i for i in kept.line_items if i.tier == "spares"]
    # A cable of another length does not stand in for one that fails.
    assert {(i.part, i.length_m) for i in spares} == {(i.part, i.length_m) for i in base.line_items}
    for spare in spares:
        same = [i for i in base.line_items if (i.part, i.length_m) == (spare.part, spare.length_m)]
        built = sum(i.quantity for i in same)
        assert spare.quantity == -(-built // 50)
    assert kept.totals.capex_usd == base.totals.capex_usd + kept.totals.capex_by_tier_usd["spares"]
    # What lies on a shelf is not among what is built, and draws nothing.
    assert kept.networks == base.networks
    assert (kept.totals.modules, kept.totals.power_w) == (base.totals.modules, base.totals.power_w)
    over = f"budget=${base.totals.capex_usd}"
    assert one(over).fits.network_budget is True
    assert one(over, "spares=2%").fits.network_budget is False


def test_a_stock_by_failures() -> None:
    design = one("spares={switch: {lead_time_weeks: 26, confidence: 99%}}")
    (spare,) = [i for i in design.line_items if i.tier == "spares"]
    # 24 switches x 2.56 % x 26 weeks of 52.18 = 0.306 failures: at most 2 with 99.6 %.
    assert spare.quantity == 2
    with pytest.raises(InputError, match=r"spares\.transceiver: no failure rate of this category is published"):
        one("spares={transceiver: {lead_time_weeks: 26, confidence: 99%}}")
    stated = one("spares={transceiver: {failures_per_year: 1%, lead_time_weeks: 26, confidence: 99%}}")
    assert any(i.tier == "spares" for i in stated.line_items)


def test_what_is_not_planned_is_said() -> None:
    assert {"no-spares", "support-unknown", "licences-not-priced", "energy-at-maximum"} <= codes(plan(SPEC))
    settings = (
        "spares=1%",
        "support=5%",
        "licences={fabric_manager: $100, telemetry: none}",
        "site={utilization: 80%}",
    )
    told = codes(plan(SPEC, *settings))
    assert {"no-spares", "support-unknown", "licences-not-priced", "licence-required"}.isdisjoint(told)


def test_a_required_licence_without_a_price_leaves_the_budget_unknown() -> None:
    large = SPEC.replace("servers: 64", "servers: 512")
    result = plan(large, "budget=$100M")
    design = only(result)
    assert "licence-required" in codes(result)
    assert design.fits.network_budget is None
    # It is recommended all the same: the state is shown.
    assert result.recommended == design.id
    assert all(i.category != "licence" for i in design.line_items)
    stated = only(plan(large, "budget=$100M", "licences={fabric_manager: $490}"))
    assert stated.fits.network_budget is True
    assert stated.totals.capex_usd == design.totals.capex_usd + 490 * 4096
    assert only(plan(large, "budget=$100M", "licences={fabric_manager: none}")).fits.network_budget is True
    assert only(plan(large, "budget=$1M")).fits.network_budget is False


def test_energy_of_a_plan() -> None:
    design = one("site={pue: 1.2, electricity: $0.10/kWh, years: 5, utilization: 50%}")
    watts = design.totals.power_w
    assert watts is not None
    energy = design.energy
    assert energy.servers_w == 64 * 10_200
    assert energy.facility_w == pytest.approx((watts + 64 * 10_200) * 1.2)
    assert energy.cluster_per_year_kwh == pytest.approx((watts + 32 * 10_200) * 1.2 * 8.76)
    assert design.tco.energy_usd == pytest.approx(Decimal(watts * 1.2 * 8.76 * 0.1 * 5), abs=1)
    assert design.tco.total_usd == design.totals.capex_usd + (design.tco.energy_usd or 0)
    assert not design.tco.complete


@pytest.mark.parametrize(
    ("server", "servers", "kilowatts"),
    # Published racks: 4 x DGX H100 40.8 kW, 2 x DGX B200 28.6 kW, 4 x DGX B200 57.2 kW (NVIDIA manuals, secondary).
    [("nvidia-dgx-h100", 4, 40.8), ("nvidia-dgx-b200", 2, 28.6), ("nvidia-dgx-b200", 4, 57.2)],
)
def test_servers_draw_what_is_published_of_racks(server: str, servers: int, kilowatts: float) -> None:
    for design in plan(f"{{servers: {servers}, server: {server}, fabrics: [infiniband, roce]}}").designs:
        assert design.energy.servers_w == pytest.approx(kilowatts * 1000)


def test_a_job_that_is_not_synchronous_has_no_swing() -> None:
    assert one().energy.swing_w == pytest.approx(0.42 * 64 * 10_200)
    assert one("workload={task: inference}").energy.swing_w is None


def test_an_unknown_server_leaves_energy_unknown_but_the_networks() -> None:
    inline = "server={gpus: 8, nics: 8, port_gbps: 400, cage_class: dgx-osfp-800}"
    energy = one(inline).energy
    assert energy.servers_w is energy.it_w is energy.cluster_per_year_usd is energy.swing_w is None
    assert energy.network_per_year_usd is not None


def test_the_spread_holds_the_price() -> None:
    for design in plan("{gpus: 1024}").designs:
        spread, capex = design.price_spread, design.totals.capex_usd
        assert spread.low_usd <= capex <= spread.high_usd
        assert spread.list_usd == capex
        for item in design.line_items:
            if item.unit_price_usd is None:
                assert item.low_price_usd is item.high_price_usd is None
            else:
                assert item.low_price_usd is not None
                assert item.high_price_usd is not None
                assert item.low_price_usd <= item.unit_price_usd <= item.high_price_usd


def test_a_choice_that_rests_on_prices_says_so() -> None:
    result = plan("{gpus: 1024}")
    first = result.design(result.recommended or "")
    assert (first.rank, first.price_spread.rank_at_low, first.price_spread.rank_at_high) == (1, 2, 1)
    assert "The choice rests on prices: it is second at the lowest known prices of every part." in first.why
    # Quotes leave nothing open.
    quoted = with_prices({"nvidia-qm9700": 60_000, "nvidia-sn5610": 50_000})
    sure = plan("{gpus: 1024}", using=quoted)
    words = " ".join(sure.design(sure.recommended or "").why)
    assert "keeps its rank" in words


def test_the_parts_of_the_total_add_up() -> None:
    design = one("spares=3%", "support=7%", "licences={fabric_manager: $490}")
    lines = [i.extended_usd or 0 for i in design.line_items]
    assert sum(lines) == design.totals.capex_usd
    supported = sum((i.extended_usd or Decimal(0) for i in design.line_items if i.tier != "spares"), Decimal(0))
    # The licences are hardware's companions: they have support, too.
    assert design.tco.support_usd == pytest.approx(supported * Decimal("0.07") * 4, abs=1)
    assert design.tco.complete
