"""The storage and management networks as a user asks for them. What is not said comes from the server's entry."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from ibplan.spec.forms import OrShort, Strict, Word, kind_of_form, wrong_at
from ibplan.spec.network import MediumChoice
from ibplan.units import Gbps, Ratio

_Count = Annotated[int, Field(ge=1, le=100_000)]
_Ports = Annotated[int, Field(ge=1, le=64)]


class StorageSpec(Strict):
    """The storage network: the servers' ports, the appliances' ports, and how the network is built.

    None = from the server's entry, or unknown. `appliance_ports` = ports of all appliances together; `gbps_per_gpu`
    gives their number instead. `converged_with`: appliances and servers meet on the in-band network, or on the leaves
    of the compute network.
    """

    ports_per_server: _Ports | None = None
    port_gbps: Gbps | None = None
    cage_class: Word | None = None
    gbps_per_gpu: float | None = Field(default=None, gt=0, le=100_000)
    appliances: _Count | None = None
    appliance_ports: _Count | None = None
    appliance_gbps: Gbps | None = None
    appliance_cage_class: Word | None = None
    appliance_management_ports: _Ports | None = None
    appliance_leaves: _Count | None = None
    fabric: Literal["infiniband", "roce"] | None = None
    switch: Word | None = None
    oversubscription: Ratio | None = None
    unit_servers: _Count | None = None
    medium: MediumChoice = "optical"
    converged_with: Literal["inband", "compute"] | None = None

    @model_validator(mode="after")
    def _appliances_agree(self) -> StorageSpec:
        if self.converged_with == "compute":
            _no_network_of_its_own(self, ("fabric", "switch", "oversubscription", "unit_servers", "appliance_leaves"))
        if self.appliance_ports is not None and self.gbps_per_gpu is not None:
            raise wrong_at(
                ("gbps_per_gpu",), "gives the ports of the appliances, which appliance_ports states: keep one"
            )
        if self.appliances is not None and self.appliance_ports is None:
            raise wrong_at(("appliances",), "state appliance_ports, too: the ports of all appliances together")
        if self.appliances is not None and self.appliance_ports is not None and self.appliance_ports % self.appliances:
            message = f"{self.appliance_ports} ports are not the same number on each of {self.appliances} appliances"
            raise wrong_at(("appliance_ports",), message)
        if self.appliance_management_ports is not None and self.appliances is None:
            raise wrong_at(("appliance_management_ports",), "is of one appliance: state appliances, too")
        return self


def _no_network_of_its_own(spec: Strict, keys: tuple[str, ...]) -> None:
    """Refuse what only a network with switches of its own has. Raises at the first such key."""
    for key in keys:
        if getattr(spec, key) is not None:
            raise wrong_at((key,), "converged_with: compute leaves no switches of its own to which it could apply")


class InbandSpec(Strict):
    """The in-band network. None = from the server's entry, or as published pods have it.

    `converged_with: compute`: its ports are on the leaves of the compute network.
    """

    ports_per_server: _Ports | None = None
    port_gbps: Gbps | None = None
    cage_class: Word | None = None
    switch: Word | None = None
    oversubscription: Ratio | None = None
    unit_servers: _Count | None = None
    medium: MediumChoice = "optical"
    converged_with: Literal["compute"] | None = None

    @model_validator(mode="after")
    def _one_network(self) -> InbandSpec:
        if self.converged_with is not None:
            _no_network_of_its_own(self, ("switch", "oversubscription", "unit_servers"))
        return self


class OobSpec(Strict):
    """The out-of-band network. `ports_per_switch`: management ports of one switch of the other networks.

    `uplinks`: of one out-of-band switch to the in-band network. `pdus`: power strips with a network port.
    """

    ports_per_server: _Ports | None = None
    ports_per_switch: _Ports | None = None
    pdus: _Count | None = None
    uplinks: Annotated[int, Field(ge=1, le=8)] | None = None
    switch: Word | None = None
    unit_servers: _Count | None = None


class ManagementHosts(Strict):
    """Management servers (head nodes, fabric managers): how many, and their ports on both management networks."""

    servers: _Count
    inband_ports: _Ports | None = None
    inband_cage_class: Word | None = None
    oob_ports: _Ports | None = None


def _switched(kind: type[Strict]) -> BeforeValidator:
    """`true` asks for the network with its defaults, `false` leaves it out."""

    def read(value: Any) -> Any:
        if not isinstance(value, bool | dict | BaseModel):
            raise ValueError(f"expected true, false, or keys with values, got {value!r}")
        return kind() if value is True else value

    return BeforeValidator(read)


_OR_TRUE = OrShort(lambda _: {"const": True})
_KIND = Discriminator(kind_of_form)
_Off = Annotated[Literal[False], Tag("id")]


class Management(Strict):
    """The management networks (False = left out), and the servers that manage the cluster."""

    inband: Annotated[Annotated[InbandSpec, Tag("inline")] | _Off, _KIND, _switched(InbandSpec), _OR_TRUE] = (
        InbandSpec()
    )
    oob: Annotated[Annotated[OobSpec, Tag("inline")] | _Off, _KIND, _switched(OobSpec), _OR_TRUE] = OobSpec()
    hosts: ManagementHosts | None = None
