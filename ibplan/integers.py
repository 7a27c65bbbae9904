"""Whole-number arithmetic that sizing and counting share."""

from __future__ import annotations


def ceil_div(a: int, b: int) -> int:
    """The smallest integer at or above a / b (b > 0)."""
    return -(-a // b)


def divisors(number: int) -> list[int]:
    """All divisors of a positive integer, ascending."""
    return [d for d in range(1, number + 1) if number % d == 0]
