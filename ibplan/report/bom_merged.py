"""A joint bill: as it is for one spec; for several, one row a part with a quantity for each spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom import (
    SPEC_QUANTITY,
    By,
    Row,
    bom_data,
    bom_rows,
    columns_of,
    inputs_data,
    make_row,
    markdown_bill,
    old_parts,
    row_groups,
    rows_data,
    totals_data,
)
from ibplan.report.bom_left_out import left_out_words
from ibplan.report.markdown import escape

_OTHER_PRICE: Final = "another spec has another price for it: see the other row"


def merged_columns(joint_bill: JointBill, by: By) -> tuple[str, ...]:
    """The columns of the bill: for several specs, the quantity of each stands behind the sum."""
    columns = columns_of(by)
    if len(joint_bill.shares) == 1:
        return columns
    behind = columns.index("order_quantity") + 1
    return (*columns[:behind], *(SPEC_QUANTITY + share.name for share in joint_bill.shares), *columns[behind:])


def merged_rows(joint_bill: JointBill, by: By = "part") -> list[Row]:
    """The rows of the bill. Where specs have different prices for a part, each price has a row."""
    if len(joint_bill.shares) == 1:
        return bom_rows(joint_bill.shares[0].plan, joint_bill.shares[0].design, by)
    bought = [
        (share.name, replace(item, where=f"{share.name}: {item.where}"))
        for share in joint_bill.shares
        for item in share.design.bill_items
    ]
    networks = list(dict.fromkeys(item.network for _, item in bought))
    items = sorted((item for _, item in bought), key=lambda item: networks.index(item.network))
    owner = {id(item): name for name, item in bought}  # equal items of two specs are two objects
    old = frozenset(name for share in joint_bill.shares for name in old_parts(share.plan, share.design))
    rows = []
    for line, group in enumerate(row_groups(items, by), 1):
        row = dict(make_row(line, group, old, by))
        for share in joint_bill.shares:
            row[SPEC_QUANTITY + share.name] = sum(i.quantity for i in group if owner[id(i)] == share.name)
        rows.append({column: row[column] for column in merged_columns(joint_bill, by)})
    return list(_with_price_notes(rows))


def _with_price_notes(rows: Sequence[dict[str, Any]]) -> Iterator[Row]:
    prices: dict[tuple[Any, Any], set[Any]] = {}
    for row in rows:
        prices.setdefault((row["vendor_sku"], row["length_m"]), set()).add(row["unit_price"])
    for row in rows:
        several = len(prices[row["vendor_sku"], row["length_m"]]) > 1
        yield row | {"notes": "; ".join(filter(None, [row["notes"], _OTHER_PRICE]))} if several else row


def merged_data(joint_bill: JointBill, rows: Sequence[Row]) -> dict[str, Any]:
    """The bill as plain data; of several specs with the design, inputs and totals of each."""
    if len(joint_bill.shares) == 1:
        return bom_data(joint_bill.shares[0].plan, joint_bill.shares[0].design, rows)
    return {
        "schema_version": joint_bill.shares[0].plan.schema_version,
        "specs": [
            {
                "name": share.name,
                "design": share.design.id,
                "inputs": inputs_data(share.plan),
                "totals": totals_data(share.design.totals),
            }
            for share in joint_bill.shares
        ],
        "rows": rows_data(rows),
        "totals": totals_data(joint_bill.totals),
    }


def merged_markdown(joint_bill: JointBill, rows: Sequence[Row], by: By) -> str:
    """The bill as Markdown with its total, and what is left out of each design."""
    bill = markdown_bill(merged_title(joint_bill), rows, joint_bill.totals, merged_columns(joint_bill, by))
    several = len(joint_bill.shares) > 1
    left_out = "".join(
        f"\nLeft out of {escape(share.name) if several else 'this plan'}: "
        f"{escape(left_out_words(share.plan, share.design))}\n"
        for share in joint_bill.shares
    )
    return bill + left_out


def merged_title(joint_bill: JointBill) -> str:
    """What the bill is of, in one line."""
    if len(joint_bill.shares) == 1:
        return f"{joint_bill.shares[0].plan.name}: bill of materials of {joint_bill.shares[0].design.id}"
    return "Bill of materials of " + ", ".join(f"{share.name} ({share.design.id})" for share in joint_bill.shares)
