"""AS numbers, loopbacks and host subnets of the switches of one network, and addresses of its host ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Final

import numpy as np
import numpy.typing as npt

from ibplan.errors import InputError, Problem
from ibplan.fabric.ports import class_port_names
from ibplan.fabric.wiring_model import CORE, KINDS, LEAF, SPINE, Ints, Wiring
from ibplan.spec.addressing import AddressingSpec, parse_asns, parse_prefix
from ibplan.spec.load import LoadedSpec

_Numbers = npt.NDArray[np.int64]
# Of the addresses of a leaf's subnet, the first is its own name, the last is for all, and the second is the leaf.
_NOT_HOSTS: Final = 3
_FIRST_HOST: Final = 2


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of one network; by device, for switches only.

    asns: of every switch (RFC 7938: one a leaf, one for the spines of a pod, one for the cores of a fabric). loopbacks:
    a /32 each. subnets: of every leaf; its first address is the leaf's own. host: of the host at end b of every link as
    a number, shape (links,), 0 where there is none.
    """

    asns: Mapping[int, int]
    loopbacks: Mapping[int, IPv4Address]
    subnets: Mapping[int, IPv4Network]
    host: _Numbers

    def gateway(self, leaf: int) -> IPv4Address:
        """The address of a leaf in its subnet."""
        return self.subnets[leaf].network_address + 1


def make_addresses(loaded: LoadedSpec, wiring: Wiring) -> Addresses:
    """Deal out addresses. A switch keeps its own when others are added: they follow its number, fabric by fabric.

    Raises InputError, with the key, for every range that is too small.
    """
    dealer = _Dealer(loaded, wiring)
    asns: dict[int, int] = {}
    loopbacks: dict[int, IPv4Address] = {}
    for kind in (LEAF, SPINE, CORE):
        asns |= dealer.asns(kind)
        loopbacks |= dealer.loopbacks(kind)
    subnets, host = dealer.subnets()
    if dealer.problems:
        raise InputError(dealer.problems)
    return Addresses(asns, loopbacks, subnets, host)


class _Dealer:
    """Deals addresses out and collects what ranges are too small."""

    def __init__(self, loaded: LoadedSpec, wiring: Wiring) -> None:
        self._document, self._wiring = loaded.document, wiring
        self._spec = loaded.spec.addressing or AddressingSpec()
        self._fabrics = wiring.network.fabrics
        self.problems: list[Problem] = []

    def _wrong(self, key: tuple[str, ...], need: int, have: int, what: str) -> None:
        message = f"addressing.{'.'.join(key)}: {need:,} {what} needed, {have:,} available"
        self.problems.append(self._document.problem(("addressing", *key), message, "give a larger range"))

    def _numbers(self, devices: npt.NDArray[np.intp], within: Ints) -> _Numbers:
        """Numbers of switches over all fabrics, from 0: fabrics never come in later, devices of a fabric do."""
        return within.astype(np.int64) * self._fabrics + self._wiring.devices.fabric[devices]

    def asns(self, kind: int) -> dict[int, int]:
        """AS numbers of the switches of a tier."""
        d, at = self._wiring.devices, self._of(kind)
        within = {LEAF: d.index, SPINE: d.pod, CORE: np.zeros_like(d.index)}[kind][at]
        groups = self._numbers(at, within)
        known = parse_asns(getattr(self._spec.asn, KINDS[kind]))
        if (need := int(groups.max(initial=-1)) + 1) > len(known):
            self._wrong(("asn", KINDS[kind]), need, len(known), "AS numbers")
            return {}
        return {i: known[g] for i, g in zip(at.tolist(), groups.tolist(), strict=True)}

    def loopbacks(self, kind: int) -> dict[int, IPv4Address]:
        """Loopbacks of the switches of a tier."""
        at = self._of(kind)
        numbers = self._numbers(at, self._wiring.devices.index[at])
        prefix = parse_prefix(getattr(self._spec.loopbacks, KINDS[kind]))
        have = max(0, prefix.num_addresses - 2)
        if (need := int(numbers.max(initial=-1)) + 1) > have:
            self._wrong(("loopbacks", KINDS[kind]), need, have, "loopbacks")
            return {}
        return {i: prefix[n + 1] for i, n in zip(at.tolist(), numbers.tolist(), strict=True)}

    def subnets(self) -> tuple[dict[int, IPv4Network], _Numbers]:
        """The subnet of every leaf, and the address of the host on every link."""
        d, links, at = self._wiring.devices, self._wiring.links, self._of(LEAF)
        places, most = _places(self._wiring)
        length = 32 - (most + _NOT_HOSTS - 1).bit_length()
        prefix = parse_prefix(self._spec.hosts)
        numbers = self._numbers(at, d.index[at])
        have = 2 ** (length - prefix.prefixlen) if length >= prefix.prefixlen else 0
        if (need := int(numbers.max(initial=-1)) + 1) > have:
            self._wrong(("hosts",), need, have, f"subnets of /{length} for the hosts of a leaf")
            return {}, np.zeros(len(links), np.int64)
        first, size = int(prefix.network_address), 2 ** (32 - length)
        of_link = self._numbers(links.a_device.astype(np.intp), d.index[links.a_device])
        host = np.where(places >= 0, first + of_link * size + _FIRST_HOST + places, 0)
        pairs = zip(at.tolist(), numbers.tolist(), strict=True)
        return {i: IPv4Network((first + n * size, length)) for i, n in pairs}, host

    def _of(self, kind: int) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self._wiring.devices.kind == kind)


def _places(wiring: Wiring) -> tuple[Ints, int]:
    """The place of every link's leaf port among those that a leaf has for hosts (-1: end b is no host), and how many.

    Ports that are free have a place, too, so that no address moves when they are used.
    """
    links = wiring.links
    hosts = wiring.devices.kind[links.b_device] < LEAF
    valid: set[int] = set()
    for number in np.unique(links.link_class[hosts]).tolist():
        valid |= {port for port, name in enumerate(class_port_names(wiring, number, "a")) if name is not None}
    table = np.full(max(valid, default=0) + 1, -1, np.int32)
    table[sorted(valid)] = np.arange(len(valid), dtype=np.int32)
    places = np.full(len(links), -1, np.int32)
    places[hosts] = table[links.a_port[hosts]]
    return places, len(valid)
