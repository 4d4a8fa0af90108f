"""Recording what a program does: each verb by each way to name an element, what it led to, and no secret anywhere."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from pytest_httpserver import HTTPServer
from recorded_steps import CANARY, NEW_NAMES, SECRET_FIELDS, kept, shown, site

import cdpengine
from cdpengine import Page
from cdpengine.act import dispatch
from cdpengine.act.reading_requests import Dialog, FileChooser
from cdpengine.act.requests import (
    ActRequest,
    Back,
    Check,
    Click,
    Drag,
    Fill,
    FormField,
    Forward,
    Hover,
    Navigate,
    Position,
    Press,
    Reload,
    Resize,
    Scroll,
    ScrollIntoView,
    Select,
    Type,
    Upload,
    Wait,
)
from cdpengine.cache import (
    PostCondition,
    Recording,
    record_steps,
)
from cdpengine.cache.recording import elements
from cdpengine.errors import EngineError

FORM = """<!doctype html><title>form</title><link rel=icon href="data:,"><h1>Shop</h1>
<form aria-label="Order" onsubmit="return false">
<label>Name <input id=name></label>
<label>Colour <select id=colour><option>red<option>blue</select></label>
<label><input type=checkbox id=gift> Gift</label>
<label><input type=checkbox id=paper checked> Paper</label>
<label>File <input type=file id=file></label>
<button id=go>Order now</button></form>
<div role=listitem tabindex=0 id=one draggable=true aria-label="First">1</div>
<div role=listitem tabindex=0 id=two aria-label="Second" ondragover="event.preventDefault()">2</div>"""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a recording not wait for a page at rest: for tests of what is recorded, not of what it led to."""
    monkeypatch.setattr(elements, "SETTLING", 0)


# --- each verb by each way to name an element ----------------------------------------------------------------


@attrs.frozen
class Named:
    """An element of FORM."""

    role: str
    name: str
    css: str


NAME = Named("textbox", "Name", "#name")
COLOUR = Named("combobox", "Colour", "#colour")
GIFT = Named("checkbox", "Gift", "#gift")
PAPER = Named("checkbox", "Paper", "#paper")
FILE = Named("button", "File", "#file")
GO = Named("button", "Order now", "#go")
ONE = Named("listitem", "First", "#one")
TWO = Named("listitem", "Second", "#two")

Way = Callable[[Page, Named], Awaitable[Any]]


async def ref_of(page: Page, element: Named) -> cdpengine.Ref:
    found = await page.find(element.css)
    snapshot = await page.snapshot(refs="all")
    return next(ref for ref in snapshot.refs.values() if ref.backend_node_id == found.backend_node_id)


async def ref_text(page: Page, element: Named) -> str:
    return (await ref_of(page, element)).id


async def found_node(page: Page, element: Named) -> Any:
    return await page.find(element.css)


async def backend_node(page: Page, element: Named) -> cdpengine.BackendNode:
    return cdpengine.BackendNode((await page.find(element.css)).backend_node_id)


async def locator(page: Page, element: Named) -> Any:
    return page.locate(element.css)


WAYS: dict[str, Way] = {
    "ref text": ref_text,
    "Ref": ref_of,
    "BackendNode": backend_node,
    "FoundNode": found_node,
    "Locator": locator,
}

Do = Callable[[Page, Any], Awaitable[object]]

T1: dict[str, Any] = {"ref": "t1"}


@attrs.frozen
class Row:
    """A verb, the element that it is done to, and the request that is expected; `asked`: as a request."""

    verb: Do
    element: Named
    expected: ActRequest
    asked: Callable[[dict[str, Any]], ActRequest] | None = None


def _ask(make: Callable[..., ActRequest], **fields: Any) -> Callable[[dict[str, Any]], ActRequest]:
    return lambda where: make(**where, **fields)


PATH = str(Path(__file__))

ROWS: dict[str, Row] = {
    "click": Row(lambda p, t: p.click(t), GO, Click(**T1), _ask(Click)),
    "click with more": Row(
        lambda p, t: p.click(t, button="right", modifiers=["Shift"], position=(4, 5), force=True),
        GO,
        Click(**T1, button="right", modifiers=("Shift",), position=Position(x=4, y=5), force=True),
        _ask(Click, button="right", modifiers=("Shift",), position=Position(x=4, y=5), force=True),
    ),
    "double click": Row(
        lambda p, t: p.double_click(t), GO, Click(**T1, double_click=True), _ask(Click, double_click=True)
    ),
    "hover": Row(
        lambda p, t: p.hover(t, modifiers=["Alt"]), GO, Hover(**T1, modifiers=("Alt",)), _ask(Hover, modifiers=("Alt",))
    ),
    "scroll into view": Row(
        lambda p, t: p.scroll_into_view(t), GO, ScrollIntoView(**T1), _ask(ScrollIntoView)
    ),
    "scroll": Row(lambda p, t: p.scroll(0, 40, t), GO, Scroll(**T1, dx=0, dy=40), _ask(Scroll, dy=40)),
    "type": Row(
        lambda p, t: p.type(t, "ada", submit=True),
        NAME,
        Type(**T1, text="${user}", submit=True),
        _ask(Type, text="ada", submit=True),
    ),
    "press": Row(lambda p, t: p.press("Enter", t), NAME, Press(**T1, key="Enter"), _ask(Press, key="Enter")),
    "fill": Row(
        lambda p, t: p.fill(t, "I am ada."),
        NAME,
        Fill(fields=(FormField(**T1, value="I am ${user}."),)),
        lambda where: Fill(fields=(FormField(**where, value="I am ada."),)),
    ),
    "fill form": Row(
        lambda p, t: p.fill_form({t: True}),
        GIFT,
        Fill(fields=(FormField(**T1, value=True),)),
        lambda where: Fill(fields=(FormField(**where, value=True),)),
    ),
    "select": Row(
        lambda p, t: p.select(t, "blue"), COLOUR, Select(**T1, values=("${colour}",)), _ask(Select, values=("blue",))
    ),
    "check": Row(lambda p, t: p.check(t), GIFT, Check(**T1), _ask(Check)),
    "uncheck": Row(lambda p, t: p.uncheck(t), PAPER, Check(**T1, checked=False), _ask(Check, checked=False)),
    "upload": Row(lambda p, t: p.upload(t, PATH), FILE, Upload(**T1, paths=(PATH,)), _ask(Upload, paths=(PATH,))),
}  # fmt: skip

VALUES = {"user": "ada", "colour": "blue"}


def check_rows(recording: Recording, names: list[str]) -> None:
    assert not recording.notes
    for name, step in zip(names, recording.steps, strict=True):
        row = ROWS[name]
        assert step.request == row.expected, name
        assert (step.targets["t1"].name, name) == (row.element.name, name)
        assert row.element.role in (step.targets["t1"].role, "button"), name


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", WAYS)
async def test_each_verb_is_a_step_whatever_names_its_element(
    page: Page, httpserver: HTTPServer, at_once: None, way: str
) -> None:
    await page.goto(site(httpserver, FORM))
    names = [name for name in ROWS if not (way == "Locator" and name == "fill form")]
    async with record_steps(page, variables=VALUES) as recording:
        for name in names:
            row = ROWS[name]
            await row.verb(page, await WAYS[way](page, row.element))
    check_rows(recording, names)
    assert recording.variables == ("colour", "user")
    assert recording.sensitive == ()


@pytest.mark.sample(1)
@pytest.mark.parametrize("way", ["ref", "selector"])
async def test_each_request_is_a_step(
    page: Page, browser: cdpengine.Browser, httpserver: HTTPServer, at_once: None, way: str
) -> None:
    await page.goto(site(httpserver, FORM))
    async with record_steps(page, variables=VALUES) as recording:
        for row in ROWS.values():
            where: dict[str, Any] = {
                way: row.element.css if way == "selector" else await ref_text(page, row.element)
            }
            assert row.asked is not None
            request = attrs.evolve(row.asked(where), target_id=page.target_id)
            response = await dispatch(browser, request)
            assert response.ok, response
    check_rows(recording, list(ROWS))


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "BackendNode"])
async def test_a_drag_has_two_targets(page: Page, httpserver: HTTPServer, at_once: None, way: str) -> None:
    await page.goto(site(httpserver, FORM))
    async with record_steps(page) as recording:
        await page.drag(await WAYS[way](page, ONE), await WAYS[way](page, TWO))
    (step,) = recording.steps
    assert step.request == Drag(start_ref="t1", end_ref="t2")
    assert (step.targets["t1"].name, step.targets["t2"].name) == ("First", "Second")


async def test_what_is_done_to_the_page_itself_is_a_step(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    first, second = site(httpserver, FORM), site(httpserver, "<h1>Next</h1>", "/next/ada")
    await page.goto(first)
    async with record_steps(page, variables=VALUES) as recording:
        await page.goto(second, wait_until="domcontentloaded")
        await page.go_back()
        await page.go_forward()
        await page.reload()
        await page.scroll(0, 10)
        await page.press("Escape")
        await page.wait_for(text="Next", load_state="load")
        await page.emulation.set_viewport(500, 400)
    await page.emulation.reset()
    assert [step.request for step in recording.steps] == [
        Navigate(url=second.replace("ada", "${user}"), wait_until="domcontentloaded"),
        Back(),
        Forward(),
        Reload(),
        Scroll(dx=0, dy=10),
        Press(key="Escape"),
        Wait(text="Next", load_state="load"),
        Resize(width=500, height=400),
    ]
    assert recording.steps[0].after == PostCondition(url=httpserver.url_for("/next/*"), load_state="load")
    assert recording.url == first
    assert recording.features is not None
    assert recording.features.forms == 1
    assert recording.viewport is not None


async def test_a_part_of_something_is_only_taken_for_it_where_it_can_be_acted_on(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    html = """<form aria-label=All><button><b>Go</b></button><p id=text>Words</p><label>File
      <input type=file id=file style="display: none"></label></form><ul aria-label=Items><li id=item>One</ul>"""
    await page.goto(site(httpserver, html))
    async with record_steps(page) as recording:
        await page.click(page.locate("b"))
        await page.click(page.locate("#text"))
        await page.click(page.locate("#item"))
        await page.upload(page.locate("#file"), PATH)
    found = [(step.targets["t1"].role, step.targets["t1"].name) for step in recording.steps]
    assert found == [("button", "Go"), ("paragraph", ""), ("listitem", "")]
    assert [note.partition(": ")[2] for note in recording.notes] == [
        "upload: the element could not be described"
    ]


async def test_files_for_a_chooser_are_named_before_it_opens(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, "<label>F <input type=file id=file></label>"))
    async with record_steps(page) as recording, page.expect_file_chooser() as chooser:
        await page.click(page.locate("#file"))
        await chooser.set_files(PATH)
    assert [step.request for step in recording.steps] == [FileChooser(paths=(PATH,)), Click(ref="t1")]
    assert recording.notes == ()


async def test_what_is_no_step_is_noted_with_the_reason(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, FORM))
    async with record_steps(page) as recording:
        await page.evaluate("1")
        await page.storage.set_cookies([{"name": "a", "value": "secretcookie", "url": page.url}])
        await page.click(page.locate("#go"), count=3)
        await page.elements.blur(page.locate("#go"))
        await page.focus(page.locate("#go"))
        await page.drag(page.locate("#one"), (300, 300))
        await page.select(page.locate("#colour"), cdpengine.Option(index=1))
        with pytest.raises(EngineError):
            await page.click("e99999")
        with trio.move_on_after(0.3):
            await page.click(page.locate("#nothing"))
        await page.goto(page.url + "?token=abcdefgh")
        async with page.evaluate_handle("document.body"):
            pass
        await page.storage.local.set({"a": "secretcookie"})
    assert recording.steps == ()
    found = [note.split(": ", 1)[1] for note in recording.notes]
    assert found == [
        "evaluate: an entry runs no script",
        "set_cookies: an entry sets no cookies",
        "click: an entry has no request for a triple click",
        "blur: an entry has no request that only moves the focus",
        "focus: an entry has no request that only moves the focus",
        "drag: an entry has no request that drags to a point",
        "select: an option was chosen by its number, which says nothing of it",
        "click: it failed with NodeNotFoundError",
        "click: it was cancelled",
        "goto: a secret is in the URL, which messages show",
        "evaluate_handle: an entry runs no script",
        "set_storage: an entry sets no storages",
    ]
    assert "secretcookie" not in repr(recording)


# --- what it led to ------------------------------------------------------------------------------------------

OUTCOMES = """<!doctype html><title>outcomes</title><link rel=icon href="data:,"><h1>Shop</h1>
<label>Name <input id=name></label>
<div role=dialog aria-label="Cookies" id=cookies><button onclick="cookies.remove()">Accept</button></div>
<button onclick="out.innerHTML = '<h2>Hello ' + document.querySelector('#name').value + '</h2>'">Greet</button>
<button onclick="out.innerHTML = '<p role=alert>Not saved</p>'">Fail</button>
<button onclick="out.innerHTML = '<p>12 items at 10:20</p>'">Count</button>
<button>Nothing</button>
<button onclick="setTimeout(() => { out.innerHTML = '<h2>Later</h2>' }, 60)">Later</button>
<button onclick="history.pushState({}, '', '/orders/4711?q=ada&page=2')">Push</button>
<button onclick="out.textContent = confirm('Sure?') ? 'Deleted it' : 'Kept it'">Delete</button>
<button onclick="window.open('about:blank')">Popup</button>
<a href="/other">Other</a><div id=out></div>"""


async def test_a_step_has_what_it_led_to(page: Page, httpserver: HTTPServer) -> None:
    site(httpserver, "<h1>Other</h1>", "/other")
    await page.goto(site(httpserver, OUTCOMES))
    buttons = ["Accept", "Greet", "Fail", "Count", "Nothing", "Later", "Push", "Delete", "Popup"]
    async with record_steps(page, variables=VALUES) as recording:
        await page.fill(page.locate("#name"), "ada")
        for name in buttons[:7]:
            await page.click(page.locate(role="button", name=name))
        async with page.expect_dialog(accept=True):
            await page.click(page.locate(role="button", name="Delete"))
        async with page.expect_popup() as popup:
            await page.click(page.locate(role="button", name="Popup"))
        await popup.value.close()
        await page.click(page.locate(role="link", name="Other"))
    steps = list(recording.steps)
    assert [step.label for step in steps] == [
        'fill textbox "Name"', *(f'click button "{name}"' for name in buttons[:7]), "answer confirm",
        'click button "Delete"', 'click button "Popup"', 'click link "Other"',
    ]  # fmt: skip
    after: list[PostCondition | None] = [step.after for step in steps]
    assert after[0] is None
    assert shown(steps[1], "gone") == ("dialog", "Cookies")
    assert shown(steps[2], "shown") == ("heading", "Hello ${user}")
    assert after[3] == PostCondition(text="Not saved")
    assert after[4] == PostCondition(text_gone="Not saved")
    assert after[5] is None
    assert shown(steps[6], "shown") == ("heading", "Later")
    assert after[7] == PostCondition(url=httpserver.url_for("/orders/*") + "?page=*&q=*")
    assert steps[8].request == Dialog(accept=True)
    assert after[9] == PostCondition(text="Deleted it")
    assert after[10] is None
    assert after[11] == PostCondition(url=httpserver.url_for("/other"), load_state="load")
    assert recording.notes == (
        "after step 11: popup: another page was opened; what is done there is not recorded",
    )
    kept(recording)


# --- secrets -------------------------------------------------------------------------------------------------

ECHO = """<p id=echo></p><p role=status id=said></p><script>addEventListener('input', (event) => {
  const text = event.target.value ?? event.target.textContent;
  echo.textContent = 'You typed ' + text; said.textContent = text; document.title = text;
  history.replaceState({}, '', '#/' + encodeURIComponent(text)); })</script>"""


async def by_type(page: Page, target: Any) -> None:
    await page.type(target, CANARY)


async def by_fill(page: Page, target: Any) -> None:
    await page.fill(target, CANARY)


async def by_form(page: Page, target: Any) -> None:
    await page.fill_form([(target, CANARY)])


async def by_press(page: Page, target: Any) -> None:
    for character in CANARY:
        await page.press(character, target)


async def by_press_where_the_focus_is(page: Page, target: Any) -> None:
    await page.click(target)
    for character in CANARY:
        await page.press(character)


SECRET_WAYS = {
    each.__name__: each for each in (by_type, by_fill, by_form, by_press, by_press_where_the_focus_is)
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("known", [False, True], ids=["new", "variable"])
@pytest.mark.parametrize("way", SECRET_WAYS)
async def test_a_secret_is_only_ever_a_variable(
    page: Page,
    httpserver: HTTPServer,
    at_once: None,
    caplog: pytest.LogCaptureFixture,
    way: str,
    known: bool,
) -> None:
    caplog.set_level(logging.DEBUG)
    slow = way.startswith("by_press")
    fields = {
        name: html for name, html in SECRET_FIELDS.items() if not slow or name in ("password", "by label")
    }
    await page.goto(site(httpserver, "<!doctype html>" + "<br>".join(fields.values()) + ECHO))
    found = await page.find_all("input, textarea, div")
    assert len(found) == len(fields)
    variables = {"login": CANARY} if known else {}
    seen: list[str] = []
    async with record_steps(page, variables=variables) as recording:
        for target in found:
            await SECRET_WAYS[way](page, target)
            seen.append(repr(recording))
    text = (
        kept(recording)
        + "".join(seen)
        + "".join(map(str, (recording.features and [recording.features]) or []))
    )
    for piece in (CANARY, CANARY.replace("$", "$$"), "Kanarien", "Kanarien-7%2F"):
        assert piece not in text
        assert not [record for record in caplog.records if piece in record.getMessage()]
    entering = [step.request for step in recording.steps if not isinstance(step.request, Click)]
    templates = [entered(request) for request in entering]
    if known:
        assert templates == ["${login}"] * len(fields)
        assert recording.sensitive == ("login",)
    else:
        # The same text in each of them: it is the same variable, which the first one gave its name.
        assert templates == ["${password}"] * len(fields)
        assert recording.sensitive == ("password",)
    assert not recording.notes


def entered(request: ActRequest) -> object:
    if isinstance(request, Type):
        return request.text
    assert isinstance(request, Fill)
    return request.fields[0].value


async def test_a_new_variable_is_called_like_its_field(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, "<!doctype html>" + "<br>".join(SECRET_FIELDS.values())))
    async with record_steps(page) as recording:
        for number, target in enumerate(await page.find_all("input, textarea, div")):
            await page.fill(target, f"{CANARY}{number}")
    assert [entered(step.request) for step in recording.steps] == [f"${{{name}}}" for name in NEW_NAMES]
    assert recording.sensitive == tuple(sorted(NEW_NAMES))
    assert CANARY not in kept(recording)


async def test_a_text_in_parts_is_one_step(page: Page, httpserver: HTTPServer, at_once: None) -> None:
    await page.goto(
        site(httpserver, "<!doctype html><label>A <input></label><label>B <input type=password></label>")
    )
    first, second = await page.find_all("input")
    async with record_steps(page, variables={"word": "hunter2!", "user": "Ada"}) as recording:
        await page.press("Shift+a", first)
        await page.type(first, "da is")
        await page.press("Space", first)
        await page.press("x", first)
        await page.press("Backspace", first)
        await page.type(second, "hunter")
        await page.press("3")
        await page.press("Backspace")
        await page.type(second, "2!", submit=True)
    assert [step.request for step in recording.steps] == [
        Type(ref="t1", text="${user} is "), Type(ref="t1", text="${word}", submit=True),
    ]  # fmt: skip
    assert recording.sensitive == ("word",)


# --- nothing hangs -------------------------------------------------------------------------------------------


async def test_a_hung_page_is_recorded_without_waiting_for_it(
    new_tab: Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "SETTLING", 0.1)
    page = new_tab
    await page.goto(site(httpserver, FORM + "<script>function hang() { for (;;); }</script>"))
    with trio.fail_after(8):
        async with record_steps(page) as recording:
            await page.click(page.locate("#go"))
            await page.session.call("Runtime.evaluate", expression="setTimeout(hang)")
            with pytest.raises(EngineError):
                await page.click(page.locate("#go"), timeout=0.5)
            await page.recover()
            await page.click(page.locate("#go"))
    assert [step.request for step in recording.steps] == [Click(ref="t1"), Click(ref="t1")]
    assert [note.split(": ")[1] for note in recording.notes] == ["click", "recover"]


async def test_a_closed_page_ends_no_recording(new_tab: Page, httpserver: HTTPServer, at_once: None) -> None:
    await new_tab.goto(site(httpserver, FORM))
    with trio.fail_after(5):
        async with record_steps(new_tab) as recording:
            await new_tab.click(new_tab.locate("#go"))
            await new_tab.close()
    assert [step.request for step in recording.steps] == [Click(ref="t1")]
    with pytest.raises(EngineError):
        async with record_steps(new_tab):
            pass


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
async def test_a_cancelled_recording_leaves_nothing(page: Page, httpserver: HTTPServer, moment: int) -> None:
    """At the beginning, in the reading before a verb, in the verb, and at the end."""
    await page.goto(site(httpserver, FORM))
    running = page._core.target.running
    known: Recording | None = None
    with trio.CancelScope() as scope:
        if moment == 0:
            scope.cancel()
        async with record_steps(page) as known:
            if moment == 1:
                scope.deadline = trio.current_time() + 0.02
            if moment == 2:
                scope.deadline = trio.current_time() + 0.4
                await page.click(page.locate("#nothing"))
            await page.click(page.locate("#go"))
            if moment == 3:
                scope.cancel()
    assert scope.cancelled_caught
    assert running.listeners == []
    assert running._records == []
    if moment == 3:
        assert known is not None
        assert [step.request for step in known.steps] == [Click(ref="t1")]
    with trio.fail_after(5):
        await page.click(page.locate("#go"))


async def test_an_error_of_the_block_leaves_as_itself(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, FORM))
    recording = Recording()
    with pytest.raises(ZeroDivisionError):
        async with record_steps(page) as recording:
            await page.click(page.locate("#go"))
            raise ZeroDivisionError
    assert [step.request for step in recording.steps] == [Click(ref="t1")]
