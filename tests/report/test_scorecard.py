"""The scorecard in the report: its rows, and what has to be run and set up."""

from __future__ import annotations

from ibplan.report.scorecard import operating_section, scorecard_rows
from tests.report import samples


def _cells(name: str, label: str) -> list[str]:
    data = samples.data(name)
    row = next(row for row in scorecard_rows() if row.label == label)
    return [row.cell(design, data) for design in data["designs"]]


def test_the_two_technologies_side_by_side() -> None:
    assert _cells(samples.BOTH, "Against packet loss") == ["PFC and ECN", "credits"]
    assert _cells(samples.BOTH, "- switch ports to tune") == ["2,496", "0"]
    assert _cells(samples.BOTH, "Load balancing") == ["ECMP\nor adaptive", "adaptive"]
    assert _cells(samples.BOTH, "All-reduce in switches") == ["no", "any size"]
    assert _cells(samples.BOTH, "Makers of such switches") == ["10", "1"]


def test_what_is_counted_alike_stands_together() -> None:
    first, second = operating_section(samples.data(samples.BOTH)).lines
    assert (first.marker, first.words) == (
        "1",
        "roce: BGP on 30 switches; PFC, ECN and buffers, PFC watchdog on 2,496 switch ports; RoCE class and DCQCN on "
        "1,280 NIC ports.",
    )
    assert (second.marker, second.words) == (
        "2",
        "infiniband: subnet manager for 2 subnets; if wanted, aggregation manager for 2 subnets.",
    )


def test_nothing_is_said_where_nothing_is_to_be_done() -> None:
    data = samples.data(samples.ETHERNET)
    plain = [d for d in data["designs"] if d["fabric"] == "ethernet" and not d["scorecard"]["tasks"]]
    assert plain
    shown = operating_section(data)
    assert all(not line.words.startswith("ethernet") for line in shown.lines)
