"""Which inputs move the total cost of ownership most: each alone from its lowest to its highest, the widest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from ibplan.economics.assumptions import InputRange, InputRanges
from ibplan.economics.items import LineItem
from ibplan.economics.price_spread import price_at
from ibplan.economics.running import HOURS_A_YEAR, Energy, Site, is_hardware
from ibplan.economics.spares import SPARES_TIER

MOST_SHOWN: Final = 5
_CENT: Final = Decimal("0.01")
_PRICES: Final = "the lowest and the highest known price of each part"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One input: its lowest, its present and its highest value, and the total in USD with it at either end.

    `unknown`: the present value is unknown, and counted as 0. `kind`: where the range is from.
    """

    input: str
    unit: str
    low: float
    base: float
    high: float
    unknown: bool
    total_low_usd: Decimal
    total_high_usd: Decimal
    kind: Literal["prices", "published", "derived", "assumption"]
    source: str

    @property
    def width_usd(self) -> Decimal:
        """How far the total moves."""
        return abs(self.total_high_usd - self.total_low_usd)


@dataclass(frozen=True, slots=True)
class CostModel:
    """What the total is made of: purchase price by category, support rates by category, energy and site, spares.

    `usd` and `spares_usd` by category; spares are in `usd`, too, and have no support. `network_w` None = unknown: then
    no energy is in the total, as in the total cost of ownership itself.
    """

    usd: Mapping[str, Decimal]
    spares_usd: Mapping[str, Decimal]
    support: Mapping[str, Fraction]
    network_w: float | None
    site: Site

    def support_rate(self) -> float | None:
        """Support a year over the price of what it is paid for, spares apart; None if no rate is stated."""
        if not self.support:
            return None
        paid = {c: usd - self.spares_usd.get(c, Decimal(0)) for c, usd in self.usd.items()}
        yearly = sum((usd * _decimal(self.support.get(c, Fraction(0))) for c, usd in paid.items()), Decimal(0))
        whole = sum(paid.values(), Decimal(0))
        return float(yearly / whole) if whole else 0.0

    def total(
        self,
        *,
        prices: Mapping[str, Decimal] | None = None,
        spares: Decimal | None = None,
        support: Decimal | None = None,
        discount: Decimal = Decimal(0),
        electricity: Decimal | None = None,
        pue: float | None = None,
        years: Decimal | None = None,
    ) -> Decimal:
        """The total in USD with some inputs changed: prices by category, spares in USD, one support rate for all."""
        span = Decimal(self.site.years) if years is None else years
        price, supported = Decimal(0), Decimal(0)
        for category, base in self.usd.items():
            usd = base if prices is None else prices.get(category, base)
            spare = self.spares_usd.get(category, Decimal(0)) * (usd / base if base else 1)
            rate = self.support.get(category, Fraction(0))
            price += usd - (Decimal(0) if spares is None else spare)
            supported += (usd - spare) * (_decimal(rate) if support is None else support)
        price += spares or Decimal(0)
        tariff = self.site.usd_per_kwh if electricity is None else electricity
        kwh = (self.network_w or 0.0) * (self.site.pue if pue is None else pue) * HOURS_A_YEAR / 1000
        total = (price + supported * span) * (1 - discount) + Decimal(str(kwh)) * tariff * span
        return total.quantize(_CENT)


def _decimal(number: Fraction | float) -> Decimal:
    exact = Fraction(number) if isinstance(number, Fraction) else Fraction(str(number))
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def cost_model(items: Sequence[LineItem], support: Mapping[str, Fraction], energy: Energy, site: Site) -> CostModel:
    """The model of a bill; unpriced lines are left out as in every total."""
    usd: dict[str, Decimal] = {}
    spares: dict[str, Decimal] = {}
    for item in items:
        amount = item.extended_usd
        if amount is not None:
            usd[item.category] = usd.get(item.category, Decimal(0)) + amount
            if item.tier == SPARES_TIER:
                spares[item.category] = spares.get(item.category, Decimal(0)) + amount
    return CostModel(usd, spares, support, energy.network_mean_w, site)


def sensitivities(items: Sequence[LineItem], model: CostModel, ranges: InputRanges) -> tuple[Sensitivity, ...]:
    """The inputs that move the total most, at most five, the widest first; those without an effect are left out."""
    found = [s for s in (*_of_prices(items, model), *_of_inputs(items, model, ranges)) if s.width_usd]
    return tuple(sorted(found, key=lambda s: (-s.width_usd, s.input))[:MOST_SHOWN])


def _of_prices(items: Sequence[LineItem], model: CostModel) -> Iterator[Sensitivity]:
    for category, base in model.usd.items():
        lines = [i for i in items if i.category == category and i.unit_price_usd is not None]
        low = sum((price_at(i, "low") * i.quantity for i in lines), Decimal(0))
        high = sum((price_at(i, "high") * i.quantity for i in lines), Decimal(0))
        yield Sensitivity(
            f"price of {category}",
            "USD",
            float(low),
            float(base),
            float(high),
            False,
            model.total(prices={category: low}),
            model.total(prices={category: high}),
            "prices",
            _PRICES,
        )


def _of_inputs(items: Sequence[LineItem], model: CostModel, ranges: InputRanges) -> Iterator[Sensitivity]:
    hardware = sum((i.extended_usd or Decimal(0) for i in items if is_hardware(i)), Decimal(0))
    spares = sum(model.spares_usd.values(), Decimal(0))
    inputs: tuple[tuple[str, InputRange, float | None], ...] = (
        ("electricity", ranges.electricity, float(model.site.usd_per_kwh)),
        ("PUE", ranges.pue, model.site.pue),
        ("support", ranges.support, model.support_rate()),
        ("years", ranges.years, float(model.site.years)),
        ("discount", ranges.discount, 0.0),
        ("spares", ranges.spares, float(spares / hardware) if hardware else 0.0),
    )
    for name, given, now in inputs:
        # A present value outside the range widens it.
        low = given.low if now is None else min(given.low, now)
        high = given.high if now is None else max(given.high, now)
        ends = [_with(model, name, value, hardware) for value in (low, high)]
        known = (low, now or 0.0, high, now is None)
        yield Sensitivity(name, given.unit, *known, ends[0], ends[1], given.kind, given.source)


def _with(model: CostModel, name: str, value: float, hardware: Decimal) -> Decimal:
    """The total with one input at a value."""
    if name == "PUE":
        return model.total(pue=value)
    amount = _decimal(value)
    if name == "electricity":
        return model.total(electricity=amount)
    if name == "support":
        return model.total(support=amount)
    if name == "years":
        return model.total(years=amount)
    if name == "discount":
        return model.total(discount=amount)
    return model.total(spares=amount * hardware)
