"""Learning from a program: each verb with each way to name an element, and the reasons why an action is no step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from learned_steps import FORM, VALUES, site
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Page
from cdpengine.act import (
    Back,
    Check,
    Click,
    Drag,
    FileChooser,
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
    dispatch,
)
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    LearnedSteps,
    PostCondition,
    learn_steps,
)
from cdpengine.errors import EngineError


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
    """A verb, its element and the expected request. `asked`: sent as a request."""

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


def check_rows(learned: LearnedSteps, names: list[str]) -> None:
    assert not learned.notes
    for name, step in zip(names, learned.steps, strict=True):
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
    async with learn_steps(page, variables=VALUES) as learned:
        for name in names:
            row = ROWS[name]
            await row.verb(page, await WAYS[way](page, row.element))
    check_rows(learned, names)
    assert learned.variables == ("colour", "user")
    assert learned.sensitive == ()


@pytest.mark.sample(1)
@pytest.mark.parametrize("way", ["ref", "selector"])
async def test_each_request_is_a_step(
    page: Page, browser: cdpengine.Browser, httpserver: HTTPServer, at_once: None, way: str
) -> None:
    await page.goto(site(httpserver, FORM))
    async with learn_steps(page, variables=VALUES) as learned:
        for row in ROWS.values():
            where: dict[str, Any] = {
                way: row.element.css if way == "selector" else await ref_text(page, row.element)
            }
            assert row.asked is not None
            request = attrs.evolve(row.asked(where), target_id=page.target_id)
            response = await dispatch(browser, request)
            assert response.ok, response
    check_rows(learned, list(ROWS))


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "BackendNode"])
async def test_a_drag_has_two_targets(page: Page, httpserver: HTTPServer, at_once: None, way: str) -> None:
    await page.goto(site(httpserver, FORM))
    async with learn_steps(page) as learned:
        await page.drag(await WAYS[way](page, ONE), await WAYS[way](page, TWO))
    (step,) = learned.steps
    assert step.request == Drag(start_ref="t1", end_ref="t2")
    assert (step.targets["t1"].name, step.targets["t2"].name) == ("First", "Second")


async def test_page_level_actions_are_steps(page: Page, httpserver: HTTPServer, at_once: None) -> None:
    first, second = site(httpserver, FORM), site(httpserver, "<h1>Next</h1>", "/next/ada")
    await page.goto(first)
    async with learn_steps(page, variables=VALUES) as learned:
        await page.goto(second, wait_until="domcontentloaded")
        await page.go_back()
        await page.go_forward()
        await page.reload()
        await page.scroll(0, 10)
        await page.press("Escape")
        await page.wait_for(text="Next", load_state="load")
        await page.emulation.set_viewport(500, 400)
    await page.emulation.reset()
    assert [step.request for step in learned.steps] == [
        Navigate(url=second.replace("ada", "${user}"), wait_until="domcontentloaded"),
        Back(),
        Forward(),
        Reload(),
        Scroll(dx=0, dy=10),
        Press(key="Escape"),
        Wait(text="Next", load_state="load"),
        Resize(width=500, height=400),
    ]
    assert learned.steps[0].after == PostCondition(url=httpserver.url_for("/next/*"), load_state="load")
    assert learned.url == first
    assert learned.features is not None
    assert learned.features.forms == 1
    assert learned.viewport is not None


async def test_child_of_control_is_learned_as_the_control(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    html = """<form aria-label=All><button><b>Go</b></button><p id=text>Words</p>
      <input type=file id=file style="display: none"></form><ul aria-label=Items><li id=item>One</ul>"""
    await page.goto(site(httpserver, html))
    async with learn_steps(page) as learned:
        await page.click(page.locate("b"))
        await page.click(page.locate("#text"))
        await page.click(page.locate("#item"))
        await page.upload(page.locate("#file"), PATH)
    found = [(step.targets["t1"].role, step.targets["t1"].name) for step in learned.steps]
    assert found == [("button", "Go"), ("paragraph", ""), ("listitem", "")]
    assert [note.partition(": ")[2] for note in learned.notes] == [
        "upload: the element could not be described"
    ]


async def test_files_for_a_chooser_are_named_before_it_opens(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, "<label>F <input type=file id=file></label>"))
    async with learn_steps(page) as learned, page.expect_file_chooser() as chooser:
        await page.click(page.locate("#file"))
        await chooser.set_files(PATH)
    assert [step.request for step in learned.steps] == [FileChooser(paths=(PATH,)), Click(ref="t1")]
    assert learned.notes == ()


async def test_skipped_action_is_noted_with_its_reason(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, FORM))
    async with learn_steps(page) as learned:
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
    assert learned.steps == ()
    found = [note.split(": ", 1)[1] for note in learned.notes]
    assert found == [
        "evaluate: an entry runs no script",
        "set_cookies: an entry sets no cookies",
        "click: an entry has no request for a triple click",
        "blur: an entry has no request that only moves the focus",
        "focus: an entry has no request that only moves the focus",
        "drag: an entry has no request that drags to a point",
        "select: an option was chosen by its number, which does not identify it",
        "click: it failed with NodeNotFoundError",
        "click: it was cancelled",
        "goto: a secret is in the URL, which messages show",
        "evaluate_handle: an entry runs no script",
        "set_storage: an entry sets no storages",
    ]
    assert "secretcookie" not in repr(learned)
