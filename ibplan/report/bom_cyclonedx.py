"""The bill as a hardware BOM in CycloneDX 1.6 JSON, for asset and supply-chain tools."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom import By, Row, total_words
from ibplan.report.bom_merged import merged_rows, merged_title
from ibplan.report.data import significant, to_json

SPEC_VERSION: Final = "1.6"
# The serial number is a hash of the content below this name: the same bill has the same number.
_SERIALS: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "cyclonedx.ibplan.invalid")
# What has a place of its own in a component; every other column becomes a property.
_PLACED: Final = frozenset({"manufacturer", "manufacturer_part_number", "vendor_sku", "description"})
# Names of the CycloneDX property taxonomy for hardware (namespace cdx:device), where it has one.
_TAXONOMY: Final = {
    "order_quantity": "cdx:device:quantity",
    "category": "cdx:device:function",
    "where_used": "cdx:device:location",
}


def bom_cyclonedx(joint_bill: JointBill, by: By = "part") -> str:
    """A joint bill as CycloneDX JSON, a component of type `device` for each row. Same bill, same bytes."""
    body = {
        "version": 1,
        "metadata": _metadata(joint_bill),
        "components": [_component(row) for row in merged_rows(joint_bill, by)],
    }
    serial = uuid.uuid5(_SERIALS, json.dumps(body, sort_keys=True))
    head = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{serial}",
    }
    return to_json(head | body)


def _metadata(joint_bill: JointBill) -> dict[str, Any]:
    properties = {"cdx:reproducible": "true", "ibplan:total": total_words(joint_bill.totals)}
    properties["ibplan:total_usd"] = f"{joint_bill.totals.capex_usd:.2f}"
    properties["ibplan:complete"] = "true" if joint_bill.totals.complete else "false"
    if joint_bill.totals.site_usd:
        properties["ibplan:site_usd"] = f"{joint_bill.totals.site_usd:.2f}"
    for share in joint_bill.shares:
        inputs = share.plan.inputs
        book = f"{inputs.price_book.name} of {inputs.price_book.date}"
        said = {"design": share.design.id, "catalog_digest": inputs.catalog_digest, "price_book": book}
        properties |= {f"ibplan:spec:{share.name}:{key}": value for key, value in said.items()}
    # The version of ibplan is left out: a bill changes where its content does, and not with every release.
    return {
        "lifecycles": [{"phase": "design"}],
        "tools": {"components": [{"type": "application", "name": "ibplan"}]},
        "component": {"type": "device", "bom-ref": "order", "name": merged_title(joint_bill)},
        "properties": _properties(properties),
    }


def _component(row: Row) -> dict[str, Any]:
    maker, number = row["manufacturer"], row["manufacturer_part_number"]
    component: dict[str, Any] = {"type": "device", "bom-ref": f"line-{row['line']}"}
    if maker is not None:
        component["supplier"] = {"name": maker}  # no other is known
        component["manufacturer"] = {"name": maker}
    # A component must have a name: the catalogue's, where no part number is known.
    component["name"] = number or row["vendor_sku"]
    component["description"] = row["description"]
    return component | {"properties": _properties(dict(_row_properties(row)))}


def _row_properties(row: Row) -> Iterator[tuple[str, str]]:
    yield "ibplan:part", row["vendor_sku"]
    if row["manufacturer_part_number"] is not None:
        yield "ibplan:manufacturer_part_number", row["manufacturer_part_number"]
    yield "ibplan:price_state", "no price" if row["unit_price"] is None else "priced"
    for column, value in row.items():
        if column not in _PLACED and value not in (None, ""):
            yield _TAXONOMY.get(column, f"ibplan:{column.replace(': ', ':', 1)}"), _written(value)


def _written(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return f"{significant(value):.15g}" if isinstance(value, float) else str(value)


def _properties(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
