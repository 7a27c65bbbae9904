"""Committed bills against those of now: what differs is shown, whatever was committed."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ibplan.errors import InputError
from ibplan.report.bom_files import ENDINGS, BillForm, form_of, write_bill
from ibplan.report.staleness import stale_lines
from tests.report import samples
from tests.report.joint_bills import joint_bill

FORMS: tuple[BillForm, ...] = ("csv", "json", "yaml", "markdown", "xlsx", "cyclonedx")
SHEET = "xl/worksheets/sheet2.xml"  # of the compute network


def _bill(form: BillForm, name: str = samples.BOTH) -> bytes:
    bill = write_bill(joint_bill(name), form)
    return bill if isinstance(bill, bytes) else bill.encode()


def _changed(content: bytes, member: str, change: Callable[[str], str]) -> bytes:
    """A workbook with one of its parts changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(name, change(text) if name == member else text)
    return out.getvalue()


def _replaced(pattern: str, by: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        changed, count = re.subn(pattern, by, text, count=1)
        assert count == 1
        return changed

    return change


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_now_is_up_to_date(form: BillForm) -> None:
    assert stale_lines(_bill(form), _bill(form), "f") == []


@pytest.mark.parametrize("form", FORMS)
def test_another_bill_is_stale_and_the_diff_names_the_file(form: BillForm) -> None:
    lines = stale_lines(_bill(form, samples.POD), _bill(form), "bills/f")
    assert lines[:2] == ["--- bills/f (committed)", "+++ bills/f (now)"]
    assert any(line.startswith("-") and "qm9700" in line for line in lines)
    assert any(line.startswith("+") and "sn5610" in line for line in lines)


def test_how_lines_end_does_not_count() -> None:
    assert stale_lines(_bill("csv").replace(b"\n", b"\r\n"), _bill("csv"), "f") == []


def test_a_missing_end_of_the_file_counts() -> None:
    assert stale_lines(_bill("csv")[:-1], _bill("csv"), "f")


def test_a_committed_file_cannot_drive_the_terminal() -> None:
    lines = stale_lines(b"\x1b[2J\xff\tx\n", _bill("csv"), "f")
    assert "-\\x1b[2J\\xff\tx" in lines


def test_a_workbook_packed_in_another_way_is_the_same() -> None:
    current = _bill("xlsx")
    other = _changed(current, SHEET, lambda text: text)
    assert other != current
    assert stale_lines(other, current, "f") == []


def test_a_cell_that_was_changed_shows() -> None:
    current = _bill("xlsx")
    lines = stale_lines(_changed(current, SHEET, _replaced("<v>51999</v>", "<v>49999</v>")), current, "f")
    assert [line[0] for line in lines[2:] if line[0] in "+-"] == ["-", "+"]
    assert "| 49999 |" in "".join(lines)


def test_a_formula_that_was_replaced_by_its_value_shows() -> None:
    current = _bill("xlsx")
    lines = stale_lines(_changed(current, SHEET, _replaced("<f>IF[(]ISNUMBER.*?</f>", "")), current, "f")
    assert [line[:13] for line in lines[2:] if line[0] in "+-"] == ["+compute!S2: "]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a workbook"),
        (b"line,network\n", "is not a workbook"),
        (b"PK\x03\x04" + b"\0" * 100, "is not a workbook"),
    ],
)
def test_what_is_no_workbook_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"f: {said}"):
        stale_lines(content, _bill("xlsx"), "f")


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    + "]>"
)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (_zip({"x": b"\0" * 5 * 1024**2}), "unpacks to more than 2 MiB"),
        (_zip({str(n): b"" for n in range(201)}), "or 200 parts"),
        (_zip({"x": b""}), "cannot be read as a workbook"),
        (_changed(_bill("xlsx"), SHEET, _replaced("<worksheet", "<workshee")), "cannot be read as a workbook"),
        (_changed(_bill("xlsx"), SHEET, _replaced("<worksheet", f"{ENTITIES}<worksheet")), "cannot be read"),
        (_changed(_bill("xlsx"), SHEET, _replaced('r="A2"', 'r="XFD1048576"')), "has more than 200,000 cells"),
    ],
    ids=["bomb", "members", "empty", "damaged", "entities", "wide"],
)
def test_a_hostile_workbook_is_refused_at_once(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        stale_lines(content, _bill("xlsx"), "f")


@pytest.mark.parametrize(("ending", "form"), ENDINGS.items())
def test_the_ending_of_a_file_says_the_form(ending: str, form: BillForm) -> None:
    assert form_of(Path(f"a.b{ending}")) == form
    assert form_of(Path(f"A{ending.upper()}")) == form


def test_an_ending_that_says_nothing() -> None:
    assert form_of(Path("bill.txt")) is None
    assert form_of(Path("csv")) is None
