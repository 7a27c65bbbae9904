"""One fault in good data, to see that a check sees it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

# Nothing stands there.
GONE: Final = object()
# Where, and what stands there instead.
Fault = tuple[tuple[str | int, ...], Any]


def broken(good: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The data with another value at a path, or without it; `good` stays as it is."""
    data = deepcopy(good)
    node = data
    for key in path[:-1]:
        node = node[key]
    if value is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return data
