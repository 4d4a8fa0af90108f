"""Count the engine's files that an action enters on a quiet page. CONTRIBUTING's journeys list real stops."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
import trio.testing
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Page
from cdpengine.cache import ActionCache

ENGINE = Path(cdpengine.__file__).parent
CONTRIBUTING = ENGINE.parent / "CONTRIBUTING.md"

BUTTON = (
    "<button>Go</button><script>window.n = 0; document.querySelector('button').onclick = () => n++</script>"
)

FORM = """<title>Shop</title><form onsubmit="window.n++; return false"><label>Name <input name=name></label>
<button>Order</button></form><script>window.n = 0</script>"""


@pytest.fixture
async def page(shared_endpoint: str) -> AsyncIterator[Page]:
    """A page of a connection without a recording."""
    async with cdpengine.connect(shared_endpoint) as browser:
        page = await browser.new_page()
        yield page
        await page.close()


@contextmanager
def entered_files() -> Iterator[set[str]]:
    """Collect the files below `cdpengine/` in which a function is called while the block runs."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{ENGINE}/"):
            files.add(path.removeprefix(f"{ENGINE}/"))

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)


async def trace(act: Callable[[], Awaitable[object]]) -> set[str]:
    await act()  # one-time set-up is complete by then
    await trio.testing.wait_all_tasks_blocked(0.05)
    with entered_files() as files:
        await act()
    return files


def stops(journey: str) -> set[str]:
    """Return the Python files in the first column of a journey in CONTRIBUTING."""
    table = CONTRIBUTING.read_text().partition(f"| {journey} |")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+\.py)` \|", table, re.MULTILINE))


async def test_a_click_enters_at_most_24_files(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdpengine._api.page.core.QUICK", 60)  # the trace makes the click slow
    await page.set_content(BUTTON)
    ref = (await page.snapshot()).find("button", "Go")
    files = await trace(lambda: page.click(ref))
    assert await page.evaluate("n") == 2
    assert len(files) <= 24, "\n".join(sorted(files))
    assert stops('`page.click("e7")`') <= files


async def test_a_cached_flow_enters_at_most_20_files_of_the_cache(
    page: Page, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flow fills in a field and clicks. Its requests, and the actions on the page, have their own files."""
    monkeypatch.setattr("cdpengine._api.page.core.QUICK", 60)
    httpserver.expect_request("/").respond_with_data(FORM, content_type="text/html")
    async with ActionCache.open(tmp_path / "actions.db") as cache:
        await page.goto(httpserver.url_for("/"))
        async with cache.learn(page, scenario="order", variables={"name": "Ada"}):
            await page.fill(page.locate(label="Name"), "Ada")
            await page.click(page.locate(role="button"))
        for name in ("Bob", "Cleo"):  # the first replay completes the one-time set-up
            await page.goto(httpserver.url_for("/"))
            await trio.testing.wait_all_tasks_blocked(0.05)
            with entered_files() as files:
                report = await cache.execute(page, "order", variables={"name": name})
            assert report.ok, report.reason
    assert await page.evaluate("[n, document.querySelector('input').value]") == [1, "Cleo"]
    own = {name for name in files if name.startswith("cache/")}
    assert len(own) <= 20, "\n".join(sorted(own))
    assert len(files) <= 85, "\n".join(sorted(files))


async def test_an_evaluation_enters_at_most_14_files(page: Page) -> None:
    files = await trace(lambda: page.evaluate("1 + 1", timeout=2))
    assert len(files) <= 14, "\n".join(sorted(files))
    assert stops('`page.evaluate("...", timeout=2)`') - files == {"_evaluate/recovery.py"}, (
        "only at its deadline"
    )


async def test_an_event_enters_at_most_eight_files(page: Page) -> None:
    async with page.session.subscribe("Page.*") as events:
        page.session.post("Page.reload")
        with entered_files() as files:
            event = await events.receive()
            assert event.params is not None
    assert len(files) <= 8, "\n".join(sorted(files))
    assert stops("one event") <= files
