"""The comparison: which figures stand under which heading, how each is written, and its marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ibplan.explain import SWITCH_TIERS, Data
from ibplan.explain.networks import SIDE_NETWORKS
from ibplan.report import text
from ibplan.report.job_rows import fabric_rows, service_rows, training_rows, work_rows
from ibplan.report.rows import ESTIMATE, EXTRAPOLATED, LOWER_BOUND, Group, Mark, Row, Words
from ibplan.report.scorecard import scorecard_rows


def _compute(design: Data) -> Data:
    network: Data = design["networks"]["compute"]
    return network


def _switches(design: Data) -> str:
    rows = _compute(design)["switches"]
    names = dict.fromkeys(row["switch"] for row in rows)
    return next(iter(names)) if len(names) == 1 else "\n".join(f"{row['tier']} {row['switch']}" for row in rows)


def _wiring(design: Data) -> str:
    network = _compute(design)
    if network["tiers"] == 1 and network["counts"]["switches"] == 1:
        return "one switch"
    if network["rail_only"]:
        return "rail-only"
    return "rail-optimized" if network["rail_optimized"] else "no rails"


def _choices(design: Data) -> str:
    """Choices that are not the default."""
    network = _compute(design)
    words = (
        ("packed units", network["partial_units"] == "packed"),
        ("all ports", network["leaf_ports"] == "all"),
        ("two leaves", network["single_tier"] == "two_leaves" and network["tiers"] == 1),
        ("rail pods", network["second_tier"] == "rail" and network["tiers"] == 3),
    )
    return "\n".join(word for word, chosen in words if chosen)


def _speeds(*kinds: str) -> Words:
    def words(design: Data) -> str:
        rows = [row for row in _compute(design)["links"] if row["kind"] in kinds]
        return " and ".join(text.number(gbps) for gbps in dict.fromkeys(row["gbps"] for row in rows))

    return words


def _media(*kinds: str) -> Words:
    def words(design: Data) -> str:
        rows = [row for row in _compute(design)["links"] if row["kind"] in kinds]
        return "\n".join(dict.fromkeys((row["medium"] or text.UNKNOWN).replace("_", "-") for row in rows))

    return words


def _priced(value: str | None, key: str = "category") -> Mark:
    """Marks sums that rest on estimates, and those that are lower bounds: of the lines whose `key` has the value."""

    def mark(design: Data, written: str) -> str:
        items = [i for i in design["line_items"] if value is None or i[key] == value]
        open_end = any(i["unit_price_usd"] is None for i in items)
        estimated = any(i["price_kind"] == "estimate" for i in items)
        return (LOWER_BOUND if open_end else "") + (ESTIMATE if estimated else "") + written

    return mark


def _measured(path: str) -> Mark:
    return lambda design, written: (
        written + (EXTRAPOLATED if path in _compute(design)["latency_us"]["extrapolated"] else "")
    )


def _no_path(design: Data) -> str:
    """A path that is not there, or unknown where the fabric has no measurement at all."""
    figures = _compute(design)["latency_us"]
    measured = any(figures[path] is not None for path in ("same_leaf", "cross_leaf", "cross_pod"))
    return text.ABSENT if measured else text.UNKNOWN


def _yes_no(value: bool) -> str:
    return "yes" if value else "NO"


def _form() -> Iterator[Row]:
    yield Row("Fabric", "", words=lambda design: str(design["fabric"]))
    yield Row("Switch", "", words=_switches)
    yield Row("Wiring", "", words=_wiring)
    yield Row("Other choices", "", words=_choices, keep="some")
    yield Row("Tiers", "tiers", "tiers")
    yield Row("Planes", "planes", "planes")
    yield Row("Oversubscription, asked", "down:up", "leaf_ratio_asked", text.ratio)
    yield Row("Oversubscription, built", "down:up", "leaf_ratio_built", text.ratio)
    yield Row("Spine ratio, asked", "down:up", "spine_ratio_asked", words=_upper_ratio("asked"), keep="some")
    yield Row("Spine ratio, built", "down:up", "spine_ratio_built", text.ratio, keep="some")
    yield Row("Servers of a unit", "servers", "unit_servers")
    yield Row("Leaves of a unit", "switches", "unit_leaves")
    yield Row("Units", "units", "units")
    yield Row("Units of a pod", "units", "pod_units", words=_pods("units"), keep="some")
    yield Row("Spines of a pod", "switches", "pod_spines", words=_pods("spines"), keep="some")
    yield Row("Pods", "pods", "pods", words=_pods("count"), keep="some")


def _upper_ratio(state: str) -> Words:
    """The spine ratio where there is a tier above the spines."""

    def words(design: Data) -> str:
        network = _compute(design)
        return text.ratio(network["oversubscription"]["spine"][state]) if network["tiers"] == 3 else ""

    return words


def _pods(key: str) -> Words:
    """A figure of pods where there are any: below three tiers one pod holds everything."""
    return lambda design: text.number(_compute(design)["pod"][key]) if _compute(design)["tiers"] == 3 else ""


def _counts() -> Iterator[Row]:
    yield Row("Endpoints (NIC ports)", "ports", "endpoints")
    for tier in SWITCH_TIERS:
        keep: Literal["always", "some"] = "always" if tier == "leaf" else "some"
        yield Row(f"{tier.capitalize()} switches", "switches", f"{tier}_switches", keep=keep)
        if tier != "leaf":
            words = _bare_minimum(tier)
            yield Row("- port minimum", "switches", f"minimum_{tier}_switches", words=words, keep="some")
    yield Row("Switches, all tiers", "switches", "switches")
    for tier in SWITCH_TIERS:
        yield Row(f"{tier.capitalize()} ports in use", "ports", f"{tier}_ports_used", keep="known")
        yield Row(f"Free {tier} ports", "ports", f"{tier}_ports_free", keep="known")


def _bare_minimum(tier: str) -> Words:
    """The port minimum where the even spread of links takes more than it."""

    def words(design: Data) -> str:
        network = _compute(design)
        least = network["minimum"][tier]
        return text.number(least) if least != network["counts"][tier] else ""

    return words


def _cabling() -> Iterator[Row]:
    kinds = ("server-leaf", "attached", "leaf-spine", "spine-core", "leaf-leaf", "reserved")
    for kind in kinds:
        names = {"reserved": "Reserved links (apart)", "attached": "Attached-host links"}
        name = names.get(kind, f"{kind.capitalize()} links")
        stem = kind.replace("-", "_")
        yield Row(name, "links", f"{stem}_links", keep="some")
        one = {"reserved": "reserved link", "attached": "attached host"}.get(kind, f"{kind} link")
        yield Row(f"- speed, {one}", "Gb/s", f"{stem}_link_gbps", words=_speeds(kind), keep="some")
        yield Row(f"- medium, {one}", "", words=_media(kind), keep="some")
    yield Row("Links, all", "links", "links")
    yield Row("Switch cages in use", "cages", "cages")
    yield Row("Modules in switches", "modules", "modules_switch", absent=text.UNKNOWN)
    yield Row("Modules in hosts", "modules", "modules_server", absent=text.UNKNOWN)
    yield Row("Cables", "cables", "cables", absent=text.UNKNOWN)


def _side_switches(name: str) -> Words:
    """The switch of a side network and how many of each tier; nothing where it is not planned."""

    def words(design: Data) -> str:
        network = design["networks"][name]
        if network is None:
            place = next((row["reason"] for row in design["left_out"] if row["what"] == SIDE_NETWORKS[name]), "")
            return "on compute\nswitches" if place.endswith("on the compute network") else ""
        counts = " + ".join(text.number(row["count"]) for row in network["switches"])
        return f"{network['switches'][0]['switch']}\n{counts}"

    return words


def _of_all(count: str) -> Words:
    """A count over all networks, where there is one beside the compute network."""

    def words(design: Data) -> str:
        total = design["totals"][count]
        alone = all(design["networks"][name] is None for name in ("storage", "inband", "oob"))
        return "" if alone else text.UNKNOWN if total is None else text.number(total)

    return words


def _side() -> Iterator[Row]:
    for name, label in (("storage", "Storage"), ("inband", "In-band"), ("oob", "Out-of-band")):
        yield Row(f"{label} network", "switches", f"{name}_switches", words=_side_switches(name), keep="some")
        yield Row(f"- ports, {label.lower()}", "ports", f"{name}_endpoints", keep="some")
        if name == "storage":
            yield Row("- for each GPU, storage", "Gb/s", "storage_gbps_per_gpu", keep="some")
        mark = _priced(name, "network")
        yield Row(f"- price, {label.lower()}", "USD", f"capex_{name}_network_usd", text.usd, keep="some", mark=mark)
    for count in ("switches", "links", "modules", "cables"):
        label, words = f"All networks, {count}", _of_all(count)
        yield Row(label, count, f"total_{count}", words=words, keep="some")


def _bandwidth() -> Iterator[Row]:
    yield Row("Injection", "Gb/s", "injection_gbps")
    yield Row("Bisection", "Gb/s", "bisection_gbps")
    yield Row("NIC bandwidth of a GPU", "Gb/s", "nic_gbps_per_gpu")
    yield Row("Each GPU, all talking", "Gb/s", "per_gpu_gbps")
    yield Row("Paths between rails", "yes/no", "cross_rail", _yes_no)
    for path, label in (
        ("same_leaf", "Latency, same leaf"),
        ("cross_leaf", "- over spines"),
        ("cross_pod", "- over cores"),
    ):
        figure = f"latency_{path}_us"
        yield Row(
            label, "us", figure, mark=_measured(path), absent=_no_path, keep="always" if path == "same_leaf" else "some"
        )


def _money() -> Iterator[Row]:
    yield Row("Purchase price", "USD", "capex_usd", text.usd, mark=_priced(None))
    yield Row("- for each GPU", "USD", "capex_per_gpu_usd", text.usd, mark=_priced(None))
    categories = (("switch", "Switches"), ("NIC", "NICs"), ("transceiver", "Modules"), ("cable", "Cables"))
    rest = (("splitter", "Splitters"), ("trunk", "Trunks"), ("panel", "Panels"), ("licence", "Licences"))
    for category, label in (*categories, *rest):
        figure, mark = f"capex_{category.lower()}_usd", _priced(category)
        yield Row(f"- {label.lower() if label != 'NICs' else label}", "USD", figure, text.usd, keep="some", mark=mark)
    yield Row("- spares, within these", "USD", "capex_spares_tier_usd", text.usd, keep="some")
    yield Row("- before discounts", "USD", "capex_list_usd", words=_before_discounts, keep="some")
    yield Row("- at lowest known prices", "USD", "capex_low_usd", text.usd, mark=_priced(None))
    yield Row("- at highest known prices", "USD", "capex_high_usd", text.usd, mark=_priced(None))
    yield Row("Cluster with servers, racks", "USD", "cluster_usd", text.usd, mark=_cluster, absent=text.UNKNOWN)
    yield Row("- racks and rack PDUs in it", "USD", "site_usd", text.usd, keep="some", mark=_racks)
    yield Row("Share of estimates", "%", "estimated_fraction", text.percent)
    yield Row("Kinds of unpriced parts", "parts", "unpriced_parts", keep="some")


def _cluster(design: Data, written: str) -> str:
    """Marks a price of the cluster in which something has no price, or rests on an estimate."""
    kinds = [design["totals"]["server_price_kind"], *(i["price_kind"] for i in design["line_items"])]
    open_end = not design["totals"]["cluster_complete"]
    return (LOWER_BOUND if open_end else "") + (ESTIMATE if "estimate" in kinds else "") + written


def _racks(design: Data, written: str) -> str:
    """Marks a price of racks in which some have no price."""
    return written if design["totals"]["site_complete"] else LOWER_BOUND + written


def _before_discounts(design: Data) -> str:
    """The price before discounts where there are any."""
    usd = design["price_spread"]["list_usd"]
    return "" if usd == design["totals"]["capex_usd"] else text.usd(usd)


def _power() -> Iterator[Row]:
    yield Row("Power, maximum", "W", "power_known_w", mark=_known_power)
    yield Row("Power, typical", "W", "power_typical_w", absent=text.UNKNOWN)
    yield Row("IT power with servers", "W", "it_w", mark=_known_power, absent=text.UNKNOWN)
    yield Row("Facility power", "W", "facility_w", mark=_known_power, absent=text.UNKNOWN)
    yield Row("Swing of a training step", "W", "swing_w", keep="known", mark=lambda design, written: ESTIMATE + written)


def _running() -> Iterator[Row]:
    yield Row("Network energy, a year", "kWh", "network_per_year_kwh", mark=_energy, absent=text.UNKNOWN)
    yield Row("- cost a year", "USD", "network_per_year_usd", text.usd, mark=_energy, absent=text.UNKNOWN)
    yield Row("Network and servers, a year", "kWh", "cluster_per_year_kwh", mark=_energy, absent=text.UNKNOWN)
    yield Row("- cost of all, a year", "USD", "cluster_per_year_usd", text.usd, mark=_energy, absent=text.UNKNOWN)
    yield Row("Total cost of network", "USD", "tco_total_usd", text.usd, mark=_total)
    yield Row("- energy in it", "USD", "tco_energy_usd", text.usd, mark=_energy, absent=text.UNKNOWN)
    yield Row("- support in it", "USD", "tco_support_usd", text.usd, absent=text.UNKNOWN)
    yield Row("- total at lowest prices", "USD", "tco_low_usd", text.usd, mark=_total)
    yield Row("- total at highest prices", "USD", "tco_high_usd", text.usd, mark=_total)


def _known_power(design: Data, written: str) -> str:
    """Marks power that some part's maximum is lacking in."""
    return written if design["totals"]["power_w"] is not None else LOWER_BOUND + written


def _energy(design: Data, written: str) -> str:
    """Marks energy that some part's power is lacking in."""
    return LOWER_BOUND + written if design["energy"]["network_basis"] == "known" else written


def _total(design: Data, written: str) -> str:
    """Marks totals in which something is unknown."""
    estimated = any(i["price_kind"] == "estimate" for i in design["line_items"])
    return ("" if design["tco"]["complete"] else LOWER_BOUND) + (ESTIMATE if estimated else "") + written


def _site() -> Iterator[Row]:
    yield Row("Racks", "racks", "racks", absent=text.UNKNOWN)
    yield Row("- with servers", "racks", "server_racks", keep="some")
    yield Row("- with switches alone", "racks", "network_racks", keep="known")
    yield Row("Servers of a rack", "servers", "servers_per_rack", keep="some")
    yield Row("Power of a server rack", "W", "server_rack_w", keep="some", absent=text.UNKNOWN)
    yield Row("Rows", "rows", "rack_rows", keep="some")
    yield Row("Floor with aisles", "m2", "floor_m2", keep="some")
    yield Row("Rack PDUs", "PDUs", "rack_pdus", keep="some")


def limit_rows() -> Iterator[tuple[str, Row]]:
    """One row for each limit that a spec can set, with its key of `budget:`."""
    names = {"network": "Network budget", "cluster": "Cluster budget", "power": "Power limit"}
    for key, label in (*names.items(), ("facility_power", "Facility power limit")):
        figure = f"fits_{key}_budget" if key in ("network", "cluster") else f"fits_{key}"
        yield key, Row(f"{label} kept", "yes/no", figure, _yes_no, absent=text.UNKNOWN)


def row_names() -> dict[str, str]:
    """The names of the table's rows by figure."""
    budget = dict.fromkeys((key for key, _ in limit_rows()), True)
    groups = comparison_groups({"effective_spec": {"budget": budget, "site": {"years": 1}}})
    return {row.figure: row.label for group in groups for row in group.rows if row.figure}


def comparison_groups(plan: Data) -> tuple[Group, ...]:
    """All groups, in the order of the table."""
    return (
        Group("Form", tuple(_form())),
        Group("Switches and ports", tuple(_counts())),
        Group("Links and parts", tuple(_cabling())),
        Group("Bandwidth and latency", (*_bandwidth(), *fabric_rows())),
        Group("Technology", tuple(scorecard_rows())),
        Group("Other networks", tuple(_side())),
        Group("The training job", tuple(training_rows())),
        Group("The service", tuple(service_rows())),
        Group("Money", tuple(_money())),
        Group("Power", tuple(_power())),
        Group("Cost of the work", tuple(work_rows())),
        Group(f"Running cost, {plan['effective_spec']['site']['years']} years", tuple(_running())),
        Group("Racks and floor", tuple(_site())),
        Group("Limits", tuple(row for key, row in limit_rows() if plan["effective_spec"]["budget"][key] is not None)),
    )
