"""The axes of a mapping, and several jobs at once."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibplan.performance.job_traffic import JobKind, Mapping, job_sets, job_traffic
from ibplan.performance.patterns import Places
from tests.performance.nets import few


def axes(mapping: Mapping, domain_gpus: int = 8) -> dict[str, set[tuple[int, int]]]:
    gpu = np.arange(mapping.gpus, dtype=np.int32)
    places = Places(gpu // domain_gpus, gpu // domain_gpus)
    found = job_traffic(mapping, gpu, places, np.random.default_rng(0))
    return {a.axis: set(zip(a.pairs.source.tolist(), a.pairs.target.tolist(), strict=True)) for a in found}


def coordinates(mapping: Mapping, rank: int) -> tuple[int, int, int, int]:
    """(tp, cp, dp, pp) of a rank, tensor ranks fastest."""
    outer, tp = divmod(rank, mapping.tp)
    outer, cp = divmod(outer, mapping.cp)
    pp, dp = divmod(outer, mapping.dp)
    return tp, cp, dp, pp


@pytest.mark.parametrize(
    "mapping", [Mapping(4, 2, 4, 2, 4), Mapping(2, 1, 8, 1, 8), Mapping(8, 4, 2), Mapping(1, 3, 4)]
)
def test_every_axis_keeps_the_others(mapping: Mapping) -> None:
    found = axes(mapping)
    sizes = {"tp": mapping.tp, "cp": mapping.cp, "ep": mapping.ep, "dp": mapping.cp * mapping.dp, "pp": mapping.pp}
    assert set(found) == {axis for axis, size in sizes.items() if size > 1}
    fixed = {"tp": (1, 2, 3), "cp": (0, 2, 3), "ep": (0, 3), "dp": (0, 3), "pp": (0, 1, 2)}
    for axis, pairs in found.items():
        for a, b in pairs:
            one, other = coordinates(mapping, a), coordinates(mapping, b)
            assert all(one[i] == other[i] for i in fixed[axis])


def test_tensor_ranks_fill_servers_so_that_only_the_others_leave_them() -> None:
    found = axes(Mapping(8, 2, 4))
    assert all(a // 8 == b // 8 for a, b in found["tp"])
    assert all(a // 8 != b // 8 for axis in ("dp", "pp") for a, b in found[axis])
    # Data ranks are 8 apart, stages 32; the last stage sends on only if stages are interleaved.
    assert found["dp"] == {(a, a + 8 if a % 32 < 24 else a - 24) for a in range(64)}
    assert found["pp"] == {(a, a + 32) for a in range(32)}
    assert axes(Mapping(8, 2, 4, interleave=2))["pp"] == {(a, (a + 32) % 64) for a in range(64)}


def test_experts_send_all_to_all_within_consecutive_data_ranks() -> None:
    found = axes(Mapping(2, 1, 8, 1, 4))["ep"]
    blocks = [{2 * (4 * block + i) + shard for i in range(4)} for block, shard in product(range(2), range(2))]
    assert found == {(a, b) for block in blocks for a in block for b in block if a != b}


def kinds(*jobs: tuple[int, str]) -> list[JobKind]:
    return [JobKind(gpus, Fraction(share)) for gpus, share in jobs]


def test_jobs_that_fit_their_share_run_at_once() -> None:
    (found,) = job_sets(kinds((256, "1/2"), (64, "1/2")), 1024)
    assert found.counts == (2, 8)
    groups = found.groups(kinds((256, "1/2"), (64, "1/2")), 1024).tolist()
    assert [groups.count(job) for job in range(10)] == [256] * 2 + [64] * 8


def test_a_job_larger_than_its_share_takes_turns_with_the_others() -> None:
    # 40 % of 1,024 GPUs are 409: the whole cluster for one job at times, four of 256 at others.
    found = job_sets(kinds((1024, "2/5"), (256, "3/5")), 1024)
    assert [jobs.counts for jobs in found] == [(1, 0), (0, 4)]
    assert [jobs.counts for jobs in job_sets(kinds((1024, "1")), 1024)] == [(1,)]
    assert [jobs.counts for jobs in job_sets(kinds((1024, "1/2")), 1024)] == [(1,)]


@given(
    jobs=st.lists(st.tuples(st.integers(1, 64), st.integers(1, 10)), min_size=1, max_size=4), gpus=st.integers(64, 200)
)
@few
def test_no_set_needs_more_than_there_is_and_none_leaves_room_for_a_job(jobs: list[tuple[int, int]], gpus: int) -> None:
    total = sum(share for _, share in jobs)
    mix = [JobKind(size, Fraction(share, total)) for size, share in jobs]
    seen = np.zeros(len(mix), int)
    for found in job_sets(mix, gpus):
        used = sum(n * kind.gpus for n, kind in zip(found.counts, mix, strict=True))
        assert used <= gpus
        seen += found.counts
        small = [kind.gpus for kind in mix if kind.share * gpus >= kind.gpus]
        assert gpus - used < min(small, default=gpus + 1)
    assert (seen > 0).all()
