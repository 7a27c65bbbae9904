"""Links of servers, attached hosts and managers to the leaves of one fabric, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ibplan.fabric.network import NetworkSize
from ibplan.fabric.wiring_cages import Bank, WiringError
from ibplan.fabric.wiring_leaves import Ints, LeafTable, bank_table


@dataclass(frozen=True, slots=True)
class HostLinks:
    """Links of one kind in one fabric, shape (links,): leaf number, its port and cage set, host number, its port.

    The port of a server is its rail here; the port of an attached host is that of its ports in one fabric.
    """

    leaf: Ints
    leaf_port: Ints
    cage_set: Ints
    host: Ints
    host_port: Ints


def server_links(network: NetworkSize, table: LeafTable) -> HostLinks:
    """Server by server, rail by rail. A leaf's downlink of server s in the unit is s x (rails on the leaf) + rail."""
    servers, rails = network.request.servers, network.request.rails
    server = np.repeat(np.arange(servers, dtype=np.int32), rails)
    rail = np.tile(np.arange(rails, dtype=np.int32), servers)
    if network.fabric.isl and not _rails_apart(network):
        leaf, place, shared = server % 2, server // 2, np.full_like(server, rails)
        on_leaf = rail
    else:
        unit = np.searchsorted(table.servers_before, server, side="right").astype(np.int32) - 1
        first = table.first_leaf[unit]
        place = server - table.servers_before[unit]
        sharing = table.of_kind([k.sharing for k in table.kinds])
        leaf = first + rail // sharing[first]
        shared, on_leaf = sharing[leaf], rail % sharing[first]
    ports, sets = bank_table([k.banks.servers for k in table.kinds])
    nth = place * shared + on_leaf
    kind = table.kind[leaf]
    if nth.size and (int(nth.max()) >= ports.shape[1] or (ports[kind, nth] < 0).any()):
        raise WiringError("a server's link has no port on its leaf")
    return HostLinks(leaf, ports[kind, nth], sets[kind, nth], server, rail)


def _rails_apart(network: NetworkSize) -> bool:
    """Whether two joined leaves share the rails (rather than the servers)."""
    return network.request.rails > 1 and network.request.rail_optimized


def attached_links(network: NetworkSize, table: LeafTable, group: int) -> HostLinks:
    """The hosts of one group. Ports of a leaf go to one host after the other, so that no host has two of them.

    (Unless the leaf has more ports for the group than there are hosts.)
    """
    links = _listed(table, [k.banks.attached[group] for k in table.kinds] if table.kinds else [])
    leaf, port, cage_set = links
    hosts = network.request.attached[group].hosts
    nth = np.arange(len(leaf), dtype=np.int32)
    order = np.lexsort((nth // hosts, nth % hosts))
    return HostLinks(leaf[order], port[order], cage_set[order], (nth % hosts)[order], (nth // hosts)[order])


def manager_links(table: LeafTable) -> HostLinks:
    """One manager a reserved port, in the order of the leaves."""
    leaf, port, cage_set = _listed(table, [k.banks.reserved for k in table.kinds])
    nth = np.arange(len(leaf), dtype=np.int32)
    return HostLinks(leaf, port, cage_set, nth, np.zeros_like(nth))


def _listed(table: LeafTable, banks: list[Bank]) -> tuple[Ints, Ints, Ints]:
    """(leaf, port, cage set) of every port of the banks, leaf by leaf."""
    ports, sets = bank_table(banks)
    leaf, nth = np.nonzero(ports[table.kind] >= 0)
    kind = table.kind[leaf]
    return leaf.astype(np.int32), ports[kind, nth], sets[kind, nth]
