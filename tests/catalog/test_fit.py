"""Parts that do not fit are refused, and the sentence says why."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ibplan.catalog.entries import Recipe
from ibplan.catalog.fit import misfits, unlike
from ibplan.catalog.store import Catalog

NDR_NIC = "ndr400-sw-cx7osfp-mmf"


def why(catalog: Catalog, name: str, **changes: Any) -> list[str]:
    """The misfits of a recipe with parts of it changed: `cable=...`, `end_a={"module": ...}`."""
    base = catalog.recipes[name]
    update: dict[str, Any] = {
        key: getattr(base, key).model_copy(update=value) if key in ("end_a", "end_b") else value
        for key, value in changes.items()
    }
    recipe = Recipe.model_validate(base.model_copy(update=update).model_dump())
    return misfits(recipe, catalog.modules, catalog.cables, catalog.cage_classes)


def test_every_packaged_recipe_fits(catalog: Catalog) -> None:
    for name in catalog.recipes:
        assert why(catalog, name) == [], name


def test_finned_module_in_a_flat_cage(catalog: Catalog) -> None:
    # NVIDIA connectors and cages, 2024-08-20; ascentoptics.com: weeks lost to finned parts for flat cages.
    found = why(catalog, "ndr400-sw-dgx-mmf", end_b={"module": "nvidia-mma4z00-ns"})
    assert found == ["nvidia-mma4z00-ns is finned, but a dgx-osfp-800 cage takes flat modules"]


def test_flat_module_in_an_air_cooled_switch(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", end_a={"module": "nvidia-mma4z00-ns-flt"})
    assert found == ["nvidia-mma4z00-ns-flt is flat, but a ndr-osfp cage takes finned modules"]


def test_single_port_module_never_serves_two_links(catalog: Catalog) -> None:
    found = why(catalog, NDR_NIC, end_a={"module": "nvidia-mma4z00-ns400"})
    assert "nvidia-mma4z00-ns400 is flat, but a ndr-osfp cage takes finned modules" in found
    assert "8 lanes at end_a, but nvidia-mma4z00-ns400 has 4" in found


def test_qsfp112_module_in_an_osfp_cage(catalog: Catalog) -> None:
    found = why(catalog, NDR_NIC, end_b={"module": "nvidia-mma1z00-ns400"})
    assert found == ["nvidia-mma1z00-ns400 is QSFP112, but a nic-osfp-400 cage takes OSFP"]


def test_single_mode_module_on_a_multimode_plant(catalog: Catalog) -> None:
    # Network-Automation PR 159: 208 PSM4 modules ordered for OM4 trunks.
    found = why(
        catalog,
        "ndr400-sw-sw-mmf",
        end_a={"module": "nvidia-mms4x00-ns"},
        end_b={"module": "nvidia-mms4x00-ns"},
    )
    assert "nvidia-mms4x00-ns is single_mode, but the medium is multimode" in found
    assert "nvidia-mms4x00-ns and nvidia-mfp7e10 do not mate: single_mode against multimode" in found


def test_one_end_multimode_the_other_single_mode(catalog: Catalog) -> None:
    assert why(catalog, NDR_NIC, end_b={"module": "nvidia-mms4x00-ns400"}) == [
        "nvidia-mms4x00-ns400 is single_mode, but the medium is multimode",
        "nvidia-mms4x00-ns400 and nvidia-mfp7e10 do not mate: single_mode against multimode",
    ]


def test_upc_fibre_on_apc_modules(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", cable="generic-mpo12-upc-om4")
    assert found == ["nvidia-mma4z00-ns and generic-mpo12-upc-om4 do not mate: APC polish against UPC"]


def test_mpo16_fibre_on_mpo12_modules(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", cable="generic-mpo16-apc-om4")
    assert found == ["nvidia-mma4z00-ns and generic-mpo16-apc-om4 do not mate: MPO-12 against MPO-16"]


def test_hdr_and_ndr_optics_do_not_talk(catalog: Catalog) -> None:
    # NVIDIA LinkX 100G-PAM4 overview: HDR modules have lanes of 50G.
    found = why(catalog, "hdr200-sr4", end_b={"cage_classes": ("nic-qsfp112",), "module": "nvidia-mma1z00-ns400"})
    assert "nvidia-mma1z00-ns400 has lanes of 100 Gb/s, but end_b says 50" in found
    assert any("they cannot talk" in sentence for sentence in found)


def test_lanes_of_50g_on_optics_of_an_ndr_switch(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", end_a={"lane_gbps": 50}, gbps=200)
    assert "nvidia-mma4z00-ns has lanes of 50 Gb/s, but a ndr-osfp cage has 100" in found


def test_xdr_module_in_an_ndr_cage(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-smf500", end_b={"module": "nvidia-mms4a00"})
    assert "nvidia-mms4a00 has lanes of 200 Gb/s, but end_b says 100" in found


def test_ethernet_module_in_an_infiniband_recipe(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", end_a={"module": "nvidia-mma4z00-ns-t"})
    assert found == ["nvidia-mma4z00-ns-t is not for infiniband"]


def test_8x50_copper_never_reaches_a_4x100_nic(catalog: Catalog) -> None:
    found = why(catalog, "eth400-qsfpdd-dac", end_b={"cage_classes": ("nic-qsfp112",)})
    assert found == ["generic-qsfpdd-dac is QSFP-DD, but a nic-qsfp112 cage takes QSFP112 or QSFP28 or QSFP56"]


def test_sr8_of_50g_lanes_does_not_talk_to_sr4_of_100g(catalog: Catalog) -> None:
    found = why(
        catalog,
        "eth400-qsfpdd-sr8",
        end_b={
            "cage_classes": ("nic-qsfp112",),
            "module": "generic-400g-sr4-qsfp112",
            "lanes_per_link": 4,
            "lane_gbps": 100,
        },
    )
    assert any("50 Gb/s a fibre or wavelength" in sentence and "cannot talk" in sentence for sentence in found)


def test_passive_copper_beyond_its_kind(catalog: Catalog) -> None:
    assert why(catalog, "ndr400-sw-sw-dac", medium="active_copper") == [
        "medium is active_copper, but nvidia-mcp4y10 is dac"
    ]


def test_length_beyond_the_reach_of_a_module(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-cx7osfp-smf100", max_length_m=500.0)
    assert found == [
        "max_length_m is 500, but nvidia-mms4x00-ns reaches 100 m",
        "max_length_m is 500, but nvidia-mms4x00-ns400 reaches 100 m",
    ]


def test_three_fibres_on_a_module_with_two_connectors(catalog: Catalog) -> None:
    found = why(catalog, "eth800-sn5600-sw-sw-mmf", links_per_cable=Fraction(1, 3))
    assert "3 fibres at end_a, but nvidia-mma4z00-ns-t has 2 connectors" in found


def test_plug_cage_without_a_module(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-sw-mmf", end_b={"module": None})
    assert found == ["end_b states no module, but a ndr-osfp cage needs one for fibre"]


def test_more_links_than_the_lanes_of_a_cage(catalog: Catalog) -> None:
    found = why(catalog, "ndr400-sw-cx7osfp-dac", end_a={"links_per_cage": 4})
    assert found == ["16 lanes of 100 Gb/s at end_a, but a ndr-osfp cage has 8"]


def test_an_unknown_class_is_not_held_against_a_recipe(catalog: Catalog) -> None:
    assert why(catalog, NDR_NIC, end_b={"cage_classes": ("nic-of-the-future",)}) == []


@pytest.mark.parametrize("kind", ["modules", "cables"])
def test_every_compatible_part_is_like_its_original(catalog: Catalog, kind: str) -> None:
    parts = getattr(catalog, kind)
    compatible = [p for p in parts.values() if p.compatible_with is not None]
    assert compatible
    for part in compatible:
        assert unlike(part, parts[part.compatible_with]) == [], part.id


def test_a_flat_part_cannot_stand_in_for_a_finned_one(catalog: Catalog) -> None:
    flat, finned = catalog.modules["fs-mma4z00-ns-flt"], catalog.modules["nvidia-mma4z00-ns"]
    assert unlike(flat, finned) == ["its heat_sink is flat, not finned"]
    assert unlike(flat, catalog.cables["nvidia-mfp7e10"]) == ["one is a module, the other a cable"]
