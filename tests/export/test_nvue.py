"""NVUE's commands against the object model that NVIDIA publishes, and against the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from ibplan.errors import UsageError
from ibplan.export.nvue import COMMANDS
from ibplan.export.scheme import Scheme
from ibplan.export.switch_ports import SwitchPorts
from tests.export.ethernet import ONE, PLANES, small
from tests.export.nvue_models import as_texts, configuration, expand, model
from tests.export.samples import scheme, texts

SAMPLES: dict[str, Callable[[], Scheme]] = {
    "two planes": lambda: small(PLANES),
    "with BFD": lambda: small(PLANES, "ethernet.bfd=true"),
    "other priorities": lambda: small(PLANES, "ethernet.lossless.priority=4", "ethernet.lossless.cnp_priority=7"),
    "one switch": lambda: scheme("one-switch"),
    "a speed in two breakouts": lambda: scheme("converged-pair-16"),
    "no RoCE": lambda: scheme("small-team"),
}


def _scripts(made: Scheme, target: str = "nvue-5.11") -> dict[str, str]:
    return {path.partition("/")[0]: text for path, text in texts(target, made).items() if path.endswith(COMMANDS)}


@pytest.mark.parametrize(("target", "release"), [("nvue-5.11", "5.11"), ("nvue", "5.18")])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_model_takes_every_command(name: str, target: str, release: str) -> None:
    root = model(release)
    scripts = _scripts(SAMPLES[name](), target)
    for switch, script in scripts.items():
        if "-p2-" in switch:  # the second plane is like the first
            continue
        data = configuration(script, root)
        kept = root.model_validate(data).model_dump(by_alias=True, exclude_unset=True, mode="json")
        assert as_texts(kept) == data, switch


@pytest.mark.parametrize(
    "command",
    [
        "qos pfc roce switch-priority-list 3",
        "qos congestion-control default-global traffic-class 3 ecn on",
        "interface swp1 link mtu 92160",
        "vrf default router bgp peer-group up remote-as nobody",
    ],
)
def test_the_model_refuses_what_is_wrong(command: str) -> None:
    root = model("5.11")
    with pytest.raises((ValueError, ValidationError)):
        root.model_validate(configuration(f"nv set {command}\n", root))


def _data(made: Scheme, switch: str) -> dict[str, Any]:
    return configuration(_scripts(made)[switch], model("5.11"))


@pytest.mark.parametrize("name", ["two planes", "a speed in two breakouts", "no RoCE"])
def test_every_port_of_the_plan_is_set_up(name: str) -> None:
    made = SAMPLES[name]()
    for device, ports in SwitchPorts(made, "cumulus").of.items():
        data = _data(made, made.names[device])
        found = data["interface"]
        speeds = {name: row["link"]["speed"] for name, row in found.items() if "speed" in row.get("link", {})}
        assert speeds == {port.name: f"{port.gbps}G" for port in ports}
        assert {name for name, row in found.items() if "bridge" in row} == {p.name for p in ports if p.role == "host"}
        neighbors = data["vrf"]["default"]["router"]["bgp"].get("neighbor", {})
        assert {n: row["remote-as"] for n, row in neighbors.items()} == {
            p.name: str(made.addresses.asns[p.far]) for p in ports if p.role != "host"
        }
        broken = {name: row["link"]["breakout"] for name, row in found.items() if "breakout" in row.get("link", {})}
        legs = {f"swp{p.cage + 1}": p.leg + 1 for p in ports if "s" in p.name.removeprefix("swp")}
        dark = {name for name, modes in broken.items() if "disabled" in modes}
        assert set(broken) - dark == set(legs)
        for cage in legs:
            (mode,) = broken[cage]
            assert int(mode.removesuffix("x")) >= legs[cage]
        assert {p.name.removesuffix(f"s{p.leg}") for p in ports} & dark == set()
        assert dark == {f"swp{int(cage.removeprefix('swp')) + 1}" for cage in legs if "8x" in broken[cage]}


def test_pauses_go_by_the_length_of_the_cable() -> None:
    made = small(PLANES)
    for switch in _scripts(made):
        data = _data(made, switch)
        used = {row["qos"]["pfc"]["profile"] for row in data["interface"].values() if "qos" in row}
        profiles = {name: row for name, row in data["qos"]["pfc"].items() if name != "default-global"}
        assert used == set(profiles)
        for name, row in profiles.items():
            assert name == f"roce-{row['cable-length']}m"
            assert set(row["switch-priority"]) == {"3"}


def test_marks_and_queues_are_those_of_the_spec() -> None:
    qos = _data(SAMPLES["other priorities"](), "leaf-p1-001")["qos"]
    assert qos["mapping"]["default-global"]["dscp"] == {"26": {"switch-priority": "4"}, "48": {"switch-priority": "7"}}
    # In NVUE's RoCE mode the classes are 3 and 6, whatever the priorities.
    assert qos["egress-scheduler"]["default-global"]["traffic-class"]["6"] == {"mode": "strict"}
    assert set(qos["congestion-control"]["default-global"]["traffic-class"]) == {"3"}
    queues = qos["egress-queue-mapping"]["default-global"]["switch-priority"]
    assert {int(n): int(row["traffic-class"]) for n, row in queues.items()} == {
        n: {4: 3, 7: 6}.get(n, 0) for n in range(8)
    }


def test_releases_differ_in_a_few_words_alone() -> None:
    old, new = (_scripts(small(PLANES), target)["leaf-p1-001"].splitlines() for target in ("nvue-5.11", "nvue"))
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == 5
    assert all("address" in a or "router bgp" in a for a, _ in changed)


def test_lists_of_ports_are_complete() -> None:
    assert list(expand("swp1-3,swp5s0-1,swp9")) == ["swp1", "swp2", "swp3", "swp5s0", "swp5s1", "swp9"]


def test_ports_that_cumulus_does_not_name_are_refused() -> None:
    with pytest.raises(UsageError, match="how cumulus names the ports"):
        texts("nvue", small(ONE))
