"""docs/export.md lists what there is."""

from __future__ import annotations

import re
from pathlib import Path

from ibplan.document import parse_document, validate
from ibplan.export.registry import TARGETS
from ibplan.spec.addressing import AddressingSpec
from ibplan.spec.models import Spec
from ibplan.spec.naming import TOKENS, NamingSpec

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    text = PAGE.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_targets_and_their_files() -> None:
    rows = {row[0].strip("` "): row for row in _rows("## Targets")}
    assert list(rows) == [target.name for target in TARGETS]
    for target in TARGETS:
        shown = re.findall(r"`([^`]+)`", rows[target.name][2])
        assert shown == list(target.files) if target.name != "netbox" else shown == [target.files[0], target.files[-1]]


def test_patterns_and_their_tokens() -> None:
    rows = {row[0]: row for row in _rows("## Names")}
    manager = set(TOKENS["manager"])
    for kind, extra in (("leaf", True), ("spine", True), ("core", True), ("server", False), ("attached", False)):
        tokens = set(re.findall(r"`([a-z_0-9]+)`", rows[f"`{kind}`"][2])) - {"manager"}
        assert tokens | (manager if extra else set()) == set(TOKENS[kind])
    assert set(re.findall(r"`([a-z_0-9]+)`", rows["`manager`"][2])) == manager
    assert set(re.findall(r"`([a-z_0-9]+)`", rows["`host_port`"][2])) == set(TOKENS["port"])
    for kind in ("server", "attached", "manager", "leaf", "spine", "core"):
        assert rows[f"`{kind}`"][1] == f"`{getattr(NamingSpec(), kind)}`"


def test_defaults_of_addresses() -> None:
    rows = {row[0]: row[1] for row in _rows("## Addresses")}
    spec = AddressingSpec()
    for tier in ("leaf", "spine", "core"):
        assert rows[f"`asn.{tier}`"] == f"`{getattr(spec.asn, tier)}`"
    loopbacks = [f"`{getattr(spec.loopbacks, tier)}`" for tier in ("leaf", "spine", "core")]
    assert rows["`loopbacks.leaf`, `.spine`, `.core`"] == ", ".join(loopbacks)
    assert rows["`hosts`"] == f"`{spec.hosts}`"


def test_the_example_is_a_spec() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert validate(Spec, parse_document(f"gpus: 8\n{example}", "example.yaml")).naming is not None
