"""Which parts the groups of links of a class get by their runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ibplan.cabling.cables import choices_of, network_cables
from ibplan.cabling.choice import Runs, network_parts
from ibplan.cabling.rows import CabledNetwork, cable_rows
from ibplan.cabling.runs import groups_of_links, link_runs_m, rounded_up_m
from ibplan.errors import Unbuildable
from ibplan.fabric.link_groups import link_groups, part_of_class
from ibplan.parts.chosen import LinkParts
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import MediumChoice
from ibplan.plan.runs import layout_of
from ibplan.site.lengths import length_histogram
from tests.cabling.places import Row, cabled, runs_of
from tests.plan.planning import catalog, with_prices
from tests.report.wired import CASES, Case, case_id, wired

POD = wired("h100-pod-127")
HGX = wired("three-lines", None, ("server=nvidia-hgx-h100", "fabrics=infiniband", "network.switch=nvidia-qm9700"))


def chosen(design: object, places: Row, medium: MediumChoice, using: PartsBook | None = None) -> tuple[LinkParts, ...]:
    wiring = design.wiring  # type: ignore[attr-defined]
    book = using or PartsBook.of(catalog(), "compatible")
    return network_parts(wiring.network, "infiniband", book, lambda _: medium, runs_of(wiring, places))


def of_kind(parts: tuple[LinkParts, ...], kind: str) -> list[LinkParts]:
    return [p for p in parts if p.link.kind == kind]


def test_runs_are_rounded_up_to_a_tenth_of_a_metre() -> None:
    assert rounded_up_m(np.array([3.0, 3.000001, 3.05, 0.3, 0.1 + 0.2])).tolist() == [3.0, 3.1, 3.1, 0.3, 0.3]


def test_near_units_take_copper_and_far_ones_glass() -> None:
    # 32 servers a unit in racks of four: runs within a unit reach about 1 + 7 x 0.6 m, here half of it.
    book = PartsBook.of(with_prices({"nvidia-mcp7y00": 100}), "compatible")
    places = Row(HGX.wiring, 0.5)
    far = {**places.rack_of, "server": places.rack_of["server"].copy()}
    far["server"][96:] += 40
    places.rack_of = far
    servers = of_kind(chosen(HGX, places, "auto", book), "server-leaf")
    assert [(p.recipe.medium, p.groups) for p in servers if p.recipe] == [
        ("passive_copper", (0, 1, 2)),
        ("multimode", (3,)),
    ]
    copper, glass = servers
    # Two links a splitter and no modules; a module for two links, one for each NIC.
    assert (copper.link.count, copper.cables, copper.modules_a) == (768, 384, 0)
    assert (glass.link.count, glass.cables, glass.modules_a, glass.modules_b) == (256, 256, 128, 256)


def test_groups_that_choose_alike_are_one_choice() -> None:
    parts = chosen(POD, Row(POD.wiring), "optical")
    assert [p.groups for p in parts] == [None] * len(parts)
    assert [p.link for p in parts] == list(POD.wiring.network.links)


@pytest.mark.parametrize("scale", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("design", [POD, HGX], ids=["pod", "hgx"])
def test_whatever_the_groups_take_the_schedule_is_the_bill(design: object, scale: float) -> None:
    places = Row(design.wiring, scale)  # type: ignore[attr-defined]
    book = PartsBook.of(
        with_prices({"nvidia-mcp7y00": 100, "nvidia-mcp4y10": 100, "nvidia-mca4j80": 200}), "compatible"
    )
    parts = chosen(design, places, "auto", book)
    lengths: Counter[tuple[str | None, float | None]] = Counter()
    modules: Counter[str] = Counter()
    for row in cable_rows(CabledNetwork("compute", design.wiring, parts, places)):  # type: ignore[attr-defined]
        lengths[row.cable, row.length_m] += 1
        for end in (row.a, *row.b):
            modules[end.module or ""] += end.module_quantity
    ordered: Counter[tuple[str | None, float | None]] = Counter()
    needed: Counter[str] = Counter()
    for p in parts:
        for order in p.orders:
            ordered[order.offer.entry.id, order.length_m] += order.count
        for offer, count in ((p.module_a, p.modules_a), (p.module_b, p.modules_b)):
            needed[offer.entry.id if offer else ""] += count
    assert lengths == ordered
    assert modules == needed


def test_what_shares_a_cage_reaches_as_far_as_the_longest_of_both() -> None:
    # Managers of the pod stand in the free halves of cages that light server links: one module, one reach.
    places = Row(POD.wiring)
    away = {**places.rack_of, "compute/manager": places.rack_of["compute/manager"] + 100}
    places.rack_of = away
    places.racks = places.racks * 60
    parts = chosen(POD, places, "optical")
    (server,), (manager,) = of_kind(parts, "server-leaf"), of_kind(parts, "reserved")
    assert any(load.shares(2) for load in manager.link.a.loads)
    assert server.near_module == manager.near_module
    assert server.longest_m == pytest.approx(max(server.longest_m or 0, manager.longest_m or 0))


def test_what_shares_a_cage_is_never_copper() -> None:
    book = PartsBook.of(with_prices({"nvidia-mcp7y00": 1, "nvidia-mca4j80-ftf": 1}), "compatible")
    (server,) = of_kind(chosen(POD, Row(POD.wiring, 0.1), "auto", book), "server-leaf")
    assert server.recipe is not None
    assert server.recipe.medium in ("multimode", "single_mode")


def test_a_network_that_is_too_long_is_refused() -> None:
    with pytest.raises(Unbuildable) as caught:
        chosen(POD, Row(POD.wiring, 1000), "multimode")
    assert {reason.code for reason in caught.value.reasons} == {"run-too-long"}


def test_unknown_places_leave_the_lengths_open() -> None:
    places = Row(POD.wiring, without=("compute/spine",))
    parts = chosen(POD, places, "optical")
    (spine,) = of_kind(parts, "leaf-spine")
    assert [(order.length_m, order.count) for order in spine.orders] == [(None, spine.cables)]
    assert spine.longest_m is None
    assert all(order.length_m is not None for order in of_kind(parts, "server-leaf")[0].orders)


def test_histograms_suffice_where_every_cable_is_one_link() -> None:
    def never() -> None:
        raise AssertionError("no need for links one by one")

    full = runs_of(POD.wiring, Row(POD.wiring))
    book = PartsBook.of(catalog(), "compatible")
    lean = Runs(full.histogram, never, never)  # type: ignore[arg-type]
    found = network_parts(POD.wiring.network, "infiniband", book, lambda _: "optical", lean)
    assert found == network_parts(POD.wiring.network, "infiniband", book, lambda _: "optical", full)


def test_every_link_has_one_choice_and_the_groups_are_whole() -> None:
    network = cabled(HGX, Row(HGX.wiring))
    choice = choices_of(HGX.wiring, network.parts)
    assert (choice >= 0).all()
    at = np.flatnonzero(HGX.wiring.links.link_class == 0)
    assert sorted(set(groups_of_links(HGX.wiring, at).tolist())) == [0, 1, 2, 3]


def test_cables_of_links_without_a_recipe_are_one_each() -> None:
    parts = [replace(LinkParts(link, None), link_class=n) for n, link in enumerate(HGX.wiring.classes)]
    cables = network_cables(HGX.wiring, parts, link_runs_m(HGX.wiring, None, "compute"))
    assert [len(c) for c in cables] == [link.count for link in HGX.wiring.classes]


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_groups_of_the_closed_form_are_those_of_the_wiring(case: Case) -> None:
    wiring = wired(*case).wiring
    seen = 0
    for number, link in enumerate(wiring.classes):
        alone = sum(c.kind == link.kind for c in wiring.classes) == 1
        if link.kind in ("attached", "reserved") or not alone:
            continue
        at = np.flatnonzero(wiring.links.link_class == number)
        group, groups = groups_of_links(wiring, at), link_groups(wiring.network, link)
        assert sorted(set(group.tolist())) == list(range(len(groups)))
        for index, found in enumerate(groups):
            mine = at[group == index]
            for side, loads in (("a", found.a), ("b", found.b)):
                ports = Counter(np.bincount(wiring.links.end(side)[0][mine]).tolist())
                have = Counter({load.ports: 0 for load in loads})
                for load in loads:
                    have[load.ports] += load.devices
                by_port = all(load.ports == 1 for load in loads)
                assert sum(p * n for p, n in ports.items()) == len(mine) == sum(p * n for p, n in have.items())
                assert by_port or {p: n for p, n in ports.items() if p} == dict(have)
        seen += 1
        whole = part_of_class(link, groups)
        assert whole.count == link.count
        assert (whole.a.groups_of(2), whole.b.groups_of(2)) == (link.a.groups_of(2), link.b.groups_of(2))
    assert seen


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_histograms_of_the_site_stand_in_the_order_of_the_groups(case: Case) -> None:
    design = wired(*case)
    floor = design.evaluated.placed.floor
    if floor is None:
        return
    runs_m = link_runs_m(design.wiring, layout_of(floor), "compute")
    for number, link in enumerate(design.wiring.classes):
        groups = length_histogram(floor, "compute", design.wiring.network, link.kind, link.host)
        same = [c for c in design.wiring.classes if (c.kind, c.host) == (link.kind, link.host)]
        if groups is None or len(same) > 1:
            continue
        at = np.flatnonzero(design.wiring.links.link_class == number)
        group = groups_of_links(design.wiring, at)
        counted = [Counter(runs_m[at[group == index]].tolist()) for index in range(int(group.max()) + 1)]
        assert counted == [Counter(dict(histogram)) for histogram in groups]
