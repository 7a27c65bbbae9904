"""Exceptions that carry an exit code. Nothing else may end a command."""

from __future__ import annotations

from dataclasses import dataclass

EXIT_OK = 0
EXIT_DIFFERENCE = 1
EXIT_INPUT = 2
EXIT_NO_DESIGN = 3
EXIT_FAULT = 4


class IbplanError(Exception):
    """Base of every error that ibplan raises on purpose."""

    exit_code: int = EXIT_FAULT


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong in an input: where (file, 1-based line and column; 0 = unknown), what, and what to do."""

    source: str
    line: int
    column: int
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}: " if self.line else f"{self.source}: "
        return place + self.message + (f" ({self.remedy})" if self.remedy else "")


class InputError(IbplanError):
    """What the user gave cannot be used. Carries every problem found, in order of position."""

    exit_code = EXIT_INPUT

    def __init__(self, problems: tuple[Problem, ...] | list[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        """Made anew from its problems where another process takes it over."""
        return type(self), (self.problems,)


class UsageError(IbplanError):
    """The command line asks for something that does not exist or does not go together."""

    exit_code = EXIT_INPUT


class NoDesignError(IbplanError):
    """The spec is valid, but a design is needed and there is none."""

    exit_code = EXIT_NO_DESIGN


class StaleLockError(IbplanError):
    """What was locked is not what the spec gives now: an order must not move silently."""

    exit_code = EXIT_DIFFERENCE


class OutputError(IbplanError):
    """The result could not be written."""

    exit_code = EXIT_FAULT


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something cannot be built: a stable code, a sentence, and the two numbers where there are two."""

    code: str
    text: str
    need: int | None = None
    have: int | None = None


class Unbuildable(Exception):  # noqa: N818 - an answer of sizing, not a fault
    """The request cannot be built; `reasons` says which number is short."""

    def __init__(self, *reasons: Reason) -> None:
        super().__init__("; ".join(r.text for r in reasons))
        self.reasons = reasons


def short(tier: str, need: int, have: int, what: str = "ports") -> Unbuildable:
    """The refusal for a tier that lacks ports."""
    return Unbuildable(Reason(f"{tier}-{what}", f"{tier} tier: {need:,} {what} needed, {have:,} available", need, have))
