"""The shape of a model: layers and widths."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.workload.presets import Attention, Experts, Ffn


class ShapeError(ValueError):
    """The model cannot be used: the key of the spec's `model` that is wrong, what, and what to do."""

    def __init__(self, key: str | None, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.remedy = remedy

    @property
    def at(self) -> tuple[str, ...]:
        """Where in the spec."""
        return ("model",) if self.key is None else ("model", self.key)


@dataclass(frozen=True, slots=True)
class ModelShape:
    """All that the arithmetic needs of a model. `assumed`: what was derived or assumed, in sentences.

    A layer is a mixture of experts as `experts` says; `ffn` is that of the other layers. `extra_params` belong to no
    layer (a norm after the embedding). `pretrain_*`: how the published model was trained.
    """

    name: str
    layers: int
    hidden: int
    attention: Attention
    ffn: Ffn
    experts: Experts | None
    vocab: int
    tied_embeddings: bool
    learned_positions: int = 0
    extra_params: int = 0
    pretrain_sequence: int | None = None
    pretrain_tokens: int | None = None
    assumed: tuple[str, ...] = ()

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        return 0 if self.experts is None else self.experts.moe_layers(self.layers)

    @property
    def dense_layers(self) -> int:
        """Layers with a dense feed-forward part."""
        return self.layers - self.moe_layers

    @property
    def windowed_layers(self) -> int:
        """Layers that attend to a sliding window only."""
        return self.attention.windowed_layers(self.layers)
