"""Published designs through the front door: the counts that their sources state."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.plan.make import make_plan
from ibplan.plan.results import Design, NetworkResult, Plan
from ibplan.spec.load import load_spec

HERE = Path(__file__).parent
# The list of exceptions may only shrink: lower this number when one of them can be planned.
MOST_EXCEPTIONS = 2


def read(name: str) -> Any:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Case:
    """One spec with what its source states of it."""

    name: str
    spec: dict[str, Any]
    expected: dict[str, Any]
    at_least: dict[str, int]


def changed(spec: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(spec)
    for key, value in change.items():
        *path, last = key.split(".")
        at = result
        for part in path:
            at = at[part]
        at[last] = value
    return result


def cases() -> list[Case]:
    found = []
    for design in read("designs.yaml")["designs"]:
        name, spec = design["id"], design["spec"]
        found.append(Case(name, spec, design["expected"], design.get("at_least", {})))
        for number, variant in enumerate(design.get("variants", ()), 2):
            found.append(Case(f"{name}-{number}", changed(spec, variant["change"]), variant["expected"], {}))
    return found


def refused_cases() -> list[Case]:
    found = []
    for design in read("designs.yaml")["designs"]:
        for number, change in enumerate(design.get("refused", ()), 1):
            found.append(Case(f"{design['id']}-refused-{number}", changed(design["spec"], change), {}, {}))
    return found


@cache
def catalog_with(prices: str | None) -> Catalog:
    return load_catalog(price_file=None if prices is None else HERE / prices)


def plan_of(case: Case, directory: Path) -> Plan:
    path = directory / f"{case.name}.yaml"
    prices = case.spec.get("prices")
    if prices is not None:
        (directory / prices).write_text((HERE / prices).read_text(encoding="utf-8"), encoding="utf-8")
    path.write_text(yaml.safe_dump(case.spec), encoding="utf-8")
    return make_plan(load_spec(path), catalog_with(prices))


def only_design(plan: Plan) -> Design:
    assert not plan.rejected, plan.rejected
    (design,) = plan.designs
    return design


def links_by_kind(network: NetworkResult) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in network.links:
        counts[row.kind] += row.count
    return counts


def cables_by_kind(network: NetworkResult) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in network.links:
        assert row.cables is not None, row
        counts[row.kind] += row.cables
    return counts


def gbps_by_kind(network: NetworkResult) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in network.links:
        counts[row.kind] += row.count * row.gbps
    return counts


def figures(design: Design) -> dict[str, Any]:
    """What a design says, by the names of designs.yaml."""
    network = design.networks.compute
    counts, links = network.counts, links_by_kind(network)
    said: dict[str, Any] = {
        key: getattr(counts, key) for key in ("leaf", "spine", "core", "switches", "modules_switch", "modules_server")
    }
    said["links"] = links
    said["unit"] = {"servers": network.unit.servers, "leaves": network.unit.leaves, "count": network.unit.count}
    said["pod"] = {"units": network.pod.units, "spines": network.pod.spines, "count": network.pod.count}
    said["per_leaf"] = {
        "down": Fraction(links["server-leaf"] + links["attached"], counts.leaf),
        "up": Fraction(links["leaf-spine"], counts.leaf),
    }
    said["gbps"] = gbps_by_kind(network)
    said["built"] = network.oversubscription.leaf.built
    said["cost"] = cost(design)
    return said


def cost(design: Design) -> dict[str, Decimal]:
    """The priced lines in USD: switches, and everything that links are made of."""
    money = {"switches": Decimal(0), "links": Decimal(0)}
    for item in design.line_items:
        money["switches" if item.category == "switch" else "links"] += item.extended_usd or Decimal(0)
    return money


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in cases()])
def test_a_published_design_is_planned_with_the_published_counts(case: Case, tmp_path: Path) -> None:
    design = only_design(plan_of(case, tmp_path))
    said = figures(design)
    for key, value in case.expected.items():
        if key == "cables":
            cables = cables_by_kind(design.networks.compute)
            assert {kind: cables[kind] for kind in value} == value
        elif key == "built":
            assert said[key] == Fraction(value)
        elif isinstance(value, dict):
            assert {part: said[key][part] for part in value} == value, key
        else:
            assert said[key] == value, key
    if "cost" in case.expected:
        assert design.totals.complete
        assert design.totals.capex_usd == sum(case.expected["cost"].values())
    for key, value in case.at_least.items():
        figure = said[key]
        assert (sum(figure.values()) if isinstance(figure, Counter) else figure) >= value, key


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in cases()])
def test_the_totals_of_a_published_design_agree_with_its_parts(case: Case, tmp_path: Path) -> None:
    design = only_design(plan_of(case, tmp_path))
    network = design.networks.compute
    counts, links = network.counts, links_by_kind(network)
    assert counts.switches == counts.leaf + counts.spine + counts.core
    assert counts.switches == sum(row.count for row in network.switches)
    assert counts.links == links.total() - links["reserved"]
    ends_on_switches = {"server-leaf": 1, "attached": 1, "reserved": 1}
    used = sum(count * ends_on_switches.get(kind, 2) for kind, count in links.items())
    assert used == sum(row.ports_used for row in network.switches)
    assert all(row.ports_free >= 0 for row in network.switches)
    own = [item for item in design.line_items if item.network == "compute"]
    billed = sum(item.quantity for item in own if item.category == "switch")
    assert billed == counts.switches


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in refused_cases()])
def test_one_server_beyond_a_published_limit_is_refused(case: Case, tmp_path: Path) -> None:
    plan = plan_of(case, tmp_path)
    assert not plan.designs
    (rejected,) = plan.rejected
    assert all(r.need is not None and r.have is not None and r.need > r.have for r in rejected.reasons)


def test_every_published_design_is_held_once_or_excepted_with_a_reason() -> None:
    published = (HERE / "ids.txt").read_text(encoding="utf-8").split()
    designs = read("designs.yaml")
    exceptions = read("exceptions.yaml")["exceptions"]
    side = [d["id"] for d in read("side_designs.yaml")["designs"] if not d.get("held_elsewhere")]
    held = [d["id"] for d in designs["designs"]] + side + [e["id"] for e in exceptions]
    assert sorted(held) == sorted(published)
    assert len(set(published)) == len(published)
    assert all(e["reason"] for e in exceptions)


def test_exceptions_only_shrink() -> None:
    assert len(read("exceptions.yaml")["exceptions"]) <= MOST_EXCEPTIONS


def test_every_published_design_names_its_source() -> None:
    published = read("designs.yaml")
    for design in published["designs"]:
        assert published["sources"][design["source"]["of"]]["title"]
        assert design["source"]["section"]
        assert design["expected"] or design.get("at_least")
