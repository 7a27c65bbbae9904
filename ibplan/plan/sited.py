"""site_design: from a loaded spec to the racks of one design. The front door for who looks at the floor."""

from __future__ import annotations

from dataclasses import dataclass

from ibplan.catalog.store import Catalog
from ibplan.errors import UsageError
from ibplan.fabric.wiring_model import HostPorts
from ibplan.plan.evaluate import Evaluated
from ibplan.plan.place import SiteResult, describe_site
from ibplan.plan.wired import choose_design
from ibplan.site.elevation import Naming, RackContent, rack_contents, wiring_names
from ibplan.site.floor import Floor
from ibplan.spec.load import LoadedSpec


@dataclass(frozen=True, slots=True)
class SitedDesign:
    """One design with its racks. `name` = of the spec; `not_placed`: attached hosts that have no place."""

    name: str
    evaluated: Evaluated
    recommended: bool
    floor: Floor
    site: SiteResult
    racks: tuple[RackContent, ...]
    not_placed: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the design."""
        return self.evaluated.id


def site_design(loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None) -> SitedDesign:
    """The racks of the recommended design, or of any design by its id.

    Raises as `wire_design` does; UsageError where no layout can be made, with what is not known.
    """
    name, evaluated, recommended = choose_design(loaded, catalog, design_id)
    floor = evaluated.placed.floor
    if floor is None:
        missing = ", ".join(evaluated.placed.unknown)
        raise UsageError(f"{evaluated.id} has no rack layout: {missing} not known; state rack_units in the spec")
    contents = rack_contents(floor, device_naming(loaded, evaluated, floor))
    return SitedDesign(name, evaluated, recommended, floor, describe_site(floor), contents, floor.not_placed)


def device_naming(loaded: LoadedSpec, evaluated: Evaluated, floor: Floor) -> Naming:
    """Names by the spec's `naming:`, else as in the wiring: planes and rails are those of the compute network.

    Raises InputError where a pattern does not tell devices apart.
    """
    if loaded.spec.naming is not None:
        from ibplan.plan.site_names import DeviceNames, floor_naming

        return floor_naming(DeviceNames(loaded, evaluated))
    form = evaluated.form
    labels, per_fabric = {}, {}
    for network in floor.networks:
        fabrics = network.size.fabrics
        planes = form.choices.planes if network.name == "compute" else fabrics
        ports = HostPorts(planes, fabrics // planes, planes)
        labels[network.name] = [ports.label(fabric) for fabric in range(fabrics)]
        for group, spots in floor.spots.items():
            if group.startswith(f"{network.name}/"):
                per_fabric[group] = len(spots) // fabrics
    return wiring_names(labels, per_fabric)
