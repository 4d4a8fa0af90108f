"""Programs recorded with a real browser and replayed without any."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import debug
from cdpengine.errors import InvalidArgument, ReplayDiverged

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
    """Two pages side by side, one of which is filled; a picture; a navigation back."""
    seen: list[object] = []
    page = await browser.new_page(url)

    async def look() -> None:
        other = await browser.new_page(url)
        seen.append(await other.evaluate("document.querySelectorAll('li').length"))
        await other.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        before = await page.snapshot()
        for text in ("water the plants", "call Ada"):
            await page.type(before.find(role="textbox"), text)
            await page.click(before.find(role="button", name="Add"))
        after = await page.snapshot()
    seen += [str(after), len(await page.screenshot()) > 500]
    await page.close()
    return seen


PROGRAMS: dict[str, tuple[str, Callable[[cdpengine.Browser, str], Awaitable[list[object]]]]] = {
    "log in": (LOGIN, log_in),
    "keep a list": (TODO, keep_a_list),
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_is_recorded_once_and_replayed_after(
    name: str, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, program = PROGRAMS[name]
    path = tmp_path / "tape.jsonl.zst"
    httpserver.expect_request("/").respond_with_data(source, content_type="text/html")
    url = httpserver.url_for("/")

    async def run(url: str) -> tuple[str, list[object]]:
        async with debug.cassette(path, complete=True) as taped, cdpengine.connect(taped.endpoint) as browser:
            return taped.mode, await program(browser, url)

    mode, seen = await run(url)
    assert mode == "record"
    with debug.open_recording(path) as recording:
        assert b"c4nary" not in b"".join(bytes(line.msg) for line in recording)
    # From here on there is no browser, and no server of pages: another free port is as good as the recorded one.
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    for _ in range(3):
        assert await run("http://127.0.0.1:9/") == ("replay", seen)


async def test_a_recording_of_the_engines_own_is_replayed_too(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.jsonl"
    httpserver.expect_request("/").respond_with_data(LOGIN, content_type="text/html")
    monkeypatch.setenv("CDPENGINE_RECORD", str(path))
    async with cdpengine.launch() as browser:
        seen = await log_in(browser, httpserver.url_for("/"))
    monkeypatch.delenv("CDPENGINE_RECORD")
    async with debug.replay(path) as replay, cdpengine.connect(replay.endpoint) as browser:
        assert await log_in(browser, httpserver.url_for("/")) == seen


async def test_a_program_that_does_something_else_is_told_what(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    path = tmp_path / "tape.jsonl"
    httpserver.expect_request("/").respond_with_data(LOGIN, content_type="text/html")
    url = httpserver.url_for("/")
    async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
        await log_in(browser, url)
    with pytest.raises(ReplayDiverged) as caught:
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            await log_in(browser, f"{url}elsewhere")
    assert caught.value.got.startswith("Page.navigate")
    assert caught.value.diff[1] == f"+ url: '{url}elsewhere'"
    with pytest.raises(ReplayDiverged):
        async with debug.cassette(path) as taped, cdpengine.connect(taped.endpoint) as browser:
            page = await browser.new_page()
            await page.goto(url)
            await page.evaluate("'never recorded'")


async def test_a_recording_that_failed_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with debug.cassette(tmp_path / "tape.jsonl") as taped, cdpengine.connect(taped.endpoint):
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidArgument):
        async with debug.cassette(tmp_path / "tape.jsonl", record=False):
            pass


TESTS = """
async def test_same(recorded_browser):
    page = await recorded_browser.new_page("data:text/html,<button>Go</button>")
    assert 'button "Go"' in str(await page.snapshot())
    assert await page.evaluate("1 + 1") == 2
    await page.close()

async def test_changing(recorded_browser):
    page = await recorded_browser.new_page()
    assert await page.evaluate("40 + 2") == 42
"""


def test_the_fixture_records_once_and_replays_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = tmp_path / "test_it.py"
    tests.write_text(TESTS)
    quiet = ["-q", "-o", "trio_mode=true", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-s"]
    plugin = ["-p", "cdpengine.testing.pytest_plugin", "--rootdir", str(tmp_path), "--import-mode=importlib"]

    def run(*arguments: str) -> str:
        sys.modules.pop("test_it", None)
        pytest.main([*quiet, *plugin, *arguments, str(tests)])
        return capsys.readouterr().out

    cassette = tmp_path / "cassettes/test_it.test_same.jsonl.zst"
    assert "2 passed" in run()
    recorded = cassette.read_bytes()
    changed = TESTS.replace("40 + 2", "41 + 1") + "\nasync def test_new(recorded_browser):\n    pass\n"
    tests.write_text(changed)
    with monkeypatch.context() as without_browser:
        without_browser.setenv("CDPENGINE_BROWSER", "/nowhere")
        without_browser.setenv("CDPENGINE_TEST_RECORD", "0")
        output = run()
    assert "2 failed, 1 passed" in output
    assert "ReplayDiverged" in output
    assert "+ expression: '41 + 1'" in output
    assert "expected a file" in output
    assert cassette.read_bytes() == recorded
    assert "1 passed" in run("--record-traffic", "-k", "same")
    assert cassette.read_bytes() != recorded
