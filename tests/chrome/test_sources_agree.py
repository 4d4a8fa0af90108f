"""The sources `ax` and `computed` agree on every page of the corpus: refs, roles, names, states, values.

The comparison normalises only the differences in docs/snapshot-sources.md: nodes in the browser's shadow
trees, which no script can see, and the division of text runs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed

pytestmark = pytest.mark.chrome


CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.html"))
BEYOND_THE_TREE = {
    "hidden_attributes",
    "without_tree",
}  # the clickables add the parts that Chrome's tree lacks


def in_the_browsers_own_trees(node: dict[str, Any], inside: bool = False) -> Iterator[int]:
    """Yield the backend node ids in user-agent shadow roots. `node` is a `DOM` description."""
    if inside:
        yield node["backendNodeId"]
    for root in node.get("shadowRoots", ()):
        yield from in_the_browsers_own_trees(root, inside or root["shadowRootType"] == "user-agent")
    for key in ("children", "pseudoElements"):
        for child in node.get(key, ()):
            yield from in_the_browsers_own_trees(child, inside)


def without(nodes: list[Node], ids: set[int]) -> None:
    nodes[:] = [node for node in nodes if node.backend_node_id not in ids]
    for node in nodes:
        without(node.children, ids)


def letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def texts(document: Document, named: set[str]) -> str:
    """Return the letters of all texts in order, except those that a name repeats."""
    found = (letters(node.name) for node in walk(document.roots) if node.kind == "text")
    return "".join(text for text in found if not any(text in name for name in named))


@pytest.mark.sample(4)
@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
async def test_both_sources_agree(page: cdpengine.Page, file: Path) -> None:
    # Only the walk has content that content-visibility: auto skips (test_content_visibility.py). Here nothing
    # is skipped.
    await page.set_content(file.read_text("utf-8").replace("content-visibility:auto", ""))
    worlds = IsolatedWorlds()
    request = request_of(page, worlds, clickables=file.stem in BEYOND_THE_TREE)
    ax = await read_ax(request)
    computed = await read_computed(request)
    again = await read_computed(request)
    tree = await page.session.call("DOM.getDocument", depth=-1, pierce=True)
    without(ax.roots, set(in_the_browsers_own_trees(tree["root"])))

    assert lines(computed) == lines(ax)
    assert lines(again) == lines(computed)
    named = {letters(node.name) for node in walk([*ax.roots, *computed.roots]) if node.kind != "text"}
    assert texts(computed, named) == texts(ax, named)
    assert (computed.url, computed.title, computed.loader_id) == (ax.url, ax.title, ax.loader_id)
    assert len(lines(ax)) + len(texts(ax, set())) > 0
