"""How many examples a property is tried on: half of those stated in `make test`, twice as many in `make properties`."""

from __future__ import annotations

import os
from fractions import Fraction
from math import ceil
from typing import Final

SHARE: Final = Fraction(os.environ.get("IBPLAN_EXAMPLES", "1/2"))


def share(count: int) -> int:
    """As many of a number of examples as this run tries."""
    return ceil(count * SHARE)
