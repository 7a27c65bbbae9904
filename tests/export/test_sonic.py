"""SONiC's tables: strictly what its models ask, for every form; and that they say what the plan says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ibplan.cabling.rows import cable_rows
from ibplan.errors import InputError, UsageError
from ibplan.export.buffers import Buffers
from ibplan.export.scheme import Scheme
from ibplan.export.settings import lossless_of
from ibplan.export.sonic import CONFIG_DB
from ibplan.export.switch_ports import SwitchPorts
from ibplan.plan.cabled import cable_design
from tests.export.ethernet import ONE, PLANES, small
from tests.export.samples import SPECS, catalog, scheme, texts
from tests.export.sonic_models import complaints

LARGE = "budget=$900M"
SAMPLES: dict[str, Callable[[], Scheme]] = {
    "two planes": lambda: small(PLANES),
    "headroom is shared": lambda: small(PLANES, "ethernet.lossless.headroom_sharing=4"),
    "other marks": lambda: small(PLANES, "ethernet.lossless.dscp=24", "ethernet.lossless.cnp_dscp=46"),
    "one switch": lambda: scheme("one-switch"),
    "no RoCE": lambda: scheme("small-team"),
    "lanes not known": lambda: scheme("roce-2048", "network.switch=arista-7060x6-64pe", LARGE, "gpus=512"),
    "three tiers": lambda: scheme(
        "three-lines", LARGE, "fabrics=roce", "network.tiers=3", "network.pod_units=2", "gpus=512"
    ),
}


def _tables(made: Scheme) -> dict[str, dict[str, Any]]:
    files = texts("sonic", made)
    return {path.partition("/")[0]: json.loads(text) for path, text in files.items() if path.endswith(CONFIG_DB)}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_models_refuse_nothing(name: str) -> None:
    for switch, tables in _tables(SAMPLES[name]()).items():
        assert complaints(tables) == [], switch


def test_the_check_refuses_what_is_wrong() -> None:
    """So that a check which finds nothing means something: each of these is one fault in a good file."""
    good = json.dumps(_tables(small(PLANES))["leaf-p1-001"])
    faults: list[tuple[tuple[str, ...], Any]] = [
        (("PORT", "Ethernet0", "speed"), "4000000"),
        (("PORT", "Ethernet0", "mtu"), 9216),
        (("PORT", "Ethernet0", "lanes"), "4,5,6,7"),
        (("PORT", "Ethernet0", "colour"), "red"),
        (("BUFFER_PG", "Ethernet0|3", "profile"), "none"),
        (("BUFFER_PG", "Ethernet1|3"), {"profile": "roce_egress"}),
        (("QUEUE", "Ethernet0|3", "wred_profile"), "none"),
        (("VLAN_INTERFACE", "Vlan100|10.0.0.300/26"), {}),
        (("VLAN", "Vlan100", "vlanid"), "101"),
        (("INTERFACE", "Ethernet0"), {}),
        (("PFC_WD", "GLOBAL", "POLL_INTERVAL"), "900"),
        (("WRED_PROFILE", "ROCE", "green_min_threshold"), "1500001"),
        (("CABLE_LENGTH", "AZURE", "Ethernet0"), "5.5m"),
        (("DSCP_TO_TC_MAP", "ROCE", "64"), "0"),
        (("NO_SUCH_TABLE",), {}),
    ]
    for path, value in faults:
        tables = json.loads(good)
        node = tables
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        assert complaints(tables), path
    assert complaints(json.loads(good)) == []


def test_every_port_in_use_is_there_and_no_other() -> None:
    made = scheme("one-switch")
    (tables,) = _tables(made).values()
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
    tables, names = _tables(made), {device: made.names[device] for device in SwitchPorts(made, "sonic").of}
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
    for tables in _tables(made).values():
        for port, row in tables["PORT"].items():
            profile = tables["BUFFER_PG"][f"{port}|3"]["profile"]
            assert profile == f"roce_{int(row['speed']) // 1000}g_{tables['CABLE_LENGTH']['AZURE'][port]}"
        used = {row["profile"] for table in ("BUFFER_PG", "BUFFER_QUEUE") for row in tables[table].values()}
        assert used == set(tables["BUFFER_PROFILE"])


def test_a_port_that_shares_headroom_keeps_only_what_it_needs_to_go_on() -> None:
    alone, shared = (_tables(small(PLANES, f"ethernet.lossless.headroom_sharing={n}"))["leaf-p1-001"] for n in (1, 4))
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
    tables = _tables(made)
    for device, ports in SwitchPorts(made, "sonic").of.items():
        own = tables[made.names[device]]
        total = buffers.total([buffers.port(device, port) for port in ports])
        assert total.exact
        assert total.size == sum(
            int(own["BUFFER_PROFILE"][row["profile"]]["size"]) for row in own["BUFFER_PG"].values()
        )


def test_a_network_without_roce_loses_packets_where_it_must() -> None:
    (tables,) = _tables(scheme("small-team")).values()
    assert not {"PFC_WD", "BUFFER_PG", "WRED_PROFILE", "CABLE_LENGTH"} & set(tables)


def test_a_chip_that_nothing_is_published_of_gets_lengths_alone() -> None:
    tables = _tables(SAMPLES["lanes not known"]())["leaf-001"]
    assert not {"BUFFER_PROFILE", "BUFFER_PG"} & set(tables)
    assert set(tables["CABLE_LENGTH"]["AZURE"]) == set(tables["PORT"])
    assert not any("lanes" in row for row in tables["PORT"].values())
    assert "buffer_model" not in tables["DEVICE_METADATA"]["localhost"]


def test_without_a_layout_no_length_is_made_up() -> None:
    made = scheme("roce-2048", "server={gpus: 8, nics: 8, port_gbps: 400}", LARGE, design="roce-nvidia-sn5610-2t-1to1")
    tables = _tables(made)["leaf-001"]
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
