"""Spec files: read, changed by settings, validated; with what the user left to defaults."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from pydantic import BaseModel

from ibplan.document import Document, printable, read_document, read_stream, validate
from ibplan.errors import InputError, Problem
from ibplan.spec.economics import CategoryDiscounts, Discounts, Licences, PoissonStock, Spares, Support
from ibplan.spec.models import (
    AttachedHosts,
    Budget,
    HallSpec,
    InbandSpec,
    InlineServer,
    InlineSwitch,
    ManagementHosts,
    ModelSpec,
    OobSpec,
    Spec,
    StorageSpec,
)
from ibplan.spec.settings import VARY, apply_settings
from ibplan.system import system_path

if TYPE_CHECKING:
    from ibplan.spec.lock import Lock

STDIN: Final = "-"
_STDIN_SOURCE: Final = "<stdin>"
# The key by which a document is a lock and not a spec.
LOCK_KEY: Final = "ibplan_lock"
LOCK_SUFFIX: Final = ".lock.yaml"
# What these leave out is unknown or has no limit: not a default.
_UNKNOWN_IF_UNSAID: Final = (
    InlineServer,
    InlineSwitch,
    AttachedHosts,
    ModelSpec,
    Budget,
    HallSpec,
    StorageSpec,
    InbandSpec,
    OobSpec,
    ManagementHosts,
    Discounts,
    CategoryDiscounts,
    PoissonStock,
    Spares,
    Licences,
    Support,
)


def lock_path(spec: Path) -> Path:
    """Where the lock of a spec file stands: beside it, `<stem>.lock.yaml`."""
    return spec.with_name(f"{spec.stem}{LOCK_SUFFIX}")


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A valid spec and where it came from. `defaults`: JSON pointers of what the user did not write.

    `lock`: what fixes its design and prices; None = nothing does.
    """

    spec: Spec
    source: str
    directory: Path
    defaults: tuple[str, ...]
    document: Document
    lock: Lock | None = None

    @property
    def price_path(self) -> Path | None:
        """The file that `prices:` names."""
        return None if self.spec.prices is None else self.directory / self.spec.prices

    @property
    def catalog_paths(self) -> tuple[Path, ...]:
        """The files that `catalog:` names, in order."""
        return tuple(self.directory / name for name in self.spec.catalog)


def load_spec(path: Path | str, settings: Sequence[str] = (), *, stdin: BinaryIO | None = None) -> LoadedSpec:
    """Load a spec; `-` is standard input. `settings` are `key=value` texts (`network.tiers=2`). Raises InputError."""
    return _loaded(_read(path, stdin), settings)


def load_variants(
    path: Path | str,
    settings: Sequence[str],
    variants: Iterable[Sequence[str]],
    *,
    stdin: BinaryIO | None = None,
) -> Iterator[LoadedSpec | InputError]:
    """A spec once for each variant: with its `key=value` texts after the settings, or with what is wrong with it.

    The file is read once. Raises InputError where it cannot be read at all.
    """
    source = _read(path, stdin)
    for variant in variants:
        try:
            yield _loaded(source, settings, variant)
        except InputError as error:
            yield error


@dataclass(frozen=True, slots=True)
class _Source:
    """A spec as it was read: its data, its name where it states none, the directory that its paths start from."""

    document: Document
    name: str
    directory: Path


def _read(path: Path | str, stdin: BinaryIO | None) -> _Source:
    if str(path) == STDIN:
        source = _Source(_read_stdin(stdin), "spec", Path())
    else:
        source = _Source(read_document(Path(path)), printable(Path(path).stem)[:120], Path(path).parent)
    if LOCK_KEY in source.document.data:
        raise InputError([source.document.problem((), "this is a lock, not a spec", "name the spec that it locks")])
    return source


def _loaded(source: _Source, settings: Sequence[str], variant: Sequence[str] = ()) -> LoadedSpec:
    document, problems = apply_settings(source.document, settings)
    document, more = apply_settings(document, variant, VARY)
    problems += more
    try:
        spec = validate(Spec, document)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    if problems:
        raise InputError(problems)
    defaults = tuple(_defaults(spec, ""))
    if spec.name is None:
        spec = spec.model_copy(update={"name": source.name})
    loaded = LoadedSpec(spec, document.source, source.directory, defaults, document)
    missing = list(_missing_files(loaded))
    if missing:
        raise InputError(missing)
    return loaded


def _read_stdin(stream: BinaryIO | None) -> Document:
    if stream is None and sys.stdin is None:
        raise InputError([Problem(_STDIN_SOURCE, 0, 0, "standard input is closed", "give a file, or pipe a spec in")])
    try:
        return read_stream(sys.stdin.buffer if stream is None else stream, _STDIN_SOURCE)
    except OSError as error:
        raise InputError([Problem(_STDIN_SOURCE, 0, 0, f"cannot be read: {error.strerror}")]) from None


def check_specs(paths: Iterable[Path | str], settings: Sequence[str] = ()) -> Iterator[LoadedSpec | InputError]:
    """Each spec, loaded or with what is wrong with it."""
    for path in paths:
        try:
            yield load_spec(path, settings)
        except InputError as error:
            yield error


def load_specs(paths: Iterable[Path | str], settings: Sequence[str] = ()) -> tuple[LoadedSpec, ...]:
    """All specs. Raises one InputError with the problems of all files."""
    results = tuple(check_specs(paths, settings))
    problems = [p for result in results if isinstance(result, InputError) for p in result.problems]
    if problems:
        raise InputError(problems)
    return tuple(result for result in results if isinstance(result, LoadedSpec))


def _missing_files(loaded: LoadedSpec) -> Iterator[Problem]:
    named: list[tuple[tuple[str | int, ...], Path]] = [
        (("catalog", i), path) for i, path in enumerate(loaded.catalog_paths)
    ]
    if loaded.price_path is not None:
        named.append((("prices",), loaded.price_path))
    for loc, path in named:
        try:
            regular = stat.S_ISREG(os.stat(system_path(path)).st_mode)
            reason = "" if regular else "is not a regular file"
        except FileNotFoundError:
            reason = "there is no such file"
        except (OSError, ValueError) as error:
            reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        if reason:
            message = f"{loc[0]}: {printable(path)}: {reason}"
            yield loaded.document.problem(loc, message, "paths are relative to the spec")


def _defaults(model: BaseModel, pointer: str) -> Iterator[str]:
    """JSON pointers of the parts of `model` that were not given, in the model's order."""
    unknown_if_unsaid = isinstance(model, _UNKNOWN_IF_UNSAID)
    for name in type(model).model_fields:
        value, here = getattr(model, name), f"{pointer}/{name}"
        if isinstance(value, BaseModel):
            yield from _defaults(value, here)
        elif name not in model.model_fields_set:
            if value is not None or not unknown_if_unsaid:
                yield here
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from _defaults(item, f"{here}/{index}")
