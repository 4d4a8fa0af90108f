"""The outcome of a gesture agrees with the page's record, whatever the page does to the target at any event.

All cases share one document. Each case gets a new target, an effect, and the event that triggers it.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
from rounds import rounds

import cdpengine
from cdpengine.errors import (
    NotInteractableError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

STAGE = """<!doctype html><style>body { margin: 0; height: 500px } #go { position: absolute; left: 60px; top: 60px;
  width: 120px; height: 60px } #veil { position: fixed; inset: 0; background: #0004 }</style><body><script>
  const TYPES = ["pointerover", "mouseover", "pointermove", "mousemove", "pointerdown", "mousedown", "pointerup",
    "mouseup", "click", "auxclick", "dblclick", "contextmenu", "touchstart", "touchend"];
  const PRESSES = ["pointerdown", "mousedown", "click", "auxclick", "dblclick", "contextmenu", "touchstart"];
  const name = (node) => node.localName ? node.localName + (node.id ? "#" + node.id : "") : "document";
  let go = null, got = [], others = [], astray = [];
  function record(event) { if (event.isTrusted) got.push(event.type); }
  // In the window all is seen, also what is held back; at the body only what was received.
  for (const type of TYPES) {
    addEventListener(type, (event) => { if (!event.composedPath().includes(go)) others.push([type, name(event.target)]); }, true);
    document.body.addEventListener(type, (event) => {
      if (PRESSES.includes(type) && event.isTrusted && !event.composedPath().includes(go)) astray.push([type, name(event.target)]);
    });
  }
  const deeds = {
    remove: () => { go.remove(); },
    move: () => { go.style.left = "300px"; },
    cover: () => { const veil = document.createElement("div"); veil.id = "veil"; document.body.append(veil); },
    disable: () => { go.disabled = true; },
    hide: () => { go.style.display = "none"; },
    vanish: () => { go.style.visibility = "hidden"; },
    inert: () => { go.style.pointerEvents = "none"; },
    replace: () => { const next = go.cloneNode(true); next.id = "next"; go.replaceWith(next); },
    rewrite: () => { go.innerHTML = "<b>New</b>"; },
    stop: () => {},
  };
  function undo() {
    document.getElementById("veil")?.remove();
    go.style.cssText = "";
    go.disabled = false;
  }
  function rearm(tag, type, deed, instant) {
    document.activeElement.blur();
    document.body.replaceChildren();
    go = document.createElement(tag);
    go.id = "go"; go.tabIndex = 0; go.innerHTML = "<i style='display:block;height:100%'>Go</i>";
    [got, others, astray] = [[], [], []];
    for (const each of TYPES) go.addEventListener(each, record);
    let done = false;
    go.addEventListener(type, (event) => {
      if (done) return;
      done = true;
      if (deed === "stop") event.preventDefault();
      deeds[deed]();
      if (instant) setTimeout(undo, 30);
    });
    document.body.append(go);
    return go;
  }
</script>"""

Act = Callable[[cdpengine.Page, cdpengine.BackendNode], Awaitable[cdpengine.ActionOutcome]]

DEEDS = ("remove", "move", "cover", "disable", "hide", "vanish", "inert", "replace", "rewrite", "stop")
LASTING = ("remove", "replace")
ARRIVAL = ("pointerover", "pointerenter", "mousemove")
PRESS = ("pointerdown", "mousedown", "focus", "pointerup", "mouseup", "click")
REFUSALS = (NotInteractableError, StaleRefError)
WATCHED = {
    "hover": ("pointerover", "mouseover", "pointermove", "mousemove"),
    "press": ("pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"),
}  # fmt: skip

GESTURES: dict[str, tuple[Act, tuple[str, ...]]] = {
    "click": (lambda page, node: page.click(node, timeout=2), PRESS),
    "double click": (lambda page, node: page.double_click(node, timeout=2), (*PRESS, "dblclick")),
    "right click": (
        lambda page, node: page.click(node, button="right", timeout=2),
        (*PRESS[:-1], "contextmenu", "auxclick"),
    ),
    "middle click": (lambda page, node: page.click(node, button="middle", timeout=2), ("mousedown", "auxclick")),
    "slow click": (lambda page, node: page.click(node, delay=0.005, timeout=2), ("mousedown", "focus", "mouseup")),
    "hover": (lambda page, node: page.hover(node, timeout=2), ARRIVAL),
    "tap": (lambda page, node: page.tap(node, timeout=2), ("touchstart", "click")),
}  # fmt: skip


async def rearm(page: cdpengine.Page, *case: object) -> cdpengine.BackendNode:
    words = ", ".join(repr(part) if isinstance(part, str) else str(part).lower() for part in case)
    await page.mouse.hover(
        5, 490
    )  # otherwise a new element under the mouse receives events before the action
    made = await page.session.call("Runtime.evaluate", expression=f"rearm({words})")
    described = await page.session.call("DOM.describeNode", objectId=made["result"]["objectId"])
    return cdpengine.BackendNode(described["node"]["backendNodeId"])


async def ending(page: cdpengine.Page, act: Act, node: cdpengine.BackendNode) -> Any:
    try:
        return await act(page, node)
    except REFUSALS as error:
        return error


async def recorded(page: cdpengine.Page) -> dict[str, Any]:
    found = await page.session.call(
        "Runtime.evaluate", expression="({ got, others, astray })", returnByValue=True
    )
    value: dict[str, Any] = found["result"]["value"]
    return value


def expected(gesture: str, got: list[str], others: set[str]) -> bool | None:
    """The page's record: True if all events arrived, False if only the first ones did, None if none did."""
    if gesture == "hover":
        return True if "mousemove" in got else False if set(got) & set(WATCHED["hover"]) else None
    if not set(got) & {"pointerdown", "mousedown", "touchstart"}:
        return None
    if gesture == "right click":
        return bool({"contextmenu", "auxclick"} & set(got))
    if gesture == "middle click":
        return "auxclick" in got
    if gesture == "tap" and "touchend" in got and "click" not in others:
        return True
    return got.count("click") == (2 if gesture == "double click" else 1)


def wrong(gesture: str, end: Any, seen: dict[str, Any]) -> list[str]:
    """Return the differences between the outcome and the page's record."""
    got, others = seen["got"], [tuple(each) for each in seen["others"]]
    truth = expected(gesture, got, {kind for kind, _ in others})
    if isinstance(end, Exception):
        found = [] if truth is None else [f"{end!r}, but the target received {got}"]
        return found + ([f"{end!r}, but something else received {seen['astray']}"] if seen["astray"] else [])
    found = [] if end.delivered is truth else [f"delivered={end.delivered}, but the target received {got}"]
    watched = [each for each in got if each in WATCHED["hover" if gesture == "hover" else "press"]]
    if gesture != "tap" and (list(end.events) != watched[: len(end.events)] or not end.events):
        found.append(f"events={end.events}, but the target received {watched}")
    for kind, who in end.elsewhere:
        if not any(kind == each and who.startswith(name) for each, name in others):
            found.append(f"elsewhere={end.elsewhere}, but the page saw {others}")
    lost = {tuple(each) for each in seen["astray"]}
    told = {(kind, who.partition(" ")[0]) for kind, who in end.elsewhere}
    if truth is False and not {each for each in lost if each[0] != "dblclick"} <= told:
        found.append(f"elsewhere={end.elsewhere}, but something else received {lost}")
    return found


def cases(gesture: str) -> Iterable[tuple[str, str]]:
    _, events = GESTURES[gesture]
    if gesture == "tap":  # without a click, the engine waits for one until the timeout
        return [
            ("touchstart", "cover"),
            ("touchstart", "remove"),
            ("touchstart", "stop"),
            ("click", "remove"),
        ]
    table = list(itertools.product(events, DEEDS))
    if gesture in ("click", "hover"):
        return table
    # A usual run also has each event, each effect, and all cases of a click.
    sample = [(events[place % len(events)], deed) for place, deed in enumerate(DEEDS)]
    return sample[: rounds(len(sample), 0)] or table


@pytest.mark.sample(3)
@pytest.mark.parametrize("tag", ["button", "div"])
async def test_outcomes_agree_with_the_page(page: cdpengine.Page, tag: str) -> None:
    await page.set_content(STAGE)
    lies: list[str] = []
    tried = 0
    for gesture in GESTURES if tag == "button" else ("click", "hover"):
        for event, deed in cases(gesture):
            if gesture == "hover" and deed in ("disable", "stop"):
                continue
            node = await rearm(page, tag, event, deed, False)
            end = await ending(page, GESTURES[gesture][0], node)
            seen = await recorded(page)
            tried += 1
            lies += [f"{gesture}, {deed} at {event}: {each}" for each in wrong(gesture, end, seen)]
    assert lies == [], "\n".join(lies)
    assert tried > 80


@pytest.mark.sample(5)
@pytest.mark.parametrize("gesture", ["click", "double click", "right click"])
async def test_press_that_reached_no_element_is_retried(page: cdpengine.Page, gesture: str) -> None:
    """The engine waits when the page disturbs the target for a moment as the pointer arrives."""
    await page.set_content(STAGE)
    lies: list[str] = []
    for event, deed in itertools.product(ARRIVAL, DEEDS[:-2]):
        node = await rearm(page, "button", event, deed, deed not in LASTING)
        end = await ending(page, GESTURES[gesture][0], node)
        seen = await recorded(page)
        found = wrong(gesture, end, seen)
        if deed in LASTING:
            found += [] if isinstance(end, StaleRefError) else [f"{end!r}, but it was not there any more"]
        elif getattr(end, "delivered", None) is not True or seen["got"].count("mousedown") != (
            2 if gesture == "double click" else 1
        ):
            found.append(f"{end!r}, after {seen['got']}")
        lies += [f"{deed} at {event}: {each}" for each in found]
        if seen["astray"]:
            lies.append(f"{deed} at {event}: something else received {seen['astray']}")
    assert lies == [], "\n".join(lies)
