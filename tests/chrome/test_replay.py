"""Programs recorded with a real browser and replayed without one."""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import debug
from cdpengine.errors import InvalidArgumentError, ReplayDivergedError

pytestmark = pytest.mark.chrome

LOGIN = """<!doctype html><title>Log in</title><form>
  <label>User <input name=user></label> <label>Password <input type=password name=password></label>
  <button>Log in</button></form>
<script>
  document.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault(); const user = document.querySelector('[name=user]').value, typed =
    document.querySelector('[name=password]').value; document.title = typed === 'c4nary-pass' ? `Welcome
    ${user}` : 'Wrong';
  });
</script>"""

TODO = """<!doctype html><title>To do</title><form><label>New entry <input id=entry></label>
<button>Add</button></form>
<ul aria-label=Entries></ul><iframe srcdoc="<button>Inner</button>"></iframe>
<script>
  document.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault(); const item = document.createElement('li');
    item.append(Object.assign(document.createElement('input'), { type: 'checkbox' }),
    document.querySelector('#entry').value); document.querySelector('ul').append(item);
  });
</script>"""


async def log_in(browser: cdpengine.Browser, url: str) -> list[object]:
    """goto, snapshot, type, click, evaluate."""
    page = await browser.new_page()
    await page.goto(url)
    snapshot = await page.snapshot()
    await page.type(snapshot.find(name="User"), "ada")
    await page.type(snapshot.find(name="Password"), "c4nary-pass")
    await page.click(snapshot.find(role="button", name="Log in"))
    seen = [str(snapshot), await page.evaluate("document.title"), await page.evaluate("[1, {a: 2}]")]
    await page.close()
    return seen


async def keep_a_list(browser: cdpengine.Browser, url: str) -> list[object]:
    """Two pages in parallel, one of which is filled; a screenshot; and a navigation back."""
    seen: list[object] = []
    page = await browser.new_page(url)

    async def look() -> None:
        other = await browser.new_page(url)
        seen.append(await other.evaluate("document.querySelectorAll('li').length"))
        await other.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        before = await page.snapshot()
        for text in ENTERED:
            await page.type(before.find(role="textbox"), text)
            await page.click(before.find(role="button", name="Add"))
        after = await page.snapshot()
    seen += [str(after), len(await page.screenshot()) > 500]
    await page.close()
    return seen


ENTERED = ("water the plants", "call Ada")


def without_entered(seen: object) -> object:
    """Return a program's results in the form that a recording has."""
    if isinstance(seen, str):
        for text in ENTERED:
            seen = seen.replace(text, "[redacted]")
    return seen


PROGRAMS: dict[str, tuple[str, Callable[[cdpengine.Browser, str], Awaitable[list[object]]]]] = {
    "log in": (LOGIN, log_in),
    "keep a list": (TODO, keep_a_list),
}


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_is_recorded_once_and_replayed_after(
    name: str, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, program = PROGRAMS[name]
    path = tmp_path / "tape.jsonl.zst"
    httpserver.expect_request("/").respond_with_data(source, content_type="text/html")
    url = httpserver.url_for("/")

    async def run(url: str) -> tuple[str, list[object]]:
        async with (
            debug.cassette(path, keep_arguments=True, complete=True) as taped,
            cdpengine.connect(taped.endpoint) as browser,
        ):
            return taped.mode, await program(browser, url)

    mode, seen = await run(url)
    assert mode == "record"
    with debug.open_recording(path) as recording:
        assert b"c4nary" not in b"".join(bytes(line.msg) for line in recording)
    # From here on no browser and no page server runs. Any free port replaces the recorded one.
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    # The program's input is secret wherever the page shows it.
    expected = [without_entered(each) for each in seen]
    for _ in range(3):
        assert await run("http://127.0.0.1:9/") == ("replay", expected)


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_recording_of_the_engine_is_replayed(
    transport: Any, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.jsonl"
    httpserver.expect_request("/").respond_with_data(LOGIN, content_type="text/html")
    monkeypatch.setenv("CDPENGINE_RECORD", str(path))
    monkeypatch.setenv("CDPENGINE_RECORD_KEEP_ARGUMENTS", "1")
    async with cdpengine.launch(transport=transport) as browser:
        seen = await log_in(browser, httpserver.url_for("/"))
    monkeypatch.delenv("CDPENGINE_RECORD")
    async with debug.replay(path) as replay, cdpengine.connect(replay.endpoint) as browser:
        assert await log_in(browser, httpserver.url_for("/")) == seen


@pytest.mark.parametrize(("recorded", "replayed"), [(0, math.inf), (math.inf, 0)])
async def test_questions_after_slow_actions_do_not_diverge(
    tmp_path: Path,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    recorded: float,
    replayed: float,
) -> None:
    """After an action of more than QUICK seconds, the engine asks whether the page answers."""
    path = tmp_path / "tape.jsonl"
    httpserver.expect_request("/").respond_with_data(TODO, content_type="text/html")
    url = httpserver.url_for("/")

    async def run(quick: float) -> int:
        monkeypatch.setattr("cdpengine._api.page.core.QUICK", quick)
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            page = await browser.new_page(url)
            for item in ("water the plants", "feed the cat"):
                await page.fill(page.locate("#entry"), item)
                await page.click(page.locate(role="button", name="Add"))
            return await page.locate("li").count()

    assert await run(recorded) == 2
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    assert await run(replayed) == 2


async def test_engine_queries_are_replayed_and_withheld_result_is_named(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tape.jsonl"
    httpserver.expect_request("/").respond_with_data(TODO, content_type="text/html")
    url = httpserver.url_for("/")
    steps: list[str] = []

    async def run(*, evaluating: bool) -> tuple[object, ...]:
        steps.clear()
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            page = await browser.new_page(url)
            entry = await page.find("#entry")
            assert entry is not None
            await page.fill(entry, "water the plants")
            # No wait: the number of looks depends on timing, which differs in each run.
            assert await page.find(role="button", name="Add") is not None
            await page.evaluate("(entry) => entry.remove()", target=entry)
            seen = await page.title(), str(await page.snapshot()), await page.evaluate("2 + 3")
            steps.append("numbers")
            if evaluating:
                steps.append(await page.evaluate("document.body.localName"))
        return seen

    seen = await run(evaluating=True)
    assert steps == ["numbers", "body"]
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    assert await run(evaluating=False) == seen
    with pytest.raises(ReplayDivergedError, match=r"withheld.*keep_arguments=True") as caught:
        await run(evaluating=True)
    assert caught.value.got == "Runtime.evaluate"
    assert steps == ["numbers"]


async def test_diverging_program_gets_the_difference(tmp_path: Path, httpserver: HTTPServer) -> None:
    path = tmp_path / "tape.jsonl"
    httpserver.expect_request("/").respond_with_data(LOGIN, content_type="text/html")
    url = httpserver.url_for("/")
    async with (
        debug.cassette(path, keep_arguments=True) as taped,
        cdpengine.connect(taped.endpoint) as browser,
    ):
        await log_in(browser, url)
    with pytest.raises(ReplayDivergedError) as caught:
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            await log_in(browser, f"{url}elsewhere")
    assert caught.value.got.startswith("Page.navigate")
    assert caught.value.diff[1] == f"+ url: '{url}elsewhere'"
    with pytest.raises(ReplayDivergedError):
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            page = await browser.new_page()
            await page.goto(url)
            await page.evaluate("'never recorded'")


async def test_a_recording_that_failed_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with debug.cassette(tmp_path / "tape.jsonl") as taped, cdpengine.connect(taped.endpoint):
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidArgumentError):
        async with debug.cassette(tmp_path / "tape.jsonl", record=False):
            pass


TESTS = """
import pytest

async def test_same(recorded_browser):
    page = await recorded_browser.new_page("data:text/html,<button>Go</button>")
    assert 'button "Go"' in str(await page.snapshot())
    assert await page.evaluate("1 + 1") == 2
    await page.close()

async def test_changing(recorded_browser):
    page = await recorded_browser.new_page()
    assert await page.evaluate("40 + 2") == 42

@pytest.mark.cassette(keep_arguments=True)
async def test_text(recorded_browser):
    page = await recorded_browser.new_page()
    assert await page.evaluate("'a' + 'b'") == "ab"

async def test_without_text(recorded_browser):
    page = await recorded_browser.new_page()
    assert await page.evaluate("'c' + 'd'") == "cd"
"""


def run_tests(tests: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a file of tests that use the plugin, and return its output."""
    options = ["-q", "-s", "--strict-markers", "--import-mode=importlib", "-o", "trio_mode=true"]
    plugins = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "cdpengine.testing.pytest_plugin"]
    sys.modules.pop(tests.stem, None)
    pytest.main([*options, *plugins, "--rootdir", str(tests.parent), *arguments, str(tests)])
    return capsys.readouterr().out


def test_the_fixture_records_once_and_replays_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = tmp_path / "test_it.py"
    tests.write_text(TESTS)

    def run(*arguments: str) -> str:
        return run_tests(tests, capsys, *arguments)

    cassette = tmp_path / "cassettes/test_it.test_same.jsonl.zst"
    assert "4 passed" in run()
    recorded = cassette.read_bytes()
    changed = TESTS.replace("40 + 2", "41 + 1") + "\nasync def test_new(recorded_browser):\n    pass\n"
    tests.write_text(changed)
    with monkeypatch.context() as without_browser:
        without_browser.setenv("CDPENGINE_BROWSER", "/nowhere")
        without_browser.setenv("CDPENGINE_TEST_RECORD", "0")
        output = run()
    assert "3 failed, 2 passed" in output, output
    assert "record with keep_arguments=True" in output
    assert "_ test_without_text _" in output
    assert "ReplayDivergedError" in output
    assert "+ expression: '41 + 1'" in output
    assert "expected a file" in output
    assert cassette.read_bytes() == recorded
    assert "1 passed" in run("--record-traffic", "-k", "same")
    assert cassette.read_bytes() != recorded


MARKED = """
import pytest

@pytest.mark.cassette(keep=True)
async def test_keyword(recorded_browser):
    pass

@pytest.mark.cassette(True)
async def test_position(recorded_browser):
    pass

@pytest.mark.cassette(keep_arguments="yes")
async def test_value(recorded_browser):
    pass
"""


def test_invalid_marker_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = tmp_path / "test_marked.py"
    tests.write_text(MARKED)
    output = run_tests(tests, capsys)
    assert "3 failed" in output
    for given in ("keep=True", "True", "keep_arguments='yes'"):
        assert f"got the marker cassette({given}), expected cassette(keep_arguments=True) or False" in output
