"""Makes commands run within this process cheap: the packaged catalogue is loaded once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from ibplan.catalog import store
from ibplan.catalog.store import Catalog

_load = store.load_catalog
_packaged = cache(lambda: _load())


def _once(overlays: Sequence[Path] = (), price_file: Path | None = None) -> Catalog:
    return _load(overlays, price_file) if overlays or price_file is not None else _packaged()


def load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this test share the packaged catalogue."""
    monkeypatch.setattr(store, "load_catalog", _once)
