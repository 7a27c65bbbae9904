"""Do the parts of a recipe fit: plug and cage, lanes, module and fibre, one end and the other.

Each rule is a function that yields plain sentences that say why not. Unknown facts (None, a cage class that no device
has) are not held against a recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ibplan.catalog.classes import OPTICS_BUILT_IN, CageClass
from ibplan.catalog.entries import Cable, Fiber, Form, HeatSink, Module, Recipe, RecipeEnd

_CABLE_KINDS = {
    "passive_copper": ("dac", "rj45"),
    "active_copper": ("acc",),
    "aoc": ("aoc",),
    "multimode": ("fiber",),
    "single_mode": ("fiber",),
}


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a recipe with the parts at it. `heads` of the cable are at this end."""

    name: str
    stated: RecipeEnd
    module: Module | None
    cable_form: Form | None
    cable_sink: HeatSink | None
    face: Fiber | None
    heads: int


def misfits(
    recipe: Recipe, modules: Mapping[str, Module], cables: Mapping[str, Cable], classes: Mapping[str, CageClass]
) -> list[str]:
    """Why the parts of a recipe do not fit; empty if they do. Every part named by the recipe must exist."""
    cable = cables[recipe.cable]
    a, b = recipe.end_a, recipe.end_b
    module_a = modules[a.module] if a.module is not None else None
    module_b = modules[b.module] if b.module is not None else None
    ends = (
        _End("end_a", a, module_a, cable.form_a, cable.heat_sink_a, cable.fiber_a, 1),
        _End("end_b", b, module_b, cable.form_b, cable.heat_sink_b, cable.fiber_b, cable.ends_b),
    )
    found = list(_line(recipe, cable, module_a, module_b))
    for end in ends:
        found += _module(recipe, end)
        found += _face(recipe, cable, end)
        for name in end.stated.cage_classes:
            if name in classes:
                found += _cage(recipe, cable, end, classes[name])
    return list(dict.fromkeys(found))


def _cage(recipe: Recipe, cable: Cable, end: _End, cage: CageClass) -> Iterator[str]:
    """Plug against cage: form, heat sink, lane rate, lanes."""
    if cable.kind == "fiber" and end.module is None:
        if cage.form not in OPTICS_BUILT_IN:
            yield f"{end.name} states no module, but a {cage.name} cage needs one for fibre"
        return
    part, form, sink = cable.id, end.cable_form, end.cable_sink
    if end.module is not None:
        part, form, sink = end.module.id, end.module.form, end.module.heat_sink
    if form is not None and form not in cage.takes:
        yield f"{part} is {form}, but a {cage.name} cage takes {' or '.join(sorted(cage.takes))}"
        return
    if form == "OSFP" and sink != cage.heat_sink:
        yield f"{part} is {sink or 'of unknown heat sink'}, but a {cage.name} cage takes {cage.heat_sink} modules"
    yield from _lanes(recipe, end, cage, part, form)


def _lanes(recipe: Recipe, end: _End, cage: CageClass, part: str, form: Form | None) -> Iterator[str]:
    """Optics run only the lane rate they are built for; copper and active cables can slow the lanes of a cage."""
    layer, rate = recipe.link_layer, end.stated.lane_gbps
    rates = cage.rates(layer)
    if not rates:
        return
    if end.module is not None and form == cage.form and rate not in rates:
        yield f"{part} has lanes of {rate} Gb/s, but a {cage.name} cage has {' or '.join(map(str, rates))}"
        return
    need, have = end.stated.links_per_cage * end.stated.lanes_per_link, cage.lanes_at(layer, rate)
    if need > have:
        yield f"{need} lanes of {rate} Gb/s at {end.name}, but a {cage.name} cage has {have}"


def _module(recipe: Recipe, end: _End) -> Iterator[str]:
    """Module against the recipe's end: link layer, lane rate, lanes, reach."""
    stated, module = end.stated, end.module
    if recipe.gbps > stated.lanes_per_link * stated.lane_gbps:
        yield f"{recipe.gbps} Gb/s at {end.name} on {stated.lanes_per_link} lanes of {stated.lane_gbps} Gb/s"
    if module is None:
        return
    if recipe.link_layer not in module.link_layers:
        yield f"{module.id} is not for {recipe.link_layer}"
    if module.lane_gbps != stated.lane_gbps:
        yield f"{module.id} has lanes of {module.lane_gbps} Gb/s, but {end.name} says {stated.lane_gbps}"
    need, have = stated.links_per_cage * stated.lanes_per_link, module.links * module.lanes_per_link
    if need > have:
        yield f"{need} lanes at {end.name}, but {module.id} has {have}"
    if recipe.max_length_m is not None and module.reach_m is not None and recipe.max_length_m > module.reach_m:
        yield f"max_length_m is {recipe.max_length_m:g}, but {module.id} reaches {module.reach_m:g} m"


def _face(recipe: Recipe, cable: Cable, end: _End) -> Iterator[str]:
    """Module against fibre, and how many connectors of the module or heads of the cable one cage uses."""
    per_cage = Fraction(end.stated.links_per_cage)
    used = per_cage * end.heads / recipe.links_per_cable
    if cable.kind != "fiber":
        if used < 1:
            yield f"{cable.id} carries {recipe.links_per_cable} links, but {end.name} has cages of {per_cage} only"
        return
    if end.module is None or end.face is None:
        return
    for why in unlike_faces(end.module.fiber, end.face):
        yield f"{end.module.id} and {cable.id} do not mate: {why}"
    if used > end.module.cable_ports:
        yield f"{used} fibres at {end.name}, but {end.module.id} has {end.module.cable_ports} connectors"


def unlike_faces(one: Fiber, other: Fiber) -> Iterator[str]:
    """Why two optical faces do not mate. An MTP-4 is an MPO-12 with four fibres; an unread polish is let pass."""
    if one.kind != other.kind:
        yield f"{one.kind} against {other.kind}"
    if one.connector.replace("MTP-4", "MPO-12") != other.connector.replace("MTP-4", "MPO-12"):
        yield f"{one.connector} against {other.connector}"
    if one.polish is not None and other.polish is not None and one.polish != other.polish:
        yield f"{one.polish} polish against {other.polish}"


def _line(recipe: Recipe, cable: Cable, a: Module | None, b: Module | None) -> Iterator[str]:
    """One end against the other over the cable."""
    if cable.kind not in _CABLE_KINDS[recipe.medium]:
        yield f"medium is {recipe.medium}, but {cable.id} is {cable.kind}"
    if cable.kind == "fiber":
        for module in (a, b):
            if module is not None and module.fiber.kind != recipe.medium:
                yield f"{module.id} is {module.fiber.kind}, but the medium is {recipe.medium}"
        if a is not None and b is not None and a.line_gbps != b.line_gbps:
            yield f"{a.id} sends {a.line_gbps} Gb/s a fibre or wavelength, {b.id} {b.line_gbps}: they cannot talk"
        return
    one, other = recipe.end_a, recipe.end_b
    if (one.lanes_per_link, one.lane_gbps) != (other.lanes_per_link, other.lane_gbps):
        yield "the lanes of a link must be the same at both ends of a cable with heads"


def unlike(stand_in: Module | Cable, original: Module | Cable) -> list[str]:
    """Why a compatible part cannot stand in for another; empty if it can."""
    if isinstance(stand_in, Module) and isinstance(original, Module):
        names: tuple[str, ...] = (
            "form",
            "heat_sink",
            "links",
            "gbps",
            "lanes_per_link",
            "lane_gbps",
            "line_gbps",
            "cable_ports",
        )
        faces = [(stand_in.fiber, original.fiber)]
    elif isinstance(stand_in, Cable) and isinstance(original, Cable):
        names = ("kind", "form_a", "form_b", "heat_sink_a", "heat_sink_b", "ends_b")
        faces = [
            (x, y)
            for x, y in ((stand_in.fiber_a, original.fiber_a), (stand_in.fiber_b, original.fiber_b))
            if x is not None and y is not None
        ]
    else:
        return ["one is a module, the other a cable"]
    found = [
        f"its {name} is {getattr(stand_in, name)}, not {getattr(original, name)}"
        for name in names
        if getattr(stand_in, name) != getattr(original, name)
    ]
    return found + [why for x, y in faces for why in unlike_faces(x, y)]
