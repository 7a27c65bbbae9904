"""The examples of docs/catalog.md work, and its tables list every field."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import BaseModel

from ibplan.catalog.checks import check_catalog, first_day
from ibplan.catalog.entries import Breakout, CageGroup, Power, Price, Recipe, RecipeEnd, Switch
from ibplan.catalog.store import load_catalog
from ibplan.plan.make import make_plan
from ibplan.spec.load import load_spec

DOC = Path(__file__).parents[2] / "docs" / "catalog.md"
TEXT = DOC.read_text(encoding="utf-8")


def _files(folder: Path) -> Path:
    parts, prices, spec, contract = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    for name, text in (("our-parts", parts), ("our-prices", prices), ("spec", spec), ("contract", contract)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_switch_of_ones_own_is_planned_with_its_price(tmp_path: Path) -> None:
    loaded = load_spec(_files(tmp_path) / "spec.yaml")
    plan = make_plan(loaded, load_catalog(loaded.catalog_paths, loaded.price_path))
    assert plan.recommended == "roce-acme-leaf-64-2t-1to1"
    assert f"`{plan.recommended}`" in TEXT
    design = plan.design(plan.recommended)
    counts = design.networks.compute.counts
    assert f"{counts.leaf} leaves and {counts.spine} spines, " in TEXT
    assert f"${design.totals.capex_by_category_usd['switch']:,.0f} for the switches" in TEXT


def test_the_check_of_the_example_has_nothing_to_report(tmp_path: Path) -> None:
    folder = _files(tmp_path)
    catalog = load_catalog([folder / "our-parts.yaml"], folder / "our-prices.yaml")
    rows = check_catalog(catalog, 30, first_day("2026-11-30"))
    assert [row for row in rows if row.id == "acme-leaf-64"] == []


def test_the_contract_in_euros_loads(tmp_path: Path) -> None:
    folder = _files(tmp_path)
    catalog = load_catalog([folder / "our-parts.yaml"], folder / "contract.yaml")
    choice = catalog.prices.choose("acme-leaf-64")
    assert choice is not None
    assert choice.unit_usd == 34000 * Decimal("1.10")
    undated = catalog.prices.choose("nvidia-mfp7e10")
    assert undated is not None
    assert (undated.unit_usd, undated.date) == (95, None)


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        (Switch, "Fields of a switch"),
        (CageGroup, "Fields of a switch"),
        (Breakout, "Fields of a switch"),
        (Power, "Fields of a switch"),
        (Recipe, "Recipes"),
        (RecipeEnd, "Recipes"),
        (Price, "Prices"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_every_field_is_listed(kind: type[BaseModel], heading: str) -> None:
    section = re.split(r"^## ", TEXT.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    assert {name for name in kind.model_fields if f"`{name}`" not in section} == set()
