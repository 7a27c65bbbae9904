"""Schemes that tests share, made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, make_scheme
from ibplan.spec.load import load_spec

SPECS = Path(__file__).parents[2] / "specs"


@cache
def catalog() -> Catalog:
    return load_catalog()


@cache
def scheme(name: str, *settings: str, design: str | None = None, network: str = "compute") -> Scheme:
    """The scheme of a spec of the project, with settings."""
    return make_scheme(load_spec(SPECS / f"{name}.yaml", settings), catalog(), design, network)  # type: ignore[arg-type]


def texts(target: str, made: Scheme) -> dict[str, str]:
    """The files of a target by path."""
    return {file.path: "".join(file.pieces) for file in make_export(find_target(target), made).files}
