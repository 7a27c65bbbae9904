"""Results: on standard output, or in a file that is written whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, cast

from ibplan.errors import OutputError
from ibplan.system import system_path


class ClosedPipeError(Exception):
    """Nobody reads standard output any more (`ibplan ... | head`): a quiet end, no failure."""


def emit(text: str | bytes, output: Path | None = None) -> None:
    """Write a result: to standard output (None or `-`), else to a file."""
    emit_pieces([text], output)


def emit_pieces(pieces: Iterable[str | bytes], output: Path | None = None) -> None:
    """Write a result that is made piece by piece, as `emit` does: a file is written whole or not at all."""
    # Programs and files get UTF-8; a terminal gets what it can show.
    terminal = _is_stdout(output) and sys.stdout is not None and sys.stdout.isatty()
    encoding = (narrow_encoding() if terminal else None) or "utf-8"

    def write(stream: IO[bytes]) -> None:
        for piece in pieces:
            stream.write(piece.encode(encoding, "backslashreplace") if isinstance(piece, str) else piece)

    emit_with(write, output)


def emit_with(write: Callable[[IO[bytes]], None], output: Path | None = None) -> None:
    """Write a result by a function that takes an open file, as `emit` does."""
    if output is None or _is_stdout(output):
        _write_stdout(write)
        return
    try:
        _write_file(write, system_path(output))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{output}: cannot be written: {reason}") from None


def narrow_encoding() -> str | None:
    """The encoding of standard output, if it lacks characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return None if encoding.lower().replace("_", "-").startswith("utf") else encoding


def _is_stdout(output: Path | None) -> bool:
    return output is None or str(output) == "-"


class _Text(io.RawIOBase):
    """A stand-in for standard output that takes text only, as a file of bytes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, data: Any, /) -> int:
        self._stream.write(bytes(data).decode("utf-8"))
        return len(data)


def _write_stdout(write: Callable[[IO[bytes]], None]) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    try:
        sys.stdout.flush()
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:  # a stand-in that takes text only
            write(cast("IO[bytes]", _Text(sys.stdout)))
            return
        write(stream)
        stream.flush()
    except BrokenPipeError:
        raise ClosedPipeError from None
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None


def _write_file(write: Callable[[IO[bytes]], None], output: Path) -> None:
    mode = _mode(output)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a directory")
    if mode is not None and not stat.S_ISREG(mode):  # /dev/null, /dev/stdout, a pipe: cannot be replaced
        _write_stream(write, output)
        return
    # The link stays, what it points to is written.
    target = Path(os.path.realpath(output)) if output.is_symlink() else output
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    # Named before it is made: a signal that comes between the two would leave it behind.
    temporary = target.parent / f".ibplan-{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb", opener=_private) as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_new_mode() if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:  # interruption, too: nothing half-written stays behind
        temporary.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _write_stream(write: Callable[[IO[bytes]], None], output: Path) -> None:
    try:
        with output.open("wb") as stream:
            write(stream)
    except BrokenPipeError:
        raise ClosedPipeError from None


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
