"""Schemes that tests share, made once."""

from __future__ import annotations

from functools import cache

from ibplan.export.registry import find_target, make_export
from ibplan.export.scheme import Scheme, scheme_of
from ibplan.plan.wired import chosen_design, wire_chosen
from tests.report import samples
from tests.report.samples import SPECS, catalog

__all__ = ["SPECS", "catalog", "scheme", "texts"]


@cache
def scheme(name: str, *settings: str, design: str | None = None, network: str = "compute") -> Scheme:
    """The scheme of a spec of the project, with settings."""
    spec = samples.spec(name, *settings)
    chosen = chosen_design(*samples.evaluated(name, *settings), design)
    return scheme_of(spec, catalog(), wire_chosen(spec, *chosen, network))  # type: ignore[arg-type]


def texts(target: str, made: Scheme) -> dict[str, str]:
    """The files of a target by path."""
    return {file.path: "".join(file.pieces) for file in make_export(find_target(target), made).files}
