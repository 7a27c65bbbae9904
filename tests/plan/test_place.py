"""Racks in a plan: what the spec states is kept, what is assumed is said, what is unknown stays unknown."""

from __future__ import annotations

import pytest

from ibplan.plan.results import Plan
from tests.plan.planning import COMPUTE_ONLY, only, plan

POD = f"gpus: 1024\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700}}\n{COMPUTE_ONLY}"
INLINE = (
    "{servers: 16, fabrics: infiniband, network: {switch: nvidia-qm9700}, server: {gpus: 8, nics: 8, port_gbps: 400%s}}"
)


def codes(result: Plan) -> list[str]:
    return [finding.code for finding in result.findings]


def test_a_plan_counts_racks_and_floor() -> None:
    design = only(plan(POD))
    assert design.site is not None
    assert (design.site.racks.server, design.site.racks.network, design.totals.racks) == (32, 3, 35)
    assert design.site.pdus == 32 * 3 + 3 * 2
    assert design.site.server_rack_w == 4 * 10_200
    assert design.site.floor_m2 == pytest.approx(3 * 20 * 0.6 * 4.27 / 2)


def test_what_the_spec_states_stands_in_the_measures() -> None:
    result = plan(POD, "site.rack.power=21kW", "site.hall.aisle_pitch=5m")
    found = {m.name: (m.value, m.basis) for m in result.inputs.measures}
    assert found["rack_power_w"] == (21_000, "spec")
    assert found["aisle_pitch_m"] == (5, "spec")
    assert found["rack_units"] == (48, "assumption")
    design = only(result)
    assert design.site is not None
    assert design.site.servers_per_rack == 2


def test_a_server_without_a_height_has_no_layout() -> None:
    result = plan(INLINE % "")
    assert only(result).site is None
    assert only(result).totals.racks is None
    (found,) = [f for f in result.findings if f.code == "layout-unknown"]
    assert "rack units of the server" in found.message


def test_an_inline_server_with_a_height_has_one() -> None:
    site = only(plan(INLINE % ", rack_units: 5, power: 9 kW")).site
    assert site is not None
    assert site.servers_per_rack == 5


def test_unknown_power_is_said_and_not_taken_for_zero() -> None:
    result = plan(INLINE % ", rack_units: 5")
    site = only(result).site
    assert site is not None
    assert (site.servers_per_rack, site.server_rack_w) == (8, None)
    assert "rack-power-unchecked" in codes(result)


def test_a_stated_limit_rejects_with_both_numbers() -> None:
    result = plan(POD, "site.rack.power=10kW")
    (rejected,) = result.rejected
    (reason,) = rejected.reasons
    assert (reason.code, reason.need, reason.have) == ("rack-power", 10_200, 10_000)
    assert "nvidia-dgx-h100 draws 10,200 W, but site.rack.power allows 10,000 W" in reason.text
    assert result.recommended is None


def test_a_server_taller_than_a_rack_is_rejected() -> None:
    result = plan(INLINE % ", rack_units: 60")
    assert {r.code for row in result.rejected for r in row.reasons} == {"rack-units"}


def test_an_assumed_limit_only_warns() -> None:
    result = plan(INLINE % ", rack_units: 8, power: 60 kW")
    (found,) = [f for f in result.findings if f.code == "rack-over-limit"]
    assert "the server draws more than the 45 kW" in found.message


def test_a_weight_limit_names_what_has_no_weight() -> None:
    result = plan(POD.replace("nvidia-qm9700", "nvidia-q3400-ra"), "server=nvidia-dgx-b300", "site.rack.weight_kg=500")
    (found,) = [f for f in result.findings if f.code == "rack-weight-unchecked"]
    assert "nvidia-q3400-ra" in found.message
    site = only(result).site
    assert site is not None
    assert site.servers_per_rack == 2


def test_attached_hosts_have_a_place_if_their_height_is_stated() -> None:
    hosts = "attached=[{name: storage, servers: 8, ports: 2, port_gbps: 400%s}]"
    without, placed = plan(POD, hosts % ""), plan(POD, hosts % ", rack_units: 2")
    assert "hosts-not-placed" in codes(without)
    assert "hosts-not-placed" not in codes(placed)
    # Eight hosts of two units need a rack of their own.
    assert only(without).totals.racks == (only(placed).totals.racks or 0) - 1


def test_nvl72_racks_stay_whole() -> None:
    text = "{gpus: 144, server: nvidia-gb200-nvl72-tray, network: {switch: nvidia-sn5610}, fabrics: roce}"
    site = only(plan(text)).site
    assert site is not None
    assert (site.racks.server, site.servers_per_rack, site.server_rack_w) == (2, 18, 120_000)
    refused = plan(text, "site.rack.power=100kW")
    assert "a rack of nvidia-gb200-nvl72-tray draws 120,000 W" in refused.rejected[0].reasons[0].text


def test_the_hall_must_hold_all_rows() -> None:
    result = plan(POD, "site.hall.rows=2")
    (reason,) = result.rejected[0].reasons
    assert (reason.code, reason.need, reason.have) == ("hall-rows", 3, 2)
    assert only(plan(POD, "site.hall={rows: 2, racks_per_row: 40}")).site is not None
