"""The facts behind the scorecard: packaged data, each with its source."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ibplan.catalog.entries import Switch
from ibplan.document import read_document, validate
from ibplan.plan.scorecard_results import Counted
from ibplan.spec.models import Fabric

_FILE = Path(__file__).parent / "data" / "scorecard.yaml"


class FeatureFact(BaseModel):
    """What a fabric, or a switch chip, does; `available` None = no statement was found.

    Without `fabric` it is about all, without `asics` about every chip. `stated`: what the catalogue states of a switch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)

    fabric: Fabric | None = None
    asics: tuple[str, ...] = ()
    stated: Literal["streaming", "low_latency"] | None = None
    available: bool | None
    name: str | None
    text: str
    source: str

    def holds_for(self, asic: str | None) -> bool:
        """Whether it is about a chip: by its name, whatever is added to that (`Quantum-3 (...)`)."""
        return not self.asics or any(asic == name or (asic or "").startswith(f"{name} ") for name in self.asics)


class TaskFact(BaseModel):
    """Something to run, for each of what is `counted`; `only_for` a feature that not every switch has."""

    model_config = FeatureFact.model_config

    task: str
    counted: Counted
    only_for: Literal["in_network_reduction"] | None = None
    text: str
    source: str


class FabricFacts(BaseModel):
    """What holds for a kind of fabric whatever its switches are. `tuned`: its ports have to be, against loss."""

    model_config = FeatureFact.model_config

    loss: FeatureFact
    tuned: bool
    tasks: tuple[TaskFact, ...]


class ScorecardFacts(BaseModel):
    """All of them."""

    model_config = FeatureFact.model_config

    fabrics: dict[Fabric, FabricFacts]
    load_balancing: tuple[FeatureFact, ...]
    in_network_reduction: tuple[FeatureFact, ...]

    def balancing_of(self, fabric: Fabric, asics: Iterable[str | None]) -> FeatureFact:
        """The first fact that holds for all chips: the last of a fabric holds for any."""
        chips = tuple(asics)
        found = (row for row in self.load_balancing if row.fabric == fabric)
        return next(row for row in found if all(row.holds_for(asic) for asic in chips))

    def reduction_of(self, switch: Switch | None) -> FeatureFact | None:
        """The fact about a switch: that of what the catalogue states, else of its chip; None if there is none."""
        if switch is None:
            return None
        rows = (row for row in self.in_network_reduction if row.stated == switch.in_network_reduction)
        return next((row for row in rows if row.holds_for(switch.asic)), None)


@lru_cache(maxsize=1)
def scorecard_facts() -> ScorecardFacts:
    """The packaged facts."""
    return validate(ScorecardFacts, read_document(_FILE))
