"""The findings of a plan: what its user should know, once each, in a stable order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from ibplan.catalog.entries import Module
from ibplan.economics.capital import unknown_power_parts
from ibplan.errors import Unbuildable
from ibplan.fabric.sizing import size_fabric
from ibplan.findings import Finding, finding, plural
from ibplan.parts.select import LinkParts
from ibplan.plan.cable_notes import cable_findings
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.hosts import ServerModel
from ibplan.plan.judge import Judged
from ibplan.plan.nearest import with_slower_uplinks
from ibplan.plan.site_notes import site_findings
from ibplan.spec.load import LoadedSpec
from ibplan.units import format_ratio

_GLASS = ("multimode", "single_mode")


def spec_findings(loaded: LoadedSpec, server: ServerModel, servers: int, gpus: int) -> Iterator[Finding]:
    """What the spec itself gives rise to."""
    spec = loaded.spec
    if spec.gpus is not None and gpus != spec.gpus:
        yield finding(
            "gpus-rounded-up",
            pointer="/gpus",
            asked=plural(spec.gpus, "GPU"),
            per_server=plural(server.gpus, "GPU"),
            planned=plural(gpus, "GPU"),
            servers=plural(servers, "server"),
        )
    if server.domain_servers > 1 and servers % server.domain_servers:
        racks = -(-servers // server.domain_servers)
        yield finding(
            "domain-not-filled",
            pointer="/gpus" if spec.gpus is not None else "/servers",
            servers=plural(servers, "server"),
            per_domain=plural(server.domain_servers, "server"),
            racks=plural(racks, "rack"),
            capacity=racks * server.domain_servers,
        )
    for tier, ratios in (("leaf", spec.network.oversubscription.leaf), ("spine", spec.network.oversubscription.spine)):
        for ratio in ratios:
            if ratio < Fraction(1, 2):
                yield finding(
                    "ratio-below-half",
                    pointer=f"/network/oversubscription/{tier}",
                    ratio=format_ratio(ratio),
                    swapped=format_ratio(1 / ratio),
                )
    rack = loaded.spec.site.rack
    unpriced = [what for what, usd in (("racks", rack.price), ("rack PDUs", rack.pdu_price)) if usd is None]
    if unpriced:
        yield finding("racks-not-priced", what=" and ".join(unpriced))


def design_findings(judged: Judged) -> Iterator[Finding]:
    """What one design gives rise to."""
    design = judged.design
    if design.form.choices.rail_only:
        yield finding("rail-only", design=design.id)
    yield from _sizing_findings(design)
    yield from site_findings(design)
    yield from _parts_findings(design)
    yield from _money_findings(design)
    if design.out_of_reach is not None:
        gpus = f"{design.form.last_gpus:,} GPUs"
        yield finding(
            "growth-out-of-reach", design=design.id, pointer="/growth", gpus=gpus, reason=design.out_of_reach.text
        )
    yield from _side_findings(design)
    if judged.verdict is not None:
        code = "ethernet-enough" if judged.verdict.enough else "ethernet-not-enough"
        yield finding(code, design=design.id, reason=judged.verdict.reason)


def _sizing_findings(design: Evaluated) -> Iterator[Finding]:
    fabric = design.network.fabric
    if fabric.added_leaves:
        yield finding(
            "reserved-added-leaves",
            design=design.id,
            ports=plural(design.network.request.reserved_total, "reserved port"),
            leaves=plural(fabric.added_leaves, "leaf", "leaves"),
        )
    if fabric.split_domain:
        yield finding(
            "domain-split",
            design=design.id,
            servers=design.network.request.domain_servers,
            unit=fabric.unit.servers,
        )
    yield from _resilience_findings(design)
    if design.network.request.leaf.up_gbps != design.network.request.leaf.down_gbps:
        return
    for tier in design.network.tiers:
        total = tier.ports_used + tier.ports_free
        if total and tier.ports_used / total < 0.5:
            yield finding(
                "low-port-use",
                design=design.id,
                tier=tier.tier,
                used=f"{tier.ports_used:,}",
                total=f"{total:,}",
                share=tier.ports_used / total,
            )


def _side_findings(design: Evaluated) -> Iterator[Finding]:
    """What the storage and management networks give rise to. What the spec itself leaves out needs no word."""
    for row in design.side.left_out:
        if not row.by_spec:
            yield finding("network-left-out", design=design.id, network=row.what, reason=row.reason)
    for note in design.side.notes:
        yield finding(note.code, design=design.id, pointer=note.pointer, **note.fields)


def _resilience_findings(design: Evaluated) -> Iterator[Finding]:
    """Single switches that everything hangs on, and tiers that slower uplinks would save."""
    fabric, form = design.network.fabric, design.form
    for pod in fabric.pods[:1]:
        alone = pod.spines == 1 or (fabric.tiers == 1 and not fabric.isl)
        if alone and design.network.request.servers > 1:
            yield finding("single-switch", design=design.id, tier="spine" if fabric.tiers > 1 else "leaf")
    request = design.network.request
    if fabric.tiers < 3 or form.choices.leaf_uplink_gbps is not None or request.leaf.up_gbps <= form.hosts.gbps:
        return
    slower = with_slower_uplinks(form)
    with suppress(Unbuildable):
        found = size_fabric(slower.request)
        if found.tiers < fabric.tiers:
            yield finding(
                "slower-uplinks-fewer-tiers",
                design=design.id,
                tiers=fabric.tiers,
                fewer=found.tiers,
                gbps=form.hosts.gbps,
                switches=plural(design.network.switch_count, "switch", "switches"),
                instead=f"{(found.leaf_count + found.spine_count) * form.fabrics:,}",
            )


def _parts_findings(design: Evaluated) -> Iterator[Finding]:
    for name, parts in design.all_parts:
        recipe = parts.recipe
        kind = parts.link.kind if name == "compute" else f"{name} {parts.link.kind}"
        if recipe is None:
            if parts.link.kind == "reserved" and not design.form.has_managers:
                ports = plural(parts.link.count, "reserved port")
                yield finding("reserved-far-end-unknown", design=design.id, ports=ports)
            else:
                yield finding("optics-unknown", design=design.id, kind=kind)
            continue
        if recipe.basis == "inferred":
            yield finding(
                "inferred-recipe",
                design=design.id,
                kind=kind,
                module_a=_name(parts, near=True),
                module_b=_name(parts, near=False),
            )
    media = {p.recipe.medium for p in design.parts if p.recipe is not None and p.recipe.medium in _GLASS}
    if len(media) > 1:
        yield finding("mixed-media", design=design.id)
    yield from cable_findings(design)
    yield from _status_findings(design)


def _name(parts: LinkParts, *, near: bool) -> str:
    offer = parts.module_a if near else parts.module_b
    return offer.entry.id if offer is not None else "its cable"


def _status_findings(design: Evaluated) -> Iterator[Finding]:
    """Parts that may not be orderable any more, once each."""
    entries = {}
    for _, parts in design.all_parts:
        for offer in (parts.module_a, parts.module_b, parts.cable):
            if offer is not None and offer.entry.status != "active":
                entries[offer.entry.id] = offer.entry
    for entry in entries.values():
        note = entry.status_note or (entry.notes if isinstance(entry, Module) else None) or "no note"
        yield finding("part-status", design=design.id, part=entry.id, status=entry.status, note=note)
    switches = design.form.switches
    models = [switches.leaf, switches.spine, switches.core, *(n.switches.leaf for n in design.side.planned)]
    for model in {m.id: m for m in models}.values():
        if model.entry is not None and model.entry.part_numbers and not _has_airflow(design, model.id):
            have = "/".join(sorted(model.entry.part_numbers))
            yield finding("airflow-not-sold", design=design.id, switch=model.id, have=have)


def _has_airflow(design: Evaluated, switch: str) -> bool:
    return any(i.part_number is not None for i in design.items if i.part == switch) or not any(
        i.part == switch for i in design.items
    )


def _money_findings(design: Evaluated) -> Iterator[Finding]:
    unpriced = design.capital.unpriced
    if unpriced:
        names = ", ".join(f"{quantity:,} {part}" for part, quantity in unpriced)
        yield finding("unpriced-parts", design=design.id, parts=names)
    if design.capital.estimated_fraction > 0:
        yield finding("estimated-prices", design=design.id, share=design.capital.estimated_fraction)
    assumed = [o for _, p in design.all_parts for o in (p.module_a, p.module_b) if o is not None and o.power_assumed]
    counted = {o.entry.id: o.named.id for o in assumed if o.power.max_w is not None}
    if counted:
        yield finding("power-assumed", design=design.id, parts=", ".join(counted), named=", ".join(counted.values()))
    unknown = unknown_power_parts(design.items)
    if unknown:
        yield finding("power-unknown", design=design.id, parts=", ".join(unknown))
