"""The examples of docs/catalog.md work."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

from ibplan.catalog.store import load_catalog

DOC = Path(__file__).parents[2] / "docs" / "catalog.md"


def test_the_examples_load(tmp_path: Path) -> None:
    parts, prices = re.findall(r"```yaml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "parts.yaml").write_text(parts, encoding="utf-8")
    (tmp_path / "prices.yaml").write_text(prices, encoding="utf-8")
    catalog = load_catalog([tmp_path / "parts.yaml"], tmp_path / "prices.yaml")
    assert catalog.switches["acme-leaf-64"].radix(400) == 128
    choice = catalog.prices.choose("acme-leaf-64")
    assert choice is not None
    assert choice.unit_usd == 34000 * Decimal("1.10")
