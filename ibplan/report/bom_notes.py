"""What a bill rests on, in words: designs, price sources, parts without a price, what is left out, findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibplan.findings import KINDS, SEVERITIES, plural
from ibplan.plan.joint_bill import JointBill, Share
from ibplan.report import networks, sections
from ibplan.report.bom import Row
from ibplan.report.data import plan_data


@dataclass(frozen=True, slots=True)
class Note:
    """One note. `spec` is the spec that it is about; empty: the whole bill."""

    subject: str
    spec: str
    text: str


def bill_notes(joint_bill: JointBill, rows: Sequence[Row]) -> list[Note]:
    """All notes of a bill, the ones that a buyer reads first at the top."""
    notes = [Note("Design", share.name, share.design.id) for share in joint_bill.shares]
    notes += _prices(joint_bill, rows)
    notes += [Note("No price", "", f"{row.part} ({row.quantity:,})") for row in joint_bill.totals.unpriced]
    for share in joint_bill.shares:
        notes += _about(share)
    return notes


def _prices(joint_bill: JointBill, rows: Sequence[Row]) -> Iterator[Note]:
    for share in joint_bill.shares:
        inputs = share.plan.inputs
        book = f"{inputs.price_book.name} of {inputs.price_book.date}; catalogue {inputs.catalog_digest}"
        yield Note("Price book", share.name, book)
    yield Note("Currency", "", "All prices are in US dollars; tax is left out.")
    for kind in dict.fromkeys(row["price_kind"] for row in rows if row["price_kind"] is not None):
        priced = [row for row in rows if row["price_kind"] == kind]
        dates = sorted({row["price_date"] for row in priced if row["price_date"] is not None})
        undated = sum(row["price_date"] is None for row in priced)
        when = f", dated {dates[0]} to {dates[-1]}" if len(dates) > 1 else f", dated {dates[0]}" if dates else ""
        yield Note(
            "Kind of price",
            "",
            f"{kind}: {plural(len(priced), 'line')}{when}{f', {undated} undated' if undated else ''}",
        )
    for source in dict.fromkeys(row["price_source"] for row in rows if row["price_source"] is not None):
        yield Note("Price source", "", source)


def _about(share: Share) -> Iterator[Note]:
    data: dict[str, Any] = plan_data(replace(share.plan, designs=(share.design,)))
    for section in (sections.left_out(data, networks.left_out_words(data)), sections.defaults(data)):
        for line in section.lines:
            yield Note(section.title, share.name, line.words)
    found = [f for f in share.plan.findings if f.design in (None, share.design.id)]
    for severity in reversed(SEVERITIES):
        for finding in found:
            if finding.severity == severity:
                yield Note(
                    f"Finding: {severity}", share.name, f"{finding.message} {KINDS[finding.code].remedy}".strip()
                )
