"""Valid specs of every shape, and ways to spoil a text: strategies for hypothesis."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from ibplan.catalog.layers import KINDS
from ibplan.spec.models import LinkMedia
from tests.plan.planning import catalog

_SPEEDS: Final = st.sampled_from([25, 100, 200, 400, 800])
_RATIOS: Final = st.sampled_from(["1:1", "2:1", "3:1", "7:3", "1.067:1", 4, 1.5, "1:2", "1000:1", "1:1000"])
_MEDIA: Final = ("optical", "multimode", "single_mode", "copper")
_USD: Final = st.sampled_from(["$0", "$1", "$12.34", "$36,000", "$6M", "$2B", "999.99 USD"])
_WATTS: Final = st.sampled_from(["0 W", "1 W", "1.7 kW", "30 MW", "0.5 GW"])
_SHARES: Final = st.sampled_from(["0%", "2%", "33.3%", 0.5, "100%"])
_SERVERS: Final = (
    "nvidia-dgx-h100",
    "nvidia-hgx-h100",
    "nvidia-dgx-h200",
    "nvidia-dgx-b300",
    "nvidia-gb300-nvl72-tray",
)
_SWITCHES: Final = (
    "nvidia-qm9700",
    "nvidia-q3400-ra",
    "nvidia-qm8700",
    "nvidia-sn5600",
    "nvidia-sn5610",
    "nvidia-sn3700",
)


def _mapping(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


def _explored(values: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[Any]:
    return values | st.lists(values, min_size=1, max_size=most, unique_by=str)


def _class() -> st.SearchStrategy[str]:
    return st.sampled_from(sorted(catalog().cage_classes))


def switches() -> st.SearchStrategy[Any]:
    known = {"cage_class": _class(), "rack_units": st.integers(1, 8), "power": _WATTS, "price": _USD}
    ports = st.sampled_from([2, 3, 4, 7, 32, 36, 63, 64, 128, 144, 512, 16384])
    plain = _mapping({"ports": ports, "port_gbps": _SPEEDS}, known)
    cages = st.sampled_from([1, 2, 31, 32, 64, 72, 4096])
    caged = _mapping({"cages": cages, "ports_per_cage": st.integers(1, 16), "port_gbps": _SPEEDS}, known)
    return st.sampled_from(_SWITCHES) | plain | caged


def servers() -> st.SearchStrategy[Any]:
    inline = _mapping(
        {"gpus": st.sampled_from([1, 2, 4, 8, 64]), "nics": st.sampled_from([1, 2, 3, 8, 9, 64]), "port_gbps": _SPEEDS},
        {
            "ports_per_nic": st.sampled_from([1, 2, 4, 16]),
            "cage_class": _class(),
            "nvlink_domain_gpus": st.sampled_from([8, 64, 72, 576]),
            "rack_units": st.sampled_from([0.5, 1.0, 8.0]),
            "power": _WATTS,
            "price": _USD,
        },
    )
    return st.sampled_from(_SERVERS) | inline


def _attached() -> st.SearchStrategy[Any]:
    group = _mapping(
        {
            "name": st.sampled_from(["storage", "login", "x.1", "a_b"]),
            "servers": st.sampled_from([1, 2, 13, 200]),
            "ports": st.sampled_from([1, 2, 4, 8]),
            "port_gbps": _SPEEDS,
        },
        {"cage_class": _class()},
    )
    return st.lists(group, max_size=2, unique_by=lambda g: g["name"])


_PORTS: Final = {"ports_per_server": 2, "port_gbps": "400G"}


def _network() -> st.SearchStrategy[dict[str, Any]]:
    tiers = _mapping({"leaf": _explored(switches())}, {"spine": switches(), "core": switches()})
    leaf_ports = _explored(st.sampled_from(["half", "all"]))
    media = st.sampled_from(_MEDIA)
    by_tier = _mapping({}, {"leaf": _explored(_RATIOS), "spine": _explored(_RATIOS)})
    reserved = _mapping(
        {}, {"total": st.integers(0, 20), "per_leaf": st.integers(0, 4), "per_spine": st.integers(0, 4)}
    )
    return _mapping(
        {"switch": _explored(switches()) | tiers},
        {
            "oversubscription": _explored(_RATIOS) | by_tier,
            "tiers": _explored(st.sampled_from(["auto", 1, 2, 3])),
            "single_tier": _explored(st.sampled_from(["one_switch", "two_leaves"])),
            "rail_optimized": _explored(st.booleans()),
            "rail_only": _explored(st.booleans()),
            "planes": _explored(st.sampled_from([1, 2, 4])),
            "second_tier": _explored(st.sampled_from(["pod", "rail"])),
            "uplink_gbps": _explored(_SPEEDS) | _mapping({}, {"leaf": _SPEEDS, "spine": _SPEEDS}),
            "partial_units": _explored(st.sampled_from(["whole", "packed"])),
            "leaf_ports": leaf_ports | _mapping({}, {"leaf": leaf_ports, "spine": leaf_ports}),
            "unit_servers": st.sampled_from([1, 2, 16, 31, 32, 1000]),
            "pod_units": st.sampled_from([1, 2, 8, 1000]),
            "min_spines": st.sampled_from([1, 2, 3, 16]),
            "reserved_ports": st.integers(0, 20) | reserved,
            "medium": media | _mapping({}, dict.fromkeys(LinkMedia.model_fields, media)),
        },
    )


def _money() -> dict[str, st.SearchStrategy[Any]]:
    stock = {"lead_time_weeks": st.sampled_from([0.1, 12.0, 520.0]), "confidence": st.sampled_from(["95%", 0.999999])}
    with_rate = _mapping(stock | {"failures_per_year": _SHARES}, {})
    rate = {"currency": st.just("EUR"), "usd": st.sampled_from([1e-9, 1.1, 1e6])}
    rate |= {"date": st.just("2026-11-30"), "source": st.just("treasury")}
    licence = _USD | st.just("none")
    return {
        "discounts": _mapping({}, {"vendor": _mapping({}, {"NVIDIA": _SHARES}), "category": _shares("server")}),
        "exchange_rates": st.lists(_mapping(rate, {}), max_size=1),
        "spares": _SHARES | _mapping({}, {"switch": _mapping(stock, {}), "cable": with_rate, "transceiver": _SHARES}),
        "licences": _mapping({}, {"fabric_manager": licence, "network_os": licence, "telemetry": licence}),
        "support": _SHARES | _shares("licence"),
    }


def _shares(more: str) -> st.SearchStrategy[Any]:
    return _mapping({}, dict.fromkeys(("switch", "nic", "transceiver", "cable", "splitter", more), _SHARES))


def valid_specs() -> st.SearchStrategy[dict[str, Any]]:
    """Specs that the reader takes. Whether there is a design for them is another matter."""
    size = st.sampled_from([1, 2, 3, 7, 8, 31, 64, 127, 128, 500, 1024, 2000])
    budget = _mapping({}, {"network": _USD, "cluster": _USD, "power": _WATTS, "facility_power": _WATTS})
    optional = {
        "name": st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20),
        "model": st.sampled_from(["70B", "405B", 7_000_000_000, "llama3.1-70b", {"layers": 80, "hidden": 8192}]),
        "workload": _mapping({}, {"task": st.sampled_from(["training", "inference"]), "tokens": st.just("15T")}),
        "server": servers(),
        "attached": _attached(),
        "budget": _USD | budget,
        "fabrics": _explored(st.sampled_from(["infiniband", "roce", "ethernet"]), 3),
        "network": _network(),
        "optics": st.sampled_from(["compatible", "vendor"]),
        "storage": st.sampled_from(["none", {"gbps_per_gpu": 16.0}, _PORTS, {**_PORTS, "converged_with": "compute"}]),
        "management": _mapping(
            {}, {"inband": st.booleans() | st.just({**_PORTS, "converged_with": "compute"}), "oob": st.booleans()}
        ),
        "site": _mapping(
            {}, {"pue": st.sampled_from([1, 1.25, 5]), "years": st.integers(1, 30), "utilization": _SHARES}
        ),
        **_money(),
    }
    return st.one_of(_mapping({"servers": size}, optional), _mapping({"gpus": size.map(lambda n: n * 4)}, optional))


_PIECES: Final = (
    *(
        "{",
        "}",
        "[",
        "]",
        ": ",
        "- ",
        "\n",
        "\n  ",
        "#",
        "'",
        '"',
        "&a ",
        "*a",
        "!!x ",
        "|\n",
        ">",
        "? ",
        "---\n",
        "<<: ",
        "%",
    ),
    *(
        "~",
        "null",
        "true",
        ".nan",
        ".inf",
        "-1",
        "0",
        "1e30",
        "1e999",
        "0x10",
        "2:1",
        "9" * 30,
        "\t",
        "\x00",
        "\u202e",
        "é",
    ),
    *("gpus: ", "network: ", "switch: ", "{}", "[]", "[[]]", "id: x\n", *(f"{kind}:\n" for kind in KINDS)),
)


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """The text with a few pieces cut out, put in, doubled or moved; or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(st.sampled_from([*_PIECES, text[start:end], ""]) | st.text(max_size=5))
        text = draw(
            st.sampled_from([text[:start] + piece + text[end:], text[:start] + piece + text[start:], text[:end]])
        )
    return text
