"""Parallel mappings of a job on GPUs, many at once: one numpy array for each choice.

Ranks stand in the cluster in this order, fastest first: tensor, context, data (experts are spread over consecutive
ranks of context x data), pipeline. So tensor ranks share an NVLink domain first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from ibplan.spec.models import Parallelism
from ibplan.workload.job import data_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ibplan.workload.arrays import Bools, Ints
    from ibplan.workload.flops import Recompute

RECOMPUTE: Final[tuple[Recompute, ...]] = ("none", "selective", "full")


@dataclass(frozen=True, slots=True)
class Mappings:
    """Mappings, each array of shape (mappings,). `recompute` indexes RECOMPUTE.

    GPUs = tp x pp x dp x cp; ep divides dp x cp. An expert is split over its tp ranks as the other layers are.
    """

    tp: Ints
    pp: Ints
    dp: Ints
    cp: Ints
    ep: Ints
    micro_batch: Ints
    interleave: Ints
    zero: Ints
    recompute: Ints
    sequence_parallel: Bools

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def gpus(self) -> Ints:
        """GPUs of each mapping."""
        return self.tp * self.pp * self.dp * self.cp

    @property
    def data_ranks(self) -> Ints:
        """Ranks with the same dense weights: data x context."""
        return self.dp * self.cp

    @property
    def expert_data_ranks(self) -> Ints:
        """Ranks with the same experts."""
        return self.dp * self.cp // self.ep

    def microbatches(self, global_batch: int) -> Ints:
        """Microbatches a step and pipeline: global_batch / (dp x micro_batch), rounded up where it does not divide."""
        return -(-global_batch // (self.dp * self.micro_batch))

    def take(self, index: NDArray[np.intp] | Bools) -> Mappings:
        """The mappings of that index or mask."""
        return Mappings(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


def given_mapping(given: Parallelism, recompute: Recompute, gpus: int) -> Mappings:
    """The mapping that the spec states, as one of one; sequence parallel wherever tp is above 1."""
    stated = given.model_dump() | {"dp": data_parallel(given, gpus)}
    return Mappings(
        **{name: np.array([value]) for name, value in stated.items()},
        recompute=np.array([RECOMPUTE.index(recompute)]),
        sequence_parallel=np.array([given.tp > 1]),
    )
