"""A directory of files, written whole or not at all. What somebody else wrote, or changed, is not overwritten."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ibplan.errors import OutputError, UsageError
from ibplan.system import system_path

MANIFEST: Final = "ibplan-export.json"
_SHOWN: Final = 5
_MOST_BYTES: Final = 1 << 28
_Files = Sequence[tuple[str, Iterable[str]]]


def write_tree(output: Path, target: str, about: Mapping[str, Any], files: _Files, *, force: bool = False) -> None:
    """Write the files of a target into a directory, with a list of them, MANIFEST, which tells them apart later.

    Files of the same target that an earlier run wrote, and nobody changed, are replaced, or removed if they are not
    written any more; so is everything in the way with `force`. Other files stay. Raises UsageError where a file is in
    the way, OutputError where something cannot be written; then nothing has changed.
    """
    try:
        _write(system_path(output), output, target, about, files, force)
    except (OSError, ValueError) as error:
        raise OutputError(f"{output}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _write(folder: Path, shown: Path, target: str, about: Mapping[str, Any], files: _Files, force: bool) -> None:
    there = os.path.lexists(folder)
    if there and not folder.is_dir():
        raise NotADirectoryError(0, "it is a file; name a directory")
    manifest = _read_manifest(folder / MANIFEST, shown, force) if there else {}
    written = {path for path, digest in _files_of(manifest, target).items() if _digest(folder / path) == digest}
    in_the_way = [path for path, _ in files if path not in written and os.path.lexists(folder / path)]
    if in_the_way and not force:
        raise _in_the_way(shown, in_the_way)
    # Named before it is made: a signal that comes between the two would leave it behind.
    stage = (folder if there else folder.parent) / f".ibplan-{os.urandom(8).hex()}.tmp"
    try:
        stage.mkdir()
        new = stage / "new"
        digests = {path: _write_file(new / path, pieces) for path, pieces in files}
        manifest = manifest | {target: {**about, "files": digests}}
        _write_file(new / MANIFEST, [json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"])
        if there:
            _swap(folder, stage, [*digests, MANIFEST], sorted(written - digests.keys()))
        else:
            new.rename(folder)
    finally:  # interruption, too: nothing half-written stays behind
        shutil.rmtree(stage, ignore_errors=True)


def _in_the_way(shown: Path, paths: list[str]) -> UsageError:
    names = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else "")
    return UsageError(
        f"{shown}: {names}: not written by `ibplan export` for this target, or changed since; "
        "name another directory, or overwrite with --force"
    )


def _read_manifest(path: Path, shown: Path, force: bool) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        with path.open("rb") as stream:
            data = json.loads(stream.read(_MOST_BYTES))
        if isinstance(data, dict) and all(isinstance(_files_of(data, target), dict) for target in data):
            return data
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        pass
    if force:
        return {}
    raise _in_the_way(shown, [MANIFEST])


def _files_of(manifest: Mapping[str, Any], target: str) -> dict[str, str]:
    """The files that an earlier run wrote for a target, with the digest of each. Only paths below the directory."""
    files: dict[str, str] = manifest.get(target, {"files": {}})["files"]
    if any(Path(path).is_absolute() or ".." in Path(path).parts for path in files):
        raise ValueError("a path leads out of the directory")
    return files


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _write_file(path: Path, pieces: Iterable[str]) -> str:
    """Write a new file; the digest of what is in it."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        for piece in pieces:
            content = piece.encode()
            digest.update(content)
            stream.write(content)
    return digest.hexdigest()


def _swap(folder: Path, stage: Path, new: list[str], stale: list[str]) -> None:
    """Put the new files in place of the old ones. If anything goes wrong, everything goes back."""
    with contextlib.ExitStack() as undo:
        for path in [*new, *stale]:
            if os.path.lexists(folder / path):
                _move(folder / path, stage / "old" / path, undo)
        for path in new:
            _move(stage / "new" / path, folder / path, undo)
        undo.pop_all()
    for parent in _parents(stale):
        with contextlib.suppress(OSError):  # not empty: somebody else has a file there
            (folder / parent).rmdir()


def _move(source: Path, destination: Path, undo: contextlib.ExitStack) -> None:
    for parent in reversed(destination.parents):
        if not parent.is_dir():
            parent.mkdir()
            undo.callback(_rmdir, parent)
    undo.callback(_back, source, destination)
    os.replace(source, destination)


def _back(source: Path, destination: Path) -> None:
    if os.path.lexists(destination) and not os.path.lexists(source):
        os.replace(destination, source)


def _rmdir(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()


def _parents(paths: Iterable[str]) -> Iterator[str]:
    """The directories of files, the innermost first."""
    found = {str(parent) for path in paths for parent in Path(path).parents if str(parent) != "."}
    return iter(sorted(found, key=len, reverse=True))
