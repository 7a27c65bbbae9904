"""Where the boxes, frames and words of a drawing stand on the page, in pixels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ibplan.fabric.drawing import Drawing

FONT: Final = 12
LINE: Final = 16
MARGIN: Final = 24
_GAP: Final = 20
_ROW_GAP: Final = 120
_CHARACTER: Final = 0.62 * FONT  # a little more than the widest common fonts take
_PADDING: Final = 10
_UPRIGHT: Final = 8  # rows of more boxes than this stand their names upright
_ROWS: Final = {"core": 0, "spine": 1, "leaf": 2, "server": 3, "attached": 3, "manager": 3}


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle. `upright`: the words in it run upward."""

    x: float
    y: float
    width: float
    height: float
    upright: bool = False

    @property
    def middle(self) -> float:
        """The middle, left to right."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower side."""
        return self.y + self.height

    def meets(self, other: Rect) -> bool:
        """Whether two rectangles overlap."""
        across = self.x < other.x + other.width and other.x < self.x + self.width
        return across and self.y < other.bottom and other.y < self.bottom


@dataclass(frozen=True, slots=True)
class Layout:
    """All places: boxes by node, frames by cluster (outer ones first), and the size of the page below `top`."""

    boxes: tuple[Rect, ...]
    frames: tuple[Rect, ...]
    width: float
    height: float


def text_width(text: str) -> float:
    """How wide a line is at most, whatever the font."""
    return len(text) * _CHARACTER


def lay_out(drawing: Drawing, lines: Sequence[Sequence[str]], titles: Sequence[str], top: float) -> Layout:
    """Place a drawing. `lines` of every box, `titles` of every frame; nothing stands above `top`."""
    sizes = _sizes(drawing, lines)
    rows = _row_places(drawing, sizes, top)
    x = _in_frames(drawing, sizes, titles) if drawing.clusters else _in_rows(drawing, sizes)
    boxes = tuple(
        Rect(x[n], rows[_ROWS[node.kind]], *sizes[n][:2], sizes[n][2]) for n, node in enumerate(drawing.nodes)
    )
    frames = _frames(drawing, boxes, titles)
    everything = [*boxes, *frames]
    left = min(r.x for r in everything) - MARGIN
    width = max(r.x + r.width for r in everything) - left + MARGIN
    moved = [Rect(r.x - left, r.y, r.width, r.height, r.upright) for r in everything]
    height = max(r.bottom for r in everything) + MARGIN
    return Layout(tuple(moved[: len(boxes)]), tuple(moved[len(boxes) :]), width, height)


def _sizes(drawing: Drawing, lines: Sequence[Sequence[str]]) -> list[tuple[float, float, bool]]:
    """Width, height and whether upright of every box; boxes of one row are upright together."""
    in_row: dict[int, int] = {}
    for node in drawing.nodes:
        row = _ROWS[node.kind]
        in_row[row] = in_row.get(row, 0) + 1
    found: list[tuple[float, float, bool]] = []
    for node, text in zip(drawing.nodes, lines, strict=True):
        long = max(map(text_width, text)) + 2 * _PADDING
        wide = len(text) * LINE + _PADDING
        upright = not drawing.folded and in_row[_ROWS[node.kind]] > _UPRIGHT
        found.append((wide, long, True) if upright else (long, wide, False))
    # One height a row: a line from a low box would run through a higher one beside it.
    highest = {
        row: max(s[1] for n, s in zip(drawing.nodes, found, strict=True) if _ROWS[n.kind] == row) for row in in_row
    }
    return [(w, highest[_ROWS[n.kind]], up) for n, (w, _, up) in zip(drawing.nodes, found, strict=True)]


def _row_places(drawing: Drawing, sizes: Sequence[tuple[float, float, bool]], top: float) -> dict[int, float]:
    places, y = {}, top
    for row in sorted({_ROWS[node.kind] for node in drawing.nodes}):
        places[row] = y
        heights = [size[1] for node, size in zip(drawing.nodes, sizes, strict=True) if _ROWS[node.kind] == row]
        y += max(heights) + _ROW_GAP
    return places


def _in_rows(drawing: Drawing, sizes: Sequence[tuple[float, float, bool]]) -> dict[int, float]:
    """Every row evenly over the width of the widest."""
    rows: dict[int, list[int]] = {}
    for n, node in enumerate(drawing.nodes):
        rows.setdefault(_ROWS[node.kind], []).append(n)
    gap = _GAP / 2
    widest = max(sum(sizes[n][0] + gap for n in members) for members in rows.values())
    x = {}
    for members in rows.values():
        own = sum(sizes[n][0] for n in members)
        space = (widest - own) / len(members)
        at = space / 2
        for n in members:
            x[n] = at
            at += sizes[n][0] + space
    return x


def _in_frames(drawing: Drawing, sizes: Sequence[tuple[float, float, bool]], titles: Sequence[str]) -> dict[int, float]:
    """Frames side by side, from the innermost out; what has no frame beside (hosts) or centered above (switches)."""
    x: dict[int, float] = {}
    at = 0.0
    for cluster, frame in enumerate(drawing.clusters):
        if frame.parent is None:
            at = _fill(drawing, sizes, titles, cluster, at, x) + 2 * _GAP
    rest = [n for n, node in enumerate(drawing.nodes) if node.cluster is None]
    middle = (at - 2 * _GAP) / 2
    for row in (0, 1, 2):
        _center([n for n in rest if _ROWS[drawing.nodes[n].kind] == row], sizes, middle, x)
    for n in rest:
        if n not in x:
            x[n] = at
            at += sizes[n][0] + 2 * _GAP
    return x


def _fill(
    drawing: Drawing,
    sizes: Sequence[tuple[float, float, bool]],
    titles: Sequence[str],
    cluster: int,
    start: float,
    x: dict[int, float],
) -> float:
    """Place what is in a frame from `start` on; returns where the frame ends."""
    at = start + _GAP
    for inner, frame in enumerate(drawing.clusters):
        if frame.parent == cluster:
            at = _fill(drawing, sizes, titles, inner, at, x) + _GAP
    rows: dict[int, list[int]] = {}
    for n, node in enumerate(drawing.nodes):
        if node.cluster == cluster:
            rows.setdefault(_ROWS[node.kind], []).append(n)
    widths = [sum(sizes[n][0] + _GAP for n in members) for members in rows.values()]
    end = max(at, start + _GAP + max(widths, default=0), start + text_width(titles[cluster]) + 2 * _GAP)
    for members in rows.values():
        _center(members, sizes, (start + end) / 2, x)
    return end


def _center(
    members: Iterable[int], sizes: Sequence[tuple[float, float, bool]], middle: float, x: dict[int, float]
) -> None:
    row = list(members)
    at = middle - (sum(sizes[n][0] + _GAP for n in row) - _GAP) / 2
    for n in row:
        x[n] = at
        at += sizes[n][0] + _GAP


def _frames(drawing: Drawing, boxes: Sequence[Rect], titles: Sequence[str]) -> tuple[Rect, ...]:
    """A frame around what it holds, with room for its title below, where no line passes."""
    found: dict[int, Rect] = {}
    for cluster in reversed(range(len(drawing.clusters))):
        found[cluster] = _around(drawing, boxes, found, cluster, titles[cluster])
    return tuple(found[cluster] for cluster in range(len(drawing.clusters)))


def _around(drawing: Drawing, boxes: Sequence[Rect], frames: Mapping[int, Rect], cluster: int, title: str) -> Rect:
    held = [boxes[n] for n, node in enumerate(drawing.nodes) if node.cluster == cluster]
    held += [frames[inner] for inner, frame in enumerate(drawing.clusters) if frame.parent == cluster]
    pad = _GAP / 2
    left, right = min(r.x for r in held) - pad, max(r.x + r.width for r in held) + pad
    short = max(0.0, text_width(title) + _GAP - (right - left)) / 2
    upper = min(r.y for r in held) - pad
    return Rect(left - short, upper, right - left + 2 * short, max(r.bottom for r in held) + pad + LINE - upper)
