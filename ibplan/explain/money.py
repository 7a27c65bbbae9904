"""Figures of money, power and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ibplan.explain.core import CAPEX, GPUS, SWITCH_TIERS, Data, Figure, Get, Input, at, item_lines, limit_of, plain

_CATEGORIES = {
    "switch": "switches",
    "NIC": "NICs",
    "transceiver": "modules",
    "cable": "cables",
    "splitter": "splitters",
    "licence": "licences",
    "trunk": "trunks",
    "panel": "panels",
}
_NETWORKS = ("compute", "storage", "inband", "oob")
_TIERS = (*SWITCH_TIERS, "server", "attached", "reserved", "licences", "spares", "cabling")


def _priced(test: Callable[[Data], bool] = lambda item: True) -> tuple[Input, Input]:
    def chosen(item: Data) -> bool:
        return item["unit_price_usd"] is not None and test(item)

    return (
        Input("quantity", "pieces", "of each priced line", item_lines("quantity", chosen)),
        Input("unit_price_usd", "USD", "of each priced line", item_lines("unit_price_usd", chosen)),
    )


_EXTENDED = "sum(n * usd for n, usd in zip(quantity, unit_price_usd))"


def money_figures() -> Iterator[Figure]:
    """Purchase price: whole, per GPU, by category and tier, and how sure it is."""
    title = "purchase price of the priced parts; a lower bound while parts have no price"
    yield Figure("capex_usd", title, "USD", _EXTENDED, at("totals", "capex_usd"), _priced())
    get = at("totals", "capex_per_gpu_usd")
    yield Figure("capex_per_gpu_usd", "purchase price per GPU", "USD", "capex_usd / gpus", get, (CAPEX, GPUS))
    for key, names, titles in (
        ("category", _CATEGORIES.items(), "purchase price of {}"),
        ("tier", [(t, t) for t in _TIERS], "purchase price of the parts counted to the {} tier"),
        ("network", [(n, n) for n in _NETWORKS], "purchase price of the {} network"),
    ):
        for name, words in names:
            inputs = _priced(lambda item, key=key, name=name: item[key] == name)  # type: ignore[misc]
            figure_id = f"capex_{name.lower()}_usd" if key == "category" else f"capex_{name}_{key}_usd"
            yield Figure(figure_id, titles.format(words), "USD", _EXTENDED, _share_of(key, name), inputs)
    (quantity, price) = _priced(lambda item: item["price_kind"] == "estimate")
    formula = _EXTENDED + " / capex_usd if capex_usd else 0"
    get = at("totals", "estimated_fraction")
    title = "share of the purchase price that rests on estimates"
    yield Figure("estimated_fraction", title, "share", formula, get, (quantity, price, CAPEX))
    unpriced = Input("unpriced", "pieces", "parts without a price", lambda design, plan: _unpriced(design))
    get = lambda design, plan: len(design["totals"]["unpriced"])  # noqa: E731 - a getter like the others
    yield Figure("unpriced_parts", "kinds of parts without a price", "parts", "len(unpriced)", get, (unpriced,))


_RACKS = Input("racks_usd", "USD", "of each priced line of racks", item_lines("extended_usd", lines="site_items"))
_SERVER = Input("server_usd", "USD", "price of one server", at("totals", "server_usd"))
_SERVERS = Input("servers", "servers", "of the design", at("totals", "servers"))


def cluster_figures() -> Iterator[Figure]:
    """What the cluster costs besides its network: servers and racks."""
    title = "price of the racks and rack PDUs that the spec gives a price; not in the purchase price"
    inputs = (
        Input("quantity", "pieces", "of each priced line of racks", item_lines("quantity", lines="site_items")),
        Input("unit_price_usd", "USD", "of each of these", item_lines("unit_price_usd", lines="site_items")),
    )
    yield Figure("site_usd", title, "USD", _EXTENDED, at("totals", "site_usd"), inputs)
    rule = "of the price book or of an inline server, discounts taken off"
    yield plain("server_usd", "price of one server", "USD", at("totals", "server_usd"), rule)
    title = "network, servers and racks; a lower bound while any of them has no price"
    formula = "capex_usd + server_usd * servers + sum(racks_usd)"
    known = (CAPEX, _SERVER, _SERVERS, _RACKS)
    yield Figure("cluster_usd", title, "USD", formula, at("totals", "cluster_usd"), known)


def _share_of(key: str, name: str) -> Get:
    return lambda design, plan: design["totals"][f"capex_by_{key}_usd"].get(name, 0.0)


def _unpriced(design: Data) -> dict[str, int]:
    return {row["part"]: row["quantity"] for row in design["totals"]["unpriced"]}


def power_figures() -> Iterator[Figure]:
    """Electrical power."""

    def counted(item: Data) -> bool:
        return not item["power_in_host"]

    formula = "sum(n * watts for n, watts in zip(quantity, power_each_w))"
    inputs = (
        Input("quantity", "pieces", "of each line not held by a switch's maximum", item_lines("quantity", counted)),
        Input("power_each_w", "W", "maximum of one piece", item_lines("power_each_w", counted)),
    )
    title = "maximum power of switches, modules and active cables, servers and their NICs apart"
    yield Figure("power_w", title, "W", formula, at("totals", "power_w"), inputs)
    inputs = (
        Input("quantity", "pieces", "of each such line of which it is known", item_lines("quantity", _known_power)),
        Input("power_each_w", "W", "maximum of one piece", item_lines("power_each_w", _known_power)),
    )
    title = "the same of those parts of which it is known: a lower bound"
    yield Figure("power_known_w", title, "W", formula, at("totals", "power_known_w"), inputs)
    inputs = (
        Input("quantity", "pieces", "of each line", item_lines("quantity")),
        Input("power_each_w", "W", "typical of one piece", item_lines("power_typical_each_w")),
    )
    title = "typical power of switches, modules and active cables"
    yield Figure("power_typical_w", title, "W", formula, at("totals", "power_typical_w"), inputs)


def _known_power(item: Data) -> bool:
    return not item["power_in_host"] and item["power_each_w"] is not None


def _complete(design: Data, plan: Data) -> bool:
    required = [x for x in design["licences"] if x["need"] == "required" and not x["bought"]]
    return bool(design["totals"]["complete"]) and not required


def fit_figures() -> Iterator[Figure]:
    """Whether the limits are kept."""
    complete = Input("complete", "", "whether every part and every required licence has a price", _complete)
    limit = Input("network_budget_usd", "USD", "purchase price that the network may have", limit_of("network"))
    formula = (
        "None if network_budget_usd is None else False if capex_usd > network_budget_usd else "
        "True if complete else None"
    )
    title = (
        "whether the purchase price keeps the network budget; unknown while parts or required licences have no price"
    )
    get = at("fits", "network_budget")
    yield Figure("fits_network_budget", title, "yes/no", formula, get, (CAPEX, complete, limit))
    limit = Input("cluster_budget_usd", "USD", "price that the cluster may have", limit_of("cluster"))
    whole = Input(
        "complete", "", "whether network, servers and racks all have prices", at("totals", "cluster_complete")
    )
    formula = (
        "None if cluster_budget_usd is None else "
        "False if capex_usd + (server_usd or 0) * servers + sum(racks_usd) > cluster_budget_usd else "
        "True if complete else None"
    )
    title = "whether network, servers and racks keep the cluster budget; unknown while any of them has no price"
    known = (CAPEX, _SERVER, _SERVERS, _RACKS, whole, limit)
    yield Figure("fits_cluster_budget", title, "yes/no", formula, at("fits", "cluster_budget"), known)
    servers_w = "maximum of a server in the catalogue (not in the JSON: `ibplan catalog show SERVER`) x servers"
    for name, words, rule in (
        (
            "power",
            "network and servers at maximum draw keep the power limit",
            f"power_known_w + {servers_w} against budget.power; what is unknown counts 0 in a no, and forbids a yes",
        ),
        (
            "facility_power",
            "network and servers at maximum draw, times the site's PUE, keep the facility power limit",
            f"(power_known_w + {servers_w}) x site.pue against budget.facility_power; what is unknown counts 0 in a "
            "no, and forbids a yes",
        ),
    ):
        yield plain(f"fits_{name}", f"whether {words}", "yes/no", at("fits", name), rule)
