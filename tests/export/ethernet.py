"""Small Ethernet fabrics of every form, for tests that read every line or start every switch."""

from __future__ import annotations

from functools import cache
from io import BytesIO

from ibplan.export.scheme import Scheme, make_scheme
from ibplan.plan.make import make_plan
from ibplan.spec.load import load_spec
from tests.export.samples import catalog

# 2 planes of 2 leaves and 2 spines, two links between each pair.
PLANES = """
servers: 8
server: {gpus: 4, nics: 2, ports_per_nic: 2, port_gbps: 400, rack_units: 4, power: 5 kW}
fabrics: roce
storage: none
network: {switch: nvidia-sn5610, planes: 2, tiers: 2, min_spines: 2, unit_servers: 4}
"""
# 4 leaves, 2 pods of 2 spines, 2 cores; links are watched.
THREE_TIERS = """
servers: 8
server: {gpus: 2, nics: 1, port_gbps: 100}
fabrics: ethernet
storage: none
network: {switch: {ports: 4, port_gbps: 100}, tiers: 3}
ethernet: {bfd: true}
"""
JOINED = """
servers: 4
server: {gpus: 2, nics: 2, port_gbps: 100}
fabrics: roce
storage: none
network: {switch: {ports: 8, port_gbps: 100}, tiers: 1, single_tier: two_leaves}
"""
# Two rails that nothing joins.
RAILS = """
servers: 4
server: {gpus: 2, nics: 2, port_gbps: 100}
fabrics: roce
storage: none
network: {switch: {ports: 8, port_gbps: 100}, rail_only: true}
"""
# Pods by rail: the cores join what the servers join, too.
RAIL_PODS = """
servers: 8
server: {gpus: 2, nics: 2, port_gbps: 100}
fabrics: roce
storage: none
network: {switch: {ports: 4, port_gbps: 100}, tiers: 3, second_tier: rail}
"""
ONE = """
servers: 4
server: {gpus: 2, nics: 1, port_gbps: 100}
fabrics: ethernet
storage: none
network: {switch: {ports: 8, port_gbps: 100}, tiers: 1}
"""
# Links of 2:1, storage beside the servers.
OTHERS = """
servers: 6
server: {gpus: 2, nics: 2, port_gbps: 100}
attached: [{name: nas, servers: 3, ports: 2, port_gbps: 100}]
fabrics: roce
storage: none
network: {switch: {ports: 16, port_gbps: 100}, tiers: 2, oversubscription: 2:1}
"""
FORMS = {
    "two planes": PLANES,
    "three tiers": THREE_TIERS,
    "two joined leaves": JOINED,
    "separate rails": RAILS,
    "pods by rail": RAIL_PODS,
    "one switch": ONE,
    "other hosts": OTHERS,
}


@cache
def small(text: str, *settings: str) -> Scheme:
    """The scheme of the first design of a spec, priced or not."""
    loaded = load_spec("-", settings, stdin=BytesIO(text.encode()))
    return make_scheme(loaded, catalog(), make_plan(loaded, catalog()).designs[0].id)
