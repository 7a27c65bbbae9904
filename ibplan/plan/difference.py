"""What is different between two orders: parts, money and figures. The two are compared, nothing is planned here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

from ibplan.economics.items import LineItem
from ibplan.explain import FIGURES
from ibplan.spec.lock import LockedItem

Value = bool | int | float | None
ChangeKind = Literal["added", "removed", "quantity", "price", "quantity and price", "unchanged"]

BUDGET: Final = "network_budget_usd"
# What an order's reader asks for; the registry of figures says what each is.
COMPARED: Final = (
    "gpus",
    "servers",
    "endpoints",
    "tiers",
    "planes",
    "leaf_switches",
    "spine_switches",
    "core_switches",
    "switches",
    "links",
    "modules",
    "cables",
    "leaf_ratio_built",
    "spine_ratio_built",
    "injection_gbps",
    "bisection_gbps",
    "per_gpu_gbps",
    "latency_same_leaf_us",
    "latency_cross_leaf_us",
    "latency_cross_pod_us",
    "capex_usd",
    "capex_per_gpu_usd",
    "estimated_fraction",
    "unpriced_parts",
    "power_w",
    "power_known_w",
    "power_typical_w",
    "facility_w",
    "network_per_year_kwh",
    "network_per_year_usd",
    "cluster_per_year_kwh",
    "cluster_per_year_usd",
    "tco_total_usd",
    "tco_energy_usd",
    "tco_support_usd",
    "racks",
)
_NETWORKS: Final = ("compute", "storage", "inband", "oob")


@dataclass(frozen=True, slots=True)
class Line:
    """A part of an order, over all its places. `unit_usd` None = no price, or several; `usd` None = not all priced.

    `estimated`: a price of it is an estimate.
    """

    network: str
    category: str
    part: str
    part_number: str | None
    length_m: float | None
    description: str
    quantity: int
    unit_usd: Decimal | None
    usd: Decimal | None
    estimated: bool = False

    @property
    def key(self) -> tuple[int, str, str, str, float, str]:
        """What two orders must share for this to be one line of both; the order of lines, too."""
        rank = _NETWORKS.index(self.network) if self.network in _NETWORKS else len(_NETWORKS)
        length = -1.0 if self.length_m is None else self.length_m
        return rank, self.network, self.category, self.part, length, self.part_number or ""


@dataclass(frozen=True, slots=True)
class Order:
    """One side of a comparison: a design with its lines. `figures` by id, those of `COMPARED`; None = unknown.

    `source` is the file it came from, `name` that of the spec. `budget_usd` is the spec's limit for the network.
    `recommended`: named, pinned, locked or recommended; else the first in rank of those that break a limit.
    """

    source: str
    name: str
    design: str
    fabric: str
    lines: tuple[Line, ...]
    figures: Mapping[str, Value]
    budget_usd: Decimal | None
    recommended: bool = True

    @property
    def usd(self) -> Decimal:
        """Purchase price of the priced lines, USD."""
        return sum((line.usd for line in self.lines if line.usd is not None), Decimal(0))

    @property
    def complete(self) -> bool:
        """Whether every line has a price."""
        return all(line.usd is not None for line in self.lines)


@dataclass(frozen=True, slots=True)
class PartChange:
    """A part in both orders; None = it is not in that order."""

    old: Line | None
    new: Line | None

    @property
    def line(self) -> Line:
        """The part itself, as the newer order has it."""
        found = self.new or self.old
        assert found is not None  # a change is made of at least one line
        return found

    @property
    def kind(self) -> ChangeKind:
        """What happened to it."""
        if self.old is None or self.new is None:
            return "added" if self.old is None else "removed"
        quantity = self.old.quantity != self.new.quantity
        # The sum tells, too, where the pieces of a part have several prices.
        price = self.old.unit_usd != self.new.unit_usd or (not quantity and self.old.usd != self.new.usd)
        if quantity and price:
            return "quantity and price"
        return "quantity" if quantity else "price" if price else "unchanged"

    @property
    def quantity_change(self) -> int:
        """Pieces more (or less, below 0)."""
        return (self.new.quantity if self.new else 0) - (self.old.quantity if self.old else 0)

    @property
    def usd_change(self) -> Decimal | None:
        """Dollars more; None where a price is unknown."""
        old = Decimal(0) if self.old is None else self.old.usd
        new = Decimal(0) if self.new is None else self.new.usd
        return None if old is None or new is None else new - old


@dataclass(frozen=True, slots=True)
class MoneyChange:
    """Purchase price of one category or network in both orders, USD. Not complete = a lower bound.

    Estimated = a price in it is an estimate.
    """

    name: str
    old_usd: Decimal
    new_usd: Decimal
    old_complete: bool
    new_complete: bool
    old_estimated: bool = False
    new_estimated: bool = False

    @property
    def changed(self) -> bool:
        """Whether the amounts differ, or what is known of them."""
        return (self.old_usd, self.old_complete) != (self.new_usd, self.new_complete)

    @property
    def usd_change(self) -> Decimal | None:
        """Dollars more; None where a price is unknown."""
        return self.new_usd - self.old_usd if self.old_complete and self.new_complete else None


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure of both orders; None = unknown, or not there."""

    id: str
    title: str
    unit: str
    old: Value
    new: Value

    @property
    def changed(self) -> bool:
        """Whether it differs. What is unknown in both is no change."""
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class Difference:
    """Two orders side by side, with every part, sum and figure of either, changed or not."""

    old: Order
    new: Order
    parts: tuple[PartChange, ...]
    categories: tuple[MoneyChange, ...]
    networks: tuple[MoneyChange, ...]
    figures: tuple[FigureChange, ...]

    @property
    def total(self) -> MoneyChange:
        """The whole purchase price."""
        return _money("total", self.old.lines, self.new.lines)

    @property
    def equal(self) -> bool:
        """Whether there is no change at all."""
        same_design = (self.old.design, self.old.fabric) == (self.new.design, self.new.fabric)
        parts = all(part.kind == "unchanged" for part in self.parts)
        return same_design and parts and not any(figure.changed for figure in self.figures)

    def mirrored(self) -> Difference:
        """The same comparison, seen from the other side."""
        return Difference(
            self.new,
            self.old,
            tuple(PartChange(p.new, p.old) for p in self.parts),
            tuple(_swapped(m) for m in self.categories),
            tuple(_swapped(m) for m in self.networks),
            tuple(replace(f, old=f.new, new=f.old) for f in self.figures),
        )


def difference(old: Order, new: Order) -> Difference:
    """Compare two orders."""
    before, now = ({line.key: line for line in order.lines} for order in (old, new))
    keys = sorted({*before, *now})
    return Difference(
        old,
        new,
        tuple(PartChange(before.get(key), now.get(key)) for key in keys),
        _sums(old, new, lambda line: line.category),
        _sums(old, new, lambda line: line.network),
        tuple(_figures(old, new)),
    )


def lines_of(items: Iterable[LineItem] | Iterable[LockedItem]) -> tuple[Line, ...]:
    """Line items as the lines of an order: those of one part, number and length in a network are added up."""
    groups: dict[tuple[object, ...], list[LineItem | LockedItem]] = {}
    for item in items:
        key = item.network, item.category, item.part, item.part_number, item.length_m
        groups.setdefault(key, []).append(item)
    return tuple(sorted((_line(group) for group in groups.values()), key=lambda line: line.key))


def _line(group: list[LineItem | LockedItem]) -> Line:
    first = group[0]
    prices = {item.unit_price_usd for item in group}
    sums = [item.extended_usd for item in group]
    known = [usd for usd in sums if usd is not None]
    return Line(
        first.network,
        first.category,
        first.part,
        first.part_number,
        first.length_m,
        first.description,
        sum(item.quantity for item in group),
        next(iter(prices)) if len(prices) == 1 else None,
        sum(known, Decimal(0)) if len(known) == len(sums) else None,
        any(item.price_kind == "estimate" for item in group),
    )


def _sums(old: Order, new: Order, key: Callable[[Line], str]) -> tuple[MoneyChange, ...]:
    names = sorted({key(line) for line in (*old.lines, *new.lines)})
    names.sort(key=lambda name: _NETWORKS.index(name) if name in _NETWORKS else len(_NETWORKS))
    return tuple(
        _money(name, [x for x in old.lines if key(x) == name], [x for x in new.lines if key(x) == name])
        for name in names
    )


def _money(name: str, old: Sequence[Line], new: Sequence[Line]) -> MoneyChange:
    before, now = [line.usd for line in old], [line.usd for line in new]
    sums = [sum((usd for usd in found if usd is not None), Decimal(0)) for found in (before, now)]
    estimated = [any(line.estimated for line in lines) for lines in (old, new)]
    return MoneyChange(name, sums[0], sums[1], None not in before, None not in now, *estimated)


def _swapped(money: MoneyChange) -> MoneyChange:
    complete, estimated = (money.new_complete, money.old_complete), (money.new_estimated, money.old_estimated)
    return MoneyChange(money.name, money.new_usd, money.old_usd, *complete, *estimated)


def _figures(old: Order, new: Order) -> Iterable[FigureChange]:
    for figure_id in COMPARED:
        figure = FIGURES[figure_id]
        yield FigureChange(figure_id, figure.title, figure.unit, old.figures.get(figure_id), new.figures.get(figure_id))
    limits = [None if order.budget_usd is None else float(order.budget_usd) for order in (old, new)]
    yield FigureChange(BUDGET, "purchase price that the spec allows the network", "USD", *limits)
