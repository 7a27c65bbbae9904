"""SONiC's tables: strictly what its models ask, for every form; and that they say what the plan says."""

from __future__ import annotations

import pytest

from ibplan.cabling.rows import cable_rows
from ibplan.errors import InputError, UsageError
from ibplan.export.buffers import Buffers
from ibplan.export.settings import lossless_of
from ibplan.export.switch_ports import SwitchPorts
from ibplan.plan.cabled import cable_design
from tests.export.ethernet import ONE, PLANES, small
from tests.export.samples import SPECS, catalog, scheme, texts
from tests.export.sonic_models import complaints
from tests.export.sonic_samples import LARGE, SAMPLES, tables_of


@pytest.mark.parametrize("name", SAMPLES)
def test_the_models_refuse_nothing(name: str) -> None:
    for switch, tables in tables_of(SAMPLES[name]()).items():
        assert complaints(tables) == [], switch


def test_every_port_in_use_is_there_and_no_other() -> None:
    made = scheme("one-switch")
    (tables,) = tables_of(made).values()
    (ports,) = SwitchPorts(made, "sonic").of.values()
    assert set(tables["PORT"]) == {port.name for port in ports}
    for port in ports:
        row = tables["PORT"][port.name]
        assert row["speed"] == str(port.gbps * 1000)
        # SN5600 with 128 ports of 400G (port_config.ini): four lanes a port, as the port is numbered.
        first = int(port.name.removeprefix("Ethernet"))
        assert row["lanes"] == ",".join(map(str, range(first, first + 4)))
        assert row["alias"] == f"etp{first // 8 + 1}{'ab'[first % 8 // 4]}"
        assert row["index"] == str(first // 8 + 1)


def test_lanes_are_those_of_the_breakout_that_the_wiring_has() -> None:
    """SN5610 at 100G: eight ports of one lane beside four of two (platform.json); 100G NICs take the single lanes."""
    made = scheme("converged-pair-16")
    own = tables_of(made)["leaf-001"]["PORT"]
    lanes: dict[str, list[int]] = {}
    for row in own.values():
        lanes.setdefault(row["speed"], []).append(row["lanes"].count(",") + 1)
    assert {speed: set(counts) for speed, counts in lanes.items()} == {
        "100000": {1},
        "200000": {2},
        "400000": {4},
        "800000": {8},
    }
    assert [own[f"Ethernet{n}"]["lanes"] for n in range(8)] == [str(n) for n in range(8)]


def test_a_cage_that_is_not_broken_out_has_no_subports() -> None:
    """SN2010: 25G whole in SFP28 cages, although its QSFP28 cages could give four such ports."""
    (tables,) = tables_of(scheme("small-team")).values()
    assert {row["subport"] for row in tables["PORT"].values()} == {"0"}


def test_lengths_are_those_of_the_cable_schedule() -> None:
    """Every port has the length that is ordered for its cable, in whole metres."""
    made = scheme("roce-2048")
    (network,) = cable_design(made.loaded, catalog(), made.wired.id, "compute").networks
    ordered = {
        (end.device.rpartition("/")[2], end.cage, port): row.length_m
        for row in cable_rows(network)
        for end in (row.a, *row.b)
        for port in end.port.split(",")
    }
    tables, names = tables_of(made), {device: made.names[device] for device in SwitchPorts(made, "sonic").of}
    usual = SwitchPorts(made, "cumulus").of
    compared = 0
    for device, ports in SwitchPorts(made, "sonic").of.items():
        lengths = tables[names[device]]["CABLE_LENGTH"]["AZURE"]
        for port, called in zip(ports, usual[device], strict=True):
            length_m = ordered[names[device], port.cage + 1, called.name]
            assert length_m is not None
            assert lengths[port.name] == f"{-(-length_m // 1):.0f}m"
            compared += 1
    assert compared == sum(map(len, usual.values())) == 4096


def test_profiles_are_by_speed_and_length_and_all_are_used() -> None:
    made = small(PLANES)
    for tables in tables_of(made).values():
        for port, row in tables["PORT"].items():
            profile = tables["BUFFER_PG"][f"{port}|3"]["profile"]
            assert profile == f"roce_{int(row['speed']) // 1000}g_{tables['CABLE_LENGTH']['AZURE'][port]}"
        used = {row["profile"] for table in ("BUFFER_PG", "BUFFER_QUEUE") for row in tables[table].values()}
        assert used == set(tables["BUFFER_PROFILE"])


def test_a_port_that_shares_headroom_keeps_only_what_it_needs_to_go_on() -> None:
    alone, shared = (tables_of(small(PLANES, f"ethernet.lossless.headroom_sharing={n}"))["leaf-p1-001"] for n in (1, 4))
    assert "DEFAULT_LOSSLESS_BUFFER_PARAMETER" not in alone
    assert shared["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["over_subscribe_ratio"] == "4"
    for name, row in alone["BUFFER_PROFILE"].items():
        if name != "roce_egress":
            other = shared["BUFFER_PROFILE"][name]
            assert other["xoff"] == row["xoff"]
            assert int(other["size"]) == int(row["size"]) - int(row["xoff"])


def test_the_sum_of_the_profiles_is_what_is_held_against_the_buffer() -> None:
    made = small(PLANES)
    lossless = lossless_of(made)
    assert lossless is not None
    buffers = Buffers(made, lossless)
    tables = tables_of(made)
    for device, ports in SwitchPorts(made, "sonic").of.items():
        own = tables[made.names[device]]
        total = buffers.total([buffers.port(device, port) for port in ports])
        assert total.exact
        assert total.size == sum(
            int(own["BUFFER_PROFILE"][row["profile"]]["size"]) for row in own["BUFFER_PG"].values()
        )


def test_a_network_without_roce_loses_packets_where_it_must() -> None:
    (tables,) = tables_of(scheme("small-team")).values()
    assert not {"PFC_WD", "BUFFER_PG", "WRED_PROFILE", "CABLE_LENGTH"} & set(tables)


def test_a_chip_that_nothing_is_published_of_gets_lengths_alone() -> None:
    tables = tables_of(SAMPLES["lanes not known"]())["leaf-001"]
    assert not {"BUFFER_PROFILE", "BUFFER_PG"} & set(tables)
    assert set(tables["CABLE_LENGTH"]["AZURE"]) == set(tables["PORT"])
    assert not any("lanes" in row for row in tables["PORT"].values())
    assert "buffer_model" not in tables["DEVICE_METADATA"]["localhost"]


def test_without_a_layout_no_length_is_made_up() -> None:
    made = scheme("roce-2048", "server={gpus: 8, nics: 8, port_gbps: 400}", LARGE, design="roce-nvidia-sn5610-2t-1to1")
    tables = tables_of(made)["leaf-001"]
    assert not {"CABLE_LENGTH", "BUFFER_PROFILE", "BUFFER_PG"} & set(tables)
    assert complaints(tables) == []


def test_ports_that_sonic_does_not_name_are_refused() -> None:
    with pytest.raises(UsageError, match="how sonic names the ports"):
        texts("sonic", small(ONE))


def test_data_and_notifications_must_differ() -> None:
    with pytest.raises(InputError, match=r"ethernet\.lossless\.dscp: 48 would mark data and .* alike"):
        texts("sonic", small(PLANES, "ethernet.lossless.dscp=48"))


def test_the_specs_of_the_project_fit_their_switches() -> None:
    """No RoCE design of specs/ needs more headroom than its switches have."""
    for spec in ("b300-two-planes", "roce-2048", "one-switch"):
        assert (SPECS / f"{spec}.yaml").exists()
        made = scheme(spec)
        lossless = lossless_of(made)
        assert lossless is not None
        buffers = Buffers(made, lossless)
        found = SwitchPorts(made).of
        totals = {d: buffers.total([buffers.port(d, port) for port in ports]) for d, ports in found.items()}
        for note in buffers.notes(totals):
            assert "% of its buffer" in note
