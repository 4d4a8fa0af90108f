"""Evaluating JavaScript with deadlines and cancellation."""

from __future__ import annotations

import math

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer

import cdpengine

HANGS = {
    "endless loop": "while (true) {}",
    "catastrophic regular expression": "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "endless microtasks, awaited": "(async () => { for (;;) await 0; })()",
    "a promise that never settles": "new Promise(() => {})",
    "a timer's endless loop": "setTimeout(() => { for (;;); }, 0); new Promise(() => {})",
    "a getter during serialisation": "({ get a() { for (;;); } })",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("source", "args", "value"),
    [
        ("1 + 1", (), 2),
        ("'a' + 'b'", (), "ab"),
        ("[1, 'two', null, {three: 3}]", (), [1, "two", None, {"three": 3}]),
        ("undefined", (), None),
        ("Promise.resolve(7)", (), 7),
        ("10n ** 20n", (), 10**20),
        ("'\\ud83d'", (), "\ud83d"),
        ("let a = 1; a + 1", (), 2),
        ("() => 5", (), 5),
        ("async () => 6", (), 6),
        ("function f() { return 7 }", (), 7),
        ("function f() { return 7 } f() + 1", (), 8),
        ("(a, b) => a + b", (2, 3), 5),
        ("x => x", ({"a": [1, None, True, "é"]},), {"a": [1, None, True, "é"]}),
        ("s => s.length", ("\ud83d",), 1),
        ("x => typeof x", (2**60,), "bigint"),
        ("x => Object.keys(x)", ({"__proto__": 1},), ["__proto__"]),
        ("x => Number.isNaN(x)", (math.nan,), True),
        ("x => Object.is(x, -0)", (-0.0,), True),
    ],
)
async def test_values(page: cdpengine.Page, source: str, args: tuple[object, ...], value: object) -> None:
    assert await page.evaluate(source, *args) == value


async def test_thrown_error_has_message_and_stack(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.EvaluationFailedError) as caught:
        await page.evaluate("function boom() { throw new TypeError('no such thing') }\nboom()")
    assert caught.value.text == "TypeError: no such thing"
    assert "at boom" in caught.value.stack


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("throw 5", "threw: 5"),
        ("Promise.reject(new Error('late'))", "Error: late"),
        ("this is no JavaScript", "SyntaxError"),
    ],
)
async def test_other_failures(page: cdpengine.Page, source: str, text: str) -> None:
    with pytest.raises(cdpengine.errors.EvaluationFailedError, match=text):
        await page.evaluate(source)


async def test_a_node_is_the_first_argument(page: cdpengine.Page) -> None:
    await page.set_content("<button id=a>Add</button><button id=b>Buy</button>")
    snapshot = await page.snapshot()
    buy = snapshot.find(role="button", name="Buy")
    assert await page.evaluate("(el, more) => el.id + more", "!", target=buy) == "b!"
    assert await page.evaluate("function () { return this.id }", target=buy.id) == "b"
    assert await page.evaluate("el => el.id", target=cdpengine.BackendNode(buy.backend_node_id)) == "b"
    with pytest.raises(cdpengine.errors.EvaluationFailedError, match="x is not defined"):
        await page.evaluate("el => x", target=buy)


async def test_worlds_are_apart(page: cdpengine.Page) -> None:
    await page.evaluate("window.mine = 1; document.title = 'shared'")
    assert await page.evaluate("typeof window.mine", world="isolated") == "undefined"
    assert await page.evaluate("document.title", world="isolated") == "shared"
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="world"):
        await page.evaluate("1", world="other")  # type: ignore[arg-type]


@pytest.mark.sample(4)
@pytest.mark.parametrize("source", HANGS.values(), ids=HANGS.keys())
async def test_hung_script_ends_at_its_deadline_and_page_recovers(page: cdpengine.Page, source: str) -> None:
    await page.set_content(
        "<button onclick='this.textContent = \"clicked\"'>Go</button><input aria-label=Name>"
    )
    snapshot = await page.snapshot()
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
        await page.evaluate(source, timeout=0.3)
    assert trio.current_time() - started >= 0.3
    # Whether Chrome confirms within the short grace period depends on the machine. The page must work in any
    # case.
    assert caught.value.report.sent
    await page.click(snapshot.find(role="button"), timeout=20)
    await page.type(snapshot.find(role="textbox"), "ada", timeout=20)
    after = await page.snapshot(timeout=20)
    assert after.find(role="button").name == "clicked"
    assert await page.evaluate("document.querySelector('input').value") == "ada"


async def test_a_surrounding_scope_stops_the_script(page: cdpengine.Page) -> None:
    with trio.move_on_after(0.2) as scope:
        await page.evaluate("window.n = 0; while (true) window.n++")
    assert scope.cancelled_caught
    count = await page.evaluate("window.n", timeout=20)
    assert count > 0
    assert await page.evaluate("window.n") == count, "the script no longer counts"


async def test_evaluate_ended_by_another_termination_reports_it(page: cdpengine.Page) -> None:
    async def hit() -> None:
        with pytest.raises(cdpengine.errors.EvaluationTerminatedError, match="was stopped"):
            await page.evaluate("while (true) {}", timeout=20)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hit)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(
            cdpengine.errors.EvaluationTimeoutError, match=r"(?s)never sent.* earlier evaluation that keeps"
        ):
            await page.evaluate("1", timeout=0.3)
        assert (await page.recover()).terminated


async def test_navigation_ends_evaluation_with_named_error(page: cdpengine.Page) -> None:
    async def wait() -> None:
        with pytest.raises(cdpengine.errors.EvaluationTerminatedError, match="navigated"):
            await page.evaluate("window.waiting = true; new Promise(() => {})", timeout=20)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        while not await page.evaluate("Boolean(window.waiting)"):
            pass
        await page.goto("data:text/html,elsewhere")


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
async def test_dialogs_do_not_block_evaluation(page: cdpengine.Page, kind: str) -> None:
    value = await page.evaluate(f"{kind}('hello')", timeout=20)
    assert value is (False if kind == "confirm" else None)
    (dialog,) = page.dialogs.records
    assert (dialog.type, dialog.message, dialog.accepted) == (kind, "hello", kind == "alert")


async def test_exhausted_budget_sends_nothing(page: cdpengine.Page, browser: cdpengine.Browser) -> None:
    sent = browser.statistics().main.sent
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match="never sent"):
        await page.evaluate("1", timeout=0)
    assert browser.statistics().main.sent == sent


async def test_remote_objects_are_released(page: cdpengine.Page) -> None:
    await page.set_content("<p id=a>text</p>")
    node = await page.session.call("DOM.getDocument", depth=-1)
    backend = node["root"]["children"][0]["backendNodeId"]
    sent: list[str] = []
    with page.browser.instruments.attached(
        lambda t: sent.append(str(t.message)) if t.direction == "sent" else None
    ):
        assert await page.evaluate("el => el.tagName", target=cdpengine.BackendNode(backend)) == "HTML"
        await page.evaluate("1")
    assert any("Runtime.releaseObject" in message for message in sent)


async def test_hung_script_ends_over_a_pipe_too() -> None:
    async with cdpengine.launch(transport="pipe") as browser:
        page = await browser.new_page("data:text/html,<button>Go</button>")
        button = (await page.snapshot()).find(role="button")
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await page.evaluate("while (true) {}", timeout=0.3)
        await page.click(button, timeout=20)
        assert await page.evaluate("1 + 1") == 2


async def test_isolated_scripts_cannot_affect_engine_results(
    used_page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    """A user's script in the isolated world changes only its own world, not the engine's results."""
    httpserver.expect_request("/told").respond_with_data(
        "<!doctype html><title>True</title><p>text</p>", content_type="text/html"
    )
    await used_page.goto(httpserver.url_for("/told"))
    told = "{ get() { return 'told'; }, configurable: true }"
    spoiled = (
        f"void Object.defineProperty(Document.prototype, 'title', {told});"
        f"void Object.defineProperty(Element.prototype, 'outerHTML', {told});"
        "void (Document.prototype.write = () => {})"
    )
    await used_page.evaluate(spoiled, world="isolated")
    assert await used_page.evaluate("document.title", world="isolated") == "told"
    assert await used_page.title() == "True"
    assert "<p>text</p>" in await used_page.content()
    await used_page.set_content("<title>New</title><p>more</p>")
    assert await used_page.evaluate("document.title") == "New"
    assert await used_page.title() == "New"
