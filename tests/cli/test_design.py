"""`ibplan design`, seen from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from ibplan.document import parse_document
from tests.cli.run import ROOT, run, run_shell

SPEC = "specs/three-lines.yaml"


def test_a_table_by_default() -> None:
    done = run("design", SPEC)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("three-lines: 1,024 GPUs in 128 servers (nvidia-dgx-h100)")
    assert "Recommended" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_the_width_is_kept(width: str) -> None:
    by_option = run("design", SPEC, "--width", width)
    by_variable = run("design", SPEC, env={"COLUMNS": width})
    assert by_option.stdout == by_variable.stdout
    assert max(map(len, by_option.stdout.splitlines())) <= int(width)


def test_a_width_that_no_table_fits_is_refused() -> None:
    done = run("design", SPEC, "--width", "20")
    assert done.returncode == 2
    assert done.stdout == ""


def test_json_yaml_csv_and_markdown() -> None:
    data = json.loads(run("design", SPEC, "--format", "json").stdout)
    assert data["recommended"] in [design["id"] for design in data["designs"]]
    text = run("design", SPEC, "--format", "yaml").stdout
    assert json.loads(json.dumps(parse_document(text, "plan").data, default=float)) == data
    rows = list(csv.DictReader(io.StringIO(run("design", SPEC, "--format", "csv").stdout)))
    assert [row["id"] for row in rows] == [design["id"] for design in data["designs"]]
    assert run("design", SPEC, "--format", "markdown").stdout.startswith("# three-lines: ")


def test_two_runs_print_the_same_bytes() -> None:
    first = run("design", SPEC, "--format", "json", env={"PYTHONHASHSEED": "1"})
    assert first.stdout == run("design", SPEC, "--format", "json").stdout


def test_no_design_that_fits_exits_3_and_still_prints_everything() -> None:
    done = run("design", SPEC, "--set", "budget=$1M", "--format", "json")
    assert (done.returncode, done.stderr) == (3, "")
    data = json.loads(done.stdout)
    assert data["recommended"] is None
    assert data["shortfall"]
    table = run("design", SPEC, "--set", "budget=$1M")
    assert table.returncode == 3
    assert "No design can be recommended" in table.stdout


UNPRICED = ("specs/gb300-nvl72.yaml", "--set", "fabrics=infiniband")


def test_designs_without_prices_are_not_recommended_but_no_failure() -> None:
    done = run("design", *UNPRICED, "--format", "json")
    data = json.loads(done.stdout)
    assert (data["recommended"], data["shortfall"]) == (None, [])
    assert data["designs"]
    assert done.returncode == 0
    assert done.stderr.startswith("ibplan: no design can be recommended: Every design has parts without a price")
    assert run("design", *UNPRICED, "--fail-on", "warning").returncode == 1
    assert run("bom", *UNPRICED).returncode == 3


def test_a_pinned_design_without_prices_is_named() -> None:
    spec = "specs/gb300-nvl72.yaml"
    done = run("design", spec, "--set", "design=infiniband-nvidia-q3400-ra-2t-1to1", "--format", "csv")
    assert done.returncode == 0
    assert "The spec pins infiniband-nvidia-q3400-ra-2t-1to1, which cannot be recommended: it has parts" in done.stderr


def test_nothing_to_build_exits_3() -> None:
    done = run("design", SPEC, "--set", "network.tiers=1")
    assert (done.returncode, done.stderr) == (3, "")
    assert "No design can be built" in done.stdout


def test_the_nearest_change_works_as_it_is_printed() -> None:
    data = json.loads(run("design", SPEC, "--set", "budget=$3M", "--format", "json").stdout)
    for row in data["nearest"]:
        setting = f"{row['change']}={row['value']}"
        again = run("design", SPEC, "--set", "budget=$3M", "--set", setting, "--format", "json")
        assert again.returncode == 0, setting
        assert json.loads(again.stdout)["recommended"] == row["design"]


def test_an_output_file_is_written_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    done = run("design", SPEC, "--format", "json", "-o", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads(file.read_text())["schema_version"] == "1"


def test_standard_input() -> None:
    text = (ROOT / SPEC).read_text()
    done = run("design", "-", "--format", "json", stdin=text)
    assert done.returncode == 0
    designs = json.loads(run("design", SPEC, "--format", "json").stdout)["designs"]
    assert json.loads(done.stdout)["designs"] == designs


def test_one_design_by_its_id() -> None:
    data = json.loads(run("design", SPEC, "--format", "json").stdout)
    second = data["designs"][1]["id"]
    one = json.loads(run("design", SPEC, "--design", second, "--format", "json").stdout)
    assert one["designs"] == [data["designs"][1]]
    assert one["recommended"] == data["recommended"]
    assert all(found["design"] in (None, second) for found in one["findings"])


def test_a_design_listed_under_another_of_its_form() -> None:
    data = json.loads(run("design", SPEC, "--format", "json").stdout)
    other = data["designs"][0]["alternatives"][0]
    one = json.loads(run("design", SPEC, "--design", other["id"], "--format", "json").stdout)
    assert [design["id"] for design in one["designs"]] == [other["id"]]
    assert one["designs"][0]["totals"]["capex_usd"] == other["capex_usd"]


def test_an_unknown_design_names_the_nearest() -> None:
    done = run("design", SPEC, "--design", "infiniband-nvidia-qm9700-2t-2to1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nearest: infiniband-nvidia-qm9700-2t-1to1" in done.stderr


def test_a_design_that_cannot_be_built_says_why() -> None:
    done = run("design", SPEC, "--set", "network.tiers=1", "--design", "infiniband-nvidia-qm9700-1t-1to1")
    assert done.returncode == 2
    assert "1,024 ports needed, 64 available" in done.stderr


def test_findings_can_fail_a_run() -> None:
    assert run("design", SPEC, "--fail-on", "error").returncode == 0
    done = run("design", SPEC, "--fail-on", "info")
    assert done.returncode == 1
    assert "Recommended" in done.stdout
    assert run("design", SPEC, "--set", "budget=$1M", "--fail-on", "info").returncode == 3


def test_explain_a_figure() -> None:
    done = run("design", SPEC, "--explain", "capex_per_gpu_usd")
    assert done.returncode == 0
    assert "capex_per_gpu_usd = capex_usd / gpus" in done.stdout
    data = json.loads(run("design", SPEC, "--explain", "capex_per_gpu_usd", "--format", "json").stdout)
    inputs = data["designs"][0]["inputs"]
    assert data["designs"][0]["value"] == pytest.approx(inputs["capex_usd"] / inputs["gpus"], abs=0.01)


def test_explain_list_needs_no_plan() -> None:
    done = run("design", "no-such-spec.yaml", "--explain", "list")
    assert done.returncode == 0
    assert "bisection_gbps" in done.stdout


def test_an_unknown_figure_names_the_nearest() -> None:
    done = run("design", SPEC, "--explain", "bisecton")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean bisection_gbps (Bisection)" in done.stderr


def test_a_figure_can_be_named_by_its_row() -> None:
    done = run("design", SPEC, "--explain", "power, MAXIMUM")
    assert done.returncode == 0
    assert done.stdout.startswith("power_known_w: the same of those parts of which it is known")


def test_explain_has_no_spreadsheet_form() -> None:
    assert run("design", SPEC, "--explain", "links", "--format", "csv").returncode == 2


def test_prices_of_the_user_stand(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    row = "{part: nvidia-qm9700, kind: street, usd: 10000, date: 2026-11-01, source: our quote}"
    prices.write_text(f"name: ours\ndate: 2026-11-01\nprices:\n  - {row}\n")
    done = run("design", SPEC, "--prices", str(prices), "--format", "json")
    assert done.returncode == 0, done.stderr
    items = [i for d in json.loads(done.stdout)["designs"] for i in d["line_items"] if i["part"] == "nvidia-qm9700"]
    assert {item["unit_price_usd"] for item in items} == {10000.0}


def test_a_closed_pipe_is_a_quiet_end() -> None:
    done = run_shell(f"set +o pipefail; ibplan design {SPEC} --format json | head -1")
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_ascii_where_the_terminal_has_no_more() -> None:
    done = run("design", SPEC, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_a_bad_spec_is_an_input_error() -> None:
    done = run("design", "-", stdin="gpus: 1024\nnetwrok: {}\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "<stdin>:2:1: unknown key 'netwrok'" in done.stderr
