"""`aria-owns`: the sources `computed` and `dom` move the same elements as Chrome's tree, and lose none."""

from __future__ import annotations

import pytest
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom

pytestmark = pytest.mark.chrome

CHILD = "<p>between</p><div role=group id=c aria-label=C>child</div>"
OWNER = "<div role=group aria-label=A aria-owns=c {}>a</div>" + CHILD
GROUP = "<div role=group id={0} aria-label={0} aria-owns={1}>{0}{2}</div>"
SHADOW = "<div><template shadowrootmode=open><b>shadow</b></template>{}</div>"
DOCUMENTS = [
    # Hidden owners.
    *(OWNER.format(way) for way in ("hidden", "inert", "style=visibility:hidden", "style=display:contents")),
    *(OWNER.format(way) for way in ("aria-hidden=true", "role=img", "tabindex=0 contenteditable")),
    f"<div hidden>{OWNER.format('')[: -len(CHILD)]}</div>{CHILD}",
    f"<details><summary>s</summary>{OWNER.format('')[: -len(CHILD)]}</details>{CHILD}",
    f"<div style=content-visibility:hidden>{OWNER.format('')[: -len(CHILD)]}</div>{CHILD}",
    SHADOW.format(OWNER.format("")[: -len(CHILD)]) + CHILD,
    f"<form hidden aria-owns=c>x</form>{CHILD}",
    # Owners that own nothing, or own elements despite a fault.
    *(
        f"<{tag} aria-owns=c></{tag}>{CHILD}"
        for tag in ("hr", "iframe", "progress", "script", "form", "fieldset")
    ),
    f"<select><option aria-owns=c>a</select>{CHILD}",
    # Owned elements.
    OWNER.format("").replace("id=c", "id=c style=display:contents"),
    OWNER.format("").replace("id=c", "id=c aria-hidden=true"),
    OWNER.format("").replace("id=c", "id=c hidden"),
    OWNER.format("")[: -len(CHILD)] + SHADOW.format(CHILD),
    OWNER.format("")[: -len(CHILD)] + f"<div aria-hidden=true>{CHILD}</div>",
    OWNER.format("")[: -len(CHILD)] + "<p>between</p><form id=c aria-label=F>x</form>",
    OWNER.format("")[: -len(CHILD)] + "<p>between</p><option id=c>x</option>",
    # Cycles, and two owners.
    GROUP.format("a", "b", "") + "<p>between</p>" + GROUP.format("b", "a", ""),
    GROUP.format("a", "a", ""),
    GROUP.format("a", "x", GROUP.format("b", "a", "")),
    GROUP.format("a", "b", "") + GROUP.format("b", "x", GROUP.format("c", "a", "")),
    GROUP.format("a", "c", "") + GROUP.format("b", "c", "") + CHILD,
]


async def check_each(page: cdpengine.Page, documents: list[str]) -> None:
    for html in documents:
        await page.set_content("<!doctype html>" + html)
        worlds = IsolatedWorlds()
        expected = lines(await read_ax(request_of(page, worlds, clickables=True)))
        for read in (read_computed, read_dom):
            assert lines(await read(request_of(page, worlds, clickables=True))) == expected, html


async def test_owned_elements_are_where_chrome_has_them(page: cdpengine.Page) -> None:
    await check_each(page, DOCUMENTS)


async def test_values_of_comboboxes_that_are_no_fields(page: cdpengine.Page) -> None:
    texts = [
        "one",
        "<span>two</span><b>three</b>",
        "<div>four</div><div>five</div>",
        "six <i aria-hidden=true>arrow</i>",
    ]
    await check_each(
        page, [f"<div role=combobox {way}>{text}</div>" for text in texts for way in ("", "tabindex=0")]
    )


async def test_elements_without_a_box_take_no_focus(page: cdpengine.Page) -> None:
    await check_each(
        page, ["<p tabindex=0 style=display:contents>a <button>b</button></p><li tabindex=0>c</li>"]
    )
