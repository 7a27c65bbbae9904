"""When no design can be built or keeps the limits: the nearest changes that would, as a user would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ibplan.errors import Unbuildable
from ibplan.parts.offers import PartsBook
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.forms import Form, default_uplink_gbps
from ibplan.plan.hosts import ServerModel
from ibplan.plan.judge import fits
from ibplan.plan.results import Nearest
from ibplan.spec.models import Spec
from ibplan.units import format_ratio

_PROBE_SERVERS = 64
_RATIOS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(8))


def nearest_changes(
    forms: list[Form], other_fabrics: list[Form], spec: Spec, server: ServerModel, book: PartsBook
) -> tuple[Nearest, ...]:
    """The smallest change of each kind that gives a fully priced design within all limits; none of a kind if none does.

    Kinds: uplinks at the downlink speed, a higher oversubscription, packed units, another fabric, fewer GPUs.
    """

    def fitting(tried: Iterable[Form]) -> Evaluated | None:
        found = [e for e in _evaluated(tried, spec, book) if e.capital.complete and _keeps(e, spec, server)]
        return min(found, key=lambda e: (e.capital.usd, e.id), default=None)

    forms, other_fabrics = _affordable(forms, spec, book), _affordable(other_fabrics, spec, book)
    changes = [
        _uplink_change(forms, fitting),
        _ratio_change(forms, fitting),
        _packed_change(forms, fitting),
        _fabric_change(other_fabrics, fitting),
        _size_change(forms, server, "servers" if spec.gpus is None else "gpus", fitting),
    ]
    return tuple(change for change in changes if change is not None)


def _affordable(forms: list[Form], spec: Spec, book: PartsBook) -> list[Form]:
    """The forms worth trying: fully priced when they are small, and of each form the cheapest switch."""
    small = {
        id(f): replace(f, request=replace(f.request, servers=min(_PROBE_SERVERS, f.request.servers))) for f in forms
    }
    cheapest: dict[tuple[object, ...], tuple[Decimal, Form]] = {}
    for form in forms:
        for probe in _evaluated([small[id(form)]], spec, book):
            key, usd = (form.choices, probe.form_key), probe.capital.usd
            if probe.capital.complete and usd < cheapest.get(key, (usd + 1, form))[0]:
                cheapest[key] = (usd, form)
    return [form for _, form in cheapest.values()]


def _evaluated(forms: Iterable[Form], spec: Spec, book: PartsBook) -> Iterator[Evaluated]:
    for form in forms:
        try:
            yield evaluate(form, spec, book)
        except Unbuildable:
            continue


def _keeps(design: Evaluated, spec: Spec, server: ServerModel) -> bool:
    kept = fits(design, spec, server)
    return False not in (kept.network_budget, kept.cluster_budget, kept.power, kept.facility_power)


_Fitting = Callable[[Iterable[Form]], Evaluated | None]


def _nearest(change: str, value: str, found: Evaluated) -> Nearest:
    return Nearest(change, value, found.id, found.capital.usd.quantize(Decimal("0.01")))


def _uplink_change(forms: list[Form], fitting: _Fitting) -> Nearest | None:
    """Slower uplinks reach more switches: try the downlink speed where the default is faster."""
    faster = [f for f in forms if f.choices.leaf_uplink_gbps is None and f.request.leaf.up_gbps > f.hosts.gbps]
    found = fitting(_with_uplink(f) for f in faster)
    return None if found is None else _nearest("network.uplink_gbps", str(found.form.hosts.gbps), found)


def _with_uplink(form: Form) -> Form:
    gbps, spine = form.hosts.gbps, form.switches.spine.geometry
    spine_up = form.choices.spine_uplink_gbps or default_uplink_gbps(spine, form.switches.core.geometry, gbps)
    request = replace(
        form.request,
        leaf=replace(form.request.leaf, up_gbps=gbps),
        spine=replace(form.request.spine, down_gbps=gbps, up_gbps=spine_up),
    )
    return replace(form, choices=replace(form.choices, leaf_uplink_gbps=gbps), request=request)


def _ratio_change(forms: list[Form], fitting: _Fitting) -> Nearest | None:
    asked = max((f.choices.leaf_ratio for f in forms), default=Fraction(1))
    for ratio in _RATIOS:
        if ratio > asked and (found := fitting(_with_ratio(f, ratio) for f in forms)) is not None:
            return _nearest("network.oversubscription", format_ratio(ratio), found)
    return None


def _with_ratio(form: Form, ratio: Fraction) -> Form:
    request = replace(form.request, leaf=replace(form.request.leaf, ratio=ratio))
    return replace(form, choices=replace(form.choices, leaf_ratio=ratio), request=request)


def _packed_change(forms: list[Form], fitting: _Fitting) -> Nearest | None:
    whole = [f for f in forms if f.choices.partial_units == "whole"]
    packed = (
        replace(
            f, choices=replace(f.choices, partial_units="packed"), request=replace(f.request, partial_units="packed")
        )
        for f in whole
    )
    found = fitting(packed)
    return None if found is None else _nearest("network.partial_units", "packed", found)


def _fabric_change(other_fabrics: list[Form], fitting: _Fitting) -> Nearest | None:
    found = fitting(other_fabrics)
    return None if found is None else _nearest("fabrics", found.form.fabric, found)


def _size_change(forms: list[Form], server: ServerModel, key: str, fitting: _Fitting) -> Nearest | None:
    """The most servers that fit, by bisection over whole servers, under the key that the spec uses."""
    low, high = 0, max((f.request.servers for f in forms), default=1) - 1
    best: Evaluated | None = None
    while low < high:
        middle = (low + high + 1) // 2
        found = fitting(replace(f, request=replace(f.request, servers=middle)) for f in forms)
        if found is None:
            high = middle - 1
        else:
            low, best = middle, found
    if best is None:
        return None
    size = best.network.request.servers * (server.gpus if key == "gpus" else 1)
    return _nearest(key, str(size), best)
