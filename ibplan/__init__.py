"""ibplan: plan, price and compare fat-tree networks for GPU clusters.

The library's front door, loaded on first use: `load_spec`, `load_catalog`, `make_plan`, `Plan`, `IbplanError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ibplan._version import __version__

if TYPE_CHECKING:
    from ibplan.catalog.store import load_catalog
    from ibplan.errors import IbplanError
    from ibplan.plan.make import make_plan
    from ibplan.plan.results import Plan
    from ibplan.spec.load import load_spec

_HOMES = {
    "load_spec": "ibplan.spec.load",
    "load_catalog": "ibplan.catalog.store",
    "make_plan": "ibplan.plan.make",
    "Plan": "ibplan.plan.results",
    "IbplanError": "ibplan.errors",
}

__all__ = ["IbplanError", "Plan", "__version__", "load_catalog", "load_spec", "make_plan"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
