"""The site's scheme on one network of a design: what each device and port is called, and where it is reached.

Everything that names a device after the plan asks here, so that all exports and checks use the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ibplan.catalog.store import Catalog
from ibplan.document import printable
from ibplan.economics.items import NetworkName
from ibplan.export.addresses import Addresses, make_addresses
from ibplan.export.guids import Guids, make_guids, read_guids
from ibplan.export.port_names import PortNames
from ibplan.fabric.ports import class_port_names
from ibplan.fabric.wiring_model import KINDS, LEAF, Side, Wiring
from ibplan.plan.site_names import DeviceNames, aliases
from ibplan.plan.wired import WiredDesign, wire_design
from ibplan.plan.wires import wire_evaluated
from ibplan.spec.load import LoadedSpec


@dataclass(frozen=True)
class Scheme:
    """A wired network of a design with its names and addresses. `names` = of all devices, in the wiring's order.

    Where servers have ports for storage or management on this network, too, they stand in the wiring a second time,
    under the same name (`aliases`).

    What only some targets need is made when it is first asked for; a range that is too small is an InputError then.
    """

    loaded: LoadedSpec
    catalog: Catalog = field(repr=False)
    wired: WiredDesign
    devices: DeviceNames = field(repr=False)
    names: tuple[str, ...] = field(repr=False)

    @property
    def wiring(self) -> Wiring:
        """All devices and links."""
        return self.wired.wiring

    @property
    def network(self) -> NetworkName:
        """Which network of the design it is."""
        return self.wired.network

    @property
    def title(self) -> str:
        """What files say of where they come from, in one line whatever the spec is called."""
        return f"{printable(self.wired.name)}, design {self.wired.id}"

    @cached_property
    def aliases(self) -> tuple[bool, ...]:
        """Of every device: whether it is a server, or a switch of another network, that has its name from there."""
        return tuple(aliases(self.wiring, self.network))

    @cached_property
    def host_ports(self) -> PortNames:
        """The names of the ports of hosts."""
        return PortNames(self.loaded, self.wired)

    @cached_property
    def addresses(self) -> Addresses:
        """AS numbers, loopbacks, subnets and host addresses."""
        return make_addresses(self.loaded, self.wiring)

    @cached_property
    def guids(self) -> Guids:
        """GUIDs of switches and NIC ports. Raises InputError for a file of GUIDs that cannot be read."""
        spec = self.loaded.spec.addressing
        file = None if spec is None else spec.guids
        known = {} if file is None else read_guids(self.loaded.directory / file)
        return make_guids(self.wiring, self.network, self.names, self.descriptions(), known)

    def descriptions(self) -> Iterator[str]:
        """What an InfiniBand port at the end b of every link is called: `<host> <port>`; a switch by its name."""
        ports = self.port_names("b")
        hosts = self.wiring.devices.kind[self.wiring.links.b_device] < LEAF
        for device, port, host in zip(self.wiring.links.b_device.tolist(), ports, hosts.tolist(), strict=True):
            yield f"{self.names[device]} {port}" if host else self.names[device]

    def port_names(self, side: Side, system: str | None = None) -> list[str]:
        """The name of the port at one end of every link; `system`: whose names for switch ports, None = the usual one.

        Raises UsageError where the system's names are not known.
        """
        wiring = self.wiring
        devices, ports = wiring.links.end(side)
        found = [""] * len(wiring.links)
        for number in range(len(wiring.classes)):
            at = np.flatnonzero(wiring.links.link_class == number)
            if not len(at):
                continue
            kind = int(wiring.devices.kind[devices[at[0]]])
            if kind < LEAF:
                group = wiring.classes[number].host or KINDS[kind]
                known = [self.host_ports.name(group, port) for port in range(int(ports[at].max()) + 1)]
            else:
                known = ["" if n is None else n.name for n in class_port_names(wiring, number, side, system)]
            for link, port in zip(at.tolist(), ports[at].tolist(), strict=True):
                found[link] = known[port]
        return found

    def label(self, fabric: int) -> str:
        """What tells one fabric from the others: `p1`, `r1`, `p1r1`; nothing where there is one."""
        return self.wiring.hosts.label(fabric)


def make_scheme(
    loaded: LoadedSpec, catalog: Catalog, design_id: str | None = None, network: NetworkName = "compute"
) -> Scheme:
    """The scheme on one network of the recommended design, or of any design by its id.

    Raises as `wire_design` does; InputError where a pattern of `naming:` does not tell devices apart.
    """
    return scheme_of(loaded, catalog, wire_design(loaded, catalog, design_id, network))


def scheme_of(loaded: LoadedSpec, catalog: Catalog, wired: WiredDesign, devices: DeviceNames | None = None) -> Scheme:
    """The scheme on a network that is wired already; `devices` = names of the same design. Raises InputError."""
    devices = devices or DeviceNames(loaded, wired.evaluated)
    return Scheme(loaded, catalog, wired, devices, devices.named(wired.wiring, wired.network))


def all_schemes(scheme: Scheme) -> tuple[Scheme, ...]:
    """The schemes on all networks of the design: the compute network, then the planned others."""
    evaluated = scheme.wired.evaluated
    found = []
    for name in scheme.devices.networks:
        if name == scheme.network:
            found.append(scheme)
        else:
            wired = replace(scheme.wired, wiring=wire_evaluated(evaluated, name), network=name)
            found.append(scheme_of(scheme.loaded, scheme.catalog, wired, scheme.devices))
    return tuple(found)
