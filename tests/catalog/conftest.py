"""The packaged catalogue, loaded once."""

from __future__ import annotations

import pytest

from ibplan.catalog.store import Catalog, load_catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()
