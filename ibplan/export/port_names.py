"""The names of the ports of hosts by the site's patterns."""

from __future__ import annotations

from typing import Final

from ibplan.fabric.wiring_model import LEAF, SERVER, Wiring
from ibplan.plan.cabled import host_ports
from ibplan.plan.site_names import naming_error
from ibplan.plan.wired import WiredDesign
from ibplan.spec.load import LoadedSpec
from ibplan.spec.naming import NamingSpec, parse_pattern, render

_INFINIBAND_PORT: Final = "mlx5_{port0}"
_ETHERNET_PORT: Final = "eth{port}"


class PortNames:
    """The names of the ports of hosts of one network; on other networks than compute, those of the cable schedule."""

    def __init__(self, loaded: LoadedSpec, wired: WiredDesign) -> None:
        naming, wiring = loaded.spec.naming or NamingSpec(), wired.wiring
        usual = _INFINIBAND_PORT if wired.fabric == "infiniband" else _ETHERNET_PORT
        self._hosts = wiring.hosts
        self._pattern = parse_pattern(naming.host_port or usual)
        self._listed = naming.server_ports if wired.network == "compute" else ()
        self._side = host_ports(wired.evaluated, wired.network)
        if wired.network == "compute":
            self._check(loaded, wiring)

    def _check(self, loaded: LoadedSpec, wiring: Wiring) -> None:
        far = wiring.devices.kind[wiring.links.b_device]
        count = int(wiring.links.b_port[far == SERVER].max(initial=-1)) + 1
        most = int(wiring.links.b_port[far < LEAF].max(initial=-1)) + 1
        if self._listed and len(self._listed) != count:
            message = f"{len(self._listed)} ports are listed, but a server has {count} on the compute network"
            raise naming_error(loaded.document, "server_ports", message, "list every one, in order")
        names = [self._of_pattern(port) for port in range(most)]
        if len(set(names)) < most:
            twice = next(name for n, name in enumerate(names) if name in names[:n])
            message = f"two ports of a host would be called {twice!r}"
            raise naming_error(loaded.document, "host_port", message, "put {port} or {port0} into it")

    def name(self, group: str, port: int) -> str:
        """The name of a port (from 0) of a host: `group` = server, manager, or the name of attached hosts."""
        side = self._side.get(group)
        if side is not None:
            return side[port].name
        return self._listed[port] if group == "server" and self._listed else self._of_pattern(port)

    def _of_pattern(self, port: int) -> str:
        per_nic, planes = self._hosts.ports_per_nic, self._hosts.planes
        nic, m = port // per_nic, port % per_nic
        values: dict[str, int | str | None] = {
            "port": port + 1,
            "port0": port,
            "nic": nic + 1,
            "nic0": nic,
            "plane": m % planes + 1,
            "rail": nic * (per_nic // planes) + m // planes + 1,
        }
        return render(self._pattern, values)
