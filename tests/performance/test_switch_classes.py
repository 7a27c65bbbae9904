"""Classes of switches that no traffic can tell apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from ibplan.fabric.wiring import Wiring
from ibplan.fabric.wiring_model import LEAF
from ibplan.performance.fairness import Bools
from ibplan.performance.flow_network import flow_network
from tests.performance.nets import failing, few, three_tiers


def test_without_failures_spines_are_alike_by_pod_and_cores_all() -> None:
    w = three_tiers(4, 4, 4, 4)
    network = flow_network(w)
    classes = [set(network.switch_class[w.of_kind(kind)].tolist()) for kind in ("leaf", "spine", "core")]
    assert [len(found) for found in classes] == [16, 4, 1]
    assert network.up.shape[1] == 1


def test_a_failed_link_sets_its_switches_apart() -> None:
    w = three_tiers(4, 4, 4, 4)
    works = np.ones(len(w.links), bool)
    lost = int(np.flatnonzero(w.devices.kind[w.links.b_device] == 5)[0])
    works[lost] = False
    network = flow_network(w, works)
    spine, core = int(w.links.a_device[lost]), int(w.links.b_device[lost])
    for switch in (spine, core):
        assert (network.switch_class == network.switch_class[switch]).sum() == 1


@given(case=failing())
@few
def test_members_of_a_class_have_as_many_links_to_every_class(case: tuple[Wiring, Bools]) -> None:
    w, works = case
    found = flow_network(w, works).switch_class
    table = np.zeros((len(w.devices), int(found.max()) + 1), int)
    for k in np.flatnonzero(works & (w.devices.kind[w.links.b_device] >= LEAF)).tolist():
        a, b = w.links.a_device[k], w.links.b_device[k]
        table[a, found[b]] += 1
        table[b, found[a]] += 1
    leaves = w.devices.kind == LEAF
    assert len(set(found[leaves].tolist())) == leaves.sum()
    for number in range(int(found.max()) + 1):
        rows = table[found == number]
        assert (rows == rows[0]).all()
