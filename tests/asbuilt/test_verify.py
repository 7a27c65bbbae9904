"""What a check finds: a fabric as it should be, then every way in which people get it wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ibplan.asbuilt.differences import MOVES, Difference, VerifyResult
from ibplan.asbuilt.expect import expected_links
from ibplan.asbuilt.name_map import EMPTY, read_name_map
from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import MatchBy, verify
from ibplan.asbuilt.verify_report import verify_text
from ibplan.errors import InputError, UsageError
from tests.asbuilt import built
from tests.asbuilt.built import Built, perfect, planned

# Two units of 32 and 28 servers on 16 leaves, 8 spines, 4 managers: 480 + 4 + 512 cables.
POD = ("h100-pod-127", "servers=60")
CABLES = 996
# Servers on 8 leaves of two rails or more, LLDP names.
ROCE = ("roce-2048", "gpus=256", "network.switch=nvidia-sn5610", "network.tiers=2")


def pod() -> Built:
    return perfect(planned(*POD))


def checked(
    fabric: Built,
    path: Path,
    form: Callable[[Built], str] = built.ibnetdiscover,
    *,
    names: str | None = None,
    match: MatchBy = "auto",
    expect: str | None = None,
) -> VerifyResult:
    """Print the fabric, read it, hold it against its plan."""
    (path / "fabric.txt").write_text(form(fabric))
    name_map = EMPTY
    if names is not None:
        (path / "names.map").write_text(names)
        name_map = read_name_map(path / "names.map")
    return verify(fabric.plan, read_fabric([path / "fabric.txt"]), name_map, match, expect)


def as_list(fabric: Built) -> str:
    return built.list_csv(built.rows(fabric))


def told(difference: Difference) -> tuple[str, str, str | None, str | None]:
    """kind, where, what is there, where it belongs (or what should be there)."""
    right = difference.to if difference.to is not None else difference.planned
    return (
        difference.kind,
        str(difference.at),
        None if difference.found is None else str(difference.found),
        None if right is None else str(right),
    )


def mends(fabric: Built, result: VerifyResult) -> bool:
    """Whether doing what the rows say leads to the planned cables: moves, additions and removals, by names of ports."""
    cables = [{(cable.a.device, cable.a.name), (cable.b.device, cable.b.name)} for cable in fabric.cables]
    plan = perfect(fabric.plan)
    wanted = sorted(sorted([(c.a.device, c.a.name), (c.b.device, c.b.name)]) for c in plan.cables)
    for row in result.differences:
        assert row.action in ("move", "swap", "add", "remove", "exchange")
        at = (row.at.device, row.at.port)
        if row.action in MOVES:
            assert row.found is not None
            assert row.to is not None
            cable = next(c for c in cables if c == {at, (row.found.device, row.found.port)})
            cables[cables.index(cable)] = {(row.found.device, row.found.port), (row.to.device, row.to.port)}
        elif row.action == "remove":
            assert row.found is not None
            cables.remove({at, (row.found.device, row.found.port)})
        elif row.action == "add":
            assert row.planned is not None
            cables.append({at, (row.planned.device, row.planned.port)})
    return sorted(sorted(cable) for cable in cables) == wanted


@pytest.mark.parametrize(
    "form", [built.ibnetdiscover, built.iblinkinfo, as_list], ids=["ibnetdiscover", "iblinkinfo", "list"]
)
def test_a_perfect_copy(tmp_path: Path, form: Callable[[Built], str]) -> None:
    result = checked(pod(), tmp_path, form)
    assert (result.planned_links, result.right_links, result.differences) == (CABLES, CABLES, ())
    assert (result.moves, result.added_links, result.removed_links, result.exchanged_devices) == (0, 0, 0, 0)
    assert (result.devices.found, result.devices.by_name) == (88, 88)
    assert (result.patterns, result.unknown, result.ambiguous, result.notes) == ((), (), (), ())


def test_a_perfect_copy_by_lldp(tmp_path: Path) -> None:
    fabric = perfect(planned(*ROCE))
    for form in (built.lldp_json, built.lldp_table):
        folder = tmp_path / form.__name__
        folder.mkdir()
        for switch, text in form(fabric, "rdma{}").items():
            (folder / f"{switch}.txt").write_text(text)
        result = verify(fabric.plan, read_fabric([folder]))
        assert (result.right_links, result.differences) == (len(fabric.cables), ())
    assert result.notes == ("The rate is not stated, and not checked.",)


def test_one_missing_cable(tmp_path: Path) -> None:
    fabric = pod()
    del fabric.cables[fabric.at("server-050", 3)]
    result = checked(fabric, tmp_path)
    (row,) = result.differences
    assert told(row) == ("missing", "leaf-012:1/9/2", None, "server-050:2/2")
    assert (row.at.rack, row.at.rack_unit, row.group) == ("R01-10", 33, None)
    assert (result.right_links, result.moves, result.added_links) == (CABLES - 1, 0, 1)


def test_a_missing_cable_whose_port_says_something(tmp_path: Path) -> None:
    fabric = pod()
    del fabric.cables[fabric.at("server-050", 3)]
    result = checked(fabric, tmp_path, lambda f: built.iblinkinfo(f, down=[("leaf-012", 18), ("leaf-012", 64)]))
    (row,) = result.differences
    assert row.note == "leaf-012:1/9/2 is Down/Polling"


def test_two_swapped_cables_at_either_end(tmp_path: Path) -> None:
    fabric = pod()
    fabric.swap(fabric.at("server-001", 0), fabric.at("server-002", 0), "a")
    fabric.swap(fabric.at("leaf-009", "1/17/1"), fabric.at("leaf-009", "1/20/2"), "b")
    result = checked(fabric, tmp_path)
    # Two each; the ends that are moved are those that lie in one device.
    assert sorted(map(told, result.differences)) == [
        ("swapped", "leaf-001:1/1/1", "server-002:1/1", "leaf-001:1/1/2"),
        ("swapped", "leaf-001:1/1/2", "server-001:1/1", "leaf-001:1/1/1"),
        ("swapped", "leaf-009:1/17/1", "spine-002:1/18/2", "leaf-009:1/20/2"),
        ("swapped", "leaf-009:1/20/2", "spine-001:1/17/1", "leaf-009:1/17/1"),
    ]
    assert sorted(row.group or 0 for row in result.differences) == [1, 1, 2, 2]
    assert (result.moves, result.added_links, result.right_links) == (4, 0, CABLES - 4)
    assert mends(fabric, result)


def test_two_cables_that_are_swapped_across_rails_are_one_swap(tmp_path: Path) -> None:
    fabric = pod()
    fabric.swap(fabric.at("server-003", 1), fabric.at("server-007", 3), "b")
    result = checked(fabric, tmp_path)
    first, second = result.differences
    assert {first.kind, second.kind} == {"wrong-rail"}
    # Each names the end that is in its place, so that one walk does it.
    assert (first.action, second.action, first.to, second.to) == ("swap", "swap", second.at, first.at)
    assert (first.group, second.group, result.moves) == (1, 1, 2)
    assert mends(fabric, result)
    said = verify_text(result, width=200, color=False)
    for row, other in ((first, second), (second, first)):
        (line,) = (line for line in said.splitlines() if "wrong rail (1)" in line and f" {row.at} " in line)
        assert f"swap with the end in {other.at}" in line
    assert "Rows with the same number in brackets are one task" in said


def test_a_ring_of_three_is_one_group_of_three_moves(tmp_path: Path) -> None:
    fabric = pod()
    first, second, third = (fabric.at(f"server-00{n}", 0) for n in (1, 2, 3))
    fabric.swap(first, second, "a")
    fabric.swap(second, third, "a")
    result = checked(fabric, tmp_path)
    assert [row.kind for row in result.differences] == ["swapped"] * 3
    assert ({row.group for row in result.differences}, result.moves) == ({1}, 3)
    assert mends(fabric, result)


def test_two_swapped_servers_and_two_swapped_leaves(tmp_path: Path) -> None:
    fabric = pod()
    fabric.swap_devices("server-001", "server-002")
    fabric.swap_devices("leaf-011", "leaf-012")
    result = checked(fabric, tmp_path)
    assert sorted((row.kind, str(row.at), str(row.to), row.links) for row in result.differences) == [
        ("exchanged", "leaf-011", "leaf-012", 61),
        ("exchanged", "leaf-012", "leaf-011", 61),
        ("exchanged", "server-001", "server-002", 8),
        ("exchanged", "server-002", "server-001", 8),
    ]
    assert (result.exchanged_devices, result.moves, result.added_links) == (4, 0, 0)
    assert result.right_links == CABLES - 2 * 8 - 2 * 61


def test_a_shifted_rail_of_a_server(tmp_path: Path) -> None:
    fabric = pod()
    at = [fabric.at("server-040", port) for port in range(8)]
    for n in range(7):
        fabric.swap(at[n], at[n + 1], "b")
    result = checked(fabric, tmp_path)
    assert (result.counts, result.moves) == ({"wrong-rail": 8}, 8)
    assert {row.at.device for row in result.differences} == {"server-040"}
    assert [p.text for p in result.patterns] == ["server-040: 8 rails are on leaves of other rails."]
    assert mends(fabric, result)


def test_two_rails_exchanged_for_a_whole_unit(tmp_path: Path) -> None:
    fabric = pod()
    for n in range(33, 61):
        fabric.swap(fabric.at(f"server-{n:03}", 2), fabric.at(f"server-{n:03}", 3), "b")
    result = checked(fabric, tmp_path)
    assert (result.counts, result.moves) == ({"wrong-rail": 56}, 56)
    assert [(p.kind, p.links, p.text) for p in result.patterns] == [
        ("rails", 28, "Rail 3 of 28 servers (server-033 to server-060) is on the leaf of rail 4."),
        ("rails", 28, "Rail 4 of 28 servers (server-033 to server-060) is on the leaf of rail 3."),
    ]
    assert result.differences[0].note.startswith("rail ")
    assert mends(fabric, result)


def test_a_leaf_with_all_uplinks_to_one_spine(tmp_path: Path) -> None:
    fabric = pod()
    uplinks = [n for n in fabric.of("leaf-005") if "spine" in fabric.cables[n].b.device]
    # The spine has 64 ports of which all are planned: the cables of other leaves make room, and go nowhere.
    theirs = [n for n in fabric.of("spine-003") if fabric.cables[n].a.device != "leaf-005"][: len(uplinks) - 4]
    plugs = [fabric.cables[n].b for n in theirs]
    for n in [n for n in uplinks if fabric.cables[n].b.device != "spine-003"]:
        fabric.cables[n] = replace(fabric.cables[n], b=plugs.pop())
    fabric.cables = [cable for n, cable in enumerate(fabric.cables) if n not in theirs]
    result = checked(fabric, tmp_path)
    assert [p.text for p in result.patterns if p.devices == ("leaf-005",)] == [
        "leaf-005 has 32 uplinks: 32 to spine-003; planned are 4 to each of 8 switches above."
    ]
    assert (result.moves, result.added_links, result.removed_links) == (28, 28, 0)
    assert mends(fabric, result)


def test_degraded_links(tmp_path: Path) -> None:
    changes = {
        "lanes": {"lanes": 1},
        "half": {"lanes": 2},
        "speed": {"lane_gbps": 50},
        "state": {"state": "Init/LinkUp"},
    }
    fabric = pod()
    for n, change in enumerate(changes.values()):
        at = fabric.at("leaf-006", f"1/{n // 2 + 1}/{n % 2 + 1}")
        fabric.cables[at] = replace(fabric.cables[at], **change)  # type: ignore[arg-type]
    result = checked(fabric, tmp_path, built.iblinkinfo)
    found = {str(row.at): (row.kind, row.note) for row in result.differences}
    assert found == {
        "leaf-006:1/1/1": ("width", "runs at 100G (1 x 100G), planned is 400G"),
        "leaf-006:1/1/2": ("width", "runs at 200G (2 x 100G), planned is 400G"),
        "leaf-006:1/2/1": ("rate", "runs at 200G (4 x 50G), planned is 400G"),
        "leaf-006:1/2/2": ("not-active", "Init/LinkUp"),
    }
    assert (result.right_links, result.moves) == (CABLES, 0)


def test_mirror_rows_and_rows_told_twice_are_one_cable(tmp_path: Path) -> None:
    rows = built.rows(pod())
    mirrored = [(row[0], row[3], row[4], row[1], row[2], row[5]) for row in rows]
    result = checked(pod(), tmp_path, lambda _: built.list_csv([*rows, *mirrored, *rows[:10]]))
    assert (result.right_links, result.differences) == (CABLES, ())


def test_a_port_with_two_cables(tmp_path: Path) -> None:
    rows = built.rows(pod())
    more = [*rows, ("C9", "leaf-001", "1/1/1", "spine-008", "1/1/1", "400G")]
    result = checked(pod(), tmp_path, lambda _: built.list_csv(more))
    (row,) = result.differences
    assert (row.kind, row.action, str(row.at), str(row.found)) == (
        "port-twice", "check", "leaf-001:1/1/1", "spine-008:1/1/1",
    )  # fmt: skip
    assert row.source == f"fabric.txt:{CABLES + 2}"
    assert "has another cable, too: fabric.txt:" in row.note


def test_unknown_devices(tmp_path: Path) -> None:
    fabric = pod()
    fabric.renamed = {"server-005": "stranger-77", "leaf-016": "leaf-99"}
    result = checked(fabric, tmp_path)
    assert {(d.name, d.links, d.looks_like) for d in result.unknown} == {
        ("stranger-77", 8, "server-005"),
        ("leaf-99", 60, "leaf-016"),
    }
    assert sorted((row.kind, row.action, str(row.at), row.links, row.note) for row in result.differences) == [
        ("unknown-device", "check", "leaf-016", 60, "it stands there as leaf-99: rename it, or map its name"),
        ("unknown-device", "check", "server-005", 8, "it stands there as stranger-77: rename it, or map its name"),
    ]
    assert (result.right_links, result.moves, result.added_links) == (CABLES - 68, 0, 0)
    named = checked(fabric, tmp_path, names="stranger-77 server-005\nleaf-99,leaf-016\n")
    assert (named.differences, named.devices.by_map, named.devices.by_name) == ((), 2, 86)
    forced = checked(fabric, tmp_path, match="structure")
    assert (forced.differences, forced.devices.by_structure) == ((), 2)


def test_a_stranger_in_the_place_of_two(tmp_path: Path) -> None:
    fabric = pod()
    fabric.renamed = {"server-005": "stranger", "server-006": "stranger"}
    rows = built.rows(fabric)
    # One device has cables of two: those of the first are moved from it, those of the second are, too.
    result = checked(fabric, tmp_path, lambda _: built.list_csv(rows))
    assert result.counts == {"unknown-device": 16, "unconnected": 2}
    assert (result.right_links, result.moves, result.added_links) == (CABLES - 16, 16, 0)
    assert [d.looks_like for d in result.unknown] == [None]


def test_a_device_that_is_not_there_is_one_row(tmp_path: Path) -> None:
    fabric = pod()
    gone = set(fabric.of("server-009")) | set(fabric.of("spine-007"))
    fabric.cables = [cable for n, cable in enumerate(fabric.cables) if n not in gone]
    result = checked(fabric, tmp_path)
    assert sorted((row.kind, str(row.at), row.links) for row in result.differences) == [
        ("unconnected", "server-009", 8),
        ("unconnected", "spine-007", 64),
    ]
    assert result.added_links == 72


def test_a_cable_too_many_and_one_in_a_wrong_port(tmp_path: Path) -> None:
    fabric = pod()
    free = built.Plug("leaf-010", 28, "1/15/1", 29)  # of the half-full second unit
    at = fabric.at("server-041", 1)
    fabric.cables[at] = replace(fabric.cables[at], a=free)
    odd = [built.Plug(f"leaf-01{n}", 29, "1/15/2", 30) for n in (1, 2)]
    fabric.cables.append(built.Cable(*odd))
    result = checked(fabric, tmp_path)
    assert sorted(map(told, result.differences)) == [
        ("unexpected", "leaf-011:1/15/2", "leaf-012:1/15/2", None),
        ("wrong-port", "leaf-010:1/15/1", "server-041:1/2", "leaf-010:1/5/1"),
    ]
    assert (result.moves, result.removed_links) == (1, 1)


def test_partial_builds(tmp_path: Path) -> None:
    fabric = pod()
    unit_2 = {f"server-{n:03}" for n in range(33, 61)}
    kept = [c for c in fabric.cables if c.b.device not in unit_2 and int(c.a.device[-3:]) <= 8]
    fabric.cables = kept
    result = checked(fabric, tmp_path, expect="units=1")
    assert (result.expected_links, result.right_links, result.differences) == (512, 512, ())
    fabric = pod()
    del fabric.cables[fabric.at("server-040", 0)], fabric.cables[fabric.at("server-001", 0)]
    result = checked(fabric, tmp_path, expect="units=1")
    assert (result.counts, result.right_links, result.ahead_links) == ({"missing": 1}, 511, CABLES - 513)


@pytest.mark.parametrize(
    "wrong", ["units", "units=", "units=0", "units=3", "units=2-1", "racks=1", "units=a", "pods=2"]
)
def test_parts_that_there_are_not(wrong: str) -> None:
    with pytest.raises(UsageError, match="--expect"):
        expected_links(planned(*POD), wrong)


def test_all_pods_are_everything() -> None:
    expected = expected_links(planned(*POD), "pods=1")
    assert expected is not None
    assert expected.all()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("a b c\n", "names.map:1:1: is not of the form"),
        ("sw-1 leaf-100\n", "names.map:1:1: the plan has no device 'leaf-100' (nearest: leaf-0"),
        ("sw-1 leaf-001\n# x\nSW-1 leaf-002\n", "names.map:3:1: 'SW-1' has an entry in line 1 already"),
    ],
)
def test_name_maps_that_are_wrong(tmp_path: Path, names: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        checked(pod(), tmp_path, names=names)
    assert said in str(error.value)


def test_names_as_people_write_them(tmp_path: Path) -> None:
    fabric = pod()
    fabric.renamed = {name: f"{name.upper().replace('-0', '_')}.dc1.example" for name in fabric.plan.names}
    result = checked(fabric, tmp_path, as_list)
    assert (result.differences, result.devices.by_name) == ((), 88)


def test_the_names_of_the_site_and_of_exports(tmp_path: Path) -> None:
    """Exports call ports of hosts by `naming:`; the order of a list of them counts, not that of their numbers."""
    listed = "[" + ", ".join(f"mlx5_{7 - port}" for port in range(8)) + "]"
    naming = f"naming={{leaf: '{{network}}sw-l{{number:2}}', server: 'gpu{{number:4}}', server_ports: {listed}}}"
    fabric = perfect(planned(*POD, naming))
    assert {"sw-l01", "gpu0060"} <= set(fabric.plan.names)

    def text(fabric: Built) -> str:
        lines = built.ibnetdiscover(fabric, "port{0}").split("\n")
        return "\n".join(
            re.sub(r'"(\S+) port(\d)"', lambda m: f'"{m[1]} mlx5_{7 - int(m[2])}"', line) for line in lines
        )

    assert checked(fabric, tmp_path, text).differences == ()
    # The names of the wiring are known, too; the order of adapters is still that of the list.
    fabric.renamed = dict(zip(fabric.plan.names, fabric.plan.wiring.device_names(), strict=True))
    assert checked(fabric, tmp_path, text).differences == ()
    assert checked(fabric, tmp_path).counts == {"wrong-rail": 480}


def test_hosts_that_do_not_say_who_they_are(tmp_path: Path) -> None:
    def text(fabric: Built) -> str:
        lines = built.ibnetdiscover(fabric).split("\n")
        return "\n".join(
            line.replace(line[line.index('"server') : line.rindex('"') + 1], '"ConnectX7 Mellanox Technologies"')
            if '# "server' in line
            else line
            for line in lines
        )

    result = checked(pod(), tmp_path, text)
    assert (result.right_links, result.unnamed_links, result.devices.anonymous) == (CABLES, 480, 480)
    assert "480 links lead to hosts that do not say who they are" in " ".join(result.notes)
    fabric = pod()
    guid = next(line for line in text(fabric).split("\n") if line.startswith("Ca")).split('"')[1]
    named = checked(fabric, tmp_path, text, names=f'0x{guid[2:]} "server-001 mlx5_0"\n')
    assert named.devices.by_map == 1


def test_ports_that_nothing_names(tmp_path: Path) -> None:
    def text(fabric: Built) -> str:
        return built.list_csv([(row[1], row[3]) for row in built.rows(fabric)], ("a device", "b device"))

    fabric = pod()
    assert checked(fabric, tmp_path, text).differences == ()
    at = fabric.at("leaf-009", "1/17/1")
    fabric.cables[at] = replace(fabric.cables[at], b=fabric.cables[fabric.at("leaf-009", "1/32/2")].b)
    result = checked(fabric, tmp_path, text)
    assert [(row.kind, row.at.device, row.to and row.to.device) for row in result.differences] == [
        ("wrong-device", "spine-008", "spine-001")
    ]


def test_a_server_that_stands_in_the_wiring_twice_is_one_device(tmp_path: Path) -> None:
    fabric = perfect(planned("converged-pair-16"))
    assert checked(fabric, tmp_path, as_list).differences == ()
    fabric.swap(fabric.at("server-001", "inband-1"), fabric.at("server-002", "inband-1"), "b")
    result = checked(fabric, tmp_path, as_list)
    assert (result.counts, result.moves) == ({"swapped": 2}, 2)
    assert mends(fabric, result)


def test_cords_and_trunks_are_followed_over_panels(tmp_path: Path) -> None:
    """Every host's cable goes over a panel in its rack, a trunk, and a panel at the leaves; one trunk is not there."""

    def text(fabric: Built, *, swapped: bool = False, cut: int = 0) -> str:
        rows: list[tuple[str, ...]] = []
        hosts = [row for row in built.rows(fabric) if row[3].startswith("server")]
        rows += [row for row in built.rows(fabric) if row not in hosts]
        for n, (cable, leaf, port, _, _, speed) in enumerate(hosts):
            panel, slot = f"R02:panel-{n // 48 + 1:02}", str(n % 48 + 1)
            far = hosts[{0: 8, 8: 0}.get(n, n)] if swapped else hosts[n]
            rows.append((f"{cable}/a", leaf, port, panel, slot, speed))
            rows.append((f"{cable}/b", far[3], far[4], panel.replace("R02", "R01"), slot, speed))
        panels = -(-len(hosts) // 48)
        trunks = [(f"T{k}", f"R01:panel-{k:02}", "1-48", f"R02:panel-{k:02}", "1-48", "") for k in range(1, panels + 1)]
        return built.list_csv([*rows, *trunks[cut:]])

    result = checked(pod(), tmp_path, text)
    assert (result.differences, result.unknown) == ((), ())
    assert result.notes[-1].startswith("Followed over panels: 480 links")
    result = checked(pod(), tmp_path, lambda fabric: text(fabric, swapped=True))
    assert (result.counts, result.moves) == ({"swapped": 2}, 2)
    result = checked(pod(), tmp_path, lambda fabric: text(fabric, cut=1))
    assert (result.right_links, {d.name for d in result.unknown}) == (CABLES - 48, {"R01:panel-01", "R02:panel-01"})


def test_adapters_by_their_order_and_by_too_many_names(tmp_path: Path) -> None:
    odd = {0: 0, 1: 3, 2: 4, 3: 5, 4: 6, 5: 9, 6: 10, 7: 11}  # as on a DGX, where the others are for storage

    def text(fabric: Built) -> str:
        lines = built.ibnetdiscover(fabric, "mlx5_{0}x").split("\n")
        for port, number in odd.items():
            lines = [line.replace(f"mlx5_{port}x", f"mlx5_{number}") for line in lines]
        return "\n".join(lines)

    assert checked(pod(), tmp_path, text).differences == ()
    fabric = pod()
    fabric.swap(fabric.at("server-001", 0), fabric.at("server-001", 1), "b")
    assert checked(fabric, tmp_path, text).counts == {"wrong-rail": 2}
    # One rail of all servers is not there at all: the numbers of the others still say which they are.
    seven = pod()
    gone = {n for n, cable in enumerate(seven.cables) if cable.b.device in seven.hosts and cable.b.name == "4/2"}
    seven.cables = [cable for n, cable in enumerate(seven.cables) if n not in gone]
    result = checked(seven, tmp_path)
    assert (result.counts, result.added_links) == ({"missing": 60}, 60)
