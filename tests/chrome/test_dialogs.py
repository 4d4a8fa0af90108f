"""All kinds of dialogs, from every source, under every policy, in a real Chromium."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine
from cdpengine._page.dialogs import HANDLER_LIMIT

pytestmark = pytest.mark.transport("pipe", "websocket")

ASK = {"alert": "alert('hello')", "confirm": "confirm('hello')", "prompt": "prompt('hello', 'there')"}
ACCEPTED = {"default": ("alert",), "accept": ("alert", "confirm", "prompt"), "dismiss": (), "raise": ()}
ANSWERS = {
    ("confirm", True): True,
    ("confirm", False): False,
    ("prompt", True): "there",
    ("prompt", False): None,
}


def accepts(policy: str, kind: str) -> bool:
    return kind in ACCEPTED[policy] or (kind == "alert" and policy == "accept")


SOURCES = ["evaluate", "click", "timer"]
CASES = [
    # In a usual run each kind is combined with each policy and each source, and each policy with each source.
    pytest.param(kind, policy, source, marks=() if (k + p + s) % 3 == 0 else pytest.mark.slow)
    for k, kind in enumerate(ASK)
    for p, policy in enumerate(ACCEPTED)
    for s, source in enumerate(SOURCES)
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("kind", "policy", "source"), CASES)
async def test_policies(page: cdpengine.Page, kind: str, policy: str, source: str) -> None:
    accepted = accepts(policy, kind)
    page.dialogs.set_policy(policy)  # type: ignore[arg-type]
    await page.set_content(f'<button onclick="self.got = [{ASK[kind]}]">Go</button>'.replace("'", "&#39;"))
    with trio.fail_after(20):
        if source == "timer":
            script = f"new Promise(r => setTimeout(() => {{ self.got = [{ASK[kind]}]; r() }}, 10))"
        else:
            script = f"void (self.got = [{ASK[kind]}])"
        button = (await page.snapshot()).find(role="button")
        if policy == "raise":
            with pytest.raises(cdpengine.errors.DialogOpenedError, match="hello") as caught:
                await (page.click(button) if source == "click" else page.evaluate(script))
            assert caught.value.kind == kind
            assert caught.value.dialog == page.dialogs.records[-1]
        elif source == "click":
            outcome = await page.click(button)
            assert outcome.dialog_opened
            assert outcome.dialogs == tuple(page.dialogs.records)
        else:
            await page.evaluate(script)
    (dialog,) = page.dialogs.records
    assert (dialog.type, dialog.message, dialog.accepted) == (kind, "hello", accepted)
    assert dialog.answered_by == "policy"
    if kind != "alert":
        page.dialogs.set_policy("default")
        assert await page.evaluate("self.got[0]") == ANSWERS[kind, accepted]
    assert len((await page.snapshot()).refs) == 1, "the page continues"


async def test_texts_of_prompts(page: cdpengine.Page) -> None:
    page.dialogs.set_policy("accept", prompt_text="mine")
    assert await page.evaluate("prompt('q', 'd')") == "mine"
    page.dialogs.set_policy(lambda dialog: f"{dialog.message} {dialog.default_prompt}")
    assert await page.evaluate("prompt('q', 'd')") == "q d"
    page.dialogs.set_policy(lambda _dialog: cdpengine.DialogAnswer(accept=False))
    assert await page.evaluate("prompt('q', 'd')") is None
    assert [dialog.prompt_text for dialog in page.dialogs.records] == ["mine", "q d", None]


async def test_several_dialogs_of_one_click(page: cdpengine.Page) -> None:
    async def slow(dialog: cdpengine.Dialog) -> bool:
        await trio.sleep(0.1)
        return dialog.message == "two"

    page.dialogs.set_policy(slow)
    await page.set_content(
        "<button onclick=\"self.got = ['one', 'two', 'three'].map(t => confirm(t))\">Go</button>"
    )
    outcome = await page.click((await page.snapshot()).find(role="button"), timeout=20)
    assert [(dialog.message, dialog.accepted) for dialog in outcome.dialogs] == [
        ("one", False),
        ("two", True),
        ("three", False),
    ]
    assert await page.evaluate("self.got") == [False, True, False]


@pytest.fixture
async def asking(page: cdpengine.Page, httpserver: HTTPServer) -> AsyncIterator[str]:
    """A page with a beforeunload dialog, and the URL of another page."""
    for path in ("/asking", "/other"):
        httpserver.expect_request(path).respond_with_data("<p>Text", content_type="text/html")
    await page.goto(httpserver.url_for("/asking"))
    await page.evaluate(
        "void (onbeforeunload = event => { event.preventDefault(); event.returnValue = 'x' })"
    )
    await page.mouse.click(5, 5)  # Chrome opens the dialog only after a user gesture
    yield httpserver.url_for("/other")
    if not page.closed:
        await page.evaluate("void (onbeforeunload = null)")


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", ["goto", "reload"])
@pytest.mark.parametrize("policy", ["default", "accept", "dismiss", "raise"])
async def test_leaving_a_page_with_beforeunload_dialog(
    page: cdpengine.Page, asking: str, policy: str, way: str
) -> None:
    before = page.url
    page.dialogs.set_policy(policy)  # type: ignore[arg-type]
    with trio.fail_after(20):
        if policy == "dismiss":
            with pytest.raises(cdpengine.errors.NavigationFailedError, match="beforeunload") as caught:
                await (page.goto(asking) if way == "goto" else page.reload())
            assert caught.value.url == (asking if way == "goto" else before)
        elif policy == "raise":
            with pytest.raises(cdpengine.errors.DialogOpenedError, match="beforeunload"):
                await (page.goto(asking) if way == "goto" else page.reload())
        else:
            arrived = await (page.goto(asking) if way == "goto" else page.reload())
            assert arrived.status == 200
    left = policy in ("default", "accept")
    assert [(dialog.type, dialog.accepted) for dialog in page.dialogs.records] == [("beforeunload", left)]
    assert page.url == (asking if left and way == "goto" else before)
    assert await page.evaluate("typeof onbeforeunload") == ("object" if left else "function")


async def test_closing_a_page_opens_no_dialog(page: cdpengine.Page, asking: str) -> None:
    page.dialogs.set_policy("dismiss")
    with trio.fail_after(20):
        await page.close()
    assert page.closed


async def test_popups_inherit_the_dialog_policy(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    page.dialogs.set_policy("accept")
    await page.evaluate("void open('').setTimeout(\"self.got = confirm('hello')\", 0)")
    popup = await browser.wait_for_page(opener=page)
    with trio.fail_after(20):
        while not popup.dialogs.records or popup.dialogs.records[-1].accepted is None:
            await browser.session.call("Browser.getVersion")
    assert await popup.evaluate("self.got") is True
    await popup.close()


async def test_a_dialog_held_by_a_handler_when_an_evaluate_ends(page: cdpengine.Page) -> None:
    async def never(_dialog: cdpengine.Dialog) -> bool:
        while True:
            await trio.sleep_forever()

    page.dialogs.set_policy(never)
    with trio.fail_after(HANDLER_LIMIT - 1), pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
        await page.evaluate("confirm('hello')", timeout=0.3)
    assert caught.value.report.steps[0].name == "dialog"
    with trio.fail_after(20):  # on a busy machine, Chrome confirms it after the end of the report's wait
        await page.internals.target.dialogs.wait_for_answer()
    assert [(dialog.accepted, dialog.answered_by) for dialog in page.dialogs.records] == [
        (False, "elsewhere")
    ]
    assert await page.evaluate("1 + 1", timeout=20) == 2


async def test_the_default_of_a_browser(browser: cdpengine.Browser) -> None:
    browser.set_dialog_policy("accept")
    page = await browser.new_page()
    assert await page.evaluate("confirm('hello')") is True
    await page.close()


async def test_cross_process_frames_have_the_dialog_policy_of_their_page(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("<p>Text", content_type="text/html")
    url = httpserver.url_for("/").replace("localhost", "127.0.0.1")
    inner = url.replace("127.0.0.1", "localhost")
    async with cdpengine.launch(args=["--site-per-process"]) as browser:
        page = await browser.new_page(url)
        page.dialogs.set_policy("accept", prompt_text="mine")
        await page.evaluate(
            "url => new Promise(done => { const frame = document.createElement('iframe');"
            " frame.src = url; frame.onload = done; document.body.append(frame) }).then(() => 1)",
            inner,
        )
        frame = next(frame for frame in page.frames if frame.url == inner)
        assert await page.evaluate("prompt('q')", frame=frame, timeout=20) == "mine"
        assert [(dialog.frame_id, dialog.url) for dialog in page.dialogs.records] == [(frame.id, inner)]


async def test_a_dialog_opens_while_the_page_leaves(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    """Chrome can refuse the response to it. The navigation then waits for the dialog."""
    httpserver.expect_request("/").respond_with_data("<title>Left</title>", content_type="text/html")
    httpserver.expect_request("/log").respond_with_data("")
    httpserver.expect_request("/favicon.ico").respond_with_data("")
    chosen = random.Random(36)
    script = """(delay) => void setTimeout(() => {
      const request = new XMLHttpRequest();
      request.open("POST", "/log", false);
      request.send("x");
      confirm("late");
    }, delay)"""
    async with browser.new_context() as context:
        for _ in range(rounds(10, 100)):
            page = await context.new_page()
            await page.goto(httpserver.url_for("/"))
            await page.evaluate(script, chosen.choice([10, 20, 30, 40]))
            await page.go_back(timeout=15)
            assert page.url == "about:blank"
            assert await page.title() == ""
            await page.close()


async def test_a_program_leaves_dialogs_to_another_one(
    page: cdpengine.Page, shared_endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with cdpengine.connect(shared_endpoint) as other:
        same = next(each for each in other.pages if each.target_id == page.target_id)

        async def leave(_dialog: cdpengine.Dialog) -> None:
            await trio.sleep(1)

        same.dialogs.set_policy(leave)
        page.dialogs.set_policy("accept")
        assert [await page.evaluate("confirm('Sure?')") for _ in range(4)] == [True] * 4
        await same.evaluate("1")
        assert {each.answered_by for each in same.dialogs.records} == {"elsewhere"}
        assert all(each.accepted for each in same.dialogs.records)
        assert {each.answered_by for each in page.dialogs.records} == {"policy"}
        assert "came too late" not in caplog.text
        # Without an answer by the other program, the handler's answer follows.
        page.dialogs.set_policy(leave)
        assert await page.evaluate("confirm('Sure?')") is False
