"""What a bill holds besides the parts of the fabric: licences and spares, as the spec wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from ibplan.economics.assumptions import assumptions
from ibplan.economics.items import Category, LineItem, NetworkName
from ibplan.economics.licences import Licence, LicencePrices, Licensed, licence_items, licences_of
from ibplan.economics.spares import ShareOfPieces, SparePolicy, StockByFailures, spare_items
from ibplan.errors import InputError
from ibplan.fabric.network import NetworkSize
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Fabric, Spec

# The categories of a bill by the keys of a spec.
CATEGORIES: Mapping[str, Category] = {
    "switch": "switch",
    "nic": "NIC",
    "transceiver": "transceiver",
    "cable": "cable",
    "splitter": "splitter",
    "licence": "licence",
}


@dataclass(frozen=True, slots=True)
class Extras:
    """Which spares are kept, what licences cost, and the GPUs of a server, by which some licences are required."""

    spares: SparePolicy
    licence_prices: LicencePrices
    server_gpus: int

    def licences(self, name: NetworkName, fabric: Fabric, network: NetworkSize) -> tuple[Licence, ...]:
        """The licences that a network can need."""
        gpus = network.request.servers * self.server_gpus
        what = Licensed(name, fabric, gpus, network.endpoints, network.switch_count)
        return licences_of(what, assumptions().licences, self.licence_prices)

    def items(self, parts: Sequence[LineItem], licences: Sequence[Licence]) -> tuple[LineItem, ...]:
        """The lines of the licences that are bought, and of the spares of the parts."""
        return (*licence_items(licences), *spare_items(parts, self.spares))


def extras_of(loaded: LoadedSpec, server_gpus: int) -> Extras:
    """What a spec wants besides the parts of the fabric. Raises InputError for a stock without a failure rate."""
    return Extras(spare_policy(loaded), _licence_prices(loaded.spec), server_gpus)


def spare_policy(loaded: LoadedSpec) -> SparePolicy:
    """The spares of a spec by category. Raises InputError for a stock whose failure rate nobody publishes."""
    found: dict[Category, ShareOfPieces | StockByFailures] = {}
    problems = []
    for key in type(loaded.spec.spares).model_fields:
        rule = getattr(loaded.spec.spares, key)
        if rule is None:
            continue
        if isinstance(rule, Fraction):
            found[CATEGORIES[key]] = ShareOfPieces(rule)
            continue
        rate = rule.failures_per_year
        if rate is None:
            known = assumptions().failure_rates.get(cast("Literal['switch', 'nic']", key))
            if known is None:
                message = f"spares.{key}: no failure rate of this category is published"
                remedy = "state failures_per_year, or a share of the pieces"
                problems.append(loaded.document.problem(("spares", key), message, remedy))
                continue
            rate = known.per_year
        found[CATEGORIES[key]] = StockByFailures(float(rate), rule.lead_time_weeks, float(rule.confidence))
    if problems:
        raise InputError(problems)
    return found


def _licence_prices(spec: Spec) -> LicencePrices:
    stated = ((key, getattr(spec.licences, key)) for key in type(spec.licences).model_fields)
    return {key: value for key, value in stated if value is not None}


def support_rates(spec: Spec) -> dict[str, Fraction]:
    """Support a year as a share of the price, by category of the bill; empty if the spec states none."""
    stated = ((key, getattr(spec.support, key)) for key in type(spec.support).model_fields)
    return {CATEGORIES[key]: rate for key, rate in stated if rate is not None}
