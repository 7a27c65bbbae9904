"""The bill as CycloneDX, read and judged by the standard's own library."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom_cyclonedx import bom_cyclonedx
from ibplan.report.bom_merged import merged_rows
from tests.report import samples
from tests.report.joint_bills import PURCHASES, hostile, joint_bill, with_items

VALIDATOR = JsonStrictValidator(SchemaVersion.V1_6)


def _read(text: str) -> Bom:
    read = Bom.from_json(json.loads(text))  # type: ignore[attr-defined]  # given to the class by a decorator
    assert isinstance(read, Bom)
    return read


def _properties(component: Component) -> dict[str, str | None]:
    return {found.name: found.value for found in component.properties}


@pytest.mark.parametrize("name", sorted(PURCHASES))
def test_valid_by_the_schema_of_the_standard(name: str) -> None:
    assert VALIDATOR.validate_str(bom_cyclonedx(PURCHASES[name]())) is None
    assert VALIDATOR.validate_str(bom_cyclonedx(PURCHASES[name](), "tier")) is None


def test_the_validator_would_refuse_another_form() -> None:
    wrong: dict[str, Any] = json.loads(bom_cyclonedx(PURCHASES["one"]()))
    wrong["components"][0]["quantity"] = 1
    assert VALIDATOR.validate_str(json.dumps(wrong)) is not None


@pytest.mark.parametrize("name", sorted(PURCHASES))
def test_the_library_reads_quantities_makers_and_prices(name: str) -> None:
    made = PURCHASES[name]()
    read = {str(component.bom_ref): component for component in _read(bom_cyclonedx(made)).components}
    rows = merged_rows(made)
    assert len(read) == len(rows)
    total = Decimal(0)
    for row in rows:
        component = read[f"line-{row['line']}"]
        said = _properties(component)
        assert component.type is ComponentType.DEVICE
        assert component.name == (row["manufacturer_part_number"] or row["vendor_sku"])
        assert said["ibplan:part"] == row["vendor_sku"]
        assert said["cdx:device:quantity"] == str(row["order_quantity"])
        if row["manufacturer"] is not None:
            assert component.manufacturer is not None
            assert component.supplier is not None
            assert component.manufacturer.name == component.supplier.name == row["manufacturer"]
        if row["unit_price"] is None:
            assert said["ibplan:price_state"] == "no price"
            assert not {"ibplan:unit_price", "ibplan:extended_price", "ibplan:currency"} & set(said)
        else:
            assert Decimal(said["ibplan:unit_price"] or "") == row["unit_price"]
            total += Decimal(said["ibplan:extended_price"] or "")
    assert total == made.totals.capex_usd


def test_the_total_says_whether_it_is_complete() -> None:
    read = _read(bom_cyclonedx(PURCHASES["unpriced"]()))
    said = {found.name: found.value for found in read.metadata.properties}
    assert (said["ibplan:complete"], said["cdx:reproducible"]) == ("false", "true")
    assert said["ibplan:spec:gb300-nvl72:design"] == PURCHASES["unpriced"]().shares[0].design.id


def _serial(made: JointBill) -> str:
    return str(json.loads(bom_cyclonedx(made))["serialNumber"])


def test_the_same_bill_has_the_same_bytes_and_another_one_another_serial_number() -> None:
    made = joint_bill(samples.POD)
    first, *rest = made.shares[0].design.line_items
    other = with_items(made, [replace(first, quantity=first.quantity + 1), *rest])
    assert bom_cyclonedx(joint_bill(samples.POD)) == bom_cyclonedx(made)
    assert _serial(made) != _serial(other)


def test_no_time_and_no_version_of_ibplan_is_in_it() -> None:
    data = json.loads(bom_cyclonedx(joint_bill(samples.POD)))
    assert "timestamp" not in data["metadata"]
    assert data["metadata"]["tools"] == {"components": [{"type": "application", "name": "ibplan"}]}


def test_large_numbers_have_no_exponent() -> None:
    made = joint_bill(samples.POD)
    first, *rest = made.shares[0].design.line_items
    text = bom_cyclonedx(with_items(made, [replace(first, power_each_w=1234567.0), *rest]))
    assert '"1234570"' in text


@pytest.mark.parametrize("text", ['a "b"\n<script>', "=cmd", "ü\u202e"])
def test_names_of_any_kind_stay_valid(text: str) -> None:
    assert VALIDATOR.validate_str(bom_cyclonedx(hostile(text))) is None
