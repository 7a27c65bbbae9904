"""What rich draws, as text: one console for every table, that nothing of the environment changes."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType


def printed(parts: Iterable[RenderableType], *, width: int, color: bool) -> str:
    """The parts one below the other, `width` columns wide; without color no line ends in blanks."""
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
    return text if color else "".join(f"{line.rstrip()}\n" for line in text.splitlines())
