"""A fabric that is there becomes a spec that plans the same one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from ibplan.asbuilt.counts import counts_of_network
from ibplan.asbuilt.describing import describe
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.import_report import imported_spec
from ibplan.asbuilt.importing import Imported, ImportOptions, import_fabric
from ibplan.asbuilt.planned import PlannedFabric, planned_fabric
from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import verify
from ibplan.errors import UsageError
from ibplan.plan.make import make_plan
from ibplan.spec.load import load_spec
from tests.asbuilt import built
from tests.asbuilt.built import Built, perfect, planned
from tests.report.samples import SPECS, catalog

QM9700 = ("fabrics=infiniband", "network.switch=nvidia-qm9700")
# Three tiers of a switch that is small enough to have many in little.
SMALL = ("gpus=384", "network.tiers=3", "fabrics=infiniband", "network.switch={ports: 16, port_gbps: 400}")
RAIL_ONLY = "infiniband-nvidia-qm9700-1t-1to1-railonly"
LARGEST = "three-tiers-16384"
# Its servers have ports of two rates on one network, and switches of another network are hosts of it.
UNFIT = "converged-pair-16"
# Every example, but of the largest its form alone; and forms that no example recommends.
CASES: list[tuple[str, tuple[str, ...], str | None]] = [
    *((path.stem, (), None) for path in sorted(SPECS.glob("*.yaml")) if path.stem not in (LARGEST, UNFIT)),
    ("three-tiers-16384", SMALL, "infiniband-inline-16x400g-3t-1to1"),
    ("three-tiers-16384", ("network.second_tier=rail", *SMALL), "infiniband-inline-16x400g-3t-1to1-railpods"),
    (
        "three-tiers-16384",
        ("network.oversubscription={leaf: 1:1, spine: 2:1}", *SMALL),
        "infiniband-inline-16x400g-3t-1to1-spine2to1",
    ),
    ("rail-only-512", (), RAIL_ONLY),
    ("one-switch", ("servers=4", "network.single_tier=two_leaves", "network.switch=nvidia-sn5610"), None),
    ("three-lines", ("gpus=512", "network.oversubscription=3:1", *QM9700), None),
    ("three-lines", ("gpus=200", "network.rail_optimized=false", *QM9700), None),
]


def text_of(fabric: Built) -> str:
    if fabric.plan.fabric == "infiniband":
        return built.ibnetdiscover(fabric)
    return built.list_csv(built.rows(fabric))


def imported(fabric: Built, path: Path, **options: object) -> Imported:
    return import_fabric(read(fabric, path), ImportOptions(**options), catalog())  # type: ignore[arg-type]


def read(fabric: Built, path: Path) -> FoundFabric:
    (path / "fabric.txt").write_text(text_of(fabric))
    return read_fabric([path / "fabric.txt"])


def again(result: Imported) -> PlannedFabric:
    return planned_fabric(load_spec("-", stdin=BytesIO(result.text.encode())), catalog(), result.design)


@pytest.mark.parametrize(
    ("name", "settings", "design"),
    CASES,
    ids=lambda value: "-".join(value or ()) if not isinstance(value, str) else value,
)
def test_round_trip(tmp_path: Path, name: str, settings: tuple[str, ...], design: str | None) -> None:
    """The written spec loads, and its design has the switches and links of the fabric; of most even cable by cable."""
    plan = planned(name, *settings, design=design)
    found = read(perfect(plan), tmp_path)
    result = import_fabric(found, ImportOptions(), catalog())
    assert (result.reproduced, result.differences, result.shape.irregular) == (True, (), ())
    new = again(result)
    assert counts_of_network(new.wiring.network) == counts_of_network(plan.wiring.network)
    if new.wiring.network.request.leaf.geometry.sets == plan.wiring.network.request.leaf.geometry.sets:
        assert verify(new, found).differences == ()


def test_what_it_says_of_a_pod(tmp_path: Path) -> None:
    result = imported(
        perfect(planned("h100-pod-127", "servers=60")), tmp_path, server="nvidia-dgx-h100", switch="nvidia-qm9700"
    )
    assert result.text == (
        "name: imported\nservers: 60\nserver: nvidia-dgx-h100\nfabrics: infiniband\n"
        "design: infiniband-nvidia-qm9700-2t-1to1\n"
        "network:\n  switch: nvidia-qm9700\n  tiers: 2\n  reserved_ports: 4\n"
        "storage: none\nmanagement:\n  inband: false\n  oob: false\n"
    )
    shape = result.shape
    assert (shape.tiers, shape.planes, shape.rails, shape.managers) == (2, 1, 8, 4)
    assert (shape.unit.servers, shape.unit.leaves, shape.unit.count, shape.unit.rails_per_leaf) == (32, 8, 2, 1)
    leaf, spine = shape.switches
    assert (leaf.switches, leaf.radix, leaf.down, leaf.up, leaf.free) == (16, 64, 32, 32, 16 * 64 - 484 - 512)
    assert (spine.switches, spine.down, spine.free) == (8, 64, 0)
    assert "Planned, it has the same switches and links: infiniband-nvidia-qm9700-2t-1to1." in list(
        describe(result, ("f",))
    )


def test_what_is_imported_is_checked_against_the_design_that_it_names(tmp_path: Path) -> None:
    """Without a server of the catalogue nothing has a price, so nothing is recommended."""
    found = read(perfect(planned("h100-pod-127", "servers=20")), tmp_path)
    bare = import_fabric(found, ImportOptions(), catalog())
    loaded = load_spec("-", stdin=BytesIO(bare.text.encode()))
    assert make_plan(loaded, catalog()).recommended is None
    checked = planned_fabric(loaded, catalog(), None)
    assert checked.design == bare.design == bare.data["design"]
    assert verify(checked, found).differences == ()
    assert not bare.priced
    assert f"ibplan bom --design {bare.design}" in " ".join(imported_spec(bare, ("f",)).replace("\n#", "").split())
    whole = import_fabric(found, ImportOptions(server="nvidia-dgx-h100"), catalog())
    assert whole.priced
    assert "can be planned, priced and grown" in imported_spec(whole, ("f",))
    assert make_plan(load_spec("-", stdin=BytesIO(whole.text.encode())), catalog()).recommended == whole.design


def test_irregularities_are_listed_and_the_nearest_spec_is_written(tmp_path: Path) -> None:
    fabric = perfect(planned("h100-pod-127", "servers=60"))
    gone = {fabric.at("server-050", "2/2"), fabric.at("leaf-003", "1/20/1"), fabric.at("leaf-003", "1/20/2")}
    slow = fabric.at("server-001", "1/1")
    fabric.cables[slow] = replace(fabric.cables[slow], lane_gbps=50)
    fabric.cables = [cable for n, cable in enumerate(fabric.cables) if n not in gone]
    result = imported(fabric, tmp_path)
    assert result.shape.irregular == (
        "Ports joined of server-050: 7, of the others 8.",
        "Links of hosts at 200G: 1; the others run at 400G.",
        "Uplinks of leaf-003 (leaf tier): 30, of the others 32.",
    )
    assert result.differences == ("links between leaves and spines: 510, planned 512",)
    assert not result.reproduced
    assert again(result).design == "infiniband-nvidia-qm9700-2t-1to1"


ASTRAY = "on other leaves than of the rest of the unit"


@pytest.mark.parametrize("form", [built.ibnetdiscover, lambda fabric: built.list_csv(built.rows(fabric))])
def test_every_server_with_a_cable_astray_is_listed(tmp_path: Path, form: Callable[[Built], str]) -> None:
    """Within a unit, between units, and alike on many servers; each with the cables that are astray."""
    fabric = perfect(planned("h100-pod-127", "servers=60"))
    fabric.swap(fabric.at("server-003", 1), fabric.at("server-007", 3))
    fabric.swap(fabric.at("server-012", 0), fabric.at("server-055", 0))
    for n in range(21, 31):
        fabric.swap(fabric.at(f"server-0{n}", 0), fabric.at(f"server-0{n}", 1))
    (tmp_path / "fabric.txt").write_text(form(fabric))
    result = import_fabric(read_fabric([tmp_path / "fabric.txt"]), ImportOptions(), catalog())
    ports = ["mlx5_0", "mlx5_1", "mlx5_3"] if form is built.ibnetdiscover else ["1/1", "1/2", "2/2"]
    first, second, fourth = ports
    many = ", ".join(f"server-0{n}" for n in range(21, 31))
    assert set(result.shape.irregular) == {
        "Servers with ports on leaves of several units: server-012, server-055.",
        f"Cable of server-003 {ASTRAY}: {second} on leaf-004 (usual: leaf-002).",
        f"Cable of server-007 {ASTRAY}: {fourth} on leaf-002 (usual: leaf-004).",
        f"Cable of server-012 {ASTRAY}: {first} on leaf-009 (usual: leaf-001).",
        f"Cable of server-055 {ASTRAY}: {first} on leaf-001 (usual: leaf-009).",
        f"Cables of 10 servers ({many}) {ASTRAY}: {first} on leaf-002 (usual: leaf-001), "
        f"{second} on leaf-001 (usual: leaf-002).",
    }
    assert result.reproduced
    said = list(describe(result, ("f",)))
    assert not any("the same switches and links" in line for line in said)
    assert any("not the same links, because what is irregular is not in it" in line for line in said)


def test_a_rail_that_no_server_tells_is_said_to_be_open(tmp_path: Path) -> None:
    fabric = perfect(planned("h100-pod-127", "servers=34"))  # two servers in the second unit
    fabric.swap(fabric.at("server-034", 0), fabric.at("server-034", 1))
    result = imported(fabric, tmp_path)
    assert result.shape.irregular == (
        "Port mlx5_0 of the servers of a unit is on several leaves, none of them usual: "
        "server-033 on leaf-009, server-034 on leaf-010.",
        "Port mlx5_1 of the servers of a unit is on several leaves, none of them usual: "
        "server-033 on leaf-010, server-034 on leaf-009.",
    )


def test_cables_without_ports_say_nothing_of_rails(tmp_path: Path) -> None:
    fabric = perfect(planned("one-switch", "servers=4", "network.switch=nvidia-sn5610"))
    rows = [(row[1], row[3], row[5]) for row in built.rows(fabric)]
    (tmp_path / "f.csv").write_text(built.list_csv(rows, ("a device", "b device", "speed")))
    result = import_fabric(read_fabric([tmp_path / "f.csv"]), ImportOptions(), catalog())
    assert "The port of the server is not stated of 32 cables: exchanged rails cannot be seen there." in result.notes


def test_servers_with_ports_of_two_rates_are_irregular(tmp_path: Path) -> None:
    result = imported(perfect(planned(UNFIT)), tmp_path, hosts="server*,management*,storage*,oob*")
    assert "Links of hosts at 200G: 32; the others run at 400G." in result.shape.irregular
    assert [(group.name, group.hosts, group.ports) for group in result.shape.attached] == [
        ("storage", 2, 10),
        ("management", 8, 2),
        ("oob/leaf", 2, 4),
    ]


def test_what_the_files_do_not_say(tmp_path: Path) -> None:
    fabric = perfect(planned("one-switch", "servers=4", "network.switch=nvidia-sn5610"))
    rows = [row[:5] for row in built.rows(fabric)]
    (tmp_path / "f.csv").write_text(built.list_csv(rows, built.HEAD[:5]))
    found = read_fabric([tmp_path / "f.csv"])
    with pytest.raises(UsageError, match="32 of 32 links do not state their rate: give it with --gbps"):
        import_fabric(found, ImportOptions(), catalog())
    assert import_fabric(found, ImportOptions(gbps=400), catalog()).reproduced
    fabric.renamed = {name: f"{'a' if name in fabric.hosts else 'b'}{n}" for n, name in enumerate(fabric.plan.names)}
    with pytest.raises(UsageError, match="hosts or switches is not stated, and their names do not say"):
        imported(fabric, tmp_path)
    assert imported(fabric, tmp_path, hosts="a*").reproduced
    with pytest.raises(UsageError, match="there is no host in it"):
        imported(fabric, tmp_path, hosts="x*")
    for wrong in ("server", "switch"):
        with pytest.raises(UsageError, match=f"--{wrong}: the catalogue has no 'nvidia-x'"):
            imported(fabric, tmp_path, hosts="a*", **{wrong: "nvidia-x"})


def test_fabrics_with_other_hosts_are_imported_one_by_one(tmp_path: Path) -> None:
    text = "a device,b device,speed\n" + "".join(f"leaf-{n},server-{n}{m},400\n" for n in (1, 2) for m in range(4))
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(UsageError, match="falls into 2 fabrics that nothing joins"):
        import_fabric(read_fabric([tmp_path / "f.csv"]), ImportOptions(), catalog())
