"""Size limits: the parts of a snapshot that are kept, and the report about the rest."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node_trees import DOCUMENTS, rendered, shop
from snapshot_trees import DATA, NASTY

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.render.lines import Mode
from cdpengine._snapshot.render.render import estimate_tokens


def test_without_boxes_the_order_of_the_page_decides() -> None:
    whole = rendered(shop(50)).text.splitlines()
    shown = rendered(shop(50), max_chars=1000).text.splitlines()
    assert shown[:-1] == whole[: len(shown) - 1]
    assert re.fullmatch(
        r"# \d+ more lines \(\d+ refs\) left out by the limit of 1000 characters; take e1 as root for its other lines, or "
        r"raise the limit to see them, or use interactive or compact or a maximum depth",
        shown[-1],
    )


def scrolled(rows: int, by: float) -> Document:
    document = shop(rows, boxes=True)
    document.viewport = (800, 60)
    stack = list(document.roots)
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        if node.box is not None:
            node.box = (node.box[0], node.box[1] - by, *node.box[2:])
    return document


@pytest.mark.parametrize("mode", ["role", "ai", "numbered"])
def test_content_in_the_viewport_comes_first_with_its_ancestors(mode: Mode) -> None:
    text = rendered(scrolled(100, 1000), mode=mode, max_chars=900).text
    items = [int(number) for number in re.findall(r'link "Item (\d+)"', text)]
    assert {50, 51, 52} <= set(items)
    assert items == list(range(items[0], items[-1] + 1))
    assert '"Items"' in text.splitlines()[0]
    above, below = map(int, re.findall(r"; (\d+) of them above the viewport, (\d+) below;", text)[0])
    left = int(re.findall(r"^# (\d+) more lines", text, re.MULTILINE)[0])
    assert above > 0 < below
    # In mode ai a property of a node is a separate line, and counts as one.
    assert above + below <= left


def test_content_of_a_distant_frame_is_distant() -> None:
    inner = Document(
        [Node("button", "interactive", "In the frame", box=(0, 0, 10, 10), backend_node_id=90)],
        viewport=(100, 100),
    )
    far = Node("iframe", "interactive", "Ad", children=inner.roots, document=inner, box=(0, 5000, 100, 100))
    document = scrolled(30, 0)
    document.roots.insert(0, far)
    assert "In the frame" in rendered(document).text
    cut = rendered(document, max_chars=600).text
    assert "In the frame" not in cut
    assert 'link "Item 0"' in cut


def test_a_huge_line_does_not_keep_out_the_others() -> None:
    document = shop(2)
    document.roots.insert(0, Node("heading", "content", "x" * 20_000))
    text = rendered(document, max_chars=2000).text
    assert 'button "Buy 1"' in text
    assert "# 1 more line (0 refs) left out" in text


@settings(deadline=None)
@given(
    DOCUMENTS,
    st.sampled_from(["role", "ai", "numbered", "aria", "webarena"]),
    st.none() | st.integers(0, 1500),
    st.none() | st.integers(0, 500),
)
def test_limits_are_kept(document: Document, mode: Mode, chars: int | None, tokens: int | None) -> None:
    whole = rendered(document, mode=mode)
    shown = rendered(document, mode=mode, max_chars=chars, max_tokens=tokens)
    texts = shown.text.split("\n")
    ours = sum(len(line.encode()) + 1 for line in texts if line.startswith("# "))
    if chars is not None:
        assert len(shown.text) <= max(chars, ours)
    if tokens is not None:
        assert shown.tokens == estimate_tokens(shown.text)
        assert shown.tokens <= max(tokens, ours)
    if (chars is None or len(whole.text) <= chars) and (tokens is None or whole.tokens <= tokens):
        assert shown.text == whole.text
    everything = iter(whole.text.split("\n"))
    assert all(line in everything for line in texts if not line.startswith("# "))  # in the same order
    assert {ref.id for ref in shown.listed} | {ref.id for ref in shown.unshown} == {
        ref.id for ref in whole.listed
    }
    depths = [len(line) - len(line.lstrip(" \t")) for line in texts if not line.startswith("# ")]
    step = 1 if mode == "webarena" else 2
    assert all(after - before <= step for before, after in itertools.pairwise([-step, *depths]))


@given(NASTY, NASTY)
def test_the_estimate_adds_up(one: str, other: str) -> None:
    both = estimate_tokens(one + other)
    assert both <= estimate_tokens(one) + estimate_tokens(other) <= both + 1


def test_the_estimate_is_close_to_the_pieces_that_tokenisers_start_from() -> None:
    pieces = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|_+|\s+")
    for path in DATA.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert 0.75 < estimate_tokens(text) / len(pieces.findall(text)) < 1.34, path.name


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcde", 2), ("привет", 5), ("漢字", 3), ("\ud800", 2)]
)
def test_the_estimate(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize("value", [-1, True, 1.5])
def test_rejects_invalid_limits(value: Any) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        rendered(shop(1), max_tokens=value)
