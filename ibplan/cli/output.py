"""Results: on standard output, or in a file that is written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from ibplan.errors import OutputError
from ibplan.system import system_path


class ClosedPipeError(Exception):
    """Nobody reads standard output any more (`ibplan ... | head`): a quiet end, no failure."""


def emit(text: str | bytes, output: Path | None = None) -> None:
    """Write a result: to standard output (None or `-`), else to a file."""
    if output is None or str(output) == "-":
        _write_stdout(text)
        return
    try:
        _write_file(_bytes(text), system_path(output))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{output}: cannot be written: {reason}") from None


def narrow_encoding() -> str | None:
    """The encoding of standard output, if it lacks characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return None if encoding.lower().replace("_", "-").startswith("utf") else encoding


def _bytes(text: str | bytes, encoding: str = "utf-8") -> bytes:
    return text.encode(encoding, "backslashreplace") if isinstance(text, str) else text


def _write_stdout(text: str | bytes) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    # Programs and files get UTF-8; a terminal gets what it can show.
    data = _bytes(text, (narrow_encoding() if sys.stdout.isatty() else None) or "utf-8")
    try:
        sys.stdout.flush()
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:  # a stand-in that takes text only
            sys.stdout.write(data.decode("utf-8"))
            return
        stream.write(data)
        stream.flush()
    except BrokenPipeError:
        raise ClosedPipeError from None
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None


def _write_file(data: bytes, output: Path) -> None:
    mode = _mode(output)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a directory")
    if mode is not None and not stat.S_ISREG(mode):  # /dev/null, /dev/stdout, a pipe: cannot be replaced
        _write_stream(data, output)
        return
    # The link stays, what it points to is written.
    target = Path(os.path.realpath(output)) if output.is_symlink() else output
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    # Named before it is made: a signal that comes between the two would leave it behind.
    temporary = target.parent / f".ibplan-{os.urandom(8).hex()}.tmp"
    try:
        with open(temporary, "xb", opener=_private) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_new_mode() if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:  # interruption, too: nothing half-written stays behind
        temporary.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _write_stream(data: bytes, output: Path) -> None:
    try:
        with output.open("wb") as stream:
            stream.write(data)
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
