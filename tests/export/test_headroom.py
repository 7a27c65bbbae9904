"""Headroom against published figures, limits, and the arithmetic of sums."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.export.buffers import Buffers, PortBuffer, Total
from ibplan.export.headroom import KIB, Headroom, headroom, headroom_figures, in_flight_bytes, least_headroom_bytes
from ibplan.export.settings import Lossless
from tests.export.samples import scheme

# size of the lossless profile in bytes by (Gb/s, m), and lanes: what SONiC ships for Spectrum-3 (cells of 144 bytes,
# packets of 1,024 in the class and 9,216 beside it, a response of 3.8 KiB at every speed).
# github:sonic-net/sonic-utilities scripts/mellanox_buffer_migrator.py, spc3_headroom
SPECTRUM_3 = {
    (10, 5): 52224,
    (25, 5): 52224,
    (40, 5): 53248,
    (50, 5): 53248,
    (100, 5): 53248,
    (200, 5): 55296,
    (400, 5): 86016,
    (10, 40): 53248,
    (25, 40): 55296,
    (40, 40): 57344,
    (50, 40): 58368,
    (100, 40): 63488,
    (200, 40): 74752,
    (400, 40): 124928,
    (10, 300): 60416,
    (25, 300): 73728,
    (40, 300): 86016,
    (50, 300): 95232,
    (100, 300): 137216,
    (200, 300): 223232,
    (400, 300): 420864,
}
# Broadcom's recommendation for 400 Gb/s over 500 m, of which 256 ports share a quarter:
# https://github.com/sonic-net/sonic-buildimage/pull/29565
BROADCOM_BYTES, PORTS, SHARING, POOL_BYTES = 1_887_900, 256, 4, 120_825_600
LOSSLESS = Lossless(26, 3, 48, 6, 1)


@pytest.mark.parametrize(("gbps", "length_m"), SPECTRUM_3)
def test_profiles_are_those_that_sonic_ships(gbps: int, length_m: int) -> None:
    """Never less, and at most one step of 1 KiB more: SONiC leaves the pause frame out, and 2.3 % of the cable."""
    chip = headroom_figures().chip("Spectrum-3")
    assert chip is not None
    lanes = 8 if gbps == 400 else 4
    found = headroom(
        chip, gbps, length_m, lanes=lanes, mtu_bytes=9216, response_bytes=round(3.8 * KIB), lossless_packet_bytes=1024
    )
    published = SPECTRUM_3[gbps, length_m]
    assert published <= found.size <= published + KIB
    assert found.xon == (37888 if lanes == 8 else 19456)


def test_responses_are_those_of_the_standard() -> None:
    """Bit times of a second source: 40,960, 60,416, 201,728 and 463,360 at 25, 40, 100 and 400 Gb/s."""
    known = headroom_figures()
    bits = {gbps: 8 * (known.response_bytes(gbps) or 0) for gbps in (25, 40, 100, 400)}
    assert bits == {25: 40_960, 40: 60_416, 100: 201_728, 400: 463_360}


def test_a_meter_at_400_gbps_is_500_bytes() -> None:
    """5 ns a meter, there and back, at 50 GB/s; light in fibre takes 5.05 ns."""
    slope = in_flight_bytes(400, 101, 9216, 0) - in_flight_bytes(400, 100, 9216, 0)
    assert slope == pytest.approx(505, abs=1)


def test_without_cable_there_is_still_a_packet_a_pause_and_a_response() -> None:
    assert in_flight_bytes(100, 0, 9216, 1000) == 9216 + 84 + 1000


def test_a_recommendation_is_not_below_what_physics_needs() -> None:
    least = least_headroom_bytes(400, 500, 9216)
    assert least is not None
    assert least < BROADCOM_BYTES


def test_an_unknown_speed_has_no_headroom() -> None:
    assert least_headroom_bytes(123, 5, 9216) is None
    assert headroom_figures().chip("Broadcom Tomahawk 5") is None


@given(st.sampled_from([10, 25, 50, 100, 200, 400, 800]), st.integers(1, 2000), st.integers(1500, 9216))
def test_longer_cables_and_packets_never_need_less(gbps: int, length_m: int, mtu: int) -> None:
    known = headroom_figures()
    response = known.response_bytes(gbps) or 0
    for chip in known.chips:
        of = {
            (more_m, more): headroom(
                chip, gbps, length_m + more_m, lanes=4, mtu_bytes=mtu + more, response_bytes=response
            )
            for more_m in (0, 50)
            for more in (0, 1000)
        }
        assert of[0, 0].size <= of[50, 0].size <= of[50, 1000].size
        assert of[0, 0].size <= of[0, 1000].size
        # No chip does better than an ideal one, and what is told to the switch is in whole KiB.
        assert of[0, 0].xoff >= (least_headroom_bytes(gbps, length_m, mtu) or 0)
        assert of[0, 0].size == of[0, 0].xon + of[0, 0].xoff
        assert of[0, 0].size % KIB == 0


def _buffers(sharing: int = 1) -> Buffers:
    return Buffers(scheme("roce-2048"), Lossless(26, 3, 48, 6, sharing))


def test_ports_share_headroom_as_published() -> None:
    ports = [PortBuffer(500, Headroom(0, BROADCOM_BYTES, BROADCOM_BYTES), 0.0)] * PORTS
    assert _buffers(SHARING).total(ports) == Total(POOL_BYTES, exact=True)
    assert _buffers().total(ports) == Total(POOL_BYTES * SHARING, exact=True)


def test_a_sum_is_as_known_as_its_parts() -> None:
    known, unknown = PortBuffer(5, Headroom(1, 9, 10), 4.0), PortBuffer(None, None, None)
    assert _buffers().total([known, PortBuffer(5, None, 4.0)]) == Total(8, exact=False)
    assert _buffers().total([known, unknown]) == Total(None, exact=False)


def test_the_sum_is_held_against_the_buffer() -> None:
    buffers = _buffers()
    leaf, spine = (int(buffers.scheme.wiring.of_kind(kind)[0]) for kind in ("leaf", "spine"))
    fits, over = buffers.notes({leaf: Total(80_000_000, exact=True), spine: Total(200_000_000, exact=True)})
    assert fits == "headroom of leaf switches (nvidia-sn5610): 80.0 MB in leaf-001; 50% of its buffer of 160 MB"
    assert over.startswith("headroom of spine switches (nvidia-sn5610): 200.0 MB in spine-001: MORE THAN ITS BUFFER")
    (unknown,) = buffers.notes({leaf: Total(None, exact=False)})
    assert "not known" in unknown
