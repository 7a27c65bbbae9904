"""Prices of racks and rack PDUs: lines apart from the network, and the price of the cluster."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.plan.results import Design, Plan
from ibplan.report import sections
from ibplan.report.bom import bom_rows, total_words
from ibplan.report.data import plan_data
from tests.examples import share
from tests.plan.planning import only, plan

# Four servers of 8 units in two racks of two, which the switches fit into, too.
SPEC = """
servers: 4
server:
  {gpus: 8, nics: 8, port_gbps: 400, cage_class: nic-osfp-400, power: 10 kW, rack_units: 8, price: $300k}
fabrics: infiniband
network: {switch: nvidia-qm9700}
storage: none
management: {inband: false, oob: false}
"""
PRICED = ("site.rack.price=$2500", "site.rack.pdu_price=$1200.50")
NVL72 = "servers: 36\nserver: nvidia-gb200-nvl72-tray\nfabrics: infiniband\n"


def left_out(result: Plan) -> str:
    (line,) = sections.left_out(plan_data(result), ()).lines
    return line.words


def rack_counts(design: Design) -> tuple[int, int]:
    assert design.site is not None
    return design.site.racks.server + design.site.racks.network, design.site.pdus


def test_racks_and_pdus_are_lines_apart_from_the_network() -> None:
    free, design = only(plan(SPEC)), only(plan(SPEC, *PRICED))
    racks, pdus = rack_counts(design)
    assert racks >= 1
    assert pdus >= 3
    found = [(i.network, i.tier, i.category, i.quantity, i.unit_price_usd) for i in design.site_items]
    assert found == [
        ("site", "site", "rack", racks, Decimal(2500)),
        ("site", "site", "PDU", pdus, Decimal("1200.50")),
    ]
    site = 2500 * racks + Decimal("1200.50") * pdus
    assert (design.totals.site_usd, design.totals.site_complete) == (site, True)
    assert design.totals.cluster_usd == design.totals.capex_usd + 4 * 300_000 + site
    assert design.totals.cluster_complete
    # Nothing of the network's own moves, and nothing of the layout.
    assert design.line_items == free.line_items
    assert (design.totals.capex_usd, design.tco, design.price_spread) == (
        free.totals.capex_usd,
        free.tco,
        free.price_spread,
    )
    assert design.site == free.site


def test_without_prices_the_cluster_is_a_lower_bound_and_the_design_complete() -> None:
    result = plan(SPEC)
    design = only(result)
    assert design.site_items == ()
    assert (design.totals.site_usd, design.totals.site_complete, design.totals.complete) == (None, False, True)
    assert design.totals.cluster_usd == design.totals.capex_usd + 1_200_000
    assert not design.totals.cluster_complete
    assert "the price of racks and rack PDUs" in left_out(result)


@pytest.mark.parametrize(
    ("settings_", "missing"),
    [
        (PRICED[:1], "the price of rack PDUs"),
        (PRICED[1:], "the price of racks"),
        ((PRICED[0], "site.rack.pdus=0"), ""),
        (PRICED, ""),
    ],
)
def test_what_has_no_price_is_said(settings_: tuple[str, ...], missing: str) -> None:
    result = plan(SPEC, *settings_)
    words = left_out(result)
    assert (missing in words) if missing else "rack" not in words
    assert only(result).totals.site_complete is not bool(missing)
    said = [f.message for f in result.findings if f.code == "racks-not-priced"]
    unstated = [
        w for w, key in (("racks", "price"), ("rack PDUs", "pdu_price")) if f"rack.{key}=" not in str(settings_)
    ]
    assert len(said) == bool(unstated)
    assert all(message == f"Counted, but not priced: {' and '.join(unstated)}." for message in said)


@pytest.mark.parametrize(("cents", "kept"), [(0, True), (1, True), (-1, False)])
def test_a_cluster_budget_is_kept_to_the_cent(cents: int, kept: bool) -> None:
    usd = only(plan(SPEC, *PRICED)).totals.cluster_usd
    assert usd is not None
    result = plan(SPEC, *PRICED, f"budget.cluster=${usd + Decimal(cents) / 100}")
    assert only(result).fits.cluster_budget is kept
    assert (result.recommended is not None) is kept
    if not kept:
        assert any("With its servers and racks it costs more" in words for words in only(result).why)
        assert [(s.limit, s.best) for s in result.shortfall] == [("cluster_budget", float(usd))]


def test_a_server_without_a_price_leaves_the_cluster_unknown() -> None:
    result = plan(SPEC.replace(", price: $300k", ""), *PRICED, "budget.cluster=$1T")
    totals = only(result).totals
    assert (totals.server_usd, totals.server_price_kind, totals.cluster_usd) == (None, None, None)
    assert not totals.cluster_complete
    assert only(result).fits.cluster_budget is None


def test_racks_that_come_assembled_are_not_bought_again() -> None:
    design = only(plan(NVL72 + "network: {switch: nvidia-qm9700}\n", *PRICED))
    assert design.site is not None
    assert design.site.racks.server == 2
    assert [(i.category, i.quantity) for i in design.site_items] == [
        ("rack", design.site.racks.network),
        ("PDU", design.site.pdus),
    ]


def test_attached_hosts_without_a_place_leave_the_price_of_racks_open() -> None:
    hosts = "attached: [{name: login, servers: 2, ports: 1, port_gbps: 400, cage_class: nic-osfp-400%s}]\n"
    open_end = plan(SPEC + hosts % "", *PRICED)
    assert not only(open_end).totals.site_complete
    assert "racks of attached hosts" in left_out(open_end)
    assert only(plan(SPEC + hosts % ", rack_units: 1", *PRICED)).totals.site_complete


def test_a_price_of_a_rack_states_no_layout() -> None:
    # A run too long for its parts is refused only where the spec states the layout.
    big = "gpus: 8192\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, medium: {server_leaf: copper}}\n"
    assert [d.id for d in plan(big, *PRICED).designs] == [d.id for d in plan(big).designs]


@settings(max_examples=share(20), deadline=None)
@given(st.integers(1, 40), st.decimals(0, 100_000, places=2), st.decimals(0, 100_000, places=2))
def test_lines_of_racks_add_up(servers: int, rack: Decimal, pdu: Decimal) -> None:
    result = plan(SPEC, f"servers={servers}", f"site.rack.price=${rack}", f"site.rack.pdu_price=${pdu}")
    for design in result.designs:
        racks, pdus = rack_counts(design)
        assert design.totals.site_usd == rack * racks + pdu * pdus
        assert sum(design.totals.capex_by_network_usd.values()) == design.totals.capex_usd
        rows = bom_rows(result, design)
        sums = sum(row["extended_price"] for row in rows)
        assert sums == design.totals.capex_usd + design.totals.site_usd
        assert ("racks and rack PDUs apart" in total_words(design.totals)) is bool(design.totals.site_usd)
