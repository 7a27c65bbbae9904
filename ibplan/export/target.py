"""What a target is: a program that loads files about a fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ibplan.export.scheme import Scheme
from ibplan.spec.models import Fabric

ALL_FABRICS: tuple[Fabric, ...] = ("infiniband", "roce", "ethernet")


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file: its path below the directory, with `/`, and its text, piece by piece."""

    path: str
    pieces: Iterable[str]


@dataclass(frozen=True, slots=True)
class Export:
    """What a target makes of a network. `notes`: what the user should know of the files, in sentences."""

    files: tuple[ExportFile, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One target. `what` and `program` in words; `files`: names of the files, `*` where there are several.

    `make` raises UsageError where the target does not apply to the network.
    """

    name: str
    what: str
    program: str
    files: tuple[str, ...]
    make: Callable[[Scheme], Export]
    fabrics: tuple[Fabric, ...] = ALL_FABRICS


def one_file(path: str, text: str) -> Export:
    """An export of a single text."""
    return Export((ExportFile(path, (text,)),))
