"""Presses that a framework delegates: elements without their own listeners, from every source."""

from __future__ import annotations

from typing import get_args

import pytest

import cdpengine
from cdpengine._snapshot.node import Source

pytestmark = pytest.mark.chrome

SOURCES: tuple[Source, ...] = get_args(Source)

# Each framework's marks on elements and its listeners, made as the framework makes them.
REACT = """
const root = document.getElementById("root");
document["_reactListening5x"] = root["_reactListening5x"] = true;
root["__reactContainer$5x"] = {};
for (const type of ["click", "mousedown", "pointerdown"]) {
  for (const capture of [false, true]) root.addEventListener(type, () => 0, capture);
}
const props = { down: { onMouseDown() {} }, double: { onDoubleClick() {} }, caught: { onPointerUpCapture() {} },
  own: { onClick() {} }, plain: { className: "x", onMouseEnter() {}, onMouseDown: null } };
for (const at of root.querySelectorAll("*")) at["__reactProps$5x"] = props[at.id] || {};
document.getElementById("own").onclick = function noop() {};
"""
OLD_REACT = (
    REACT.replace(
        'document["_reactListening5x"] = root["_reactListening5x"] = true;', "root._reactRootContainer = {};"
    )
    .replace('root["__reactContainer$5x"] = {};', "")
    .replace("__reactProps$", "__reactEventHandlers$")
    .replace("root.addEventListener", "document.addEventListener")
)
JQUERY = """
window.jQuery = function () {};
jQuery.expando = "jQuery3710123456789";
const root = document.getElementById("root");
const handlers = (...selectors) => Object.assign(selectors.map((selector) => ({ selector, handler() {} })),
  { delegateCount: selectors.filter(Boolean).length });
root.addEventListener("click", () => 0);
document.addEventListener("dblclick", () => 0);
root[jQuery.expando + "1"] = { events: { __proto__: null, click: handlers("#down", "#own", "p:eq(1)", ".none", undefined) } };
document[jQuery.expando + "1"] = { events: { __proto__: null, dblclick: handlers("#root > #double"), mouseenter: handlers("#plain") } };
document.getElementById("caught").addEventListener("click", () => 0);
"""
BUNDLED_JQUERY = JQUERY.replace("window.jQuery", "const jQuery")
SOLID = """
document["_$DX_DELEGATE"] = new Set(["click", "mousedown"]);
document.addEventListener("click", () => 0);
document.addEventListener("mousedown", () => 0);
const of = (id) => document.getElementById(id);
of("down").$$mousedown = () => 0;
of("own").$$click = () => 0;
of("double").$$dblclick = () => 0;
of("caught").$$pointerup = () => 0;
of("plain").$$input = () => 0;
"""
SVELTE = """
window.__svelte = { v: new Set(["5"]) };
document.getElementById("root").addEventListener("click", () => 0, { passive: false });
const of = (id) => document.getElementById(id);
of("down").__mousedown = [() => 0, 1];
of("own").__click = () => 0;
of("double").__dblclick = () => 0;
of("caught").__pointerup = () => 0;
of("plain").__click = undefined;
"""
WAYS = {
    "react": REACT, "react 16": OLD_REACT, "jquery": JQUERY, "bundled jquery": BUNDLED_JQUERY, "solid": SOLID,
    "svelte": SVELTE,
}  # fmt: skip
BODY = (
    "<div id=root><span id=down>Down</span><span id=double>Double</span><span id=caught>Caught</span>"
    "<span id=own>Own</span><span id=plain>Plain</span><p>One<p>Two<button>Control</button></div>"
)


def page_of(script: str) -> str:
    return f"<!doctype html>{BODY}<script>{{{script}}}</script>"


def marked(snapshot: cdpengine.Snapshot) -> list[str]:
    return [node.name for node in snapshot.nodes if node.clickable]


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", WAYS)
async def test_delegation_target_has_a_ref(page: cdpengine.Page, way: str) -> None:
    await page.set_content(page_of(WAYS[way]))
    for source in SOURCES:
        snapshot = await page.snapshot(source=source)
        assert marked(snapshot) == ["Down", "Double", "Caught", "Own"], f"{source}\n{snapshot}"
        assert not snapshot.gaps
        assert (
            await page.evaluate("element => element.id", target=snapshot.find("generic", "Double"))
            == "double"
        )


async def test_added_and_removed_handlers_are_seen(page: cdpengine.Page) -> None:
    await page.set_content(page_of(REACT))
    assert marked(await page.snapshot()) == ["Down", "Double", "Caught", "Own"]
    await page.evaluate(
        "document.getElementById('double')['__reactProps$5x'] = {};"
        "document.getElementById('plain')['__reactProps$5x'] = { onTouchEnd() {} }; 0"
    )
    assert marked(await page.snapshot()) == ["Down", "Caught", "Own", "Plain"]
    assert (await page.snapshot()).text == (await page.snapshot(fresh=True)).text


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("way", WAYS)
async def test_framework_that_starts_on_unchanged_page_is_seen(page: cdpengine.Page, way: str) -> None:
    """Without a sign of a framework, the engine asks for none. The framework starts without a change of the
    document.
    """
    await page.set_content(page_of("document.getElementById('own').onclick = () => 0;"))
    for _ in range(3):
        assert marked(await page.snapshot()) == ["Own"]
    await page.evaluate(f"() => {{ {WAYS[way]} }}")
    assert marked(await page.snapshot()) == ["Down", "Double", "Caught", "Own"]
    assert marked(await page.snapshot()) == ["Down", "Double", "Caught", "Own"]


async def test_open_shadow_trees_are_gone_through(page: cdpengine.Page) -> None:
    shadow = "<div><template shadowrootmode=open><b id=inner>Inner</b></template></div>"
    script = REACT + (
        "document.querySelector('#root + div').shadowRoot.getElementById('inner')['__reactProps$5x'] ="
        " { onMouseDown() {} };"
    )
    await page.set_content(page_of(script).replace("<script>", f"{shadow}<script>"))
    assert marked(await page.snapshot())[-1] == "Inner"


async def test_no_getter_of_the_page_is_called(page: cdpengine.Page) -> None:
    getter = "{ get() { self.called = true; return () => 0 }, enumerable: true }"
    await page.set_content(
        page_of(
            "document.getElementById('own').onclick = () => 0;"
            "Object.defineProperty(window, '__svelte', { value: {} });"
            f"for (const key of ['__click', '__reactProps$a', 'jQuery1231'])"
            f"  Object.defineProperty(document.getElementById('down'), key, {getter});"
            f"Object.defineProperty(window, 'jQuery', {getter});"
        )
    )
    for source in SOURCES:
        assert marked(await page.snapshot(source=source)) == ["Own"]
    assert await page.evaluate("self.called === undefined")


async def test_page_that_replaced_builtins_is_still_shown(page: cdpengine.Page) -> None:
    await page.set_content(
        page_of(
            "document.getElementById('own').onclick = () => 0; Object.keys = () => { throw Error('mine') };"
        )
    )
    for source in SOURCES:
        snapshot = await page.snapshot(source=source)
        assert marked(snapshot) == ["Own"]
        [frame] = snapshot.stats.sources.values()
        reason = "click targets of frameworks are unknown: a function in the page threw: Error: mine"
        assert reason in frame.reason
