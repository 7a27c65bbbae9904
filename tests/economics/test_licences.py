"""Licences: what they are counted by, which are required, and that a missing price is never a price of 0."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ibplan.economics.assumptions import assumptions
from ibplan.economics.capital import capital_cost
from ibplan.economics.licences import (
    Licence,
    LicencePrices,
    Licensed,
    licence_items,
    licences_of,
    unpriced_and_required,
)


def licences(fabric: str, prices: LicencePrices | None = None, gpus: int = 1024) -> dict[str, Licence]:
    what = Licensed("compute", fabric, gpus, gpus + 7, 48)
    return {x.licence: x for x in licences_of(what, assumptions().licences, prices or {})}


def test_each_fabric_has_its_own() -> None:
    assert set(licences("infiniband")) == {"fabric_manager", "telemetry"}
    assert set(licences("roce")) == set(licences("ethernet")) == {"network_os", "telemetry"}


def test_what_they_are_counted_by() -> None:
    assert licences("infiniband")["fabric_manager"].quantity == 1031
    assert licences("roce")["network_os"].quantity == 48


@pytest.mark.parametrize(("gpus", "need"), [(8, "recommended"), (2048, "recommended"), (2049, "required")])
def test_a_fabric_manager_is_required_for_large_clusters(gpus: int, need: str) -> None:
    found = licences("infiniband", gpus=gpus)
    assert found["fabric_manager"].need == need
    required = unpriced_and_required(found.values())
    assert [x.licence for x in required] == (["fabric_manager"] if need == "required" else [])


def test_without_a_price_there_is_no_line() -> None:
    assert licence_items(list(licences("infiniband", gpus=4096).values())) == []


def test_a_stated_price_makes_a_line() -> None:
    found = licences("infiniband", {"fabric_manager": Decimal("490")}, 4096)
    (item,) = licence_items(list(found.values()))
    assert (item.category, item.tier, item.quantity, item.extended_usd) == ("licence", "licences", 4103, 490 * 4103)
    assert capital_cost([item]).complete
    assert not unpriced_and_required(found.values())


def test_a_price_of_nothing_is_a_price() -> None:
    (item,) = licence_items(list(licences("roce", {"network_os": Decimal(0)}).values()))
    assert item.extended_usd == 0


def test_none_leaves_a_licence_out() -> None:
    assert set(licences("infiniband", {"fabric_manager": "none"}, 4096)) == {"telemetry"}
