"""Plain documents are read without Chrome's accessibility tree, with the same result as with it.

The random documents are plain or of any other kind. `CDPENGINE_PLAIN_PAGES=10000` tests 10,000 of them instead of a few
dozen. scripts/compare_snapshots.py compares the same documents with another revision of the engine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from random_documents import random_document
from rounds import rounds
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.instruments import Traffic
from cdpengine._snapshot.sources.ax import read_ax

pytestmark = pytest.mark.chrome

PAGES = int(os.environ.get("CDPENGINE_PLAIN_PAGES", rounds(20, 400)))
SEED = int(os.environ.get("CDPENGINE_PLAIN_SEED", "1"))


@contextmanager
def asked_of(browser: cdpengine.Browser) -> Iterator[list[str]]:
    """Collect the methods of commands sent while the block runs."""
    sent: list[str] = []

    def watch(traffic: Traffic) -> None:
        if traffic.direction == "sent":
            sent.append(json.loads(traffic.message)["method"])

    with browser.instruments.attached(watch):
        yield sent


def said(snapshot: cdpengine.Snapshot) -> list[tuple[object, ...]]:
    return [
        (node.role, node.name, node.value, dict(node.states), node.text, node.parent, node.url, node.description,
         node.placeholder, node.clickable, node.ref is not None)
        for node in snapshot.nodes
    ]  # fmt: skip


@pytest.fixture
async def tree_page(browser: cdpengine.Browser) -> AsyncIterator[cdpengine.Page]:
    """Yield a page whose documents are read with the tree."""
    page = await browser.new_page()
    try:
        await page.set_content("<div role=note>not plain</div>")
        await page.snapshot()
        yield page
    finally:
        await page.close()


def comparable(found: list[str]) -> list[str]:
    """Return the lines of a source without ids, and without placeholders of lists, which Chrome's tree lacks."""
    kept = [re.sub(r" backend=\d+", "", line) for line in found]
    return [
        line.partition(" placeholder=")[0] if line.lstrip().startswith("combobox") else line for line in kept
    ]


@pytest.mark.timeout(90 + PAGES)
async def test_random_documents_read_the_same(browser: cdpengine.Browser, tree_page: cdpengine.Page) -> None:
    plain, page = 0, await browser.new_page()
    unlike_ax = []
    try:
        for number in range(SEED, SEED + PAGES):
            html = random_document(number)
            for each in (page, tree_page):
                await each.set_content(html)
            with asked_of(browser) as sent:
                found = await page.snapshot()
            expected = await tree_page.snapshot()
            assert said(found) == said(expected), f"document {number}:\n{html}"
            if "Accessibility.enable" not in sent:
                plain += 1
                tree = await read_ax(request_of(tree_page, IsolatedWorlds(), clickables=True))
                assert found.internals is not None
                if comparable(lines(found.internals.document)) != comparable(lines(tree)):
                    unlike_ax.append(number)
            else:  # from now on this page has the tree
                await page.close()
                page = await browser.new_page()
    finally:
        await page.close()
    assert plain >= PAGES // 6
    assert len(unlike_ax) <= plain // 50, unlike_ax  # a paragraph in a heading, as with the tree
