"""A drawing as SVG: plain shapes and words, no scripts, no fonts or files from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from ibplan.fabric.drawing import Drawing, DrawnEdge
from ibplan.plan.wired import WiredDesign
from ibplan.report.diagram import cluster_label, edge_label, legend, node_lines, title
from ibplan.report.diagram_layout import FONT, LINE, MARGIN, Layout, Rect, lay_out, text_width

_MOST_LABELS: Final = 40
_ARC: Final = 40
_FILLS: Final = {
    "core": "#e3d5f0",
    "spine": "#cfe2f7",
    "leaf": "#d6eedb",
    "server": "#f3f3f3",
    "attached": "#fbe7c6",
    "manager": "#fbe7c6",
}
# Along a line from its upper end: the first place where a label meets nothing is taken.
_PLACES: Final = (0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14)


def to_svg(wired: WiredDesign, drawing: Drawing) -> str:
    """The drawing as an SVG document."""
    lines = [node_lines(node, wired, drawing) for node in drawing.nodes]
    titles = [cluster_label(cluster) for cluster in drawing.clusters]
    arcs = any(edge.kind == "leaf-leaf" for edge in drawing.edges)
    layout = lay_out(drawing, lines, titles, MARGIN + 2.5 * LINE + (_ARC if arcs else 0))
    notes = legend(drawing)
    width = max(layout.width, *(text_width(text) * 1.2 + 2 * MARGIN for text in (title(wired), *notes)))
    height = layout.height + LINE * len(notes) + MARGIN
    body = [
        *_frames(layout, titles),
        *_edges(drawing, layout),
        *_boxes(drawing, layout, lines),
        *_labels(drawing, layout),
        *(_text(MARGIN, layout.height + LINE * (n + 1), note, "start") for n, note in enumerate(notes)),
    ]
    size = f'width="{_px(width)}" height="{_px(height)}" viewBox="0 0 {_px(width)} {_px(height)}"'
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Helvetica, Arial, sans-serif"'
        f' font-size="{FONT}" fill="#111111">',
        f"  <title>{escape(title(wired))}</title>",
        f'  <rect width="{_px(width)}" height="{_px(height)}" fill="#ffffff"/>',
        f'  <text x="{MARGIN}" y="{MARGIN + LINE}" font-size="{FONT + 2}" font-weight="bold">'
        f"{escape(title(wired))}</text>",
    ]
    return "\n".join([*head, *(f"  {line}" for line in body), "</svg>"]) + "\n"


def _px(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _rect(place: Rect, style: str) -> str:
    return (
        f'<rect x="{_px(place.x)}" y="{_px(place.y)}" width="{_px(place.width)}" height="{_px(place.height)}"'
        f' rx="4" {style}/>'
    )


def _frames(layout: Layout, titles: Sequence[str]) -> Iterator[str]:
    for frame, words in zip(layout.frames, titles, strict=True):
        yield _rect(frame, 'fill="none" stroke="#888888" stroke-dasharray="4 3"')
        yield _text(frame.middle, frame.bottom - 6, words, more=' fill="#444444"')


def _boxes(drawing: Drawing, layout: Layout, lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for node, place, text in zip(drawing.nodes, layout.boxes, lines, strict=True):
        if drawing.folded and node.count > 1:  # a second sheet behind: there are several
            behind = Rect(place.x + 4, place.y - 4, place.width, place.height)
            yield _rect(behind, f'fill="{_FILLS[node.kind]}" stroke="#333333"')
        yield _rect(place, f'fill="{_FILLS[node.kind]}" stroke="#333333"')
        middle = place.y + place.height / 2
        turn = f' transform="rotate(-90 {_px(place.middle)} {_px(middle)})"' if place.upright else ""
        first = middle - LINE * (len(text) - 1) / 2 + FONT * 0.35
        for number, words in enumerate(text):
            yield _text(place.middle, first + LINE * number, words, more=turn)


def _ends(edge: DrawnEdge, layout: Layout) -> tuple[float, float, float, float]:
    """From the lower side of the upper box to the upper side of the lower one."""
    upper, lower = layout.boxes[edge.upper], layout.boxes[edge.lower]
    return upper.middle, upper.bottom, lower.middle, lower.y


def _edges(drawing: Drawing, layout: Layout) -> Iterator[str]:
    many = len(drawing.edges) > _MOST_LABELS
    for edge in drawing.edges:
        x1, y1, x2, y2 = _ends(edge, layout)
        style = f'fill="none" stroke="#555555" stroke-width="{"0.6" if many else "1.2"}"'
        if edge.kind == "leaf-leaf":  # side by side: an arc above
            top = layout.boxes[edge.upper].y
            shape = f'd="M{_px(x1)} {_px(top)} Q{_px((x1 + x2) / 2)} {_px(top - _ARC)} {_px(x2)} {_px(y2)}"'
        else:
            shape = f'd="M{_px(x1)} {_px(y1)} L{_px(x2)} {_px(y2)}"'
        yield f"<path {shape} {style}><title>{escape(edge_label(edge, drawing.folded))}</title></path>"


def _labels(drawing: Drawing, layout: Layout) -> Iterator[str]:
    """What the lines say, where there are few; each on its line where it meets no box and no other label."""
    if len(drawing.edges) > _MOST_LABELS:
        return
    taken = list(layout.boxes)
    for edge in drawing.edges:
        words = edge_label(edge, drawing.folded)
        place = _free_place(edge, layout, words, taken)
        taken.append(place)
        yield _rect(place, 'fill="#ffffff" fill-opacity="0.9"')
        yield _text(place.middle, place.y + FONT, words)


def _free_place(edge: DrawnEdge, layout: Layout, words: str, taken: Sequence[Rect]) -> Rect:
    x1, y1, x2, y2 = _ends(edge, layout)
    if edge.kind == "leaf-leaf":
        y1 = y2 = layout.boxes[edge.upper].y - _ARC / 2  # the top of the arc
    width = text_width(words)
    places = [Rect(x1 + (x2 - x1) * t - width / 2, y1 + (y2 - y1) * t - LINE / 2, width, LINE) for t in _PLACES]
    return next((p for p in places if not any(p.meets(other) for other in taken)), places[0])
