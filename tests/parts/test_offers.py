"""Which part is bought in place of a named one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ibplan.parts.offers import PartsBook
from tests.plan.planning import catalog, with_prices

TWIN = "nvidia-mma4z00-ns"
DR4 = "nvidia-mms4x00-ns"


def test_vendor_optics_are_the_named_part_and_only_its_own_price() -> None:
    # The price of a compatible part says nothing about the maker's.
    book = PartsBook.of(with_prices({"fs-mma4z00-ns": 100}), "vendor")
    offer = book.offer(TWIN)
    assert (offer.entry.id, offer.usd) == (TWIN, None)


def test_compatible_optics_carry_their_own_part_and_price() -> None:
    offer = PartsBook.of(with_prices({"fs-mma4z00-ns": 100}), "compatible").offer(TWIN)
    assert (offer.entry.id, offer.usd) == ("fs-mma4z00-ns", Decimal(100))
    assert offer.entry.part_number is None or "MMA4Z00-NS" not in offer.entry.part_number


@pytest.mark.parametrize("policy", ["compatible", "vendor"])
def test_a_vendor_part_with_a_price_of_its_own_is_an_offer(policy: str) -> None:
    book = PartsBook.of(with_prices({TWIN: 50, "fs-mma4z00-ns": 100}), policy)  # type: ignore[arg-type]
    offer = book.offer(TWIN)
    assert (offer.entry.id, offer.usd) == (TWIN, Decimal(50))


def test_the_cheapest_of_several_compatible_parts_is_bought() -> None:
    cheap = PartsBook.of(with_prices({"fs-mms4x00-ns": 10, "qsfptek-mms4x00-ns": 11}), "compatible")
    dear = PartsBook.of(with_prices({"fs-mms4x00-ns": 12, "qsfptek-mms4x00-ns": 11}), "compatible")
    assert cheap.offer(DR4).entry.id == "fs-mms4x00-ns"
    assert dear.offer(DR4).entry.id == "qsfptek-mms4x00-ns"


def test_ties_go_to_the_smaller_id() -> None:
    prices = {"qsfptek-mms4x00-ns": 10, "fs-mms4x00-ns": 10}
    for order in (prices, dict(reversed(prices.items()))):
        assert PartsBook.of(with_prices(order), "compatible").offer(DR4).entry.id == "fs-mms4x00-ns"


def test_a_part_without_any_price_is_named_itself_and_unpriced() -> None:
    offer = PartsBook.of(catalog(), "compatible").offer("nvidia-mcp4y10")
    assert (offer.entry.id, offer.usd) == ("nvidia-mcp4y10", None)


def test_no_offer_lends_its_price_to_another_part() -> None:
    # Over the whole catalogue: the price of an offer is the price of the very entry that is bought.
    for policy in ("compatible", "vendor"):
        book = PartsBook.of(catalog(), policy)  # type: ignore[arg-type]
        for part in (*catalog().modules, *catalog().cables):
            offer = book.offer(part)
            own = catalog().prices.choose(offer.entry.id)
            assert offer.usd == (None if own is None else own.unit_usd)
            assert offer.entry.id == part or (policy == "compatible" and offer.entry.compatible_with == part)
