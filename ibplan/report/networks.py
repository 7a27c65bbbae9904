"""The storage and management networks in words: one section each, designs alike together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ibplan.explain import Data
from ibplan.explain.core import on_compute
from ibplan.explain.networks import SIDE_NETWORKS
from ibplan.findings import plural
from ibplan.host_groups import (
    APPLIANCE,
    APPLIANCE_PORT,
    INBAND_HOSTS,
    MANAGEMENT,
    OOB_LEAF,
    SERVER_INBAND,
    SERVER_STORAGE,
    STORAGE_HOSTS,
)
from ibplan.report import text
from ibplan.report.sections import Line, Section, labels

_GROUPS = {APPLIANCE: "storage appliances", APPLIANCE_PORT: "storage appliances", "pdu": "power strips"}
_GROUPS |= {MANAGEMENT: "management servers", OOB_LEAF: "out-of-band switches"}
_GROUPS |= {SERVER_INBAND: "servers", SERVER_STORAGE: "servers"}
_NOT_PLANNED = (
    "storage appliances and management servers themselves",
    "fabric-manager appliances",
    "firewalls and uplinks to the world outside",
)


def network_sections(data: Data) -> list[Section]:
    """A section for each network beside the compute network that some design has."""
    found = []
    for name, words in SIDE_NETWORKS.items():
        lines: dict[str, list[str]] = {}
        for design in data["designs"]:
            if design["networks"][name] is not None:
                sentence = _sentence(name, design, data)
            elif name in on_compute(data):
                sentence = _carried(name, design, data)
            else:
                continue
            lines.setdefault(sentence, []).append(labels(data)[design["id"]])
        several = len(data["designs"]) > 1
        rows = [Line(sentence, ", ".join(where) if several else "-") for sentence, where in lines.items()]
        found.append(Section(words.capitalize(), tuple(rows)))
    return found


def _carried(name: str, design: Data, data: Data) -> str:
    """Whose ports a network has that stands on the leaves of the compute network."""
    hosts = STORAGE_HOSTS if name == "storage" else INBAND_HOSTS
    rows = [row for row in design["networks"]["compute"]["links"] if row["host"] in hosts]
    parts = [f"ports on the leaves of the compute network: {'; '.join(_hosts({'links': rows})) or 'none known'}"]
    if name == "storage" and not any(row["host"] == SERVER_STORAGE for row in rows):
        parts.append("servers reach storage over their in-band ports")
    return "; ".join([*parts, "parts and price are among those of the compute network"])


def _sentence(name: str, design: Data, data: Data) -> str:
    """Switches, ports, ratio and price of one network."""
    network = design["networks"][name]
    parts = [
        f"{network['fabric']}: {_switches(network)}",
        "; ".join(_hosts(network)),
        _form(network, "compute" if "inband" in on_compute(data) else "in-band", _stated(name, data)),
        f"${text.usd(design['totals']['capex_by_network_usd'][name])}",
    ]
    return "; ".join(part for part in parts if part)


def _switches(network: Data) -> str:
    rows = [
        f"{plural(row['count'], row['tier'], 'leaves' if row['tier'] == 'leaf' else None)}"
        for row in network["switches"]
    ]
    return f"{' + '.join(rows)} of {network['switches'][0]['switch']}"


def _hosts(network: Data) -> Iterator[str]:
    for row in network["links"]:
        if row["kind"] == "server-leaf":
            yield f"{plural(row['count'], 'port')} of servers at {row['gbps']:,} Gb/s"
    switches: dict[int, int] = {}
    for row in network["links"]:
        if row["kind"] != "attached":
            continue
        if row["host"] in _GROUPS:
            yield f"{row['count']:,} of {_GROUPS[row['host']]} at {row['gbps']:,} Gb/s"
        else:
            switches[row["gbps"]] = switches.get(row["gbps"], 0) + row["count"]
    for gbps, count in switches.items():
        yield f"{count:,} of switches at {gbps:,} Gb/s"


def _stated(name: str, data: Data) -> bool:
    """Whether the spec asks for the oversubscription of a network."""
    key = {"storage": "storage", "inband": "management.inband"}.get(name, name)
    return all(row["key"] != f"{key}.oversubscription" for row in data["inputs"]["side_defaults"])


def _form(network: Data, uplinks_to: str, stated: bool) -> str:
    """How it hangs together: its ratio, asked or the default, or the uplinks to another network."""
    ratio = network["oversubscription"]["leaf"]
    if network["single_tier"] == "separate":
        return f"{plural(ratio['uplinks'], 'uplink')} a leaf to the {uplinks_to} network"
    joined = "two leaves joined, " if network["tiers"] == 1 else ""
    wanted = "asked" if stated else "default"
    return f"{joined}down:up {text.ratio(ratio['built'])} ({wanted} {text.ratio(ratio['asked'])})"


def left_out_words(data: Data) -> list[str]:
    """What no report holds: the networks that are not planned with the reason, and what hangs on them."""
    reasons: dict[str, list[str]] = {}
    for design in data["designs"]:
        for row in design["left_out"]:
            reasons.setdefault(f"{row['what']} ({row['reason']})", []).append(labels(data)[design["id"]])
    several = len(data["designs"])
    named = [words if len(where) == several else f"{words} [{', '.join(where)}]" for words, where in reasons.items()]
    hosts = ["management ports of attached hosts"] if data["effective_spec"]["attached"] else []
    panels = [] if _has_panels(data["designs"]) else ["patch panels"]
    return [*named, *hosts, *_NOT_PLANNED, *panels]


def _has_panels(designs: Sequence[Data]) -> bool:
    """Whether every design has panels in its bill."""
    return all(any(item["category"] == "panel" for item in design["line_items"]) for design in designs)
