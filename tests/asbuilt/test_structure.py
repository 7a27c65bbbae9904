"""Fabrics whose devices have other names: told by how they are cabled, or said to be ambiguous."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import verify
from tests.asbuilt import built
from tests.asbuilt.built import Built, perfect, planned
from tests.asbuilt.test_verify import checked

PAIR = ("h100-pod-127", "model=7B", "servers=16", "network.reserved_ports=1", "network.tiers=2")
PODS = (
    "three-tiers-16384",
    "gpus=512",
    "network.tiers=3",
    "fabrics=infiniband",
    "network.switch={ports: 16, port_gbps: 400}",
)
INLINE = "infiniband-inline-16x400g-3t-1to1"


def renamed(fabric: Built, seed: int = 1) -> Built:
    """Every device gets a name that says nothing, in no order; hosts can still be told from switches."""
    order = random.Random(seed).sample(range(10_000), len(fabric.plan.names))
    fabric.renamed = {
        name: f"{'node' if name in fabric.hosts else 'sw'}{number}"
        for name, number in zip(fabric.plan.names, order, strict=True)
    }
    return fabric


@pytest.mark.parametrize("case", [PAIR, PODS], ids=["two tiers", "three tiers"])
def test_a_perfect_copy_under_other_names(tmp_path: Path, case: tuple[str, ...]) -> None:
    fabric = renamed(perfect(planned(*case, design=INLINE if case is PODS else None)))
    result = checked(fabric, tmp_path)
    assert (result.differences, result.right_links) == ((), len(fabric.cables))
    assert result.devices.by_structure == len(fabric.plan.names)


@pytest.mark.parametrize("seed", range(3))
def test_a_few_wrong_cables_do_not_mislead_it(tmp_path: Path, seed: int) -> None:
    fabric = renamed(perfect(planned(*PODS, design=INLINE)), seed)
    chosen = random.Random(seed).sample(range(len(fabric.cables)), 12)
    for first, second in zip(chosen[::2], chosen[1::2], strict=True):
        fabric.swap(first, second)
    del fabric.cables[0]
    by_name = Built(fabric.plan, fabric.cables, fabric.hosts)
    named, told = checked(by_name, tmp_path), checked(fabric, tmp_path)
    assert told.differences == named.differences or [
        (row.kind, row.at, row.found, row.to) for row in told.differences
    ] == [(row.kind, row.at, row.found, row.to) for row in named.differences]
    assert (told.right_links, told.moves) == (named.right_links, named.moves)


def test_without_ports_one_known_name_each_tells_the_rest_apart(tmp_path: Path) -> None:
    plan = planned(*PAIR)
    fabric = renamed(perfect(plan))

    def text(fabric: Built) -> str:
        return built.list_csv([(row[1], row[3]) for row in built.rows(fabric)], ("a device", "b device"))

    blind = checked(fabric, tmp_path, text, match="structure")
    groups = {(len(group.found), len(group.planned)) for group in blind.ambiguous}
    # Without ports and names, one leaf is like another one, and one server of a unit like another.
    assert {count for count, _ in groups} >= {16}
    assert all(found == meant for found, meant in groups)
    assert blind.counts == {"ambiguous": 4}
    assert (blind.right_links, blind.open_links) == (1, len(fabric.cables) - 1)

    keep = {name for name in plan.names if not name.startswith("server")} | {f"server-{n:03}" for n in range(1, 16)}
    for name in keep:
        fabric.renamed.pop(name)
    told = checked(fabric, tmp_path, text, match="structure")
    assert (told.ambiguous, told.right_links, told.devices.by_structure) == ((), len(fabric.cables), 1)


def test_strangers_are_not_taken_for_planned_devices_where_names_are_known(tmp_path: Path) -> None:
    fabric = perfect(planned(*PAIR))
    fabric.renamed = {"server-003": "node-x"}
    result = checked(fabric, tmp_path)
    assert [(d.name, d.looks_like) for d in result.unknown] == [("node-x", "server-003")]
    assert result.counts == {"unknown-device": 1}
    assert checked(fabric, tmp_path, match="name").unknown[0].looks_like is None


def test_another_fabric_is_not_matched(tmp_path: Path) -> None:
    other = renamed(perfect(planned("one-switch", "network.switch=nvidia-sn5610")))
    (tmp_path / "f.csv").write_text(built.list_csv(built.rows(other)))
    plan = planned(*PAIR)
    result = verify(plan, read_fabric([tmp_path / "f.csv"]))
    assert result.right_links < 64
    assert result.counts
