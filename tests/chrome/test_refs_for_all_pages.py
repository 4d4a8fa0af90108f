"""With `refs="all"`, each visible element of any page has one ref, in every mode and from every source."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
from random_pages import random_page
from ref_oracle import Record
from rounds import rounds
from snapshot_trees import element_lines

import cdpengine
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import AX_MODES, Mode

pytestmark = pytest.mark.chrome

MODES: tuple[Mode, ...] = get_args(Mode)
SOURCES: tuple[Source, ...] = get_args(Source)
LIST = "<!doctype html><ul>" + "".join(f"<li id=i{n}>Item {n}</li>" for n in range(3)) + "</ul>"


async def check_all(page: cdpengine.Page, record: Record, mode: Mode, source: Source | None) -> None:
    snapshot = await page.snapshot(mode=mode, source=source, refs="all")
    where = f"{mode}, {source}\n{snapshot}"
    assert [ref for _, ref in element_lines(snapshot.text, mode)] == list(snapshot.refs), where
    assert all(node.ref is not None for node in snapshot.nodes if node.role != "text"), where
    shown = [node.ref.id for node in snapshot.nodes if node.ref is not None]
    assert len(set(shown)) == len(shown)
    assert set(shown) <= {*snapshot.refs, *(ref.id for ref in snapshot.unshown)}
    await record.check(page, snapshot.refs)


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(rounds(4, 40)))
async def test_each_line_of_an_element_has_its_own_ref(page: cdpengine.Page, seed: int) -> None:
    await page.set_content(random_page(Random(seed)))
    record = Record()
    for mode in MODES:
        for source in (None,) if mode in AX_MODES else SOURCES:
            await check_all(page, record, mode, source)


async def test_items_of_a_sortable_list(page: cdpengine.Page) -> None:
    await page.set_content(LIST)
    assert not (await page.snapshot()).refs
    for mode in MODES:
        snapshot = await page.snapshot(mode=mode, refs="all")
        second = snapshot.find("listitem", text="Item 1")
        assert await page.evaluate("item => item.id", target=second) == "i1"


@pytest.mark.sample(5, start=1)
@pytest.mark.parametrize("mode", MODES)
async def test_diff_reproduces_the_text(page: cdpengine.Page, mode: Mode) -> None:
    await page.set_content(LIST)
    first = await page.snapshot(mode=mode)
    every = await page.snapshot(mode=mode, refs="all", since=first)
    await page.evaluate("document.querySelector('li').remove()")
    fewer = await page.snapshot(mode=mode, refs="all", since=every)
    assert every.diff is not None
    assert fewer.diff is not None
    assert every.diff.apply(first.text) == every.text
    assert fewer.diff.apply(every.text) == fewer.text
    assert set(fewer.refs) < set(every.refs)
