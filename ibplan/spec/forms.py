"""Forms of the spec: strict mappings, and the short forms that may stand for them; with their JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

T = TypeVar("T")
MAX_EXPLORED: Final = 16
MAX_MANY: Final = 100
# Longer words are no names of anything, longer texts no paths; messages would repeat them.
MAX_WORD: Final = 200
MAX_PATH: Final = 4096


class Strict(BaseModel):
    """Base of the spec's models. Validators are built when they are first used: those of its parts never are."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


@dataclass(frozen=True)
class OrShort:
    """In the JSON Schema, what `short` makes of the long form's schema may stand for it."""

    short: Callable[[JsonSchemaValue], JsonSchemaValue]

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        long = handler(core_schema)
        short = dict(self.short(handler.resolve_ref_schema(long)))
        short.pop("default", None)
        return {"anyOf": [short, long]}


def wrong_at(at: tuple[str | int, ...], message: str) -> PydanticCustomError:
    """What a check of a whole raises about its part `at`: the reader reports it at that part's position."""
    return PydanticCustomError("at", "{message}", {"at": at, "message": message})


def _not_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"expected a number, got {'true' if value else 'false'}")
    return value


def _at_most(limit: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
    # Before the entries are looked at: each of a hundred thousand would be a problem of its own.
    if len(values) > limit:
        raise ValueError(f"takes at most {limit} entries, got {len(values):,}")
    return values


def _explored(value: Any) -> Any:
    return _at_most(MAX_EXPLORED, tuple(value) if isinstance(value, list | tuple) else (value,))


def _one_or_many(value: Any) -> Any:
    return _many(value) if isinstance(value, list | tuple) else (value,)


def _many(value: Any) -> Any:
    return _at_most(MAX_MANY, tuple(value)) if isinstance(value, list | tuple) else value


def _no_repeats(values: tuple[T, ...]) -> tuple[T, ...]:
    if any(value in values[:index] for index, value in enumerate(values)):
        raise ValueError("a value is listed twice")
    return values


def _as_leaf(value: Any) -> Any:
    return value if isinstance(value, dict | BaseModel) else {"leaf": value}


def kind_of_form(value: Any) -> str:
    """`inline` for a mapping, `id` for a word: which member of a union is meant."""
    return "inline" if isinstance(value, dict | BaseModel) else "id"


def or_keys(word: str, example: str) -> BeforeValidator:
    """For a union of one word and a mapping: says both when it is neither."""

    def check(value: Any) -> Any:
        if value != word and not isinstance(value, dict | BaseModel):
            raise ValueError(f"expected {word} or keys with values, such as {example}")
        return value

    return BeforeValidator(check)


def one_of(*alternatives: tuple[str, ...]) -> ConfigDict:
    """For a mapping in whose JSON Schema the keys of exactly one alternative are required."""
    return ConfigDict(json_schema_extra={"oneOf": [{"required": list(keys)} for keys in alternatives]})


# In Python True equals 1, so a Literal of numbers would take it.
NOT_BOOL: Final = BeforeValidator(_not_bool)
_OR_ITEM: Final = OrShort(lambda long: long["items"])
AS_LEAF: Final = (BeforeValidator(_as_leaf), OrShort(lambda long: long["properties"]["leaf"]))

# One value, or a list of different values to explore.
Explored = Annotated[
    tuple[T, ...],
    Field(min_length=1, max_length=MAX_EXPLORED, json_schema_extra={"uniqueItems": True}),
    BeforeValidator(_explored),
    AfterValidator(_no_repeats),
    _OR_ITEM,
]
# A list; or one value in place of a list of one.
OneOrMany = Annotated[tuple[T, ...], Field(max_length=MAX_MANY), BeforeValidator(_one_or_many), _OR_ITEM]
Many = Annotated[tuple[T, ...], Field(max_length=MAX_MANY), BeforeValidator(_many)]
Word = Annotated[str, Field(max_length=MAX_WORD)]
FilePath = Annotated[str, Field(max_length=MAX_PATH)]
# A word (an id), or a mapping in its place.
WordOr = Annotated[
    Annotated[Word, Tag("id")] | Annotated[T, Tag("inline")],
    Discriminator(kind_of_form),
]
