"""Money in a spec: discounts, exchange rates, spares, licences, support."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Discriminator, Field, Tag

from ibplan.spec.forms import MAX_MANY, OrShort, Strict, Word, kind_of_form
from ibplan.units import Share, Usd

_MAX_RATE = 1e6


def _is_a_day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"there is no day {text}") from None
    return text


def _inside(share: Any) -> Any:
    if not 0 < share < 1:
        raise ValueError("must be above 0% and below 100%")
    return share


class ShareByCategory(Strict):
    """A share for each category of the bill. None = not stated."""

    switch: Share | None = None
    nic: Share | None = None
    transceiver: Share | None = None
    cable: Share | None = None
    splitter: Share | None = None


class CategoryDiscounts(ShareByCategory):
    """Discounts by category."""

    server: Share | None = None


class Discounts(Strict):
    """Shares off the prices. Where both a vendor's and a category's fit a part, the vendor's stands."""

    vendor: dict[Word, Share] = Field(default_factory=dict, max_length=MAX_MANY)
    category: CategoryDiscounts = CategoryDiscounts()


class ExchangeRateSpec(Strict):
    """US dollars for one unit of a currency, on a day, from somewhere."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    usd: float = Field(gt=0, le=_MAX_RATE)
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_is_a_day)]
    source: str = Field(min_length=1, max_length=200)


class PoissonStock(Strict):
    """Spares that cover failures until new ones come: rate a year (None = a published one), weeks, how sure."""

    failures_per_year: Share | None = None
    lead_time_weeks: float = Field(gt=0, le=520)
    confidence: Annotated[Share, AfterValidator(_inside)]


_SpareRule = Annotated[
    Annotated[Share, Tag("id")] | Annotated[PoissonStock, Tag("inline")],
    Discriminator(kind_of_form),
]


class Spares(Strict):
    """What is kept of each category: a share of its pieces, or a stock by failure rate. None = no spares."""

    switch: _SpareRule | None = None
    nic: _SpareRule | None = None
    transceiver: _SpareRule | None = None
    cable: _SpareRule | None = None
    splitter: _SpareRule | None = None


class Support(ShareByCategory):
    """Support a year as a share of the purchase price. None = unknown."""

    licence: Share | None = None


_LicencePrice = Annotated[
    Annotated[Literal["none"], Tag("none")] | Annotated[Usd, Tag("usd")],
    Discriminator(lambda value: "none" if value == "none" else "usd"),
]


class Licences(Strict):
    """What one licence costs for as long as it is bought; `none` leaves it out, None = the price is unknown."""

    fabric_manager: _LicencePrice | None = None
    network_os: _LicencePrice | None = None
    telemetry: _LicencePrice | None = None


def _for_all(keys: type[BaseModel]) -> BeforeValidator:
    """One share in place of a mapping holds for every category."""

    def spread(value: Any) -> Any:
        return value if isinstance(value, dict | BaseModel) else dict.fromkeys(keys.model_fields, value)

    return BeforeValidator(spread)


_ONE_SHARE = OrShort(
    lambda _: {"anyOf": [{"type": "string", "pattern": r"^[0-9][0-9,_]*(\.[0-9]+)? ?%$"}, {"type": "number"}]}
)
SparesField = Annotated[Spares, _for_all(Spares), _ONE_SHARE]
SupportField = Annotated[Support, _for_all(Support), _ONE_SHARE]
