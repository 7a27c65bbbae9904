"""Random documents, spoilt specs and catalogues, random valid specs: an answer or a refusal, never a fault.

The counts are small: these run with every test. By hand, `IBPLAN_EXAMPLES=100 pytest tests/hostile` looks further.
"""

from __future__ import annotations

import json
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibplan.catalog.layers import DATA
from ibplan.errors import InputError
from ibplan.plan.joint_bill import make_joint_bill
from ibplan.plan.make import make_plan
from ibplan.plan.results import Plan
from ibplan.report.bom import bom_csv, bom_data, bom_markdown, bom_rows
from ibplan.report.bom_cyclonedx import bom_cyclonedx
from ibplan.report.bom_merged import merged_rows
from ibplan.report.bom_xlsx import bom_xlsx
from ibplan.report.data import plan_data, to_json
from ibplan.report.figures import to_csv
from ibplan.report.markdown import to_markdown
from ibplan.report.table import to_table
from ibplan.spec.load import load_spec
from ibplan.spec.models import Spec
from tests.cli.run import ROOT
from tests.examples import share
from tests.hostile.inside import cli
from tests.hostile.specs import spoilt, valid_specs
from tests.plan.planning import catalog

SPECS = sorted((ROOT / "specs").glob("*.yaml"))
ANSWERS = (0, 2, 3)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["2:1", "$6M", "400G"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=8,
)


def examples(count: int) -> settings:
    return settings(max_examples=share(count), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", autouse=True)
def _one_catalog() -> Any:
    """Most examples need no more than the packaged catalogue: it is read once."""
    from ibplan.catalog import store

    load = store.load_catalog

    def known(overlays: Any = (), prices: Any = None) -> Any:
        return load(overlays, prices) if overlays or prices is not None else catalog()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "load_catalog", known)
        yield


def answered(*words: str, stdin: str = "") -> None:
    done = cli(*words, stdin=stdin.encode("utf-8", "surrogatepass"))
    assert done.code in ANSWERS, done.err
    assert "Traceback" not in done.out + done.err
    assert (done.err != "") or done.code != 2
    shown = done.err.replace("\n", "")
    assert shown.isprintable(), shown


@examples(60)
@given(spec=st.dictionaries(st.sampled_from(sorted(Spec.model_fields)) | st.text(max_size=8), VALUES, max_size=6))
def test_random_documents(spec: dict[str, Any]) -> None:
    answered("design", "-", stdin=json.dumps(spec))
    answered("validate", "-", stdin=json.dumps(spec | {"gpus": 8}))


@examples(60)
@given(data=st.data(), path=st.sampled_from(SPECS))
def test_spoilt_specs(data: st.DataObject, path: Path) -> None:
    text = data.draw(spoilt(path.read_text(encoding="utf-8")))
    command = data.draw(st.sampled_from(["design", "bom", "validate", "validate", "validate"]))
    answered(command, "-", stdin=text)


@examples(25)
@given(data=st.data(), path=st.sampled_from(sorted(DATA.glob("*.yaml"))), where=st.integers(0, 10_000))
def test_spoilt_catalogues(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, path: Path, where: int
) -> None:
    head, *entries = path.read_text(encoding="utf-8").split("\n  - ")
    if path.name == "prices.yaml":
        option, count = "--prices", 20
    else:
        option, count = "--catalog", 1
    entries = entries[where % len(entries) :][:count]
    text = data.draw(spoilt("\n  - ".join([head, *entries])))
    file = tmp_path_factory.mktemp("x") / "c.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    words = data.draw(st.sampled_from(["catalog list", "catalog check --older-than 1d", f"design {SPECS[-1]}"])).split()
    answered(*words, option, str(file))


def consistent(plan: Plan) -> None:
    """What every plan must hold, whatever was asked."""
    assert len({d.id for d in plan.designs}) == len(plan.designs)
    for design in plan.designs:
        sums = sum((i.extended_usd for i in design.line_items if i.extended_usd is not None), Decimal(0))
        assert sums == design.totals.capex_usd
        assert design.totals.complete == all(i.unit_price_usd is not None for i in design.line_items)
    for design in plan.designs[:1]:
        for by in ("part", "tier"):
            rows = bom_rows(plan, design, by)
            assert sum((row["extended_price"] or Decimal(0)) for row in rows) == design.totals.capex_usd
            assert bom_csv(rows).count("\n") >= len(rows) + 1
        assert bom_data(plan, design, rows)["totals"]["capex_usd"] == float(design.totals.capex_usd)
        assert bom_markdown(plan, design, rows)
        bought = make_joint_bill([("a.yaml", plan, design), ("b.yaml", plan, design)])
        assert sum((row["extended_price"] or Decimal(0)) for row in merged_rows(bought)) == bought.totals.capex_usd
        assert json.loads(bom_cyclonedx(bought))["components"]
        assert bom_xlsx(bought)


def refuse_constant(name: str) -> None:
    raise AssertionError(name)


@examples(70)
@given(spec=valid_specs(), width=st.integers(1, 500))
def test_valid_specs(spec: dict[str, Any], width: int) -> None:
    text = json.dumps(spec, ensure_ascii=False).encode()
    try:
        plan = make_plan(load_spec("-", stdin=BytesIO(text)), catalog())
    except InputError:
        return
    consistent(plan)
    data = plan_data(plan)
    shown = to_json(data)
    json.loads(shown, parse_constant=refuse_constant)
    if width % 3 == 0:
        again = make_plan(load_spec("-", stdin=BytesIO(text)), catalog())
        assert to_json(plan_data(again)) == shown
    table = to_table(data, width=width)
    assert max(map(len, table.splitlines())) <= max(width, 60)
    assert table.replace("\n", "").isprintable()
    assert to_markdown(data)
    assert to_csv(data)


@examples(8)
@given(spec=valid_specs())
def test_valid_specs_on_the_command_line(spec: dict[str, Any]) -> None:
    text = json.dumps(spec)
    done = cli("design", "-", "--format", "json", stdin=text.encode())
    assert done.code in ANSWERS, done.err
    if done.code == 2:
        return
    plan = json.loads(done.out)
    assert (plan["recommended"] is None) == (cli("bom", "-", stdin=text.encode()).code == 3)
    for design in plan["designs"][:1]:
        bill = cli("bom", "-", "--design", design["id"], "--format", "json", stdin=text.encode())
        assert json.loads(bill.out)["totals"]["capex_usd"] == design["totals"]["capex_usd"]
        for command in ("show", "diagram"):
            seen = cli(command, "-", "--design", design["id"], stdin=text.encode())
            assert seen.code == 0, seen.err
