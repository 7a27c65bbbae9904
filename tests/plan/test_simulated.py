"""From a spec to a simulation: defaults, what does not go together, and what is too large."""

from __future__ import annotations

from io import BytesIO

import pytest

from ibplan.errors import InputError, UsageError
from ibplan.performance.failure_words import parse_failures
from ibplan.performance.job_traffic import Mapping
from ibplan.plan import simulation_options
from ibplan.plan.make import make_evaluated_plan
from ibplan.plan.simulated import SimulatedDesign, simulate_design
from ibplan.plan.simulation_options import SimulationOptions
from ibplan.spec.load import load_spec
from tests.plan.planning import catalog

SMALL = "servers: 16\nserver: nvidia-hgx-h100\nfabrics: infiniband\nnetwork: {switch: nvidia-qm9700}\n"


def simulated(text: str, options: SimulationOptions | None = None, design: str | None = None) -> SimulatedDesign:
    loaded = load_spec("-", (), stdin=BytesIO(text.encode()))
    return simulate_design(loaded, catalog(), options or SimulationOptions(seeds=2), design)


@pytest.mark.parametrize(
    # The catalogue states packet spray of Spectrum-4; of others nothing, so that flows are hashed.
    ("fabric", "switch", "scheme", "flows"),
    [
        ("infiniband", "nvidia-qm9700", "adaptive", 1),
        ("roce", "nvidia-sn5610", "spray", 4),
        ("roce", "arista-7060x6-64pe", "ecmp", 4),
    ],
)
def test_the_default_is_what_the_fabric_does(fabric: str, switch: str, scheme: str, flows: int) -> None:
    text = f"servers: 64\nserver: nvidia-hgx-h100\nfabrics: {fabric}\nnetwork: {{switch: {switch}, tiers: 2}}\n"
    loaded = load_spec("-", (), stdin=BytesIO(text.encode()))
    _, evaluated = make_evaluated_plan(loaded, catalog())
    done = simulated(text, design=next(iter(evaluated)))
    assert (done.experiment.routings, done.experiment.flows) == ((scheme,), flows)
    assert done.rows[0].routing == scheme


def test_plain_ethernet_is_hashed_and_shares_its_ports() -> None:
    done = simulated("servers: 4\nserver: nvidia-hgx-h100\nfabrics: ethernet\n")
    assert done.experiment.routings == ("ecmp",)
    assert done.nic_gbps_per_gpu < 100
    (row,) = done.rows
    assert row.mean is not None
    assert row.mean.mean > 0


@pytest.mark.parametrize(
    ("server", "cross"),
    [("nvidia-hgx-h100", "nvlink"), ("{gpus: 4, nics: 4, port_gbps: 400, cage_class: nic-osfp-400}", "network")],
)
def test_separate_rails_are_crossed_over_nvlink_where_it_is_known(server: str, cross: str) -> None:
    text = f"servers: 16\nserver: {server}\nfabrics: infiniband\nnetwork: {{switch: nvidia-qm9700, rail_only: true}}\n"
    design = "infiniband-nvidia-qm9700-1t-1to1-railonly"
    done = simulated(text, design=design)
    assert done.experiment.cross_rail == cross
    assert (done.rows[0].unreachable_pairs > 0) == (cross == "network")
    asked = SimulationOptions(seeds=1, cross_rail="network")
    assert simulated(text, asked, design).rows[0].unreachable_pairs > 0


def test_nvlink_domains_of_several_servers() -> None:
    text = "servers: 36\nserver: nvidia-gb300-nvl72-tray\nfabrics: roce\nnetwork: {switch: nvidia-sn5610, planes: 2}\n"
    done = simulated(text, SimulationOptions(("ring",), seeds=1))
    assert done.domain_gpus == 72
    assert (done.rows[0].pairs, done.rows[0].nvlink_pairs) == (144, 0)
    inside = simulated(text, SimulationOptions(("all-to-all",), group=72, seeds=1))
    assert inside.rows[0].nvlink_pairs == inside.rows[0].pairs
    assert inside.rows[0].mean is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            SimulationOptions(routings=("static", "spray"), flows=2),
            "--flows changes nothing under --routing static, spray",
        ),
        (SimulationOptions(fan_in=4), "--fan-in goes with --pattern incast"),
        (SimulationOptions(("incast",), fan_in=200), "--fan-in: 200 GPUs cannot send to one: there are 128 GPUs"),
        (SimulationOptions(group=129), "--group: 129 GPUs, but there are 128"),
        (SimulationOptions(("job",), group=8), "--pattern job does not go with --group"),
        (SimulationOptions(failures=parse_failures(("core=1",))), "core=1: there are 0 cores"),
    ],
)
def test_what_does_not_go_together(options: SimulationOptions, said: str) -> None:
    with pytest.raises(UsageError) as error:
        simulated(SMALL, options)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("workload", "options", "said"),
    [
        ("", SimulationOptions(jobs=True), "--jobs needs a job mix"),
        ("jobs: [{gpus: 256, share: 50%}]", SimulationOptions(jobs=True), "a job of 256 GPUs does not fit 128"),
        ("jobs: [{gpus: 8, share: 60%}, {gpus: 4, share: 50%}]", SimulationOptions(jobs=True), "add up to 110%"),
        ("", SimulationOptions(("job",)), "--pattern job needs a mapping, and the plan found none"),
        ("task: inference", SimulationOptions(("job",)), "the job is inference, not training"),
        ("parallelism: {tp: 8, dp: 8}", SimulationOptions(("job",)), "is 64 GPUs, but there are 128"),
        ("parallelism: {tp: 8, ep: 3}", SimulationOptions(("job",)), "ep 3 does not divide cp x dp, 16"),
    ],
)
def test_jobs_and_mappings_that_do_not_fit(workload: str, options: SimulationOptions, said: str) -> None:
    with pytest.raises(InputError) as error:
        simulated(f"{SMALL}workload: {{{workload}}}\n" if workload else SMALL, options)
    assert said in str(error.value)
    assert error.value.problems[0].line > 0


def test_a_mapping_that_is_not_stated_is_the_plans() -> None:
    done = simulated(f"model: 70B\n{SMALL}", SimulationOptions(("job",), seeds=1))
    assert done.mapping_searched
    assert done.experiment.mapping is not None
    assert done.experiment.mapping.gpus == 128
    stated = simulated(f"{SMALL}workload: {{parallelism: {{tp: 4, pp: 2}}}}\n", SimulationOptions(("job",), seeds=1))
    assert (stated.mapping_searched, stated.experiment.mapping) == (False, Mapping(4, 2, 16))


def test_what_would_take_too_long_is_refused_before_anything_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibplan.plan.simulated.make_evaluated_plan", None)  # it is not called
    text = "gpus: 16384\nfabrics: infiniband\n"
    with pytest.raises(UsageError, match=r"all-to-all: 268,419,072 flows .* up to 2,097,152 .* or --pattern shift"):
        simulated(text, SimulationOptions(("all-to-all",)))
    with pytest.raises(UsageError, match=r"--seeds: 163,840,000 flows in all runs"):
        simulated(text, SimulationOptions(routings=("ecmp",), seeds=10_000))


def test_the_limits_hold_for_what_the_design_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two ports of a GPU are two flows: known only once the design is.
    text = "servers: 16\nserver: nvidia-dgx-b300\nfabrics: roce\nnetwork: {switch: nvidia-sn5610, planes: 2}\n"
    monkeypatch.setattr(simulation_options, "MOST_FLOWS", 128)
    with pytest.raises(UsageError, match=r"permutation: 256 flows between ports in a run; up to 128 are simulated"):
        simulated(text)
