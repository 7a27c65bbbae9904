"""Histograms of lengths: the same as link by link on the real wiring."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import Unbuildable
from ibplan.fabric.network import NetworkSize
from ibplan.fabric.request import Attached, FabricRequest
from ibplan.fabric.wiring import wire
from ibplan.site.floor import Servers
from ibplan.site.ground import Ground
from ibplan.site.layout import make_layout
from ibplan.site.lengths import length_histogram
from ibplan.site.packing import Box
from ibplan.site.placing import plan_floor
from ibplan.site.rules import SiteRules
from tests.examples import share
from tests.fabric.shapes import built, property_settings, requests
from tests.fabric.test_side_forms import separate
from tests.site.sites import SERVER_8U, rules, sited, wired_lengths

PLACEMENTS = ("middle_of_row", "end_of_row", "top_of_rack", "central_rows")


@st.composite
def cases(draw: st.DrawFn) -> tuple[FabricRequest, int, SiteRules, Servers]:
    asked = draw(requests())
    fabrics = draw(st.sampled_from([1, 1, 2, 3]))
    site = rules(
        placement=draw(st.sampled_from(PLACEMENTS)),
        racks_per_row=draw(st.sampled_from([3, 4, 7, 20])),
        rows_per_hall=draw(st.sampled_from([1, 2, 16])),
        power_w=draw(st.sampled_from([20_000.0, 45_000.0])),
    )
    whole = draw(st.sampled_from([None, None, None, 6]))
    box = draw(st.sampled_from([SERVER_8U, Box("server", 4), Box("server", 1.5, 3_000)]))
    return asked, fabrics, site, Servers(asked.servers, box, whole)


@settings(property_settings, max_examples=share(150))
@given(cases())
def test_histograms_are_those_of_the_wired_links(case: tuple[FabricRequest, int, SiteRules, Servers]) -> None:
    asked, fabrics, site, servers = case
    network = built(asked, fabrics)
    if network is not None:
        hold_against_wiring(network, site, servers)


@settings(property_settings, max_examples=share(40))
@given(cases(), st.integers(1, 200), st.integers(0, 60), st.sampled_from([None, 7, 40]))
def test_histograms_of_separate_leaves_are_those_of_the_wired_links(
    case: tuple[FabricRequest, int, SiteRules, Servers], count: int, hosts: int, unit_servers: int | None
) -> None:
    groups = (Attached("pdu", hosts, 1, 1),) if hosts else ()
    network = built(separate(count, *groups, unit_servers=unit_servers), 1)
    assert network is not None
    assert network.fabric.separate
    hold_against_wiring(network, case[2], replace(case[3], count=count))


def hold_against_wiring(network: NetworkSize, site: SiteRules, servers: Servers) -> None:
    try:
        placed = plan_floor(Ground(site), servers, [sited(network)])
    except Unbuildable:
        return
    wired = wired_lengths(wire(network), make_layout(placed))
    for kind, host in {(c.kind, c.host) for c in network.links}:
        found = length_histogram(placed, "compute", network, kind, host)
        assert found is not None
        groups: dict[int, Counter[float]] = {}
        for (group, run_m), count in wired[kind, host].items():
            groups.setdefault(group, Counter())[run_m] += count
        assert sorted(found) == sorted(tuple(sorted(g.items())) for g in groups.values()), kind
    assert set(wired) == {(c.kind, c.host) for c in network.links}
