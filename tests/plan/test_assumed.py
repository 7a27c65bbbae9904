"""What a plan rests on without the spec saying so: listed where it is used, with its origin, and only there."""

from __future__ import annotations

from decimal import Decimal

from ibplan.plan.side_defaults import side_defaults
from ibplan.report.data import plan_data
from ibplan.report.networks import network_sections
from ibplan.report.sections import prices
from ibplan.report.sections import side_defaults as listed
from tests.plan.planning import COMPUTE_ONLY, catalog, plan, with_prices

SPEC = "servers: 16\nserver: nvidia-dgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"
STATED = (
    "storage: {oversubscription: 4:3}\n"
    "management: {inband: {oversubscription: 8:1, port_gbps: 100}, oob: {uplinks: 2, ports_per_switch: 1}}\n"
)


def test_defaults_of_side_networks_are_listed_with_their_origin_unless_stated() -> None:
    free, stated = plan(SPEC), plan(SPEC + STATED)
    known = side_defaults()
    assert {row.key: (row.value, row.note) for row in free.inputs.side_defaults} == {
        "storage.oversubscription": ("4:3", known.storage.oversubscription.why),
        "management.inband.port_gbps": ("100", known.inband.port_gbps.why),
        "management.inband.oversubscription": ("8:1", known.inband.oversubscription.why),
        "management.oob.uplinks": ("2", known.oob.uplinks.why),
        "management.oob.ports_per_switch": ("1", known.oob.ports_per_switch.why),
    }
    assert stated.inputs.side_defaults == ()
    # They are what the networks are built with: stating them changes no line.
    assert stated.designs[0].line_items == free.designs[0].line_items
    for result, word in ((free, "default"), (stated, "asked")):
        data = plan_data(result)
        words = " ".join(line.words for section in network_sections(data) for line in section.lines)
        assert f"({word} 4:3)" in words
        assert f"({word} 8:1)" in words
        other = "asked" if word == "default" else "default"
        assert f"({other} " not in words
        assert bool(listed(data).lines) is (word == "default")


def test_networks_that_are_not_planned_have_no_defaults() -> None:
    assert plan(SPEC + COMPUTE_ONLY).inputs.side_defaults == ()


def test_the_price_of_a_server_stands_with_its_source() -> None:
    result = plan(SPEC + COMPUTE_ONLY)
    price, choice = result.inputs.server_price, catalog().prices.choose("nvidia-dgx-h100")
    assert price is not None
    assert choice is not None
    assert (price.usd, price.kind, price.source) == (choice.unit_usd, choice.kind, choice.source)
    assert price.usd == result.designs[0].totals.server_usd
    (line,) = [line.words for line in prices(plan_data(result)).lines if "one server" in line.words]
    assert f"~${price.usd:,.0f}" in line
    assert choice.source in line
    quoted = plan(SPEC + COMPUTE_ONLY, using=with_prices({"nvidia-dgx-h100": 300_000})).inputs.server_price
    assert quoted is not None
    assert (quoted.usd, quoted.source) == (Decimal(300_000), "the test")


def test_a_server_of_the_spec_has_its_price_from_there_or_none() -> None:
    inline = "server: {gpus: 8, nics: 8, port_gbps: 400, cage_class: dgx-osfp-800%s}"
    text = SPEC + COMPUTE_ONLY
    unknown = plan(text.replace("server: nvidia-dgx-h100", inline % ""))
    assert unknown.inputs.server_price is None
    assert len(prices(plan_data(unknown)).lines) == 1
    known = plan_data(plan(text.replace("server: nvidia-dgx-h100", inline % ", price: $250k")))
    assert prices(known).lines[1].words == "one server (of the spec): $250,000, street price; the spec."
