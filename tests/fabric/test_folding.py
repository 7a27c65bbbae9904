"""Numbering of rows against numpy's own, and what is alike against a comparison one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.fabric.folding import first_of_each, fold, numbered, pods_follow_rails
from ibplan.fabric.wiring_model import LEAF, SERVER
from tests.report.wired import CASES, Case, case_id, wired

VALUES = st.sampled_from([0, 1, 2, 7, 5000, 2**31 - 1])


@given(st.integers(0, 12).flatmap(lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1, max_size=3)))
def test_rows_are_numbered_as_numpy_sorts_them(columns: list[list[int]]) -> None:
    found = numbered([np.array(column, np.int64) for column in columns])
    _, expected = np.unique(np.array(columns, np.int64).T, axis=0, return_inverse=True)
    assert found.tolist() == expected.reshape(-1).tolist()
    order = found.tolist()
    assert first_of_each(found).tolist() == [order.index(n) for n in range(max(order, default=-1) + 1)]


def test_no_columns_are_no_rows() -> None:
    with pytest.raises(ValueError, match="no columns"):
        numbered([])


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_units_are_alike_if_they_have_the_same_servers_and_leaves(case: Case) -> None:
    wiring = wired(*case).wiring
    d, folding = wiring.devices, fold(wiring)
    forms: dict[object, int] = {}
    for unit, group in enumerate(folding.unit_group.tolist()):
        leaves = np.flatnonzero((d.kind == LEAF) & (d.fabric == 0) & (d.unit == unit))
        servers = int(((d.kind == SERVER) & (d.unit == unit)).sum())
        pod = None if pods_follow_rails(wiring) else folding.pod_group[d.pod[leaves]].tolist()
        form = (servers, folding.leaf_kind[leaves].tolist(), pod)
        assert forms.setdefault(repr(form), group) == group
    assert sorted(forms.values()) == list(range(len(forms)))
