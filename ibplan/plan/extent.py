"""How much of a spec is planned at once: more designs than these take too long, and nobody reads them."""

from __future__ import annotations

from typing import Final

from ibplan.catalog.store import Catalog
from ibplan.errors import InputError
from ibplan.plan.forms import count_forms
from ibplan.plan.resolve import Resolved
from ibplan.spec.load import LoadedSpec

MAX_FORMS: Final = 512
MAX_DESIGNS: Final = 128
# Groups of attached hosts are dealt over the leaves of every form.
MAX_PLACEMENTS: Final = 1024


def check_forms(loaded: LoadedSpec, catalog: Catalog, named: Resolved) -> None:
    """Refuse a spec whose lists, times the switches and ports there are, make more than MAX_FORMS forms.

    With many groups of attached hosts it is fewer: MAX_PLACEMENTS over the groups. Raises InputError with the factors
    and what to do.
    """
    counts = count_forms(loaded, catalog, named.server, named.servers, named.switches)
    forms, groups = sum(combinations * pairs for combinations, pairs in counts.values()), len(loaded.spec.attached)
    limit = min(MAX_FORMS, MAX_PLACEMENTS // max(1, groups))
    if forms <= limit:
        return
    kinds = "switches and ports" if named.switches is not None else "switches and ports of the catalogue"
    parts = ", ".join(f"{name} {lists:,} x {pairs:,} {kinds}" for name, (lists, pairs) in counts.items() if pairs)
    fewer = f" with {groups} groups of attached hosts" if limit < MAX_FORMS else ""
    message = f"there are {forms:,} designs to try, {limit:,} is the limit{fewer}: {parts}"
    raise _too_many(loaded, message, named, attached=limit < MAX_FORMS)


def check_designs(loaded: LoadedSpec, designs: int, named: Resolved) -> None:
    """Refuse a spec that more than MAX_DESIGNS designs meet. Raises InputError."""
    if designs > MAX_DESIGNS:
        message = f"there are {designs:,} designs to compare, {MAX_DESIGNS:,} is the limit"
        raise _too_many(loaded, message, named, attached=False)


def _too_many(loaded: LoadedSpec, message: str, named: Resolved, *, attached: bool) -> InputError:
    spec = loaded.spec
    remedies = [] if named.switches is not None else ["name a switch in network.switch"]
    if len(spec.fabrics) > 1:
        remedies.append("name one of the fabrics")
    if attached:
        remedies.append("merge groups in attached")
    lists = [f"network.{key} {n}" for key, n in spec.network.explored().items() if n > 1]
    if lists:
        remedies.append(f"shorten the lists: {' x '.join(lists)}")
    return InputError([loaded.document.problem(("network",), message, ", or ".join(remedies))])
