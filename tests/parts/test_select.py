"""Which recipe is chosen for a class of links, and why none is."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from itertools import product
from typing import get_args

import pytest

from ibplan.catalog.entries import LinkLayer, Recipe
from ibplan.errors import Unbuildable
from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd, LinkKind
from ibplan.parts.offers import PartsBook
from ibplan.parts.select import LinkParts, MediumChoice, choose_parts, link_usd
from tests.plan.planning import catalog, plan, with_prices


@cache
def book() -> PartsBook:
    return PartsBook.of(catalog(), "compatible")


def end(tier: str, cage: str | None, per_cage: int | None, *loads: DeviceLoad) -> LinkEnd:
    return LinkEnd(tier, cage, per_cage, loads or (DeviceLoad(4, 2),))


def link(
    near: tuple[str, int],
    far: tuple[str, int],
    gbps: int,
    kind: LinkKind = "server-leaf",
    pair_links: int = 1,
) -> LinkClass:
    tiers = {"server-leaf": ("leaf", "server"), "leaf-spine": ("leaf", "spine"), "leaf-leaf": ("leaf", "leaf")}
    a, b = tiers.get(kind, ("leaf", "attached"))
    return LinkClass(kind, gbps, end(a, *near), end(b, *far), pair_links)


def refusal(wanted: LinkClass, layer: LinkLayer, medium: MediumChoice) -> str:
    with pytest.raises(Unbuildable) as caught:
        choose_parts(book(), wanted, layer, medium)
    (reason,) = caught.value.reasons
    assert reason.code == "no-parts"
    return reason.text


NDR = ("ndr-osfp", 2)


def test_five_ndr200_links_take_three_splitters_and_two_modules() -> None:
    # Halves of a cage: 2 + 2 links in the first, 1 in the second. A half-used splitter is bought whole.
    wanted = LinkClass(
        "server-leaf",
        200,
        end("leaf", "ndr-osfp", 4, DeviceLoad(1, 5)),
        end("server", "nic-osfp-400", 1, DeviceLoad(5, 1)),
    )
    parts = choose_parts(book(), wanted, "infiniband", "multimode")
    assert (parts.cables, parts.modules_a, parts.modules_b) == (3, 2, 5)


def test_a_cage_of_unknown_kind_leaves_the_parts_unknown() -> None:
    wanted = LinkClass("server-leaf", 400, end("leaf", None, 1), end("server", "nic-osfp-400", 1))
    parts = choose_parts(book(), wanted, "infiniband", "optical")
    assert parts == LinkParts(wanted, None)


@pytest.mark.parametrize("medium", ["optical", "copper"])
def test_hosts_are_never_joined_by_cables_that_bind_two_cages(medium: MediumChoice) -> None:
    # Optics notes, trap 6: twin-to-twin copper binds both links to the same two devices: wrong for DGX rails.
    wanted = link(NDR, ("ndr-osfp", 2), 400, kind="server-leaf", pair_links=2)
    if medium == "copper":
        assert "possible: multimode, single mode" in refusal(wanted, "infiniband", medium)
    else:
        assert not _chosen(wanted, "infiniband", medium).same_peer


@pytest.mark.parametrize(("pair_links", "possible"), [(1, False), (2, True), (3, False), (4, True)])
def test_twin_copper_needs_pairs_of_links_between_the_same_switches(pair_links: int, possible: bool) -> None:
    wanted = link(NDR, NDR, 400, kind="leaf-spine", pair_links=pair_links)
    if not possible:
        assert "no copper parts join" in refusal(wanted, "infiniband", "copper")
        return
    parts = choose_parts(book(), wanted, "infiniband", "copper")
    # 8 links, two on a cable; the cable brings its own heads.
    assert (parts.cables, parts.modules_a, parts.modules_b) == (4, 0, 0)
    assert parts.module_a is None
    assert parts.module_b is None


def test_copper_is_chosen_where_the_spec_says_copper_and_only_there() -> None:
    text = (
        "servers: 32\nserver: nvidia-hgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700, medium: MEDIUM}\n"
    )
    for medium, wanted in (
        ("copper", {"server-leaf": True, "leaf-spine": True}),
        ("{server_leaf: copper}", {"server-leaf": True, "leaf-spine": False}),
        ("{leaf_spine: copper}", {"server-leaf": False, "leaf-spine": True}),
        ("optical", {"server-leaf": False, "leaf-spine": False}),
    ):
        (design,) = plan(text.replace("MEDIUM", medium)).designs
        copper = {row.kind: row.medium in ("passive_copper", "active_copper") for row in design.networks.compute.links}
        assert copper == wanted


def test_passive_copper_reaches_three_metres_and_active_five_at_400g() -> None:
    # Pain 29 and the decision table of the optics notes: NDR copper ends at 2 m (switches), 3 m (NICs), 5 m (active).
    for recipe in catalog().recipes.values():
        if recipe.gbps >= 400 and recipe.medium in ("passive_copper", "active_copper"):
            assert recipe.max_length_m is not None
            assert recipe.max_length_m <= (3 if recipe.medium == "passive_copper" else 5)


def test_ndr_to_hdr_is_refused_with_the_cable_that_would_join_them() -> None:
    # Pain 27: optics with 100G lanes do not talk to those with 50G lanes; only the MFA7U10 splitter joins them.
    text = refusal(link(("ndr-osfp", 4), ("nic-qsfp56", 1), 200), "infiniband", "optical")
    assert text.startswith("server-leaf links of 200 Gb/s: no optical parts join ndr-osfp cages (leaf) and nic-qsfp56")
    assert "nvidia-mfa7u10" in text


def test_lane_rates_keep_sr8_and_copper_from_a_qsfp112_nic() -> None:
    # Trap 9: 400G QSFP-DD copper or SR8 (8 x 50G) never reaches a QSFP112 NIC (4 x 100G); DR4 bridges.
    wanted = link(("eth-qsfpdd", 1), ("nic-qsfp112", 1), 400)
    for medium in ("multimode", "copper"):
        text = refusal(wanted, "ethernet", medium)  # type: ignore[arg-type]
        assert text == (
            f"server-leaf links of 400 Gb/s: no {medium} parts join eth-qsfpdd cages (leaf) and nic-qsfp112 cages "
            "(server) over ethernet; possible: single mode"
        )
    assert _chosen(wanted, "ethernet", "optical").medium == "single_mode"


def test_cages_without_any_known_pair_say_so() -> None:
    text = refusal(link(("xdr-osfp", 2), ("nic-osfp-400", 1), 400), "infiniband", "optical")
    assert text.endswith("form, lanes and lane rate of the two cages do not meet in any known pair")


def test_xdr_modules_do_not_speak_ndr() -> None:
    # Trap 10.
    for medium in ("optical", "copper"):
        refusal(link(("xdr-osfp", 2), ("ndr-osfp", 2), 400, kind="leaf-spine"), "infiniband", medium)  # type: ignore[arg-type]


def test_retired_recipes_are_never_chosen_and_never_named_as_possible() -> None:
    # Decision table: the HDR200 copper cable is retired; what is left between switches is AOC and FR4.
    text = refusal(link(("hdr-qsfp56", 1), ("hdr-qsfp56", 1), 200, kind="leaf-spine"), "infiniband", "copper")
    assert text.endswith("possible: aoc, single mode")


def _chosen(wanted: LinkClass, layer: LinkLayer, medium: MediumChoice) -> Recipe:
    recipe = choose_parts(book(), wanted, layer, medium).recipe
    assert recipe is not None
    return recipe


def _ends(layer: LinkLayer) -> set[tuple[str, int, int]]:
    """(cage class, ports a cage, Gb/s) of every end that a recipe of the layer names."""
    return {
        (cage, e.links_per_cage, r.gbps)
        for r in catalog().recipes.values()
        if r.link_layer == layer
        for e in (r.end_a, r.end_b)
        for cage in e.cage_classes
    }


def every_choice() -> list[tuple[LinkClass, LinkParts]]:
    """What is chosen for every pair of known cages, kind of link and medium that can be joined at all."""
    found = []
    for layer in get_args(LinkLayer):
        ends = _ends(layer)
        for (a, n, gbps), (b, m, other) in product(ends, ends):
            if gbps != other:
                continue
            for kind in ("server-leaf", "leaf-spine"):
                wanted = link((a, n), (b, m), gbps, kind=kind, pair_links=2)  # type: ignore[arg-type]
                for medium in get_args(MediumChoice):
                    try:
                        found.append((wanted, choose_parts(book(), wanted, layer, medium)))
                    except Unbuildable:
                        continue
    return found


def test_every_choice_fits_its_cages() -> None:
    # Pains 24 and 25, traps 4, 5 and 9: form and heat sink at each end, one kind of fibre, one rate of the lines.
    choices = every_choice()
    assert len(choices) > 100
    for wanted, parts in choices:
        recipe, cable = parts.recipe, parts.cable
        assert recipe is not None
        assert cable is not None
        assert recipe.status not in ("retired", "prototype")
        modules = []
        for e, offer in ((wanted.a, parts.module_a), (wanted.b, parts.module_b)):
            if offer is None:
                continue
            cage, module = catalog().cage_classes[e.cage_class or ""], offer.entry
            assert module.form in cage.takes  # type: ignore[union-attr]
            if cage.form == "OSFP":
                assert module.heat_sink == cage.heat_sink  # type: ignore[union-attr]
            assert module.fiber.kind == recipe.medium  # type: ignore[union-attr]
            modules.append(module)
        assert len({m.line_gbps for m in modules}) <= 1  # type: ignore[union-attr]
        if cable.entry.kind == "fiber":  # type: ignore[union-attr]
            assert recipe.medium in ("multimode", "single_mode")


def test_finned_in_the_air_cooled_switch_and_flat_in_the_nic() -> None:
    # Pain 24: the 400G OSFP NIC and the DGX cage take flat tops, Quantum-2 and Spectrum-4 switches finned ones.
    for layer, switch in (("infiniband", "ndr-osfp"), ("ethernet", "spectrum4-osfp")):
        for host, per_cage in (("nic-osfp-400", 1), ("dgx-osfp-800", 2)):
            parts = choose_parts(book(), link((switch, 2), (host, per_cage), 400), layer, "optical")  # type: ignore[arg-type]
            assert parts.module_a is not None
            assert parts.module_b is not None
            assert parts.module_a.entry.heat_sink == "finned"  # type: ignore[union-attr]
            assert parts.module_b.entry.heat_sink == "flat"  # type: ignore[union-attr]


def test_the_cheapest_fully_priced_recipe_stands() -> None:
    # Both media are stated pairs; the dear one is taken only where the spec names it.
    wanted = link(NDR, NDR, 400, kind="leaf-spine")
    prices = {"fs-mma4z00-ns": 10, "fs-mtp12-om4-trunk": 1, "fs-mms4x00-ns": 1000, "qsfptek-mms4x00-ns": 1000}
    cheap = PartsBook.of(with_prices(prices), "compatible")
    assert choose_parts(cheap, wanted, "infiniband", "optical").recipe.medium == "multimode"  # type: ignore[union-attr]
    named = choose_parts(cheap, wanted, "infiniband", "single_mode")
    assert named.recipe.medium == "single_mode"  # type: ignore[union-attr]
    # 8 links in 4 cages at either end: 4 + 4 modules and 8 fibres.
    parts = choose_parts(cheap, wanted, "infiniband", "multimode")
    assert link_usd(parts) == (Decimal(4 * 10 + 4 * 10 + 8 * 1), True)


def test_a_link_without_all_prices_is_a_lower_bound() -> None:
    parts = choose_parts(
        PartsBook.of(catalog(), "vendor"), link(NDR, NDR, 400, kind="leaf-spine"), "infiniband", "optical"
    )
    assert link_usd(parts) == (Decimal(0), False)


def test_links_in_a_shared_cage_use_its_module() -> None:
    # Pain 23: the halves of a twin module carry one kind of fibre, so a link beside a server's takes the same module.
    near = end("leaf", "ndr-osfp", 2, DeviceLoad(2, 1, 31))
    wanted = LinkClass("attached", 400, near, end("attached", "nic-osfp-400", 1, DeviceLoad(2, 1)))
    server = LinkParts(wanted, None, near_module="nvidia-mms4x00-ns")
    beside = choose_parts(book(), wanted, "infiniband", "optical", server)
    assert beside.near_module == "nvidia-mms4x00-ns"
    assert beside.modules_a == 0
    with pytest.raises(Unbuildable, match="with what is in the switch cages that they share"):
        choose_parts(book(), wanted, "infiniband", "multimode", server)


def test_a_cage_that_holds_the_head_of_a_cable_is_not_shared() -> None:
    # 31 servers on copper splitters leave half a head free: no module fits beside it, so the link is refused, not
    # counted without a switch module.
    near = end("leaf", "ndr-osfp", 2, DeviceLoad(2, 1, 31))
    wanted = LinkClass("reserved", 400, near, end("reserved", "nic-osfp-400", 1, DeviceLoad(2, 1)))
    with pytest.raises(Unbuildable, match="with what is in the switch cages that they share"):
        choose_parts(book(), wanted, "infiniband", "optical", LinkParts(wanted, None, near_module=None))


def test_links_on_a_cage_boundary_share_nothing() -> None:
    # 30 links end with the fifteenth twin cage: the next link lights a cage of its own, with any module.
    near = end("leaf", "ndr-osfp", 2, DeviceLoad(2, 1, 30))
    wanted = LinkClass("attached", 400, near, end("attached", "nic-osfp-400", 1, DeviceLoad(2, 1)))
    own = choose_parts(
        book(), wanted, "infiniband", "multimode", LinkParts(wanted, None, near_module="nvidia-mms4x00-ns")
    )
    assert (own.modules_a, own.modules_b) == (2, 2)
