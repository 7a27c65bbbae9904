"""Published storage and management networks through the front door."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.plan.planning import only, plan

PUBLISHED = yaml.safe_load((Path(__file__).parent / "side_designs.yaml").read_text(encoding="utf-8"))
DESIGNS = PUBLISHED["designs"]


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


def of_a_pair(port_map: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The spec of the published pair whose ports are known, changed."""
    (spec,) = [design["spec"] for design in DESIGNS if design["id"] == port_map["of"]]
    return {**spec, "servers": port_map["servers"], **changes}


@pytest.mark.parametrize("port_map", PUBLISHED["port_maps"], ids=lambda port_map: port_map["id"])
def test_each_switch_of_a_published_pair_has_the_published_ports(port_map: dict[str, Any]) -> None:
    said = figures(only(plan(yaml.safe_dump(of_a_pair(port_map)))).networks.compute)
    for name, ports in port_map["ports"].items():
        if name == "leaf-leaf":
            assert said["links"][name] == ports
        elif name != "edge":
            both = said["links"][name] if name == "server-leaf" else said["attached"][name]
            assert both == 2 * ports, name


@pytest.mark.parametrize("port_map", PUBLISHED["port_maps"], ids=lambda port_map: port_map["id"])
def test_all_ports_of_a_published_pair_fit_its_cages_and_no_server_more_where_that_is_the_most(
    port_map: dict[str, Any],
) -> None:
    edge = {"name": "edge", "servers": 2, "ports": port_map["ports"]["edge"], "port_gbps": 100}
    spec = of_a_pair(port_map, attached=[edge | {"cage_class": "nic-qsfp28"}])
    assert only(plan(yaml.safe_dump(spec))).networks.compute.counts.switches == 2
    if port_map.get("most"):
        (refused,) = plan(yaml.safe_dump({**spec, "servers": spec["servers"] + 1})).rejected
        (reason,) = refused.reasons
        assert (reason.code, reason.have) == ("two-leaves", 64)
        assert reason.need is not None
        assert reason.need > 64
        assert "switches of their own" in reason.text


def test_every_side_design_names_its_source() -> None:
    assert all(design["source"] and design["expected"] for design in DESIGNS)
    assert all(port_map["source"] and port_map["ports"] for port_map in PUBLISHED["port_maps"])
