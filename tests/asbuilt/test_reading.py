"""Texts as the programs print them: read whole, or refused with file and line."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.rates import Rate, named_rate, printed_rate
from ibplan.asbuilt.reading import read_fabric
from ibplan.errors import InputError, UsageError
from tests.asbuilt import built
from tests.asbuilt.built import Built, perfect, planned
from tests.export import samples

PAIR = ("h100-pod-127", "model=7B", "servers=8", "network.reserved_ports=1", "network.tiers=2")


def small() -> Built:
    return perfect(planned(*PAIR))


def read(path: Path, text: str, name: str = "f.txt") -> FoundFabric:
    (path / name).write_text(text)
    return read_fabric([path / name])


def refused(path: Path, text: str, name: str = "f.txt") -> str:
    with pytest.raises(InputError) as error:
        read(path, text, name)
    return str(error.value).replace(f"{path}/", "")


def ends(found: FoundFabric) -> Counter[frozenset[tuple[str, str | None]]]:
    """Every link by the names at its ends."""
    return Counter(
        frozenset((found.devices[end.device].name, end.port) for end in (link.a, link.b)) for link in found.links
    )


def expected(
    fabric: Built, host: str = "mlx5_{}", *, numbers: bool = True
) -> Counter[frozenset[tuple[str, str | None]]]:
    def port(plug: built.Plug) -> str:
        if plug.device in fabric.hosts:
            return host.format(plug.port)
        return str(plug.number) if numbers else plug.name

    return Counter(frozenset((plug.device, port(plug)) for plug in (c.a, c.b)) for c in fabric.cables)


def test_ibnetdiscover_and_both_forms_of_iblinkinfo(tmp_path: Path) -> None:
    fabric = small()
    texts = [built.ibnetdiscover(fabric), built.iblinkinfo(fabric), built.iblinkinfo(fabric, by_line=True)]
    for text in texts:
        found = read(tmp_path, text)
        assert ends(found) == expected(fabric)
        assert {link.rate for link in found.links} == {Rate(400, 4, 100)}
        kinds = {device.name: device.kind for device in found.devices}
        assert kinds == {
            plug.device: "host" if plug.device in fabric.hosts else "switch"
            for c in fabric.cables
            for plug in (c.a, c.b)
        }


def test_lldp_of_every_form(tmp_path: Path) -> None:
    fabric = perfect(planned("one-switch", "servers=2", "model=7B", "network.tiers=2"))
    forms = {
        "json": built.lldp_json(fabric),
        "json0": built.lldp_json(fabric, old=True),
        "table": built.lldp_table(fabric),
    }
    for form, texts in forms.items():
        folder = tmp_path / form
        folder.mkdir()
        for switch, text in texts.items():
            (folder / f"{switch}.txt").write_text(text)
        assert ends(read_fabric([folder])) == expected(fabric, "eth{}", numbers=False)
    together = {switch: json.loads(text) for switch, text in forms["json"].items()}
    found = read(tmp_path, json.dumps(together))
    assert ends(found) == expected(fabric, "eth{}", numbers=False)
    assert {link.rate for link in found.links} == {Rate(400), Rate(800)}
    prompts = "".join(f"admin@{switch}:~$ show lldp table\n{text}" for switch, text in forms["table"].items())
    assert ends(read(tmp_path, prompts)) == expected(fabric, "eth{}", numbers=False)


def test_the_name_of_a_device_in_lldp(tmp_path: Path) -> None:
    neighbor = {
        "swp1": {"chassis": {"spine-001": {"id": {"type": "mac", "value": "x"}}}, "port": {"id": {"value": "swp9"}}}
    }
    told = {"local-chassis": {"chassis": {"leaf-7": {"id": {}}}}, "lldp": {"interface": neighbor}}
    assert ends(read(tmp_path, json.dumps(told))) == Counter([frozenset({("leaf-7", "swp1"), ("spine-001", "swp9")})])
    nameless = {
        "lldp": {
            "interface": {
                "swp1": {
                    "chassis": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}},
                    "port": {"id": {"type": "mac", "value": "02:00:00:00:00:02"}, "descr": "eth2"},
                }
            }
        }
    }
    found = read(tmp_path, json.dumps(nameless), "leaf-9.dc1.json")
    assert ends(found) == Counter([frozenset({("leaf-9", "swp1"), ("02:00:00:00:00:01", "eth2")})])
    assert [device.named for device in found.devices] == [True, False]


@pytest.mark.parametrize(
    "head",
    [
        ("Cable", "A Device", "A Port", "B Device", "B Port", "Speed"),
        ("id", "side_a_device", "side_a_name", "side_b_device", "side_b_name", "speed"),
        ("No.", "From", "From Port", "To", "To Port", "Rate"),
        ("Label", "Source Host", "Source Interface", "Destination Host", "Destination Interface", "Gbps"),
        ("#", "Device", "Port", "Device", "Port", "Speed"),
        ("cable_id", "a_device", "a_port", "b_device", "b_port", "gbps"),
    ],
)
def test_lists_by_the_names_that_people_give(tmp_path: Path, head: tuple[str, ...]) -> None:
    fabric = small()
    rows = built.rows(fabric)
    want = Counter(frozenset((plug.device, plug.name) for plug in (c.a, c.b)) for c in fabric.cables)
    assert ends(read(tmp_path, built.list_csv(rows, head))) == want
    assert ends(read(tmp_path, built.list_csv(rows, head, ";"))) == want
    if head[0] == "#":
        assert ends(read_fabric([built.list_xlsx(tmp_path / "f.xlsx", rows, head)])) == want


def test_cells_with_device_and_port_splitters_and_rows_both_ways(tmp_path: Path) -> None:
    text = "Source,Target\nleaf-001:swp1,server-001:eth0\nserver-001:eth0,leaf-001:swp1\n"
    found = read(tmp_path, text)
    assert ends(found) == Counter([frozenset({("leaf-001", "swp1"), ("server-001", "eth0")})])
    split = 'A Device,A Port,B Device,B Port\nleaf-001,"1/1/1,1/1/2",server-001; server-002,1; 2\n'
    assert ends(read(tmp_path, split)) == Counter(
        [
            frozenset({("leaf-001", "1/1/1"), ("server-001", "1")}),
            frozenset({("leaf-001", "1/1/2"), ("server-002", "2")}),
        ]
    )
    loose = "a device,b device\n" + "".join(f"l{i},s{j}\ns{j},l{i}\n" for i in range(2) for j in range(2))
    found = read(tmp_path, loose)
    assert len(found.links) == 4
    assert "each pair was taken for one" in found.notes[0]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.99])
def test_cut_off_files_are_refused(tmp_path: Path, share: float) -> None:
    fabric = small()
    texts = {
        "ibnetdiscover": built.ibnetdiscover(fabric),
        "iblinkinfo": built.iblinkinfo(fabric),
        "lines": built.iblinkinfo(fabric, by_line=True),
        "leaf-001": built.lldp_json(fabric)["leaf-001"],
        "leaf-002": built.lldp_table(fabric)["leaf-002"],
    }
    for name, text in texts.items():
        said = refused(tmp_path, text[: int(len(text) * share)], f"{name}.txt")
        assert re.match(rf"{name}\.txt:[0-9]+:[0-9]+: ", said), said
        assert "cut off" in said


def test_a_block_that_is_missing_is_told_where_it_is_named(tmp_path: Path) -> None:
    blocks = built.ibnetdiscover(small()).split("\n\n")
    (gone,) = (block for block in blocks if re.search(r'^Switch.*# "spine-001"', block, re.MULTILINE))
    text = "\n\n".join(block for block in blocks if block is not gone)
    said = refused(tmp_path, text)
    line = next(n for n, row in enumerate(text.split("\n"), 1) if "spine-001" in row)
    assert f"f.txt:{line}:1: node 'S-" in said
    assert "has no block of its own" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"[1]\t', "[1]\t", "is no port line of ibnetdiscover"),
        ("Switch\t64", "Swatch\t64", "is no line of ibnetdiscover"),
        ("[1]\t", "[99]\t", "has 64 ports, but this is port 99"),
        ("[2]\t", "[1]\t", "has a second cable"),
    ],
)
def test_lines_that_are_wrong(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = built.ibnetdiscover(small())
    if old == '"[1]\t':
        text = text.replace('"[1](', "[1](", 1)
    assert said in refused(tmp_path, text if old == '"[1]\t' else text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("f.txt", "", "f.txt: there is nothing in it"),
        ("f.txt", "\n \n", "f.txt: there is nothing in it"),
        ("f.txt", "hello\nworld\n", "names the device at both ends of a cable"),
        ("f.txt", "SW     0 64 0x0000000000005100 4x SDR   'spine01'\n", "is the report of ibnetdiscover -p"),
        ("f.json", "{", "f.json:1:2: not JSON"),
        ("f.json", "[1]", "is JSON, but not that of lldpctl"),
        ("f.json", '{"a": 1}', "no key 'lldp'"),
        (
            "f.json",
            '{"lldp": {"interface": {"swp1": {"chassis": {}, "port": {}}}}}',
            "f swp1: the neighbor has no chassis",
        ),
        ("f.json", '{"lldp": [3]}', "'lldp' is not of the form of lldpctl"),
        ("f.json", '{"lldp": {"interface": [3]}}', "an 'interface' of 'lldp' is not"),
        ("f.csv", "a device,b device\nleaf-001,\n", "f.csv:2:1: one end of the cable names no device"),
        ("f.csv", "a device,a port,b device\nx,2026-01-03,y\n", "took a port for a date"),
        ("f.csv", "a device,a port,b device\nx,3-Jan,y\n", "took a port for a date"),
        ("f.csv", "a device,a port,b device,b port\nx,1,x,1\n", "x 1 is joined to itself"),
        ("f.csv", "a device,b device,speed\nx,y,fast\n", "f.csv:2:1: "),
        ("f.csv", 'a device,b device\nx,"y\n', "not CSV"),
        ("f.csv", "a device,b device\n", "no row below the head"),
        ("f.txt", "x" * 5000, "a line of more than 4,096 characters"),
    ],
)
def test_files_that_are_none_of_these(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refused(tmp_path, text, name)


def test_every_wrong_row_of_a_list_is_told(tmp_path: Path) -> None:
    rows = [(f"C{n}", "leaf-001", str(n), f"server-{n:03}", "1", "400G") for n in range(1, 1001)]
    rows[612] = ("C613", "leaf-001", "613", "", "", "400G")
    rows[700] = ("C701", "leaf-001", "701", "server-701", "1", "40O")
    said = refused(tmp_path, built.list_csv(rows), "f.csv").split("\n")
    assert [line.split(" ")[0] for line in said] == ["f.csv:614:1:", "f.csv:702:1:"]


def test_nothing_is_half_read(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(built.ibnetdiscover(small()))
    bad.write_text(good.read_text()[:-40])
    with pytest.raises(InputError):
        read_fabric([good, bad])
    with pytest.raises(UsageError):
        read_fabric([])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in this folder"):
        read_fabric([tmp_path / "empty"])
    (tmp_path / "empty" / "r1").mkdir()
    with pytest.raises(InputError, match="no file in this folder, nor in a folder in it"):
        read_fabric([tmp_path / "empty"])


def test_an_export_of_separate_rails_is_one_fabric(tmp_path: Path) -> None:
    """Each rail has a folder; the list of files beside them is none of the fabric."""
    made = samples.scheme("rail-only-512", "gpus=64", design="infiniband-nvidia-qm9700-1t-1to1-railonly")
    exported = samples.texts("ibnetdiscover", made)
    rails = sorted({path.partition("/")[0] for path in exported})
    assert len(rails) == 8
    for path, text in exported.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "ibplan-export.json").write_text('{"files": []}')
    (tmp_path / ".old").mkdir()
    (tmp_path / ".old" / "x.txt").write_text("not of a fabric")
    found = read_fabric([tmp_path])
    assert found == read_fabric([tmp_path / rail / "ibnetdiscover.txt" for rail in rails])
    assert len(found.links) == 64
    (tmp_path / "one.txt").write_text((tmp_path / rails[0] / "ibnetdiscover.txt").read_text())
    assert len(read_fabric([tmp_path]).links) == 8  # a folder with files of its own is read as before


def test_rates() -> None:
    assert [named_rate(4, name) for name in ("EDR", "HDR", "NDR", "XDR", "???")] == [
        Rate(100, 4, 25), Rate(200, 4, 50), Rate(400, 4, 100), Rate(800, 4, 200), None,
    ]  # fmt: skip
    assert printed_rate(4, 53.125) == printed_rate(4, 53.13) == Rate(200, 4, 50)
    assert printed_rate(1, 106.25) == Rate(100, 1, 100)
    assert str(Rate(100, 1, 100)) == "100G (1 x 100G)"
    assert str(Rate(100)) == "100G"


def test_nodes_inside_switches_and_unnamed_ones(tmp_path: Path) -> None:
    text = """\
ibwarn: [7345] sim_connect: attached as client 0

switchguid=0x5000(5000)
Switch\t65 "S-0000000000005000"\t\t# "MF0;leaf-001:MQM9700/U1" base port 0 lid 1 lmc 0
[1]\t"H-0000000000009000"[1](9001) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 2 4xNDR
[65]\t"H-000000000000a000"[1](a001) \t\t# "Mellanox Technologies Aggregation Node" lid 3 4xHDR

caguid=0x9000
Ca\t1 "H-0000000000009000"\t\t# "MT4129 ConnectX7   Mellanox Technologies"
[1](9001) \t"S-0000000000005000"[1]\t\t# lid 2 lmc 0 "MF0;leaf-001:MQM9700/U1" lid 1 4xNDR

caguid=0xa000
Ca\t1 "H-000000000000a000"\t\t# "Mellanox Technologies Aggregation Node"
[1](a001) \t"S-0000000000005000"[65]\t\t# lid 3 lmc 0 "MF0;leaf-001:MQM9700/U1" lid 1 4xHDR
"""
    found = read(tmp_path, text)
    assert [(d.name, d.named, d.model) for d in found.devices] == [
        ("leaf-001", True, "MQM9700"),
        ("H-9000", False, "MT4129 ConnectX7 Mellanox Technologies"),
    ]
    assert len(found.links) == 1
    assert found.notes == ("Left out: 1 aggregation nodes, which are inside the switches.",)
