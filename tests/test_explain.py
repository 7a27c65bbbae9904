"""Every figure can be explained: its formula, evaluated with the inputs that are printed, gives the figure."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import pytest

from ibplan.explain import FIGURES, nearest_figures
from ibplan.report.bom import bom_rows
from ibplan.report.comparison import row_names
from ibplan.report.figures import explain_data, explain_text, figure_list, find_figure
from tests.report import samples

BUILTINS = {name: __builtins__[name] for name in ("sum", "min", "max", "len", "zip")}  # type: ignore[index]


def _every() -> list[dict[str, Any]]:
    names = (*samples.ALL, samples.CONVERGED)
    return [*map(samples.data, names), samples.compute_only(samples.POD), samples.compute_only(samples.COSTS)]


def _evaluated(formula: str, inputs: dict[str, Any]) -> Any:
    names = {name: list(value.values()) if isinstance(value, dict) else value for name, value in inputs.items()}
    return eval(formula, {"__builtins__": BUILTINS, **names})


@pytest.mark.parametrize("figure_id", FIGURES)
def test_the_formula_gives_the_figure(figure_id: str) -> None:
    figure = FIGURES[figure_id]
    for data in _every():
        for design in data["designs"]:
            value = figure.value(design, data)
            if value is None and not figure_id.startswith("fits"):
                continue
            evaluated = _evaluated(figure.formula, figure.input_values(design, data))
            if value is None or isinstance(value, bool):
                assert evaluated is value
            else:
                assert math.isclose(evaluated, value, rel_tol=2e-5, abs_tol=0.005), design["id"]


def test_every_figure_is_known_in_some_sample() -> None:
    unseen = set(FIGURES)
    for data in _every():
        unseen -= {f.id for f in FIGURES.values() for d in data["designs"] if f.value(d, data) is not None}
    # No sample has limits that need servers' power, or known typical power of all parts.
    assert unseen <= {"fits_cluster_budget", "fits_power", "fits_facility_power", "power_typical_w"}


@pytest.mark.parametrize("figure_id", FIGURES)
def test_a_formula_names_its_inputs_and_nothing_else(figure_id: str) -> None:
    figure = FIGURES[figure_id]
    tree = ast.parse(figure.formula, mode="eval")
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - stored - set(BUILTINS)
    assert loaded == ({figure.id} if figure.plain else {i.name for i in figure.inputs})
    assert figure.title
    assert all(i.meaning for i in figure.inputs)


def test_the_text_prints_formula_inputs_units_and_value() -> None:
    data = samples.data(samples.BOTH)
    text = explain_text(FIGURES["per_gpu_gbps"], data)
    assert "per_gpu_gbps = nic_gbps_per_gpu * min(1, 2 * bisection_gbps / injection_gbps)" in text
    for design in data["designs"]:
        assert f"\n{design['id']}\n" in text
    assert "bisection_gbps = 204,800 Gb/s" in text
    assert text.count("per_gpu_gbps = 400 Gb/s") >= 2


def test_a_sum_prints_every_line_of_it() -> None:
    data = samples.data(samples.POD)
    text = explain_text(FIGURES["capex_usd"], data)
    for item in data["designs"][0]["line_items"]:
        assert re.search(rf"  {item['part']}( \S+ m)? \({re.escape(_place(item))}\)", text)


def test_what_is_unknown_is_not_a_number() -> None:
    data = samples.data(samples.UNPRICED)
    text = explain_text(FIGURES["power_typical_w"], data)
    assert "power_typical_w = unknown, or not there" in text


def test_data_of_an_explanation() -> None:
    explained = explain_data(FIGURES["switches"], samples.data(samples.POD))
    assert explained["formula"] == "leaf_switches + spine_switches + core_switches"
    assert explained["designs"][0]["inputs"] == {"leaf_switches": 32, "spine_switches": 16, "core_switches": 0}
    assert explained["designs"][0]["value"] == 48


def test_all_figures_are_listed() -> None:
    assert [line.split()[0] for line in figure_list().splitlines()] == list(FIGURES)


def test_the_list_has_the_names_of_the_rows() -> None:
    (line,) = [line for line in figure_list().splitlines() if line.startswith("power_known_w ")]
    assert "  Power, maximum  " in line
    assert set(row_names()) <= set(FIGURES)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("power_w", "power_w"),
        ("Power, maximum", "power_known_w"),
        ("power, maximum", "power_known_w"),
        ("- over spines", "latency_cross_leaf_us"),
        ("over spines", "latency_cross_leaf_us"),
        ("Switches", "switches"),
        ("- switches", "capex_switch_usd"),
        ("Facility power limit kept", "fits_facility_power"),
        ("power", None),
    ],
)
def test_a_figure_is_found_by_id_or_row(name: str, meant: str | None) -> None:
    found = find_figure(name)
    assert (None if found is None else found.id) == meant


def test_every_row_name_finds_its_figure() -> None:
    for figure, row in row_names().items():
        if row != "- port minimum":  # of spines and of cores
            found = find_figure(row)
            assert found is not None
            assert found.id == figure


def test_a_plain_figure_says_where_it_comes_from() -> None:
    for figure in FIGURES.values():
        assert (figure.rule is not None) == figure.plain
    text = explain_text(FIGURES["spine_switches"], samples.data(samples.POD))
    assert text.splitlines()[1].startswith("  made by sizing: pods x spines of a pod x planes")
    assert "(docs/sizing.md)" in text
    assert "power_known_w + maximum of a server" in explain_text(FIGURES["fits_power"], samples.data(samples.POD))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("capex", "capex_usd"),
        ("bisecton", "bisection_gbps"),
        ("power maximum", "power_known_w"),
        ("half the sum", "bisection_gbps"),
    ],
)
def test_a_wrong_name_finds_the_right_one(name: str, meant: str) -> None:
    assert meant in nearest_figures(name, row_names())


# Shapes that no example spec has: two joined leaves, also with slower hosts attached; several pods; a single switch.
SHAPES = (
    ("servers=4", "network.tiers=1", "network.single_tier=two_leaves"),
    (
        "servers=4",
        "network.tiers=1",
        "network.single_tier=two_leaves",
        "network.oversubscription=3:1",
        "attached=[{name: store, servers: 3, ports: 1, port_gbps: 200, cage_class: nic-osfp-400}]",
    ),
    ("servers=2048", "network.oversubscription={leaf: 4:1, spine: 2:1}"),
    ("servers=1056", "network.oversubscription={leaf: 3:1, spine: 2:1}", "network.partial_units=packed"),
    ("servers=8",),
)


@pytest.mark.parametrize("settings", SHAPES, ids=lambda settings: " ".join(settings[:3]))
@pytest.mark.parametrize(
    "figure_id",
    [
        "bisection_gbps",
        "injection_gbps",
        "leaf_ratio_built",
        "spine_ratio_built",
        "latency_cross_leaf_us",
        "latency_cross_pod_us",
    ],
)
def test_the_formula_holds_for_other_shapes(figure_id: str, settings: tuple[str, ...]) -> None:
    figure, data = FIGURES[figure_id], samples.data("h100-pod-127", "network.reserved_ports=0", *settings)
    assert data["designs"]
    for design in data["designs"]:
        value = figure.value(design, data)
        if value is not None:
            assert math.isclose(_evaluated(figure.formula, figure.input_values(design, data)), value, rel_tol=2e-5)


def test_what_no_design_has_is_unknown_in_figure_and_inputs() -> None:
    data = samples.data(samples.ETHERNET)
    design = next(d for d in data["designs"] if d["fabric"] == "ethernet")
    for name in ("latency_same_leaf_us", "spine_ratio_built"):
        assert FIGURES[name].value(design, data) is None
        assert None in FIGURES[name].input_values(design, data).values()


def _place(item: dict[str, Any]) -> str:
    return f"{item['network']} {item['tier']}: {item['where']}"


def test_lines_are_named_by_what_finds_them_in_the_bill() -> None:
    """Numbers would be those of one way to merge the lines; part, network, tier and place stand in every bill."""
    for name in (samples.POD, samples.COSTS):
        data = samples.data(name)
        (design,) = [d for d in explain_data(FIGURES["capex_usd"], data)["designs"] if d["id"] == data["recommended"]]
        plan = samples.plan(name)
        bill = bom_rows(plan, plan.design(str(plan.recommended)), "tier")
        found: dict[tuple[str, str, str], int] = {}
        for label, quantity in design["inputs"]["quantity"].items():
            parsed = re.fullmatch(r"(\S+)(?: ([\d.]+) m)? \((\S+) (\S+): .+\)(?: \(\d+\))?", label)
            assert parsed is not None, label
            key = (parsed[1], parsed[3], parsed[4])
            found[key] = found.get(key, 0) + quantity
        listed: dict[tuple[str, str, str], int] = {}
        for row in bill:
            if row["unit_price"] is not None and row["category"] not in ("rack", "PDU"):  # racks have their own figure
                key = (row["vendor_sku"], row["network"], row["tier"])
                listed[key] = listed.get(key, 0) + row["order_quantity"]
        assert found == listed
