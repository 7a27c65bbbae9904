"""Figures of the range of prices, of energy, and of the total cost of ownership."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ibplan.explain.core import CAPEX, Data, Figure, Get, Input, at, item_lines, labelled_lines, plain

_POWER = Input("power_known_w", "W", "maximum of the network, as far as known", at("totals", "power_known_w"))
_SERVERS = Input("servers_w", "W", "maximum of all servers", at("energy", "servers_w"))
_MEAN = Input("network_mean_w", "W", "what the network draws on average", at("energy", "network_mean_w"))
YEARS = Input("years", "years", "site.years of the spec", at("tco", "years"))


def _site(key: str) -> Get:
    def get(design: Data, plan: Data) -> float:
        return float(str(plan["effective_spec"]["site"][key]).strip("$").removesuffix("/kWh"))

    return get


_PUE = Input("pue", "", "site.pue of the spec", _site("pue"))
_TARIFF = Input("usd_per_kwh", "USD/kWh", "site.electricity of the spec", _site("electricity"))
_UTILIZATION = Input("utilization", "share", "site.utilization of the spec", _site("utilization"))


def spread_figures() -> Iterator[Figure]:
    """The purchase price before discounts, and at the lowest and highest known prices."""
    for name, key, words in (
        ("capex_list_usd", "list_price_usd", "before discounts"),
        ("capex_low_usd", "low_price_usd", "at the lowest known price of every part, or of one that is compatible"),
        ("capex_high_usd", "high_price_usd", "at the highest known price of every part, or of one that is compatible"),
    ):
        inputs = (
            Input("quantity", "pieces", "of each priced line", item_lines("quantity", _priced)),
            Input(key, "USD", "of each priced line", item_lines(key, _priced)),
        )
        formula = f"sum(n * usd for n, usd in zip(quantity, {key}))"
        get = at("price_spread", name.removeprefix("capex_"))
        yield Figure(name, f"purchase price of the priced parts {words}", "USD", formula, get, inputs)


def _priced(item: Data) -> bool:
    return item["unit_price_usd"] is not None


def energy_figures() -> Iterator[Figure]:
    """Power of network and servers, energy a year, and what it costs."""
    rule = (
        "typical power of the network where all of it is known, else its maximum, as far as known (docs/economics.md)"
    )
    yield plain("network_mean_w", "what the network draws on average", "W", _MEAN.get, rule)
    rule = "maximum of a server in the catalogue or the spec x servers"
    yield plain("servers_w", "maximum power of all servers", "W", _SERVERS.get, rule)
    title = "maximum power of network and servers"
    yield Figure("it_w", title, "W", "power_known_w + servers_w", at("energy", "it_w"), (_POWER, _SERVERS))
    title, formula = "maximum power of network and servers at the meter", "(power_known_w + servers_w) * pue"
    yield Figure("facility_w", title, "W", formula, at("energy", "facility_w"), (_POWER, _SERVERS, _PUE))
    title = "estimate: how far the servers' power falls between computing and communicating in step"
    share = Input(
        "swing_fraction", "share", "of the maximum; estimate (docs/economics.md)", at("energy", "swing_fraction")
    )
    yield Figure("swing_w", title, "W", "servers_w * swing_fraction", at("energy", "swing_w"), (_SERVERS, share))
    for name, words, formula, inputs in (
        ("network", "the network", "network_mean_w * pue * 8.76", (_MEAN, _PUE)),
        (
            "cluster",
            "network and servers",
            "(network_mean_w + servers_w * utilization) * pue * 8.76",
            (_MEAN, _SERVERS, _UTILIZATION, _PUE),
        ),
    ):
        kwh = f"{name}_per_year_kwh"
        title = f"energy of {words} a year at the meter"
        yield Figure(kwh, title, "kWh", formula, at("energy", kwh), inputs)
        used = Input(kwh, "kWh", title, at("energy", kwh))
        usd, formula = f"{name}_per_year_usd", f"{kwh} * usd_per_kwh"
        yield Figure(usd, f"cost of the energy of {words} a year", "USD", formula, at("energy", usd), (used, _TARIFF))


def _support_rates(design: Data, plan: Data) -> dict[str, float]:
    rates: dict[str, Any] = plan["effective_spec"]["support"]
    lines = labelled_lines(design["line_items"])
    return {label: rates.get(item["category"].lower()) or 0.0 for label, item in lines if _supported(item)}


def _supported(item: Data) -> bool:
    return item["unit_price_usd"] is not None and item["tier"] != "spares"


def total_figures() -> Iterator[Figure]:
    """Energy, support and the total over the years."""
    kwh = Input("network_per_year_kwh", "kWh", "energy of the network a year", at("energy", "network_per_year_kwh"))
    formula, title = "network_per_year_kwh * usd_per_kwh * years", "cost of the network's energy over the years"
    get = at("tco", "energy_usd")
    yield Figure("tco_energy_usd", title, "USD", formula, get, (kwh, _TARIFF, YEARS))
    inputs = (
        Input("extended_usd", "USD", "of each priced line, spares apart", item_lines("extended_usd", _supported)),
        Input("rates", "share", "support a year of its category, by the spec", _support_rates),
        YEARS,
    )
    formula = "sum(usd * rate for usd, rate in zip(extended_usd, rates)) * years"
    title = "cost of support over the years; unknown if the spec states no rate"
    yield Figure("tco_support_usd", title, "USD", formula, at("tco", "support_usd"), inputs)
    energy = Input("energy_usd", "USD", "cost of the network's energy; none if unknown", at("tco", "energy_usd"))
    support = Input("support_usd", "USD", "cost of support; none if unknown", at("tco", "support_usd"))
    title = "purchase, energy and support of the network over the years, as far as known"
    formula = "capex_usd + (energy_usd or 0) + (support_usd or 0)"
    yield Figure("tco_total_usd", title, "USD", formula, at("tco", "total_usd"), (CAPEX, energy, support))
    for end in ("low", "high"):
        usd = Input(f"capex_{end}_usd", "USD", "purchase price at these prices", at("price_spread", f"{end}_usd"))
        formula = f"{usd.name} + (energy_usd or 0) + ((support_usd or 0) * {usd.name} / capex_usd if capex_usd else 0)"
        title = f"the same at the {end}est known price of every part"
        yield Figure(f"tco_{end}_usd", title, "USD", formula, at("tco", f"{end}_usd"), (usd, energy, support, CAPEX))
