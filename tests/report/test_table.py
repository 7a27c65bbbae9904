"""The table fits its width, loses nothing, and cannot be made to drive a terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from io import BytesIO

import pytest

from ibplan.explain import FIGURES
from ibplan.findings import plural
from ibplan.report import text
from ibplan.report.comparison import comparison_groups
from ibplan.report.data import plan_data
from ibplan.report.markdown import escape, to_markdown
from ibplan.report.networks import left_out_words
from ibplan.report.rejections import rejected
from ibplan.report.rows import arranged, kept
from ibplan.report.sections import (
    PRICE_BOOK,
    Section,
    alternatives,
    defaults,
    design_list,
    findings,
    left_out,
    prices,
    recommendation,
    sensitivity,
)
from ibplan.report.table import to_table
from ibplan.spec.load import load_spec
from tests.report import samples

WIDTHS = (60, 80, 120, 200)


@cache
def shown(name: str, width: int) -> str:
    return to_table(samples.data(name), width=width)


def _flat(table: str) -> str:
    return " ".join(table.split())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", samples.ALL)
def test_no_line_is_longer_than_the_width(name: str, width: int) -> None:
    table = shown(name, width)
    assert max(map(len, table.splitlines())) <= width
    assert "\x1b" not in table
    assert "…" not in table


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", samples.ALL)
def test_every_cell_and_every_id_is_there_at_every_width(name: str, width: int) -> None:
    data = samples.data(name)
    table = shown(name, width)
    words, flat = set(re.split(r"\s+", table)), _flat(table)
    assert all(row["id"] in table for row in data["designs"])
    first = data["rejected"][0]["id"] if data["rejected"] else ""
    assert re.sub(r"-autot-.*", "", first) in table
    ranked = [d for d in data["designs"] if d["rank"] is not None]
    others = [d for d in data["designs"] if d["rank"] is None]
    for designs in (ranked, others):
        for group in kept(comparison_groups(data), designs, data):
            assert group.title in table
            for row in group.rows:
                assert row.label in flat
                for design in designs:
                    assert set(row.cell(design, data).split()) <= words, (row.label, design["id"])


@pytest.mark.parametrize("width", WIDTHS)
def test_the_numbers_of_the_json_stand_in_the_table(width: int) -> None:
    data = samples.data(samples.POD)
    words = set(re.split(r"\s+", to_table(data, width=width)))
    design = data["designs"][0]
    totals, compute = design["totals"], design["networks"]["compute"]
    for value in [*compute["counts"].values(), *compute["unit"].values(), *compute["bandwidth"].values()]:
        if value and not isinstance(value, bool | list):
            assert text.number(value) in words
    for key in ("switches", "links", "cables"):
        assert text.number(totals[key]) in words
    for row in compute["links"]:
        assert {text.number(row["count"]), text.number(row["gbps"])} <= words
    for row in compute["switches"]:
        assert {text.number(row["count"]), text.number(row["ports_free"])} <= words
    bare = {word.lstrip("~>").rstrip("*") for word in words}
    amounts = [totals["capex_usd"], totals["capex_per_gpu_usd"], *totals["capex_by_category_usd"].values()]
    assert {text.usd(amount) for amount in amounts} <= bare
    assert {text.number(v) for k in ("same_leaf", "cross_leaf") if (v := compute["latency_us"][k])} <= bare


def test_every_row_with_a_number_has_a_unit_and_a_registered_figure() -> None:
    for name in samples.ALL:
        data = samples.data(name)
        for group in comparison_groups(data):
            for row in group.rows:
                cells = [row.cell(design, data) for design in data["designs"]]
                if row.unit:
                    assert row.figure in FIGURES, row.label
                else:
                    assert not any(re.fullmatch(r"[\d.,:%]+", cell) for cell in cells), row.label


def test_designs_stand_beside_each_other_as_far_as_they_fit() -> None:
    data = samples.data(samples.THREE_TIERS)
    heads = {width: _heads(to_table(data, width=width)) for width in WIDTHS}
    assert [len(h) for h in heads[60]] == [1, 1, 1, 1]
    assert [len(h) for h in heads[200]] == [4]
    assert all(sorted(number for row in h for number in row) == ["1", "2", "3", "4"] for h in heads.values())


def _heads(table: str) -> list[list[str]]:
    """The numbers over the columns of each table."""
    lines = table.splitlines()
    found = []
    for number, line in enumerate(lines):
        if line.startswith("Design  "):
            over = lines[number - 1].split() + line.split()[2:]
            found.append([word for word in over if re.fullmatch(r"u?\d+", word)])
    return found


def test_columns_stand_in_rank_order_after_the_recommended_one() -> None:
    designs = [{"id": name} for name in "abcd"]
    assert [d["id"] for d in arranged(designs, "a")] == ["a", "b", "c", "d"]
    assert [d["id"] for d in arranged(designs, "c")] == ["c", "a", "b", "d"]
    assert [d["id"] for d in arranged(designs, None)] == ["a", "b", "c", "d"]
    data = samples.data(samples.ETHERNET)
    assert [n for row in _heads(to_table(data, width=80)) for n in row] == [str(d["rank"]) for d in data["designs"]]


def test_unpriced_designs_stand_apart_below_a_line() -> None:
    table = to_table(samples.data(samples.UNPRICED), width=100)
    priced, unpriced = re.split(r"\n─{100}\n", table)
    assert "u1 infiniband-nvidia-q3400-ra-2t-1to1" in unpriced
    assert "Without a price:" in unpriced
    assert "infiniband" not in priced.partition("Designs, best first")[2]
    assert re.search(r"Purchase price +USD +>", unpriced)


def test_when_nothing_fits_the_table_says_what_would() -> None:
    data = plan_data(samples.over_budget())
    table = _flat(to_table(data, width=80))
    assert "No design can be recommended" in table
    assert "network budget: asked $1,000,000, the best there is" in table
    for row in data["nearest"]:
        assert f"--set {row['change']}={row['value']}" in table
    assert re.search(r"Network budget kept yes/no NO NO", table)


def test_a_pinned_design_over_budget_is_named() -> None:
    data = samples.data(samples.BOTH, "budget=$3.5M", "design=infiniband-nvidia-qm9700-2t-1to1")
    table = _flat(to_table(data, width=80))
    assert "No design can be recommended The spec pins infiniband-nvidia-qm9700-2t-1to1, which cannot" in table
    assert re.search(r"2 infiniband-nvidia-qm9700-2t-1to1 \(pinned\) It costs \$[\d,]+: \$[\d,]+ over", table)


def test_a_plan_without_designs_still_says_why() -> None:
    table = _flat(to_table(plan_data(samples.unbuildable()), width=80))
    assert "No design can be built" in table
    assert "one switch: 1,024 ports needed, 64 available" in table


def test_needed_and_there_are_said_where_the_reason_does_not() -> None:
    plan = samples.unbuildable()
    reason = replace(plan.rejected[0].reasons[0], text="too few ports", need=5000, have=64)
    plan = replace(plan, rejected=(replace(plan.rejected[0], reasons=(reason,)),))
    assert "too few ports (needed 5,000, there are 64)" in to_table(plan_data(plan), width=100)


def test_marks_are_explained_where_they_occur() -> None:
    table = to_table(samples.data(samples.THREE_TIERS), width=100)
    assert re.search(r"- over cores +us +[\d.]+\*", table)
    assert "* extrapolated: no published measurement of this path" in table
    assert "~ rests on estimates" in table
    assert "> at least" in table
    known = samples.data(samples.COSTS, "storage=none", "management={inband: false, oob: false}")
    assert "> at least" not in to_table(known, width=100)


def test_a_fabric_without_measurements_has_unknown_latency() -> None:
    data = samples.data(samples.ETHERNET)
    (row,) = [r for g in comparison_groups(data) for r in g.rows if r.label == "Latency, same leaf"]
    cells = {d["fabric"]: row.cell(d, data) for d in data["designs"]}
    assert cells["ethernet"] == "?"
    assert cells["infiniband"] not in ("?", "-")


def test_defaults_are_listed_with_their_values() -> None:
    section = defaults(samples.data(samples.BOTH, "network.reserved_ports=4"))
    words = [line.words for line in section.lines]
    assert words[0] == "name: three-lines; server: nvidia-dgx-h100; fabrics: [infiniband, roce]; optics: compatible"
    assert "workload: {task: training, precision: bf16, recompute: selective, parallelism: auto}" in words
    assert "management: {inband: {medium: optical}}" in words
    network = next(line for line in words if line.startswith("network: "))
    for part in ("oversubscription: 1:1", "reserved_ports: {per_leaf: 0, per_spine: 0}", "medium: optical"):
        assert part in network


def test_defaults_that_are_empty_are_left_out() -> None:
    data = samples.data(samples.BOTH)
    table = to_table(data, width=80).partition("Defaults used")[2]
    assert "/prices" in data["defaults"]
    assert not re.search(r"none|prices|attached|jobs", table)


def test_defaults_read_as_a_spec_that_says_the_same() -> None:
    data = samples.data(samples.BOTH)
    lines = [words for line in defaults(data).lines for words in line.words.split("; ")]
    text = "\n".join(["model: 70B", "gpus: 1024", "budget: $6M", *lines])
    loaded = load_spec("-", stdin=BytesIO(text.encode()))
    assert loaded.spec.model_dump(mode="json") == data["effective_spec"]


def test_a_rejected_design_shows_its_first_reason_and_how_many_more() -> None:
    data = samples.data(samples.BOTH, "network.oversubscription=[1:1, 2:1]")
    words = [line.words for line in rejected(data).lines]
    (entry,) = [n for n, line in enumerate(words) if "spectrum6-osfp cages (leaf)" in line]
    assert words[entry].endswith(" (and 1 more reason)")
    # Ratios of one switch are one name where every switch of the catalogue was tried.
    assert words[entry + 1] == "roce-nvidia-sn6600"


def test_of_many_switches_that_no_spec_named_a_few_are_told() -> None:
    data = samples.data(samples.BOTH)
    *told, last = [line.words for line in rejected(data).lines]
    assert len(told) == 6
    names = [name for line in told[1::2] for name in line.split(", ")]
    switches = {row["id"].rpartition("-autot")[0] for row in data["rejected"]}
    assert last == f"and {len(switches) - len(names)} more switches (--format json lists all)"
    named = {**data, "effective_spec": {**data["effective_spec"], "network": {"switch": {"leaf": "x"}}}}
    assert all(row["id"] in "\n".join(line.words for line in rejected(named).lines) for row in data["rejected"])


def test_other_switches_without_prices_share_a_line() -> None:
    data = samples.data(samples.BOTH)
    lines = [line.words for line in alternatives(data).lines]
    for design in data["designs"]:
        lacking = [other for other in design["alternatives"] if not other["complete"]]
        for other in design["alternatives"]:
            (line,) = [line for line in lines if other["id"] in line]
            assert (f"{len(lacking)} more lack prices (from at least $" in line) == (not other["complete"])


def test_what_is_said_of_several_designs_stands_once() -> None:
    data = samples.data(samples.ETHERNET)
    places = " ".join(f"[{design['rank']}]" for design in data["designs"] if design["fabric"] == "ethernet")
    assert places.startswith("[1] [2]")
    assert _said("Inference stays", recommendation(data)) == [f"{places} Inference stays"]
    assert _said("Inference stays", design_list(data, data["designs"], "All")) == []
    assert _said("Inference stays", findings(data)) == []
    nothing = {**data, "recommended": None}
    assert _said("Inference stays", findings(nothing)) != []
    assert _said("Inference stays", design_list(nothing, data["designs"], "All")) == [f"{places} Inference stays"]


def _said(words: str, section: Section) -> list[str]:
    lines = [line.words for line in section.lines]
    return [line.partition(words)[0] + words for line in lines if words in line]


def test_prices_in_use_are_named() -> None:
    data = samples.data(samples.BOTH)
    line, server = prices(data).lines
    assert line.words == f"ibplan price book of {data['inputs']['price_book']['date']}."
    assert server.words.startswith("one server (nvidia-dgx-h100): ")
    assert samples.catalog().prices.name == PRICE_BOOK
    own = {**data, "inputs": {"price_book": {"name": "frame contract", "date": "2026-12-01"}, "server_price": None}}
    (line,) = prices(own).lines
    assert line.words == "frame contract of 2026-12-01; where it has none, ibplan price book."


@pytest.mark.parametrize("limit", ["power=2MW", "facility_power=2MW"])
def test_marks_say_what_a_power_limit_holds(limit: str) -> None:
    table = _flat(to_table(samples.data(samples.POD, f"budget.{limit}"), width=100))
    assert "power limit kept: maximum power of the network and of all servers together" in table


def test_marks_say_how_figures_are_to_be_read() -> None:
    table = _flat(to_table(samples.data(samples.BOTH), width=80))
    assert "each GPU, all talking: when half of the GPUs send to the other half, each gets this much" in table
    for words in ("unit: servers", "down:up: bandwidth", "paths between rails: whether"):
        assert words in table


def test_switches_that_the_spec_names_are_rejected_by_their_ids() -> None:
    data = samples.data(
        samples.BOTH, "network.oversubscription=[1:1, 2:1]", "network.switch=nvidia-sn5400", "fabrics=roce"
    )
    (_, ids) = [line.words for line in rejected(data).lines]
    assert ids == "roce-nvidia-sn5400-autot-1to1, roce-nvidia-sn5400-autot-2to1"


def test_every_reason_stands_in_markdown() -> None:
    data = samples.data(samples.BOTH)
    text = to_markdown(data)
    assert all(row["id"] in text for row in data["rejected"])
    assert all(escape(reason["text"]) in text for row in data["rejected"] for reason in row["reasons"])


@pytest.mark.parametrize(("count", "words"), [(0, "0 leaves"), (1, "1 leaf"), (2, "2 leaves"), (1024, "1,024 leaves")])
def test_a_count_agrees_with_its_noun(count: int, words: str) -> None:
    assert plural(count, "leaf", "leaves") == words


def test_a_finding_carries_the_labels_of_all_its_designs() -> None:
    lines = [line.words for line in findings(samples.data("budget-forces-2to1")).lines]
    assert [line for line in lines if line.startswith("[1] [2] [3] [4] The ports of the storage appliances")]
    assert [line for line in lines if line.startswith("[1] [3] The server-leaf link pairs")]


def test_findings_carry_their_remedy_and_designs() -> None:
    table = _flat(to_table(samples.data(samples.UNPRICED), width=120))
    assert re.search(r"warning \[u1\] Without a price: .* Give their prices in a file named by `prices:`", table)


def test_ascii_only_where_the_encoding_has_no_more() -> None:
    table = to_table(samples.data(samples.UNPRICED), width=80, ascii_only=True)
    assert table.isascii()
    assert "-----" in table


def test_color_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in to_table(samples.data(samples.BOTH), width=80)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in to_table(samples.data(samples.BOTH), width=80, color=True)


@pytest.mark.parametrize("bad", ["\x1b[31mred", "[bold]x[/bold]", ":smile:", "a\nb", "\x9b1m"])
def test_texts_from_outside_are_shown_not_obeyed(bad: str) -> None:
    table = to_table(plan_data(samples.hostile(bad)), width=100)
    assert "\x1b" not in table
    assert "\x9b" not in table
    assert bad.replace("\x1b", "\\x1b").replace("\n", "\\x0a").replace("\x9b", "\\x9b") in table


def test_a_million_gpus_has_no_exponents() -> None:
    assert text.number(419430400.0) == "419,430,400"
    assert text.number(0.00012) == "0.00012"
    assert text.usd(1.5e9) == "1,500,000,000"
    assert text.ratio(1.06667) == "16:15"
    assert text.ratio(0.964286) == "27:28"
    assert text.ratio(1.00787) == "1.008:1"
    assert text.scaled(405_000_000_000) == "405B"
    assert text.percent(0.0510702) == "5.1"


def test_what_moves_the_total_is_listed_for_the_recommended_design() -> None:
    data = samples.data(samples.COSTS, "storage=none", "management={inband: false, oob: false}")
    section = sensitivity(data)
    assert section.title == "What moves the total cost of design 1 most"
    rows = data["designs"][0]["sensitivity"]
    assert [line.words.partition(",")[0] for line in section.lines] == [row["input"] for row in rows]
    (support,) = [line.words for line in section.lines if line.words.startswith("support,")]
    assert support.startswith("support, 2% to 20% of the price a year (now 3.8%; published): total $2,199,837 to $")
    assert "(now unknown;" in " ".join(line.words for line in sensitivity(samples.data(samples.BOTH)).lines)
    assert not sensitivity(samples.data(samples.UNPRICED, "network.switch=nvidia-sn6600")).lines


def test_what_is_left_out_follows_what_is_planned() -> None:
    alone = ("storage=none", "management={inband: false, oob: false}")
    plans = (samples.data(samples.BOTH), samples.data(samples.COSTS, *alone))
    (bare,), (full,) = (left_out(data, left_out_words(data)).lines for data in plans)
    for word in ("support", "licences without a price", "spares"):
        assert word in bare.words
        assert word not in full.words
    assert "tax" in full.words
    for name in ("storage network", "in-band network", "out-of-band network"):
        assert name not in bare.words
        assert f"{name} (the spec leaves it out)" in full.words
