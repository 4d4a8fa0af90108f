"""Measuring a page in a real Chromium: traces, coverage, metrics, profiles, heap snapshots."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._measure.coverage import _COVERED
from cdpengine._measure.profiles import _PROFILED

pytestmark = pytest.mark.chrome

SCRIPT = "".join(f"function f{number}() {{ return 'é😀' + {number}; }}\n" for number in range(6))
SHEET = "".join(f".c{number} {{ top: 0 }}\n" for number in range(6))
PAGE = """<!doctype html><meta charset=utf-8><link rel=stylesheet href=/s.css><script src=/s.js></script>
<p>x</p><script>function inline() { return 1; } var done = 1;</script>"""

USE = """(n) => {
  window['f' + n]();
  const p = document.querySelector('p');
  p.className = 'c' + n;
  getComputedStyle(p).top;
}"""


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    for name in ("/", "/one", "/two"):
        httpserver.expect_request(name).respond_with_data(PAGE, content_type="text/html; charset=utf-8")
    httpserver.expect_request("/s.js").respond_with_data(
        SCRIPT, content_type="text/javascript; charset=utf-8"
    )
    httpserver.expect_request("/s.css").respond_with_data(SHEET, content_type="text/css; charset=utf-8")
    httpserver.expect_request("/empty").respond_with_data("<p>", content_type="text/html")
    return httpserver.url_for("/").rstrip("/")


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    assert not list(tmp_path.glob("*.part"))
    assert not _COVERED
    assert not _PROFILED


def elsewhere(site: str) -> str:
    return site.replace("127.0.0.1", "localhost")


def used_functions(entry: cdpengine.measure.CoveredText) -> set[int]:
    assert entry.text is not None
    return {
        number
        for number in range(6)
        for start, end in entry.used
        if f"function f{number}()" in entry.text[start:end]
    }


def used_rules(entry: cdpengine.measure.CoveredText) -> set[int]:
    assert entry.text is not None
    return {
        number for number in range(6) for start, end in entry.used if f".c{number} " in entry.text[start:end]
    }


async def tracing_is_off(browser: cdpengine.Browser) -> None:
    with pytest.raises(cdpengine.errors.RemoteError, match="not started"):
        await browser.session.call("Tracing.end")


# --- traces --------------------------------------------------------------------------------------------------


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
async def test_trace_contains_the_events(
    browser: cdpengine.Browser, page: cdpengine.Page, site: str, tmp_path: Path, name: str
) -> None:
    seen: list[cdpengine.measure.TraceProgress] = []
    recording = trio.Event()

    def progress(report: cdpengine.measure.TraceProgress) -> None:
        seen.append(report)
        recording.set()

    path = tmp_path / name
    async with browser.measure.trace(path, progress=progress) as trace:
        early = trace.report
        await page.goto(site + "/one")
        await page.evaluate("performance.mark('the mark'), 1")
        with pytest.raises(cdpengine.errors.InvalidStateError, match="one at a time"):
            async with browser.measure.trace(tmp_path / "other.json"):
                pytest.fail("a second trace started")
        with trio.fail_after(30):
            await recording.wait()
    data = path.read_bytes()
    events = json.loads(gzip.decompress(data) if name.endswith("gz") else data)["traceEvents"]
    assert [event for event in events if event["name"] == "the mark"]
    assert any(site in json.dumps(event) for event in events)
    report = trace.report
    assert early is None
    assert report is not None
    assert (report.size, report.data_lost) == (len(data), False)
    assert report.written >= report.size
    assert [told.written for told in seen if told.phase == "writing"][-1] == report.written
    assert list(tmp_path.iterdir()) == [path]
    await tracing_is_off(browser)


async def test_page_trace_has_pictures_and_other_format_is_perfetto(
    browser: cdpengine.Browser, page: cdpengine.Page, site: str, tmp_path: Path
) -> None:
    async with page.measure.trace(tmp_path / "t.json", screenshots=True, categories=["devtools.timeline"]):
        await page.goto(site + "/")
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    events = json.loads((tmp_path / "t.json").read_bytes())["traceEvents"]
    assert [event for event in events if event["name"] == "Screenshot"]
    async with page.measure.trace(tmp_path / "t.pftrace"):
        await page.goto(site + "/")
    data = (tmp_path / "t.pftrace").read_bytes()
    assert data[:1] == b"\n"  # field 1 (packet) of a message Trace, with a length
    assert site.encode() in data


async def test_failed_body_keeps_its_trace_and_cancelled_body_does_not(
    browser: cdpengine.Browser, tmp_path: Path
) -> None:
    with pytest.raises(KeyError):
        async with browser.measure.trace(tmp_path / "failed.json"):
            raise KeyError
    assert json.loads((tmp_path / "failed.json").read_bytes())["traceEvents"]
    with trio.CancelScope() as scope:
        async with browser.measure.trace(tmp_path / "cancelled.json"):
            scope.cancel()
            await trio.sleep_forever()
    assert not (tmp_path / "cancelled.json").exists()
    await tracing_is_off(browser)
    async with browser.measure.trace(tmp_path / "next.json") as trace:
        pass
    assert trace.report is not None


async def test_a_progress_callback_that_fails_ends_the_trace(
    browser: cdpengine.Browser, tmp_path: Path
) -> None:
    def fails(_progress: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with browser.measure.trace(tmp_path / "t.json", progress=fails):
            await trio.sleep_forever()
    await tracing_is_off(browser)


async def test_a_trace_that_cannot_be_written_never_starts(
    browser: cdpengine.Browser, tmp_path: Path
) -> None:
    with pytest.raises(cdpengine.errors.FileNotWrittenError, match="No such file"):
        async with browser.measure.trace(tmp_path / "none" / "t.json"):
            pytest.fail("a trace started without a writable file")
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with browser.measure.trace(tmp_path):
            pytest.fail("a trace started with a folder as its file")
    await tracing_is_off(browser)


async def test_page_closed_during_trace_is_named(browser: cdpengine.Browser, tmp_path: Path) -> None:
    page = await browser.new_page()
    with pytest.raises(cdpengine.errors.SessionGoneError):
        async with page.measure.trace(tmp_path / "t.json"):
            await page.close()
    assert list(tmp_path.iterdir()) == []
    async with browser.measure.trace(tmp_path / "next.json"):
        pass


# --- coverage ------------------------------------------------------------------------------------------------


async def test_coverage_across_same_site_and_cross_site_documents(page: cdpengine.Page, site: str) -> None:
    visits = ["/one", "/two", "/one"]
    async with page.measure.coverage() as coverage:
        for number, path in enumerate(visits):
            await page.goto(site + path)
            await page.evaluate(USE, number)
        await page.goto(elsewhere(site) + "/one")
        await page.evaluate(USE, 4)
        await page.reload()
        await page.evaluate(USE, 5)
    report = coverage.report
    assert report is not None
    by_url = {entry.url: entry for entry in (*report.scripts, *report.sheets) if not entry.line}
    assert used_functions(by_url[site + "/s.js"]) == {0, 1, 2}
    assert used_rules(by_url[site + "/s.css"]) == {0, 1, 2}
    assert used_functions(by_url[elsewhere(site) + "/s.js"]) == {4, 5}
    assert used_rules(by_url[elsewhere(site) + "/s.css"]) == {4, 5}
    script = by_url[site + "/s.js"]
    assert script.total_bytes == len(SCRIPT.encode())
    assert script.text == SCRIPT
    pieces = sorted([*script.used, *script.unused])
    assert "".join(SCRIPT[start:end] for start, end in pieces) == SCRIPT
    assert script.used_bytes == sum(len(SCRIPT[start:end].encode()) for start, end in script.used)
    assert report.total_bytes > report.used_bytes > 0
    inline = [entry for entry in report.scripts if entry.url == site + "/one" and entry.line]
    assert len(inline) == 1
    assert inline[0].text is not None
    assert ["return 1" in inline[0].text[start:end] for start, end in inline[0].unused] == [True]
    assert report.gaps == ()


async def test_document_that_navigates_itself_is_a_coverage_gap(page: cdpengine.Page, site: str) -> None:
    await page.goto(site + "/")
    async with page.measure.coverage(css=False) as coverage:
        await page.evaluate("(url) => { location.href = url; }", site + "/two")
        await page.wait_for(url=site + "/two", load_state="load")
        await page.evaluate(USE, 3)
    report = coverage.report
    assert report is not None
    assert report.sheets == ()
    assert [gap.url for gap in report.gaps] == [site + "/"]
    (script,) = [entry for entry in report.scripts if entry.url == site + "/s.js"]
    assert used_functions(script) == {3}


@pytest.mark.slow
async def test_coverage_of_cross_process_frames(tmp_path: Path, site: str, httpserver: HTTPServer) -> None:
    frame = f"<iframe src='{elsewhere(site)}/one'></iframe>"
    httpserver.expect_request("/frames").respond_with_data(frame, content_type="text/html")
    async with cdpengine.launch(args=["--site-per-process"]) as browser:
        page = await browser.new_page()
        async with page.measure.coverage() as coverage:
            await page.goto(site + "/frames")
            assert len(page.internals.target.frame_sessions) == 2
            (frame_session,) = [
                session
                for session in page.internals.target.frame_sessions.values()
                if session is not page.session
            ]
            await frame_session.call("Runtime.evaluate", expression="f2()")
    assert coverage.report is not None
    (script,) = [entry for entry in coverage.report.scripts if entry.url == elsewhere(site) + "/s.js"]
    assert used_functions(script) == {2}
    assert script.used_bytes > len(
        "function f2() {}"
    )  # what ran first, before any coverage could have started late


async def test_after_coverage_chrome_counts_no_more_and_debugger_statements_did_not_stop(
    browser: cdpengine.Browser, page: cdpengine.Page, site: str
) -> None:
    await page.goto(site + "/")
    with pytest.raises(KeyError):
        async with page.measure.coverage():
            assert await page.evaluate("(() => { debugger; return 5; })()", timeout=20) == 5
            with pytest.raises(cdpengine.errors.InvalidStateError, match="same browser context"):
                async with page.measure.coverage():
                    pytest.fail("a second measurement started")
            raise KeyError
    assert set(page.session.domains.users) == {"Page"}
    with pytest.raises(cdpengine.errors.RemoteError):
        await page.session.call("Profiler.takePreciseCoverage")
    with pytest.raises(cdpengine.errors.RemoteError):
        await page.session.call("CSS.takeCoverageDelta")
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with page.measure.coverage(javascript=False, css=False):
            pytest.fail("coverage started without a kind")


# --- metrics, profiles, heap snapshots -----------------------------------------------------------------------


async def test_metrics_are_a_mapping_with_attributes(page: cdpengine.Page, site: str) -> None:
    await page.goto(site + "/")
    before = await page.measure.metrics()
    await page.evaluate(
        "() => { for (let i = 0; i < 500; i++) document.body.append(document.createElement('b')); }"
    )
    after = await page.measure.metrics()
    assert after.nodes >= before.nodes + 500
    assert after["Nodes"] == after.nodes
    assert (after.frames >= 1, after.timestamp > before.timestamp) == (True, True)
    assert 0 < after.heap_used <= after.heap_size
    assert {"LayoutCount", "JSHeapUsedSize"} <= set(after)
    assert page.session.domains.users.keys() == {"Page"}


async def test_profile_names_the_slow_function(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "p.cpuprofile"
    async with page.measure.profile(path, interval=0.0002) as profiling:
        await page.evaluate(
            "(function busy() { const end = performance.now() + 60; while (performance.now() < end); })()"
        )
        with pytest.raises(cdpengine.errors.InvalidStateError):
            async with page.measure.profile():
                pytest.fail("a second measurement started")
    profile = profiling.profile
    assert profile is not None
    assert path.read_bytes() == profile.data
    read = json.loads(profile.data)
    assert "busy" in {node["callFrame"]["functionName"] for node in read["nodes"]}
    assert (len(read["nodes"]), len(read["samples"])) == (profile.nodes, profile.samples)
    assert profile.seconds > 0.05
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        async with page.measure.profile(interval=0):
            pytest.fail("a profile started without an interval")
    with trio.CancelScope() as scope:
        async with page.measure.profile(tmp_path / "none"):
            scope.cancel()
            await trio.sleep_forever()
    assert list(tmp_path.iterdir()) == [path]
    assert set(page.session.domains.users) == {"Page"}


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("name", ["h.heapsnapshot", "h.heapsnapshot.gz"])
async def test_a_heap_snapshot_is_whole(page: cdpengine.Page, tmp_path: Path, name: str) -> None:
    await page.evaluate(
        "globalThis.kept = Array.from({length: 20000}, (_, i) => ({mine: 'string number ' + i})), 1"
    )
    seen: list[cdpengine.measure.HeapSnapshotProgress] = []
    report = await page.measure.heap_snapshot(tmp_path / name, progress=seen.append)
    data = (tmp_path / name).read_bytes()
    assert report.size == len(data)
    text = gzip.decompress(data) if name.endswith("gz") else data
    assert report.written == len(text) == seen[-1].written
    read: dict[str, Any] = json.loads(text)
    fields = len(read["snapshot"]["meta"]["node_fields"])
    assert len(read["nodes"]) == read["snapshot"]["node_count"] * fields
    assert read["snapshot"]["node_count"] > 20000
    assert "string number " in read["strings"]
    assert seen[-1].done == seen[-1].total > 0
    assert set(page.session.domains.users) == {"Page"}


async def test_unwritable_heap_snapshot_path_is_refused(page: cdpengine.Page, tmp_path: Path) -> None:
    with pytest.raises(cdpengine.errors.FileNotWrittenError):
        await page.measure.heap_snapshot(tmp_path / "none" / "h")
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await page.measure.heap_snapshot(tmp_path / "h", timeout=0)
    assert list(tmp_path.iterdir()) == []


# --- cancellation at each step -------------------------------------------------------------------------------


async def coverage(page: cdpengine.Page, tmp_path: Path) -> None:
    async with page.measure.coverage():
        await page.evaluate("1")


async def profile(page: cdpengine.Page, tmp_path: Path) -> None:
    async with page.measure.profile(tmp_path / "p"):
        pass


async def trace(page: cdpengine.Page, tmp_path: Path) -> None:
    async with page.browser.measure.trace(tmp_path / "t", categories=["v8"]):
        pass
