"""How many cages and cables links take, against cages filled one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ibplan.parts.links import DeviceLoad, LinkClass, LinkEnd

LOADS = st.builds(DeviceLoad, st.integers(1, 5), st.integers(0, 20), st.integers(0, 20))
SIZES = st.sampled_from([1, 2, 4, 8])


def cages_added(load: DeviceLoad, size: int) -> int:
    """Fill the cages of every device: first the ports beside, then the load's own; count those lit by the latter."""
    added = 0
    for _ in range(load.devices):
        lit: set[int] = {port // size for port in range(load.beside)}
        own = {port // size for port in range(load.beside, load.beside + load.ports)}
        added += len(own - lit)
    return added


@given(LOADS, SIZES)
def test_cages_of_a_load_are_those_that_filling_lights(load: DeviceLoad, size: int) -> None:
    assert load.groups_of(size) == cages_added(load, size)


@given(st.lists(LOADS, max_size=5), SIZES)
def test_cages_of_an_end_are_never_pooled_across_devices(loads: list[DeviceLoad], size: int) -> None:
    end = LinkEnd("leaf", "ndr-osfp", size, tuple(loads))
    assert end.groups_of(size) == sum(cages_added(load, size) for load in loads)
    assert end.ports == sum(load.devices * load.ports for load in loads)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 20), SIZES)
def test_classes_that_share_a_bank_pay_together_for_its_cages_once(
    first: int, second: int, devices: int, size: int
) -> None:
    together = DeviceLoad(devices, first + second)
    apart = DeviceLoad(devices, first), DeviceLoad(devices, second, first)
    assert sum(load.groups_of(size) for load in apart) == together.groups_of(size)


def test_48_switches_with_odd_links_take_1536_modules_not_1534() -> None:
    # Sizing rules, 9. 32 leaves: 28 with 32 links down and 4 with 31 (127 servers, one free port on a leaf of the last
    # unit would be 8 leaves with 31); every half-filled cage still takes a whole module.
    loads = (DeviceLoad(24, 32), DeviceLoad(8, 31))
    links = sum(load.devices * load.ports for load in loads)
    assert links == 1016
    assert sum(load.groups_of(2) for load in loads) == 512 > -(-links // 2)


def test_a_link_class_counts_the_ports_of_its_near_end() -> None:
    near = LinkEnd("leaf", "ndr-osfp", 2, (DeviceLoad(4, 7), DeviceLoad(1, 3, 7)))
    far = LinkEnd("server", "nic-osfp-400", 1, (DeviceLoad(31, 1),))
    assert LinkClass("server-leaf", 400, near, far).count == 31
