"""SONiC's tables of small fabrics of every form, for tests that hold them against models."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ibplan.export.scheme import Scheme
from ibplan.export.sonic import CONFIG_DB
from tests.export.ethernet import PLANES, small
from tests.export.samples import scheme, texts

LARGE = "budget=$900M"
SAMPLES: dict[str, Callable[[], Scheme]] = {
    "two planes": lambda: small(PLANES),
    "headroom is shared": lambda: small(PLANES, "ethernet.lossless.headroom_sharing=4"),
    "other marks": lambda: small(PLANES, "ethernet.lossless.dscp=24", "ethernet.lossless.cnp_dscp=46"),
    "one switch": lambda: scheme("one-switch"),
    "a speed in two breakouts": lambda: scheme("converged-pair-16"),
    "no RoCE": lambda: scheme("small-team"),
    "lanes not known": lambda: scheme("roce-2048", "network.switch=arista-7060x6-64pe", LARGE, "gpus=512"),
    "three tiers": lambda: scheme(
        "three-lines", LARGE, "fabrics=roce", "network.tiers=3", "network.pod_units=2", "gpus=512"
    ),
}


def tables_of(made: Scheme) -> dict[str, dict[str, Any]]:
    """The tables of every switch by its name."""
    files = texts("sonic", made)
    return {path.partition("/")[0]: json.loads(text) for path, text in files.items() if path.endswith(CONFIG_DB)}
