"""Our check of the tables refuses what SONiC's own models refuse; and these, where they are, take what is written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.export.ethernet import PLANES, small
from tests.export.faults import GONE, Fault, broken
from tests.export.sonic_models import MODELS, Tables, complaints
from tests.export.sonic_samples import SAMPLES, tables_of
from tests.export.sonic_yang import PLACES, Models

# A directory with SONiC's models, where whoever runs the tests has it: docs/export-ethernet.md.
REAL = os.environ.get("SONIC_YANG")
# One fault each in a good file: where, and what stands there instead. First those that the models themselves see.
SEEN: Final[tuple[Fault, ...]] = (
    (("PORT", "Ethernet0", "speed"), "4000000"),
    (("PORT", "Ethernet0", "speed"), "400 000"),
    (("PORT", "Ethernet0", "speed"), GONE),
    (("PORT", "Ethernet0", "lanes"), GONE),
    (("PORT", "Ethernet0", "mtu"), "9217"),
    (("PORT", "Ethernet0", "subport"), "9"),
    (("PORT", "Ethernet0", "index"), "65536"),
    (("PORT", "Ethernet0", "fec"), "RS"),
    (("PORT", "Ethernet0", "admin_status"), "on"),
    (("PORT", "Ethernet0", "colour"), "red"),
    (("PORT", "Ethernet0", "description"), "x" * 256),
    (("INTERFACE", "Ethernet0"), {}),
    (("INTERFACE", "Ethernet480", "ipv6_use_link_local_only"), "true"),
    (("INTERFACE", "Ethernet999"), {}),
    (("LOOPBACK_INTERFACE", "Loopback0"), GONE),
    (("LOOPBACK_INTERFACE", "Loopback0|10.0.0.256/32"), {}),
    (("VLAN", "Vlan100", "vlanid"), "101"),
    (("VLAN", "Vlan100", "mtu"), "9217"),
    (("VLAN", "Vlan4096"), {"vlanid": "4096"}),
    (("VLAN_INTERFACE", "Vlan100"), GONE),
    (("VLAN_INTERFACE", "Vlan100|10.0.0.300/26"), {}),
    (("VLAN_INTERFACE", "Vlan100|10.0.0.1/33"), {}),
    (("VLAN_MEMBER", "Vlan100|Ethernet0", "tagging_mode"), "native"),
    (("VLAN_MEMBER", "Vlan100|Ethernet999"), {"tagging_mode": "untagged"}),
    (("VLAN_MEMBER", "Vlan9|Ethernet0"), {"tagging_mode": "tagged"}),
    (("DEVICE_NEIGHBOR", "Ethernet0", "name"), ""),
    (("DEVICE_METADATA", "localhost", "type"), "CoreRouter"),
    (("DEVICE_METADATA", "localhost", "hostname"), "h" * 64),
    (("DEVICE_METADATA", "localhost", "bgp_asn"), "4294967296"),
    (("DEVICE_METADATA", "localhost", "bgp_router_id"), "10.0.0"),
    (("DEVICE_METADATA", "localhost", "docker_routing_config_mode"), "frr"),
    (("DEVICE_METADATA", "localhost", "buffer_model"), "static"),
    (("DSCP_TO_TC_MAP", "ROCE", "64"), "0"),
    (("DSCP_TO_TC_MAP", "ROCE", "06"), "0"),
    (("DSCP_TO_TC_MAP", "ROCE", "26"), "16"),
    (("TC_TO_QUEUE_MAP", "ROCE", "3"), "10"),
    (("TC_TO_PRIORITY_GROUP_MAP", "ROCE", "3"), "8"),
    (("MAP_PFC_PRIORITY_TO_QUEUE", "ROCE", "8"), "0"),
    (("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "ROCE", "3"), "9"),
    (("PORT_QOS_MAP", "Ethernet0", "pfc_enable"), "3,"),
    (("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map"), "none"),
    (("PORT_QOS_MAP", "Ethernet1"), {}),
    (("SCHEDULER", "roce_data", "weight"), "0"),
    (("SCHEDULER", "roce_data", "type"), "dwrr"),
    (("WRED_PROFILE", "ROCE", "green_min_threshold"), "1500001"),
    (("WRED_PROFILE", "ROCE", "green_min_threshold"), GONE),
    (("WRED_PROFILE", "ROCE", "red_drop_probability"), "101"),
    (("WRED_PROFILE", "ROCE", "wred_red_enable"), "True"),
    (("QUEUE", "Ethernet0|3", "wred_profile"), "none"),
    (("QUEUE", "Ethernet0|3", "scheduler"), "none"),
    (("PFC_WD", "GLOBAL", "POLL_INTERVAL"), "900"),
    (("PFC_WD", "GLOBAL", "action"), "drop"),
    (("PFC_WD", "Ethernet0", "POLL_INTERVAL"), "200"),
    (("PFC_WD", "Ethernet0", "detection_time"), "5001"),
    (("CABLE_LENGTH", "AZURE", "Ethernet0"), "5.5m"),
    (("CABLE_LENGTH", "AZURE", "Ethernet1"), "5m"),
    (("BUFFER_POOL", "ingress_lossless_pool", "mode"), "auto"),
    (("BUFFER_POOL", "egress_lossless_pool"), GONE),
    (("BUFFER_PROFILE", "roce_egress", "dynamic_th"), "8"),
    (("BUFFER_PROFILE", "roce_egress", "dynamic_th"), "--3"),
    (("BUFFER_PROFILE", "roce_egress", "size"), GONE),
    (("BUFFER_PG", "Ethernet0|3", "profile"), "none"),
    (("BUFFER_PG", "Ethernet0|8"), {"profile": "roce_egress"}),
    (("BUFFER_PG", "Ethernet1|3"), {"profile": "roce_egress"}),
    (("BUFFER_QUEUE", "Ethernet0|16"), {"profile": "roce_egress"}),
    (("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "default_dynamic_th"), GONE),
    (("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio"), "70000"),
)
# What a switch would not do, or what is not written, although the models let it pass.
BEYOND: Final[tuple[Fault, ...]] = (
    (("PORT", "Ethernet0", "lanes"), "4,5,6,7"),
    (("PORT", "Ethernet0", "mtu"), 9216),
    (("TC_TO_QUEUE_MAP", "ROCE", "3"), "9"),
    (("QUEUE", "Ethernet0|x"), {}),
    (("NO_SUCH_TABLE",), {"x": {}}),
)


def _good() -> Tables:
    return tables_of(small(PLANES, "ethernet.lossless.headroom_sharing=4"))["leaf-p1-001"]


def test_the_check_refuses_what_is_wrong() -> None:
    """So that a check which finds nothing means something."""
    good = _good()
    assert complaints(good) == []
    assert [fault for fault in (*SEEN, *BEYOND) if not complaints(broken(good, *fault))] == []
    assert {path[0] for path, _ in SEEN} == set(MODELS) == set(PLACES)


def _loaded(tables: Tables) -> Tables:
    """The fragment on a switch, which has the lanes that the fragment leaves to it."""
    for row in tables["PORT"].values():
        row.setdefault("lanes", "0")
    return tables


@pytest.mark.skipif(REAL is None, reason="SONIC_YANG does not say where SONiC's models are")
def test_the_models_themselves(tmp_path: Path) -> None:
    assert REAL is not None
    assert shutil.which("yanglint"), "SONIC_YANG needs yanglint (Debian: libyang2-tools)"
    models, file = Models(Path(REAL)), tmp_path / "tables.xml"
    for name, make in SAMPLES.items():
        for switch, tables in tables_of(make()).items():
            assert models.complaints(_loaded(tables), file) == [], (name, switch)
    good = _good()
    assert [fault for fault in SEEN if not models.complaints(broken(good, *fault), file)] == []
