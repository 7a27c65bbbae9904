"""When no design can be built or keeps the limits: the nearest changes that would, as a user would write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Final

from ibplan.errors import Unbuildable
from ibplan.plan.evaluate import Evaluated, evaluate
from ibplan.plan.forms import Form, default_uplink_gbps
from ibplan.plan.hosts import ServerModel
from ibplan.plan.judge import fits
from ibplan.plan.means import Means
from ibplan.plan.results import Nearest
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Spec
from ibplan.units import format_ratio

_PROBE_SERVERS: Final = 64
# A change is tried on every form that is kept, a size on each a score of times; forms of other fabrics once.
_MAX_KEPT: Final = 8
_MAX_OTHERS: Final = 256
_MAX_OTHERS_KEPT: Final = 32
# Designs whose lengths are looked at, from the cheapest on: hardly ever is it not the first that does.
_MAX_MEASURED: Final = 4
# Each group of attached hosts is placed anew in every form: above so many fewer forms are kept.
_ATTACHED_GROUPS: Final = 8
_RATIOS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(8))


@dataclass(frozen=True, slots=True)
class Search:
    """What the search for nearest changes needs. `pinned` = the id that a design must have, if the spec names one."""

    loaded: LoadedSpec
    server: ServerModel
    means: Means
    pinned: str | None = None

    @property
    def spec(self) -> Spec:
        """The spec that nothing fits."""
        return self.loaded.spec

    def best(self, forms: Iterable[Form]) -> Evaluated | None:
        """The cheapest fully priced design within all limits among some forms; its lengths are looked at last."""
        found = [e for e in _evaluated(forms, self) if e.capital.complete and self._keeps(e)]
        for quick in sorted(found, key=lambda e: (e.capital.usd, e.id))[:_MAX_MEASURED]:
            with suppress(Unbuildable):
                design = evaluate(quick.form, self.spec, self.means)
                if design.capital.complete and self._keeps(design):
                    return design
        return None

    def _keeps(self, design: Evaluated) -> bool:
        kept = fits(design, self.spec, self.server)
        broken = False in (kept.network_budget, kept.cluster_budget, kept.power, kept.facility_power)
        return not broken and self.pinned in (None, design.id)

    def most(self, forms: int) -> int:
        """How many of a number of forms are tried: fewer, the more groups of attached hosts each has."""
        return max(1, forms * _ATTACHED_GROUPS // max(_ATTACHED_GROUPS, len(self.spec.attached)))

    def key(self, name: str, tier: str) -> str:
        """The dotted key of a setting by tier: with the tier where the spec writes the setting as a mapping."""
        network = self.loaded.document.data.get("network")
        written = network.get(name) if isinstance(network, Mapping) else None
        return f"network.{name}.{tier}" if isinstance(written, Mapping) else f"network.{name}"


def nearest_changes(search: Search, forms: list[Form], other_fabrics: Iterable[Form]) -> tuple[Nearest, ...]:
    """The smallest change of each kind that gives a fully priced design within all limits; none of a kind if none does.

    Kinds: uplinks at the downlink speed, a higher oversubscription, packed units, another fabric, fewer GPUs. A pinned
    design is kept, so that only fewer GPUs can help it. Of many forms only those are changed that are cheapest when
    they are small, and only the first of other fabrics are tried: a change that would help another alone is not found.
    """
    affordable = _affordable(forms, search)
    asked = max((f.choices.leaf_ratio for f in affordable), default=Fraction(1))
    forms = affordable[: search.most(_MAX_KEPT)]
    others = list(islice(other_fabrics, search.most(_MAX_OTHERS)))
    others = _affordable(others, search)[: search.most(_MAX_OTHERS_KEPT)]
    changes = [_size_change(search, forms)]
    if search.pinned is None:
        changes = [
            _uplink_change(search, forms),
            _ratio_change(search, forms, asked),
            _packed_change(search, forms),
            _fabric_change(search, others),
            *changes,
        ]
    return tuple(change for change in changes if change is not None)


def _affordable(forms: list[Form], search: Search) -> list[Form]:
    """The forms worth trying, cheapest first: fully priced when small, and of each form the cheapest switch."""
    few = 1 if search.spec.on_compute else _PROBE_SERVERS  # one switch or one pair may not hold many
    small = {id(f): replace(f, request=replace(f.request, servers=min(few, f.request.servers))) for f in forms}
    cheapest: dict[tuple[object, ...], tuple[Decimal, Form]] = {}
    for form in forms:
        for probe in _evaluated([small[id(form)]], search):
            key, usd = (form.choices, probe.form_key), probe.capital.usd
            if probe.capital.complete and usd < cheapest.get(key, (usd + 1, form))[0]:
                cheapest[key] = (usd, form)
    return [form for _, form in sorted(cheapest.values(), key=lambda found: found[0])]


def _evaluated(forms: Iterable[Form], search: Search) -> Iterator[Evaluated]:
    quick = replace(search.means, lengths=False)
    for form in forms:
        try:
            yield evaluate(form, search.spec, quick)
        except Unbuildable:
            continue


def _nearest(change: str, value: str, found: Evaluated) -> Nearest:
    return Nearest(change, value, found.id, found.capital.usd.quantize(Decimal("0.01")))


def _uplink_change(search: Search, forms: list[Form]) -> Nearest | None:
    """Slower uplinks reach more switches: try the downlink speed where the default is faster."""
    faster = [f for f in forms if f.choices.leaf_uplink_gbps is None and f.request.leaf.up_gbps > f.hosts.gbps]
    found = search.best(with_slower_uplinks(f) for f in faster)
    return None if found is None else _nearest(search.key("uplink_gbps", "leaf"), str(found.form.hosts.gbps), found)


def with_slower_uplinks(form: Form) -> Form:
    """The form with leaf uplinks at the downlink speed instead of whole-cage speed."""
    gbps, spine = form.hosts.gbps, form.switches.spine.geometry
    spine_up = form.choices.spine_uplink_gbps or default_uplink_gbps(spine, form.switches.core.geometry, gbps)
    request = replace(
        form.request,
        leaf=replace(form.request.leaf, up_gbps=gbps),
        spine=replace(form.request.spine, down_gbps=gbps, up_gbps=spine_up),
    )
    return replace(form, choices=replace(form.choices, leaf_uplink_gbps=gbps), request=request)


def _ratio_change(search: Search, forms: list[Form], asked: Fraction) -> Nearest | None:
    for ratio in _RATIOS:
        if ratio > asked and (found := search.best(_with_ratio(f, ratio) for f in forms)) is not None:
            return _nearest(search.key("oversubscription", "leaf"), format_ratio(ratio), found)
    return None


def _with_ratio(form: Form, ratio: Fraction) -> Form:
    request = replace(form.request, leaf=replace(form.request.leaf, ratio=ratio))
    return replace(form, choices=replace(form.choices, leaf_ratio=ratio), request=request)


def _packed_change(search: Search, forms: list[Form]) -> Nearest | None:
    whole = [f for f in forms if f.choices.partial_units == "whole"]
    packed = (
        replace(
            f, choices=replace(f.choices, partial_units="packed"), request=replace(f.request, partial_units="packed")
        )
        for f in whole
    )
    found = search.best(packed)
    return None if found is None else _nearest("network.partial_units", "packed", found)


def _fabric_change(search: Search, other_fabrics: list[Form]) -> Nearest | None:
    found = search.best(other_fabrics)
    return None if found is None else _nearest("fabrics", found.form.fabric, found)


def _size_change(search: Search, forms: list[Form]) -> Nearest | None:
    """The most servers that fit, by bisection over whole servers, under the key that the spec uses.

    None where the spec states both GPUs and servers: no single change keeps the two in step.
    """
    spec = search.spec
    if spec.gpus is not None and spec.servers is not None:
        return None
    low, high = 0, max((f.request.servers for f in forms), default=1) - 1
    best: Evaluated | None = None
    while low < high:
        middle = (low + high + 1) // 2
        found = search.best(replace(f, request=replace(f.request, servers=middle)) for f in forms)
        if found is None:
            high = middle - 1
        else:
            low, best = middle, found
    if best is None:
        return None
    servers = best.network.request.servers
    if spec.gpus is None:
        return _nearest("servers", str(servers), best)
    return _nearest("gpus", str(servers * search.server.gpus), best)
