"""What SONiC's YANG models ask of the tables that are written: keys, fields, values, references.

Facts of github:sonic-net/sonic-buildimage src/sonic-yang-models/yang-models and yang-templates/sonic-types.yang.j2, as
docs/export-ethernet.md lists them with their commits; agreement on faults is tests/export/test_sonic_models.py's. The
models themselves are in no package. What is asked here beyond them is said where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

Tables = dict[str, dict[str, dict[str, str]]]
Check = Callable[[str, Tables], bool]


def matching(pattern: str) -> Check:
    return lambda value, _: re.fullmatch(pattern, value) is not None


def within(least: int, most: int) -> Check:
    return lambda value, _: re.fullmatch("-?[0-9]+", value) is not None and least <= int(value) <= most


def named_in(*tables: str) -> Check:
    """A reference: the key of an entry of one of the tables."""
    return lambda value, all_tables: any(value in all_tables.get(table, {}) for table in tables)


class Model(NamedTuple):
    """A table: what its key is made of (split at `|`), its fields, those it must have; `free`: any other field."""

    key: tuple[Check, ...]
    fields: dict[str, Check]
    mandatory: tuple[str, ...] = ()
    free: tuple[Check, Check] | None = None


_UINT64 = within(0, 2**64 - 1)
_BOOLEAN = matching("true|false")
_NAME = matching(r"[a-zA-Z0-9]([-a-zA-Z0-9_]{0,31})")
_IPV4 = r"((\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\.){3}(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])"
_PREFIX = matching(rf"{_IPV4}/(\d|[12]\d|3[0-2])")
_PORT = named_in("PORT")
_QUEUES = matching(r"([0-7](,[0-7])*)?")
_DSCP = matching("6[0-3]|[1-5][0-9]|[0-9]")
_TC = within(0, 15)
# Eight queues and priority groups; the models would take queues up to 9 of a traffic class.
_CLASS = matching("[0-7]")
_MAP_KEY = (_NAME,)


def _or(first: Check, second: Check) -> Check:
    return lambda value, tables: first(value, tables) or second(value, tables)


def _text(least: int, most: int) -> Check:
    return lambda value, _: least <= len(value) <= most


MODELS: Final[dict[str, Model]] = {
    "DEVICE_METADATA": Model(
        (matching("localhost"),),
        {
            "hostname": _text(1, 63),
            "type": matching(
                # Those that releases agree on.
                "ToRRouter|LeafRouter|SpineChassisFrontendRouter|ChassisBackendRouter|ASIC|MgmtToRRouter|SpineRouter|"
                "BackEndToRRouter|BackEndLeafRouter|EPMS|MgmtTsToR|BmcMgmtToRRouter|SonicHost|not-provisioned"
            ),
            "bgp_asn": within(0, 2**32 - 1),
            "bgp_router_id": matching(_IPV4),
            "docker_routing_config_mode": matching("separated|unified|split|split-unified"),
            "buffer_model": matching("dynamic|traditional"),
        },
    ),
    "PORT": Model(
        (_text(1, 128),),
        {
            "admin_status": matching("up|down"),
            "speed": within(1, 1_600_000),
            "mtu": within(68, 9216),
            "index": within(0, 65535),
            "subport": within(0, 8),
            "description": _text(0, 255),
            "fec": matching("rs|fc|none|auto"),
            "lanes": _text(1, 128),
            "alias": _text(1, 128),
        },
        ("speed",),
    ),
    "LOOPBACK_INTERFACE": Model((_text(1, 15), _PREFIX), {}),
    "INTERFACE": Model((_PORT, _PREFIX), {"ipv6_use_link_local_only": matching("enable|disable")}),
    "VLAN": Model(
        (matching(r"Vlan(409[0-5]|40[0-8]\d|[1-3]\d{3}|[1-9]\d{2}|[1-9]\d|[2-9])"),),
        {"vlanid": within(2, 4094), "mtu": within(1, 9216)},
    ),
    "VLAN_MEMBER": Model((named_in("VLAN"), _PORT), {"tagging_mode": matching("tagged|untagged")}, ("tagging_mode",)),
    "VLAN_INTERFACE": Model((named_in("VLAN"), _PREFIX), {}),
    "DEVICE_NEIGHBOR": Model((_text(1, 255),), {"name": _text(1, 255), "port": _text(1, 255)}),
    "DSCP_TO_TC_MAP": Model(_MAP_KEY, {}, free=(_DSCP, _TC)),
    "TC_TO_QUEUE_MAP": Model(_MAP_KEY, {}, free=(_TC, _CLASS)),
    "TC_TO_PRIORITY_GROUP_MAP": Model(_MAP_KEY, {}, free=(_TC, _CLASS)),
    "MAP_PFC_PRIORITY_TO_QUEUE": Model(_MAP_KEY, {}, free=(_CLASS, _CLASS)),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": Model(_MAP_KEY, {}, free=(_CLASS, _CLASS)),
    "PORT_QOS_MAP": Model(
        (_or(matching("global"), _PORT),),
        {
            "dscp_to_tc_map": named_in("DSCP_TO_TC_MAP"),
            "tc_to_queue_map": named_in("TC_TO_QUEUE_MAP"),
            "tc_to_pg_map": named_in("TC_TO_PRIORITY_GROUP_MAP"),
            "pfc_to_queue_map": named_in("MAP_PFC_PRIORITY_TO_QUEUE"),
            "pfc_to_pg_map": named_in("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
            "pfc_enable": _QUEUES,
            "pfcwd_sw_enable": _QUEUES,
        },
    ),
    "SCHEDULER": Model((_text(1, 255),), {"type": matching("DWRR|WRR|STRICT"), "weight": within(1, 100)}),
    "WRED_PROFILE": Model(
        _MAP_KEY,
        {
            "ecn": matching("ecn_(none|green|yellow|red|green_yellow|green_red|yellow_red|all)"),
            **{f"wred_{color}_enable": _BOOLEAN for color in ("green", "yellow", "red")},
            **{f"{color}_{end}_threshold": _UINT64 for color in ("green", "yellow", "red") for end in ("min", "max")},
            **{f"{color}_drop_probability": within(0, 100) for color in ("green", "yellow", "red")},
        },
    ),
    "QUEUE": Model(
        (_or(_PORT, matching("CPU")), matching(r"\d+(-\d+)?")),
        {"scheduler": named_in("SCHEDULER"), "wred_profile": named_in("WRED_PROFILE")},
    ),
    "PFC_WD": Model(
        (_or(_PORT, matching("GLOBAL")),),
        {
            "action": matching("drop|forward|alert"),
            "detection_time": within(100, 5000),
            "restoration_time": within(100, 60000),
            "POLL_INTERVAL": within(100, 1000),
        },
    ),
    "CABLE_LENGTH": Model(_MAP_KEY, {}, free=(_PORT, matching(r"\d+m|None"))),
    "BUFFER_POOL": Model(
        (_text(1, 255),),
        {
            "type": matching("ingress|egress|both"),
            "mode": matching("static|dynamic"),
            "size": _UINT64,
            "xoff": _UINT64,
        },
        ("type", "mode"),
    ),
    "BUFFER_PROFILE": Model(
        (_text(1, 255),),
        {
            "pool": named_in("BUFFER_POOL"),
            "xon": _UINT64,
            "xoff": _UINT64,
            "size": _UINT64,
            "dynamic_th": within(-8, 7),
        },
        ("pool", "size"),
    ),
    "BUFFER_PG": Model((_PORT, matching("[0-7](-[0-7])?")), {"profile": named_in("BUFFER_PROFILE")}),
    "BUFFER_QUEUE": Model((_PORT, matching(r"(1[0-5]|\d)(-(1[0-5]|\d))?")), {"profile": named_in("BUFFER_PROFILE")}),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": Model(
        _MAP_KEY,
        {"default_dynamic_th": within(-8, 7), "over_subscribe_ratio": within(0, 65535)},
        ("default_dynamic_th",),
    ),
}
# Tables whose key may stop early: `Loopback0` as well as `Loopback0|10.0.0.1/32`.
_SHORT_KEYS: Final = ("LOOPBACK_INTERFACE", "INTERFACE", "VLAN_INTERFACE")


def complaints(tables: Tables) -> list[str]:
    """All that the models would refuse."""
    found: list[str] = []
    for table, entries in tables.items():
        model = MODELS.get(table)
        if model is None:
            found.append(f"{table}: no such table")
            continue
        for key, fields in entries.items():
            found += [f"{table}|{key}: {text}" for text in _entry(table, model, key, fields, tables)]
    return [*found, *_between_tables(tables)]


def _entry(table: str, model: Model, key: str, fields: dict[str, Any], tables: Tables) -> Iterator[str]:
    parts = key.split("|")
    if len(parts) != len(model.key) and not (table in _SHORT_KEYS and len(parts) == 1):
        yield "parts of the key"
    yield from (f"key {part}" for part, check in zip(parts, model.key, strict=False) if not check(part, tables))
    yield from (f"{field} is missing" for field in model.mandatory if field not in fields)
    for field, value in fields.items():
        if not isinstance(value, str):
            yield f"{field}: not a text"
        elif not _field_is_right(model, field, value, tables):
            yield f"{field}: {value}"


def _field_is_right(model: Model, field: str, value: str, tables: Tables) -> bool:
    if field in model.fields:
        return model.fields[field](value, tables)
    return model.free is not None and model.free[0](field, tables) and model.free[1](value, tables)


def entries_of(tables: Tables, table: str) -> dict[str, dict[str, str]]:
    return tables.get(table, {})


def _between_tables(tables: Tables) -> Iterator[str]:
    """What the models ask across entries."""
    for table in _SHORT_KEYS:
        for key in entries_of(tables, table):
            if key.partition("|")[0] not in entries_of(tables, table):
                yield f"{table}|{key}: an address without its interface"
    yield from _vlans(tables)
    yield from _thresholds(tables)
    yield from _intervals(tables)
    yield from _lanes(tables)


def _vlans(tables: Tables) -> Iterator[str]:
    for key, row in entries_of(tables, "VLAN").items():
        if key.removeprefix("Vlan") != row.get("vlanid"):
            yield f"VLAN|{key}: number and name differ"
    members = [key.partition("|")[2] for key in entries_of(tables, "VLAN_MEMBER")]
    for port in members:
        if members.count(port) > 1:
            yield f"VLAN_MEMBER: {port} is untagged in several"
        if port in entries_of(tables, "INTERFACE"):
            yield f"VLAN_MEMBER: {port} is a routed port"


def _thresholds(tables: Tables) -> Iterator[str]:
    for name, row in entries_of(tables, "WRED_PROFILE").items():
        for color in ("green", "yellow", "red"):
            least, most = (_number(row.get(f"{color}_{end}_threshold")) for end in ("min", "max"))
            if most is not None and (least is None or most < least):
                yield f"WRED_PROFILE|{name}: {color} thresholds"


def _number(text: str | None) -> int | None:
    return int(text) if isinstance(text, str) and text.isdecimal() else None


def _intervals(tables: Tables) -> Iterator[str]:
    """`GLOBAL` has the interval and nothing else; the times of a port, where it has them, are no shorter."""
    watchdog = entries_of(tables, "PFC_WD")
    look = _number(watchdog.get("GLOBAL", {}).get("POLL_INTERVAL"))
    for port, row in watchdog.items():
        if port == "GLOBAL":
            yield from (f"PFC_WD|GLOBAL: {field}" for field in row if field != "POLL_INTERVAL")
            continue
        if "POLL_INTERVAL" in row:
            yield f"PFC_WD|{port}: interval"
        for field in ("detection_time", "restoration_time"):
            time = _number(row.get(field))
            if look is not None and time is not None and time < look:
                yield f"PFC_WD|{port}: {field} is shorter than an interval"


def _lanes(tables: Tables) -> Iterator[str]:
    """Every port has lanes, or none where they are left to the switch. Beyond the models: a lane is of one port."""
    ports = entries_of(tables, "PORT").values()
    if any("lanes" in row for row in ports) and not all("lanes" in row for row in ports):
        yield "PORT: lanes are missing"
    lanes = [lane for row in ports for lane in row.get("lanes", "").split(",") if lane]
    if len(set(lanes)) < len(lanes):
        yield "PORT: a lane of two ports"
