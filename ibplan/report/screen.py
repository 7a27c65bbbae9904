"""What rich draws, as text: one console for every table, that nothing of the environment changes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.console import Console, RenderableType

_LINES: Final = str.maketrans("│├└─", "||`-")


def ascii_only_data(value: Any) -> Any:
    r"""Plain data whose texts are ASCII: `\xe9` stands for what a terminal cannot show."""
    if isinstance(value, str):
        return value.encode("ascii", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {ascii_only_data(key): ascii_only_data(item) for key, item in value.items()}
    return [ascii_only_data(item) for item in value] if isinstance(value, list | tuple) else value


def printed(parts: Iterable[RenderableType], *, width: int, color: bool, ascii_only: bool = False) -> str:
    """The parts one below the other, `width` columns wide; without color no line ends in blanks.

    `ascii_only`: lines of tables are drawn in ASCII; texts must be ASCII already, or lines would come out too wide.
    """
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},  # the caller has decided: no variable of the environment changes a result
    )
    for part in parts:
        console.print(part)
    text = stream.getvalue()
    if ascii_only:
        text = text.translate(_LINES).encode("ascii", "backslashreplace").decode()
    return text if color else "".join(f"{line.rstrip()}\n" for line in text.splitlines())
