"""Model presets: the published shape and size of well-known models, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ibplan.document import read_document, validate
from ibplan.units import Scaled

_FILE = Path(__file__).parent / "data" / "models.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


class Attention(_Part):
    """How a layer attends. `mla` (latent attention) states its low-rank widths, the others `head_dim`.

    `bias`: on q, k and v only, or on the output projection too. `window`: length of the sliding window; every
    `full_every_n_layers`-th layer attends to everything instead (absent: none does).
    """

    type: Literal["mha", "gqa", "mqa", "mla"]
    heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1)
    head_dim: int | None = Field(default=None, ge=1)
    bias: Literal["qkv", "all"] | None = None
    qk_norm: bool = False
    sinks: bool = False
    window: int | None = Field(default=None, ge=1)
    full_every_n_layers: int | None = Field(default=None, ge=2)
    q_latent: int | None = Field(default=None, ge=1)
    kv_latent: int | None = Field(default=None, ge=1)
    rope_dim: int | None = Field(default=None, ge=1)
    qk_nope_dim: int | None = Field(default=None, ge=1)
    v_dim: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _widths_are_stated(self) -> Attention:
        latent = (self.kv_latent, self.rope_dim, self.qk_nope_dim, self.v_dim)
        if (None in latent) if self.type == "mla" else self.head_dim is None:
            raise ValueError("mla states kv_latent, rope_dim, qk_nope_dim and v_dim; other attention states head_dim")
        return self

    def windowed_layers(self, layers: int) -> int:
        """How many of a model's layers attend to the window only."""
        if self.window is None:
            return 0
        return layers if self.full_every_n_layers is None else layers - layers // self.full_every_n_layers

    @property
    def kv_values_per_token(self) -> int:
        """Values that one layer keeps per token in the key-value cache."""
        if self.type == "mla":
            return (self.kv_latent or 0) + (self.rope_dim or 0)
        return 2 * self.kv_heads * (self.head_dim or 0)


class Ffn(_Part):
    """The dense feed-forward part; in MoE models only the dense layers have it. `gated`: three matrices, not two."""

    width: int = Field(ge=1)
    gated: bool
    bias: bool = False
    norm: Literal["layernorm", "layernorm_nobias", "rmsnorm"]
    norms_per_layer: int = Field(ge=1, le=8)


class Experts(_Part):
    """The experts of an MoE model: in every `every_n_layers`-th layer after the first dense ones."""

    routed: int = Field(ge=1)
    shared: int = Field(ge=0)
    per_token: int = Field(ge=1)
    ffn_width: int = Field(ge=1)
    first_dense_layers: int = Field(default=0, ge=0)
    every_n_layers: int = Field(default=1, ge=1)
    bias: bool = False
    router_bias: bool = False

    def moe_layers(self, layers: int) -> int:
        """How many of a model's layers have experts."""
        return (layers - self.first_dense_layers) // self.every_n_layers


class Preset(_Part):
    """A published model. `params_active` per token; equal to the total for dense models.

    `pretrain_sequence` and `pretrain_tokens` are as commonly reported and were not re-read.
    """

    id: str
    name: str
    params_total: Scaled
    params_active: Scaled
    params_source: str
    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)
    attention: Attention
    ffn: Ffn
    experts: Experts | None = None
    vocab: int = Field(ge=1)
    context: int = Field(ge=1)
    tied_embeddings: bool
    learned_positions: int | None = Field(default=None, ge=1)
    extra_params: int | None = Field(default=None, ge=1)
    mtp_layers: int | None = Field(default=None, ge=1)
    pretrain_sequence: int | None = Field(default=None, ge=1)
    pretrain_tokens: Scaled | None = None
    confidence: Literal["high", "medium", "low"]
    sources: tuple[str, ...] = Field(min_length=1)
    notes: str | None = None


class _File(_Part):
    models: tuple[Preset, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> _File:
        ids = [model.id for model in self.models]
        if len(set(ids)) != len(ids):
            raise ValueError("an id is used twice")
        return self


@lru_cache(maxsize=1)
def load_presets() -> Mapping[str, Preset]:
    """The packaged presets by id, in the order of the file."""
    file = validate(_File, read_document(_FILE, "ibplan/workload/data/models.yaml"))
    return MappingProxyType({model.id: model for model in file.models})
