"""The words around the comparison: head, choice, what is short, findings, defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ibplan.document import printable
from ibplan.explain import Data
from ibplan.findings import KINDS, SEVERITIES, plural
from ibplan.report import text
from ibplan.report.rows import ESTIMATE, LEGEND
from ibplan.units import format_usd, format_watts

PRICE_BOOK: Final = "ibplan price book"
_LIMIT_WORDS: Final = {
    "network_budget": "network budget",
    "cluster_budget": "cluster budget",
    "power": "power limit",
    "facility_power": "facility power limit",
    "ttft_s": "time to the first token",
    "tpot_s": "time of a later token",
}
_FIRST_COLUMN: Final = {"error": "ERROR", "warning": "warning", "info": "note"}


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: a short marker (number, severity) and words. `style` is one of `good`, `bad`, `careful`, `faint`."""

    words: str
    marker: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with lines under it. `flowing`: the lines are short and may stand side by side."""

    title: str
    lines: tuple[Line, ...]
    flowing: bool = False


_MEANINGS: Final = (
    "unit: servers that share one set of leaves",
    "down:up: bandwidth toward servers against bandwidth toward the next tier; asked: by the spec; built: the worst "
    "of any switch, in whole ports",
    "each GPU, all talking: when half of the GPUs send to the other half, each gets this much (bisection x 2 / "
    "injection x NIC bandwidth)",
    "paths between rails: whether the network joins the i-th NICs of the servers with the others; if not, only the "
    "links inside servers do",
    "share kept: of what even spreading over the links between switches would give (docs/simulate.md)",
    "all-reduce: bus bandwidth over all GPUs, as NCCL tests define it, by the algorithm named below it",
)
_TRAINING_MEANINGS: Final = (
    "step, and what follows from it: modelled (docs/training.md; docs/validation.md says how well)",
    "TP, PP, CP, EP, DP: tensor, pipeline, context, expert and data parallel ranks",
    "only communicating: share of the step in which GPUs wait for others, with nothing to compute",
    "MFU: FLOPs of the model over the GPUs' peak; attention counted in full, recomputation not",
    "time that trains: what stops and checkpoints leave; days, energy and cost of tokens have it in them",
    "GPU-hour: purchase of network, servers and racks, energy and support over the years, as far as known",
)


def labels(data: Data) -> dict[str, str]:
    """The short name of every design: its rank, or u1, u2 ... for those that are not ranked."""
    found: dict[str, str] = {}
    for design in data["designs"]:
        rank = design["rank"]
        found[design["id"]] = f"u{1 + sum(n.startswith('u') for n in found.values())}" if rank is None else str(rank)
    return found


def headline(data: Data) -> str:
    """Name, size, server, model and limits, in one line."""
    spec = data["effective_spec"]
    words = [_size(data), f"{_model(spec['model'])}", *_limits(spec["budget"])]
    return f"{printable(data['name'])}: {'; '.join(word for word in words if word)}"


def _size(data: Data) -> str:
    spec = data["effective_spec"]
    server = spec["server"] if isinstance(spec["server"], str) else "servers stated in the spec"
    if not data["designs"]:
        asked = spec["gpus"] if spec["gpus"] is not None else spec["servers"]
        return f"{asked:,} {'GPUs' if spec['gpus'] is not None else 'servers'} ({printable(server)})"
    totals = data["designs"][0]["totals"]
    return f"{totals['gpus']:,} GPUs in {plural(totals['servers'], 'server')} ({printable(server)})"


def _model(model: Mapping[str, Any] | None) -> str:
    if model is None:
        return ""
    if model["preset"] is not None:
        return f"model {printable(model['preset'])}"
    if model["parameters"] is not None:
        return f"model with {text.scaled(model['parameters'])} parameters"
    return "model by its shape"


def _limits(budget: Mapping[str, Any]) -> Iterator[str]:
    names = {"network": "network_budget", "cluster": "cluster_budget"}
    for key, value in budget.items():
        if value is not None:
            yield f"{_LIMIT_WORDS[names.get(key, key)]} {_amount(names.get(key, key), float(str(value).strip('$ W')))}"


def _amount(limit: str, value: float) -> str:
    if limit.endswith("_s"):
        return f"{value:.4g} s"
    return format_watts(value) if "power" in limit else format_usd(Decimal(str(value)))


def recommendation(data: Data) -> Section:
    """The chosen design and why; or that there is none."""
    chosen = next((d for d in data["designs"] if d["id"] == data["recommended"]), None)
    if data["recommended"] is None:
        return Section("No design can be recommended", (Line(why_none(data), style="bad"),))
    if chosen is None:
        return Section("Recommended", (Line(data["recommended"], style="good"),))
    pinned = f" (pinned by the {_pinned_by(data)})" if chosen["pinned"] else ""
    lines = [Line(f"{chosen['id']}{pinned}", labels(data)[chosen["id"]], "good")]
    said = _said(data["designs"])
    words = ((said[sentence], sentence) for sentence in chosen["why"])
    lines += [Line(_labelled(where, sentence, labels(data))) for where, sentence in words]
    return Section("Recommended", tuple(lines))


def _said_above(data: Data) -> set[str]:
    """What stands under the recommended design."""
    return {sentence for d in data["designs"] if d["id"] == data["recommended"] for sentence in d["why"]}


def _said(designs: Iterable[Data]) -> dict[str, list[str]]:
    """The designs of which a sentence is said, by sentence."""
    found: dict[str, list[str]] = {}
    for design in designs:
        for sentence in dict.fromkeys(design["why"]):
            found.setdefault(sentence, []).append(design["id"])
    return found


def _labelled(where: Sequence[str], sentence: str, names: Mapping[str, str]) -> str:
    """A sentence, with the labels of its designs if they are several."""
    return f"{_place(names[design_id] for design_id in where)} {sentence}" if len(where) > 1 else sentence


def _pinned_by(data: Data) -> str:
    return "lock" if data["inputs"]["locked"] else "spec"


def why_none(data: Data) -> str:
    """Why nothing is recommended, in a sentence."""
    if not data["designs"]:
        return "No design can be built: the reasons are below." if data["rejected"] else "There is nothing to build."
    pinned = next((design for design in data["designs"] if design["pinned"]), None)
    if pinned is not None:
        why = "it breaks a limit" if data["shortfall"] else "it has parts without a price"
        return f"The {_pinned_by(data)} pins {pinned['id']}, which cannot be recommended: {why}."
    if all(design["rank"] is None for design in data["designs"]):
        return "Every design has parts without a price: give their prices in a file named by `prices:`."
    if any(row["limit"] == "gpu_memory" for row in data["shortfall"]):
        return "The model does not fit the memory of the GPUs, whatever joins them."
    if data["shortfall"]:
        return "No fully priced design keeps every limit."
    return "No design that keeps every limit is known to carry the job."


def shortfall(data: Data) -> Section:
    """What no design keeps: asked and best."""
    names, lines = labels(data), []
    for row in data["shortfall"]:
        lines.append(Line(shortfall_words(row, names.get(row["design"], row["design"])), "-"))
    return Section("What is short", tuple(lines))


def shortfall_words(row: Data, design: str | None) -> str:
    """One limit that no design keeps: asked and best, and the design that is the best."""
    if row["limit"] == "gpu_memory":
        return f"memory of a GPU: a job can use {row['asked']:,.1f} GB, this one needs {row['best']:,.1f} GB"
    words = f"{_LIMIT_WORDS.get(row['limit'], row['limit'])}: asked {_amount(row['limit'], row['asked'])}"
    if row["best"] is None:
        return words
    whose = f" (design {design})" if design else ""
    return f"{words}, the best there is {_amount(row['limit'], row['best'])}{whose}"


def nearest(data: Data) -> Section:
    """Changes that would fit, as options of the command line."""
    lines = [
        Line(f"--set {row['change']}={row['value']}  gives {row['design']} for {_amount('', row['capex_usd'])}", "-")
        for row in data["nearest"]
    ]
    return Section("Nearest changes that fit", tuple(lines))


def design_list(data: Data, designs: Sequence[Data], title: str) -> Section:
    """The ids behind the numbers, and why each stands where it does.

    What is said of several stands once, at the end; what is said of the recommended one too stands there.
    """
    names, lines, said = labels(data), [], _said(designs)
    above = _said_above(data)
    for design in designs:
        chosen = design["id"] == data["recommended"]
        marks = [word for word, is_so in (("recommended", chosen), ("pinned", design["pinned"])) if is_so]
        head = f"{design['id']}{' (' + ', '.join(marks) + ')' if marks else ''}"
        lines.append(Line(head, names[design["id"]], "good" if chosen else "strong"))
        lines += [Line(s) for s in design["why"] if s not in above and len(said[s]) == 1]
        unpriced = ", ".join(f"{row['quantity']:,} {printable(row['part'])}" for row in design["totals"]["unpriced"])
        lines += [Line(f"Without a price: {unpriced}", style="careful")] if unpriced else []
    shared = [(where, sentence) for sentence, where in said.items() if sentence not in above and len(where) > 1]
    lines += [Line(_labelled(where, sentence, names), "-") for where, sentence in shared]
    return Section(title, tuple(lines))


def alternatives(data: Data) -> Section:
    """Other switches of the same form, under the design that stands for it: those without all prices in one line."""
    lines = []
    for design in data["designs"]:
        label, others = labels(data)[design["id"]], design["alternatives"]
        lines += [Line(f"{o['id']}: {_amount('', o['capex_usd'])}", label) for o in others if o["complete"]]
        lacking = [other for other in others if not other["complete"]]
        if lacking:
            least = _amount("", min(other["capex_usd"] for other in lacking))
            more = "more " if len(lacking) < len(others) else ""
            head = f"{len(lacking):,} {more}{'lacks' if len(lacking) == 1 else 'lack'} prices (from at least {least})"
            lines.append(Line(f"{head}: {', '.join(other['id'] for other in lacking)}", label))
    return Section("The same form with other switches (plan one with --design ID)", tuple(lines))


def findings(data: Data) -> Section:
    """Findings by severity, gravest first; equal ones of several designs once.

    A note that stands under the recommended design already is not said again.
    """
    names, above = labels(data), _said_above(data)
    merged: dict[tuple[str, str, str], list[str]] = {}
    for row in data["findings"]:
        if row["severity"] == "info" and row["message"] in above:
            continue
        key = (row["severity"], row["code"], row["message"])
        merged.setdefault(key, []).extend([names[row["design"]]] if row["design"] in names else [])
    lines = []
    for severity in reversed(SEVERITIES):
        for (level, code, message), where in merged.items():
            if level == severity:
                remedy = KINDS[code].remedy if code in KINDS else ""
                words = " ".join(part for part in (_place(where), printable(message), remedy) if part)
                style = {"error": "bad", "warning": "careful"}.get(severity, "")
                lines.append(Line(words, _FIRST_COLUMN[severity], style))
    return Section("Findings", tuple(lines))


def _place(where: Iterable[str]) -> str:
    return " ".join(f"[{number}]" for number in dict.fromkeys(where))


def prices(data: Data) -> Section:
    """Which prices stand: those of the user's file before those of the price book."""
    book = data["inputs"]["price_book"]
    then = "" if book["name"] == PRICE_BOOK else f"; where it has none, {PRICE_BOOK}"
    lines = [Line(f"{printable(book['name'])} of {book['date']}{then}.")]
    price = data["inputs"]["server_price"]
    if price is not None:
        mark = ESTIMATE if price["kind"] == "estimate" else ""
        name = "of the spec" if price["server"] == "inline" else price["server"]
        dated = f" of {price['date']}" if price["date"] else ""
        words = f"one server ({name}): {mark}{_amount('', price['usd'])}, {price['kind']} price{dated}"
        lines.append(Line(f"{words}; {printable(price['source'])}."))
    return Section("Prices", tuple(lines))


def left_out(data: Data, networks: Sequence[str]) -> Section:
    """What the figures do not hold; `networks`: in words, those that are not planned and what hangs on them."""
    if not data["designs"]:
        return Section("Left out of this plan", ())
    design = data["designs"][0]
    missing = list(networks)
    missing += ["racks"] if design["totals"]["racks"] is None else _unpriced_racks(design)
    missing += ["support"] if design["tco"]["support_usd"] is None else []
    missing += ["licences without a price"] if any(not x["bought"] for x in design["licences"]) else []
    missing += [] if any(item["tier"] == "spares" for item in design["line_items"]) else ["spares"]
    performance = design["performance"]
    missing += ["step time of the job"] if performance["training"] is None and performance["inference"] is None else []
    missing += ["servers and their NICs, unless a line says NIC", "installation and tax"]
    return Section("Left out of this plan", (Line("; ".join(missing) + "."),))


def _unpriced_racks(design: Data) -> list[str]:
    """Racks and rack PDUs that have no price, or are not counted."""
    if design["totals"]["site_complete"]:
        return []
    priced = {item["category"] for item in design["site_items"]}
    wanted = (("rack", "racks"), ("PDU", "rack PDUs")) if design["site"]["pdus"] else (("rack", "racks"),)
    unpriced = [words for category, words in wanted if category not in priced]
    return ["the price of " + " and ".join(unpriced)] if unpriced else ["racks of attached hosts"]


def sensitivity(data: Data) -> Section:
    """What moves the total cost of the recommended design most; nothing if none is recommended."""
    chosen = next((d for d in data["designs"] if d["id"] == data["recommended"]), None)
    if chosen is None:
        return Section("What moves the total cost most", ())
    title = f"What moves the total cost of design {labels(data)[chosen['id']]} most"
    lines = []
    for row in chosen["sensitivity"]:
        ends = [_input(row[end], row["unit"]) for end in ("low", "base", "high")]
        now = "unknown" if row["unknown"] else ends[1]
        unit = "" if row["unit"] in ("USD", "") else f" {row['unit']}"
        kind = {"prices": "known prices", "derived": "published"}.get(row["kind"], row["kind"])
        moved = " to ".join(_amount("", row[f"total_{end}_usd"]) for end in ("low", "high"))
        words = f"{row['input']}, {ends[0]} to {ends[2]}{unit} (now {now}; {kind}): total {moved}"
        lines.append(Line(words, "-"))
    return Section(title, tuple(lines))


def _input(value: float, unit: str) -> str:
    if unit == "USD":
        return _amount("", value)
    return f"{text.percent(value)}%" if unit.startswith("of ") else text.number(value)


def site(data: Data) -> Section:
    """The measures of the site on which racks and lengths rest: those assumed or published, and those of the spec."""
    if not any(design["site"] for design in data["designs"]):
        return Section("Site", ())
    words: dict[str, list[str]] = {}
    for row in data["inputs"]["measures"]:
        words.setdefault(row["basis"], []).append(measure(row["name"], row["value"]))
    titles = {"spec": "stated in the spec", "published": "published", "assumption": "assumed"}
    lines = [Line(f"{titles[basis]}: {'; '.join(words[basis])}", style="faint") for basis in titles if basis in words]
    where = data["effective_spec"]["site"]["placement"].replace("_", " ")
    return Section("Site", (Line(f"leaves: {where} (site.placement)", style="faint"), *lines))


def measure(name: str, value: float) -> str:
    """A measure of the site in words: `rack_power_w` is "rack power 45,000 W"."""
    words, _, unit = name.rpartition("_")
    if unit not in ("m", "w"):
        return f"{name.replace('_', ' ').replace('pdus', 'PDUs')} {text.number(value)}"
    return f"{words.replace('_', ' ')} {text.number(value)} {unit.replace('w', 'W')}"


def defaults(data: Data) -> Section:
    """What the spec leaves to defaults, as a spec would say it; what is none or empty is left out."""
    pointers = set(data["defaults"])
    single: list[str] = []
    nested: list[str] = []
    for key, value in data["effective_spec"].items():
        kept = _defaulted(value, f"/{key}", pointers)
        if kept is not None:
            (nested if isinstance(kept, dict) else single).append(f"{key}: {text.shown(kept)}")
    words = (["; ".join(single)] if single else []) + nested
    return Section("Defaults used", tuple(Line(line, style="faint") for line in words))


def side_defaults(data: Data) -> Section:
    """What the storage and management networks are built with where the spec says nothing, and where that is from."""
    lines = []
    for row in data["inputs"]["side_defaults"]:
        name = f"{row['name']} ({row['key']})" if row["key"] else row["name"]
        lines.append(Line(f"{name}: {row['value']}; published: {row['note']}", "-", "faint"))
    return Section("Defaults used, other networks", tuple(lines))


def _defaulted(value: Any, pointer: str, pointers: Set[str]) -> Any:
    """The part of a value that is default and not empty; one value for a mapping that stands for one value."""
    if pointer in pointers:
        return None if value in ([], {}) else value
    if not isinstance(value, dict):
        return None
    kept = {key: _defaulted(item, f"{pointer}/{key}", pointers) for key, item in value.items()}
    kept = {key: item for key, item in kept.items() if item is not None}
    alike = kept.keys() == value.keys() and len({repr(v) for v in kept.values() if not isinstance(v, bool)}) == 1
    return next(iter(kept.values())) if alike else (kept or None)


def legend(data: Data, cells: Iterable[str]) -> Section:
    """What the marks that occur in the cells mean, and how figures are to be read."""
    used = {mark for cell in cells for mark, _ in LEGEND if _carries(cell, mark)}
    lines = [f"{mark} {words}" for mark, words in LEGEND if mark in used]
    lines += ["bandwidth: one direction", "latency: one way, 64 B, idle", *_MEANINGS]
    if any(design["performance"]["training"] is not None for design in data["designs"]):
        lines += _TRAINING_MEANINGS
    networks = [design["networks"]["compute"] for design in data["designs"]]
    if any(network["planes"] > 1 or network["rail_only"] for network in networks):
        lines.append("units and pods: of one plane, or of one rail where rails are separate")
    if any(row["kind"] == "reserved" for network in networks for row in network["links"]):
        lines.append("reserved links: not among the links, modules and cables counted, but in the price")
    budget = data["effective_spec"]["budget"]
    if budget["power"] is not None or budget["facility_power"] is not None:
        pue = " (for the facility, times the site's PUE)" if budget["facility_power"] is not None else ""
        lines.append(f"power limit kept: maximum power of the network and of all servers together{pue} is within it")
    return Section("Marks", tuple(Line(words, style="faint") for words in lines), flowing=True)


def _carries(cell: str, mark: str) -> bool:
    if mark in (text.UNKNOWN, text.ABSENT):
        return cell == mark
    return mark in (cell[:1], cell[1:2], cell[-1:])
