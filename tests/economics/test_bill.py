"""The bill of a network: what its lines say, and how they follow prices, power and airflow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.catalog.entries import Power
from ibplan.catalog.store import Catalog
from ibplan.economics.bill import Equipment, make_bill
from ibplan.economics.capital import maximum_power_w
from ibplan.economics.items import LineItem
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import LinkParts, MediumChoice, choose_parts
from ibplan.plan.results import Design
from tests.examples import share
from tests.plan.planning import COMPUTE_ONLY, catalog, only, plan, with_prices

SPEC = (
    """
servers: 127
server: nvidia-dgx-h100
fabrics: infiniband
network: {switch: nvidia-qm9700, reserved_ports: 4, oversubscription: [1:1, 2:1]}
"""
    + COMPUTE_ONLY
)


def powered(watts: float) -> Catalog:
    """The catalogue with every module at one maximum."""
    power = Power(max_w=watts, typical_w=watts)
    return replace(catalog(), modules={k: m.model_copy(update={"power": power}) for k, m in catalog().modules.items()})


def switches(tier: str, count: int, watts: float | None, holds: bool) -> Equipment:
    return Equipment(tier, "switch", "the-switch", None, None, "a switch", count, None, watts, watts, holds, tier)


def leaf_spine(medium: MediumChoice = "optical", watts: float = 15.0) -> LinkParts:
    """64 links in pairs from 2 leaves to 2 spines: 16 cages on each."""
    ends = [LinkEnd(tier, "ndr-osfp", 2, (DeviceLoad(2, 32),)) for tier in ("leaf", "spine")]
    wanted = LinkClass("leaf-spine", 400, ends[0], ends[1], pair_links=16)
    return choose_parts(PartsBook.of(powered(watts), "compatible"), wanted, "infiniband", medium)


@pytest.mark.parametrize(
    ("leaf_holds", "spine_holds", "watts"),
    # Two switches of 1,720 W in each tier; 32 modules of 15 W at each end.
    [
        (True, True, 4 * 1720.0),
        (False, True, 4 * 1720.0 + 32 * 15),
        (True, False, 4 * 1720.0 + 32 * 15),
        (False, False, 4 * 1720.0 + 64 * 15),
    ],
)
def test_modules_that_a_switch_holds_are_not_counted_twice(leaf_holds: bool, spine_holds: bool, watts: float) -> None:
    equipment = [switches("leaf", 2, 1720.0, leaf_holds), switches("spine", 2, 1720.0, spine_holds)]
    assert maximum_power_w(make_bill("compute", equipment, [leaf_spine()])) == watts


def test_a_server_module_is_never_held_by_a_switch() -> None:
    near = LinkEnd("leaf", "ndr-osfp", 2, (DeviceLoad(2, 32),))
    far = LinkEnd("server", "nic-osfp-400", 1, (DeviceLoad(8, 8),))
    book = PartsBook.of(powered(10.0), "compatible")
    parts = choose_parts(book, LinkClass("server-leaf", 400, near, far), "infiniband", "optical")
    # 32 modules in the leaves, 64 in the servers.
    assert maximum_power_w(make_bill("compute", [switches("leaf", 2, 1000.0, True)], [parts])) == 2000 + 640


def test_an_unknown_switch_leaves_the_power_unknown() -> None:
    equipment = [switches("leaf", 2, None, False), switches("spine", 2, 1720.0, True)]
    assert maximum_power_w(make_bill("compute", equipment, [leaf_spine()])) is None


def test_lines_that_differ_in_quantity_alone_become_one() -> None:
    once = make_bill("compute", [], [leaf_spine()])
    twice = make_bill("compute", [], [leaf_spine(), leaf_spine()])
    assert [replace(i, quantity=2 * i.quantity) for i in once] == list(twice)
    # The modules of leaves and of spines are one part, and still two lines: they stand elsewhere.
    assert [(i.tier, i.category, i.quantity) for i in once] == [
        ("leaf", "transceiver", 32),
        ("spine", "transceiver", 32),
        ("leaf", "cable", 64),
    ]


def test_copper_brings_its_own_heads() -> None:
    items = make_bill("compute", [], [leaf_spine("copper")])
    assert [(i.tier, i.category, i.quantity) for i in items] == [("leaf", "cable", 32)]


def test_no_equipment_is_billed_where_there_is_none() -> None:
    assert make_bill("compute", [switches("core", 0, None, False)], []) == ()


def test_links_of_unknown_parts_stand_in_the_bill_without_a_price() -> None:
    # Pain 74: no class of links is left out of the bill in silence.
    wanted = LinkClass(
        "server-leaf", 400, LinkEnd("leaf", None, None, (DeviceLoad(2, 32),)), LinkEnd("server", None, None, ())
    )
    (item,) = make_bill("compute", [], [LinkParts(wanted, None)])
    assert (item.quantity, item.unit_price_usd, item.part_number, item.power_each_w) == (64, None, None, None)


def test_a_design_adds_up_line_by_line() -> None:
    for design in plan(SPEC).designs:
        totals = design.totals
        money = sum((i.extended_usd or Decimal(0) for i in design.line_items), Decimal(0))
        assert totals.capex_usd == money.quantize(Decimal("0.01"))
        for shares in (totals.capex_by_category_usd, totals.capex_by_tier_usd):
            assert sum(shares.values()) == totals.capex_usd
        assert isinstance(totals.capex_usd, Decimal)
        assert totals.capex_per_gpu_usd == (money / 1016).quantize(Decimal("0.01"))
        counts: Counter[str] = Counter()
        for item in design.line_items:
            if item.tier != "reserved":
                counts["cable" if item.category == "splitter" else item.category] += item.quantity
        assert counts["switch"] == totals.switches
        assert counts["transceiver"] == totals.modules
        assert counts["cable"] == totals.cables


def test_each_design_of_an_unpriced_part_says_so() -> None:
    design = only(plan(SPEC.replace("[1:1, 2:1]", "1:1"), "optics=vendor"))
    assert not design.totals.complete
    assert design.rank is None
    for missing in design.totals.unpriced:
        lines = [i for i in design.line_items if i.part == missing.part]
        assert all(i.unit_price_usd is None and i.extended_usd is None and i.price_kind is None for i in lines)
        assert sum(i.quantity for i in lines) == missing.quantity
    # All modules and fibres are unpriced: what is left are the switches.
    known = sum(i.extended_usd or Decimal(0) for i in design.line_items if i.category == "switch")
    assert design.totals.capex_usd == known


def priced_lines(design: Design) -> dict[str, Decimal]:
    return {i.part: i.unit_price_usd for i in design.line_items if i.unit_price_usd is not None}


@settings(max_examples=share(30), deadline=None)
@given(st.data())
def test_a_cheaper_price_never_raises_a_total(data: st.DataObject) -> None:
    before = {d.id: d for d in plan(SPEC).designs}
    prices = {part: usd for d in before.values() for part, usd in priced_lines(d).items()}
    parts = data.draw(st.lists(st.sampled_from(sorted(prices)), min_size=1, unique=True))
    cheaper = {part: (prices[part] * data.draw(st.integers(0, 100)) / 100).quantize(Decimal("0.01")) for part in parts}
    cheaper = {part: min(usd, prices[part]) for part, usd in cheaper.items()}
    after = plan(SPEC, using=with_prices(cheaper))
    assert {d.id for d in after.designs} == set(before)
    for design in after.designs:
        assert design.totals.capex_usd <= before[design.id].totals.capex_usd


def test_prices_of_the_user_stand_before_the_book() -> None:
    design = only(plan(SPEC.replace("[1:1, 2:1]", "1:1"), using=with_prices({"nvidia-qm9700": 36_000})))
    lines = [i for i in design.line_items if i.category == "switch"]
    assert [(i.tier, i.quantity, i.extended_usd) for i in lines] == [
        ("leaf", 32, Decimal(32 * 36_000)),
        ("spine", 16, Decimal(16 * 36_000)),
    ]
    assert {i.price_source for i in lines} == {"the test"}


def switch_lines(switch: str, airflow: str, fabric: str) -> tuple[list[LineItem], list[str]]:
    result = plan(
        f"servers: 4\nserver: nvidia-hgx-h100\nfabrics: {fabric}\nsite: {{airflow: {airflow}}}\n"
        f"network: {{switch: {switch}}}\n"
    )
    (design,) = result.designs
    return [i for i in design.line_items if i.category == "switch"], [f.code for f in result.findings]


@pytest.mark.parametrize(
    ("switch", "airflow", "fabric", "number"),
    [
        # NVIDIA's ordering names: F = power to connector, R = connector to power.
        ("nvidia-qm9700", "p2c", "infiniband", "MQM9700-NS2F"),
        ("nvidia-qm9700", "c2p", "infiniband", "MQM9700-NS2R"),
        ("nvidia-sn5600", "c2p", "roce", "920-9N42F-00RI-7C0"),
        # Sold with one number whatever the airflow.
        ("arista-7060x6-64pe", "p2c", "roce", "DCS-7060X6-64PE"),
        ("arista-7060x6-64pe", "c2p", "roce", "DCS-7060X6-64PE"),
    ],
)
def test_airflow_selects_the_part_number(switch: str, airflow: str, fabric: str, number: str) -> None:
    lines, findings = switch_lines(switch, airflow, fabric)
    assert [i.part_number for i in lines] == [number]
    assert "airflow-not-sold" not in findings


def test_an_airflow_that_is_not_sold_leaves_the_number_open() -> None:
    lines, findings = switch_lines("nvidia-sn5600", "p2c", "roce")
    assert [i.part_number for i in lines] == [None]
    assert "airflow-not-sold" in findings
