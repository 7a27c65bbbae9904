"""The lock beside a spec: the chosen design with every part, quantity and price. An order moves only on purpose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from ibplan.catalog.base import Id
from ibplan.document import Document, read_document, validate
from ibplan.errors import InputError
from ibplan.spec.forms import Strict, Word, wrong_at
from ibplan.spec.load import LOCK_KEY
from ibplan.units import UsdNumber

LOCK_VERSION: Final = 1
_MAX_ITEMS: Final = 10_000
_LONG: Final = 2_000
_CENT: Final = Decimal("0.01")
_SENSIBLE: Final = Field(ge=-(10**15), le=10**15)
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]


class LockedBook(Strict):
    """The price book that the lock was written with."""

    name: Word
    date: Word


class LockedItem(Strict):
    """One line item as it was locked. `unit_price_usd` None = it had no price then, and has none under the lock.

    `list_price_usd` = the same before the discount that was taken off, None where there was none.
    """

    network: Word
    tier: Word
    category: Word
    part: Id
    part_number: Word | None
    length_m: float | None = Field(default=None, ge=0)
    description: Annotated[str, Field(max_length=_LONG)]
    quantity: int = Field(ge=1, le=10**9)
    unit_price_usd: UsdNumber | None
    list_price_usd: UsdNumber | None = None
    price_kind: Literal["list", "street", "estimate"] | None
    price_date: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")] | None
    price_source: Annotated[str, Field(max_length=_LONG)] | None

    @model_validator(mode="after")
    def _a_price_has_its_kind(self) -> LockedItem:
        if (self.unit_price_usd is None) != (self.price_kind is None):
            raise ValueError("unit_price_usd and price_kind are given together, or both are null")
        return self

    @property
    def before_discount_usd(self) -> Decimal | None:
        """The price that the discounts of a spec are taken off."""
        return self.unit_price_usd if self.list_price_usd is None else self.list_price_usd

    @property
    def extended_usd(self) -> Decimal | None:
        """Quantity times unit price; None without a price."""
        return None if self.unit_price_usd is None else self.unit_price_usd * self.quantity


def _known_version(value: Any) -> Any:
    if isinstance(value, int) and value > LOCK_VERSION:
        raise ValueError(f"a lock of version {value}; this ibplan reads {LOCK_VERSION}: upgrade ibplan")
    return value


class Lock(Strict):
    """A lock. `figures` are those of the design when it was locked, by id of the registry (`--explain list`)."""

    ibplan_lock: Annotated[Literal[1], BeforeValidator(_known_version)]
    ibplan: Word
    name: Word
    design: Word
    fabric: Word
    spec_digest: Digest
    catalog_digest: Digest
    price_book: LockedBook
    budget_usd: UsdNumber | None
    figures: dict[str, bool | Annotated[int, _SENSIBLE] | Annotated[float, _SENSIBLE] | None]
    items: tuple[LockedItem, ...] = Field(min_length=1, max_length=_MAX_ITEMS)

    @model_validator(mode="after")
    def _adds_up(self) -> Lock:
        total = self.figures.get("capex_usd")
        if isinstance(total, bool):
            raise wrong_at(("figures", "capex_usd"), "expected a number, got true or false")
        found = sum((item.extended_usd or Decimal(0) for item in self.items), Decimal(0)).quantize(_CENT)
        if total is None or Decimal(str(total)).quantize(_CENT) != found:
            shown = "nothing" if total is None else f"${Decimal(str(total)):,.2f}"
            message = f"the items add up to ${found:,.2f}, but capex_usd says {shown}: was the lock edited by hand?"
            raise wrong_at(("figures",), message)
        return self

    @property
    def unpriced(self) -> frozenset[str]:
        """Parts that were locked without a price."""
        return frozenset(item.part for item in self.items if item.unit_price_usd is None)


def is_lock(document: Document) -> bool:
    """Whether a document is a lock (whole or broken), by its content."""
    return LOCK_KEY in document.data


def read_lock(path: Path) -> Lock:
    """Read a lock file. Raises InputError with every problem."""
    return lock_of(read_document(path))


def lock_of(document: Document) -> Lock:
    """The lock in a document. Raises InputError with every problem."""
    if not is_lock(document):
        problem = document.problem((), "this is no lock: it has no key 'ibplan_lock'", "`ibplan lock SPEC` writes one")
        raise InputError([problem])
    return validate(Lock, document)


def spec_digest(document: Document) -> str:
    """Twelve hexadecimal digits over what the user wrote, settings included: comments and layout do not count."""
    text = json.dumps(_plain(document.data), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def lock_data(lock: Lock) -> dict[str, Any]:
    """The lock as plain data in the order of its keys: what the file holds."""
    data = lock.model_dump()
    return data | {"items": list(_items(lock))}


def _items(lock: Lock) -> Iterator[dict[str, Any]]:
    for item in lock.items:
        row = item.model_dump()
        for optional in ("length_m", "list_price_usd"):
            if row[optional] is None:
                del row[optional]
        yield row
