"""Shapes and jobs that several tests look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ibplan.workload.job import TrainingJob
from ibplan.workload.mapping import RECOMPUTE, Mappings
from ibplan.workload.presets import Attention, Ffn
from ibplan.workload.shape import ModelShape, find_preset, preset_shape

MEASURED = Path(__file__).parents[1] / "measured"


def measured(name: str) -> Any:
    """A file of published figures."""
    return yaml.safe_load((MEASURED / name).read_text(encoding="utf-8"))


def gpt(layers: int, hidden: int, heads: int, vocab: int = 51200) -> ModelShape:
    """A model of GPT-3's kind: biases, matrices of 4 x hidden, tied embeddings, 2,048 learned positions."""
    return replace(
        preset("megatron-1t"),
        layers=layers,
        hidden=hidden,
        attention=Attention(type="mha", heads=heads, kv_heads=heads, head_dim=hidden // heads, bias="all"),
        ffn=Ffn(width=4 * hidden, gated=False, bias=True, norm="layernorm", norms_per_layer=2),
        vocab=vocab,
    )


def preset(name: str) -> ModelShape:
    """The shape of a preset."""
    return preset_shape(find_preset(name))


def job(shape: ModelShape, sequence: int = 2048, global_batch: int = 512, **changes: Any) -> TrainingJob:
    """A job in bf16."""
    settings: dict[str, Any] = {"tokens": None, "precision": "bf16", "recompute": "selective"} | changes
    return TrainingJob(shape=shape, sequence=sequence, global_batch=global_batch, **settings)


def mapping(*, recompute: str = "none", sequence_parallel: bool = True, **choices: int | list[int]) -> Mappings:
    """Mappings of which those choices are not 1 (ZeRO: 0); lists are as many mappings."""
    count = max([len(v) for v in choices.values() if isinstance(v, list)], default=1)
    names = ("tp", "pp", "dp", "cp", "ep", "micro_batch", "interleave", "zero")
    values = {name: choices.get(name, 0 if name == "zero" else 1) for name in names}
    return Mappings(
        **{name: np.resize(np.array(value), count) for name, value in values.items()},
        recompute=np.full(count, RECOMPUTE.index(recompute)),  # type: ignore[arg-type]
        sequence_parallel=np.full(count, sequence_parallel),
    )
