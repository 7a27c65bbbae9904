"""Which designs are wired: by id, and up to a size."""

from __future__ import annotations

import pytest

from ibplan.errors import InputError
from ibplan.plan import wired, wires
from ibplan.plan.wired import MOST_LINKS, wire_design
from ibplan.spec.load import load_spec
from tests.cli.run import ROOT
from tests.plan.planning import catalog

SPEC = ROOT / "specs" / "one-switch.yaml"


def test_a_design_of_more_links_is_refused_before_it_is_wired(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_spec(SPEC)
    links = len(wire_design(loaded, catalog()).wiring.links)
    monkeypatch.setattr(wired, "MOST_LINKS", links)
    assert len(wire_design(loaded, catalog()).wiring.links) == links
    monkeypatch.setattr(wired, "MOST_LINKS", links - 1)
    monkeypatch.setattr(wires, "wire_form", None)  # it is not called
    with pytest.raises(InputError, match=f"has {links} links; designs of up to {links - 1} links") as refused:
        wire_design(loaded, catalog())
    (problem,) = refused.value.problems
    assert problem.line > 0
    assert problem.remedy.startswith("take a smaller cluster of the same kind: --set ")


def test_a_million_ports_in_three_tiers_are_within_the_limit() -> None:
    assert MOST_LINKS >= 3 * 2**20
