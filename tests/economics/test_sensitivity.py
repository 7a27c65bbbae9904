"""The sensitivity: by hand, what is left out, and that every end is a total of its own."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.economics.assumptions import assumptions
from ibplan.economics.capital import capital_cost
from ibplan.economics.items import LineItem
from ibplan.economics.price_spread import list_sum, price_at, sum_at
from ibplan.economics.running import NetworkPower, Site, energy_of, support_cost, total_cost
from ibplan.economics.sensitivity import Sensitivity, cost_model, sensitivities
from ibplan.economics.spares import ShareOfPieces, spare_items
from tests.economics.lines import line

SITE = Site(pue=1.25, usd_per_kwh=Decimal("0.08"), utilization=1.0, years=4)
RANGES = assumptions().ranges
ITEMS = [
    line(low_price_usd=Decimal(900), high_price_usd=Decimal(1500)),
    line("cable", category="cable", unit_price_usd=Decimal(10), low_price_usd=Decimal(10), high_price_usd=Decimal(10)),
]
SUPPORT = {"switch": Fraction(1, 10), "cable": Fraction(1, 10)}


def found(
    items: list[LineItem] = ITEMS, support: dict[str, Fraction] | None = None, site: Site = SITE
) -> dict[str, Sensitivity]:
    rates = SUPPORT if support is None else support
    model = cost_model(items, rates, energy_of(NetworkPower(1000.0, None, 1000.0), None, site, None), site)
    return {s.input: s for s in sensitivities(items, model, RANGES)}


def test_by_hand() -> None:
    # Purchase 10,100; energy 1 kW x 1.25 x 8.76 = 10,950 kWh x 0.08 x 4 = 3,504; support 10 % x 4 years = 4,040.
    rows = found()
    assert len(rows) == 5
    switches = rows["price of switch"]
    assert (switches.low, switches.base, switches.high) == (9000, 10_000, 15_000)
    # 1.4 = 1 + 4 years of support.
    assert switches.total_low_usd == Decimal("16244.00")
    assert switches.total_high_usd == Decimal("24644.00")
    support = rows["support"]
    assert (support.low, support.base, support.high, support.unknown) == (0.02, pytest.approx(0.1), 0.2, False)
    assert (support.total_low_usd, support.total_high_usd) == (Decimal("14412.00"), Decimal("21684.00"))
    assert rows["years"].total_high_usd == Decimal("10100.00") + Decimal("4380.00") + Decimal("5050.00")
    assert rows["discount"].total_high_usd == Decimal("14816.00")


def test_the_widest_come_first_and_what_moves_nothing_is_left_out() -> None:
    rows = list(found().values())
    assert [r.width_usd for r in rows] == sorted((r.width_usd for r in rows), reverse=True)
    assert "price of cable" not in found()


def test_support_that_is_not_stated_is_unknown_and_counts_nothing() -> None:
    support = found(support={})["support"]
    assert support.unknown
    assert (support.low, support.base) == (0.02, 0.0)
    assert support.total_low_usd == Decimal("10100.00") + Decimal("3504.00") + Decimal("808.00")


def test_a_present_value_outside_its_range_widens_it() -> None:
    dear = replace(SITE, usd_per_kwh=Decimal("0.50"))
    row = found(site=dear)["electricity"]
    assert (row.low, row.base, row.high) == (0.078, 0.5, 0.5)


def test_spares_are_counted_once() -> None:
    items = [*ITEMS, *spare_items(ITEMS, {"switch": ShareOfPieces(Fraction(1, 2))})]
    row = found(items, {})["spares"]
    assert row.base == pytest.approx(5000 / 10_100)
    assert row.high == row.base  # above the range
    assert row.total_low_usd == Decimal("10100.00") + Decimal("3504.00")
    assert row.total_high_usd == row.total_low_usd + 5000


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("switch", "cable", "transceiver")), st.integers(1, 500), st.decimals(1, 10**5, places=2)
        ),
        min_size=1,
        max_size=6,
    ),
    st.fractions(0, Fraction(1, 2), max_denominator=50),
    st.fractions(0, Fraction(1, 5), max_denominator=50),
)
def test_the_model_gives_the_total_of_the_design(
    lines: list[tuple[str, int, Decimal]], rate: Fraction, spares: Fraction
) -> None:
    items = [line(f"p{i}", category=c, quantity=n, unit_price_usd=usd) for i, (c, n, usd) in enumerate(lines)]
    items += spare_items(items, {"switch": ShareOfPieces(spares), "cable": ShareOfPieces(spares)})
    rates = {"switch": rate, "transceiver": rate / 2}
    energy, capital = energy_of(NetworkPower(12_345.0, None, 12_345.0), None, SITE, None), capital_cost(items)
    model = cost_model(items, rates, energy, SITE)
    total = total_cost(capital, (capital.usd, capital.usd), energy, support_cost(items, rates, SITE.years), SITE)
    assert abs(model.total() - total.total_usd) <= Decimal("0.02")
    assert model.total(discount=Decimal(0)) == model.total()
    assert model.total(discount=Decimal("0.2")) <= model.total()
    assert model.total(years=Decimal(3)) <= model.total()


def test_the_spread_of_a_bill() -> None:
    items = [*ITEMS, line("plain"), line("unknown", unit_price_usd=None)]
    assert (sum_at(items, "low"), sum_at(items, "high")) == (9000 + 100 + 10_000, 15_000 + 100 + 10_000)
    assert price_at(line("unknown", unit_price_usd=None), "high") == 0
    listed = line(list_price_usd=Decimal(1250), discount_percent=20.0)
    assert list_sum([listed, line("plain")]) == 22_500


def test_every_range_holds_together_and_has_a_source() -> None:
    known = assumptions()
    for name in type(known.ranges).model_fields:
        given_range = getattr(known.ranges, name)
        assert given_range.low < given_range.high
        assert given_range.source
    assert len({entry.key for entry in known.licences}) == len(known.licences)
    # The figures that are derived are what their notes derive them from.
    assert known.failure_rates["switch"].per_year == pytest.approx(0.08 * 0.32)
    assert known.failure_rates["nic"].per_year == pytest.approx(7 / 16_384 * 365 / 54, rel=2e-3)
    assert known.power_swing.fraction_of_maximum == pytest.approx(1 - 55 / 95, abs=0.002)
