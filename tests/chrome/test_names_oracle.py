"""Names on random documents, from every source, compared with Chrome's accessibility tree.

`CDPENGINE_NAMES_PAGES=1000` tests 1000 documents instead of a few dozen. `CDPENGINE_NAMES_SEED` sets the
first seed.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any, get_args

import pytest
from random_pages import random_page

import cdpengine
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.text import collapse_space

pytestmark = pytest.mark.chrome

PAGES = int(os.environ.get("CDPENGINE_NAMES_PAGES", "36"))
SEED = int(os.environ.get("CDPENGINE_NAMES_SEED", "1"))
SOURCES: tuple[Source, ...] = get_args(Source)
# Parts that the browser draws itself: bullets, and labels of buttons without one.
BROWSERS_OWN = {"\u2022", "\u25e6", "\u25aa", "\u25a0", "Submit", "Details"}
CLOSED = {"Date", "DateTime", "InputTime", "ColorWell", "Audio", "Video"}
# Roles whose lines show the name as contents, and then omit it.
SAID_INSIDE = {"cell", "gridcell", "generic", "listitem", "row", "term"}


def value_of(node: dict[str, Any], key: str) -> str:
    return str(node.get(key, {}).get("value", ""))


def words_of(texts: list[str]) -> set[str]:
    return {word for text in texts for word in text.split()}


def without_insides(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tree without Chrome's own nodes inside date and time inputs and media."""
    by_id = {node["nodeId"]: node for node in tree}
    left_out: set[str] = set()
    waiting = [
        child for node in tree if value_of(node, "role") in CLOSED for child in node.get("childIds", ())
    ]
    while waiting:
        left_out.add(waiting[-1])
        waiting.extend(by_id.get(waiting.pop(), {}).get("childIds", ()))
    return [node for node in tree if node["nodeId"] not in left_out]


def failures(snapshot: cdpengine.Snapshot, tree: list[dict[str, Any]], source: str) -> list[str]:
    """Return the differences between the snapshot and the tree."""
    tree = without_insides(tree)
    told = {
        node["backendDOMNodeId"]: node for node in tree if not node["ignored"] and "backendDOMNodeId" in node
    }
    hidden: list[bool] = []  # under aria-hidden: shown in the snapshot, and missing in Chrome's tree
    for node in snapshot.nodes:
        hidden.append("aria-hidden" in node.states or (node.parent is not None and hidden[node.parent]))
    nodes = [node for node, left_out in zip(snapshot.nodes, hidden, strict=True) if not left_out]
    shown = {node.ref.backend_node_id: node for node in nodes if node.ref is not None}
    wrong = []
    for number, node in shown.items():
        if number not in told:
            # Undeclared clickable elements are in no tree of Chrome.
            if source != "hybrid" and node.role != "canvas" and not node.clickable:
                wrong.append(f"{node.ref} is not in Chrome's tree")
            continue
        name = collapse_space(value_of(told[number], "name"))
        if node.name.replace(" ", "") != name.replace(" ", "") and not (
            (node.name == "" and node.role in SAID_INSIDE) or (node.clickable and name == "")
        ):
            wrong.append(f"{node.ref}: its name is {name!r}")
    for number, ax in told.items():
        focusable = any(item["name"] == "focusable" for item in ax.get("properties", ()))
        if focusable and value_of(ax, "role") != "RootWebArea" and number not in shown:
            wrong.append(f"{value_of(ax, 'role')} {value_of(ax, 'name')!r} has no line")
    # Each visible word is somewhere in a text, a name or a value.
    drawn = words_of(
        [
            value_of(node, "name")
            for node in tree
            if value_of(node, "role") == "StaticText" and not node["ignored"]
        ]
    )
    said = words_of([text for node in snapshot.nodes for text in (node.text, node.name, node.value or "")])
    wrong += [f"the word {word!r} is nowhere" for word in sorted(drawn - said) if word not in BROWSERS_OWN]
    wrong += [f"a line {node.role}" for node in snapshot.nodes if node.role in ("none", "presentation")]
    return wrong


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("source", SOURCES)
async def test_names_equal_those_of_chrome(page: cdpengine.Page, source: Source) -> None:
    wrong: list[str] = []
    for seed in range(SEED, SEED + PAGES):
        html = random_page(Random(seed))
        await page.set_content(f"<!doctype html><title>t</title>{html}")
        snapshot = await page.snapshot(source=source)
        tree = (await page.session.call("Accessibility.getFullAXTree"))["nodes"]
        found = failures(snapshot, tree, source)
        if found:
            wrong.append(f"page {seed}: {html}\n" + "\n".join(found) + f"\n{snapshot}")
    assert not wrong, f"{len(wrong)} of {PAGES} pages\n\n" + "\n\n".join(wrong[:5])
