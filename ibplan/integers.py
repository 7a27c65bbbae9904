"""Whole-number arithmetic that sizing and counting share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt


def ceil_div(a: int, b: int) -> int:
    """The smallest integer at or above a / b (b > 0)."""
    return -(-a // b)


@lru_cache(maxsize=1024)
def divisors(number: int) -> tuple[int, ...]:
    """All divisors of a positive integer, ascending."""
    low = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return (*low, *(number // d for d in reversed(low) if d * d != number))


def largest(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number from 1 to `limit` for which something holds that holds for all smaller ones; 0 if none."""
    low, high = 0, max(0, limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
