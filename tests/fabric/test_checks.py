"""Each check fails on a wiring that is broken in the one way it is there for, and passes on a sound one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from ibplan.fabric import checks
from ibplan.fabric.checks import CHECKS, check_wiring
from ibplan.fabric.request import Attached
from ibplan.fabric.wiring import KINDS, Wiring, wire
from tests.fabric.shapes import DS5000, SN5600, network, plain, request


@cache
def pod() -> Wiring:
    """Two tiers, four units of 32 servers, storage, managers."""
    storage = (Attached("storage", 4, 2, 400),)
    return wire(network(request(120, attached=storage, reserved_total=4), server_ports_per_cage=2))


@cache
def planes() -> Wiring:
    """Two planes of three tiers, twin ports."""
    return wire(network(request(24, 2, plain(8), tiers=3, pod_units=2), fabrics=2))


@cache
def twins() -> Wiring:
    """Downlinks two a cage, uplinks whole."""
    return wire(network(request(64, 8, SN5600, down=400, up=800, tiers=2)))


@cache
def capped() -> Wiring:
    return wire(network(request(60, 1, DS5000, down=200, up=800, tiers=2)))


@cache
def halves() -> Wiring:
    return wire(network(request(8, 1, plain(16), tiers=1, single_tier="two_leaves")))


def links_of(w: Wiring, kind: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.flatnonzero(np.array([w.classes[k].kind == kind for k in w.links.link_class]))


def changed(w: Wiring, column: str, where: Any, value: Any) -> Wiring:
    """The wiring with one column of its links changed at some links."""
    new = getattr(w.links, column).copy()
    new[where] = value
    return replace(w, links=replace(w.links, **{column: new}))


def swapped(w: Wiring, one: int, other: int, columns: tuple[str, ...]) -> Wiring:
    """The wiring with what two links have in some columns exchanged."""
    for column in columns:
        values = getattr(w.links, column)
        w = changed(w, column, [one, other], values[[other, one]])
    return w


def without(w: Wiring, link: int) -> Wiring:
    names = w.links.__dataclass_fields__
    return replace(w, links=replace(w.links, **{n: np.delete(getattr(w.links, n), link) for n in names}))


def device(w: Wiring, name: str) -> int:
    found = w.device(name)
    assert found is not None
    return found


def of(w: Wiring, kind: str, a: str, b: str, nth: int = 0) -> int:
    """The nth link of a kind between two devices."""
    at = links_of(w, kind)
    mine = (w.links.a_device[at] == device(w, a)) & (w.links.b_device[at] == device(w, b))
    return int(at[mine][nth])


def renamed(w: Wiring) -> Wiring:
    index = w.devices.index.copy()
    index[device(w, "leaf-002")] = 0
    return replace(w, devices=replace(w.devices, index=index))


def a_leaf_too_many(w: Wiring) -> Wiring:
    columns = {n: getattr(w.devices, n) for n in w.devices.__dataclass_fields__}
    more = {n: np.append(c, c[-1]) for n, c in columns.items()}
    more["index"][-1] += 1
    return replace(w, devices=replace(w.devices, **more))


def moved_to(w: Wiring, link: int, cage: int, leg: int, side: str = "a") -> Wiring:
    stride = int(w.devices.stride[w.links.end(side)[0][link]])  # type: ignore[arg-type]
    return changed(w, f"{side}_port", link, (cage - 1) * stride + leg - 1)


def crossed_planes(w: Wiring) -> Wiring:
    """Two uplinks of different fabrics end in the spine of the other."""
    one = of(w, "leaf-spine", "leaf-p1-001", "spine-p1-001")
    other = of(w, "leaf-spine", "leaf-p2-001", "spine-p2-001")
    return swapped(w, one, other, ("b_device", "b_port"))


def parted(w: Wiring) -> Wiring:
    """All links of one leaf go to other leaves' ports: the leaf is alone."""
    leaf = device(w, "leaf-p1-001")
    at = links_of(w, "leaf-spine")
    return changed(w, "a_device", at[w.links.a_device[at] == leaf], device(w, "leaf-p1-002"))


BROKEN: list[tuple[str, Callable[[], Wiring]]] = [
    ("name-twice", lambda: renamed(pod())),
    ("device-count", lambda: a_leaf_too_many(pod())),
    ("class-count", lambda: without(pod(), 5)),
    ("class-count", lambda: changed(pod(), "link_class", 0, 3)),
    ("class-ends", lambda: changed(pod(), "link_class", 0, 3)),
    ("class-ends", lambda: changed(pod(), "b_device", 0, device(pod(), "spine-001"))),
    ("port-twice", lambda: changed(pod(), "a_port", 0, int(pod().links.a_port[8]))),
    ("port-twice", lambda: changed(pod(), "b_port", -1, int(pod().links.b_port[-2]))),
    ("self-link", lambda: changed(pod(), "b_device", -1, int(pod().links.a_device[-1]))),
    ("no-such-port", lambda: moved_to(pod(), 0, 33, 1)),
    ("no-such-port", lambda: moved_to(pod(), 0, 1, 3)),
    ("no-such-port", lambda: changed(pod(), "a_port", 0, -1)),
    ("no-such-port", lambda: changed(pod(), "b_port", 0, 8)),
    ("port-sum", lambda: without(pod(), int(links_of(pod(), "leaf-spine")[7]))),
    ("endpoint-links", lambda: without(pod(), 5)),
    ("endpoint-links", lambda: changed(pod(), "b_device", 0, device(pod(), "server-002"))),
    ("cage-speeds", lambda: moved_to(twins(), int(links_of(twins(), "leaf-spine")[0]), 1, 1)),
    ("cage-directions", lambda: moved_to(pod(), int(links_of(pod(), "leaf-spine")[0]), 16, 2)),
    ("cage-order", lambda: swapped(pod(), 0, of(pod(), "leaf-spine", "leaf-001", "spine-016", 1), ("a_port",))),
    ("cage-budget", lambda: dark()),
    ("cage-budget", lambda: over_the_cap()),
    ("ports-kept", lambda: kept()),
    ("fabric-joined", lambda: crossed_planes(planes())),
    ("fabric-joined", lambda: changed(planes(), "fabric", 0, 1)),
    ("fabric-split", lambda: crossed_planes(planes())),
    ("fabric-split", lambda: parted(planes())),
    ("uplinks-uneven", lambda: changed(pod(), "b_device", -1, int(pod().links.b_device[-3]))),
    ("uplinks-uneven", lambda: one_link_moved_to_another_spine()),
    ("cores-uneven", lambda: one_link_moved_to_another_core()),
    ("pod-crossed", lambda: another_pod()),
    ("pod-crossed", lambda: another_group()),
    ("unit-crossed", lambda: swapped(pod(), 0, 8 * 40, ("a_device", "a_port"))),
    ("rail-misplaced", lambda: swapped(pod(), 0, 1, ("a_device", "a_port"))),
    ("rail-misplaced", lambda: swapped(halves(), 0, 1, ("a_device", "a_port"))),
    ("plane-misplaced", lambda: swapped(planes(), 0, 48, ("b_port",))),
    ("plane-misplaced", lambda: another_plane_of_storage()),
    ("leaf-load", lambda: moved_to_a_leaf_with_room()),
    ("host-crowded", lambda: crowded()),
]


def dark() -> Wiring:
    """100G ports light cages that their neighbors darken: 33 of them are one too many."""
    w = wire(network(request(250, 1, SN5600, down=100, tiers=1)))
    at = links_of(w, "server-leaf")
    return changed(w, "a_port", at[-1:], 8 * 1)


def over_the_cap() -> Wiring:
    """More ports than the cap lets: 33 cages with four."""
    w = wire(network(request(120, 1, DS5000, down=200, tiers=1)))
    low = replace(w.network.request.leaf.geometry.sets[0])
    modes = tuple(replace(m, max_ports=64) if m.max_ports else m for m in low.modes)
    geometry = replace(w.network.request.leaf.geometry, sets=(replace(low, modes=modes),))
    asked = replace(w.network.request, leaf=replace(w.network.request.leaf, geometry=geometry))
    return replace(w, network=replace(w.network, request=asked))


def kept() -> Wiring:
    """The same links, but 60 ports of every leaf were to stay free."""
    w = pod()
    asked = w.network.request
    return replace(w, network=replace(w.network, request=replace(asked, leaf=replace(asked.leaf, reserved=60))))


def one_link_moved_to_another_spine() -> Wiring:
    w = pod()
    one, other = of(w, "leaf-spine", "leaf-001", "spine-001"), of(w, "leaf-spine", "leaf-002", "spine-002")
    return swapped(w, one, other, ("b_device", "b_port"))


@cache
def tall() -> Wiring:
    """Three tiers of 64 ports: several cores a group."""
    return wire(network(request(256, 8, tiers=3, pod_units=2)))


def one_link_moved_to_another_core() -> Wiring:
    """A spine has one link more to a core of its group, and one less to the next."""
    w = tall()
    at = links_of(w, "spine-core")
    core = w.network.fabric.core
    assert core is not None
    assert core.per_group > 1
    return changed(w, "b_device", at[0], int(w.links.b_device[at[0]]) + 1)


def another_pod() -> Wiring:
    w = planes()
    at = links_of(w, "leaf-spine")
    pods = w.devices.pod[w.links.a_device[at]]
    one, other = int(at[pods == 0][0]), int(at[pods == 1][0])
    return swapped(w, one, other, ("b_device", "b_port"))


def another_group() -> Wiring:
    w = planes()
    at = links_of(w, "spine-core")
    group = w.devices.position[w.links.b_device[at]]
    assert group.max() > 0
    one, other = int(at[group == 0][0]), int(at[group == 1][0])
    return swapped(w, one, other, ("b_device", "b_port"))


@cache
def storage_planes() -> Wiring:
    return wire(network(request(8, 2, plain(16), attached=(Attached("nfs", 3, 2, 400),)), fabrics=2))


def another_plane_of_storage() -> Wiring:
    w = storage_planes()
    at = links_of(w, "attached")
    fabric = w.links.fabric[at]
    return swapped(w, int(at[fabric == 0][0]), int(at[fabric == 1][0]), ("b_port",))


def moved_to_a_leaf_with_room() -> Wiring:
    """A server port of leaf 1 stands on leaf 32, which has fewer."""
    w = pod()
    return moved_to(changed(w, "a_device", 0, device(w, "leaf-032")), 0, 15, 1)


def crowded() -> Wiring:
    """Two hosts exchange ports, and each has both on one leaf."""
    w = pod()
    at = links_of(w, "attached")
    host, leaf = w.links.b_device[at], w.links.a_device[at]
    first = [int(x) for x in at[host == host[0]]]
    twin = int(at[(leaf == w.links.a_device[first[0]]) & (host != host[0])][0]) if len(set(leaf)) < len(leaf) else -1
    if twin < 0:
        twin = first[1]
        return changed(w, "a_device", twin, int(w.links.a_device[first[0]]))
    return swapped(w, first[1], twin, ("a_device", "a_port"))


@pytest.mark.parametrize("sound", [pod, planes, twins, capped, halves, storage_planes, tall], ids=lambda f: f.__name__)
def test_a_sound_wiring_passes_every_check(sound: Callable[[], Wiring]) -> None:
    assert check_wiring(sound()) == []


@pytest.mark.parametrize(("code", "broken"), BROKEN, ids=[f"{code}-{n}" for n, (code, _) in enumerate(BROKEN)])
def test_a_wiring_broken_on_purpose_is_found(code: str, broken: Callable[[], Wiring]) -> None:
    found = check_wiring(broken())
    assert code in {f.code for f in found}
    assert all(f.message and "\n" not in f.message for f in found)


def test_every_code_is_broken_on_purpose_once() -> None:
    found = {f.code for _, broken in BROKEN for f in check_wiring(broken())}
    assert found == {code for code, _ in BROKEN}


def test_every_check_fails_at_least_once() -> None:
    silent = [c.__name__ for c in CHECKS if not any(list(c(broken())) for _, broken in BROKEN)]
    assert silent == []


def test_the_list_has_every_check_of_the_module() -> None:
    names = {c.__name__ for c in CHECKS}
    assert len(names) == len(CHECKS)
    defined = {
        n for n, f in vars(checks).items() if callable(f) and "Iterator" in str(getattr(f, "__annotations__", {}))
    }
    assert defined == names
    assert len(KINDS) == 6
