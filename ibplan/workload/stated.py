"""A model's shape as the spec states it, what it leaves out assumed, and what does not go together refused."""

from __future__ import annotations

from itertools import product

from ibplan.spec.models import ModelSpec
from ibplan.workload.parameters import total_parameters
from ibplan.workload.presets import Attention, Experts, Ffn
from ibplan.workload.shape_model import ModelShape, ShapeError

# A size is often a rounded name: Llama-2 7B has 6.74e9 parameters.
SIZE_TOLERANCE = 0.05
SHAPE_KEYS = tuple(key for key in ModelSpec.model_fields if key not in ("parameters", "preset"))
_MLA_KEYS = ("q_latent", "kv_latent", "rope_dim", "qk_nope_dim", "v_dim")
_MLA_NEEDED = _MLA_KEYS[1:]
_EXPERT_KEYS = ("experts_per_token", "shared_experts", "expert_ffn", "dense_layers", "moe_every")
_HEAD_DIM = 128
_FFN_MULTIPLE = 256
_VOCAB = 128_256


def of_size(shape: ModelShape, parameters: int | None) -> ModelShape:
    """The shape, if it has the stated size within SIZE_TOLERANCE. Raises ShapeError."""
    if parameters is None:
        return shape
    total = total_parameters(shape)
    if abs(total - parameters) <= SIZE_TOLERANCE * parameters:
        return shape
    message = (
        f"the shape has {total / 1e9:,.4g}B parameters and `parameters` says {parameters / 1e9:,.4g}B: "
        f"more than {SIZE_TOLERANCE:.0%} apart"
    )
    raise ShapeError("parameters", message, "correct one of the two, or leave `parameters` out")


def stated_shape(model: ModelSpec) -> ModelShape:
    """The stated shape. A size beside it settles what the shape leaves open, and has to agree.

    Raises ShapeError.
    """
    if model.layers is None or model.hidden is None:
        key = "layers" if model.layers is None else "hidden"
        raise ShapeError(None, f"the model's shape lacks {key}", "state layers and hidden, or a size alone")
    first: ShapeError | None = None
    # In this order: what most models of recent years are comes first.
    for gated, tied in product(_open(model.gated, True, False), _open(model.tied_embeddings, False, True)):
        try:
            return of_size(_shape(model, model.layers, model.hidden, gated, tied), model.parameters)
        except ShapeError as error:
            first = first or error
    raise first or AssertionError("product of non-empty tuples")


def _open(stated: bool | None, *choices: bool) -> tuple[bool, ...]:
    return choices if stated is None else (stated,)


def _shape(model: ModelSpec, layers: int, hidden: int, gated: bool, tied: bool) -> ModelShape:
    assumed: list[str] = []
    attention = _attention(model, hidden, assumed)
    width = _ffn_width(model, hidden, gated, assumed)
    if model.gated is None:
        assumed.append("gated feed-forward (three matrices)" if gated else "feed-forward of two matrices")
    if model.tied_embeddings is None:
        assumed.append("input and output embedding are one matrix" if tied else "embeddings not tied")
    if model.vocab is None:
        assumed.append(f"vocabulary of {_VOCAB:,}")
    return ModelShape(
        name="stated shape",
        layers=layers,
        hidden=hidden,
        attention=attention,
        ffn=Ffn(width=width, gated=gated, norm="rmsnorm", norms_per_layer=2),
        experts=_experts(model, layers, width, assumed),
        vocab=model.vocab or _VOCAB,
        tied_embeddings=tied,
        learned_positions=model.learned_positions or 0,
        assumed=tuple(assumed),
    )


def _attention(model: ModelSpec, hidden: int, assumed: list[str]) -> Attention:
    heads = model.heads
    if heads is None:
        size = model.head_dim or _HEAD_DIM
        if hidden % size:
            raise ShapeError("hidden", f"hidden {hidden:,} is not a multiple of a head's {size}", "state heads")
        heads = hidden // size
        assumed.append(f"{heads} heads of {size}")
    _check_window(model)
    if any(getattr(model, key) is not None for key in _MLA_KEYS):
        return _latent_attention(model, heads)
    kv_heads = model.kv_heads
    if kv_heads is None:
        kv_heads = heads
        assumed.append("as many key-value heads as heads")
    if heads % kv_heads:
        raise ShapeError("kv_heads", f"heads {heads} is not a multiple of kv_heads {kv_heads}", f"such as {heads}")
    if model.head_dim is None and hidden % heads:
        message = f"hidden {hidden:,} is not a multiple of heads {heads}"
        raise ShapeError("heads", message, "state head_dim if a head's width is not hidden / heads")
    return Attention(
        type="mha" if kv_heads == heads else "mqa" if kv_heads == 1 else "gqa",
        heads=heads,
        kv_heads=kv_heads,
        head_dim=model.head_dim or hidden // heads,
        window=model.window,
        full_every_n_layers=model.full_attention_every,
    )


def _check_window(model: ModelSpec) -> None:
    if model.full_attention_every is not None and model.window is None:
        message = "full_attention_every is said of models with a window, and there is none"
        raise ShapeError("full_attention_every", message, "state window, or leave it out")


def _latent_attention(model: ModelSpec, heads: int) -> Attention:
    missing = [key for key in _MLA_NEEDED if getattr(model, key) is None]
    if missing:
        stated = next(key for key in _MLA_KEYS if getattr(model, key) is not None)
        message = f"latent attention needs {', '.join(_MLA_NEEDED)}; missing: {', '.join(missing)}"
        raise ShapeError(stated, message)
    if model.head_dim is not None:
        raise ShapeError("head_dim", "latent attention states qk_nope_dim, rope_dim and v_dim, not head_dim")
    if model.kv_heads not in (None, heads):
        raise ShapeError("kv_heads", f"latent attention has as many key-value heads as heads: {heads}")
    return Attention(
        type="mla",
        heads=heads,
        kv_heads=heads,
        window=model.window,
        full_every_n_layers=model.full_attention_every,
        q_latent=model.q_latent,
        kv_latent=model.kv_latent,
        rope_dim=model.rope_dim,
        qk_nope_dim=model.qk_nope_dim,
        v_dim=model.v_dim,
    )


def _ffn_width(model: ModelSpec, hidden: int, gated: bool, assumed: list[str]) -> int:
    if model.ffn is not None:
        return model.ffn
    if model.experts and model.expert_ffn is not None and not model.dense_layers and (model.moe_every or 1) == 1:
        return model.expert_ffn  # no layer is dense
    # 4 x hidden with two matrices (GPT-3), and as many parameters with three: 2/3 of it (arXiv 2002.05202), rounded up
    # to a multiple that tensor ranks divide. For hidden 4096 that is the 11,008 of Llama-2 7B.
    width = -(-8 * hidden // (3 * _FFN_MULTIPLE)) * _FFN_MULTIPLE if gated else 4 * hidden
    assumed.append(f"feed-forward width of {width:,}")
    return width


def _experts(model: ModelSpec, layers: int, width: int, assumed: list[str]) -> Experts | None:
    if not model.experts:
        stated = [key for key in _EXPERT_KEYS if getattr(model, key)]
        if stated:
            raise ShapeError(stated[0], f"{stated[0]} is said of models with experts, and there are none")
        return None
    if not model.experts_per_token:
        raise ShapeError("experts", "a model with experts needs experts_per_token, too", "such as 2 or 8")
    if model.experts_per_token > model.experts:
        message = f"experts_per_token {model.experts_per_token} is above experts {model.experts}"
        raise ShapeError("experts_per_token", message)
    if (model.dense_layers or 0) >= layers:
        raise ShapeError("dense_layers", f"dense_layers {model.dense_layers} leaves none of {layers} layers to experts")
    if (model.moe_every or 1) > layers - (model.dense_layers or 0):
        raise ShapeError("moe_every", f"moe_every {model.moe_every} leaves none of {layers} layers to experts")
    if model.expert_ffn is None:
        assumed.append(f"experts of width {width:,}")
    return Experts(
        routed=model.experts,
        shared=model.shared_experts or 0,
        per_token=model.experts_per_token,
        ffn_width=model.expert_ffn or width,
        first_dense_layers=model.dense_layers or 0,
        every_n_layers=model.moe_every or 1,
    )
