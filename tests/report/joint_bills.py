"""Purchases to render: of one spec, of several, with parts that lack prices, with several networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ibplan.economics.items import LineItem
from ibplan.plan.joint_bill import JointBill, make_joint_bill
from ibplan.plan.results import Design, Plan
from tests.report import samples


def bought(name: str) -> tuple[str, Plan, Design]:
    """A spec's source, plan and design: one that lacks prices, if there is one."""
    plan = samples.plan(name)
    return f"{name}.yaml", plan, next((d for d in plan.designs if not d.totals.complete), plan.designs[0])


def joint_bill(*names: str) -> JointBill:
    return make_joint_bill([bought(name) for name in names])


def with_items(made: JointBill, items: Sequence[LineItem]) -> JointBill:
    """The joint bill with other line items for its first spec."""
    first, *rest = made.shares
    return replace(made, shares=(replace(first, design=replace(first.design, line_items=tuple(items))), *rest))


def two_networks() -> JointBill:
    """The bill of a pod whose modules are said to be of the storage network: 2 networks, the same total."""
    made = joint_bill(samples.POD)
    items = made.shares[0].design.line_items
    return with_items(made, [replace(i, network="storage") if i.category == "transceiver" else i for i in items])


def hostile(text: str) -> JointBill:
    plan = samples.hostile(text)
    return make_joint_bill([("s.yaml", plan, plan.designs[0])])


PURCHASES = {
    "one": lambda: joint_bill(samples.BOTH),
    "unpriced": lambda: joint_bill(samples.UNPRICED),
    "several": lambda: joint_bill(samples.BOTH, samples.UNPRICED, samples.ETHERNET),
    "two-networks": two_networks,
}
