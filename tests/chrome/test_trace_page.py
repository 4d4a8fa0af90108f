"""A recording's page in a real browser: filtered, opened and scrolled; and real recordings in every form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from json_schema import breaches
from pytest_httpserver import HTTPServer
from recorded import HEADER, small
from trace_checker import check_trace

import cdpengine
from cdpengine import debug
from cdpengine._protocol.streams import Event
from cdpengine.debug.reading.compare import Commands, Conduct, compare
from cdpengine.debug.reading.display import page_document
from cdpengine.debug.reading.figures import Tally
from cdpengine.debug.reading.har import archive_document
from cdpengine.debug.reading.perfetto import trace_document

pytestmark = pytest.mark.chrome

READY = """async () => {
  const frames = async (count) => { for (let n = 0; n < count; n += 1) await new Promise(requestAnimationFrame); };
  while (!document.documentElement.dataset.ready) await frames(1);
  await frames(3);
  return document.getElementById("count").textContent;
}"""
FILL = """async (id, value) => {
  const field = document.getElementById(id);
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
  return document.getElementById("count").textContent;
}"""
ROWS = "[...document.querySelectorAll('#rows .row')].map((row) => row.children[4].textContent)"


class Opened:
    """A recording's page in a tab, with its errors and its requests."""

    def __init__(self, page: cdpengine.Page) -> None:
        self.page = page
        self.complaints: list[Event] = []

    async def watch(self, task_status: trio.TaskStatus[None]) -> None:
        names = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Network.requestWillBeSent",
        )
        async with self.page.session.subscribe(*names) as events:
            task_status.started()
            async for event in events:
                self.complaints.append(event)

    async def open(self, path: Path, document: Any) -> str:
        path.write_bytes(b"".join(document))
        await self.page.goto(path.as_uri())
        return str(await self.page.evaluate(READY))

    def asked(self) -> list[str]:
        return [
            e.params["request"]["url"] for e in self.complaints if e.method == "Network.requestWillBeSent"
        ]

    def said(self) -> list[Event]:
        return [event for event in self.complaints if event.method != "Network.requestWillBeSent"]


@pytest.fixture
async def opened(page: cdpengine.Page) -> AsyncIterator[Opened]:
    opened = Opened(page)
    async with trio.open_nursery() as nursery:
        await nursery.start(opened.watch)
        yield opened
        nursery.cancel_scope.cancel()


async def press_at(page: cdpengine.Page, element: str, *parts: float) -> None:
    """Press the mouse at a fraction of an element's width from its left, and release it at the last fraction."""
    box = await page.evaluate(
        f"(() => {{ const b = {element}.getBoundingClientRect(); return [b.left, b.top, b.width]; }})()"
    )
    kinds = ["mousePressed", *["mouseMoved"] * (len(parts) - 1), "mouseReleased"]
    for kind, part in zip(kinds, [parts[0], *parts[1:], parts[-1]], strict=True):
        await page.session.call(
            "Input.dispatchMouseEvent", type=kind, x=box[0] + box[2] * part, y=box[1] + 5, button="left", buttons=1,
            clickCount=1,
        )  # fmt: skip


async def test_a_row_is_opened_by_mouse_and_keyboard_and_a_range_chosen(
    opened: Opened, tmp_path: Path
) -> None:
    page = opened.page
    # A new address for each test, because a loaded file is not requested again.
    assert (
        await opened.open(tmp_path / "small.html", page_document(HEADER, "small", small().lines))
        == "16 of 16 lines"
    )
    row = "[...document.querySelectorAll('#rows .row')].find((row) => row.textContent.includes('251.0'))"
    await press_at(page, row, 0.5)
    shown = "document.querySelector('.detail')?.textContent ?? null"
    assert '"loaderId": "10AD"' in await page.evaluate(shown)
    assert "action 1: page.goto https://example.com/" in await page.evaluate(shown)
    await page.evaluate("document.getElementById('table').focus()")
    await page.press("Escape")
    assert await page.evaluate(shown) is None
    await page.press("ArrowDown")
    await page.press("Enter")
    assert '"timestamp": 1.5' in await page.evaluate(shown)
    await page.evaluate(FILL, "text", "FOREVER")
    assert await page.evaluate(ROWS) == ["Runtime.evaluate"]
    await page.evaluate(FILL, "text", "page.GOTO")
    assert await page.evaluate(ROWS) == ["span", "Page.navigate", "Page.navigate"]
    await page.evaluate(FILL, "text", "")
    await press_at(page, "document.getElementById('canvas')", 0.9, 0.999)
    assert await page.evaluate(READY) == "7 of 16 lines"  # those from 0.255 s to 0.260 s
    await page.evaluate("document.getElementById('whole').click()")
    assert await page.evaluate(READY) == "16 of 16 lines"
    assert opened.said() == []


async def test_a_real_recording_in_every_form(
    browser: cdpengine.Browser, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/a").respond_with_data(
        "<link rel=stylesheet href=/b><button>Go</button>", content_type="text/html"
    )
    httpserver.expect_request("/b").respond_with_data("button { color: red }", content_type="text/css")

    async def run(path: Path) -> None:
        async with debug.record(browser, path):
            page = await browser.new_page()
            await page.session.call("Network.enable")
            await page.goto(httpserver.url_for("/a"))
            await page.click((await page.snapshot()).find(role="button"))
            await page.evaluate("1 + 1")
            await page.close()

    # A browser's first snapshot queries more of its features than later ones.
    first = await browser.new_page()
    await first.snapshot()
    await first.close()
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl.zst"]
    commands = Commands()
    conducts = []
    for path in paths:
        await run(path)
        with debug.open_recording(path) as recording:
            lines = list(recording)
        conduct = Conduct(commands)
        conduct.add_all(lines)
        conducts.append(conduct)
        # Command ids are unique only within a connection. Each response must match its own call.
        called = {(line.c, line.id): line.m for line in lines if line.k == "call"}
        answered = {(line.c, line.id): line.m for line in lines if line.k in ("reply", "error") and line.m}
        assert len(called) > 30
        assert answered == {key: called[key] for key in answered}
        assert len({line.c for line in lines if line.c}) == len(browser.connections)
    comparison = compare(conducts[0], conducts[1], commands)
    for role in (each for each in comparison.roles if each.role.startswith("page")):
        assert role.changes is not None
        # The engine looks again if the page was not ready, so the number of commands varies a little.
        changed = [change for change in role.changes if change.mark in ("+", "-")]
        assert len(changed) <= sum(role.commands) / 10, changed

    tally = Tally()
    tally.add_all(lines)
    figures = tally.figures()
    assert (figures.lost, figures.missing, figures.strays) == (0, 0, 0)
    assert any(session.url.endswith("/a") for session in figures.sessions)
    assert check_trace(json.loads(b"".join(trace_document(HEADER, lines)))) == []
    with debug.open_recording(paths[1]) as recording:
        archive = json.loads(archive_document(recording, recording))
        assert recording.damage == []
    schema = Path(__file__).parent.parent / "unit" / "data" / "har-1.2.schema.json"
    assert list(breaches(archive, json.loads(schema.read_text("utf-8")))) == []
    entries = {entry["request"]["url"]: entry for entry in archive["log"]["entries"]}
    assert entries[httpserver.url_for("/a")]["response"]["status"] == 200
    assert entries[httpserver.url_for("/b")]["response"]["content"]["mimeType"] == "text/css"
    assert entries[httpserver.url_for("/b")]["time"] > 0
    assert len(archive["log"]["pages"]) == 1
