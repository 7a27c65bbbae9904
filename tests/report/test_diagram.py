"""Drawings hold every link once, and are well-formed in each language."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from ibplan.fabric.drawing import MOST_SWITCHES, Drawing, draw
from ibplan.fabric.wiring_model import KINDS
from ibplan.plan.wired import WiredDesign
from ibplan.report.diagram import MERMAID_EDGES, cluster_label, mermaid_draws, node_lines, to_dot, to_mermaid
from ibplan.report.diagram_layout import Rect, lay_out
from ibplan.report.diagram_svg import to_svg
from tests.golden import check_golden
from tests.report.wired import CASES, ODD, Case, case_id, wired
from tests.test_golden_specs import GOLDEN

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'a"b\\N<script>&amp;]]>`|end\x1b[31m\x00\n#quot; --- é'
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)
folded_or_not = pytest.mark.parametrize("folded", [False, True])


def drawing_of(case: Case, folded: bool) -> Drawing:
    if not folded and wired(*case).wiring.network.switch_count > MOST_SWITCHES:
        folded = True
    return draw(wired(*case).wiring, folded)


def hostile() -> WiredDesign:
    return replace(wired("three-lines"), name=HOSTILE)


@folded_or_not
@every_case
def test_folding_keeps_devices_and_links(case: Case, folded: bool) -> None:
    wiring, drawing = wired(*case).wiring, drawing_of(case, folded)
    for kind in KINDS:
        assert sum(n.count for n in drawing.nodes if n.kind == kind) == len(wiring.of_kind(kind))
    for node in drawing.nodes:
        assert sum(r.count for r in node.names) == node.count
    links = wiring.links
    for link_kind in {c.kind for c in wiring.classes}:
        at = np.isin(links.link_class, [i for i, c in enumerate(wiring.classes) if c.kind == link_kind])
        edges = [e for e in drawing.edges if e.kind == link_kind]
        assert sum(e.links for e in edges) == int(at.sum())
        pairs = np.unique(np.stack([links.a_device[at], links.b_device[at], links.link_class[at]]), axis=1)
        assert sum(e.pairs for e in edges) == pairs.shape[1]
    assert all(e.least * e.pairs <= e.links <= e.most * e.pairs for e in drawing.edges)


@every_case
def test_every_switch_has_a_box_where_there_are_few(case: Case) -> None:
    wiring = wired(*case).wiring
    drawing = draw(wiring)
    few = wiring.network.switch_count <= MOST_SWITCHES
    assert drawing.folded is not few
    if few:
        assert all(n.count == 1 for n in drawing.nodes if n.kind in ("leaf", "spine", "core"))
    else:
        assert len(drawing.nodes) < 40


@folded_or_not
@every_case
def test_svg_is_well_formed_and_stands_alone(case: Case, folded: bool) -> None:
    drawing = drawing_of(case, folded)
    text = to_svg(wired(*case), drawing)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {e.tag for e in root.iter()} <= {f"{SVG}{t}" for t in ("svg", "title", "rect", "text", "path")}
    assert re.findall(r"(?:href|src|url\(|@import|<script|<style)", text) == []
    assert len(root.findall(f"{SVG}path")) == len(drawing.edges)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for rect in root.findall(f"{SVG}rect"):
        x, y = float(rect.get("x", "0")), float(rect.get("y", "0"))
        assert 0 <= x <= x + float(rect.get("width", "")) <= width
        assert 0 <= y <= y + float(rect.get("height", "")) <= height


@folded_or_not
@every_case
def test_boxes_do_not_overlap_and_stand_in_their_frames(case: Case, folded: bool) -> None:
    design, drawing = wired(*case), drawing_of(case, folded)
    lines = [node_lines(node, design, drawing) for node in drawing.nodes]
    layout = lay_out(drawing, lines, [cluster_label(c) for c in drawing.clusters], 60)
    assert not any(a.meets(b) for a, b in combinations(layout.boxes, 2))
    for node, box in zip(drawing.nodes, layout.boxes, strict=True):
        for number, frame in enumerate(layout.frames):
            held = node.cluster
            while held is not None and held != number:
                held = drawing.clusters[held].parent
            assert inside(box, frame) if held == number else not box.meets(frame)


def inside(box: Rect, frame: Rect) -> bool:
    across = frame.x <= box.x and box.x + box.width <= frame.x + frame.width
    return across and frame.y <= box.y and box.bottom <= frame.bottom


TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(--)|([A-Za-z_][A-Za-z0-9_]*)|(\d+(?:\.\d+)?)|([{}\[\]=;,]))')


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        assert match is not None, text[at : at + 60]
        found.append(match[0].strip())
        at = match.end()
    return found


class Dot:
    """A strict reader of the part of the DOT language that is written: nodes, edges, attributes, subgraphs."""

    def __init__(self, text: str) -> None:
        self.left = tokens(text)[::-1]
        self.nodes: set[str] = set()
        self.edges: list[tuple[str, str]] = []
        assert self.take() == "graph"
        assert self.take().startswith('"')
        self.block()
        assert not self.left

    def take(self) -> str:
        return self.left.pop()

    def block(self) -> None:
        assert self.take() == "{"
        while self.left[-1] != "}":
            word = self.take()
            if word == "subgraph":
                assert self.take().startswith("cluster_")
                self.block()
                continue
            if self.left[-1] == "=":
                self.left.pop()
                assert self.take()
            elif self.left[-1] == "--":
                self.left.pop()
                self.edges.append((word, self.take()))
                self.attributes()
            else:
                if word not in ("graph", "node", "edge"):
                    self.nodes.add(word)
                self.attributes()
            assert self.take() == ";"
        self.left.pop()

    def attributes(self) -> None:
        assert self.take() == "["
        while True:
            assert re.fullmatch(r"[a-z]+", self.take())
            assert self.take() == "="
            assert re.fullmatch(r'".*"|[A-Za-z0-9.]+', self.take(), re.DOTALL)
            if (mark := self.take()) == "]":
                return
            assert mark == ","


@folded_or_not
@every_case
def test_dot_follows_its_grammar(case: Case, folded: bool) -> None:
    drawing = drawing_of(case, folded)
    read = Dot(to_dot(wired(*case), drawing))
    assert read.nodes == {f"n{n}" for n in range(len(drawing.nodes))}
    assert sorted(read.edges) == sorted((f"n{e.upper}", f"n{e.lower}") for e in drawing.edges)


MERMAID_LINE = re.compile(
    r'(?P<node>n\d+)\["[^"]*"\]|subgraph c\d+\["[^"]*"\]|(?P<end>end)|(?P<a>n\d+) ---\|"[^"]*"\| (?P<b>n\d+)'
)


@folded_or_not
@every_case
def test_mermaid_follows_its_grammar(case: Case, folded: bool) -> None:
    drawing = drawing_of(case, folded)
    lines = to_mermaid(wired(*case), drawing).splitlines()
    assert lines[0] == lines[2] == "---"
    assert lines[3] == "flowchart TB"
    nodes, edges, depth = set(), [], 0
    for line in lines[4:]:
        match = MERMAID_LINE.fullmatch(line.strip())
        assert match is not None, line
        depth += line.strip().startswith("subgraph") - (match["end"] is not None)
        assert depth >= 0
        if match["node"]:
            nodes.add(match["node"])
        if match["a"]:
            edges.append((match["a"], match["b"]))
    assert depth == 0
    assert nodes == {f"n{n}" for n in range(len(drawing.nodes))}
    assert len(edges) == len(drawing.edges)


def test_hostile_names_stay_words() -> None:
    design = hostile()
    drawing = draw(design.wiring)
    root = ElementTree.fromstring(to_svg(design, drawing))
    assert any("<script>&amp;]]>" in (e.text or "") for e in root.iter(f"{SVG}text"))
    Dot(to_dot(design, drawing))
    assert to_mermaid(design, drawing).splitlines()[2:4] == ["---", "flowchart TB"]
    for text in (to_svg(design, drawing), to_dot(design, drawing), to_mermaid(design, drawing)):
        assert "\x1b" not in text
        assert "\x00" not in text


def test_mermaid_is_folded_where_it_would_not_draw() -> None:
    wiring = wired("h100-pod-127").wiring
    assert not mermaid_draws(draw(wiring))
    assert len(draw(wiring, folded=True).edges) <= MERMAID_EDGES


@pytest.mark.parametrize("case", [("one-switch", None, ()), ODD], ids=["one-switch", "three-tiers"])
def test_golden_diagram(case: Case) -> None:
    name = "one-switch" if case[0] == "one-switch" else "three-tiers-5000"
    design, drawing = wired(*case), draw(wired(*case).wiring)
    check_golden(GOLDEN / f"diagram-{name}.svg", to_svg(design, drawing))
    check_golden(GOLDEN / f"diagram-{name}.dot", to_dot(design, drawing))
    check_golden(GOLDEN / f"diagram-{name}.mmd", to_mermaid(design, drawing))
