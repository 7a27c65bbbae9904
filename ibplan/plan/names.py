"""The id of a design: stable, unique, readable. The grammar is in docs/design-ids.md."""

from __future__ import annotations

from fractions import Fraction

from ibplan.plan.forms import Choices, Form, Refused
from ibplan.plan.hosts import HostPorts
from ibplan.plan.switches import TierModels
from ibplan.spec.models import Fabric


def form_id(form: Form | Refused, tiers: int | None) -> str:
    """`<fabric>-<switches>-<tiers>t-<ratio>` and a suffix for every choice that is not the default, in a fixed order.

    `tiers` None = not sized: the tiers asked for, `auto` included. What a design of that many tiers does not have (a
    ratio without uplinks, spine choices below three tiers) is left out, so that equal designs have equal ids.
    """
    choices = form.choices
    shown = tiers or choices.tiers
    head = f"{form.fabric}-{_switches(form.switches)}-{shown}t-{_ratio(_leaf_ratio(choices, tiers))}"
    suffixes = [*_host_suffix(form.fabric, form.hosts), *_wiring(choices, tiers), *_ports(choices, tiers)]
    return "-".join([head, *suffixes])


def _switches(switches: TierModels | None) -> str:
    return "any" if switches is None else switches.name


def _leaf_ratio(choices: Choices, tiers: int | None) -> Fraction:
    if tiers == 1 and choices.single_tier == "one_switch":
        return Fraction(1)
    return choices.leaf_ratio


def _ratio(ratio: Fraction) -> str:
    return f"{ratio.numerator}to{ratio.denominator}"


def _host_suffix(fabric: Fabric, hosts: HostPorts | None) -> list[str]:
    return [f"{hosts.gbps}g"] if fabric == "ethernet" and hosts is not None else []


def _wiring(choices: Choices, tiers: int | None) -> list[str]:
    three = tiers in (None, 3)
    found = []
    if choices.spine_ratio != 1 and three:
        found.append(f"spine{_ratio(choices.spine_ratio)}")
    if choices.planes > 1:
        found.append(f"{choices.planes}planes")
    if choices.rail_only:
        found.append("railonly")
    elif not choices.rail_optimized and tiers != 1:
        found.append("norail")
    if choices.second_tier == "rail" and three:
        found.append("railpods")
    if choices.single_tier == "two_leaves" and tiers in (None, 1):
        found.append("twoleaves")
    return found


def _ports(choices: Choices, tiers: int | None) -> list[str]:
    found = []
    if choices.leaf_uplink_gbps is not None and (tiers != 1 or choices.single_tier == "two_leaves"):
        found.append(f"up{choices.leaf_uplink_gbps}g")
    if choices.spine_uplink_gbps is not None and tiers in (None, 3):
        found.append(f"spineup{choices.spine_uplink_gbps}g")
    if choices.partial_units == "packed" and tiers != 1:
        found.append("packed")
    if choices.leaf_ports == "all" and tiers != 1:
        found.append("allports")
    if choices.spine_ports == "all" and tiers in (None, 3):
        found.append("spineallports")
    return found
