"""The forms that a bill is written in, by name and by the ending of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from ibplan.plan.joint_bill import JointBill
from ibplan.report.bom import By, bom_csv
from ibplan.report.bom_merged import merged_data, merged_markdown, merged_rows

BillForm = Literal["csv", "json", "yaml", "markdown", "xlsx", "cyclonedx"]
# The longest ending that fits decides.
ENDINGS: Final[Mapping[str, BillForm]] = {
    ".csv": "csv",
    ".cdx.json": "cyclonedx",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
    ".xlsx": "xlsx",
}


def form_of(path: Path) -> BillForm | None:
    """The form that the ending of a file's name says; None if it says none."""
    name = path.name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return ENDINGS[ending]
    return None


def write_bill(joint_bill: JointBill, form: BillForm, by: By = "part", *, crlf: bool = False) -> str | bytes:
    """A joint bill as the content of a file. `crlf`: how lines of CSV end."""
    if form == "xlsx":
        from ibplan.report.bom_xlsx import bom_xlsx

        return bom_xlsx(joint_bill, by)
    if form == "cyclonedx":
        from ibplan.report.bom_cyclonedx import bom_cyclonedx

        return bom_cyclonedx(joint_bill, by)
    rows = merged_rows(joint_bill, by)
    if form == "csv":
        return bom_csv(rows, by, crlf=crlf)
    if form == "markdown":
        return merged_markdown(joint_bill, rows, by)
    from ibplan.report.data import to_json, to_yaml

    data = merged_data(joint_bill, rows)
    return to_json(data) if form == "json" else to_yaml(data)
