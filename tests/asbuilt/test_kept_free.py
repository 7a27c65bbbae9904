"""Ports reserved on Ethernet are no links: what is bought, what is checked and what is exported agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ibplan.asbuilt.name_map import EMPTY
from ibplan.asbuilt.planned import planned_fabric
from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import verify
from ibplan.cabling.rows import cable_rows
from ibplan.export.registry import TARGETS
from ibplan.export.scheme import make_scheme
from ibplan.plan.cabled import cable_design
from ibplan.spec.load import LoadedSpec
from tests.export.samples import texts
from tests.plan.planning import COMPUTE_ONLY, catalog, loaded, plan

KEYS = ("{reserved_ports: 1}", "{reserved_ports: {per_leaf: 2}}", "{reserved_ports: 1, rail_only: true}")
ETHERNET = [target.name for target in TARGETS if "roce" in target.fabrics]


def spec(network: str) -> tuple[str, LoadedSpec]:
    text = f"servers: 16\nserver: nvidia-dgx-h100\nfabrics: roce\nnetwork: {network}\n{COMPUTE_ONLY}"
    return text, loaded(text)


@pytest.mark.parametrize("network", KEYS)
def test_what_the_schedule_lists_is_all_that_is_planned(network: str, tmp_path: Path) -> None:
    text, made = spec(network)
    (cabled,) = cable_design(made, catalog()).networks
    rows = [(row.a.device, row.a.port, end.device, end.port) for row in cable_rows(cabled) for end in row.b]
    list_of = tmp_path / "cables.csv"
    list_of.write_text("A Device,A Port,B Device,B Port\n" + "".join(",".join(row) + "\n" for row in rows))
    result = verify(planned_fabric(made, catalog(), None), read_fabric([list_of]), EMPTY)
    assert not result.differences
    links = plan(text).designs[0].totals.links
    assert result.right_links == links
    (topology,) = texts("ptm", make_scheme(made, catalog())).values()
    assert len(re.findall(r" -- ", topology)) == links


@pytest.mark.parametrize("target", ETHERNET)
def test_no_export_has_a_host_at_a_port_that_is_kept_free(target: str) -> None:
    files = texts(target, make_scheme(spec(KEYS[0])[1], catalog()))
    assert files
    assert not [path for path, text in files.items() if "manager-001" in text]
