"""What every step of a plan needs, found once from the spec and the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ibplan.catalog.store import Catalog
from ibplan.parts.offers import PartsBook
from ibplan.plan.extras import extras_of
from ibplan.plan.forms import Form, Refused, enumerate_forms
from ibplan.plan.job import planned_job
from ibplan.plan.means import Means
from ibplan.plan.performance import JobOnDesigns
from ibplan.plan.pricing import priced_catalog
from ibplan.plan.resolve import Resolved, resolve
from ibplan.plan.side_networks import SidePlanner
from ibplan.plan.structured import structured_rules
from ibplan.site.ground import Ground
from ibplan.site.rules import site_rules
from ibplan.spec.load import LoadedSpec
from ibplan.spec.models import Spec

_LAYOUT_KEYS = frozenset({"placement", "hall", "tray_above_rack", "slack"})
_RACK_PRICES = frozenset({"price", "pdu_price"})


@dataclass(frozen=True, slots=True)
class Context:
    """What every step needs: the spec, the catalogue, what the spec names, and the parts that can be bought."""

    loaded: LoadedSpec
    catalog: Catalog
    named: Resolved
    means: Means
    job: JobOnDesigns

    @property
    def spec(self) -> Spec:
        """The spec that is planned."""
        return self.loaded.spec

    @property
    def gpus(self) -> int:
        """GPUs of all servers."""
        return self.named.gpus

    def forms(self, spec: Spec | None = None) -> Iterator[Form | Refused]:
        """All forms of the spec, or of a variant of it."""
        loaded = self.loaded if spec is None else replace(self.loaded, spec=spec)
        named = self.named
        return enumerate_forms(loaded, self.catalog, named.server, named.servers, named.switches)


def context_of(loaded: LoadedSpec, catalog: Catalog) -> Context:
    """What a plan of a spec needs. Raises InputError where the spec names something that does not exist."""
    catalog = priced_catalog(loaded, catalog)
    named, book = resolve(loaded, catalog), PartsBook.of(catalog, loaded.spec.optics)
    planner = SidePlanner(loaded.spec, named.server, catalog, book)
    extras = extras_of(loaded, named.server.gpus)
    ground, stated = Ground(site_rules(loaded.spec.site)), _site_stated(loaded)
    means = Means(book, planner, extras, ground, stated, structured=structured_rules(loaded.spec.site))
    job = JobOnDesigns(loaded.spec, named.server, named.gpus, planned_job(loaded, named.gpus))
    return Context(loaded, catalog, named, means, job)


def _site_stated(loaded: LoadedSpec) -> bool:
    """Whether the spec says anything of racks and rows but their prices."""
    site = loaded.document.data.get("site")
    if not isinstance(site, Mapping):
        return False
    rack = site.get("rack")
    measured = isinstance(rack, Mapping) and not _RACK_PRICES.issuperset(rack)
    return measured or not _LAYOUT_KEYS.isdisjoint(site)
