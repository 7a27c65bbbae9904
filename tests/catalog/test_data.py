"""The packaged data against published numbers. Each number names the document it was read in."""

from __future__ import annotations

import re

import pytest

from ibplan.catalog.entries import Module, Sourced
from ibplan.catalog.store import Catalog

# NVIDIA QM97x0 manual: 32 OSFP cages, 64 ports of 400G, 128 of 200G. NVIDIA XDR switch manual: 72 cages, 144 ports.
# NVIDIA Ethernet switching page and SN5000 manual, 2026-09-23: ports by speed. Cumulus Linux 5.11, switch port
# attributes: which breakouts cost the neighbor. MLNX-OS manual 3.11: 80 HDR100 ports on the QM8700.
PUBLISHED = [
    ("nvidia-sb7800", 36, {100: 36}),
    ("nvidia-qm8700", 40, {200: 40, 100: 80}),
    ("nvidia-qm9700", 32, {400: 64, 200: 128}),
    ("nvidia-qm9790", 32, {400: 64, 200: 128}),
    ("nvidia-q3400-ra", 72, {800: 144}),
    ("nvidia-q3401-rd", 72, {800: 144}),
    ("nvidia-sn2010", 22, {100: 4, 25: 34}),
    ("nvidia-sn2100", 16, {100: 16, 25: 64}),
    ("nvidia-sn2410", 56, {100: 8, 25: 64}),
    ("nvidia-sn2700", 32, {100: 32, 25: 64}),
    ("nvidia-sn2201", 52, {100: 4, 50: 8, 25: 16, 1: 48}),
    ("nvidia-sn3420", 60, {100: 12, 25: 96}),
    ("nvidia-sn3700", 32, {200: 32, 100: 64, 50: 128}),
    ("nvidia-sn3700c", 32, {100: 32, 50: 64, 25: 128}),
    ("nvidia-sn4600", 64, {200: 64, 100: 128}),
    ("nvidia-sn4600c", 64, {100: 64, 50: 128, 25: 128}),
    ("nvidia-sn4700", 32, {400: 32, 200: 64, 100: 128, 50: 128}),
    ("nvidia-sn5400", 64, {400: 64, 200: 128, 100: 256}),
    ("nvidia-sn5600", 64, {800: 64, 400: 128, 200: 256, 100: 256}),
    ("nvidia-sn5610", 64, {800: 64, 400: 128, 200: 256, 100: 256}),
    ("nvidia-sn6600", 64, {800: 128, 400: 256, 200: 512}),
    ("arista-7060x6-64pe", 64, {800: 64, 400: 128, 200: 256, 100: 512}),  # SONiC HWSKU C512S2
    ("edgecore-ais800-64o", 64, {800: 64, 400: 128, 200: 256, 100: 320}),  # ipinfusion.com: 320 logical ports
    ("fs-n9600-64od", 64, {800: 64, 400: 128, 200: 256, 100: 256}),
]


@pytest.mark.parametrize(("name", "cages", "ports"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_cages_and_ports(catalog: Catalog, name: str, cages: int, ports: dict[int, int]) -> None:
    switch = catalog.switches[name]
    assert sum(group.count for group in switch.cages) == cages
    assert {gbps: switch.radix(gbps) for gbps in ports} == ports


def test_a_split_spectrum4_cage_costs_its_neighbor(catalog: Catalog) -> None:
    # Cumulus Linux 5.11: 32 cages run as 8x, the adjacent one is disabled; 4x costs none. Both give 256 ports of 100G.
    (cages,) = catalog.switches["nvidia-sn5600"].cages
    by_ports = {b.ports: b for b in cages.breakouts if b.gbps == 100}
    assert {n: (b.cages_lost, cages.ports_with(b)) for n, b in by_ports.items()} == {4: (0, 256), 8: (1, 256)}


def test_ds5000_has_only_tested_breakouts(catalog: Catalog) -> None:
    # githedgehog/fabric PR 1100 and switch profile: no whole cage at 200G. OCP design: 4x200G on odd cages only.
    (cages,) = catalog.switches["celestica-ds5000"].cages
    modes = {(b.ports, b.gbps) for b in cages.breakouts}
    assert {(1, 800), (2, 400), (4, 200)} <= modes
    assert (1, 200) not in modes
    assert catalog.switches["celestica-ds5000"].radix(200) == 32 * 4


@pytest.mark.parametrize("name", ["nvidia-qm9700", "nvidia-qm9790"])
def test_ndr_cages_never_run_whole(catalog: Catalog, name: str) -> None:
    assert catalog.switches[name].radix(800) == 0
    assert catalog.switches[name].uplink_gbps == 400


def test_xdr_cages_are_not_split_further_than_was_read(catalog: Catalog) -> None:
    (cages,) = catalog.switches["nvidia-q3400-ra"].cages
    assert [(b.ports, b.gbps) for b in cages.breakouts] == [(2, 800)]


def test_the_halves_of_a_q3200_are_two_switches(catalog: Catalog) -> None:
    # NVIDIA XDR manual: 2 x 18 OSFP, 2 x 28.8 Tb/s in one 2U box.
    half = catalog.switches["nvidia-q3200-ra"]
    assert (half.radix(800), half.capacity_gbps) == (36, 28_800)
    assert half.switches_in_box == 2
    assert half.planning_gaps()


def test_sums_in_the_network_are_stated_for_infiniband_only(catalog: Catalog) -> None:
    # NVIDIA SHARP Rev 3.13.0, general information: Quantum and later sum streams; Rev 3.0.0 also lists Switch-IB 2.
    stated = {i: s.in_network_reduction for i, s in catalog.switches.items() if s.in_network_reduction}
    assert {i for i, kind in stated.items() if kind == "low_latency"} == {"nvidia-sb7800"}
    infiniband = {i for i, s in catalog.switches.items() if "infiniband" in s.link_layers}
    assert set(stated) == infiniband


def test_packet_spray_is_stated_where_a_source_does(catalog: Catalog) -> None:
    # NVIDIA NVUE reference: adaptive routing on Spectrum-4, on earlier Spectrum as a beta for evaluation only.
    stated = {i: s.load_balancing for i, s in catalog.switches.items() if s.load_balancing}
    spectrum_4 = {i for i, s in catalog.switches.items() if s.generation == "Spectrum-4"}
    assert stated == dict.fromkeys(spectrum_4, "spray")


# NVIDIA DGX H100, B200 and B300 user guides; DGX A100 launch documents.
DGX = [
    ("nvidia-dgx-a100", "infiniband", 8, 8, 200, 6500),
    ("nvidia-dgx-h100", "infiniband", 4, 8, 400, 10200),
    ("nvidia-dgx-h200", "ethernet", 4, 8, 400, 10200),
    ("nvidia-dgx-b200", "infiniband", 4, 8, 400, 14300),
    ("nvidia-dgx-b300", "infiniband", 8, 8, 800, 14500),
    ("nvidia-dgx-b300", "ethernet", 8, 16, 400, 14500),
]


@pytest.mark.parametrize(("name", "layer", "cages", "links", "gbps", "watts"), DGX)
def test_compute_ports_of_a_dgx(
    catalog: Catalog, name: str, layer: str, cages: int, links: int, gbps: int, watts: int
) -> None:
    server = catalog.servers[name]
    assert server.compute is not None
    mode = server.compute.mode(layer)  # type: ignore[arg-type]
    assert mode is not None
    assert (server.compute.cages, server.compute.cages * mode.ports, mode.gbps) == (cages, links, gbps)
    assert (server.gpus, server.compute_nics, server.power.max_w) == (8, 8, watts)


@pytest.mark.parametrize(
    ("name", "rack_units", "rack_w"),
    [("nvidia-gb200-nvl72-tray", 1, 120_000), ("nvidia-gb300-nvl72-tray", None, 132_000)],
)
def test_a_tray_is_the_server_and_the_rack_how_it_is_sold(
    catalog: Catalog, name: str, rack_units: int | None, rack_w: int
) -> None:
    # NVIDIA DGX GB200 user guide: 18 compute trays of one rack unit and 4 GPUs, one NVLink domain of 72.
    tray = catalog.servers[name]
    assert tray.sold_as is not None
    assert (tray.gpus, tray.nvlink_domain_gpus, tray.sold_as.servers) == (4, 72, 18)
    assert (tray.rack_units, tray.power.max_w, tray.sold_as.power_w) == (rack_units, None, rack_w)


def test_gpu_peaks_are_dense(catalog: Catalog) -> None:
    # NVIDIA H100 SXM: 989 TFLOPS in BF16 and 1979 in FP8 without sparsity; pages that print twice that count sparsity.
    assert (catalog.gpus["nvidia-h100-sxm"].bf16_tflops, catalog.gpus["nvidia-h100-sxm"].fp8_tflops) == (989, 1979)
    assert (catalog.gpus["nvidia-h200-sxm"].bf16_tflops, catalog.gpus["nvidia-b200-sxm"].bf16_tflops) == (989, 2250)


def test_e810_ports_share_100g(catalog: Catalog) -> None:
    # Intel support article 000093702: 100 GbE in total for all port configurations.
    assert catalog.nics["intel-e810-cqda2"].shared_gbps == 100


def test_a_price_of_a_shop_part_never_sits_on_the_makers_part_number(catalog: Catalog) -> None:
    makers = [m for m in catalog.modules.values() if m.vendor == "NVIDIA"]
    assert makers
    assert not [m.id for m in makers if m.id in catalog.prices.rows]


def test_compatible_parts_carry_no_part_number_of_the_original(catalog: Catalog) -> None:
    parts = [*catalog.modules.values(), *catalog.cables.values()]
    known = {p.id: p.part_number for p in parts}
    for part in parts:
        if part.compatible_with is not None and part.part_number is not None:
            assert part.part_number != known[part.compatible_with], part.id


def test_finned_and_flat_are_entries_of_their_own(catalog: Catalog) -> None:
    # NVIDIA LinkX: 980-9I510-00NS00 is finned (switch), 980-9I51A-00NS00 flat (DGX).
    finned, flat = catalog.modules["nvidia-mma4z00-ns"], catalog.modules["nvidia-mma4z00-ns-flt"]
    assert (finned.heat_sink, finned.part_number) == ("finned", "980-9I510-00NS00")
    assert (flat.heat_sink, flat.part_number) == ("flat", "980-9I51A-00NS00")


def test_ndr_and_hdr_meet_only_over_the_active_optical_splitter(catalog: Catalog) -> None:
    # NVIDIA LinkX overview 2025-11-27: HDR has 50G lanes, NDR 100G; only MFA7U10 is left to join them.
    joins = {
        r.id: r.cable
        for r in catalog.recipes.values()
        if r.status == "active"
        and "ndr-osfp" in r.end_a.cage_classes
        and {"hdr-qsfp56", "nic-qsfp56"} & set(r.end_b.cage_classes)
    }
    assert joins == {"ndr-to-hdr200-aoc": "nvidia-mfa7u10"}
    assert catalog.recipes["ndr-to-hdr200-aoc"].max_length_m == 30


# NVIDIA copper overview 2025-11-27: passive straight 2 m, passive splitter 3 m, active 5 m; cabling guide 2025-10-01.
REACH = {
    "ndr400-sw-sw-dac": 2,
    "ndr400-sw-cx7osfp-dac": 3,
    "ndr400-sw-sw-lacc": 5,
    "ndr400-sw-sw-mmf": 50,
    "ndr400-sw-sw-smf100": 100,
    "ndr400-sw-sw-smf500": 500,
    "ndr400-sw-sw-fr4": 2000,
    "ndr200-1to4-osfp-smf": 50,
    "xdr800-sw-sw-smf": 500,
    "hdr200-aoc": 100,
}


@pytest.mark.parametrize(("name", "metres"), REACH.items())
def test_reach(catalog: Catalog, name: str, metres: int) -> None:
    assert catalog.recipes[name].max_length_m == metres


def test_an_800g_link_over_a_twin_module_needs_two_fibres(catalog: Catalog) -> None:
    recipe = catalog.recipes["eth800-sn5600-sw-sw-mmf"]
    assert 1 / recipe.links_per_cable == 2
    assert recipe.end_a.links_per_cage == 1


def test_a_splitter_fibre_serves_one_half_of_a_module(catalog: Catalog) -> None:
    # NVIDIA LinkX transceivers and fiber details: both halves of a module carry the same kind of fiber.
    for name in ("ndr200-1to4-osfp-mmf", "eth200-sn5600-1to4-q112-mmf"):
        recipe = catalog.recipes[name]
        assert (recipe.end_a.links_per_cage, recipe.links_per_cable) == (4, 2)
        assert catalog.cables[recipe.cable].ends_b == 2


def test_copper_that_binds_both_links_says_so(catalog: Catalog) -> None:
    # NVIDIA MCP4Y10 page: one cable joins the same two cages.
    for name in ("ndr400-sw-sw-dac", "ndr400-sw-sw-lacc", "ndr400-sw-dgx-lacc", "xdr800-sw-sw-lacc"):
        assert catalog.recipes[name].same_peer, name


def test_sr4_of_100g_never_uses_the_apc_fibre_of_400g(catalog: Catalog) -> None:
    # NVIDIA cable FAQ 2023-08-29: 40G to 200G SR4 is UPC, 400G is APC.
    fibre = catalog.cables[catalog.recipes["eth100-sr4"].cable]
    assert fibre.fiber_a is not None
    assert fibre.fiber_a.polish == "UPC"


def test_connectx8_is_one_link_in_infiniband_and_two_in_ethernet(catalog: Catalog) -> None:
    nic = catalog.nics["nvidia-connectx-8-c8180"]
    assert {(m.link_layer, m.ports, m.gbps) for m in nic.modes} == {("infiniband", 1, 800), ("ethernet", 2, 400)}


def test_inferred_recipes_say_why(catalog: Catalog) -> None:
    inferred = [r for r in catalog.recipes.values() if r.basis == "inferred"]
    assert len(inferred) >= 10
    for recipe in inferred:
        assert recipe.confidence != "high" or recipe.constraints, recipe.id
        said = " ".join(recipe.constraints)
        assert re.search("nferred|no maker states|assumed", said), recipe.id


def test_every_fibre_of_a_usable_recipe_has_at_least_an_estimate(catalog: Catalog) -> None:
    # Breakouts of one MPO to LC pairs are the exception: their only price is in euros.
    stand_ins: dict[str, list[str]] = {}
    for cable in catalog.cables.values():
        if cable.compatible_with is not None:
            stand_ins.setdefault(cable.compatible_with, []).append(cable.id)
    for recipe in catalog.recipes.values():
        cable = catalog.cables[recipe.cable]
        if recipe.status != "active" or cable.kind != "fiber" or "xlc" in cable.id:
            continue
        names = [cable.id, *stand_ins.get(cable.id, ())]
        assert any(catalog.prices.choose(name) for name in names), recipe.id


def entries(catalog: Catalog) -> list[Sourced]:
    kinds = (catalog.switches, catalog.nics, catalog.servers, catalog.modules, catalog.cables)
    return [entry for kind in kinds for entry in kind.values()]


def test_sources_are_something_that_a_stranger_can_use(catalog: Catalog) -> None:
    hidden = re.compile(r"local_|sources_index|\.sql|RAG|this folder|/work|/home|/tmp", re.IGNORECASE)
    for entry in [*entries(catalog), *catalog.recipes.values(), *catalog.gpus.values()]:
        for source in entry.sources:
            assert not hidden.search(source.replace("033-800g-standards-enrichment.sql", "")), (entry.id, source)


def test_only_primary_sources_are_trusted_highly(catalog: Catalog) -> None:
    for entry in entries(catalog):
        if entry.confidence == "high":
            assert not all(source.startswith("secondary:") for source in entry.sources), entry.id


def test_power_that_includes_modules_is_marked(catalog: Catalog) -> None:
    # NVIDIA QM97x0 manual: 747 W with passive cables, 1720 W with active ones.
    power = catalog.switches["nvidia-qm9700"].power
    assert (power.typical_w, power.max_w, power.max_includes_modules) == (747, 1720, True)
    # AMD and DriveNets reference architecture, table 5: 1684 W without modules.
    assert catalog.switches["drivenets-2500s"].power.max_includes_modules is False


def test_modules_fit_the_power_budget_of_their_cages(catalog: Catalog) -> None:
    # NVIDIA QM97x0 manual: 17 W a cage. SN5000 manual: 18 W a cage of the SN5600.
    def hungriest(cage_class: str) -> float:
        used: list[Module] = []
        for recipe in catalog.recipes.values():
            for end in (recipe.end_a, recipe.end_b):
                if end.module is not None and cage_class in end.cage_classes:
                    used.append(catalog.modules[end.module])
        return max(m.power.max_w or 0 for m in used)

    assert hungriest("ndr-osfp") <= 17
    assert hungriest("spectrum4-osfp") <= 18
