"""Settings of all tests: the same examples in every run, so that a change alone decides whether tests pass.

IBPLAN_RANDOM=1 draws new examples, to look for what nobody has thought of.
"""

from __future__ import annotations

import gc
import os

from hypothesis import settings

from tests.examples import share

# As the program itself does: little of what is made is garbage in cycles.
gc.set_threshold(200_000, 20, 20)

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=share(100))
if os.environ.get("IBPLAN_RANDOM") != "1":
    settings.load_profile("repeatable")
