"""What the catalogue lacks is listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from ibplan.catalog.checks import CatalogRow, check_catalog, first_day
from ibplan.catalog.entries import Price, PriceFile
from ibplan.catalog.prices import PriceBook
from ibplan.catalog.store import Catalog

TODAY = date(2026, 11, 30)


def rows(catalog: Catalog, check: str, older_than_days: int | None = None) -> dict[str, CatalogRow]:
    return {row.id: row for row in check_catalog(catalog, older_than_days, TODAY) if row.check == check}


def priced(catalog: Catalog, *prices: Any) -> Catalog:
    book = PriceFile(
        name="b", date="2026-11-30", prices=tuple(Price(part="nvidia-qm9700", source="s", **p) for p in prices)
    )
    return replace(catalog, prices=PriceBook.of(book))


def test_incomplete_entries_name_their_gaps(catalog: Catalog) -> None:
    found = rows(catalog, "incomplete")
    assert "nvidia-q3200-ra" in found
    assert found["micas-m2-w6930-64qc"].fields == ("cages[0].cage_class",)
    assert found["generic-mi300x-8gpu"].fields == ("compute",)
    assert found["intel-e810-cqda2"].fields == ("cage_class",)


def test_switches_of_unknown_height_are_planned_with_and_listed(catalog: Catalog) -> None:
    assert "celestica-ds5000" not in rows(catalog, "incomplete")
    assert rows(catalog, "unknown_height")["celestica-ds5000"].fields == ("rack_units",)
    assert "nvidia-qm9700" not in rows(catalog, "unknown_height")


def test_what_the_default_plan_needs_is_complete(catalog: Catalog) -> None:
    incomplete = rows(catalog, "incomplete")
    for name in ("nvidia-dgx-h100", "nvidia-qm9700", "nvidia-q3400-ra", "nvidia-sn5600", "nvidia-sn5610"):
        assert name not in incomplete


def test_unpriced_parts_name_their_priced_stand_in(catalog: Catalog) -> None:
    found = rows(catalog, "unpriced")
    assert "fs-mma4z00-ns" in found["nvidia-mma4z00-ns"].text
    assert "foreign currency" in found["fs-n9600-64od"].text
    assert "nvidia-qm9700" not in found
    assert "nvidia-mcp7y10" not in found  # retired: nobody buys it


def test_prices_are_aged_only_when_asked(catalog: Catalog) -> None:
    assert rows(catalog, "old_price") == {}
    assert "nvidia-sn2700" in rows(catalog, "old_price", 365)


def test_older_than(catalog: Catalog) -> None:
    aged = priced(catalog, {"kind": "street", "usd": 1, "date": "2026-11-01"})
    assert rows(aged, "old_price", 29) == {}
    assert rows(aged, "old_price", 28)["nvidia-qm9700"].days == 29


def test_only_the_price_that_stands_is_aged(catalog: Catalog) -> None:
    old = {"kind": "street", "usd": 1, "date": "2020"}
    assert rows(priced(catalog, old, {"kind": "street", "usd": 2, "date": "2026-11-29"}), "old_price", 30) == {}
    newer_estimate = {"kind": "estimate", "usd": 2, "date": "2026-11-29"}
    assert "nvidia-qm9700" in rows(priced(catalog, old, newer_estimate), "old_price", 30)


def test_a_price_without_a_date_is_old(catalog: Catalog) -> None:
    row = rows(priced(catalog, {"kind": "street", "usd": 1}), "old_price", 100_000)["nvidia-qm9700"]
    assert (row.days, row.text) == (None, "the street price has no date")


def test_an_age_is_never_understated() -> None:
    assert [first_day(text) for text in ("2026", "2026-09", "2026-09-24")] == [
        date(2026, 1, 1),
        date(2026, 9, 1),
        date(2026, 9, 24),
    ]


def test_a_loaded_catalogue_has_no_misfit_and_no_class_without_a_device(catalog: Catalog) -> None:
    assert rows(catalog, "misfit") == {}
    assert rows(catalog, "unknown_cage_class") == {}


def test_a_class_that_no_device_has_is_listed(catalog: Catalog) -> None:
    recipe = catalog.recipes["ndr400-sw-cx7osfp-mmf"]
    end = recipe.end_b.model_copy(update={"cage_classes": ("nic-osfp400",)})
    odd = replace(catalog, recipes={recipe.id: recipe.model_copy(update={"end_b": end})})
    assert rows(odd, "unknown_cage_class")[recipe.id].fields == ("nic-osfp400",)
