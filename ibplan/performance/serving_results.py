"""What a service on a machine looks like, and what its users get."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """Units of one kind. `requests`: in the works in a unit at once; `requests_per_s`: that a unit finishes.

    Seconds are of a pass (a prefill of its batch, or one token), `communication_s` those in which GPUs only wait.
    """

    tp: int
    pp: int
    ep: int
    gpus: int
    units: int
    requests: int
    requests_per_s: float
    total_s: float
    matrices_s: float
    scores_s: float
    overhead_s: float
    communication_s: float
    interval_s: float
    memory_bytes: float


@dataclass(frozen=True, slots=True)
class Service:
    """A service that keeps its limits. Rates are of the whole machine; `tokens` are output tokens.

    `transfer_s`: sending a request's cache from prefill to decode, 0 on the same GPUs; it is part of `ttft_s`.
    `tpot_s` includes the share of time that prefill takes where both are on the same GPUs.
    """

    disaggregated: bool
    prefill: Phase
    decode: Phase
    gpus: int
    requests_per_s: float
    tokens_per_s: float
    tokens_per_s_per_gpu: float
    user_tokens_per_s: float
    concurrent_requests: float
    ttft_s: float
    tpot_s: float
    transfer_s: float


@dataclass(frozen=True, slots=True)
class Unserved:
    """Why the model cannot be served so: how much memory a GPU is short, or the best times that there are."""

    reason: str
    missing_bytes: float | None = None
    best_ttft_s: float | None = None
    best_tpot_s: float | None = None
