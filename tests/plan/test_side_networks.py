"""Storage, in-band and out-of-band networks: who is on them, what is not known, and that everything adds up."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibplan.errors import InputError
from ibplan.plan.results import Design, NetworkResult, Plan
from tests.examples import share
from tests.plan.planning import COMPUTE_ONLY, only, plan, with_prices

POD = "servers: 127\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"
INLINE = "servers: 16\nserver: {gpus: 8, nics: 8, port_gbps: 400, cage_class: nic-osfp-400}\nfabrics: infiniband\n"


def findings(result: Plan) -> set[str]:
    return {finding.code for finding in result.findings}


def groups(network: NetworkResult | None) -> dict[str, int]:
    assert network is not None
    found: Counter[str] = Counter()
    for row in network.links:
        if row.kind in ("server-leaf", "attached"):
            found[row.host or "servers"] += row.count
    return dict(found)


def others(design: Design) -> dict[str, NetworkResult]:
    networks = design.networks
    found = {"storage": networks.storage, "inband": networks.inband, "oob": networks.oob}
    return {name: network for name, network in found.items() if network is not None}


def test_every_switch_of_the_other_networks_and_every_pdu_has_a_management_port() -> None:
    networks, site = only(plan(POD)).networks, only(plan(POD)).site
    expected = {"servers": 127}
    for name, network in (("compute", networks.compute), ("storage", networks.storage), ("inband", networks.inband)):
        assert network is not None
        expected |= {f"{name}.{row.tier}": row.count for row in network.switches}
    assert site is not None
    assert groups(networks.oob) == expected | {"pdu": site.pdus}


def test_every_out_of_band_switch_has_two_uplinks_in_band() -> None:
    networks = only(plan(POD)).networks
    assert networks.oob is not None
    assert groups(networks.inband) == {"servers": 254, "oob.leaf": 2 * networks.oob.counts.switches}


def test_totals_are_sums_over_all_networks() -> None:
    design = only(plan(POD))
    networks = [design.networks.compute, *others(design).values()]
    totals = design.totals
    assert totals.switches == sum(n.counts.switches for n in networks)
    assert totals.links == sum(n.counts.links for n in networks)
    assert totals.cables == sum(n.counts.cables or 0 for n in networks)
    assert totals.modules == sum((n.counts.modules_switch or 0) + (n.counts.modules_server or 0) for n in networks)
    billed = Counter({"switch": 0, "transceiver": 0, "cable": 0})
    for item in design.line_items:
        billed[item.category] += item.quantity
    assert billed == {"switch": totals.switches, "transceiver": totals.modules, "cable": totals.cables}
    assert sum(totals.capex_by_network_usd.values()) == totals.capex_usd
    assert set(totals.capex_by_network_usd) == {"compute", "storage", "inband", "oob"}


def test_the_network_budget_holds_for_all_networks() -> None:
    alone = only(plan(POD + COMPUTE_ONLY)).totals.capex_usd
    whole = only(plan(POD)).totals.capex_usd
    assert alone < whole
    between = plan(POD + f"budget: ${(alone + whole) / 2:.2f}\n")
    assert between.recommended is None
    assert only(between).fits.network_budget is False
    assert plan(POD + f"budget: ${whole + 1:.2f}\n").recommended is not None


@pytest.mark.parametrize(
    ("extra", "missing"),
    [
        ("", ["storage network", "in-band network", "out-of-band network"]),
        ("management: {oob: {ports_per_server: 1}}\n", ["storage network", "in-band network"]),
        ("storage: {ports_per_server: 2, port_gbps: 400}\n", ["in-band network", "out-of-band network"]),
    ],
)
def test_ports_that_nobody_states_leave_a_network_out_with_the_reason(extra: str, missing: list[str]) -> None:
    result = plan(INLINE + "network: {switch: nvidia-qm9700}\n" + extra)
    design = only(result)
    assert [row.what for row in design.left_out] == missing
    assert all("are not known; state " in row.reason for row in design.left_out)
    assert len([f for f in result.findings if f.code == "network-left-out"]) == len(missing)
    assert {item.network for item in design.line_items} == {"compute", *others(design)}


def test_what_the_spec_leaves_out_is_listed_without_a_warning() -> None:
    result = plan(POD + COMPUTE_ONLY)
    assert [row.reason for row in only(result).left_out] == ["the spec leaves it out"] * 3
    assert "network-left-out" not in findings(result)


def test_unknown_cages_are_unpriced_not_guessed() -> None:
    text = INLINE + "network: {switch: nvidia-qm9700}\nstorage: {ports_per_server: 2, port_gbps: 400}\n"
    design = only(plan(text))
    assert not design.totals.complete
    assert [(row.part, row.quantity) for row in design.totals.unpriced] == [("unknown-400g-server-leaf-link", 32)]
    assert only(plan(text.replace("gbps: 400}\n", "gbps: 400, cage_class: nic-qsfp112}\n"))).totals.complete


def test_appliance_ports_from_the_bandwidth_of_a_gpu() -> None:
    # 1,016 GPUs x 16 Gb/s = 16,256 Gb/s = 40.64 ports of 400 Gb/s, 81.28 of 200.
    assert groups(only(plan(POD + "storage: {gbps_per_gpu: 16}\n")).networks.storage)["storage.port"] == 41
    slower = "storage: {gbps_per_gpu: 16, appliance_gbps: 200, appliance_cage_class: nic-qsfp112}\n"
    assert groups(only(plan(POD + slower)).networks.storage)["storage.port"] == 82
    assert "storage-ports-too-slow" not in findings(plan(POD + "storage: {gbps_per_gpu: 100}\n"))
    assert "storage-ports-too-slow" in findings(plan(POD + "storage: {gbps_per_gpu: 101}\n"))


def test_appliances_bring_their_management_ports() -> None:
    text = POD + "storage: {appliances: 6, appliance_ports: 24, appliance_management_ports: 2}\n"
    networks = only(plan(text)).networks
    assert groups(networks.storage)["storage.appliance"] == 24
    assert groups(networks.oob)["storage.appliance"] == 12


def test_appliances_whose_ports_nobody_states_are_said_to_be_missing() -> None:
    assert "storage-appliances-unknown" in findings(plan(POD))
    assert "storage-appliances-unknown" not in findings(plan(POD + "storage: {appliance_ports: 8}\n"))


def test_storage_follows_the_compute_fabric_unless_the_spec_says_otherwise() -> None:
    kinds = {d.fabric: others(d)["storage"].fabric for d in plan("gpus: 256\n").designs}
    assert kinds == {"infiniband": "infiniband", "roce": "roce"}
    (kind,) = {others(d)["storage"].fabric for d in plan("gpus: 256\nstorage: {fabric: roce}\n").designs}
    assert kind == "roce"


def test_converged_storage_is_on_the_in_band_network() -> None:
    result = plan(POD + "storage: {converged_with: inband, appliance_ports: 16}\n")
    networks = only(result).networks
    assert networks.storage is None
    assert groups(networks.inband)["storage.port"] == 16
    nowhere = plan(POD + "storage: {converged_with: inband}\nmanagement: {inband: false}\n")
    assert "storage-nowhere" in findings(nowhere)


def test_uplinks_without_an_in_band_network_are_said_to_be_open() -> None:
    assert "oob-uplinks-open" in findings(plan(POD + "management: {inband: false}\n"))
    assert "oob-uplinks-open" not in findings(plan(POD))


def test_a_default_switch_has_a_price_and_a_named_one_need_not() -> None:
    assert only(plan(POD)).totals.complete
    named = only(plan(POD + "management: {inband: {switch: nvidia-sn4600c}}\n"))
    assert [row.part for row in named.totals.unpriced] == ["nvidia-sn4600c"]
    using = with_prices({"nvidia-sn4600c": 1})
    cheap = others(only(plan(POD, using=using)))["inband"]
    assert {row.switch for row in cheap.switches} == {"nvidia-sn4600c"}


def test_where_only_a_switch_without_a_price_would_do_it_is_named() -> None:
    result = plan("servers: 32768\nfabrics: infiniband\nnetwork: {switch: nvidia-q3400-ra}\nserver: nvidia-dgx-b300\n")
    (row,) = [row for row in only(result).left_out if row.what == "in-band network"]
    assert "nvidia-sn4600c would do, but has no price" in row.reason
    assert "management.inband.switch" in row.reason


def test_a_switch_that_cannot_build_it_says_why() -> None:
    design = only(plan(POD + "storage: {switch: nvidia-sn3700c}\n"))
    assert design.left_out[0].reason == "it cannot be built: nvidia-sn3700c: it cannot serve infiniband"


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("storage: {switch: nvidia-qm97}\n", 4, "unknown switch 'nvidia-qm97'"),
        ("management: {oob: {switch: sn2201}}\n", 4, "unknown switch 'sn2201'"),
        ("storage: {appliance_cage_class: qsfp}\n", 4, "unknown cage_class 'qsfp'"),
        ("storage: {appliances: 3, appliance_ports: 4}\n", 4, "4 ports are not the same number on each of 3"),
        ("storage: {gbps_per_gpu: 1, appliance_ports: 4}\n", 4, "keep one"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, where: int, words: str) -> None:
    with pytest.raises(InputError) as refused:
        plan(POD + text)
    (problem,) = refused.value.problems
    assert problem.line == where
    assert words in problem.message


def test_the_published_ratios_are_the_defaults() -> None:
    networks = only(plan(POD)).networks
    assert networks.storage is not None
    assert networks.storage.oversubscription.leaf.asked == Fraction(4, 3)
    assert networks.inband is not None
    assert networks.inband.oversubscription.leaf.asked == Fraction(8)
    equal = only(plan(POD + "storage: {oversubscription: 1:1}\n")).networks.storage
    assert equal is not None
    assert equal.oversubscription.leaf.built == 1


@settings(max_examples=share(12))
@given(
    servers=st.integers(1, 600),
    storage=st.sampled_from(["none", "{appliance_ports: 12}", "{gbps_per_gpu: 8}"]),
    pdus=st.integers(1, 300),
    server=st.sampled_from(["nvidia-dgx-h100", "nvidia-dgx-b200"]),
)
def test_whatever_is_planned_adds_up(servers: int, storage: str, pdus: int, server: str) -> None:
    text = f"servers: {servers}\nserver: {server}\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700}}\n"
    design = only(plan(f"{text}storage: {storage}\nmanagement: {{oob: {{pdus: {pdus}}}}}\n"))
    networks: dict[str, Any] = {"compute": design.networks.compute, **others(design)}
    oob = networks["oob"]
    switches = sum(n.counts.switches for name, n in networks.items() if name != "oob")
    assert oob.counts.endpoints == servers + switches + pdus
    assert oob.counts.leaf == -(-oob.counts.endpoints // 48)
    assert groups(networks["inband"])["oob.leaf"] == 2 * oob.counts.leaf
    built = networks["inband"].oversubscription.leaf
    assert built.built <= built.asked
    assert (
        sum((i.extended_usd or Decimal(0)) for i in design.line_items).quantize(Decimal("0.01"))
        == design.totals.capex_usd
    )
