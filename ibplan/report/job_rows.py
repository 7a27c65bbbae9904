"""Rows of the comparison for what the job gets."""

from __future__ import annotations

from collections.abc import Iterator

from ibplan.explain import Data
from ibplan.explain.job import SHOWN_BYTES
from ibplan.report import text
from ibplan.report.rows import ESTIMATE, LOWER_BOUND, Row, Words

_DEGREES = (("tp", "TP"), ("pp", "PP"), ("cp", "CP"), ("ep", "EP"), ("dp", "DP"))


def fabric_rows() -> Iterator[Row]:
    """Load balancing and the all-reduce over all GPUs."""
    yield Row("Load balancing", "", words=_scheme, keep="some")
    yield Row("- share kept, worst flow", "%", "load_balancing_worst_fraction", text.percent, keep="some")
    yield Row(
        "All-reduce of 1 GiB", "GB/s", "allreduce_busbw_gbytes_per_s", text.modelled, keep="some", mark=_other_links
    )
    yield Row("- algorithm", "", words=_algorithm, keep="some")


def training_rows() -> Iterator[Row]:
    """The training step in its best mapping, and what follows from it."""
    yield Row("Parallel mapping", "", words=_mapping, keep="some")
    yield Row("Step", "s", "step_s", text.modelled, keep="some", mark=_transferred)
    yield Row("- only communicating", "%", "exposed_communication_fraction", text.percent, keep="known")
    yield Row("MFU", "%", "mfu_fraction", text.percent, keep="some", mark=_transferred)
    yield Row("Memory of a GPU, used", "GB", "memory_gbytes", text.modelled, keep="some")
    yield Row("Sent by a GPU in a step", "GB", "network_gbytes_per_gpu_step", text.modelled, keep="some")
    yield Row("Tokens a second", "tokens/s", "tokens_per_s", text.modelled, keep="some", mark=_transferred)
    yield Row("Time that trains", "%", "goodput_fraction", text.percent, keep="known")
    yield Row("Days for all tokens", "days", "training_days", text.modelled, keep="some", mark=_transferred)
    yield Row("Energy of the job", "kWh", "training_energy_kwh", text.modelled, keep="some", mark=_energy)


def service_rows() -> Iterator[Row]:
    """What users of a service get, what it costs, and what it sends."""
    yield Row("Units for prefill", "", words=_units("prefill"), keep="some")
    yield Row("Units for decode", "", words=_units("decode"), keep="some")
    for label, unit, figure in (
        ("Output tokens a second", "tokens/s", "serving_tokens_per_s"),
        ("- of one request", "tokens/s", "serving_user_tokens_per_s"),
        ("Requests a second", "requests/s", "serving_requests_per_s"),
        ("- at once", "requests", "serving_concurrent_requests"),
        ("Time to the first token", "s", "serving_ttft_s"),
        ("- sending the cache, in it", "s", "serving_cache_transfer_s"),
        ("Time of a later token", "s", "serving_tpot_s"),
        ("Sent by a GPU, prefill", "Gb/s", "prefill_network_gbps"),
        ("Sent by a GPU, decode", "Gb/s", "decode_network_gbps"),
    ):
        yield Row(label, unit, figure, text.modelled, keep="some", mark=_transferred)


def work_rows() -> Iterator[Row]:
    """What the work of the job costs."""
    yield Row("A GPU-hour", "USD", "gpu_hour_usd", text.usd, keep="some", mark=_cost)
    yield Row("A million tokens trained", "USD", "million_tokens_usd", text.usd, keep="some", mark=_cost)
    figure = "serving_million_tokens_usd"
    yield Row("A million output tokens", "USD", figure, text.usd, keep="some", mark=_cost)


def _job(design: Data) -> Data:
    job: Data = design["performance"]["training"] or design["performance"]["inference"]
    return job


def _units(phase: str) -> Words:
    def words(design: Data) -> str:
        service = design["performance"]["inference"]
        if service is None:
            return ""
        unit = service[phase]
        degrees = [f"{label} {unit[key]}" for key, label in _DEGREES if unit.get(key, 1) > 1]
        return "\n".join([f"{unit['units']:,} x {unit['gpus']:,} GPUs", *([" ".join(degrees)] if degrees else [])])

    return words


def _scheme(design: Data) -> str:
    found = design["performance"]["load_balancing"]
    if found is None or design["networks"]["compute"]["counts"]["spine"] == 0:
        return ""
    flows = found["flows"]
    return str(found["scheme"]) if found["scheme"] in ("adaptive", "spray") else f"{found['scheme']}, {flows} flows"


def _mapping(design: Data) -> str:
    training = design["performance"]["training"]
    if training is None:
        return ""
    degrees = [f"{label} {training[key]}" for key, label in _DEGREES if training[key] > 1]
    sharded = [f"ZeRO {training['zero']}"] if training["zero"] else []
    return "\n".join([" ".join(degrees) or "one GPU", *sharded])


def _algorithm(design: Data) -> str:
    rows = [row["algorithm"] for row in design["performance"]["allreduce"] if row["bytes"] == SHOWN_BYTES]
    return "".join(rows)


def _transferred(design: Data, written: str) -> str:
    """Marks what rests on the efficiency of another GPU."""
    return written if _job(design)["calibrated"] else ESTIMATE + written


def _other_links(design: Data, written: str) -> str:
    """Marks times that rest on the constants of other links."""
    rows = design["performance"]["allreduce"]
    return ESTIMATE + written if any(row["transferred"] for row in rows) else written


def _energy(design: Data, written: str) -> str:
    known = design["energy"]["network_basis"] != "known"
    return ("" if known else LOWER_BOUND) + _transferred(design, written)


def _cost(design: Data, written: str) -> str:
    estimates = any(item["price_kind"] == "estimate" for item in design["line_items"])
    marked = ESTIMATE if estimates or not _job(design)["calibrated"] else ""
    return ("" if _job(design)["usd_complete"] else LOWER_BOUND) + marked + written
