"""Loading specs: settings, defaults, relative paths, several files at once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ibplan.errors import InputError
from ibplan.spec.load import LoadedSpec, check_specs, load_spec, load_specs
from ibplan.spec.models import Spec

THREE_LINES = "model: 70B\ngpus: 1024\nbudget: $6M\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.v2.yaml"
    file.write_text(THREE_LINES)
    return file


def refused(path: Path | str, *settings: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_spec(path, settings)
    return [str(problem) for problem in caught.value.problems]


def test_three_lines_are_enough(path: Path) -> None:
    loaded = load_spec(path)
    assert loaded.spec.name == "cluster.v2"
    assert loaded.spec.gpus == 1024
    assert loaded.source == str(path)
    assert loaded.directory == path.parent
    assert loaded.price_path is None
    assert loaded.catalog_paths == ()


def test_defaults_are_what_the_user_did_not_write_in_order(path: Path) -> None:
    path.write_text("gpus: 8\nnetwork: {oversubscription: 2:1, tiers: 2}\nsite: {pue: 1.1}\n")
    defaults = load_spec(path, ["site.years=5"]).defaults
    assert "/gpus" not in defaults
    assert "/network/tiers" not in defaults
    assert "/network/oversubscription/leaf" not in defaults
    assert "/site/years" not in defaults
    assert {"/name", "/network/oversubscription/spine", "/network/planes", "/site/rack/power"} <= set(defaults)
    top = [pointer.split("/")[1] for pointer in defaults]
    order = list(Spec.model_fields)
    assert top == sorted(top, key=order.index)


def test_what_an_inline_part_leaves_out_is_no_default(path: Path) -> None:
    path.write_text("gpus: 8\nserver: {gpus: 8, nics: 8, port_gbps: 400}\nbudget: $6M\n")
    defaults = load_spec(path).defaults
    assert "/server/ports_per_nic" in defaults
    assert "/server/price" not in defaults
    assert "/budget/cluster" not in defaults


def test_standard_input() -> None:
    loaded = load_spec("-", stdin=io.BytesIO(THREE_LINES.encode()))
    assert loaded.spec.name == "spec"
    assert loaded.directory == Path()
    with pytest.raises(InputError, match=r"^<stdin>:1:7: gpus: expected a whole number"):
        load_spec("-", stdin=io.BytesIO(b"gpus: x\n"))


def test_settings_change_and_add(path: Path) -> None:
    path.write_text(THREE_LINES + "attached: [{name: a, servers: 1, ports: 1, port_gbps: 400}]\n")
    spec = load_spec(
        path,
        [
            "network.oversubscription=[1:1,2:1]",
            "attached.0.ports=2",
            "attached[0].servers=3",
            "gpus=2048",
            "site.rack.power=30 kW",
            "name=a=b",
            "model=",
        ],
    ).spec
    assert spec.network.oversubscription.leaf == (1, 2)
    assert (spec.attached[0].ports, spec.attached[0].servers) == (2, 3)
    assert (spec.gpus, spec.site.rack.power, spec.name, spec.model) == (2048, 30_000, "a=b", None)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network.foo=3", "unknown key 'foo' in network"),
        ("network.tires=3", "unknown key 'tires' in network (did you mean tiers?)"),
        ("gpus", "is not of the form key=value (such as network.oversubscription=2:1)"),
        ("=3", "is not of the form key=value (such as network.oversubscription=2:1)"),
        ("a..b=3", "is not of the form key=value (such as network.oversubscription=2:1)"),
        ("gpus=0123", "gpus: expected a whole number, got text '0123' (leading zeros are not a number)"),
        ("budget.power=1 MW", "budget is '$6M', which has no keys (set budget as a whole)"),
        ("fabrics.0=roce", "fabrics: expected one of infiniband, roce, ethernet, got keys with values"),
        ("network.planes=[1", "a list opened with '[' is not closed, or a ',' is missing"),
        ("network.planes=!x 1", "the tag '!x' is not allowed (write the value without it)"),
        ("server.gpus=8", "the key 'nics' is missing in server"),
        (".".join("abcdefghijklmnopq") + "=1", "the key has more than 16 levels"),
    ],
)
def test_a_wrong_setting_is_named(path: Path, setting: str, message: str) -> None:
    assert f"--set {setting}: {message}" in refused(path, setting)


def test_problems_of_settings_and_of_the_file_come_together(path: Path) -> None:
    path.write_text(THREE_LINES + "optik: vendor\n")
    assert refused(path, "bar", "network.tiers=4") == [
        "--set bar: is not of the form key=value (such as network.oversubscription=2:1)",
        "--set network.tiers=4: network.tiers: expected one of auto, 1, 2, 3, got 4",
        f"{path}:4:1: unknown key 'optik' (did you mean optics?)",
    ]


def test_an_index_past_the_end(path: Path) -> None:
    path.write_text(THREE_LINES + "fabrics: [roce]\n")
    assert refused(path, "fabrics.1=roce") == [
        "--set fabrics.1=roce: fabrics is a list of 1: '1' is not an index from 0 to 0"
    ]


def test_files_are_relative_to_the_spec(path: Path) -> None:
    path.write_text(THREE_LINES + "prices: p.yaml\ncatalog: [c.yaml]\n")
    (path.parent / "p.yaml").touch()
    (path.parent / "c.yaml").touch()
    loaded = load_spec(path)
    assert loaded.price_path == path.parent / "p.yaml"
    assert loaded.catalog_paths == (path.parent / "c.yaml",)


def test_missing_files_are_problems_at_their_names(path: Path) -> None:
    path.write_text(THREE_LINES + "prices: p.yaml\ncatalog: [c.yaml, loop, .]\n")
    (path.parent / "loop").symlink_to(path.parent / "loop")
    directory = path.parent
    remedy = "(paths are relative to the spec)"
    assert refused(path) == [
        f"{path}:4:9: prices: {directory}/p.yaml: there is no such file {remedy}",
        f"{path}:5:11: catalog: {directory}/c.yaml: there is no such file {remedy}",
        f"{path}:5:19: catalog: {directory}/loop: cannot be read: Too many levels of symbolic links {remedy}",
        f"{path}:5:25: catalog: {directory}: is not a regular file {remedy}",
    ]


def test_several_files_with_all_their_problems(path: Path) -> None:
    other = path.with_name("other.yaml")
    other.write_text("gpus: x\n")
    absent = path.with_name("zzz.yaml")
    good, bad, missing = check_specs([path, other, absent])
    assert isinstance(good, LoadedSpec)
    assert isinstance(bad, InputError)
    assert isinstance(missing, InputError)
    with pytest.raises(InputError) as caught:
        load_specs([path, other, absent])
    assert [problem.source for problem in caught.value.problems] == [str(other), str(absent)]
    assert [loaded.spec.gpus for loaded in load_specs([path, path])] == [1024, 1024]
