"""Which price stands: newest street, else list, else estimate; used goods and bare foreign prices never."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
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


EUR = ExchangeRate(currency="EUR", usd=1.10, date="2026-11-30", source="the test")


def test_a_discount_is_taken_off_and_shown() -> None:
    book = PriceBook.of(file(price("list", 100))).with_discounts({"x": Fraction(1, 3)})
    choice = book.choose("x")
    assert choice is not None
    assert (choice.unit_usd, choice.list_usd) == (Decimal("66.67"), Decimal(100))
    assert round(choice.discount_fraction, 2) == 0.33
    assert book.range_usd("x") == (Decimal("66.67"), Decimal("66.67"))


def test_no_discount_is_none() -> None:
    choice = PriceBook.of(file(price("list", 100))).with_discounts({"x": Fraction(0), "y": Fraction(1, 2)}).choose("x")
    assert choice is not None
    assert (choice.unit_usd, choice.list_usd, choice.discount_fraction) == (100, None, 0)


def test_an_own_street_price_is_a_quote_and_an_own_list_price_is_not() -> None:
    for kind, left in (("street", 80), ("list", 40), ("estimate", 40)):
        own = file(price(kind, 80), name="own")
        choice = PriceBook.of(file(price("street", 100)), own).with_discounts({"x": Fraction(1, 2)}).choose("x")
        assert choice is not None
        assert choice.unit_usd == left


@given(
    st.decimals(1, 10**6, places=2), st.fractions(0, 1, max_denominator=1000), st.fractions(0, 1, max_denominator=1000)
)
def test_a_larger_discount_never_costs_more(usd: Decimal, one: Fraction, other: Fraction) -> None:
    book = PriceBook.of(file(price("list", usd)))
    less, more = (book.with_discounts({"x": share}).choose("x") for share in sorted((one, other)))
    assert less is not None
    assert more is not None
    assert 0 <= more.unit_usd <= less.unit_usd <= usd


def test_a_range_holds_every_price_of_new_goods() -> None:
    rows = (price("street", 30, "2026"), price("street", 50, "2024"), price("estimate", 36, low_usd=25, high_usd=52))
    book = PriceBook.of(file(*rows, price("street", 5, used=True)))
    assert book.range_usd("x") == (25, 52)
    assert book.range_usd("y") is None


def test_own_prices_are_the_whole_range() -> None:
    own = file(price("list", 40), price("list", 44), name="own")
    assert PriceBook.of(file(price("street", 10), price("list", 90)), own).range_usd("x") == (40, 44)


def test_a_range_is_that_of_the_length() -> None:
    book = PriceBook.of(file(price("street", 10, length_m=1.0), price("street", 30, length_m=5.0)))
    assert book.range_usd("x", 1.0) == (10, 10)
    assert book.range_usd("x", 3.0) == book.range_usd("x") == (30, 30)


def test_rates_put_in_later_bring_foreign_prices_in() -> None:
    bare = PriceBook.of(
        file(price("list", None, amount=100.0, currency="EUR"), price("list", None, amount=9.0, currency="GBP"))
    )
    assert bare.choose("x") is None
    book = bare.with_rates({"EUR": EUR})
    choice = book.choose("x")
    assert choice is not None
    assert (choice.unit_usd, choice.rate) == (Decimal("110.00"), EUR)
    assert [p.currency for p in book.unusable["x"]] == ["GBP"]
    assert [p.currency for p, _ in book.foreign] == ["GBP"]
    assert "x" not in book.with_rates({"GBP": EUR.model_copy(update={"currency": "GBP"})}).unusable


def test_rates_put_in_later_stand_before_those_of_the_files() -> None:
    old = ExchangeRate(currency="EUR", usd=2.0, date="2020-01-01", source="old")
    own = file(price("street", None, amount=100.0, currency="EUR"), rates=(old,), name="own")
    book = PriceBook.of(file(price("street", 5)), own)
    choices = [b.choose("x") for b in (book, book.with_rates({"EUR": EUR}), book.with_rates({}))]
    assert [c.unit_usd for c in choices if c is not None] == [200, 110, 200]


def test_used_goods_never_stand_whatever_the_rate() -> None:
    bare = PriceBook.of(file(price("street", None, amount=1.0, currency="EUR", used=True)))
    assert bare.with_rates({"EUR": EUR}).choose("x") is None


def test_us_dollars_need_no_rate() -> None:
    dollars = Price(part="x", kind="street", amount=100, currency="USD", source="quote")
    choice = PriceBook.of(file(price("street", 32870)), file(dollars, name="own")).choose("x")
    assert choice is not None
    assert (choice.unit_usd, choice.rate, choice.source) == (Decimal("100.00"), None, "quote")
