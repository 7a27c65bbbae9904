"""Planning under a lock: design, parts and prices stay, whatever the books say; what moves is a named error."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.catalog.store import Catalog
from ibplan.errors import EXIT_DIFFERENCE, InputError, StaleLockError
from ibplan.plan.locked import plan_locked_parts, prices_moved
from ibplan.plan.make import make_evaluated_plan, make_plan
from ibplan.plan.orders import make_lock
from ibplan.plan.results import Plan
from ibplan.report.bom import bom_csv, bom_data, bom_rows
from ibplan.report.data import plan_data, to_json
from ibplan.spec.load import LoadedSpec, load_spec
from ibplan.spec.lock import Lock
from tests.examples import share
from tests.plan.planning import catalog, with_prices

SPEC = "gpus: 256\nfabrics: [infiniband, roce]\n"
PRICED = st.sampled_from(sorted([*catalog().switches, *catalog().modules, *catalog().cables, *catalog().nics]))


def load(text: str, *changes: str) -> LoadedSpec:
    return load_spec("-", changes, stdin=BytesIO(text.encode()))


def lock_of(loaded: LoadedSpec, using: Catalog, design: str | None = None) -> Lock:
    plan = make_plan(loaded, using)
    return make_lock(loaded, plan, plan_data(plan), plan.design(design or plan.recommended or ""))


@cache
def lock() -> Lock:
    return lock_of(load(SPEC), catalog())


def under_lock(using: Catalog, *changes: str, held: Lock | None = None) -> Plan:
    return make_plan(replace(load(SPEC, *changes), lock=held or lock()), using)


def bill(plan: Plan) -> str:
    design = plan.design(plan.choice or "")
    rows = bom_rows(plan, design)
    return bom_csv(rows) + to_json(bom_data(plan, design, rows))


def test_the_bill_under_the_lock_is_that_of_the_plan_that_was_locked() -> None:
    free = make_plan(load(SPEC), catalog())
    held = under_lock(catalog())
    assert bill(held) == bill(free)
    assert held.inputs.locked
    assert [design.id for design in held.designs] == [held.choice] == [free.recommended]
    assert held.designs[0].totals == free.design(lock().design).totals
    assert held.findings[0].code == "locked"


@settings(max_examples=share(6))
@given(st.dictionaries(PRICED, st.integers(1, 100_000), max_size=40))
def test_no_price_changes_a_locked_bill(prices: dict[str, int]) -> None:
    assert bill(under_lock(with_prices(prices))) == bill(under_lock(catalog()))


def test_a_stand_in_that_becomes_cheaper_does_not_replace_a_locked_part() -> None:
    module = next(item.part for item in lock().items if item.category == "transceiver")
    original = catalog().modules[module].compatible_with
    assert original is not None
    cheap = with_prices({original: 1})
    assert original in {item.part for item in make_plan(load(SPEC), cheap).design(lock().design).line_items}
    assert bill(under_lock(cheap)) == bill(under_lock(catalog()))
    assert prices_moved(lock(), cheap) == ()
    assert prices_moved(lock(), with_prices({module: 1})) == (module,)


def test_a_part_that_was_locked_without_a_price_has_none_until_the_lock_moves() -> None:
    text = "gpus: 256\nfabrics: roce\nnetwork: {switch: {cages: 64, ports_per_cage: 2, port_gbps: 400}}\n"
    loaded = load(text)
    plan = make_plan(loaded, catalog())
    held = lock_of(loaded, catalog(), plan.designs[0].id)
    unpriced = sorted(held.unpriced)
    assert unpriced
    under = make_plan(replace(loaded, lock=held), catalog())
    assert (under.choice, under.recommended, under.designs[0].rank) == (held.design, None, None)
    assert sorted({row.part for row in under.designs[0].totals.unpriced}) == unpriced


def test_more_gpus_are_an_error_that_says_what_moved() -> None:
    with pytest.raises(StaleLockError) as caught:
        under_lock(catalog(), "gpus=512")
    assert caught.value.exit_code == EXIT_DIFFERENCE
    switches = next(item for item in lock().items if item.category == "switch")
    words = str(caught.value)
    assert f"compute {switches.tier} switch {switches.part}" in words
    assert f"{switches.quantity} locked" in words
    assert "Since then: the spec has changed." in words
    assert "--update" in words
    assert "--no-lock" in words


@pytest.mark.parametrize("change", ["budget=$90M", "name=other", "site={years: 5}"])
def test_what_moves_no_part_leaves_the_lock_alone(change: str) -> None:
    assert under_lock(catalog(), change).choice == lock().design


def test_a_budget_below_the_locked_order_is_a_shortfall_and_the_order_stays() -> None:
    plan = under_lock(catalog(), "budget=$1k")
    assert (plan.recommended, plan.choice) == (None, lock().design)
    assert [short.limit for short in plan.shortfall] == ["network_budget"]


def test_another_pin_and_a_design_that_is_gone_are_errors() -> None:
    other = next(d.id for d in make_plan(load(SPEC), catalog()).designs if d.id != lock().design)
    with pytest.raises(StaleLockError, match=f"the spec pins {other}, the lock {lock().design}"):
        under_lock(catalog(), f"design={other}")
    with pytest.raises(StaleLockError, match=f"design {lock().design}: no design has that id now"):
        under_lock(catalog(), "network.oversubscription=2:1")
    with pytest.raises(InputError, match="unknown server"):
        under_lock(catalog(), "server=nvidia-dgx-h10")


def test_a_part_number_that_changes_in_the_catalogue_is_told() -> None:
    loaded = load("gpus: 256\nfabrics: infiniband\n")
    held = lock_of(loaded, catalog())
    switch = next(item.part for item in held.items if item.category == "switch")
    entry = catalog().switches[switch].model_copy(update={"part_numbers": {"p2c": "NEW-1"}})
    changed = replace(catalog(), switches={**catalog().switches, switch: entry})
    with pytest.raises(StaleLockError, match=r"\(NEW-1\): 0 locked, 8 now"):
        make_plan(replace(loaded, lock=held), changed)


def test_an_inline_price_that_changes_in_the_spec_is_told() -> None:
    text = "gpus: 256\nfabrics: roce\nnetwork: {switch: {cages: 64, ports_per_cage: 2, port_gbps: 400, price: $%d}}\n"
    held = lock_of(load(text % 30000), catalog(), make_plan(load(text % 30000), catalog()).designs[0].id)
    make_plan(replace(load(text % 30000), lock=held), catalog())
    with pytest.raises(StaleLockError, match=r"\$30,000 each locked, \$31,000 now"):
        make_plan(replace(load(text % 31000), lock=held), catalog())


def test_prices_of_today_for_the_locked_parts_keep_the_parts() -> None:
    module = next(item.part for item in lock().items if item.category == "transceiver")
    original = catalog().modules[module].compatible_with or ""
    today = with_prices({module: 5_000, original: 1})
    plan = plan_locked_parts(load(SPEC), today, lock(), make_evaluated_plan)
    items = plan.design(lock().design).line_items
    assert {item.unit_price_usd for item in items if item.part == module} == {Decimal(5_000)}
    assert original not in {item.part for item in items}
    assert not plan.inputs.locked


def test_the_same_order_gives_the_same_lock() -> None:
    assert lock_of(load(SPEC), catalog()) == lock()
    assert lock_of(load("fabrics: [infiniband, roce]\ngpus: 256  # the same\n"), catalog()) == lock()
