"""LibreOffice without a window: a workbook in, each sheet as the cells that it computes out."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

from tests.system.programs import need

# Fields by position: comma, quote, UTF-8, from line 1, -, language, quote texts, not as shown but in full, no formulas,
# keep spaces, -, every sheet in a file of its own.
_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false,false,false,false,-1"
# Recompute every formula of a workbook when it is loaded, whatever values it brings.
_ALWAYS = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    '<item oor:path="/org.openoffice.Office.Calc/Formula/Load">'
    '<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>'
)
Sheets = dict[str, list[list[str]]]


def find_office() -> str:
    """The program. Without it a test is skipped; in CI (CI=true) it fails."""
    return need("soffice", "libreoffice-calc")


def sheets_of(content: bytes, folder: Path) -> Sheets:
    """The cells of every sheet of a workbook, recomputed, as LibreOffice writes them to CSV."""
    program = find_office()
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_ALWAYS, encoding="utf-8")
    book, out = folder / "bom.xlsx", folder / "out"
    book.write_bytes(content)
    subprocess.run(
        [
            program,
            f"-env:UserInstallation={profile.as_uri()}",
            "--headless",
            "--convert-to",
            _CSV,
            "--outdir",
            str(out),
            str(book),
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    found = {}
    for path in out.glob("bom-*.csv"):
        with path.open(encoding="utf-8", newline="") as stream:
            found[path.stem.removeprefix("bom-")] = list(csv.reader(stream))
    return found
