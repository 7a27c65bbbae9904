"""`ibplan catalog`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from ibplan.document import parse_document
from tests.cli.run import run

OVERLAY = """\
switches:
  - id: acme-64
    vendor: "=ACME|"
    model: A64
    confidence: high
    sources: [our lab]
    link_layers: [ethernet]
    capacity_gbps: 25600
    rack_units: 2
    cages:
      - count: 64
        form: QSFP112
        cage_class: acme-cage
        heat_sink: flat
        lanes: 4
        lane_gbps: 100
        breakouts: [{ports: 1, gbps: 400, lanes: 4}]
"""


def test_list_has_the_same_rows_in_every_format() -> None:
    rows = json.loads(run("catalog", "list", "--kind", "switches", "--format", "json").stdout)["rows"]
    names = [row["id"] for row in rows]
    assert "nvidia-qm9700" in names
    assert {row["kind"] for row in rows} == {"switches"}
    read = csv.DictReader(io.StringIO(run("catalog", "list", "--kind", "switches", "--format", "csv").stdout))
    assert [row["id"] for row in read] == names
    markdown = run("catalog", "list", "--kind", "switches", "--format", "markdown").stdout.splitlines()
    assert [line.split(" | ")[1] for line in markdown[2:]] == names
    table = run("catalog", "list", "--kind", "switches", "--width", "80").stdout
    assert all(name in table for name in names)
    as_yaml = run("catalog", "list", "--kind", "switches", "--format", "yaml").stdout
    plain = json.loads(json.dumps(parse_document(as_yaml, "s").data, default=float))
    assert plain == {"schema_version": "1", "rows": rows}
    assert max(map(len, table.splitlines())) <= 80
    assert table.split()[:4] == ["id", "what", "status", "price_usd"]


def test_a_list_is_as_wide_as_people_read_and_has_all_columns_where_there_is_room() -> None:
    assert max(map(len, run("catalog", "list", "--kind", "switches").stdout.splitlines())) <= 100
    assert run("catalog", "list", "--width", "200").stdout.split()[:4] == ["kind", "id", "status", "vendor"]


def test_check_of_own_entries_alone(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OVERLAY)
    own = ("catalog", "check", "--own", "--catalog", "ours.yaml")
    done = run(*own, "--format", "json", cwd=tmp_path)
    assert {row["id"] for row in json.loads(done.stdout)["rows"]} == {"acme-64"}
    assert done.stderr == ""
    row = "{part: acme-64, kind: street, usd: 10000, date: 2026-11-01, source: our quote}"
    (tmp_path / "prices.yaml").write_text(f"name: ours\ndate: 2026-11-01\nprices:\n  - {row}\n")
    done = run(*own, "--prices", "prices.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "ibplan: 1 entry of your files checked, nothing to report\n"
    assert run("catalog", "check", "--own").returncode == 2


def test_list_takes_several_kinds() -> None:
    done = run("catalog", "list", "--kind", "gpus", "--kind", "nics", "--format", "json")
    assert {row["kind"] for row in json.loads(done.stdout)["rows"]} == {"gpus", "nics"}


def test_show_gives_everything_known() -> None:
    shown = json.loads(run("catalog", "show", "nvidia-qm9700", "--format", "json").stdout)
    assert (shown["kind"], shown["cages"][0]["count"]) == ("switches", 32)
    as_yaml = run("catalog", "show", "nvidia-qm9700", "--format", "yaml").stdout
    assert parse_document(as_yaml, "s").data["sources"] == tuple(shown["sources"])
    table = run("catalog", "show", "nvidia-qm9700").stdout
    assert "cages[0].count" in table
    assert "second-hand" in table
    assert "used" not in table


def test_show_of_an_unknown_id_names_the_nearest() -> None:
    done = run("catalog", "show", "nvidia-qm970")
    assert done.returncode == 2
    assert done.stderr == "ibplan: nothing in the catalogue has the id 'nvidia-qm970': did you mean nvidia-qm9700?\n"


def test_check_lists_and_is_fine() -> None:
    done = run("catalog", "check", "--older-than", "1y", "--as-of", "2100-01-01", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["rows"]
    assert "old_price" in {row["check"] for row in rows}
    table = run("catalog", "check", "--older-than", "1y", "--as-of", "2100-01-01")
    assert table.stdout.split()[: len(rows[0])] == list(rows[0])
    assert run("catalog", "check").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--older-than", "soon"), "--older-than: 'soon' is not an age such as 180d, 26w, 6m or 1y"),
        (("--as-of", "tomorrow"), "--as-of: 'tomorrow' is not a date such as 2026-01-31"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[str, ...], message: str) -> None:
    done = run("catalog", "check", *arguments)
    assert (done.returncode, done.stderr) == (2, f"ibplan: {message}\n")


def test_overlays_are_shown_and_cells_are_safe(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OVERLAY)
    rows = run("catalog", "list", "--catalog", "ours.yaml", "--format", "csv", cwd=tmp_path).stdout
    assert '"switches","acme-64","active","\'=ACME|","A64","64 x 400G"' in rows
    assert "=ACME\\|" in run("catalog", "list", "--catalog", "ours.yaml", "--format", "markdown", cwd=tmp_path).stdout


def test_invalid_overlays_are_two(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OVERLAY.replace("count: 64", "count: x"))
    done = run("catalog", "check", "--catalog", "ours.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("ours.yaml:11:16: switches[0].cages[0].count: expected a whole number, got text 'x'")
    assert run("catalog", "list", "--prices", "absent.yaml", cwd=tmp_path).returncode == 2
