"""Price rows that contradict themselves or come to nothing: refused where they stand, all in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ibplan.catalog.layers import packaged_prices
from ibplan.catalog.price_checks import odd_prices
from ibplan.catalog.prices import newest_rates
from ibplan.catalog.store import load_catalog
from ibplan.errors import InputError

HEAD = "name: ours\ndate: 2026-11-01\n"
START = "  - {part: nvidia-qm9700, kind: street, source: q, "


def told(path: Path, *rows: str, rates: str = "") -> list[str]:
    """What is said of a price file, without its name."""
    path.write_text(f"{HEAD}prices:\n" + "".join(f"{START}{row}}}\n" for row in rows) + rates, encoding="utf-8")
    try:
        load_catalog(price_file=path)
    except InputError as error:
        return [str(problem).removeprefix(f"{path}:") for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("row", "key", "said"),
    [
        ("usd: 5, amount: 100, currency: EUR", "amount", "the row states usd, too, $5"),
        ("usd: 500, low_usd: 900, high_usd: 100", "low_usd", "$900 is more than high_usd, $100"),
        ("usd: 500, low_usd: 900, high_usd: 1000", "low_usd", "$900 is more than the price itself, $500"),
        ("usd: 500, low_usd: 100, high_usd: 400", "high_usd", "$400 is less than the price itself, $500"),
        ("amount: 500, currency: USD, low_usd: 900", "low_usd", "$900 is more than the price itself, $500"),
        ("usd: 0.001", "usd", "$0.001 is less than a cent"),
        ("usd: 5, low_usd: 0.001", "low_usd", "$0.001 is less than a cent"),
        ("amount: 0.001, currency: USD", "amount", "an amount must be a cent at least"),
    ],
)
def test_a_row_that_cannot_be(tmp_path: Path, row: str, key: str, said: str) -> None:
    line = START + row
    column = line.index(f" {key}: ") + len(f" {key}: ") + 1
    found = told(tmp_path / "p.yaml", row)
    assert found[0].startswith(f"4:{column}: {said}"), found
    assert all(line.startswith("4:") for line in found)


def test_all_rows_in_one_run(tmp_path: Path) -> None:
    found = told(tmp_path / "p.yaml", "usd: 5, amount: 9, currency: EUR", "usd: 5, low_usd: 6", "usd: 0.001")
    assert [line.split(":")[0] for line in found] == ["4", "5", "6"]


@pytest.mark.parametrize(
    "row",
    [
        "usd: 500, low_usd: 500, high_usd: 500",
        "usd: 500, low_usd: 100",
        "usd: 0",
        "usd: 0.01",
        "usd: 5, currency: USD",
        "amount: 100, currency: USD, high_usd: 100",
        # A range in dollars was made at the rate of its day, not at that of the file.
        "amount: 100, currency: EUR, low_usd: 150",
    ],
)
def test_a_row_that_can_be(tmp_path: Path, row: str) -> None:
    rates = 'rates: [{currency: EUR, usd: 1.1, date: "2026-11-01", source: bank}]\n'
    assert told(tmp_path / "p.yaml", row, rates=rates) == []


def test_amounts_that_a_rate_makes_nothing_and_rates_of_the_dollar(tmp_path: Path) -> None:
    rates = (
        'rates:\n  - {currency: JPY, usd: 0.001, date: "2026-11-01", source: bank}\n'
        '  - {currency: USD, usd: 1.1, date: "2026-11-01", source: bank}\n'
    )
    found = told(tmp_path / "p.yaml", "amount: 3, currency: JPY", rates=rates)
    assert [line.partition(": ")[2] for line in found] == [
        "an amount must be a cent at least, here 0.001 times it: prices are in whole cents",
        "a US dollar is 1 US dollar (leave this rate out)",
    ]


def test_a_currency_is_its_code(tmp_path: Path) -> None:
    (found,) = told(tmp_path / "p.yaml", "amount: 100, currency: eur")
    assert found.startswith("4:")


def test_the_packaged_book_passes() -> None:
    prices, document = packaged_prices()
    assert list(odd_prices(prices, newest_rates(prices), document)) == []
