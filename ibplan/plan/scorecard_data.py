"""The facts behind the scorecard: packaged data, each with its source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ibplan.document import read_document, validate
from ibplan.plan.scorecard_results import Counted, LossMethod
from ibplan.spec.models import Fabric

_FILE = Path(__file__).parent / "data" / "scorecard.yaml"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


class _Fact(_Model):
    text: str
    source: str


class LossFact(_Fact):
    """How a fabric keeps from losing packets."""

    method: LossMethod


class TaskFact(_Fact):
    """Something to run, for each of what is `counted`; `only_for` a feature that not every switch has."""

    task: str
    counted: Counted
    only_for: Literal["in_network_reduction"] | None = None


class FabricFacts(_Model):
    """What holds for a kind of fabric whatever its switches are."""

    loss: LossFact
    tasks: tuple[TaskFact, ...] = Field(min_length=1)


class _ChipFact(_Fact):
    asics: tuple[str, ...] = ()

    def holds_for(self, asic: str | None) -> bool:
        """Whether it is about a chip: by its name, whatever is added to that (`Quantum-3 (...)`)."""
        return not self.asics or any(asic == name or (asic or "").startswith(f"{name} ") for name in self.asics)


class BalancingFact(_ChipFact):
    """How switches of a fabric spread traffic; no chips = all that no other fact names."""

    fabric: Fabric
    scheme: str


class ReductionFact(_ChipFact):
    """Whether chips can sum an all-reduce; None = no statement was found."""

    asics: tuple[str, ...] = Field(min_length=1)
    available: bool | None
    name: str | None


class ScorecardFacts(_Model):
    """All of them."""

    fabrics: dict[Fabric, FabricFacts]
    load_balancing: tuple[BalancingFact, ...]
    in_network_reduction: tuple[ReductionFact, ...]

    def balancing_of(self, fabric: Fabric, asics: Iterable[str | None]) -> BalancingFact:
        """The first fact that holds for all chips: the last of a fabric holds for any."""
        chips = tuple(asics)
        found = (row for row in self.load_balancing if row.fabric == fabric)
        return next(row for row in found if all(row.holds_for(asic) for asic in chips))

    def reduction_of(self, asic: str | None) -> ReductionFact | None:
        """The fact about a chip; None if there is none."""
        return next((row for row in self.in_network_reduction if row.holds_for(asic)), None)


@lru_cache(maxsize=1)
def scorecard_facts() -> ScorecardFacts:
    """The packaged facts."""
    return validate(ScorecardFacts, read_document(_FILE))
