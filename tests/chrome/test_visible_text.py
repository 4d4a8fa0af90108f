"""Visible text and text that is only in the document: `find(text=)` and `wait_for(text=)`."""

from __future__ import annotations

import re

import pytest
import trio

import cdpengine

PICTURE = "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E"

VISIBLE = {
    "open details": "<details open><summary>S</summary>{}</details>",
    "summary of closed details": "<details><summary>{}</summary>x</details>",
    "details shown by a style sheet": "<details class=open><summary>S</summary>{}</details>",
    "visible in hidden": "<div style='visibility:hidden'><b style='visibility:visible'>{}</b></div>",
    "opacity 0": "<div style='opacity:0'>{}</div>",
    "inert": "<div inert>{}</div>",
    "display: contents": "<div style='display:contents'>{}</div>",
    "display: contents, twice": "<div style='display:contents'><i style='display:contents'>{}</i></div>",
    "content-visibility does not apply": "<span style='content-visibility:hidden'>{}</span>",
    "not drawn while it is far away": "<div style='height:9000px'></div><p style='content-visibility:auto'>{}</p>",
    "fallback of an object": "<object>{}</object>",
    "text of a drawing": "<svg><text y=20>{}</text></svg>",
    "button": "<input type=button value={}>",
}
UNSEEN = {
    "closed details": "<details><summary>S</summary>{}</details>",
    "closed details without a summary": "<details>{}</details>",
    "display: contents in closed details": "<details><summary>S</summary><p style='display:contents'>{}</p></details>",
    "content-visibility": "<div style='content-visibility:hidden'>{}</div>",
    "element below content-visibility": "<div style='content-visibility:hidden'><b>{}</b></div>",
    "hidden until found": "<div hidden=until-found>{}</div>",
    "hidden": "<div hidden>{}</div>",
    "visibility": "<div style='visibility:hidden'>{}</div>",
    "collapsed row": "<table><tr style='visibility:collapse'><td>{}</table>",
    "replaced by a picture": f"<div style='content:url({PICTURE})'>{{}}</div>",
    "fallback of a canvas": "<canvas>{}</canvas>",
    "fallback of a video": "<video>{}</video>",
    "fallback of a meter": "<meter>{}</meter>",
    "fallback of a loaded object": f"<object data='{PICTURE}' type=image/svg+xml>{{}}</object>",
    "description of a drawing": "<svg><desc>{}</desc></svg>",
    "closed dialog": "<dialog>{}</dialog>",
    "closed popover": "<div popover>{}</div>",
    "button below content-visibility": "<div style='content-visibility:hidden'><input type=button value={}></div>",
}
VISIBLE_IN_SHADOW = {
    "in a slot": "<slot></slot>",
    "in a slot of open details": "<details open><slot></slot></details>",
}
UNSEEN_IN_SHADOW = {
    "in no slot": "x",
    "in a slot of closed details": "<details><slot></slot></details>",
    "in a slot below content-visibility": "<div style='content-visibility:hidden'><slot></slot></div>",
}


def word(prefix: str, case: str) -> str:
    return prefix + re.sub(r"\W+", "_", case) + "-"


def elements(cases: dict[str, str], prefix: str) -> str:
    return "".join(html.format(word(prefix, case)) for case, html in cases.items())


async def seen(page: cdpengine.Page, text: str | re.Pattern[str]) -> bool:
    try:
        await page.find(text=text)
    except cdpengine.errors.NodeNotFoundError:
        return False
    return True


@pytest.mark.parametrize("shadow", [False, True], ids=["one tree", "with shadow roots"])
async def test_text_counts_where_a_person_can_see_it(page: cdpengine.Page, shadow: bool) -> None:
    visible, unseen = dict(VISIBLE), dict(UNSEEN)
    html = "<!doctype html><style>.open::details-content { content-visibility: visible }</style>"
    if shadow:
        for cases, inside in ((visible, VISIBLE_IN_SHADOW), (unseen, UNSEEN_IN_SHADOW)):
            for case, tree in inside.items():
                cases[case] = f"<x-a><template shadowrootmode=open>{tree}</template>{{}}</x-a>"
    await page.set_content(html + elements(visible, "shown-") + elements(unseen, "covert-"))
    wrong = []
    for cases, prefix, expected in ((visible, "shown-", True), (unseen, "covert-", False)):
        for case in cases:
            text = word(prefix, case)
            if (await seen(page, text), await seen(page, re.compile(text))) != (expected, expected):
                wrong.append(case)
    assert wrong == []
    await page.wait_for(text_gone="covert-", timeout=5)
    await page.wait_for(text=word("shown-", "display: contents"), timeout=5)


async def test_waiting_ends_when_hidden_text_is_shown(page: cdpengine.Page) -> None:
    await page.set_content("<details><summary>More</summary>Secret offer</details>")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: page.wait_for(text="secret offer", timeout=10))
        await page.click(await page.find(css="summary"))
    await page.evaluate("document.body.style.contentVisibility = 'hidden'")
    await page.wait_for(text_gone="secret offer", timeout=5)


async def test_element_without_a_box_is_as_visible_as_its_contents(page: cdpengine.Page) -> None:
    await page.set_content(
        "<style>p { display: contents }</style><p id=a>x</p><p id=b><i>x</i></p><p id=c> <i hidden>x</i></p>"
        "<details><p id=d>x</p></details>"
    )
    await page.wait_for(css="#a", timeout=5)
    await page.wait_for(css="#b", timeout=5)
    await page.wait_for(css_gone="#c, #d", timeout=5)
