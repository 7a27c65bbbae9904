"""From a found fabric to its shape: tiers, rails, units, pods, ratios, spare ports, and what is irregular."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from ibplan.asbuilt.astray import astray_servers, unnamed_ports
from ibplan.asbuilt.found import FoundFabric
from ibplan.asbuilt.graph import Tiered, head_of, host_groups, tiered
from ibplan.asbuilt.shape import HostGroup, LinkCounts, Shape, Tier, TierShape, UnitShape
from ibplan.asbuilt.typical import merged_sets, nearest_set, top_count, usual_count
from ibplan.errors import UsageError
from ibplan.findings import plural

TIERS: Final[tuple[Tier, ...]] = ("leaf", "spine", "core")
_MANAGER: Final = re.compile(r"manager|ufm|mgr|sm\b|opensm|nmx", re.IGNORECASE)
_MOST_NAMED: Final = 3
_RAIL_ONLY_FROM: Final = 3
_TWO: Final = 2


def shape_of(found: FoundFabric, is_host: Callable[[str], bool] | None = None) -> Shape:
    """The shape of a fabric. Raises UsageError where hosts and switches, or the hosts, cannot be told apart."""
    graph = tiered(found, is_host)
    anonymous = sum(not found.devices[d].named for d in graph.of_tier(0))
    if 2 * anonymous > len(graph.of_tier(0)):
        raise UsageError(
            f"{plural(anonymous, 'host')} do not say who they are, so that their ports cannot be put together: name "
            "the hosts (their node descriptions) first"
        )
    return _Reader(graph).shape()


class _Reader:
    """Reads one fabric; notes what is assumed and what is irregular on the way."""

    def __init__(self, graph: Tiered) -> None:
        self._graph, self._found = graph, graph.found
        self.assumed: list[str] = []
        self.irregular: list[str] = []

    def shape(self) -> Shape:
        graph = self._graph
        (_, servers), *others = host_groups(graph)
        main = self._group(servers)
        planes, rail_only = self._fabrics(servers, main.ports)
        fabrics = graph.fabrics
        rails = main.ports // fabrics if main.ports % fabrics == 0 else main.ports
        unit, optimized = self._units(servers, rails)
        groups, managers = self._others(others)
        links = self._links(servers, managers)
        tiers = tuple(self._tier(number) for number in range(1, graph.tiers + 1))
        self._oddities()
        return Shape(
            graph.tiers,
            fabrics,
            planes,
            rail_only,
            optimized,
            1 if rail_only else rails,
            main,
            tuple(groups),
            managers,
            unit,
            *self._pods(servers),
            tiers,
            links,
            tuple(self.assumed),
            tuple(self.irregular),
        )

    def _names(self, devices: Sequence[int]) -> str:
        names = [self._found.devices[d].name for d in devices[:_MOST_NAMED]]
        more = len(devices) - len(names)
        return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")

    def _group(self, hosts: Sequence[int]) -> HostGroup:
        """Hosts of one name: the most usual number of ports counts, others are irregular."""
        ports = {host: len(self._graph.up[host]) for host in hosts}
        usual = usual_count(ports.values())
        for count in sorted(set(ports.values()) - {usual}):
            odd = [host for host in hosts if ports[host] == count]
            self.irregular.append(f"Ports joined of {self._names(odd)}: {count}, of the others {usual}.")
        head = self._found.devices[hosts[0]].name
        return HostGroup(head_of(head), len(hosts), usual, self._rate(hosts))

    def _rate(self, hosts: Sequence[int]) -> float | None:
        inside = set(hosts)
        rates = Counter(
            link.rate.gbps
            for link in self._found.links
            if link.rate is not None and (link.a.device in inside or link.b.device in inside)
        )
        if not rates:
            return None
        usual = rates.most_common(1)[0][0]
        for rate, count in sorted(rates.items()):
            if rate != usual:
                self.irregular.append(f"Links of hosts at {rate:g}G: {count:,}; the others run at {usual:g}G.")
        return usual

    def _fabrics(self, servers: Sequence[int], ports: int) -> tuple[int, bool]:
        """(planes, rail-only) of disjoint fabrics: rails where every server has one port in each, else planes."""
        graph, count = self._graph, self._graph.fabrics
        if count == 1:
            return 1, False
        inside = Counter(
            tuple(sorted(Counter(graph.fabric[end.device] for end in graph.up[host]).items())) for host in servers
        )
        usual = dict(inside.most_common(1)[0][0])
        if set(usual) != set(range(count)) or len(set(usual.values())) != 1:
            raise UsageError(
                f"it falls into {count} fabrics that nothing joins, and a server is not in all of them alike: import "
                "them one by one"
            )
        nics = self._adapters_in_several(servers)
        if ports == count and count >= _RAIL_ONLY_FROM and not nics:
            return 1, True
        if not nics:
            self.assumed.append(
                f"The {count} separate fabrics are taken for planes: a NIC has {count} ports, one in each."
            )
        return count, False

    def _adapters_in_several(self, servers: Sequence[int]) -> bool:
        """Whether ports of one adapter (`mlx5_0/1`, `mlx5_0/2`) are in different fabrics."""
        graph, inside = self._graph, set(servers)
        fabrics: dict[tuple[int, str], set[int]] = defaultdict(set)
        for device, ends in graph.down.items():
            for end in ends:
                adapter, slash, _ = (end.port or "").rpartition("/")
                if end.device in inside and slash:
                    fabrics[end.device, adapter].add(graph.fabric[device])
        return any(len(found) > 1 for found in fabrics.values())

    def _units(self, servers: Sequence[int], rails: int) -> tuple[UnitShape, bool]:
        """Units of the first fabric, and whether rails are spread over their leaves."""
        graph = self._graph
        sets = {
            host: frozenset(end.device for end in graph.up[host] if graph.fabric[end.device] == 0) for host in servers
        }
        whole = merged_sets(Counter(sets.values()))
        astray = [host for host, leaves in sets.items() if not any(leaves <= unit for unit in whole)]
        if astray:
            astray.sort(key=lambda host: self._found.devices[host].name)
            self.irregular.append(f"Servers with ports on leaves of several units: {self._names(astray)}.")
        self.irregular += astray_servers(graph, servers)
        self.assumed += unnamed_ports(graph, servers)
        sizes = Counter(len(leaves) for leaves in whole)
        usual = sizes.most_common(1)[0][0]
        # The last unit may be packed on fewer leaves.
        if len(sizes) > 1 and sum(n for size, n in sizes.items() if size != usual) > 1:
            words = ", ".join(f"{n} on {plural(size, 'leaf', 'leaves')}" for size, n in sorted(sizes.items()))
            self.irregular.append(f"Units have different numbers of leaves: {words}.")
        most = max(whole.values())
        smaller = sorted(count for count in whole.values() if count != most)
        if len(smaller) > 1 or (smaller and len(whole) > 1 and len(set(whole.values())) > _TWO):
            words = ", ".join(map(str, sorted(whole.values(), reverse=True)[: 2 * _MOST_NAMED]))
            self.irregular.append(f"Several units are not full: they have {words} servers.")
        optimized = usual > 1 or rails == 1 or len(whole) == 1
        return UnitShape(most, usual, len(whole), max(1, rails // usual)), optimized

    def _others(self, others: Sequence[tuple[str, list[int]]]) -> tuple[list[HostGroup], int]:
        """The other groups of hosts, and how many are fabric managers by their names."""
        groups, managers = [], 0
        for head, hosts in others:
            group = self._group(hosts)
            if group.ports == 1 and _MANAGER.search(head):
                managers += len(hosts)
            else:
                groups.append(group)
        if managers:
            self.assumed.append(
                f"{plural(managers, 'host')} with one port are taken for fabric managers by their names."
            )
        return groups, managers

    def _links(self, servers: Sequence[int], managers: int) -> LinkCounts:
        graph = self._graph
        of_servers = sum(len(graph.up[host]) for host in servers)
        of_hosts = sum(len(graph.up[host]) for host in graph.of_tier(0))
        between = [sum(len(graph.down.get(d, ())) for d in graph.of_tier(tier)) for tier in (2, 3)]
        leaf_leaf = sum(graph.tier[link.a.device] == 1 for link in graph.sideways)
        other = len(graph.other) + len(graph.sideways) - leaf_leaf
        attached = of_hosts - of_servers - managers
        return LinkCounts(of_servers, attached, between[0], between[1], leaf_leaf, other)

    def _tier(self, number: int) -> TierShape:
        graph, devices = self._graph, self._graph.of_tier(number)
        down = {d: len(graph.down.get(d, ())) for d in devices}
        up = {d: len(graph.up.get(d, ())) for d in devices}
        side: Counter[int] = Counter(end.device for link in graph.sideways for end in (link.a, link.b))
        ports = Counter(self._found.devices[d].ports for d in devices if self._found.devices[d].ports is not None)
        radix = ports.most_common(1)[0][0] if ports else None
        if len(ports) > 1:
            words = ", ".join(f"{n} with {p}" for p, n in sorted(ports.items(), key=lambda item: item[0] or 0))
            self.irregular.append(f"Switches of the {TIERS[number - 1]} tier have different numbers of ports: {words}.")
        self._uneven(number, up)
        used = sum(down.values()) + sum(up.values()) + sum(side[d] for d in devices)
        if graph.tiers == 1:  # the links that join two leaves are their uplinks
            up = {d: side[d] for d in devices}
        models = Counter(self._found.devices[d].model for d in devices)
        return TierShape(
            TIERS[number - 1],
            len(devices),
            radix,
            top_count(down.values()),
            top_count(up.values()),
            None if radix is None else radix * len(devices) - used,
            self._usual_rate(number),
            self._sideways_rate() if graph.tiers == 1 else self._usual_rate(number + 1),
            tuple(model for model, _ in models.most_common() if model is not None),
        )

    def _usual_rate(self, upper: int) -> float | None:
        rates = Counter({rate: n for (tier, rate), n in self._graph.down_rates.items() if tier == upper})
        return rates.most_common(1)[0][0] if rates else None

    def _sideways_rate(self) -> float | None:
        rates = Counter(link.rate.gbps for link in self._graph.sideways if link.rate is not None)
        return rates.most_common(1)[0][0] if rates else None

    def _uneven(self, number: int, up: Mapping[int, int]) -> None:
        """Switches that have other uplinks than most, or spread them unevenly."""
        usual = usual_count(up.values())
        odd = [d for d, count in up.items() if count != usual]
        name = TIERS[number - 1]
        if odd:
            counts = sorted({up[d] for d in odd})
            words = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            self.irregular.append(f"Uplinks of {self._names(odd)} ({name} tier): {words}, of the others {usual}.")
        spread = {d: Counter(end.device for end in self._graph.up.get(d, ())) for d in up if up[d] == usual}
        uneven = [d for d, there in spread.items() if len(set(there.values())) > 1]
        if uneven:
            self.irregular.append(f"Uplinks spread unevenly over the switches above: {self._names(uneven)}.")

    def _pods(self, servers: Sequence[int]) -> tuple[int, Literal["pod", "rail"]]:
        """Sets of leaves that share spines, over all fabrics, and whether a unit's leaves are in one of them."""
        graph = self._graph
        if graph.tiers <= _TWO:
            return 1, "pod"
        spines = {leaf: frozenset(end.device for end in graph.up.get(leaf, ())) for leaf in graph.of_tier(1)}
        pods = list(merged_sets(Counter(spines.values())))
        pod = {leaf: nearest_set(its, pods) for leaf, its in spines.items()}
        first = [[end.device for end in graph.up[host] if graph.fabric[end.device] == 0] for host in servers]
        split = sum(len(Counter(pod[leaf] for leaf in leaves if leaf in pod)) > _TWO for leaves in first)
        return len(pods), "rail" if 2 * split > len(servers) else "pod"

    def _oddities(self) -> None:
        graph = self._graph
        for upper in range(1, graph.tiers + 1):
            rates = {rate: n for (tier, rate), n in graph.down_rates.items() if tier == upper and rate is not None}
            if upper > 1 and len(rates) > 1:
                words = ", ".join(f"{n:,} at {rate:g}G" for rate, n in sorted(rates.items()))
                self.irregular.append(f"Links from the {TIERS[upper - 2]} to the {TIERS[upper - 1]} tier: {words}.")
        beside = [link for link in graph.sideways if graph.tier[link.a.device] != 1]
        leaf_links = len(graph.sideways) - len(beside)
        if leaf_links and not (graph.tiers == 1 and len(graph.of_tier(1)) == _TWO * graph.fabrics):
            self.irregular.append(f"Links between leaves: {leaf_links:,}.")
        if beside:
            self.irregular.append(f"Links between switches of one upper tier: {len(beside):,}.")
        if graph.other:
            self.irregular.append(f"Links that skip a tier, join hosts, or lead to no host: {len(graph.other):,}.")
        self.irregular += _states(self._found)


def _states(found: FoundFabric) -> Iterator[str]:
    down = Counter(link.state for link in found.links if link.state is not None)
    for state, count in sorted(down.items()):
        yield f"Links that are not active ({state}): {count:,}."
