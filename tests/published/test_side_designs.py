"""Published storage and management networks through the front door."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.plan.planning import only, plan

DESIGNS = yaml.safe_load((Path(__file__).parent / "side_designs.yaml").read_text(encoding="utf-8"))["designs"]


def figures(network: Any) -> dict[str, Any]:
    """What a network says, by the names of side_designs.yaml."""
    links: Counter[str] = Counter()
    attached: Counter[str] = Counter()
    for row in network.links:
        links[row.kind] += row.count
        if row.kind == "attached":
            attached[row.host] += row.count
    counts = network.counts
    found = {name: getattr(counts, name) for name in ("switches", "leaf", "spine")}
    return {**found, "links": links, "attached": attached}


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design["id"])
def test_a_published_side_network_is_planned_with_the_published_counts(design: dict[str, Any]) -> None:
    networks = only(plan(yaml.safe_dump(design["spec"]))).networks
    for name, expected in design["expected"].items():
        said = figures(getattr(networks, name))
        for key, value in expected.items():
            if key == "attached":
                assert dict(said[key]) == value
            elif key == "links":
                assert {kind: said[key][kind] for kind in value} == value
            else:
                assert said[key] == value, (name, key)


def test_every_side_design_names_its_source() -> None:
    assert all(design["source"] and design["expected"] for design in DESIGNS)
