"""Energy, support and total cost: by hand, limiting cases, and a published cluster."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.economics.capital import capital_cost
from ibplan.economics.running import NetworkPower, Site, energy_of, support_cost, total_cost
from tests.economics.lines import line

SITE = Site(pue=1.3, usd_per_kwh=Decimal("0.10"), utilization=0.8, years=5)
FLAT = Site(pue=1.0, usd_per_kwh=Decimal("0.10"), utilization=1.0, years=1)


def power(maximum_w: float | None, typical_w: float | None = None, known_w: float = 0.0) -> NetworkPower:
    """Power of a network; what is known is the maximum where there is one."""
    return NetworkPower(maximum_w, typical_w, known_w if maximum_w is None else maximum_w)


def test_energy_by_hand() -> None:
    # 1 kW of network and 10 kW of servers at 80 %: (1 + 8) x 1.3 x 8,760 h.
    energy = energy_of(power(1000.0, None), 10_000.0, SITE, 0.42)
    assert (energy.it_w, energy.facility_w) == (11_000.0, pytest.approx(14_300.0))
    assert energy.network_per_year_kwh == pytest.approx(11_388)
    assert energy.network_per_year_usd == Decimal("1138.80")
    assert energy.cluster_per_year_kwh == pytest.approx(102_492)
    assert energy.swing_w == pytest.approx(4200)


def test_typical_power_stands_where_all_of_it_is_known() -> None:
    energy = energy_of(power(1000.0, 600.0), None, FLAT, None)
    assert (energy.network_mean_w, energy.network_basis) == (600.0, "typical")
    assert energy.network_per_year_kwh == pytest.approx(5256)
    assert energy_of(power(1000.0, None), None, FLAT, None).network_basis == "maximum"
    # The maximum may be unknown where the typical power is known.
    assert energy_of(power(None, 600.0), 1.0, FLAT, None).it_w is None


def test_where_a_part_is_unknown_the_others_are_a_lower_bound() -> None:
    energy = energy_of(power(None, known_w=700.0), 10_000.0, SITE, None)
    assert (energy.network_mean_w, energy.network_basis) == (700.0, "known")
    assert energy.it_w == 10_700.0
    capital = capital_cost([line()])
    total = total_cost(capital, (capital.usd, capital.usd), energy, Decimal(0), SITE)
    assert total.energy_usd == Decimal("3985.80")  # 0.7 kW x 1.3 x 8,760 h x 5 years x 0.10 USD
    assert not total.complete


def test_what_is_unknown_stays_unknown() -> None:
    energy = energy_of(power(None, None), None, SITE, 0.42)
    known = {name for name in energy.__slots__ if getattr(energy, name) is not None}
    assert known == {"swing_fraction"}
    no_servers = energy_of(power(1000.0, None), None, SITE, 0.42)
    assert no_servers.network_per_year_usd is not None
    assert no_servers.cluster_per_year_kwh is no_servers.it_w is no_servers.swing_w is None


def test_a_published_cluster() -> None:
    # SemiAnalysis on 100,000 H100 (2024): 1.59 TWh a year at 0.078 USD/kWh are 123.9 million USD.
    mean_w = 1.59e12 / 8760
    energy = energy_of(power(mean_w), None, Site(1.0, Decimal("0.078"), 1.0, 1), None)
    assert energy.network_per_year_kwh == pytest.approx(1.59e9)
    assert float(energy.network_per_year_usd or 0) == pytest.approx(123.9e6, rel=2e-3)


def test_support_is_paid_for_what_is_built_in() -> None:
    items = [
        line(),
        line("module", category="transceiver"),
        line(tier="spares", quantity=5),
        line("dear", unit_price_usd=None),
    ]
    assert support_cost(items, {"switch": Fraction(1, 10)}, 3) == Decimal(3000)
    assert support_cost(items, {"switch": Fraction(1, 10), "transceiver": Fraction(1, 20)}, 1) == Decimal(1500)
    assert support_cost(items, {}, 3) is None
    assert support_cost(items, {"switch": Fraction(0)}, 3) == 0


def test_the_total_adds_up() -> None:
    capital = capital_cost([line()])
    energy = energy_of(power(1000.0, None), None, SITE, None)
    total = total_cost(capital, (Decimal(8000), Decimal(20_000)), energy, Decimal(5000), SITE)
    assert total.energy_usd == Decimal("5694.00")
    assert total.total_usd == 10_000 + 5694 + 5000
    assert total.complete
    # Support follows the price: 50 % of it.
    assert (total.low_usd, total.high_usd) == (8000 + 5694 + 4000, 20_000 + 5694 + 10_000)


@pytest.mark.parametrize("missing", ["price", "energy", "support"])
def test_a_total_without_a_part_is_not_complete(missing: str) -> None:
    capital = capital_cost([line(unit_price_usd=None if missing == "price" else Decimal(1))])
    energy = energy_of(power(None if missing == "energy" else 1000.0, None), None, SITE, None)
    support = None if missing == "support" else Decimal(1)
    total = total_cost(capital, (capital.usd, capital.usd), energy, support, SITE)
    assert not total.complete
    assert total.total_usd == capital.usd.quantize(Decimal("0.01")) + (total.energy_usd or 0) + (total.support_usd or 0)


@given(st.decimals(0, 10**6, places=2), st.decimals(0, 10**6, places=2), st.integers(1, 30))
def test_a_cheaper_price_never_raises_the_total(one: Decimal, other: Decimal, years: int) -> None:
    energy, site = energy_of(power(5000.0, None), None, SITE, None), replace(SITE, years=years)
    totals = []
    for usd in sorted((one, other)):
        items = [line(unit_price_usd=usd)]
        capital = capital_cost(items)
        support = support_cost(items, {"switch": Fraction(1, 10)}, years)
        totals.append(total_cost(capital, (capital.usd, capital.usd), energy, support, site).total_usd)
    assert totals[0] <= totals[1]
