"""The JSON output is a contract: keys, order, rounding, bytes."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ibplan.document import parse_document
from ibplan.report.data import plan_data, significant, to_json, to_yaml
from tests.report import samples

# Written by hand from the design document, section 6, with the fields that results.py has besides.
PLAN = (
    "schema_version name effective_spec defaults inputs recommended designs rejected shortfall nearest findings growth "
    "pareto marginal"
)
DESIGN = (
    "id rank pinned why fabric totals site networks left_out line_items site_items licences price_spread "
    "energy tco sensitivity scorecard performance fits alternatives"
)
TOTALS = (
    "gpus servers switches links cables modules capex_usd complete estimated_fraction unpriced capex_per_gpu_usd "
    "capex_by_category_usd capex_by_tier_usd capex_by_network_usd power_w power_typical_w power_known_w racks "
    "site_usd site_complete server_usd server_price_kind cluster_usd cluster_complete"
)
NETWORK = (
    "fabric tiers planes rail_optimized rail_only second_tier partial_units leaf_ports single_tier unit pod "
    "oversubscription switches counts minimum links bandwidth latency_us"
)
ITEM = (
    "network tier category part part_number quantity unit_price_usd price_kind price_date extended_usd where "
    "manufacturer description price_source power_each_w power_typical_each_w power_in_host basis "
    "list_price_usd discount_percent low_price_usd high_price_usd length_m"
)
COUNTS = "endpoints leaf spine core switches links cages modules_switch modules_server cables"
KEYS = {
    (): PLAN,
    ("inputs",): "catalog_digest price_book measures locked server_price side_defaults",
    ("inputs", "measures", 0): "name value basis key note source",
    ("inputs", "price_book"): "name date",
    ("designs", 0): DESIGN,
    ("designs", 0, "totals"): TOTALS,
    ("designs", 0, "site"): "racks servers_per_rack rows row_places floor_m2 pdus server_rack_w",
    ("designs", 0, "site", "racks"): "server network",
    ("designs", 0, "networks"): "compute storage inband oob",
    ("designs", 0, "networks", "compute"): NETWORK,
    ("designs", 0, "networks", "compute", "unit"): "servers leaves count",
    ("designs", 0, "networks", "compute", "pod"): "units spines count",
    ("designs", 0, "networks", "compute", "oversubscription"): "leaf spine",
    ("designs", 0, "networks", "compute", "oversubscription", "leaf"): (
        "asked built downlinks down_gbps uplinks up_gbps"
    ),
    ("designs", 0, "networks", "compute", "switches", 0): "tier switch count ports_used ports_free",
    ("designs", 0, "networks", "compute", "counts"): COUNTS,
    ("designs", 0, "networks", "compute", "minimum"): "spine core",
    ("designs", 0, "networks", "compute", "links", 0): "kind count gbps cables medium recipe reach_m host longest_m",
    ("designs", 0, "networks", "compute", "bandwidth"): (
        "injection_gbps bisection_gbps nic_gbps_per_gpu per_gpu_gbps cross_rail leaf_groups pod_groups"
    ),
    ("designs", 0, "networks", "compute", "bandwidth", "leaf_groups", 0): "count endpoint_gbps uplink_gbps",
    ("designs", 0, "networks", "compute", "latency_us"): (
        "same_leaf cross_leaf cross_pod extrapolated host_us hop_us switches"
    ),
    ("designs", 0, "networks", "compute", "latency_us", "switches"): "same_leaf cross_leaf cross_pod",
    ("designs", 0, "line_items", 0): ITEM,
    ("designs", 0, "licences", 0): ("licence network part description per need quantity unit_price_usd bought source"),
    ("designs", 0, "price_spread"): "list_usd low_usd high_usd rank_at_low rank_at_high",
    ("designs", 0, "energy"): (
        "network_mean_w network_basis servers_w it_w facility_w swing_fraction swing_w network_per_year_kwh "
        "network_per_year_usd cluster_per_year_kwh cluster_per_year_usd"
    ),
    ("designs", 0, "tco"): "years energy_usd support_usd total_usd complete low_usd high_usd",
    ("designs", 0, "sensitivity", 0): "input unit low base high unknown total_low_usd total_high_usd kind source",
    ("designs", 0, "scorecard"): "loss switch_ports_to_tune nic_ports_to_tune balancing reduction makers tasks",
    ("designs", 0, "scorecard", "loss"): "available name text source",
    ("designs", 0, "scorecard", "tasks", 0): "task quantity counted optional text source",
    ("designs", 0, "performance"): "load_balancing allreduce training inference rules job_mix not_modelled",
    ("designs", 0, "fits"): "network_budget cluster_budget power facility_power growth memory latency",
    ("designs", 0, "alternatives", 0): "id switch capex_usd complete",
    ("pareto",): "axes designs not_compared",
    ("marginal", 0): (
        "design against axis verdict value against_value costs extra_usd extra_purchase_usd years gpus saved_fraction "
        "saved_gpu_hours break_even_usd usd_per_gbps text"
    ),
    ("findings", 0): "severity code message design pointer",
}


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


@pytest.mark.parametrize("path", KEYS, ids=lambda path: "/".join(map(str, path)) or "plan")
def test_keys_stand_in_the_documented_order(path: tuple[str | int, ...]) -> None:
    assert list(_at(samples.data(samples.BOTH), path)) == KEYS[path].split()


def test_the_lists_of_a_plan_that_nothing_fits() -> None:
    data = plan_data(samples.over_budget())
    assert data["recommended"] is None
    assert list(data["shortfall"][0]) == ["limit", "asked", "best", "design"]
    assert list(data["nearest"][0]) == ["change", "value", "design", "capex_usd"]
    rejected = plan_data(samples.unbuildable())["rejected"]
    assert list(rejected[0]) == ["id", "reasons"]
    assert list(rejected[0]["reasons"][0]) == ["code", "text", "need", "have"]
    unpriced = next(d for d in samples.data(samples.UNPRICED)["designs"] if d["rank"] is None)
    assert list(unpriced["totals"]["unpriced"][0]) == ["part", "quantity"]


def test_a_shortfall_of_money_keeps_its_cents() -> None:
    data = plan_data(samples.over_budget())
    cheapest = min(d["totals"]["capex_usd"] for d in data["designs"])
    assert data["shortfall"][0]["best"] == cheapest


def _numbers(value: Any, name: str = "") -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in _numbers(item, key)]
    if isinstance(value, list):
        return [pair for item in value for pair in _numbers(item, name)]
    return [(name, value)] if isinstance(value, float) else []


@pytest.mark.parametrize("name", samples.ALL)
def test_money_has_two_places_and_other_numbers_six_digits(name: str) -> None:
    for design in samples.data(name)["designs"]:
        sums = ("capex_by_category_usd", "capex_by_tier_usd", "capex_by_network_usd")
        money = {key for name in sums for key in design["totals"][name]}
        for key, number in _numbers(design):
            assert math.isfinite(number)
            if key.endswith("_usd") or key in money:
                assert number == round(number, 2)
            else:
                assert number == significant(number)


def test_counts_are_whole_and_not_rounded() -> None:
    compute = samples.data(samples.THREE_TIERS)["designs"][0]["networks"]["compute"]
    assert all(isinstance(value, int) for value in compute["counts"].values())
    assert isinstance(compute["bandwidth"]["injection_gbps"], int)


def test_what_is_not_finite_never_gets_out() -> None:
    with pytest.raises(ValueError, match="nan"):
        significant(math.nan)
    with pytest.raises(ValueError, match="Out of range"):
        to_json({"figure": math.inf})


def test_money_is_rounded_from_its_exact_value() -> None:
    good = samples.plan(samples.BOTH)
    totals = replace(good.designs[0].totals, capex_usd=Decimal("1234567890.125"))
    data = plan_data(replace(good, designs=(replace(good.designs[0], totals=totals),)))
    assert data["designs"][0]["totals"]["capex_usd"] == 1234567890.12


def test_json_and_yaml_say_the_same() -> None:
    data = samples.data(samples.BOTH)
    text = to_json(data)
    assert text.endswith("}\n")
    assert json.loads(text) == data
    written = json.loads(json.dumps(parse_document(to_yaml(data), "plan.yaml").data, default=float))
    assert written == data


def test_the_spec_is_given_back_as_it_was_written() -> None:
    data = samples.data(samples.BOTH)
    assert data["effective_spec"]["budget"]["network"] == "$6000000"
    assert data["effective_spec"]["site"]["pue"] == 1.3


def test_the_same_input_gives_the_same_bytes_in_any_process() -> None:
    script = (
        "import sys; from tests.report import samples; from ibplan.report.data import to_json; "
        "sys.stdout.write(to_json(samples.data(samples.ATTACHED)))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": "1", "PYTHONUTF8": "1"},
        cwd=samples.SPECS.parent,
        capture_output=True,
        check=True,
    ).stdout
    assert other == to_json(samples.data(samples.ATTACHED)).encode()
