"""The contents of learned steps: no secrets, the effect of each step, and its steps if the page closes or the block
fails.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
from learned_steps import CANARY, FORM, NEW_NAMES, SECRET_FIELDS, VALUES, kept, shown, site
from pytest_httpserver import HTTPServer

from cdpengine import Page
from cdpengine.act import Click, Dialog, Fill, Type
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    LearnedSteps,
    PostCondition,
    learn_steps,
)
from cdpengine.cache.learning import elements
from cdpengine.errors import EngineError

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
    async with learn_steps(page, variables=variables) as learned:
        for target in found:
            await SECRET_WAYS[way](page, target)
            seen.append(repr(learned))
    text = kept(learned) + "".join(seen) + "".join(map(str, (learned.features and [learned.features]) or []))
    for piece in (CANARY, CANARY.replace("$", "$$"), "Kanarien", "Kanarien-7%2F"):
        assert piece not in text
        assert not [record for record in caplog.records if piece in record.getMessage()]
    entering = [step.request for step in learned.steps if not isinstance(step.request, Click)]
    templates = [entered(request) for request in entering]
    if known:
        assert templates == ["${login}"] * len(fields)
        assert learned.sensitive == ("login",)
    else:
        # The same string in each of them is the same variable, named after the first one.
        assert templates == ["${password}"] * len(fields)
        assert learned.sensitive == ("password",)
    assert not learned.notes


def entered(request: ActRequest) -> object:
    if isinstance(request, Type):
        return request.text
    assert isinstance(request, Fill)
    return request.fields[0].value


async def test_a_new_variable_is_called_like_its_field(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, "<!doctype html>" + "<br>".join(SECRET_FIELDS.values())))
    async with learn_steps(page) as learned:
        for number, target in enumerate(await page.find_all("input, textarea, div")):
            await page.fill(target, f"{CANARY}{number}")
    assert [entered(step.request) for step in learned.steps] == [f"${{{name}}}" for name in NEW_NAMES]
    assert learned.sensitive == tuple(sorted(NEW_NAMES))
    assert CANARY not in kept(learned)


async def test_string_typed_in_parts_is_one_step(page: Page, httpserver: HTTPServer, at_once: None) -> None:
    await page.goto(
        site(httpserver, "<!doctype html><label>A <input></label><label>B <input type=password></label>")
    )
    first, second = await page.find_all("input")
    async with learn_steps(page, variables={"word": "hunter2!", "user": "Ada"}) as learned:
        await page.press("Shift+a", first)
        await page.type(first, "da is")
        await page.press("Space", first)
        await page.press("x", first)
        await page.press("Backspace", first)
        await page.type(second, "hunter")
        await page.press("3")
        await page.press("Backspace")
        await page.type(second, "2!", submit=True)
    assert [step.request for step in learned.steps] == [
        Type(ref="t1", text="${user} is "), Type(ref="t1", text="${word}", submit=True),
    ]  # fmt: skip
    assert learned.sensitive == ("word",)


# --- effects of steps ----------------------------------------------------------------------------------------

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


async def test_step_has_its_effects(page: Page, httpserver: HTTPServer) -> None:
    site(httpserver, "<h1>Other</h1>", "/other")
    await page.goto(site(httpserver, OUTCOMES))
    buttons = ["Accept", "Greet", "Fail", "Count", "Nothing", "Later", "Push", "Delete", "Popup"]
    async with learn_steps(page, variables=VALUES) as learned:
        await page.fill(page.locate("#name"), "ada")
        for name in buttons[:7]:
            await page.click(page.locate(role="button", name=name))
        async with page.expect_dialog(accept=True):
            await page.click(page.locate(role="button", name="Delete"))
        async with page.expect_popup() as popup:
            await page.click(page.locate(role="button", name="Popup"))
        await popup.value.close()
        await page.click(page.locate(role="link", name="Other"))
    steps = list(learned.steps)
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
    assert learned.notes == ("after step 11: popup: another page was opened; actions on it are not learned",)
    kept(learned)


# --- nothing hangs -------------------------------------------------------------------------------------------


async def test_a_hung_page_is_learned_without_waiting_for_it(
    new_tab: Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "SETTLING", 0.1)
    page = new_tab
    await page.goto(site(httpserver, FORM + "<script>function hang() { for (;;); }</script>"))
    with trio.fail_after(8):
        async with learn_steps(page) as learned:
            await page.click(page.locate("#go"))
            await page.session.call("Runtime.evaluate", expression="setTimeout(hang)")
            with pytest.raises(EngineError):
                await page.click(page.locate("#go"), timeout=0.5)
            await page.recover()
            await page.click(page.locate("#go"))
    assert [step.request for step in learned.steps] == [Click(ref="t1"), Click(ref="t1")]
    assert [note.split(": ")[1] for note in learned.notes] == ["click", "recover"]


async def test_a_closed_page_ends_no_learning(new_tab: Page, httpserver: HTTPServer, at_once: None) -> None:
    await new_tab.goto(site(httpserver, FORM))
    with trio.fail_after(5):
        async with learn_steps(new_tab) as learned:
            await new_tab.click(new_tab.locate("#go"))
            await new_tab.close()
    assert [step.request for step in learned.steps] == [Click(ref="t1")]
    with pytest.raises(EngineError):
        async with learn_steps(new_tab):
            pass


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
async def test_a_cancelled_learning_leaves_nothing(page: Page, httpserver: HTTPServer, moment: int) -> None:
    """At the start, in the reading before a verb, in the verb, and at the end."""
    await page.goto(site(httpserver, FORM))
    running = page.internals.target.running
    known: LearnedSteps | None = None
    with trio.CancelScope() as scope:
        if moment == 0:
            scope.cancel()
        async with learn_steps(page) as known:
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


async def test_error_of_the_block_propagates_unchanged(
    page: Page, httpserver: HTTPServer, at_once: None
) -> None:
    await page.goto(site(httpserver, FORM))
    learned = LearnedSteps()
    with pytest.raises(ZeroDivisionError):
        async with learn_steps(page) as learned:
            await page.click(page.locate("#go"))
            raise ZeroDivisionError
    assert [step.request for step in learned.steps] == [Click(ref="t1")]
