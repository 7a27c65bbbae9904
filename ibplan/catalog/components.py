"""What joins devices: transceivers, cables, and the recipes that make a link of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ibplan.catalog.base import Confidence, Entry, Form, HeatSink, Id, LinkLayer, Medium, Power, Sourced, Status
from ibplan.units import Gbps


def _fraction(value: Any) -> Any:
    if isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError('a fraction is written like 2 or "1/2"') from None
    return value


class Fiber(Entry):
    """The optical face of a module or a cable end."""

    kind: Literal["multimode", "single_mode"]
    connector: Literal["MPO-12", "MPO-16", "LC", "MTP-4"]
    polish: Literal["APC", "UPC"] | None


class Module(Sourced):
    """A transceiver. `links` links of `gbps` each, `lanes_per_link` electrical lanes of `lane_gbps`.

    `line_gbps` is the rate of one optical lane (a fibre or a wavelength): a 400G DR4 in a QSFP-DD has 8 electrical
    lanes of 50 and 4 optical ones of 100. `cable_ports` fibre connectors face the cable. `compatible_with` names the
    maker's part that it stands in for.
    """

    part_number: str | None = None
    link_layers: tuple[LinkLayer, ...] = Field(min_length=1)
    form: Form
    heat_sink: HeatSink
    links: int = Field(ge=1, le=8)
    gbps: Gbps
    lanes_per_link: int = Field(ge=1, le=8)
    lane_gbps: int = Field(ge=1)
    line_gbps: int = Field(ge=1)
    fiber: Fiber
    cable_ports: int = Field(ge=1, le=8)
    reach_m: float | None = Field(default=None, gt=0)
    power: Power = Power()
    compatible_with: Id | None = None


class Cable(Sourced):
    """A cable as bought. `ends_b` far ends (a splitter has several).

    `part_number_by_m` maps a length in metres to a part number. `end_power_w` is drawn at each end, in watts.
    `lengths_m` are the lengths sold; a cable that is made to order has `order_step_m` instead: any multiple of it. With
    neither, nobody knows which lengths can be had. `polarity` is the type of an MPO cable; `crossed`: of an LC pair.
    """

    part_number: str | None = None
    part_number_by_m: dict[Annotated[str, Field(pattern=r"^[0-9]{1,5}([.][0-9]{1,2})?$")], str] = Field(
        default_factory=dict
    )
    kind: Literal["fiber", "dac", "acc", "aoc", "rj45"]
    form_a: Form | None = None
    form_b: Form | None = None
    heat_sink_a: HeatSink | None = None
    heat_sink_b: HeatSink | None = None
    fiber_a: Fiber | None = None
    fiber_b: Fiber | None = None
    ends_b: int = Field(default=1, ge=1, le=8)
    lengths_m: tuple[Annotated[float, Field(gt=0, le=100_000)], ...] = ()
    order_step_m: float | None = Field(default=None, gt=0, le=1000)
    polarity: Literal["A", "B", "C", "crossed"] | None = None
    end_power_w: float | None = Field(default=None, ge=0)
    compatible_with: Id | None = None

    @model_validator(mode="after")
    def _ends_are_stated(self) -> Cable:
        if self.kind == "fiber" and (self.fiber_a is None or self.fiber_b is None):
            raise ValueError("a fibre cable states fiber_a and fiber_b")
        if self.kind != "fiber" and (self.form_a is None or self.form_b is None):
            raise ValueError("a copper or active optical cable states form_a and form_b")
        if self.lengths_m and self.order_step_m is not None:
            raise ValueError("state lengths_m or order_step_m: a cable is sold in some lengths or made to order")
        return self

    def part_number_at(self, length_m: float | None) -> str | None:
        """The part number of a length in metres; that of the cable where no length has its own."""
        by_length = {float(text): number for text, number in self.part_number_by_m.items()}
        return self.part_number if length_m is None else by_length.get(length_m, self.part_number)


class RecipeEnd(Entry):
    """One end of a link: the cage classes it fits, links per cage, lanes, module (None for a cable with heads)."""

    cage_classes: tuple[Id, ...] = Field(min_length=1)
    links_per_cage: int = Field(ge=1, le=16)
    lanes_per_link: int = Field(ge=1, le=16)
    lane_gbps: int = Field(ge=1)
    module: Id | None = None


class Recipe(Entry):
    """How one planned link becomes parts: two ends, a cable, and how many links one cable carries.

    `links_per_cable` is 1 for a straight fibre, 2 or 4 for a splitter, 1/2 where a link needs two fibres.
    `same_peer`: the cable binds all its links to one cage at each end. `basis: inferred` marks a pair that no maker
    states.
    """

    id: Id
    link_layer: LinkLayer
    gbps: Gbps
    medium: Medium
    end_a: RecipeEnd
    end_b: RecipeEnd
    cable: Id
    links_per_cable: Annotated[Fraction, BeforeValidator(_fraction)]
    same_peer: bool = False
    min_length_m: float | None = Field(default=None, ge=0)
    max_length_m: float | None = Field(default=None, gt=0)
    basis: Literal["stated", "inferred"] = "stated"
    status: Status
    status_note: str | None = None
    confidence: Confidence
    constraints: tuple[str, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _heads_or_modules(self) -> Recipe:
        optical = self.medium in ("multimode", "single_mode")
        modules = (self.end_a.module is not None, self.end_b.module is not None)
        if not optical and any(modules):
            raise ValueError("copper and active optical cables bring their own heads: no modules")
        return self
