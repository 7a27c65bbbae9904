"""Which price stands: newest street, else list, else estimate; used goods and bare foreign prices never."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ibplan.catalog.entries import ExchangeRate, Price, PriceFile
from ibplan.catalog.prices import PriceBook
from ibplan.catalog.store import Catalog


def price(kind: str, usd: Any, date: str | None = None, **more: Any) -> Price:
    return Price(part="x", kind=kind, usd=usd, date=date, source=f"{kind} {usd} {date}", **more)  # type: ignore[arg-type]


def file(*prices: Price, rates: tuple[ExchangeRate, ...] = (), name: str = "book") -> PriceFile:
    return PriceFile(name=name, date="2026-11-30", prices=prices, rates=rates)


def chosen(*prices: Price, own: PriceFile | None = None, length_m: float | None = None) -> Decimal | None:
    choice = PriceBook.of(file(*prices), own).choose("x", length_m)
    return None if choice is None else choice.unit_usd


def test_street_stands_before_list_before_estimate_whatever_the_date() -> None:
    old_street, new_list = price("street", 3, "2022-05"), price("list", 2, "2026-09")
    estimate = price("estimate", 1, "2026-11-30")
    assert chosen(estimate, new_list, old_street) == 3
    assert chosen(estimate, new_list) == 2
    assert chosen(estimate) == 1
    assert chosen() is None


def test_newest_of_a_kind_stands() -> None:
    assert chosen(price("street", 5, "2024-08"), price("street", 7, "2026-07-04"), price("street", 6)) == 7


def test_a_day_is_newer_than_its_month_and_its_year() -> None:
    rows = (price("street", 1, "2026"), price("street", 2, "2026-09"), price("street", 3, "2026-09-24"))
    assert chosen(*rows) == 3
    assert chosen(*rows[:2]) == 2


def test_lowest_of_one_day_stands() -> None:
    assert chosen(price("street", 8, "2026-09"), price("street", 5, "2026-09")) == 5


def test_used_goods_never_stand() -> None:
    assert chosen(price("street", 1, "2026-11", used=True)) is None
    assert chosen(price("street", 1, "2026-11", used=True), price("estimate", 9)) == 9


def test_foreign_prices_stand_only_with_a_rate() -> None:
    euros = Price(part="x", kind="list", amount=100.5, currency="EUR", source="shop")
    assert chosen(euros) is None
    rate = ExchangeRate(currency="EUR", usd=1.1, date="2026-11-30", source="bank")
    choice = PriceBook.of(file(euros, rates=(rate,))).choose("x")
    assert choice is not None
    assert (choice.unit_usd, choice.rate) == (Decimal("110.55"), rate)


def test_a_rate_of_the_user_stands_before_that_of_the_book() -> None:
    euros = Price(part="x", kind="list", amount=100, currency="EUR", source="shop")
    rates = [ExchangeRate(currency="EUR", usd=usd, date="2026-11-30", source="bank") for usd in (1.1, 1.2)]
    book = PriceBook.of(file(euros, rates=(rates[0],)), file(rates=(rates[1],), name="own"))
    assert book.choose("x").unit_usd == Decimal("120.00")  # type: ignore[union-attr]
    assert (book.name, book.date) == ("own", "2026-11-30")


def test_own_prices_stand_before_the_book_whatever_their_kind() -> None:
    assert chosen(price("street", 1, "2026-11"), own=file(price("estimate", 9, "2020"))) == 9
    assert chosen(price("street", 1, "2026-11"), own=file(price("street", 9, used=True))) == 1


def test_a_length_takes_the_price_read_for_it_or_the_next_longer() -> None:
    rows = (price("street", 33, "2026-09", length_m=1), price("street", 71, "2026-09", length_m=5))
    assert chosen(*rows, length_m=0.5) == 33
    assert chosen(*rows, length_m=1) == 33
    assert chosen(*rows, length_m=3) == 71
    assert chosen(*rows, length_m=10) is None
    assert chosen(*rows) == 71


rows = st.builds(
    lambda kind, usd, date, used: price(kind, usd, date, used=used),
    st.sampled_from(["street", "list", "estimate"]),
    st.integers(0, 50),
    st.sampled_from([None, "2024", "2026-09", "2026-09-24"]),
    st.booleans(),
)


@given(st.lists(rows, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(found: list[Price], random: Any) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    one, other = PriceBook.of(file(*found)), PriceBook.of(file(*shuffled))
    assert one.choose("x") == other.choose("x")
    best = one.choose("x")
    usable = one.usable("x")
    assert len(usable) == sum(not p.used for p in found)
    assert (best is None) == (not usable)
    if best is not None:
        assert usable[0].unit_usd == best.unit_usd
        assert not any(p.kind == "street" and not p.used for p in found) or best.kind == "street"


def test_the_book(catalog: Catalog) -> None:
    # Router-switch.com and NADDOD, 2026-07-04; Hardware Nation, 2026-09.
    stands = {
        "nvidia-qm9700": ("street", "2026-07-04", Decimal(32870)),
        "nvidia-qm8700": ("street", "2026-07-04", Decimal(18740)),
        "nvidia-sn5610": ("street", "2026-07-04", Decimal(51999)),
        "nvidia-sn5600": ("street", "2026-09", Decimal(67213)),
        "nvidia-q3400-ra": ("estimate", None, Decimal(400000)),
        "fs-mma4z00-ns": ("street", "2026-09", Decimal(879)),
        "fs-mma4z00-ns-flt": ("street", "2026-09", Decimal(1249)),
    }
    for name, expected in stands.items():
        choice = catalog.prices.choose(name)
        assert choice is not None
        assert (choice.kind, choice.date, choice.unit_usd) == expected, name
    assert catalog.prices.choose("fs-n9600-64od") is None  # only in euros and pounds
    assert catalog.prices.name == "ibplan price book"


def test_no_implausible_price_is_in_the_book(catalog: Catalog) -> None:
    # One public mock-up prints 250,000 USD for a QM9700; its source is no evidence.
    for part, kept in catalog.prices.rows.items():
        for row in kept:
            assert row.price.source, part
            assert row.unit_usd > 0, part
    assert max(row.unit_usd for row in catalog.prices.usable("nvidia-qm9700")) <= 50000


def test_ranges_hold_their_price(catalog: Catalog) -> None:
    ranges = [row.price for kept in catalog.prices.rows.values() for row in kept if row.price.low_usd is not None]
    assert ranges
    for row in ranges:
        assert row.low_usd is not None
        assert row.usd is not None
        assert row.high_usd is not None
        assert row.low_usd <= row.usd <= row.high_usd, row.part
        assert row.kind == "estimate", row.part
