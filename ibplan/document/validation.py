"""Data -> model. What pydantic finds wrong becomes problems at a position, in plain words, all of them at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ibplan.document.build import MAX_PROBLEMS
from ibplan.document.core import Document
from ibplan.document.messages import describe, dotted
from ibplan.document.names import unknown_key
from ibplan.errors import InputError, Problem

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], document: Document) -> M:
    """The model of the document's data. Raises one InputError with every problem."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        found = _telling(error.errors(include_url=False))
    problems = [_problem(model, document, item) for item in found[:MAX_PROBLEMS]]
    raise InputError([*problems, *_rest(problems, len(found) - MAX_PROBLEMS)]) from None


def capped(problems: list[Problem]) -> list[Problem]:
    """The first problems, and how many more there are where there are hundreds."""
    first = problems[:MAX_PROBLEMS]
    return [*first, *_rest(first, len(problems) - MAX_PROBLEMS)]


def _rest(problems: list[Problem], more: int) -> list[Problem]:
    # The ellipsis sorts after every other message at that place.
    return [replace(max(problems), message=f"… and {more:,} more problems", remedy="")] if more > 0 else []


def _telling(items: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without lists called too short only because the items in them are wrong."""
    above = {item["loc"][:depth] for item in items for depth in range(len(item["loc"]))}
    return [item for item in items if item["type"] != "too_short" or item["loc"] not in above]


def _problem(model: type[BaseModel], document: Document, item: ErrorDetails) -> Problem:
    loc, kind = item["loc"], item["type"]
    if kind == "extra_forbidden":
        message, remedy = unknown_key(model, document, loc)
        return document.problem(loc, message, remedy, key=True)
    if kind == "missing":
        path = document.path(loc[:-1])
        where = f" in {dotted(path)}" if path else ""
        return document.problem(loc[:-1], f"the key {loc[-1]!r} is missing{where}")
    if kind == "at":  # a check of the whole that names the part it is about
        loc = (*loc, *item["ctx"]["at"])
    message, remedy = describe(item, document.value(loc), document.written(loc))
    path = document.path(loc)
    return document.problem(loc, f"{dotted(path)}: {message}" if path else message, remedy)
