"""Structured cabling: trunks, panels and cords by hand, against the bill, and what must hold of any of them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.cabling import structured as module
from ibplan.cabling.figures import figures
from ibplan.cabling.rows import CabledNetwork, CableRow, cable_rows
from ibplan.cabling.runs import link_runs_m
from ibplan.cabling.schedule import schedule_rows
from ibplan.cabling.structured import plan_structured
from ibplan.cabling.trunks import StructuredRules, panel_part, trunk_part
from ibplan.catalog.entries import PriceFile
from ibplan.catalog.layers import Layers
from ibplan.catalog.references import unknown_parts
from ibplan.document import read_document, validate
from ibplan.economics.items import LineItem
from ibplan.errors import Unbuildable
from ibplan.plan.cabled import cable_design
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.results import Plan
from ibplan.spec.load import LoadedSpec, load_spec
from tests.examples import share
from tests.plan.planning import COMPUTE_ONLY, catalog, only, plan, with_prices

ON = "site: {cabling: {structured: true}}\n"
# Two racks of four servers, 32 links each, and one switch of 64 ports in a rack between them.
SMALL = (
    "servers: 8\nserver: nvidia-dgx-h100\nfabrics: infiniband\n"
    f"network: {{switch: nvidia-qm9700, tiers: 1}}\n{COMPUTE_ONLY}"
)
POD = SMALL.replace("servers: 8", "servers: 64").replace(", tiers: 1", "")


def loaded(text: str, *changes: str) -> LoadedSpec:
    return load_spec("-", changes, stdin=BytesIO(text.encode()))


def items(text: str, *changes: str) -> dict[tuple[str, float | None], LineItem]:
    kinds = ("cable", "trunk", "panel")
    return {(i.part, i.length_m): i for i in only(plan(text, *changes)).line_items if i.category in kinds}


def findings(result: Plan) -> dict[str, str]:
    return {f.code: f.message for f in result.findings}


@cache
def network(text: str, name: str = "compute") -> CabledNetwork:
    spec = loaded(text)
    (design,) = make_evaluated_plan(spec, catalog())[1]
    return cable_design(spec, catalog(), design, name).networks[0]


@cache
def rows(text: str, name: str = "compute") -> tuple[CableRow, ...]:
    return tuple(schedule_rows(network(text, name)))


def test_two_racks_of_servers_by_hand() -> None:
    """32 links and 10 % spare take 36 plugs of 12: three trunks to each rack, 72 ports and two panels in the middle."""
    found = {key: item.quantity for key, item in items(SMALL + ON).items()}
    # From panel to panel next door: twice 4 units and 0.5 m up, 0.6 m over, twice 0.5 m of slack: 2.96 m.
    assert found["trunk-144f-multimode-mpo-12-apc-b", 3] == 6
    assert found["panel-48p-multimode-mpo-12-apc", None] == 1 + 2 + 1
    # At the switch (U44) 4 units and 1 m; at the servers (U1, U9, U17, U25) 47, 39, 31 and 23 units and 1 m.
    cords = {length: quantity for (part, length), quantity in found.items() if part == "fs-mtp12-om4-trunk"}
    assert cords == {2: 64, 3: 48, 4: 16}
    assert only(plan(SMALL + ON)).totals.cables == 128


def test_loss_of_the_longest_channel_by_hand() -> None:
    """A trunk of 3 m with cords of 2 and 4 m: two mated pairs of 0.75 dB, and 9 m at 3 dB a kilometre."""
    here = network(SMALL + ON)
    assert here.places is not None
    assert here.structured is not None
    (budget,) = plan_structured(here.wiring, here.parts, here.places, "compute", here.structured).structured.budgets
    assert budget.longest_m == 9
    assert budget.loss_db == pytest.approx(2 * 0.75 + 0.009 * 3.0)
    assert (budget.channels, budget.over, budget.limit_db) == (64, 0, 1.8)


def test_without_the_key_nothing_changes() -> None:
    plain = only(plan(POD)).line_items
    assert only(plan(POD + "site: {cabling: {structured: false, trunk_fibers: 24}}\n")).line_items == plain
    assert not {i.category for i in plain} & {"trunk", "panel"}


def test_what_stands_in_one_rack_has_no_trunks() -> None:
    few = SMALL.replace("servers: 8", "servers: 2")
    assert items(few + ON).keys() == items(few).keys()
    assert "trunks-not-needed" in findings(plan(few + ON))


def test_without_a_layout_there_are_none_and_it_is_told() -> None:
    inline = "{gpus: 8, nics: 8, ports_per_nic: 1, port_gbps: 400, cage_class: nic-osfp-400}"
    text = SMALL.replace("nvidia-dgx-h100", inline) + ON
    assert "trunks-need-layout" in findings(plan(text))
    assert items(text).keys() == {("fs-mtp12-om4-trunk", None)}
    assert {row.kind for row in rows(text)} == {"server-leaf"}


def test_a_trunk_thinner_than_a_plug_is_refused() -> None:
    refused = plan(SMALL + ON, "site.cabling.trunk_fibers=8")
    (reason,) = refused.rejected[0].reasons
    assert (reason.code, reason.need, reason.have) == ("trunk-fibers", 12, 8)


def test_units_of_panels_are_told_rack_by_rack() -> None:
    told = findings(plan(POD + ON))
    assert told["panels-fit"].startswith("Rack units of panels, within the 4 kept free at the top: 1 in R01-02, R01-03")
    assert " in R01-10" in told["panels-need-units"]
    assert "panels-need-units" not in findings(plan(SMALL + ON))


def test_channels_over_the_limit_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = figures()
    strict = known.model_copy(update={"limits": tuple(x.model_copy(update={"max_loss_db": 1.5}) for x in known.limits)})
    monkeypatch.setattr(module, "figures", lambda: strict)
    message = findings(plan(SMALL + ON))["channel-loss"]
    assert message.startswith("compute, server-leaf links of 400 Gb/s: 64 channels over trunks lose more than 1.5 dB")
    assert message.endswith("1.53 dB in the longest.")


def test_modules_without_a_known_limit_are_told() -> None:
    told = findings(plan(SMALL + ON, "network.medium=single_mode"))
    assert "loses 1.50 dB" in told["loss-limit-unknown"]


def test_a_channel_longer_than_the_reach_is_told() -> None:
    """The direct runs of 49 m are within the 50 m of the modules; with cords they are not."""
    apart = "site.hall={racks_per_row: 2, aisle_pitch: 88 m}"
    told = findings(plan(SMALL + ON, apart, "network.medium=multimode"))
    assert told["channel-too-long"].endswith("cords included, is 53 m; the parts reach 50 m.")


def test_prices_by_part_and_length() -> None:
    prices = {"trunk-144f-multimode-mpo-12-apc-b": 900, "panel-48p-multimode-mpo-12-apc": 300}
    result = only(plan(SMALL + ON, using=with_prices(prices)))
    assert result.totals.capex_by_category_usd["trunk"] == 6 * 900
    assert result.totals.capex_by_category_usd["panel"] == 4 * 300
    unpriced = only(plan(SMALL + ON))
    assert {u.part for u in unpriced.totals.unpriced} == prices.keys()
    assert not unpriced.totals.complete


@pytest.mark.parametrize("name", ["compute", "storage", "inband"])
def test_the_schedule_is_that_of_the_bill(name: str) -> None:
    text = POD.removesuffix(COMPUTE_ONLY) + ON
    result = only(plan(text))
    billed: Counter[tuple[str, float | None]] = Counter()
    for item in result.line_items:
        if item.network == name and item.category in ("cable", "splitter", "trunk"):
            billed[item.part, item.length_m] += item.quantity
    listed = Counter((row.cable or "", row.length_m) for row in rows(text, name))
    assert listed == billed
    assert any(row.kind == "trunk" for row in rows(text, name))


def test_every_link_between_racks_has_two_cords_and_ids_are_unique() -> None:
    direct = {row.cable_id: row for row in cable_rows(network(POD + ON))}
    cords = Counter(row.cable_id.removesuffix("/a").removesuffix("/b") for row in rows(POD + ON) if row.kind != "trunk")
    assert cords.keys() == direct.keys()
    for name, row in direct.items():
        assert cords[name] == (1 if row.a.rack == row.b[0].rack else 2)
    ids = [row.cable_id for row in rows(POD + ON)]
    assert len(set(ids)) == len(ids)


def test_cords_meet_their_trunk_in_ports_of_their_own() -> None:
    """Every cord ends in a port that a trunk fills, both labels name the one at its other end, none is used twice."""
    filled: dict[str, str] = {}
    for row in rows(POD + ON):
        if row.kind == "trunk":
            near, far = (_ports(end.device, end.port) for end in (row.a, row.b[0]))
            filled |= dict(zip(near, far, strict=True)) | dict(zip(far, near, strict=True))
    used = Counter(row.b[0].label for row in rows(POD + ON) if "-panel-" in row.b[0].device and row.kind != "trunk")
    assert set(used.values()) == {1}
    for row in rows(POD + ON):
        if row.kind != "trunk" and "-panel-" in row.b[0].device:
            here, there = row.b[0].label, filled[row.b[0].label]
            assert used[there] == 1
            assert row.label_a == f"{row.a.label} / {here} > {there}"
            assert row.label_b == (f"{here} > {there} / {row.a.label}",)
            assert row.run_m is not None
            assert row.length_m is not None
            assert row.run_m <= row.length_m


def _ports(device: str, text: str) -> list[str]:
    """The ports of `25-36` or of `41-48, compute-panel-02:1-4`, one by one."""
    rack, _, panel = device.partition(":")
    found = []
    for part in text.split(", "):
        name, numbers = part.split(":") if ":" in part else (panel, part)
        first, _, last = numbers.partition("-")
        found += [f"{rack}:{name}:{number}" for number in range(int(first), int(last or first) + 1)]
    return found


@settings(max_examples=share(40), deadline=None)
@given(
    st.integers(12, 300),
    st.integers(1, 80),
    st.fractions(0, 1, max_denominator=20),
)
def test_trunks_hold_the_links_and_panels_the_trunks(fibers: int, ports: int, spare: Fraction) -> None:
    here = network(POD + ON)
    assert here.places is not None
    rules = StructuredRules(fibers, ports, 1, spare, 1)
    planned = plan_structured(here.wiring, here.parts, here.places, "compute", rules)
    found = planned.structured
    runs = link_runs_m(here.wiring, here.places, "compute")
    assert sum(t.links for t in found.trunks) <= len(runs)
    assert not np.isnan(runs).any()
    for trunks in found.trunks:
        assert trunks.rack_a != trunks.rack_b
        assert trunks.count * fibers >= trunks.links * 12
        assert trunks.ports >= trunks.links * (1 + spare)
        assert (trunks.count - 1) * trunks.plugs < trunks.links * (1 + spare) + 1
        assert trunks.run_m <= trunks.length_m < trunks.run_m + 1
    for panels in found.panels:
        ends = sum(
            t.ports for t in found.trunks if t.glass == panels.glass for r in (t.rack_a, t.rack_b) if r == panels.rack
        )
        assert ends == panels.ports
        assert (panels.panels - 1) * ports < panels.ports <= panels.panels * ports
    for trunks in found.trunks:
        assert 0 < trunks.links <= trunks.ports
    for number, channels in planned.channels.items():
        at = channels.trunks >= 0
        taken = list(zip(channels.trunks[at].tolist(), channels.nth[at].tolist(), strict=True))
        assert len(set(taken)) == len(taken), number
        assert all(nth < found.trunks[which].links for which, nth in taken)


def test_rules_that_no_plug_fits_raise() -> None:
    here = network(SMALL + ON)
    assert here.places is not None
    with pytest.raises(Unbuildable):
        plan_structured(here.wiring, here.parts, here.places, "compute", StructuredRules(2, 48, 1, Fraction(0), 1))


def test_ids_of_trunks_and_panels_can_be_priced(tmp_path: Path) -> None:
    """A price file may name the parts of any plan; a slip in an id is told."""
    here = network(POD + ON)
    assert here.places is not None
    assert here.structured is not None
    found = plan_structured(here.wiring, here.parts, here.places, "compute", here.structured).structured
    names = {trunk_part(t.glass, found.rules) for t in found.trunks} | {
        panel_part(p.glass, found.rules) for p in found.panels
    }
    assert len(names) == 4
    text = "".join(
        f"- {{part: {name}, kind: street, usd: 1, source: a quote}}\n" for name in [*sorted(names), "trunk-144"]
    )
    file = tmp_path / "prices.yaml"
    file.write_text(f"name: quotes\ndate: 2026-01-01\nprices:\n{text}")
    document = read_document(file)
    problems = list(unknown_parts(Layers(), validate(PriceFile, document), document))
    assert [p.message for p in problems] == ["there is no part trunk-144"]
