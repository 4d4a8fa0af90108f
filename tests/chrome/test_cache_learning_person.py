"""Learning from a person: trusted events from another connection that no verb of the page caused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import attrs
import pytest
import trio
from learned_steps import CANARY, NEW_NAMES, SECRET_FIELDS, kept, pause, shown, site
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Page
from cdpengine._protocol.instruments import Traffic
from cdpengine.act import Back, Check, Click, Fill, FormField, Navigate, Press, Reload, Select
from cdpengine.act.requests import ActRequest
from cdpengine.cache import PostCondition, learn_steps
from cdpengine.cache.learning import elements
from cdpengine.cache.learning import learned_steps as learning_module
from cdpengine.cache.learning import person as person_module


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make learning read the page after each change, without waiting for it to rest."""
    monkeypatch.setattr(elements, "SETTLING", 0)
    monkeypatch.setattr(learning_module, "_PAUSE", 0.01)


@pytest.fixture
async def person(page: Page, shared_endpoint: str) -> AsyncIterator[Page]:
    """The test's page over another client's connection."""
    async with cdpengine.connect(shared_endpoint) as other:
        yield await other.wait_for_page(where=lambda each: each.target_id == page.target_id)


FORM = """<!doctype html><title>form</title><link rel=icon href="data:,"><h1>Shop</h1>
<style>body { height: 3000px } label, button, a { margin: 2px }</style>
<button id=go><span id=inner>Order now</span></button>
<label>Name <input id=name></label> <label>City <input id=city></label>
<label>Remarks <textarea id=area></textarea></label>
<div id=rich contenteditable role=textbox aria-label="Letter" style="min-height: 1em"></div>
<label id=giftlabel>Gift <input type=checkbox id=gift></label>
<label><input type=radio name=r id=fast> Fast</label>
<label>Colour <select id=colour><option value=1>red<option value=2>blue</select></label>
<label>Level <input type=range id=level min=0 max=10 value=5></label>
<input type=file id=file aria-label="Picture">
<ul role=listbox tabindex=0 id=list aria-label="Sizes"><li role=option>S</li></ul>
<div tabindex=0 role=application id=pad aria-label="Pad">Pad</div>
<dialog id=box aria-label="Terms"><p>Read this</p></dialog><button id=terms onclick="box.showModal()">Terms</button>
<form id=f onsubmit="event.preventDefault(); said.textContent = 'Sent it'"><label>Search <input id=q></label></form>
<p id=said role=status></p>
<script>
  list.addEventListener('keydown', (event) => { if (event.key === 'ArrowDown') event.preventDefault() });
  pad.addEventListener('keydown', (event) => { event.preventDefault() });
  addEventListener('keydown', (event) => { if (event.ctrlKey && event.key === 'k') { event.preventDefault(); } });
</script>"""

T1: dict[str, Any] = {"ref": "t1"}


def filled(value: str | float) -> ActRequest:
    return Fill(fields=(FormField(**T1, value=value),))


Do = Callable[[Page], Awaitable[object]]


@attrs.frozen
class Gesture:
    """A person's gesture and the resulting requests, with the names of their elements."""

    do: Do
    steps: list[tuple[ActRequest, str]]


def _click(css: str, **how: Any) -> Do:
    async def do(person: Page) -> None:
        await person.click(person.locate(css), **how)

    return do


def _enter(css: str, *texts: str, then: str = "Tab") -> Do:
    async def do(person: Page) -> None:
        await person.focus(person.locate(css))
        for text in texts:
            if text in ("Backspace", "Enter"):
                await person.keyboard.press(text)
            else:
                await person.keyboard.type(text)
        await person.keyboard.press(then)

    return do


def _keys(css: str, *keys: str) -> Do:
    async def do(person: Page) -> None:
        await person.focus(person.locate(css))
        for key in keys:
            await person.keyboard.press(key)

    return do


async def _paste(person: Page) -> None:
    await person.focus(person.locate("#city"))
    await person.keyboard.insert_text("Ulm an der Donau")
    await person.keyboard.press("Tab")


def _after(*parts: Do) -> Do:
    async def do(person: Page) -> None:
        for part in parts:
            await part(person)

    return do


GESTURES: dict[str, Gesture] = {
    "click": Gesture(_click("#go"), [(Click(**T1), "Order now")]),
    "click on a part": Gesture(_click("#inner"), [(Click(**T1), "Order now")]),
    "double click": Gesture(_click("#go", count=2), [(Click(**T1, double_click=True), "Order now")]),
    "right click": Gesture(_click("#go", button="right"), [(Click(**T1, button="right"), "Order now")]),
    "middle click": Gesture(_click("#go", button="middle"), [(Click(**T1, button="middle"), "Order now")]),
    "with keys held": Gesture(
        _click("#go", modifiers=["Shift", "Alt"]), [(Click(**T1, modifiers=("Alt", "Shift")), "Order now")]
    ),
    "typed": Gesture(_enter("#name", "adx", "Backspace", "a is"), [(filled("${user} is"), "Name")]),
    "clicked and typed": Gesture(
        _after(_click("#name"), _enter("#name", " here")), [(filled("${user} is here"), "Name")]
    ),
    "pasted": Gesture(_paste, [(filled("Ulm an der Donau"), "City")]),
    "textarea": Gesture(_enter("#area", "a", "Enter", "b$"), [(filled("a\nb$$"), "Remarks")]),
    "rich text": Gesture(_enter("#rich", "Dear ada"), [(filled("Dear ${user}"), "Letter")]),
    "checkbox": Gesture(_click("#gift"), [(Check(**T1), "Gift")]),
    "label": Gesture(_click("#giftlabel", position=(3, 5)), [(Check(**T1, checked=False), "Gift")]),
    "checkbox by key": Gesture(_keys("#gift", "Space"), [(Check(**T1), "Gift")]),
    "radio": Gesture(_click("#fast"), [(Check(**T1), "Fast")]),
    "select": Gesture(lambda p: p.select(p.locate("#colour"), "2"), [(Select(**T1, values=("blue",)), "Colour")]),
    "range": Gesture(_keys("#level", "ArrowRight"), [(filled("6"), "Level")]),
    "file": Gesture(lambda p: p.upload(p.locate("#file"), __file__), []),
    "Enter on a button": Gesture(_keys("#go", "Enter"), [(Press(**T1, key="Enter"), "Order now")]),
    "Space on a button": Gesture(_keys("#go", "Space"), [(Press(**T1, key="Space"), "Order now")]),
    "arrow that the page takes": Gesture(_keys("#list", "ArrowDown"), [(Press(**T1, key="ArrowDown"), "Sizes")]),
    "shortcut of the page": Gesture(_keys("#go", "Control+k"), [(Press(**T1, key="Control+k"), "Order now")]),
    "keys without effect": Gesture(_keys("#go", "Tab", "Shift+Tab", "ArrowDown", "PageDown", "Home", "F2"), []),
    "characters elsewhere": Gesture(_keys("#pad", "7", "3"), []),
    "scrolling": Gesture(lambda p: p.scroll(0, 50), []),
    "Escape without effect": Gesture(_keys("#go", "Escape"), []),
    "dialog": Gesture(_click("#terms"), [(Click(**T1), "Terms")]),
    "Escape": Gesture(lambda p: p.keyboard.press("Escape"), [(Press(key="Escape"), "")]),
    "search": Gesture(
        _enter("#q", "ada", then="Enter"), [(filled("${user}"), "Search"), (Press(**T1, key="Enter"), "Search")]
    ),
}  # fmt: skip


async def test_each_gesture_becomes_the_expected_steps(
    page: Page, person: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, FORM))
    async with learn_steps(page, variables={"user": "ada"}) as learned:
        for gesture in GESTURES.values():
            await gesture.do(person)
            await pause(page)
    expected = [(name, *step) for name, gesture in GESTURES.items() for step in gesture.steps]
    found = [(step.request, step.targets["t1"].name if step.targets else "") for step in learned.steps]
    assert [(name, *step) for (name, *_), step in zip(expected, found, strict=False)] == expected
    assert len(found) == len(expected)
    conditions = {step.label: step.after for step in learned.steps if step.after is not None}
    assert conditions.keys() == {'click button "Terms"', "press", 'press textbox "Search"'}
    assert shown(learned.steps[-4], "shown") == ("dialog", "Terms")
    assert conditions['press textbox "Search"'] == PostCondition(text="Sent it")
    assert [note.partition(": ")[2] for note in learned.notes] == [
        "person: files were chosen (test_cache_learning_person.py), and a page does not say where they are",
        "person: characters were typed outside of a field; they may be a part of a secret",
        "person: characters were typed outside of a field; they may be a part of a secret",
    ]
    kept(learned)


async def test_element_is_described_as_before_its_navigation(
    page: Page, person: Page, httpserver: HTTPServer
) -> None:
    other = site(httpserver, "<h1>Other</h1><a href='/'>Home</a>", "/other")
    first = site(httpserver, "<h1>One</h1><nav aria-label=Main><a href=/other>Away</a></nav>")
    await page.goto(first)
    async with learn_steps(page, variables={"q": "shoes"}) as learned:
        await pause(page)
        await person.click(person.locate("a"))
        await pause(page)
        await person.goto(first + "?q=shoes&token=abcdef1234")
        await pause(page)
        await person.goto(first + "?q=shoes")
        await pause(page)
        await person.reload()
        await pause(page)
        await person.go_back()
        await pause(page)
        await person.click(person.locate("a"))
        await pause(page)
    steps = learned.steps
    assert [step.request for step in steps] == [
        Click(ref="t1"), Navigate(url=first + "?q=${q}"), Reload(), Back(), Click(ref="t1"),
    ]  # fmt: skip
    assert (steps[0].targets["t1"].name, steps[0].targets["t1"].within[0].name) == ("Away", "Main")
    assert steps[0].after == PostCondition(url=other, load_state="load")
    assert steps[1].after == PostCondition(url=first + "?q=*", load_state="load")
    assert [note.partition(": ")[2] for note in learned.notes] == [
        "person: a secret is in the URL, which messages show"
    ]
    assert "abcdef1234" not in kept(learned)


async def test_busy_page_is_read_once_idle(page: Page, person: Page, httpserver: HTTPServer) -> None:
    """The clicked element navigates immediately, so the engine must find it in the last reading."""
    site(httpserver, "<h1>Other</h1>", "/other")
    await page.goto(site(httpserver, "<h1>One</h1><a href=/other>Away</a><p id=out></p>"))
    busy = "for (const end = performance.now() + 2000; performance.now() < end;);"
    async with learn_steps(page) as learned:
        await pause(page)
        await person.evaluate(f"document.body.append('more'); setTimeout(() => {{ {busy} }}, 30)")
        await pause(page)
        await person.click(person.locate("a"))
        await pause(page)
    assert [step.request for step in learned.steps] == [Click(ref="t1")], learned.notes


async def test_frames_of_other_processes_are_seen(page: Page, person: Page, httpserver: HTTPServer) -> None:
    inner = site(
        httpserver,
        "<button onclick=\"document.body.append('Done it')\">Inside</button><label>In <input></label>",
        "/inner",
    ).replace("127.0.0.1", "localhost")
    if "localhost" not in inner:
        inner = inner.replace("//", "//x.")
    await page.goto(site(httpserver, f"<h1>Out</h1><iframe title=Box src='{inner}'></iframe>"))
    async with learn_steps(page) as learned:
        await pause(page)
        await person.click(person.locate("button"))
        await pause(page)
        await person.focus(person.locate("input"))
        await person.keyboard.type("Ulm")
        await page.click(page.locate("button"))
    assert [step.request for step in learned.steps] == [Click(ref="t1"), filled("Ulm"), Click(ref="t1")]
    for step in learned.steps:
        assert [frame.name for frame in step.targets["t1"].frames] == ["Box"]
    assert learned.steps[0].after == PostCondition(text="Done it")


async def test_a_person_and_a_program_keep_their_order(
    page: Page, person: Page, httpserver: HTTPServer
) -> None:
    await page.goto(site(httpserver, FORM))
    async with learn_steps(page) as learned:
        await pause(page)
        await person.focus(person.locate("#name"))
        await person.keyboard.type("one")
        await page.fill(page.locate("#city"), "two")
        await person.click(person.locate("#go"))
        await page.type(page.locate("#area"), "three")
        await page.mouse.click(1, 1)
        await person.focus(person.locate("#q"))
        await person.keyboard.type("four")
    assert [step.targets["t1"].name for step in learned.steps][:4] == [
        "Name",
        "City",
        "Order now",
        "Remarks",
    ]
    assert learned.steps[-1].request == filled("four")


# --- secrets -------------------------------------------------------------------------------------------------


async def test_a_secret_that_a_person_types_is_never_read(
    page: Page, person: Page, browser: cdpengine.Browser, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, "<!doctype html>" + "<br>".join(SECRET_FIELDS.values())))
    fields = await person.find_all("input, textarea, div")
    reports: list[str] = []

    def watch(traffic: Traffic) -> None:
        message = (
            traffic.message
            if isinstance(traffic.message, str)
            else traffic.message.decode("utf-8", "replace")
        )
        if "bindingCalled" in message or traffic.direction == "sent":
            reports.append(message)

    with browser.instruments.attached(watch):
        async with learn_steps(page) as learned:
            await pause(page)
            for field in fields:
                await person.focus(field)
                await person.keyboard.type(CANARY)
                await person.keyboard.press("Tab")
                await pause(page)
    names = [entry.fields[0].value for step in learned.steps if isinstance(entry := step.request, Fill)]
    assert len(names) == len(SECRET_FIELDS)
    assert set(names) == {f"${{{name.removesuffix('_2').removesuffix('_3')}}}" for name in NEW_NAMES}
    assert any("entered" in report for report in reports)
    for text in [kept(learned), *reports]:
        assert CANARY not in text
        assert json.dumps(CANARY)[1:-1] not in text
    assert learned.notes == ()


# --- leftovers -----------------------------------------------------------------------------------------------


async def test_learning_is_invisible_to_page_and_leaves_nothing(
    page: Page, person: Page, httpserver: HTTPServer
) -> None:
    await page.goto(site(httpserver, FORM))
    names = "Object.getOwnPropertyNames(globalThis).sort().join()"
    before = await page.evaluate(names)
    async with learn_steps(page) as first:
        assert await person.evaluate(names) == before
        await person.click(person.locate("#go"))
        await pause(page)
    assert await page.evaluate(names) == before
    world = await page.session.call(
        "Page.createIsolatedWorld", frameId=page.frames[0].id, worldName="cdpengine.learning"
    )
    left = await page.session.call(
        "Runtime.evaluate",
        expression="Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('cdpengine_')).length",
        contextId=world["executionContextId"],
    )
    assert left["result"]["value"] == 0
    async with learn_steps(page) as second:
        await pause(page)
        await person.click(person.locate("#go"))
        await pause(page)
    assert [len(first.steps), len(second.steps)] == [1, 1]


async def test_untrusted_events_are_not_learned(page: Page, httpserver: HTTPServer) -> None:
    await page.goto(
        site(httpserver, FORM + "<script>setInterval(() => { go.click(); gift.click() }, 20)</script>")
    )
    async with learn_steps(page) as learned:
        with trio.move_on_after(0.3):
            await page.wait_for(text="never")
    assert learned.steps == ()


async def test_hung_page_does_not_end_learning_from_a_person(
    new_tab: Page, shared_endpoint: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await new_tab.goto(
        site(httpserver, "<button onclick='setTimeout(() => { for (;;); }, 50)'>Hang</button>")
    )
    async with cdpengine.connect(shared_endpoint) as other:
        person = await other.wait_for_page(where=lambda each: each.target_id == new_tab.target_id)
        with trio.fail_after(15):
            async with learn_steps(new_tab) as learned:
                await pause(new_tab)
                await person.click(person.locate("button"))
    assert [shown_name(step) for step in learned.steps] == ["Hang"]


def shown_name(step: Any) -> str:
    return str(step.targets["t1"].name)


async def test_page_that_hung_before_can_be_learned(
    new_tab: Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "SETTLING", 0.1)
    monkeypatch.setattr(person_module, "BEGINNING", 0.3)
    monkeypatch.setattr(person_module, "ANSWERING", 0.2)
    await new_tab.goto(site(httpserver, "<button onclick='done = 1'>Go</button>"))
    await new_tab.session.call("Runtime.evaluate", expression="setTimeout(() => { for (;;); })")
    with trio.fail_after(12):
        async with learn_steps(new_tab) as learned:
            await new_tab.recover()
            await new_tab.click(new_tab.locate("button"))
            await pause(new_tab)
    assert [shown_name(step) for step in learned.steps] == ["Go"]
    assert learned.viewport is None
    assert learned.features is not None  # read at the first step
    assert "may not be seen before the next document" in learned.notes[0]


async def test_learning_can_be_cancelled_at_any_moment(
    page: Page, person: Page, httpserver: HTTPServer
) -> None:
    await page.goto(site(httpserver, FORM))
    running = page.internals.target.running
    for delay in (0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.24, 0.32, 0.48):
        with trio.move_on_after(delay) as scope:
            async with learn_steps(page):
                await person.click(person.locate("#go"))
                await person.focus(person.locate("#name"))
                await person.keyboard.type("one")
                await page.fill(page.locate("#city"), "two")
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert (running.listeners, running._records) == ([], [])
    async with learn_steps(page) as learned:
        await page.click(page.locate("#go"))
    assert [shown_name(step) for step in learned.steps] == ["Order now"]
