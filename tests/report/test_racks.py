"""What `racks` says: the floor, the racks and one rack agree with the places of the devices."""

from __future__ import annotations

import csv
import io
from functools import cache

import pytest

from ibplan.errors import UsageError
from ibplan.plan.sited import SitedDesign, site_design
from ibplan.plan.wired import wire_design
from ibplan.report.racks import racks_markdown, racks_text
from ibplan.report.racks_data import racks_csv, racks_data
from ibplan.report.racks_words import floor_rows, rack_names
from ibplan.site.model import Rack
from ibplan.spec.load import load_spec
from tests.golden import check_golden
from tests.report import samples
from tests.test_golden_specs import GOLDEN

POD = "h100-pod-127"


@cache
def sited(name: str, *settings: str) -> SitedDesign:
    return site_design(load_spec(samples.SPECS / f"{name}.yaml", settings), samples.catalog())


def text(design: SitedDesign, width: int = 100, rack: str | None = None) -> str:
    racks = [c for c in design.racks if rack in (None, c.rack.name)]
    return racks_text(design, racks, one=rack is not None, width=width, color=False, ascii_only=False)


@pytest.mark.parametrize("name", [POD, "three-tiers-16384", "gb300-nvl72", "one-switch"])
@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_line_fits_the_width(name: str, width: int) -> None:
    assert max(map(len, text(sited(name), width).splitlines())) <= width


@pytest.mark.parametrize("name", [POD, "b300-two-planes", "storage-attached"])
def test_devices_have_the_names_of_the_wiring(name: str) -> None:
    wired = wire_design(load_spec(samples.SPECS / f"{name}.yaml"), samples.catalog())
    design = sited(name)
    found = sorted(d.name for c in design.racks for d in c.devices if "/" not in d.name)  # of the compute network
    left = tuple(f"{group}-" for group in design.not_placed)
    names = wired.wiring.device_names()
    if wired.fabric != "infiniband":
        names = [n for n in names if not n.startswith("manager")]
    assert found == sorted(n for n in names if not left or not n.startswith(left))


def test_csv_has_one_row_a_device() -> None:
    design = sited(POD)
    rows = list(csv.DictReader(io.StringIO(racks_csv(design.racks))))
    assert len(rows) == sum(len(c.devices) for c in design.racks)
    servers = [r for r in rows if r["part"] == "nvidia-dgx-h100"]
    assert len(servers) == 127
    assert sum(float(r["power_w"]) for r in servers) == 127 * 10_200


def test_sums_of_a_rack_are_those_of_its_devices() -> None:
    for rack in racks_data(sited(POD), sited(POD).racks)["racks"]:
        assert rack["units_used"] == sum(d["rack_units"] for d in rack["devices"])
        assert rack["units_used"] + rack["units_free"] + rack["units_reserved"] == rack["rack_units"]
        watts = [d["power_w"] for d in rack["devices"]]
        if None in watts:
            assert rack["power_w"] is None
        else:
            assert rack["power_w"] == sum(watts) <= rack["power_limit_w"]


def test_the_floor_shows_every_rack() -> None:
    design = sited("three-tiers-16384")
    drawn = "".join(marks for _, marks in floor_rows(design))
    assert next(row for row, _ in floor_rows(design)) == "R01..H2-R12"
    assert {"s", "n", "."} == set(drawn)


def test_names_of_racks_alike_are_folded() -> None:
    def rack(row: int, position: int) -> Rack:
        return Rack(f"R{row:02d}-{position:02d}", "1", row, position, 0, 0, 48, "server")

    racks = [rack(row, position) for row in (1, 2, 3) for position in (1, 2, 3, 5)] + [rack(4, 7)]
    assert rack_names(racks) == "R01..R03-01..03+05, R04-07"


def test_a_design_without_a_layout_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="rack units of nvidia-hgx-h100 not known"):
        sited("small-team")


def test_golden_floor_and_rack() -> None:
    check_golden(GOLDEN / "racks-h100-pod-127.txt", text(sited(POD)))
    check_golden(GOLDEN / "racks-h100-pod-127-R01-10.txt", text(sited(POD), rack="R01-10"))
    check_golden(GOLDEN / "racks-three-tiers-16384.txt", text(sited("three-tiers-16384")))
    design = sited("gb300-nvl72", "site.placement=end_of_row")
    check_golden(GOLDEN / "racks-gb300-nvl72.md", racks_markdown(design, design.racks, one=False))
