"""`page.clock`: dates, timers and frames of a page on a clock that the program moves. The oracle is the real clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import trio
from pytest_httpserver import HTTPServer
from timer_programs import RUN, program

import cdpengine
from cdpengine.errors import DeadlineExceededError, InvalidArgumentError, InvalidStateError

NOON = datetime(2024, 2, 29, 12, 0, tzinfo=UTC)
MS = NOON.timestamp() * 1000

NAMES = """() => {
  const at = (owner, names) => names.map(name => Object.getOwnPropertyDescriptor(owner, name))
    .flatMap(each => each ? [each.value, each.get, each.enumerable] : [null]);
  return [...at(window, ["Date", "setTimeout", "setInterval", "clearTimeout", "clearInterval",
      "requestAnimationFrame", "cancelAnimationFrame", "requestIdleCallback", "cancelIdleCallback"]),
    ...at(Performance.prototype, ["now", "timeOrigin"]), ...at(Event.prototype, ["timeStamp"]),
    ...at(Date.prototype, ["constructor"]), Date.now, ...at(Intl.DateTimeFormat.prototype, ["format", "formatToParts"]),
    ...(window.Temporal ? at(Temporal.Now, ["instant", "zonedDateTimeISO", "plainDateISO"]) : []),
    Object.getOwnPropertyNames(window).some(name => name.includes("cdpengine"))];
}"""


async def test_dates_stand_still_and_the_clock_moves_on_request(page: cdpengine.Page) -> None:
    async with page.clock.install(NOON, paused=True):
        seen = await page.evaluate("""[Date.now(), +new Date(), Date(), new Intl.DateTimeFormat('en-GB').format(),
            new Date(5).getTime(), new Date() instanceof Date, new Date().constructor === Date,
            new (class extends Date { x() { return this.getTime() } })().x(),
            typeof Temporal === 'undefined' || Temporal.Now.instant().epochMilliseconds,
            new Intl.DateTimeFormat('en', {year: 'numeric'}).formatToParts()[0].value, Date.UTC(1970, 0), Date.length]""")
        assert seen[:2] == [MS, MS]
        assert seen[2].startswith("Thu Feb 29 2024 12:00:00")
        assert seen[3] == "29/02/2024"
        assert seen[4:8] == [5, True, True, MS]
        assert seen[8] in (True, MS)
        assert seen[9:] == ["2024", 0, 7]
        before = await page.evaluate("[performance.now(), performance.timeOrigin]")
        await trio.sleep(0.05)
        await page.clock.run_for(timedelta(minutes=1))
        after = await page.evaluate("[performance.now(), performance.timeOrigin, Date.now()]")
        assert after == [before[0] + 60_000, before[1], MS + 60_000]
        await page.clock.pause_at(datetime(2024, 2, 29, 13, 0, tzinfo=UTC))
        assert await page.evaluate("Date.now()") == MS + 3_600_000
        with pytest.raises(InvalidArgumentError, match="before the page's clock"):
            await page.clock.pause_at(NOON)
        await page.clock.resume()
        await trio.sleep(0.1)
        assert 0 < await page.evaluate("Date.now()") - MS - 3_600_000 < 20_000
        await page.clock.set_fixed_time(7)
        await page.evaluate("new Promise(done => setTimeout(done, 20))")
        assert await page.evaluate("Date.now()") == 7000
        await page.clock.set_system_time(NOON)
        assert 0 <= await page.evaluate("Date.now()") - MS < 20_000
    assert abs(await page.evaluate("Date.now()") - trio_now()) < 20_000


def trio_now() -> float:
    return datetime.now(UTC).timestamp() * 1000


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
async def test_a_program_runs_in_the_order_of_the_real_clock(page: cdpengine.Page, seed: int) -> None:
    nodes, duration = program(seed)
    await page.evaluate(RUN, nodes)
    await trio.sleep(duration / 1000 + 0.1)
    real = await page.evaluate("log")
    async with page.clock.install(paused=True):
        await page.evaluate(RUN, nodes)
        await page.clock.run_for(duration / 1000)
        assert await page.evaluate("log") == real
    async with page.clock.install():  # the clock runs, and is moved in the middle
        await page.evaluate(RUN, nodes)
        await page.clock.run_for(duration / 2000)
        await trio.sleep(duration / 2000 + 0.2)
        assert await page.evaluate("log") == real


CHAIN = """() => new Promise(done => {
  const times = [];
  const step = () => { times.push(performance.now()); times.length < 12 ? setTimeout(step) : done(times) };
  setTimeout(step);
})"""
EVERY = """() => new Promise(done => {
  const times = [];
  const step = () => { if (times.push(performance.now()) > 12) { clearInterval(timer); done(times) } };
  const timer = setInterval(step, 2);
})"""


@pytest.mark.parametrize("nested", [CHAIN, EVERY])
async def test_nested_timers_are_clamped_as_by_the_browser(page: cdpengine.Page, nested: str) -> None:
    async def clamped(expression: str) -> list[bool]:
        return [
            after - before >= 3.4 for before, after in itertools.pairwise(await page.evaluate(expression))
        ]

    runs = [await clamped(nested) for _ in range(9)]
    # A busy machine delays single steps, and shortens the next one.
    real = [sum(run[at] for run in runs) > 4 for at in range(len(runs[0]))]
    async with page.clock.install(paused=True):
        await page.evaluate(f"({nested})().then(times => window.times = times); 1")
        await page.clock.run_for(1)
        assert await clamped("times") == real


async def test_timers_run_at_their_time_and_jumps_run_them_once(page: cdpengine.Page) -> None:
    async with page.clock.install(NOON, paused=True):
        await page.evaluate("""() => {
          log = []; const note = (name) => log.push([name, Date.now() - START]);
          START = Date.now();
          setTimeout((a, b) => note(a + b), 1000, "x", "y");
          setTimeout("log.push(['code', Date.now() - START])", 1500);
          every = setInterval(() => note("every"), 400);
          gone = setTimeout(() => note("gone"), 10); clearTimeout(gone);
          requestAnimationFrame((t) => log.push(["frame", Math.round(t) % 16, t === performance.now()]));
          setTimeout(() => { setTimeout(() => note("inner"), 5) }, 390);
        }""")
        await trio.sleep(0.1)
        assert await page.evaluate("log") == []
        await page.clock.run_for(1.2)
        assert await page.evaluate("log") == [
            ["frame", 0, True], ["inner", 395], ["every", 400], ["every", 800], ["xy", 1000], ["every", 1200],
        ]  # fmt: skip
        await page.clock.fast_forward(3600)
        assert (await page.evaluate("log"))[6:] == [["code", 3_601_200], ["every", 3_601_200]]
        await page.clock.run_for(0.4)
        assert (await page.evaluate("log"))[8:] == [["every", 3_601_600]]
        await page.evaluate("clearInterval(every); 1")
        await page.clock.run_for(10)
        assert len(await page.evaluate("log")) == 9


async def test_errors_of_callbacks_are_errors_of_the_page_and_the_next_timer_runs(
    page: cdpengine.Page,
) -> None:
    async with page.clock.install(paused=True), page.events("errors") as events:
        await page.evaluate("""() => {
          seen = []; onerror = (message) => { seen.push(message) };
          setTimeout(() => { throw new Error("first") }, 10);
          setTimeout(() => seen.push("second"), 20);
        }""")
        await page.clock.run_for(1)
        assert await page.evaluate("seen") == ["Uncaught Error: first", "second"]
        assert str(await events.wait_for(cdpengine.PageError, timeout=5)) == "Error: first"


async def test_frames_idle_callbacks_and_event_times(page: cdpengine.Page) -> None:
    async with page.clock.install(NOON, paused=True):
        await page.evaluate("""() => {
          log = [];
          const next = (t) => { log.push(t); if (log.length < 4) requestAnimationFrame(next) };
          requestAnimationFrame(next);
          requestAnimationFrame(() => log.push("same"));
          cancelAnimationFrame(requestAnimationFrame(() => log.push("cancelled")));
          requestIdleCallback((deadline) => idle = deadline.timeRemaining());
        }""")
        await page.clock.run_for(0.1)
        log = await page.evaluate("log")
        assert log[1] == "same"
        assert [log[2] - log[0], log[3] - log[2]] == [16, 16]
        assert await page.evaluate("idle") == 50
        stamp = "const event = new Event('a'); [event.timeStamp, performance.now(), event.timeStamp]"
        first, now, second = await page.evaluate(
            f"(() => {{ {stamp.replace('[event', 'return [event')} }})()"
        )
        assert first == second == now
        await page.clock.resume()
        assert await page.evaluate(
            "new Promise(done => requestAnimationFrame(t => done(performance.now() - t >= 0)))"
        )
        assert await page.evaluate("new Promise(done => requestIdleCallback(() => done(1)))") == 1


async def test_the_engine_works_in_a_page_whose_clock_stands(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve("""<title>shop</title><button onclick="this.textContent = 'clicked ' + Date.now()">buy</button>
        <input id=name oninput="out.textContent = this.value"><p id=out></p><select><option>a<option>b</select>
        <p id=late></p><script>setTimeout(() => late.textContent = 'the time is up', 60000)</script>""")
    async with page.clock.install(NOON, paused=True):
        with trio.fail_after(60):
            await page.goto(url)
            await page.click(page.locate(role="button"))
            await page.wait_for(text=f"clicked {MS:.0f}", timeout=10)
            await page.fill(page.locate(css="#name"), "Ada")
            await page.type(page.locate(css="#name"), " L")
            await page.press("End")
            await page.select(page.locate(css="select"), "b")
            await page.settled(timeout=10)
            assert "button 'clicked" in str(await page.snapshot()) or "clicked" in str(await page.snapshot())
            assert await page.evaluate("out.textContent") == "Ada L"
            await page.wait_for(expression="out.textContent === 'Ada L'", timeout=10)
            assert len(await page.screenshot()) > 100
            await page.clock.fast_forward(60)
            await page.wait_for(text="the time is up", timeout=10)
            await page.reload()
            assert await page.evaluate("Date.now()") == MS + 60_000


async def test_frames_of_all_processes_and_new_documents_have_the_clock(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    inside = "<script>first = Date.now(); ran = 0; setInterval(() => ran++, 1000)</script>"
    main = f"{inside}<iframe src='{other}/inside'></iframe><iframe src='/inside'></iframe>"
    for path, body in {"/main": main, "/inside": inside, "/next": inside}.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/html")
    httpserver.expect_request("/favicon.ico").respond_with_data("", status=204)

    async def everywhere(expression: str) -> set[object]:
        return {await page.evaluate(expression, frame=frame) for frame in page.frames}

    async with page.clock.install(NOON, paused=True):
        await page.goto(f"{here}/main")
        assert len(page.frames) == 3
        assert await everywhere("first") == {MS}
        await page.clock.run_for(5)
        assert await everywhere("[Date.now(), ran].join()") == {f"{MS + 5000:.0f},5"}
        await page.clock.fast_forward(5)
        assert await everywhere("[Date.now(), ran].join()") == {f"{MS + 10_000:.0f},6"}
        await page.evaluate(
            "{ const frame = document.createElement('iframe'); document.body.append(frame); }"
        )
        assert await page.evaluate("frames[2].Date.now()") == MS + 10_000
        await page.goto(f"{here}/next")
        assert await page.evaluate("first") == MS + 10_000
        await page.clock.run_for(1)
        await page.go_back()
        assert await page.evaluate("Date.now()") == MS + 11_000
    assert {abs(time - trio_now()) < 20_000 for time in await everywhere("Date.now()")} == {True}  # type: ignore[operator]


async def test_a_document_that_returns_from_the_cache_has_the_present_clock(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    for path in ("/one", "/two"):
        httpserver.expect_request(path).respond_with_data(f"<title>{path}</title>", content_type="text/html")
    await page.goto(httpserver.url_for("/one"))
    await page.evaluate("kept = 1; 1")
    async with page.clock.install(NOON, paused=True):
        await page.goto(httpserver.url_for("/two"))
        await page.clock.run_for(5)
        await page.go_back()
        assert await page.evaluate("kept") == 1
        await page.wait_for(expression=f"Date.now() === {MS + 5000:.0f}", timeout=5)
        await page.go_forward()
    await page.go_back()
    assert abs(await page.evaluate("Date.now()") - trio_now()) < 20_000
    assert await page.evaluate("kept") == 1


async def test_the_end_restores_every_name_and_waiting_timers_continue(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve(f"<script>names = {NAMES}; before = names(); ran = []</script>")
    await page.goto(url)
    async with page.clock.install(NOON, paused=True):
        assert not await page.evaluate(
            "{ const now = names(); now.every((each, at) => each === before[at]) }"
        )
        await page.evaluate("""() => {
          setTimeout(() => ran.push("late"), 30); timer = setInterval(() => ran.push("every"), 20);
          cleared = setTimeout(() => ran.push("cleared"), 5000);
          requestAnimationFrame(() => ran.push("frame")); requestIdleCallback(() => ran.push("idle"));
        }""")
        await trio.sleep(0.2)
        assert await page.evaluate("ran") == []
    assert (
        await page.evaluate(
            "{ const now = names(); now.map((each, at) => [at, each === before[at]]).filter(([, same]) => !same) }"
        )
        == []
    )
    await page.wait_for(
        expression="['late', 'every', 'frame', 'idle'].every(each => ran.includes(each))", timeout=10
    )
    await page.evaluate("clearInterval(timer); clearTimeout(cleared); count = ran.length; 1")
    await page.evaluate("new Promise(done => setTimeout(done, 100))")
    assert await page.evaluate("ran.length === count")


async def test_a_page_that_replaces_builtins_cannot_break_the_clock(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve("""<script>
      const note = (text) => document.documentElement.dataset[text] = Date.now();
      const on = setTimeout;
      for (const name of ["call", "apply", "bind"]) Function.prototype[name] = () => { throw new Error("broken") };
      for (const name of ["push", "map", "sort", Symbol.iterator]) Array.prototype[name] = () => { throw new Error("broken") };
      Promise = undefined; MessageChannel = undefined; Reflect = undefined; Map = undefined; Math = undefined;
      EventTarget.prototype.addEventListener = MessagePort.prototype.postMessage = () => { throw new Error("broken") };
      Object.defineProperty = Object.getOwnPropertyDescriptor = () => { throw new Error("broken") };
      on(() => note("first"), 1000); on(() => on(() => note("second"), 1000), 1000);
      const native = setTimeout; setTimeout = (f, t) => native(f, t * 2); setTimeout(() => note("third"), 1000);
    </script>""")
    async with page.clock.install(NOON, paused=True):
        await page.goto(url)
        await page.clock.run_for(5)
        seen = await page.session.call(
            "Runtime.evaluate", expression="JSON.stringify({...document.documentElement.dataset})"
        )
        assert seen["result"]["value"] == (
            f'{{"first":"{MS + 1000:.0f}","third":"{MS + 2000:.0f}","second":"{MS + 2000:.0f}"}}'
        )


async def test_timers_that_navigate_or_never_end(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    for path in ("/one", "/two"):
        httpserver.expect_request(path).respond_with_data(f"<title>{path}</title>", content_type="text/html")
    await page.goto(httpserver.url_for("/one"))
    async with page.clock.install(NOON, paused=True):
        await page.evaluate("setTimeout(() => location = '/two', 900_000); 1")
        await page.clock.run_for(1800)
        await page.wait_for(url="*/two", timeout=10)
        assert await page.evaluate("Date.now()") == MS + 1_800_000
        await page.evaluate("setTimeout(() => { for (;;); }, 1000); setTimeout(() => done = 1, 2000); 1")
        with pytest.raises(DeadlineExceededError):
            await page.clock.run_for(5, timeout=0.5)
        await page.clock.run_for(5)
        assert await page.evaluate("done") == 1
        await page.clock.resume()
        await page.evaluate("setTimeout(() => { for (;;); }, 1_000_000); 1")
        with trio.move_on_after(0.3):
            await page.clock.run_for(2000)
        assert await page.evaluate(
            "{ const before = Date.now(); new Promise(done => setTimeout(() => done(Date.now() > before), 50)) }"
        )


async def test_a_cancelled_install_leaves_nothing(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    url = serve("<title>next</title>")
    for step in range(12):
        with trio.move_on_after(step * 0.001):
            async with page.clock.install(NOON, paused=True):
                await trio.sleep_forever()
        assert abs(await page.evaluate("Date.now()") - trio_now()) < 20_000, step
        if step % 4 == 3:
            await page.goto(url)
            assert abs(await page.evaluate("Date.now()") - trio_now()) < 20_000, step
    async with page.clock.install(NOON):
        with pytest.raises(DeadlineExceededError):
            await page.clock.run_for(1, timeout=0)


async def test_wrong_uses_raise(page: cdpengine.Page) -> None:
    with pytest.raises(InvalidStateError, match=r"page\.clock\.install"):
        await page.clock.run_for(1)
    with pytest.raises(InvalidArgumentError, match="time"):
        page.clock.install("2024-02-29")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="not milliseconds"):
        page.clock.install(1_709_164_800_000)
    await page.clock.install(paused=True)
    with pytest.raises(InvalidStateError, match="already"):
        await page.clock.install()
    for seconds in (-1, float("nan"), "1"):
        with pytest.raises(InvalidArgumentError, match="seconds"):
            await page.clock.run_for(seconds)  # type: ignore[arg-type]
    assert await page.clock.uninstall() == 1
    assert await page.clock.uninstall() == 0
