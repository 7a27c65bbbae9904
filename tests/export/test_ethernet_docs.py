"""docs/export-ethernet.md says what the figures say."""

from __future__ import annotations

import re
from pathlib import Path

from ibplan.export.headroom import headroom_figures
from ibplan.export.hosts import COLUMNS
from ibplan.export.settings import ethernet_figures
from ibplan.spec.ethernet import EthernetSpec, LosslessSpec

PAGE = (Path(__file__).parents[2] / "docs" / "export-ethernet.md").read_text(encoding="utf-8")


def _cells(head: str) -> dict[str, str]:
    """The first two cells of every row of a table, by its head."""
    lines = PAGE.partition(f"\n{head}")[2].partition("\n\n")[0].splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    return {row[0].strip(" `"): row[1].strip() for row in rows}


def test_keys_and_their_defaults() -> None:
    known = ethernet_figures()
    stated = _cells("| key | default | meaning |")
    lossless = {
        f"lossless.{key}": str(getattr(known.lossless, key).value)
        for key in ("dscp", "priority", "cnp_dscp", "cnp_priority")
    }
    assert stated == {
        "mtu": str(known.mtu_bytes.value),
        "bfd": str(EthernetSpec().bfd).lower(),
        **lossless,
        "lossless.headroom_sharing": str(LosslessSpec().headroom_sharing),
    }
    assert set(stated) == {key for key in EthernetSpec.model_fields if key != "lossless"} | {
        f"lossless.{key}" for key in LosslessSpec.model_fields
    }


def test_the_traffic_class_byte_of_the_mark() -> None:
    """The mark is the upper six bits of the byte."""
    assert f"traffic class byte {ethernet_figures().lossless.dscp.value << 2}" in PAGE


def test_columns_of_hosts() -> None:
    text = PAGE.partition("\n| column | meaning |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"`([a-z_]+)`", text)) == COLUMNS


def test_figures_of_the_formula() -> None:
    known = headroom_figures()
    packet, pause = known.lossless_packet_bytes.value, known.pause_frame_bytes.value
    assert f"xoff      = {packet:,} + fill" in PAGE
    assert f"mtu + {pause} + 2" in PAGE
    assert f"{known.propagation_m_per_s.value // 1000:,} km/s" in PAGE
    marking = ethernet_figures().marking
    assert (
        f"from {marking.least_bytes.value:,} bytes in a queue on, all of them from {marking.most_bytes.value:,}" in PAGE
    )
