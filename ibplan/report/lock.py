"""A lock as the text of its file."""

from __future__ import annotations

from typing import Final

from ibplan.report.data import to_yaml
from ibplan.spec.lock import Lock, lock_data

_HEAD: Final = """\
# Written by `ibplan lock`: the order as it was decided. Commit it; do not edit it by hand.
# `ibplan lock SPEC --check` compares, --update-prices and --update move it and show what moves.
"""


def lock_text(lock: Lock) -> str:
    """The lock file: what it is, then its data as YAML. The same order gives the same bytes."""
    return _HEAD + to_yaml(lock_data(lock))
