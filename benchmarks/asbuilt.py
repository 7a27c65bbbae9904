"""A built fabric of 16,384 endpoints with some swapped cables: `python -m benchmarks.asbuilt SPEC FILE` writes both."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from ibplan.asbuilt.planned import planned_fabric
from ibplan.catalog.store import load_catalog
from ibplan.spec.load import load_spec
from tests.asbuilt.built import ibnetdiscover, perfect

SPEC = """\
model: 405B
gpus: 16384
fabrics: infiniband
network: {switch: nvidia-qm9700}
"""
SWAPPED = 50


def main() -> None:
    """Write the spec, and what ibnetdiscover would print."""
    spec, file = map(Path, sys.argv[1:3])
    spec.write_text(SPEC)
    fabric = perfect(planned_fabric(load_spec(spec), load_catalog(), None))
    chosen = random.Random(1).sample(range(len(fabric.cables)), 2 * SWAPPED)
    for first, second in zip(chosen[::2], chosen[1::2], strict=True):
        fabric.swap(first, second)
    file.write_text(ibnetdiscover(fabric))


if __name__ == "__main__":
    main()
