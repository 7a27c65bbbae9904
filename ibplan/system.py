"""Texts between the user's system and Python: arguments and file names in locales that lack the characters for them.

Python hands on bytes that the locale cannot read as lone surrogates. Text is UTF-8 everywhere in ibplan, so they are
taken for UTF-8; a file keeps the name that the system gave it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

# The lone surrogates that stand for the bytes 0x80 to 0xff.
_BYTES: Final = range(0xDC80, 0xDD00)


def readable(text: str) -> str:
    """An argument or a file name as text. One that is no UTF-8 stays as it is."""
    try:
        return text.encode("utf-8", "surrogateescape").decode()
    except UnicodeError:
        return text


def system_path(path: Path) -> Path:
    """A path as the system takes it: in a locale that lacks its characters, its UTF-8 bytes."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return Path(os.fsdecode(str(path).encode("utf-8", "surrogatepass")))
    return path


def escaped(text: str, keep: str = "") -> str:
    r"""Text that cannot drive a terminal: `\x1b` or `\u202e` for what is not printable, `\xff` for an odd byte."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in readable(text))


def _escape(c: str) -> str:
    code = ord(c) - 0xDC00 if ord(c) in _BYTES else ord(c)
    return f"\\x{code:02x}" if code < 0x100 else c.encode("unicode_escape").decode()
