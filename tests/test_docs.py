"""The documents say what the code does: keys, codes, names, examples, links."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ibplan.asbuilt.differences import KINDS as KINDS_OF_DIFFERENCE
from ibplan.cabling.rows import CableRow, End
from ibplan.catalog.store import Catalog, load_catalog
from ibplan.economics.items import LineItem
from ibplan.economics.licences import Licence
from ibplan.economics.price_spread import PriceSpread
from ibplan.economics.running import Energy, TotalCost
from ibplan.economics.sensitivity import Sensitivity
from ibplan.explain import FIGURES
from ibplan.findings import KINDS, Finding
from ibplan.performance.bandwidth import BandwidthGroup
from ibplan.performance.collectives import AllReduceRow
from ibplan.performance.deciding import RuleCheck
from ibplan.performance.failures import FAILURE_KINDS
from ibplan.performance.latency import PathSwitches
from ibplan.performance.load_balancing import LoadBalancing
from ibplan.performance.patterns import PATTERNS, PLACEMENTS
from ibplan.performance.rates import ROUTINGS
from ibplan.performance.serving_network import NetworkNeed, NetworkRates, Variation
from ibplan.performance.spreading import MOST_PATHS
from ibplan.plan import growth_results, job_results, results, scorecard_results, value_results
from ibplan.plan.assumed_results import ServerPrice, SideDefault
from ibplan.plan.difference import difference
from ibplan.plan.make import make_plan
from ibplan.plan.orders import order_of_plan
from ibplan.plan.place import SiteRacks, SiteResult
from ibplan.plan.simulated import simulate_design
from ibplan.plan.simulation_options import MOST_FLOWS, MOST_FLOWS_OF_ALL_RUNS, SimulationOptions
from ibplan.plan.sited import site_design
from ibplan.quote.columns import KEYS
from ibplan.quote.compare import compare_quote
from ibplan.quote.rows import Quote, QuoteRow
from ibplan.report.bom import bom_data, bom_rows
from ibplan.report.cables import COLUMNS
from ibplan.report.data import plan_data
from ibplan.report.difference import difference_data
from ibplan.report.figures import explain_data
from ibplan.report.quote import quote_data
from ibplan.report.racks_data import racks_data
from ibplan.report.simulation_data import simulation_data
from ibplan.site.rules import Measure, site_rules
from ibplan.spec.load import load_spec
from tests.golden import check_golden
from tests.report import samples

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]) if path.read_text(encoding="utf-8").strip()]

# The heading of docs/json.md under which the keys of each class stand.
HEADINGS: dict[type[Any], str] = {
    results.Plan: "plan",
    results.Inputs: "inputs",
    results.PriceBookId: "inputs.price_book",
    Measure: "inputs.measures",
    ServerPrice: "inputs.server_price",
    SideDefault: "inputs.side_defaults",
    results.Design: "design",
    results.Totals: "design.totals",
    results.Unpriced: "design.totals.unpriced",
    SiteResult: "design.site",
    SiteRacks: "design.site.racks",
    results.Networks: "design.networks",
    results.Missing: "design.left_out",
    results.NetworkResult: "network",
    results.UnitResult: "network.unit",
    results.PodResult: "network.pod",
    results.Oversubscription: "network.oversubscription",
    results.RatioPair: "network.oversubscription.leaf and .spine",
    results.SwitchRow: "network.switches",
    results.Counts: "network.counts",
    results.PortMinimum: "network.minimum",
    results.LinkRow: "network.links",
    results.Bandwidth: "network.bandwidth",
    BandwidthGroup: "network.bandwidth.leaf_groups and .pod_groups",
    results.Latency: "network.latency_us",
    PathSwitches: "network.latency_us.switches",
    LineItem: "design.line_items",
    Licence: "design.licences",
    PriceSpread: "design.price_spread",
    Energy: "design.energy",
    TotalCost: "design.tco",
    Sensitivity: "design.sensitivity",
    scorecard_results.Scorecard: "design.scorecard",
    scorecard_results.Feature: "design.scorecard.loss, .balancing and .reduction",
    scorecard_results.OperatingTask: "design.scorecard.tasks",
    job_results.Performance: "design.performance",
    LoadBalancing: "design.performance.load_balancing",
    AllReduceRow: "design.performance.allreduce",
    job_results.Training: "design.performance.training",
    job_results.StepParts: "design.performance.training.step",
    job_results.Lost: "design.performance.training.lost",
    job_results.Inference: "design.performance.inference",
    job_results.ServingPhase: "design.performance.inference.prefill and .decode",
    NetworkNeed: "design.performance.inference.network",
    NetworkRates: "design.performance.inference.network.prefill and .decode",
    Variation: "design.performance.inference.other_networks",
    RuleCheck: "design.performance.rules",
    job_results.JobMix: "design.performance.job_mix",
    job_results.NotModelled: "design.performance.not_modelled",
    results.Fits: "design.fits",
    results.Alternative: "design.alternatives",
    results.Rejected: "rejected",
    results.RejectReason: "rejected.reasons",
    results.Shortfall: "shortfall",
    results.Nearest: "nearest",
    Finding: "findings",
    value_results.Pareto: "pareto",
    value_results.MarginalValue: "marginal",
    growth_results.Growth: "growth",
    growth_results.GrowthPath: "growth.planned",
    growth_results.Stage: "growth.planned.stages",
    growth_results.StageNetwork: "growth.planned.stages.networks",
    growth_results.Purchase: "growth.planned.stages.purchases",
    growth_results.Surplus: "growth.planned.stages.surplus",
}
# Keys whose values are the user's own or keyed by data: their keys are no part of the contract.
OPEN = ("effective_spec", "not_compared", "capex_by_category_usd", "capex_by_tier_usd", "capex_by_network_usd")


@cache
def packaged() -> Catalog:
    return load_catalog()


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def sections(path: Path) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", text_of(path), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def first_column(text: str) -> list[str]:
    """The names in the first column of the section's key table."""
    table = text.split("| key | type, unit | meaning |", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `([a-z0-9_]+)` \|", table, re.MULTILINE)


def yaml_blocks(path: Path) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```", text_of(path), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("kind", HEADINGS, ids=lambda kind: kind.__name__)
def test_json_page_lists_every_key_of_a_class(kind: type[Any]) -> None:
    keys = {field.name for field in fields(kind)} | ({"extended_usd"} if kind is LineItem else set())
    listed = first_column(sections(DOCS / "json.md")[HEADINGS[kind]])
    assert set(listed) == keys
    assert len(set(listed)) == len(listed)


def test_every_class_of_results_has_a_heading() -> None:
    classes = {c for c in vars(results).values() if isinstance(c, type) and c.__module__ == results.__name__}
    assert classes <= set(HEADINGS)


def keys_of(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            if key not in OPEN:
                yield from keys_of(value)
    elif isinstance(data, list):
        for item in data:
            yield from keys_of(item)


@pytest.mark.parametrize("name", ["budget-forces-2to1", "rail-only-512", "small-team"])
def test_json_page_lists_every_key_of_a_plan(name: str) -> None:
    plan = samples.data(name, "budget=$10k")
    listed = set(re.findall(r"^\| `([a-z0-9_]+)` \|", text_of(DOCS / "json.md"), re.MULTILINE))
    assert set(keys_of(plan)) <= listed


def test_json_page_lists_every_key_of_a_bill_and_of_an_explanation() -> None:
    plan = samples.plan("three-lines")
    bill = bom_data(plan, plan.designs[0], bom_rows(plan, plan.designs[0]))
    explained = explain_data(FIGURES["capex_per_gpu_usd"], plan_data(plan))
    page = sections(DOCS / "json.md")
    assert first_column(page["bom"]) == list(bill)
    assert first_column(page["bom.rows"]) == list(bill["rows"][0])
    assert first_column(page["explain"]) == list(explained)
    assert first_column(page["explain.designs"]) == list(explained["designs"][0])


def test_json_page_lists_every_key_of_a_comparison() -> None:
    plan = samples.plan("three-lines")
    first, second = (order_of_plan(plan, plan_data(plan), "x", d.id, "--design") for d in plan.designs[:2])
    compared = difference_data(difference(first, second), unchanged=False)
    page = sections(DOCS / "json.md")
    assert first_column(page["diff"]) == list(compared)
    assert first_column(page["diff.old and .new"]) == list(compared["old"]) == list(compared["new"])
    assert first_column(page["diff.total"]) == list(compared["total"]) == list(compared["networks"][0])
    assert first_column(page["diff.parts"]) == list(compared["parts"][0])
    assert first_column(page["diff.figures"]) == list(compared["figures"][0])


def test_json_page_lists_every_key_of_a_quote() -> None:
    plan = samples.plan("three-lines")
    row = QuoteRow(2, ("MQM9700-NS2F",), "switch", 1, None, None, False)
    items = plan.designs[0].line_items
    quoted = quote_data(compare_quote(Quote("q.csv", {}, (row,), ()), items, packaged()), "d", None)
    page = sections(DOCS / "json.md")
    assert first_column(page["quote"]) == list(quoted)
    for key in ("totals", "parts", "rows"):
        data = quoted[key]
        assert first_column(page[f"quote.{key}"]) == list(data if isinstance(data, dict) else data[0])


def test_quote_page_lists_every_key_of_a_column() -> None:
    assert set(re.findall(r"^\| `([a-z]+)` \|", text_of(DOCS / "quote.md"), re.MULTILINE)) == set(KEYS)


def test_json_page_lists_every_key_of_racks() -> None:
    sited = site_design(load_spec(ROOT / "specs" / "three-lines.yaml"), packaged())
    data = racks_data(sited, sited.racks)
    page = sections(DOCS / "json.md")
    assert first_column(page["racks"]) == list(data)
    assert first_column(page["racks.racks"]) == list(data["racks"][0])
    assert first_column(page["racks.racks.devices"]) == list(data["racks"][0]["devices"][0])


def test_json_page_lists_every_key_of_a_simulation() -> None:
    loaded = load_spec(ROOT / "specs" / "one-switch.yaml")
    data = simulation_data(simulate_design(loaded, packaged(), SimulationOptions(seeds=2)))
    page = sections(DOCS / "json.md")
    assert first_column(page["simulate"]) == list(data)
    assert first_column(page["simulate.rows"]) == list(data["rows"][0])
    assert first_column(page["simulate.rows.mean and .worst"]) == list(data["rows"][0]["mean"])
    named = {name for row in terms() for name in re.findall(r"`(\w+)`", row[3])}
    assert {key for key in keys_of(data) if named.isdisjoint((key, key.removesuffix("_fraction")))} <= {"assumptions"}


def test_the_simulation_page_lists_every_pattern_routing_and_placement() -> None:
    page = text_of(DOCS / "simulate.md")
    assert [name for name in (*PATTERNS, *ROUTINGS, *PLACEMENTS, *FAILURE_KINDS) if f"`{name}" not in page] == []
    assert f"{MOST_FLOWS:,}" in page
    assert f"{MOST_FLOWS_OF_ALL_RUNS:,}" in page
    assert f"{MOST_PATHS:,}" in page


def test_json_page_lists_every_key_of_a_check_and_of_an_import() -> None:
    page = sections(DOCS / "json.md")
    for name, text in (("verify", "verify.json"), ("import", "import.json")):
        data = json.loads(text_of(ROOT / "tests" / "golden" / text))
        for heading in [heading for heading in page if heading.partition(".")[0] == name]:
            part = data
            for key in heading.split(".")[1:]:
                part = part[key][0] if isinstance(part[key], list) else part[key]
            assert first_column(page[heading]) == list(part), heading


def test_the_page_on_verify_lists_every_kind_of_difference() -> None:
    table = sections(DOCS / "verify.md")["What it finds"]
    listed = re.findall(r"`([a-z-]+)`", " ".join(re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)))
    assert sorted(listed) == sorted(KINDS_OF_DIFFERENCE)


def test_the_site_page_lists_every_measure() -> None:
    table = sections(DOCS / "site.md")["What a site is taken to be"]
    listed = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (\w+) \| (?:`([\w.]+)` )?\|$", table, re.MULTILINE)
    rules = site_rules(load_spec(ROOT / "specs" / "three-lines.yaml").spec.site)
    assert listed == [(m.name, f"{m.value:g}", m.basis, m.key or "") for m in rules.measures]


def test_json_and_cabling_pages_list_every_key_of_a_schedule() -> None:
    page, cabling = sections(DOCS / "json.md"), text_of(DOCS / "cabling.md")
    assert first_column(page["cables.cables"]) == list(CableRow._fields)
    assert first_column(page["cables.cables.a"]) == list(End._fields)
    shared = {name for name in COLUMNS if not name.startswith(("a_", "b_"))}
    assert {name for name in shared if f"`{name}`" not in cabling} == set()


def test_json_page_lists_every_reason() -> None:
    table = sections(DOCS / "json.md")["rejected.reasons"]
    written = {
        code
        for path in (ROOT / "ibplan").rglob("*.py")
        for code in re.findall(r'Reason\(\s*"([a-z-]+)"', text_of(path))
    }
    assert len(written) > 8
    assert {code for code in written if f"`{code}`" not in table} == set()


def findings_page() -> str:
    lines = [
        "# Findings\n",
        "What `findings` in a plan can say: not errors, but things to know. A code never changes, its sentence may.",
        "Names in *italics* are filled in. This page is made from `ibplan/findings.py` by `make golden`.\n",
        "| code | severity | sentence | what to do |",
        "|---|---|---|---|",
    ]
    for code, kind in sorted(KINDS.items()):
        sentence = re.sub(r"\{(\w+)[^}]*\}", lambda m: f"*{m[1].replace('_', ' ')}*", kind.text)
        lines.append(f"| `{code}` | {kind.severity} | {sentence} | {kind.remedy} |")
    return "\n".join(lines) + "\n"


def test_findings_page_is_golden() -> None:
    check_golden(DOCS / "findings.md", findings_page())


def test_findings_have_codes_of_their_own() -> None:
    codes = re.findall(r'FindingKind\(\s*"([a-z-]+)"', text_of(ROOT / "ibplan" / "findings.py"))
    assert len(codes) == len(set(codes))
    assert set(codes) == set(KINDS)


# Registered, but made nowhere: this list may only shrink.
NEVER_MADE: set[str] = set()


def test_every_finding_is_made_somewhere() -> None:
    code = "".join(text_of(path) for path in (ROOT / "ibplan" / "plan").glob("*.py"))
    assert {name for name in KINDS if f'"{name}"' not in code} <= NEVER_MADE


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=~! ]", line)[0] for line in wanted}
    listed = set(
        re.findall(r"^\| `([\w-]+)` \| \S", text_of(DOCS / "decisions" / "0001-dependencies.md"), re.MULTILINE)
    )
    assert listed == names


def test_decisions_are_indexed() -> None:
    records = {path.name for path in (DOCS / "decisions").glob("0*.md")}
    index = set(re.findall(r"\((0[\w-]+\.md)\)", text_of(DOCS / "decisions" / "README.md")))
    assert index == records


def terms() -> list[list[str]]:
    table = sections(DOCS / "nomenclature.md")["Terms"]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


def test_terms_are_alphabetical_and_unique() -> None:
    names = [row[0].lower() for row in terms()]
    assert names == sorted(set(names))


def test_every_name_of_the_results_is_a_term() -> None:
    named = {name for row in terms() for name in re.findall(r"`(\w+)`", row[3])}
    keys = {field.name for kind in HEADINGS for field in fields(kind)}
    assert {key for key in keys if named.isdisjoint((key, key.rstrip("s"), f"{key}s"))} == set()


def test_the_switch_of_contributing_can_be_added(tmp_path: Path) -> None:
    switch, recipes, prices, spec = yaml_blocks(ROOT / "CONTRIBUTING.md")
    (tmp_path / "our-switches.yaml").write_text(switch + recipes, encoding="utf-8")
    (tmp_path / "our-prices.yaml").write_text(prices, encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(spec, encoding="utf-8")
    loaded = load_spec(tmp_path / "spec.yaml")
    plan = make_plan(loaded, load_catalog(loaded.catalog_paths, loaded.price_path))
    assert plan.recommended == "roce-example-e800-64-2t-1to1"
    assert f"`{plan.recommended}`" in text_of(ROOT / "CONTRIBUTING.md")
    counts = plan.design(plan.recommended).networks.compute.counts
    assert (counts.leaf, counts.spine) == (16, 8)


def test_the_worked_example_of_sizing() -> None:
    (design,) = samples.plan("h100-pod-127").designs
    network = design.networks.compute
    assert (network.unit.servers, network.unit.leaves, network.unit.count) == (32, 8, 4)
    assert (network.counts.leaf, network.counts.spine, network.counts.cages) == (32, 16, 1536)
    assert (network.counts.modules_switch, network.counts.modules_server) == (1536, 508)
    assert {row.kind: row.count for row in network.links} == {"server-leaf": 1016, "leaf-spine": 1024, "reserved": 4}


@pytest.mark.parametrize(
    ("setting", "leaves", "spines"), [("servers=128", 40, 32), ("network.reserved_ports=0", 32, 16)]
)
def test_what_the_worked_example_says_of_one_server_more(setting: str, leaves: int, spines: int) -> None:
    (design,) = samples.plan("h100-pod-127", setting).designs
    counts = design.networks.compute.counts
    assert (counts.leaf, counts.spine) == (leaves, spines)


def examples_of_ids() -> list[str]:
    return re.findall(r"^\| `([\w+.-]+)` \|", sections(DOCS / "design-ids.md")["Examples"], re.MULTILINE)


SUFFIXES = (
    r"(-\d+g)?(-spine\d+to\d+)?(-\d+planes)?(-railonly|-norail)?(-railpods)?(-twoleaves)?"
    r"(-up\d+g)?(-spineup\d+g)?(-packed)?(-allports)?(-spineallports)?"
)
ID = re.compile(rf"(infiniband|roce|ethernet)-[a-z0-9.+-]+?-(1|2|3|auto)t-\d+to\d+{SUFFIXES}")


def test_examples_of_ids_follow_the_grammar() -> None:
    assert [name for name in examples_of_ids() if not ID.fullmatch(name)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "specs").glob("*.yaml")), ids=lambda path: path.stem)
def test_ids_of_plans_follow_the_grammar(path: Path) -> None:
    plan = samples.plan(path.stem)
    names = [d.id for d in plan.designs] + [r.id for r in plan.rejected]
    assert [name for name in names if not ID.fullmatch(name)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text_of(path))
    missing = [t for t in targets if "://" not in t and not (path.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_names_a_place_on_a_machine(path: Path) -> None:
    assert re.findall(r"(?<![\w.:/>])/(?:home|root|tmp|work|usr|opt|mnt|Users|var)/\S*", text_of(path)) == []
