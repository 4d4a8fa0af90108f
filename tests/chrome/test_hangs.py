"""Every way in which a page can hang: the error comes in time and is true, and the page works afterwards."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import attrs
import pytest
import trio
import trio.testing
from busy_machine import slack
from pytest_httpserver import HTTPServer
from rounds import rounds
from werkzeug import Request, Response

import cdpengine

BUDGET = 0.3
pytestmark = [pytest.mark.chrome, pytest.mark.transport("pipe", "websocket")]

LATE = 1.0
"""Seconds past the budget on a loaded machine. `python -m benchmarks hung_evaluate` has the real figures."""

BODY = """<!doctype html><button onclick='window.clicks = (window.clicks || 0) + 1'>Go</button>
<input aria-label=Name><p id=watched></p>"""

WASM_LOOP = """(async () => {
  // (module (func (export "f") (loop (br 0))))
  const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1,
    7, 0, 3, 64, 12, 0, 11, 11]);
  (await WebAssembly.instantiate(bytes)).instance.exports.f();
})()"""


@attrs.frozen
class Hang:
    """A script that does not end. `recover` is the way to free the page."""

    source: str
    recover: str = "terminate"


HANGS = {
    "endless loop": Hang("while (true) {}"),
    "catastrophic regular expression": Hang("/(a+)+$/.test('a'.repeat(40) + 'b')"),
    "a huge sort": Hang("Array.from({length: 2e7}, Math.random).sort((a, b) => a - b).length"),
    "endless microtasks, awaited": Hang("(async () => { for (;;) await 0; })()"),
    "endless microtasks, not awaited": Hang("(async () => { for (;;) await 0; })(); new Promise(() => {})"),
    "a promise that never settles": Hang("new Promise(() => {})"),
    "a timer": Hang("setTimeout(() => { for (;;); }, 0); new Promise(() => {})"),
    "a click handler": Hang(
        "addEventListener('click', () => { for (;;); }, {once: true}); document.body.click(); 1"
    ),
    "a MutationObserver": Hang(
        "new MutationObserver((_, o) => { o.disconnect(); for (;;); }).observe(watched, {childList: true});"
        "watched.textContent = 'x'; new Promise(() => {})"
    ),
    "a getter during serialisation": Hang("({ get a() { for (;;); } })"),
    "a Proxy trap": Hang("new Proxy({}, { ownKeys() { for (;;); } })"),
    "WebAssembly": Hang(WASM_LOOP),
    "a synchronous request": Hang(
        "const x = new XMLHttpRequest(); x.open('GET', '/never', false); x.send()", "reload"
    ),
}


@pytest.fixture
def site(httpserver: HTTPServer) -> Iterator[HTTPServer]:
    release = threading.Event()

    def never(_request: Request) -> Response:
        release.wait(60)
        return Response("late")

    httpserver.expect_request("/never").respond_with_handler(never)
    httpserver.expect_request("/").respond_with_data(BODY, content_type="text/html")
    yield httpserver
    release.set()


async def still_works(page: cdpengine.Page) -> None:
    """Click, type and look on the same page."""
    snapshot = await page.snapshot(timeout=10)
    await page.click(snapshot.find(role="button", name="Go"), timeout=10)
    await page.type(snapshot.find(role="textbox"), "ada", timeout=10)
    assert (await page.snapshot(timeout=10)).find(role="textbox").name == "Name"
    assert await page.evaluate("[window.clicks, document.querySelector('input').value]", timeout=10) == [
        1,
        "ada",
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", HANGS)
async def test_hang_is_reported_in_time_and_page_recovers(
    page: cdpengine.Page, site: HTTPServer, name: str
) -> None:
    hang = HANGS[name]
    await page.goto(site.url_for("/"))
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
        await page.evaluate(hang.source, timeout=BUDGET, recover=hang.recover)  # type: ignore[arg-type]
    spent = trio.current_time() - started
    assert BUDGET <= spent < BUDGET + slack(LATE)
    report = caught.value.report
    assert report.sent
    assert [step.name for step in report.steps][:1] in (["terminate"], ["dialog"])
    if report.responsive:
        assert hang.recover == "terminate"
    await still_works(page)
    # The hung script does not continue in the background.
    assert await page.evaluate("1 + 1", timeout=20) == 2


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
async def test_dialog_does_not_count_as_hang(page: cdpengine.Page, site: HTTPServer, kind: str) -> None:
    await page.goto(site.url_for("/"))
    await page.evaluate(f"{kind}('hello')", timeout=20)
    assert [dialog.type for dialog in page.dialogs.records] == [kind]
    await still_works(page)


async def test_beforeunload_does_not_count_as_hang(new_tab: cdpengine.Page, site: HTTPServer) -> None:
    page = new_tab
    await page.goto(site.url_for("/"))
    await page.click((await page.snapshot()).find(role="button"))  # without a gesture Chrome does not ask
    await page.evaluate("addEventListener('beforeunload', event => event.preventDefault())")
    await page.goto(site.url_for("/"), timeout=10)
    assert [dialog.type for dialog in page.dialogs.records] == ["beforeunload"]
    await still_works(page)


async def test_hung_popup_does_not_affect_its_opener(
    browser: cdpengine.Browser, page: cdpengine.Page, site: HTTPServer
) -> None:
    await page.goto(site.url_for("/"))
    await page.evaluate("void window.open('/', '', 'noopener')")
    popup = await browser.wait_for_page(where=lambda other: other is not page and other.url == page.url)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(popup.evaluate, "while (true) {}")
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(20):
            while not await popup.measure.unresponsive_for():
                pass
        await still_works(page)
        assert await popup.measure.unresponsive_for()
        nursery.cancel_scope.cancel()
    await still_works(popup)
    await popup.close()


async def test_hung_worker_does_not_affect_its_page(page: cdpengine.Page, site: HTTPServer) -> None:
    await page.goto(site.url_for("/"))
    source = "new Worker(URL.createObjectURL(new Blob(['for (;;);']))).postMessage(1); new Promise(() => {})"
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await page.evaluate(source, timeout=BUDGET)
    await still_works(page)


async def test_a_hang_in_a_frame_of_another_site(page: cdpengine.Page, site: HTTPServer) -> None:
    site.expect_request("/outer").respond_with_data(
        BODY + f"<iframe src='http://localhost:{site.port}/'></iframe>", content_type="text/html"
    )
    await page.goto(site.url_for("/outer"), wait_until="networkidle")
    inner = next(frame for frame in page.frames if frame.parent_id is not None)
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
        await page.evaluate("while (true) {}", timeout=BUDGET, frame=inner)
    assert caught.value.report.sent
    await still_works(page)
    assert await page.evaluate("location.hostname", timeout=20, frame=inner) == "localhost"


NEXT = 0.25
"""Seconds after the last of many errors within which the page must evaluate again."""


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "tabs", "each"),
    [
        ("endless loop", rounds(3, 10), rounds(10, 20)),
        ("endless microtasks, awaited", 1, 10),
        ("a timer", 1, 10),
    ],
)
async def test_many_evaluates_hang_at_once_in_one_tab(
    browser: cdpengine.Browser, name: str, tabs: int, each: int
) -> None:
    pages = [await browser.new_page() for _ in range(tabs)]
    late: list[float] = []

    async def hang(page: cdpengine.Page) -> None:
        started = trio.current_time()
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await page.evaluate(HANGS[name].source, timeout=BUDGET)
        late.append(trio.current_time() - started - BUDGET)

    async with trio.open_nursery() as nursery:
        for page in pages:
            for _ in range(each):
                nursery.start_soon(hang, page)
    assert max(late) <= slack(LATE)
    with trio.fail_after(slack(NEXT * tabs)):
        async with trio.open_nursery() as nursery:
            for page in pages:
                nursery.start_soon(page.evaluate, "1 + 1")
    for page in pages:
        await page.close()


@pytest.mark.slow
async def test_tabs_that_share_a_process_hang_at_once(browser: cdpengine.Browser, site: HTTPServer) -> None:
    pages = [await browser.new_page(site.url_for("/"))]
    for _ in range(rounds(2, 4)):
        async with pages[0].expect_popup() as expected:
            await pages[0].evaluate("void open('/')")
        pages.append(expected.value)

    async def hang(page: cdpengine.Page) -> None:
        with pytest.raises(
            (cdpengine.errors.EvaluationTimeoutError, cdpengine.errors.EvaluationTerminatedError)
        ):
            await page.evaluate("while (true) {}", timeout=BUDGET)

    async with trio.open_nursery() as nursery:
        for page in pages:
            nursery.start_soon(hang, page)
    with trio.fail_after(slack(NEXT * len(pages))):
        for page in pages:
            assert await page.evaluate("1 + 1") == 2
    for page in pages:
        await page.close()


FORM = "<title>T</title><input aria-label=Name><button onclick='document.title += 1'>Go</button><p>text " * 50


@pytest.mark.parametrize("transport", ["pipe", "websocket"])
@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.slow)])
async def test_terminations_of_neighbor_page_affect_no_reading(
    browser: cdpengine.Browser, httpserver: HTTPServer, times: int
) -> None:
    """Another page of the process runs endless scripts, and their timeouts terminate scripts at any moment."""
    httpserver.expect_request("/form").respond_with_data(FORM, content_type="text/html")
    neighbor = await browser.new_page(httpserver.url_for("/form"))
    async with neighbor.expect_popup() as expected:
        await neighbor.evaluate("void open('/form')")
    page = expected.value
    await page.wait_for(css="button")
    ended = 0
    done = False

    async def hang() -> None:
        nonlocal ended
        while not done:
            with pytest.raises(
                (cdpengine.errors.EvaluationTimeoutError, cdpengine.errors.EvaluationTerminatedError)
            ):
                await neighbor.evaluate("for (;;);", timeout=0.03)
            ended += 1

    async def use() -> None:
        button, field = await page.find(role="button", nth=0), await page.find(role="textbox", nth=0)
        assert "textbox" in (await page.snapshot()).text
        with suppress(cdpengine.errors.EvaluationTerminatedError, cdpengine.errors.DeadlineExceededError):
            await page.click(button, timeout=2)
            await page.fill(field, "Ada", timeout=2)  # a promise hit by a termination never settles
        assert "text" in await page.extract_markdown()
        assert "Ada" not in await page.content()
        assert len(await page.find_all(role="button")) > 0
        assert (await page.screenshot()).startswith(b"\x89PNG")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang)
        for _ in range(times):
            await use()
        done = True
    assert ended
    assert (await page.title()).startswith("T")
    for each in (page, neighbor):
        await each.close()


LOGGED = """<!doctype html><title>T</title><button id=near>Near</button><input aria-label=Name>
<select aria-label=Kind><option>a<option>b<option>c</select><div style="height: 3000px"></div>
<button id=far>Far</button><div id=key tabindex=0 role=textbox aria-label=Keys>k</div>
<script>log = []; const note = (event) => { log.push([event.target.id, event.timeStamp]) };
for (const each of [window, document, document.documentElement, document.body]) {
  for (const type of ["click", "keydown"]) each.addEventListener(type, note, true);
}</script>"""
"""A termination can end one of its listeners, so four listeners note each event."""


@pytest.mark.parametrize("times", [12, pytest.param(150, marks=pytest.mark.slow)])
async def test_terminations_of_neighbor_page_delay_actions_and_repeat_none(
    browser: cdpengine.Browser, httpserver: HTTPServer, times: int
) -> None:
    """Actions continue, or raise immediately if it is unknown whether they were done."""
    httpserver.expect_request("/logged").respond_with_data(LOGGED, content_type="text/html")
    neighbor = await browser.new_page(httpserver.url_for("/logged"))
    async with neighbor.expect_popup() as expected:
        await neighbor.evaluate("void open('/logged')")
    page = expected.value
    await page.wait_for(css="button")
    near, far = await page.find_all(role="button")
    name, keys = await page.find(role="textbox", name="Name"), await page.find(role="textbox", name="Keys")
    kind = await page.find(role="combobox")
    chance = random.Random(times)
    actions: dict[str, Callable[[], Awaitable[object]]] = {
        "near": lambda: page.click(near, timeout=8),
        "far": lambda: page.click(far, timeout=8),
        "key": lambda: page.press("a", target=keys, timeout=8),
        "name": lambda: page.fill(name, chance.choice(["Ada", "Bob"]), timeout=8),
        "kind": lambda: page.select(kind, chance.choice("abc"), timeout=8),
    }
    done: Counter[str] = Counter()
    unknown: Counter[str] = Counter()

    async def hang() -> None:
        while True:
            with suppress(
                cdpengine.errors.EvaluationTimeoutError, cdpengine.errors.EvaluationTerminatedError
            ):
                await neighbor.evaluate("for (;;);", timeout=chance.choice([0.01, 0.03, 0.1]))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang)
        for _ in range(times):
            each = chance.choice(list(actions))
            try:
                await actions[each]()
                done[each] += 1
            except cdpengine.errors.EvaluationTerminatedError:
                unknown[each] += 1
        nursery.cancel_scope.cancel()
    arrived = Counter(name for name, _ in {tuple(each) for each in await page.evaluate("log", timeout=20)})
    for each in ("near", "far", "key"):
        assert done[each] <= arrived[each] <= done[each] + unknown[each]
    for open_page in (page, neighbor):
        await open_page.close()


# --- every way of giving up stops the script -------------------------------------------------------------------------

COUNT = """
window.n = 1;
const request = new XMLHttpRequest();
request.open("GET", "URL", false);
try { request.send() } catch { /* the answer is for no other origin; that it was asked is enough */ }
while (true) window.n++;
"""


@attrs.frozen
class Counting:
    """A script that never ends, and that notifies the test's server at its start."""

    url: str
    begun: threading.Event

    @property
    def script(self) -> str:
        return COUNT.replace("URL", self.url)

    async def begins(self) -> None:
        assert await trio.to_thread.run_sync(self.begun.wait, 30, abandon_on_cancel=True)


@pytest.fixture
def counting(httpserver: HTTPServer) -> Counting:
    begun = threading.Event()

    def answer(_: Request) -> Response:
        begun.set()
        return Response("")

    httpserver.expect_request("/counting").respond_with_handler(answer)
    return Counting(httpserver.url_for("/counting"), begun)


async def stands_still(page: cdpengine.Page) -> None:
    count = await page.evaluate("window.n", timeout=20)
    assert count > 0
    assert await page.evaluate("window.n", timeout=20) == count


async def test_a_cancelled_nursery_stops_it(page: cdpengine.Page, counting: Counting) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.evaluate, counting.script)
        await counting.begins()
        nursery.cancel_scope.cancel()
    await stands_still(page)


async def test_another_tasks_failure_stops_it(page: cdpengine.Page, counting: Counting) -> None:
    async def fail() -> None:
        await counting.begins()
        raise KeyError("mine")

    with pytest.raises(ExceptionGroup) as caught:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.evaluate, counting.script)
            nursery.start_soon(fail)
    assert caught.group_contains(KeyError)
    await stands_still(page)


PROGRAM = """
import sys, trio, cdpengine

async def main():
    async with cdpengine.connect(sys.argv[1]) as browser:
        page = await browser.new_page(sys.argv[3])
        print(page.target_id, flush=True)
        await trio.to_thread.run_sync(input)  # until the test has the page, too
        await page.evaluate(sys.argv[2], timeout=60)

trio.run(main)
"""


async def test_ctrl_c_stops_it(
    browser: cdpengine.Browser, shared_endpoint: str, httpserver: HTTPServer, counting: Counting
) -> None:
    httpserver.expect_request("/page").respond_with_data("<title>counting</title>", content_type="text/html")
    url = httpserver.url_for("/page")
    arguments = [sys.executable, "-c", PROGRAM, shared_endpoint, counting.script, url]
    async with await trio.open_file(os.devnull, "w") as nowhere:
        program = await trio.lowlevel.open_process(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=nowhere.fileno()
        )
    try:
        assert program.stdout is not None
        target_id = (await program.stdout.receive_some()).decode().strip()
        page = await browser.wait_for_page(where=lambda page: page.target_id == target_id)
        assert program.stdin is not None
        await program.stdin.send_all(b"\n")
        await counting.begins()
        program.send_signal(signal.SIGINT)
        with trio.fail_after(60):
            await program.wait()
        await stands_still(page)
        await page.close()
    finally:
        program.kill()
        await program.wait()
        for pipe in (program.stdin, program.stdout):
            if pipe is not None:
                await pipe.aclose()
