"""A shape for a model of which only the size is known: between published dense models, of that size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.workload.parameters import layer_parameters, matrices_of, total_parameters
from ibplan.workload.presets import Attention, Ffn
from ibplan.workload.shape_model import ModelShape, ShapeError

_FILE = Path(__file__).parent / "data" / "shape_ladder.yaml"
# How far the derived shape may be from the size that is asked.
TOLERANCE: Final = 0.015


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Aspect(_Model):
    """hidden / layers of a published model."""

    parameters: float = Field(gt=0)
    aspect: float = Field(gt=0)


class HeadRule(_Model):
    """Heads and embeddings of models from a size on."""

    parameters_from: float
    head_dim: int
    kv_heads: int
    layers_multiple: int
    vocab: int
    tied_embeddings: bool


class Ladder(_Model):
    """What a shape is derived from."""

    source: str
    aspects: tuple[Aspect, ...] = Field(min_length=2)
    ffn_ratio: float
    ffn_multiple: int
    heads: tuple[HeadRule, ...] = Field(min_length=1)
    largest_parameters: float


@lru_cache(maxsize=1)
def ladder() -> Ladder:
    """The packaged ladder."""
    return validate(Ladder, read_document(_FILE))


def aspect_of(parameters: int) -> float:
    """hidden / layers at a size: interpolated over the logarithm of the size, held at the ends."""
    rows = ladder().aspects
    if parameters <= rows[0].parameters:
        return rows[0].aspect
    for low, high in pairwise(rows):
        if parameters <= high.parameters:
            share = log(parameters / low.parameters) / log(high.parameters / low.parameters)
            return low.aspect + share * (high.aspect - low.aspect)
    return rows[-1].aspect


def shape_of_size(parameters: int) -> ModelShape:
    """A dense shape whose total is within TOLERANCE of `parameters`. Raises ShapeError if no shape is plausible.

    Of the shapes with that total, the one whose hidden / layers and width / hidden are nearest to published models'.
    """
    rules = ladder()
    rule = next((r for r in reversed(rules.heads) if parameters >= r.parameters_from), None)
    if rule is None or parameters > rules.largest_parameters:
        low, high = rules.heads[0].parameters_from, rules.largest_parameters
        message = f"no shape is derived for {parameters:,} parameters: only between {low:,.0f} and {high:,.0f}"
        raise ShapeError("parameters", message, "state the shape: layers, hidden, heads, ffn, vocab")
    best = min(_fitting(parameters, rule), key=lambda found: found.score, default=None)
    if best is None:
        message = f"no plausible shape has {parameters:,} parameters"
        raise ShapeError("parameters", message, "state the shape: layers, hidden, heads, ffn, vocab")
    return _shape(parameters, rule, best.layers, best.hidden, best.width)


class _Found(NamedTuple):
    score: tuple[float, int]
    layers: int
    hidden: int
    width: int


def _fitting(parameters: int, rule: HeadRule) -> Iterator[_Found]:
    """Shapes of about that size: heads and layers in the rule's multiples, the feed-forward width solved for."""
    rules, aspect = ladder(), aspect_of(parameters)
    # layers x (2.5 + 3 ratio) hidden^2 = parameters, with layers = hidden / aspect: hidden without embeddings.
    about = (parameters * aspect / (2.5 + 3 * rules.ffn_ratio)) ** (1 / 3)
    step, multiple = rule.kv_heads * rule.head_dim, rules.ffn_multiple
    for hidden in range(step, int(1.5 * about) + 2 * step, step):
        thin = _shape(parameters, rule, 1, hidden, multiple)
        layer, outside = layer_parameters(thin), total_parameters(thin) - layer_parameters(thin)
        wider = matrices_of(thin.ffn) * hidden * multiple
        most = int(hidden / aspect * 1.5) + 2 * rule.layers_multiple
        for layers in range(rule.layers_multiple, most, rule.layers_multiple):
            bare = outside + layers * layer
            steps = max(0, round((parameters - bare) / (layers * wider)))
            off = abs(bare + steps * layers * wider - parameters)
            if off <= TOLERANCE * parameters:
                width = multiple * (1 + steps)
                score = abs(log(hidden / layers / aspect)) + abs(log(width / hidden / rules.ffn_ratio))
                yield _Found((score, off), layers, hidden, width)


def _shape(parameters: int, rule: HeadRule, layers: int, hidden: int, width: int) -> ModelShape:
    kv_heads, heads = rule.kv_heads, hidden // rule.head_dim
    tied = "one embedding matrix" if rule.tied_embeddings else "two embedding matrices"
    return ModelShape(
        name=f"{parameters / 1e9:.6g}B dense",
        layers=layers,
        hidden=hidden,
        attention=Attention(
            type="mha" if heads == kv_heads else "gqa", heads=heads, kv_heads=kv_heads, head_dim=rule.head_dim
        ),
        ffn=Ffn(width=width, gated=True, norm="rmsnorm", norms_per_layer=2),
        experts=None,
        vocab=rule.vocab,
        tied_embeddings=rule.tied_embeddings,
        assumed=(
            "the shape is derived from the size, between published dense models",
            f"{layers} layers of {hidden:,}, {heads} heads, {kv_heads} key-value heads",
            f"gated feed-forward of width {width:,}",
            f"vocabulary of {rule.vocab:,}, {tied}",
        ),
    )
