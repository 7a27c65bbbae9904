"""RoCE on SONiC: marks, queues, pause frames, marking of congestion, watchdog, headroom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ibplan.export.buffers import Buffers, PortBuffer
from ibplan.export.settings import Lossless, ethernet_figures
from ibplan.export.switch_ports import SwitchPort

# The names of our maps and profiles; and what every SONiC has: one list of lengths and parameters, and pools.
MAP: Final = "ROCE"
_ONLY: Final = "AZURE"
_IN_POOL: Final = "ingress_lossless_pool"
_OUT_POOL: Final = "egress_lossless_pool"
_OUT_PROFILE: Final = "roce_egress"
_CLASSES: Final = range(8)
_MARKS: Final = range(64)
_ALL_OF_FREE: Final = 7  # 2^7 times what is free: egress never drops what ingress has taken
_EQUAL_TO_FREE: Final = 0  # 2^0: a class may hold as much as is still free

Tables = dict[str, Any]


def qos_tables(buffers: Buffers, device: int, ports: Sequence[SwitchPort]) -> Tables:
    """The tables of one switch that make a class of traffic lossless on all its ports."""
    lossless = buffers.lossless
    found = [buffers.port(device, port) for port in ports]
    return {
        **_maps(lossless),
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": MAP}, **{port.name: _port_map(lossless) for port in ports}},
        "SCHEDULER": _schedulers(),
        "WRED_PROFILE": {MAP: _marking()},
        "QUEUE": {key: row for port in ports for key, row in _queues(port.name, lossless).items()},
        "PFC_WD": _watchdog(ports),
        "CABLE_LENGTH": _cables(ports, found),
        **_buffers(lossless, ports, found),
    }


def _maps(lossless: Lossless) -> Tables:
    """From mark to class, from class to queue and priority group, from pause priority to both."""
    marks = {lossless.dscp: lossless.priority, lossless.cnp_dscp: lossless.cnp_priority}
    own = str(lossless.priority)
    return {
        "DSCP_TO_TC_MAP": {MAP: {str(mark): str(marks.get(mark, 0)) for mark in _MARKS}},
        "TC_TO_QUEUE_MAP": {MAP: {str(n): str(n) for n in _CLASSES}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {str(n): own if n == lossless.priority else "0" for n in _CLASSES}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: {str(n): str(n) for n in _CLASSES}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {MAP: {own: own}},
    }


def _port_map(lossless: Lossless) -> dict[str, str]:
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map", "pfc_to_pg_map")
    own = str(lossless.priority)
    return {**dict.fromkeys(maps, MAP), "pfc_enable": own, "pfcwd_sw_enable": own}


def _schedulers() -> Tables:
    share = ethernet_figures().lossless.bandwidth_percent.value
    return {
        "roce_data": {"type": "DWRR", "weight": str(share)},
        "roce_other": {"type": "DWRR", "weight": str(100 - share)},
        "roce_cnp": {"type": "STRICT"},
    }


def _queues(port: str, lossless: Lossless) -> Tables:
    return {
        f"{port}|0": {"scheduler": "roce_other"},
        f"{port}|{lossless.priority}": {"scheduler": "roce_data", "wred_profile": MAP},
        f"{port}|{lossless.cnp_priority}": {"scheduler": "roce_cnp"},
    }


def _marking() -> dict[str, str]:
    """Packets of all colors are marked; in a lossless queue none is dropped for its length."""
    known = ethernet_figures().marking
    found = {"ecn": "ecn_all"}
    for color in ("green", "yellow", "red"):
        found |= {
            f"wred_{color}_enable": "true",
            f"{color}_min_threshold": str(known.least_bytes.value),
            f"{color}_max_threshold": str(known.most_bytes.value),
            f"{color}_drop_probability": str(known.percent.value),
        }
    return found


def _watchdog(ports: Sequence[SwitchPort]) -> Tables:
    """Detection and restoration take an interval for each 32 ports, as SONiC's own default does; it looks as often."""
    known = ethernet_figures().watchdog
    intervals = max(1, -(-len(ports) // known.ports_an_interval.value))
    wait_ms = known.interval_ms.value * intervals
    row = {"action": "drop", "detection_time": str(wait_ms), "restoration_time": str(wait_ms)}
    look_ms = min(wait_ms, known.most_interval_ms.value)
    return {"GLOBAL": {"POLL_INTERVAL": str(look_ms)}, **{port.name: dict(row) for port in ports}}


def _cables(ports: Sequence[SwitchPort], found: Sequence[PortBuffer]) -> Tables:
    lengths = {
        p.name: f"{buffer.length_m}m" for p, buffer in zip(ports, found, strict=True) if buffer.length_m is not None
    }
    return {_ONLY: lengths} if lengths else {}


def _buffers(lossless: Lossless, ports: Sequence[SwitchPort], found: Sequence[PortBuffer]) -> Tables:
    """Profiles by speed and length. Nothing where one of them cannot be computed: SONiC then uses its own by length."""
    sizes = [buffer.headroom for buffer in found]
    if not sizes or any(size is None for size in sizes):
        return {}
    shared = lossless.sharing > 1
    profiles: Tables = {}
    groups: Tables = {}
    for port, buffer in zip(ports, found, strict=True):
        size = buffer.headroom
        assert size is not None
        name = f"roce_{port.gbps}g_{buffer.length_m}m"
        profiles[name] = {
            "pool": _IN_POOL,
            "xon": str(size.xon),
            "xoff": str(size.xoff),
            "size": str(size.size - size.xoff if shared else size.size),
            "dynamic_th": str(_EQUAL_TO_FREE),
        }
        groups[f"{port.name}|{lossless.priority}"] = {"profile": name}
    profiles[_OUT_PROFILE] = {"pool": _OUT_POOL, "size": "0", "dynamic_th": str(_ALL_OF_FREE)}
    tables: Tables = {
        "BUFFER_POOL": {
            _IN_POOL: {"type": "ingress", "mode": "dynamic"},
            _OUT_POOL: {"type": "egress", "mode": "dynamic"},
        },
        "BUFFER_PROFILE": profiles,
        "BUFFER_PG": groups,
        "BUFFER_QUEUE": {f"{port.name}|{lossless.priority}": {"profile": _OUT_PROFILE} for port in ports},
    }
    if shared:
        tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {
            _ONLY: {"default_dynamic_th": str(_EQUAL_TO_FREE), "over_subscribe_ratio": str(lossless.sharing)}
        }
    return tables
