"""Entries check themselves: cages, ports and speeds against the stated capacity; odd values against nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ibplan.catalog.entries import Breakout, Cable, CageGroup, Price, Switch


def group(count: int, lanes: int, lane_gbps: int, *breakouts: Breakout) -> CageGroup:
    return CageGroup(
        count=count,
        form="OSFP",
        cage_class="some-class",
        heat_sink="finned",
        lanes=lanes,
        lane_gbps=lane_gbps,
        breakouts=breakouts,
    )


def switch(cages: tuple[CageGroup, ...], **facts: Any) -> Switch:
    stated: dict[str, Any] = {"id": "maker-box", "vendor": "Maker", "model": "Box", "link_layers": ("ethernet",)}
    return Switch(**{**stated, "confidence": "low", "sources": ("https://example.com",), "cages": cages, **facts})


TWIN = Breakout(ports=2, gbps=400, lanes=4)


@given(count=st.integers(1, 512), ports=st.sampled_from([1, 2, 4, 8]), lane_gbps=st.sampled_from([25, 50, 100, 200]))
def test_radix_is_cages_times_ports(count: int, ports: int, lane_gbps: int) -> None:
    gbps = 8 // ports * lane_gbps
    box = switch(
        (group(count, 8, lane_gbps, Breakout(ports=ports, gbps=gbps, lanes=8 // ports)),),
        capacity_gbps=count * 8 * lane_gbps,
    )
    assert box.radix(gbps) == count * ports
    assert box.radix(gbps) * gbps == box.capacity_gbps
    assert box.radix(gbps + 1) == 0


@given(count=st.integers(4, 512), off=st.integers(-3, 3).filter(bool))
def test_a_missing_or_doubled_cage_is_refused(count: int, off: int) -> None:
    # netbox-community/devicetype-library PR 4507: a QM9700 with 62 ports; PR 4183: 48 ports listed under two names.
    with pytest.raises(ValidationError, match="a cage or a port is missing or counted twice"):
        switch((group(count, 8, 100, TWIN),), capacity_gbps=(count + off) * 800)


def test_bidirectional_capacity_is_refused() -> None:
    # NVIDIA prints 51.2 Tb/s for the QM9700, counting both directions of 25.6.
    with pytest.raises(ValidationError, match="capacity_gbps says 51,200"):
        switch((group(32, 8, 100, TWIN),), capacity_gbps=51200)


@given(ports=st.integers(1, 16), lanes=st.integers(1, 16))
def test_breakout_never_uses_more_lanes_than_the_cage_has(ports: int, lanes: int) -> None:
    breakout = Breakout(ports=ports, gbps=1, lanes=lanes)
    if ports * lanes <= 8:
        assert group(1, 8, 100, breakout).ports_with(breakout) == ports
    else:
        with pytest.raises(ValidationError, match="do not fit a cage of 8 lanes"):
            group(1, 8, 100, breakout)


def test_breakout_faster_than_its_lanes_is_refused() -> None:
    with pytest.raises(ValidationError, match="400 Gb/s does not fit 4 lanes of 50 Gb/s"):
        group(1, 8, 50, TWIN)


@given(count=st.integers(2, 128))
def test_cages_lost_and_port_limits_cap_the_ports(count: int) -> None:
    lost = Breakout(ports=8, gbps=100, lanes=1, cages_lost=1)
    capped = Breakout(ports=4, gbps=200, lanes=2, max_ports=count)
    cages = group(count, 8, 100, TWIN, lost, capped)
    assert cages.ports_with(lost) == count // 2 * 8
    assert cages.ports_with(capped) == count
    assert cages.breakout_at(300) is None


def test_unknown_cage_kind_is_a_gap() -> None:
    bare = CageGroup(count=4, lanes=8, lane_gbps=100, breakouts=(TWIN,))
    box = switch((group(32, 8, 100, TWIN), bare), capacity_gbps=36 * 800)
    assert box.planning_gaps() == ("cages[1].cage_class",)


@pytest.mark.parametrize("name", ["NVIDIA-QM9700", "qm 9700", "-qm9700", "qm9700-", "qm--9700", "ä", "a" * 81, ""])
def test_odd_ids_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="an id is lower-case letters"):
        switch((group(32, 8, 100, TWIN),), id=name)


def test_cable_states_both_ends() -> None:
    stated: dict[str, Any] = {"id": "c", "vendor": "v", "model": "m", "confidence": "low", "sources": ("s",)}
    with pytest.raises(ValidationError, match="states fiber_a and fiber_b"):
        Cable(**stated, kind="fiber")
    with pytest.raises(ValidationError, match="states form_a and form_b"):
        Cable(**stated, kind="dac", form_a="OSFP")


def test_price_without_any_amount_is_refused() -> None:
    with pytest.raises(ValidationError, match="a price states usd, or amount and currency"):
        Price(part="x", kind="list", source="s", currency="EUR")
