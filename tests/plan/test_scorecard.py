"""The scorecard: counts against the design, facts against the catalogue's chips, makers against evaluated forms."""

from __future__ import annotations

import pytest

from ibplan.parts.offers import PartsBook
from ibplan.plan.makers import makers
from ibplan.plan.results import Design
from ibplan.plan.scorecard_data import scorecard_facts
from ibplan.plan.switches import can_be_planned
from tests.plan.planning import COMPUTE_ONLY, catalog, only, plan
from tests.report import samples

ROCE = "model: 70B\ngpus: 1024\nfabrics: roce\nnetwork: {switch: nvidia-sn5610}\n"
IB = "model: 70B\ngpus: 1024\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"


def _tasks(design: Design) -> dict[str, tuple[int, str]]:
    return {task.task: (task.quantity, task.counted) for task in design.scorecard.tasks}


def test_roce_tunes_every_port_of_switches_and_nics() -> None:
    design = only(plan(ROCE + COMPUTE_ONLY))
    # 16 leaves with 64 x 400G down and 32 x 800G up; 8 spines with 64 x 800G; 1,024 NIC ports.
    card = design.scorecard
    assert (card.loss.available, card.loss.name) == (True, "PFC and ECN")
    assert (card.switch_ports_to_tune, card.nic_ports_to_tune) == (16 * 96 + 8 * 64, 1024)
    assert _tasks(design) == {
        "BGP": (24, "switches"),
        "PFC, ECN and buffers": (2048, "switch_ports"),
        "PFC watchdog": (2048, "switch_ports"),
        "RoCE class and DCQCN": (1024, "nic_ports"),
    }


def test_the_storage_network_counts_where_it_is_of_the_same_fabric() -> None:
    design = only(plan(ROCE))
    storage = design.networks.storage
    assert storage is not None
    used = sum(row.ports_used for row in storage.switches)
    assert design.scorecard.switch_ports_to_tune == 2048 + used
    assert design.scorecard.nic_ports_to_tune == 1024 + storage.counts.endpoints
    assert _tasks(design)["BGP"] == (24 + storage.counts.switches, "switches")


def test_infiniband_tunes_none_and_has_a_manager_for_each_subnet() -> None:
    design = only(plan(IB + COMPUTE_ONLY))
    card = design.scorecard
    assert (card.loss.name, card.switch_ports_to_tune, card.nic_ports_to_tune) == ("credits", 0, 0)
    assert _tasks(design) == {"subnet manager": (1, "subnets"), "aggregation manager": (1, "subnets")}
    assert [task.optional for task in design.scorecard.tasks] == [False, True]
    rails = only(plan(IB + COMPUTE_ONLY, "network.rail_only=true"))
    assert _tasks(rails)["subnet manager"] == (8, "subnets")
    assert _tasks(only(plan(IB)))["subnet manager"] == (2, "subnets")  # the storage network is one of its own


def test_one_switch_has_one_path_and_routes_nothing() -> None:
    design = only(plan(ROCE + COMPUTE_ONLY, "gpus=128"))
    assert design.networks.compute.counts.switches == 1
    assert design.scorecard.balancing.name is None
    assert "BGP" not in _tasks(design)
    assert _tasks(design)["PFC, ECN and buffers"] == (128, "switch_ports")


def test_plain_ethernet_repairs_loss() -> None:
    design = next(d for d in samples.plan(samples.ETHERNET).designs if d.fabric == "ethernet")
    card = design.scorecard
    assert (card.loss.available, card.loss.name, card.switch_ports_to_tune) == (False, "retransmission", 0)


@pytest.mark.parametrize(
    ("text", "switch", "scheme", "reduction"),
    [
        (IB, "nvidia-qm9700", "adaptive", True),
        (IB, "{leaf: nvidia-qm9700, spine: nvidia-qm9790}", "adaptive", True),
        (ROCE, "nvidia-sn5610", "ECMP or adaptive", False),
        (ROCE, "arista-7060x6-64pe", "ECMP or dynamic", None),
        (ROCE, "cisco-nexus-9364e-sg2-o", "ECMP", None),
        (IB, "{ports: 64, port_gbps: 400}", "fixed routes", None),
        (ROCE, "{leaf: {ports: 128, port_gbps: 400}, spine: nvidia-sn5610}, uplink_gbps: 400", "ECMP", False),
        (ROCE, "{leaf: nvidia-sn5600, spine: nvidia-sn5610}", "ECMP or adaptive", False),
        (ROCE, "{leaf: cisco-nexus-9364e-sg2-o, spine: arista-7060x6-64pe}", "ECMP", None),
    ],
)
def test_what_the_switches_can(text: str, switch: str, scheme: str, reduction: bool | None) -> None:
    (design,) = plan(text + COMPUTE_ONLY, f"network={{switch: {switch}}}").designs
    assert design.scorecard.balancing.name == scheme
    assert design.scorecard.reduction.available is reduction
    assert (design.scorecard.reduction.name is not None) is (reduction is True)


def test_chips_are_known_by_their_names_whatever_is_added() -> None:
    facts = scorecard_facts()
    (fact,) = (row for row in facts.in_network_reduction if "Spectrum-6" in row.asics)
    assert [fact.holds_for(asic) for asic in ("Spectrum-6", "Spectrum-6 CPO", "Spectrum-66", None)] == [
        True,
        True,
        False,
        False,
    ]
    assert facts.balancing_of("infiniband", ["Quantum-3 (number of ASICs not stated)"]).name == "adaptive"
    assert facts.balancing_of("infiniband", ["Quantum-X CPO"]).name == "fixed routes"
    for fabric in facts.fabrics:
        assert facts.balancing_of(fabric, ["never heard of", None]).fabric == fabric


# Of the sums of these chips nothing was found: this list may only shrink.
UNKNOWN = {"Broadcom Trident 3", "Broadcom Trident 4", "Silicon One G200", None}


def test_every_switch_that_is_planned_with_has_its_facts() -> None:
    facts = scorecard_facts()
    planned = [switch for switch in catalog().switches.values() if can_be_planned(switch)]
    unknown = {switch.asic for switch in planned if facts.reduction_of(switch) is None}
    assert {asic for asic in unknown if asic is None or "Cloud Scale" not in asic} <= UNKNOWN


def test_what_the_catalogue_states_of_sums_is_what_counts() -> None:
    facts = scorecard_facts()
    for switch in catalog().switches.values():
        fact = facts.reduction_of(switch)
        stated = switch.in_network_reduction is not None
        assert (fact is not None and fact.available is True) is stated, switch.id
    switches = catalog().switches
    own = switches["arista-7060x6-64pe"].model_copy(update={"in_network_reduction": "low_latency"})
    fact = facts.reduction_of(own)
    assert fact is not None
    assert (fact.available, fact.name) == (True, "small messages")


def test_every_chip_named_in_the_facts_is_in_the_catalogue() -> None:
    facts = scorecard_facts()
    named = {name for row in (*facts.load_balancing, *facts.in_network_reduction) for name in row.asics}
    asics = [switch.asic or "" for switch in catalog().switches.values()]
    assert {name for name in named if not any(f"{asic} ".startswith(f"{name} ") for asic in asics)} == set()


@pytest.mark.parametrize("name", ["three-lines", "roce-2048"])
def test_makers_are_those_whose_switches_are_planned_where_none_is_named(name: str) -> None:
    found, evaluated = samples.evaluated(name)
    book = PartsBook.of(catalog(), samples.spec(name).spec.optics)
    for design in found.designs:
        alike = [evaluated[i] for i in (design.id, *(other.id for other in design.alternatives))]
        vendors = {other.form.switches.leaf.entry.vendor for other in alike if other.form.switches.leaf.entry}
        assert set(design.scorecard.makers) == vendors
        assert all(makers(other, book) == design.scorecard.makers for other in alike)


def test_makers_do_not_hang_on_the_switch_that_is_named() -> None:
    makers_of = [
        only(plan(ROCE, f"network.switch={switch}")).scorecard.makers for switch in ("nvidia-sn5610", "dell-z9864f-on")
    ]
    assert makers_of[0] == makers_of[1]
    assert {"Arista", "Dell", "NVIDIA"} <= set(makers_of[0])
    assert only(plan(IB)).scorecard.makers == ("NVIDIA",)
