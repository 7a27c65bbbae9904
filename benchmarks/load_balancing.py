"""Makes the curves of ibplan/performance/data/load_balancing.yaml with the simulator.

`python -m benchmarks.load_balancing` writes the file anew, all but its defaults and their sources; it takes some twenty
minutes. A test makes some points again and compares.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from textwrap import fill

from benchmarks.forms import three_tiers, two_tiers
from ibplan.fabric.wiring_model import Wiring
from ibplan.performance.load_balancing import Axis, FabricForm, Scheme
from ibplan.performance.simulate import Experiment, simulate
from ibplan.performance.simulation_rows import Row

FILE = Path(__file__).parents[1] / "ibplan/performance/data/load_balancing.yaml"
_TWO_TIERS: dict[Axis, tuple[float, ...]] = {
    "leaves": (2, 4, 8, 32),
    "uplinks": (4, 16, 64),
    "leaf_ratio": (0.5, 1, 2, 4),
    "speedup": (1, 2),
}
_THREE_TIERS: dict[Axis, tuple[float, ...]] = {
    "pods": (2, 8),
    "uplinks": (4, 8, 32),
    "leaf_ratio": (1, 2),
    "spine_ratio": (1, 2, 4),
    "speedup": (1, 2),
}
_FLOWS: dict[Scheme, tuple[float, ...]] = {"ecmp": (1, 4, 16), "static": (1,), "flowlet": (1, 4)}


def wired_form(form: FabricForm) -> Wiring:
    """A wiring of a form. What the form leaves open: one link between any two switches, if there is any."""
    speedup = int(form.speedup)
    downlinks = round(form.leaf_ratio * form.uplinks * speedup)
    if form.tiers == 2:
        return two_tiers(form.leaves, downlinks, form.uplinks, speedup)
    return three_tiers(form.pods, downlinks, form.uplinks, round(form.uplinks / form.spine_ratio), speedup)


def seeds_for(wiring: Wiring) -> int:
    """Runs for a figure good to about a hundredth: as many as give 20,000 flows, 3 at least."""
    return max(3, min(200, 20_000 // wiring.network.request.servers))


def point(form: FabricForm, scheme: Scheme, flows: int) -> tuple[float, float]:
    """(mean, worst) of a scheme over those of even spreading, by simulation; 1 at most.

    Fair rates are not those of the largest sum, so a little unevenness can even raise the mean by a thousandth.
    """
    wiring = wired_form(form)
    seeds = seeds_for(wiring)

    def run(routing: Scheme, flows: int) -> Row:
        (row,) = simulate(wiring, 1, 1, Experiment(("cross-leaf",), (routing,), flows, seeds))
        return row

    found, even = run(scheme, flows), run("spray", 1)
    assert found.mean
    assert found.worst
    assert even.mean
    assert even.worst
    return min(1.0, found.mean.mean / even.mean.mean), min(1.0, found.worst.mean / even.worst.mean)


def _curve(scheme: Scheme, tiers: int) -> str:
    axes = {**(_TWO_TIERS if tiers == 2 else _THREE_TIERS), "flows": _FLOWS[scheme]}
    means, worsts = [], []
    for values in product(*axes.values()):
        at = dict(zip(axes, values, strict=True))
        form = FabricForm(
            tiers,
            int(at.get("leaves", at.get("pods", 1) * at["uplinks"])),
            int(at["uplinks"]),
            at["leaf_ratio"],
            at["speedup"],
            int(at.get("pods", 1)),
            at.get("spine_ratio", 1.0),
        )
        mean, worst = point(form, scheme, int(at["flows"]))
        means.append(round(mean, 3))
        worsts.append(round(worst, 3))
        sys.stderr.write(f"{scheme} {at}: {mean:.3f} {worst:.3f}\n")
    lines = [f"  - scheme: {scheme}", f"    tiers: {tiers}", "    axes:"]
    lines += [f"      {axis}: {json.dumps([float(v) for v in values])}" for axis, values in axes.items()]
    return "\n".join([*lines, _wrapped("mean", means), _wrapped("worst", worsts)])


def _wrapped(key: str, values: list[float]) -> str:
    return fill(f"{key}: {json.dumps(values)}", 120, initial_indent="    ", subsequent_indent="      ")


def main() -> None:
    """Write the curves behind the head of the file."""
    head = FILE.read_text(encoding="utf-8").split("curves:\n")[0]
    curves = [_curve(scheme, tiers) for scheme in _FLOWS for tiers in (2, 3)]
    FILE.write_text(head + "curves:\n" + "\n".join(curves) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
