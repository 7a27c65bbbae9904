"""All targets, and how one is chosen."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

from ibplan.errors import UsageError
from ibplan.export.containerlab import CONTAINERLAB
from ibplan.export.discover import IBNETDISCOVER, IBSIM
from ibplan.export.frr import FRR
from ibplan.export.graphs import GRAPHML, NODE_LINK
from ibplan.export.ibdm import IBDIAGNET
from ibplan.export.labels import K8S_LABELS, KUEUE, TOPOGRAPH
from ibplan.export.netbox import NETBOX
from ibplan.export.nvue import NVUE, NVUE_5_11
from ibplan.export.opensm import OPENSM
from ibplan.export.ptm import PTM
from ibplan.export.scheme import Scheme
from ibplan.export.slurm import SLURM, SLURM_BLOCK, SLURM_YAML
from ibplan.export.sonic import SONIC
from ibplan.export.target import Export, Target

TARGETS: Final[tuple[Target, ...]] = (
    IBSIM,
    IBNETDISCOVER,
    OPENSM,
    IBDIAGNET,
    SLURM,
    SLURM_BLOCK,
    SLURM_YAML,
    K8S_LABELS,
    KUEUE,
    TOPOGRAPH,
    GRAPHML,
    NODE_LINK,
    CONTAINERLAB,
    PTM,
    NETBOX,
    FRR,
    SONIC,
    NVUE,
    NVUE_5_11,
)
_NEAREST: Final = 3
_LONGEST_SHOWN: Final = 100


def find_target(name: str) -> Target:
    """The target of a name. Raises UsageError with the nearest names."""
    for target in TARGETS:
        if target.name == name:
            return target
    names = [target.name for target in TARGETS]
    near = get_close_matches(name, names, _NEAREST) or names
    shown = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..."
    raise UsageError(f"--to: there is no target {shown!r}; nearest: {', '.join(near)}; `ibplan export --list` has all")


def make_export(target: Target, scheme: Scheme) -> Export:
    """What a target makes of a network. Raises UsageError where it does not apply, InputError for names and ranges."""
    fabric = scheme.wired.fabric
    if fabric not in target.fabrics:
        raise UsageError(
            f"--to {target.name}: the {scheme.network} network of {scheme.wired.id} is {_WORDS[fabric]}; "
            f"{target.what} is for {' and '.join(_WORDS[f] for f in target.fabrics)}"
        )
    return target.make(scheme)


_WORDS: Final[dict[str, str]] = {"infiniband": "InfiniBand", "roce": "RoCE", "ethernet": "Ethernet"}


def target_rows() -> list[dict[str, Any]]:
    """One row a target, for `ibplan export --list`."""
    return [
        {
            "target": target.name,
            "what": target.what,
            "for": ", ".join(target.fabrics),
            "files": ", ".join(target.files),
            "program": target.program,
        }
        for target in TARGETS
    ]
