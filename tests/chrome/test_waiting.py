"""Waiting for page conditions: each one, several together, across navigations, and the error at the deadline."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from rounds import every_nth, slow_but
from werkzeug import Request, Response

import cdpengine
from cdpengine._api.page import waiting
from cdpengine._api.page.waiting import NodeState
from cdpengine._page.navigation.settling import RequestsUnderWay, watch_requests
from cdpengine._page.page_target import PageTarget

PAGE = """<!doctype html><title>t</title><h1>Start</h1><p id=gone>Loading</p>
<button id=b disabled>Go</button><input id=c type=checkbox><div id=host></div><iframe srcdoc="<p id=in>inner"></iframe>
<script>host.attachShadow({mode: "open"}).innerHTML = "<p id=s hidden>shadow text</p>"; late = undefined</script>"""


@pytest.fixture
async def shown(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    for path in ("/", "/other"):
        html = PAGE if path == "/" else PAGE.replace("Start", "Other")
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
    await used_page.goto(httpserver.url_for("/"))
    return used_page


BECOMES: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"text": "the end"}, "document.querySelector('h1').innerHTML = 'The <b>end</b>'"),
    "text in a shadow root": ({"text": "shadow text"}, "host.shadowRoot.firstChild.hidden = false"),
    "text in a frame": ({"text": "late"}, "frames[0].document.body.append('late')"),
    "text of a new frame": (
        {"text": "fresh"},
        "document.body.append(Object.assign(document.createElement('iframe'), {srcdoc: 'fresh'}))",
    ),
    "text gone": ({"text_gone": "Loading"}, "gone.remove()"),
    "text hidden": ({"text_gone": "Loading"}, "gone.style.visibility = 'hidden'"),
    "text gone with its frame": ({"text_gone": "inner"}, "document.querySelector('iframe').remove()"),
    "text by pattern": (
        {"text": re.compile(r"^Page 7\b")},
        "document.body.prepend('Page 7 '), document.querySelector('h1').textContent = 'x'",
    ),
    "text gone by pattern": ({"text_gone": re.compile("Load(ing|ed)")}, "gone.remove()"),
    "css": ({"css": "h1.done"}, "document.querySelector('h1').className = 'done'"),
    "css made visible": ({"css": "#s"}, "host.shadowRoot.firstChild.hidden = false"),
    "css gone": ({"css_gone": "#gone"}, "gone.style.display = 'none'"),
    "css of a property, without any event": ({"css": "#c:checked"}, "c.checked = true"),
    "a transition's end": (
        {"text_gone": "Loading"},
        "gone.style.transition = 'visibility 0.05s', gone.offsetWidth, gone.style.visibility = 'hidden'",
    ),
    "url by history": ({"url": "*/pushed?x=[1]"}, "history.pushState(0, '', '/pushed?x=[1]')"),
    "url by fragment": ({"url": re.compile("#there$")}, "location.hash = 'there'"),
    "url by navigation": ({"url": lambda url: url.endswith("/other")}, "location = '/other'"),
    "expression": ({"expression": "late.value === 5"}, "late = {value: 5}"),
    "expression as a function": ({"expression": "async () => late"}, "late = 1"),
    "text in the next document": ({"text": "Other"}, "location = '/other'"),
    "expression in the next document": (
        {"expression": "document.querySelector('h1').textContent === 'Other'"},
        "location = '/other'",
    ),
    "two at once": (
        {"text_gone": "Loading", "css": ".done", "expression": "late"},
        "gone.remove(), b.className = 'done', late = 1",
    ),
    "load of the next document": (
        {"url": "*/other", "load_state": "load", "text": "Other"},
        "location = '/other'",
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", BECOMES)
async def test_condition_becomes_true(shown: cdpengine.Page, way: str) -> None:
    conditions, script = BECOMES[way]
    done = trio.Event()

    async def wait() -> None:
        await shown.wait_for(**conditions, timeout=20)
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked(0.03)
        assert not done.is_set()
        await shown.evaluate(f"void ({script})")
    await shown.wait_for(**conditions, timeout=20)


def serve_chain(httpserver: HTTPServer, last: int) -> str:
    """Serve pages that each go to the next one while they load. Return the URL of the first."""

    def answer(request: Request) -> Response:
        number = int(request.args.get("n", "0"))
        script = f"location.replace('/chain?n={number + 1}')" if number < last else ""
        return Response(f"<title>{number}</title><script>{script}</script>", content_type="text/html")

    httpserver.expect_request("/chain").respond_with_handler(answer)
    return httpserver.url_for("/chain")


@pytest.mark.parametrize("last", [5, 40])
async def test_an_expression_is_evaluated_in_each_of_many_documents(
    page: cdpengine.Page, httpserver: HTTPServer, last: int
) -> None:
    """A document that is left between two steps of the evaluation fails nothing."""
    await page.goto(serve_chain(httpserver, last), wait_until="commit")
    await page.wait_for(expression=f"document.title === '{last}'", timeout=20)


@pytest.mark.parametrize("way", slow_but(["settled", "networkidle", "screenshot"], ["settled"]))
async def test_documents_that_were_left_delay_nothing(
    page: cdpengine.Page, httpserver: HTTPServer, way: str
) -> None:
    """Chrome reports no end for some of their requests, and loses pictures of them."""
    await page.goto(serve_chain(httpserver, 40), wait_until="commit")
    if way == "settled":
        await page.settled(timeout=20)
    elif way == "networkidle":
        await page.wait_for(load_state="networkidle", timeout=20)
    else:
        await page.screenshot(timeout=20)
        return
    assert await page.title() == "40"


STATES = [
    ("#b", "enabled", "b.disabled = false"),
    ("#gone", "hidden", "gone.hidden = true"),
    ("#gone", "detached", "gone.remove()"),
    ("#c", "checked", "c.checked = true"),
    ("#c", "hidden", "c.remove()"),
    ("#b", "disabled", "b.disabled = true"),
    ("#gone", "detached", "location = '/other'"),
    ("#in", "visible", "1"),
]


async def test_states_of_a_node(shown: cdpengine.Page) -> None:
    for css, state, script in every_nth(2, STATES, start=1):
        await shown.reload()
        node = await shown.find(css)
        if state == "disabled":
            await shown.evaluate("b.disabled = false")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda n=node, s=state: shown.wait_for(ref=n, state=s, timeout=20))  # type: ignore[misc]
            await trio.testing.wait_all_tasks_blocked(0.01)
            await shown.evaluate(f"void ({script})")
    await shown.reload()
    ref = (await shown.snapshot()).find(role="checkbox")
    await shown.wait_for(ref=ref, state="unchecked", timeout=20)
    await shown.wait_for(ref=ref.id, timeout=20)
    async with trio.open_nursery() as nursery:

        async def stale() -> None:
            with pytest.raises(cdpengine.errors.StaleRefError):
                await shown.wait_for(ref=ref, state="checked", timeout=20)

        nursery.start_soon(stale)
        await trio.testing.wait_all_tasks_blocked(0.01)
        await shown.reload()


GONE_IN: tuple[NodeState, ...] = ("visible", "attached", "enabled", "disabled", "checked", "unchecked")


@pytest.mark.sample(4)
@pytest.mark.parametrize("take_out", ["c.remove()", "kept = c, c.remove()", "document.body.innerHTML = ''"])
async def test_removed_node_raises_immediately(shown: cdpengine.Page, take_out: str) -> None:
    for state in every_nth(3, GONE_IN):
        await shown.reload()
        ref = (await shown.snapshot()).find(role="checkbox")
        await shown.evaluate(f"void ({take_out})")
        with trio.fail_after(5), pytest.raises(cdpengine.errors.StaleRefError):
            await shown.wait_for(ref=ref, state=state, timeout=20)
        for fine in ("detached", "hidden"):
            with trio.fail_after(5):
                await shown.wait_for(ref=ref, state=fine, timeout=20)


async def test_together_means_at_the_same_time(shown: cdpengine.Page) -> None:
    """`flag` is true only while the text is absent. In the end both hold."""
    await shown.evaluate("""late = 0; (async () => {
        const pause = () => new Promise(resolve => setTimeout(resolve, 40));
        for (let i = 0; i < 4; i++) {
            flag = i === 3; gone.textContent = "both"; await pause();
            if (i === 3) break;
            gone.textContent = "one"; await pause(); flag = true; await pause(); flag = false; await pause();
        }
        late = 1;
    })()""")
    await shown.wait_for(text="both", expression="flag", timeout=20)
    assert await shown.evaluate("flag && gone.textContent") == "both"
    await shown.wait_for(expression="late")


async def test_time(shown: cdpengine.Page) -> None:
    started = trio.current_time()
    await shown.wait_for(seconds=0.1, text="start")
    assert trio.current_time() - started >= 0.1


SAYS: list[tuple[dict[str, Any], str]] = [
    ({"text": "never", "css": "h1"}, r"text 'never'.* 'start loading"),
    ({"text_gone": "Start"}, r"text 'Start' gone.*'start loading"),
    ({"css": "#s"}, r"css '#s': seen was .*1 in the document, 0 visible"),
    ({"url": "*/never"}, r"url \*/never did not hold; it was http://"),
    ({"expression": "late.value"}, r"expression late\.value did not hold; it threw TypeError"),
    ({"expression": "() => 0"}, r"it was 0"),
    ({"expression": "(() => { for (;;); })()"}, r"it did not finish; its script was terminated"),
    ({"seconds": 60}, r"60 s have passed did not hold; \d+\.\d+ s had passed"),
]


async def test_deadline_error_names_the_missing_condition(shown: cdpengine.Page) -> None:
    for conditions, words in SAYS:
        for timeout in (0.25, 2.0, 10.0):  # the longer ones are for a busy machine
            with trio.fail_after(20), pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
                await shown.wait_for(**conditions, timeout=timeout)
            if re.search(words, str(caught.value), re.DOTALL):
                break
        assert re.search(words, str(caught.value), re.DOTALL), str(caught.value)
        assert await shown.evaluate("1 + 1", timeout=20) == 2, "the page still works"
    ref = await shown.find("#b")
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="attached, visible, disabled"):
        await shown.wait_for(ref=ref, state="enabled", timeout=0.2)


async def test_invalid_conditions_are_refused(shown: cdpengine.Page) -> None:
    refused = r"css: got 'a\[\[', expected a selector \("
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=refused):
        await shown.wait_for(css="a[[", timeout=20)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=refused):
        await shown.wait_for(css_gone="a[[", timeout=20)
    with pytest.raises(cdpengine.errors.EvaluationFailedError, match="SyntaxError"):
        await shown.wait_for(expression="late.(", timeout=20)
    with pytest.raises(cdpengine.errors.NodeNotFoundError):
        await shown.wait_for(ref="e99999", timeout=20)


async def test_page_closes_during_the_wait(browser: cdpengine.Browser, httpserver: HTTPServer) -> None:
    waits: list[dict[str, Any]] = [
        {"text": "never"},
        {"css_gone": "html"},
        {"url": "never"},
        {"expression": "0"},
        {"network_idle": 60},
        {"seconds": 60},
    ]
    for conditions in waits:
        page = await browser.new_page()
        async with trio.open_nursery() as nursery:

            async def wait(page: cdpengine.Page = page, conditions: dict[str, Any] = conditions) -> None:
                with trio.fail_after(20), pytest.raises(cdpengine.errors.SessionGoneError):
                    await page.wait_for(**conditions)

            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked(0.02)
            await page.close()


async def test_no_trace_in_the_page(shown: cdpengine.Page) -> None:
    names = "Object.getOwnPropertyNames(window).sort().join()"
    before = await shown.evaluate(names)
    await shown.evaluate("""{
        const add = EventTarget.prototype.addEventListener;
        EventTarget.prototype.addEventListener = function (...args) { late = 'seen'; return add.apply(this, args) };
        MutationObserver = class { constructor() { late = 'seen' } };
    }""")
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await shown.wait_for(text="never", css="never", timeout=0.1)
    await shown.settled(timeout=20)
    assert await shown.evaluate("late") is None
    assert await shown.evaluate(names) == before


# --- rest ----------------------------------------------------------------------------------------------------


@pytest.fixture
def slow(httpserver: HTTPServer) -> Any:
    """Responds to /slow when the test releases it."""
    import threading

    go = threading.Event()

    def answer(_request: Request) -> Response:
        go.wait(10)
        return Response("answer")

    httpserver.expect_request("/slow").respond_with_handler(answer)
    yield go
    go.set()


async def test_rest_after_an_action(shown: cdpengine.Page, slow: Any) -> None:
    await shown.evaluate(
        "b.disabled = false;"
        "b.onclick = async () => { const r = await fetch('/slow'); await 0; gone.textContent = await r.text(); late = 1 }"
    )
    button = await shown.find("#b")
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match=r"in progress: http://.*/slow"):
        async with shown.settling(timeout=1.5):
            await shown.click(button)
    async with trio.open_nursery() as nursery:

        async def act() -> None:
            async with shown.settling(timeout=20):
                await shown.click(button)
            assert await shown.evaluate("gone.textContent") == "answer"

        nursery.start_soon(act)
        await shown.session.wait_for("Network.requestWillBeSent")
        slow.set()


async def test_rest_after_a_worker_was_started(
    shown: cdpengine.Page, httpserver: HTTPServer, slow: Any
) -> None:
    httpserver.expect_request("/w.js").respond_with_data(
        "onconnect = () => {}", content_type="text/javascript"
    )
    starts = (
        "new Worker('/w.js')",
        "new Worker('/w.js', {type: 'module'})",
        "new Worker('/w.js').terminate()",
        "new Worker(URL.createObjectURL(new Blob(['1'])))",
        "new Worker('/missing.js')",
        "new SharedWorker('/w.js')",
        "new SharedWorker('data:text/javascript,1')",
        "frames[0].eval('kept = new parent.Worker(`/w.js`)')",
        "navigator.serviceWorker.register('/w.js')",
    )
    for start in starts:
        await shown.evaluate(f"b.disabled = false; b.onclick = () => {{ kept = {start} }}")
        button = await shown.find("#b")
        async with shown.settling(timeout=5):
            await shown.click(button)
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match=r"in progress: http://.*/slow"):
        async with shown.settling(timeout=0.7):
            await shown.evaluate("kept = new Worker('/slow'), 0")


BUSY = [
    ("setInterval(() => gone.append('x'), 20)", r"children of p#gone"),
    ("setInterval(() => frames[0].document.body.className += 'x', 20)", r"attribute class of body"),
    ("setInterval(() => fetch('/?' + Math.random()), 20)", r"in progress|quiet|settled"),
    ("document.body.append(Object.assign(new Image(), {src: '/slow'}))", r"in progress: http://.*/slow"),
]


async def test_page_that_never_rests_raises_with_reason(shown: cdpengine.Page, slow: Any) -> None:
    for script, words in BUSY:
        for timeout in (0.7, 3.0, 20.0):  # the longer ones are for a busy machine
            await shown.reload()
            with trio.fail_after(30), pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
                async with shown.settling(timeout=timeout):
                    await shown.evaluate(f"void ({script})")
            if re.search(words, str(caught.value)):
                break
        assert re.search(words, str(caught.value)), str(caught.value)
    assert not any(domain == "Network" for domain in shown.session.domains.users)


async def test_rest_of_a_still_page(shown: cdpengine.Page) -> None:
    await shown.evaluate("new WebSocket('ws://127.0.0.1:1/'), new EventSource('/slow'), 0")
    await shown.settled(timeout=20)
    started = trio.current_time()
    await shown.settled(quiet=0.05, timeout=20)
    assert trio.current_time() - started >= 0.05
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await shown.settled(quiet=0)
    with pytest.raises(ZeroDivisionError):
        async with shown.settling():
            raise ZeroDivisionError


async def test_rest_after_a_navigation(shown: cdpengine.Page) -> None:
    async with shown.settling(timeout=20):
        await shown.evaluate("void (location = '/other')")
    assert await shown.evaluate("document.querySelector('h1').textContent") == "Other"


async def test_an_idle_network(shown: cdpengine.Page, slow: Any) -> None:
    await shown.evaluate("void setTimeout(() => fetch('/slow'), 50)")
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match=r"1 in progress: http://.*/slow"):
        await shown.wait_for(network_idle=1, timeout=1.2)
    slow.set()
    await shown.wait_for(network_idle=0.1, timeout=20)


async def test_a_network_that_is_idle_when_the_watch_begins_is_noticed(
    page: cdpengine.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, the watch can take longer to begin than the required idle time."""

    @asynccontextmanager
    async def watch_late(target: PageTarget) -> AsyncIterator[RequestsUnderWay]:
        async with watch_requests(target) as requests:
            await trio.sleep(0.05)
            yield requests

    await page.wait_for(load_state="networkidle")  # otherwise its report wakes the wait
    monkeypatch.setattr(waiting, "watch_requests", watch_late)
    await page.wait_for(network_idle=0.01, timeout=5)
