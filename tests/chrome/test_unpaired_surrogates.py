"""Unpaired surrogates of a real page through every output: values, names, requests, recordings and their exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from command_line import run_here
from mcp import Client

import cdpengine
from cdpengine import debug
from cdpengine.act import Actor, dispatch
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_tools import CAPABILITIES

pytestmark = pytest.mark.chrome

TEXTS = ["\ud83d", "a\ude00b", "\ude00\ud83d"]
"""A high and a low surrogate, and both in the wrong order: alone, in the middle, at the beginning and at the end."""

PAGE = """data:text/html,<title>x</title><button></button><input type=checkbox><script>
const T = [String.fromCharCode(0xd83d), 'a' %2B String.fromCharCode(0xde00) %2B 'b', String.fromCharCode(0xde00, 0xd83d)];
document.title = T[0]; document.querySelector('button').textContent = T[1];
document.querySelector('input').title = T[2]; console.log(...T);
document.querySelector('button').onclick = () => alert(T[0])</script>"""


async def record_page(path: Path) -> None:
    async with cdpengine.launch() as browser, debug.record(browser, path):
        page = await browser.new_page(PAGE, activity=True)
        assert await page.evaluate("T") == TEXTS
        assert await page.evaluate("Object.fromEntries(T.map((t) => [t, t]))") == {
            text: text for text in TEXTS
        }
        assert await page.title() == TEXTS[0]
        snapshot = await page.snapshot()
        assert (
            str(snapshot).encode() == b'- button "a\\ude00b" [ref=e1]\n- checkbox "\\ude00\\ud83d" [ref=e2]'
        )
        button = snapshot.find(role="button", name=TEXTS[1])
        assert (await page.click(button)).renamed is None
        await page.check(await page.find(role="checkbox", name=TEXTS[2]))
        assert [each.message for each in page.dialogs.records] == ["\ufffd"]  # Chrome replaced it
        assert page.activity.console[0].text == " ".join(TEXTS)


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.zst"])
def test_a_recording_and_its_exports(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    trio.run(record_page, path)
    for export, suffix in (("--perfetto", "json"), ("--html", "html")):
        written = tmp_path / f"x.{suffix}"
        assert run_here("trace", "export", export, "-o", str(written), str(path)).returncode == 0
        text = written.read_text("utf-8")
        assert suffix == "html" or json.loads(text)
    for command in ("show", "stats"):
        done = run_here("trace", command, str(path))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.encode()


async def test_requests_and_mcp(browser: cdpengine.Browser) -> None:
    async with browser.new_context() as context:
        actor = Actor(browser, context)
        assert (await dispatch(actor, {"kind": "navigate", "url": PAGE})).ok
        for request in ({"kind": "evaluate", "function": "T"}, {"kind": "snapshot"}, {"kind": "console"}):
            response = await dispatch(actor, request)
            assert response.ok
        structured = McpSettings(capabilities=CAPABILITIES, structured=True)

        async def perform(request: object) -> cdpengine.act.ActResponse:
            return await dispatch(actor, request)  # type: ignore[arg-type]

        async with Client(ToolServer(perform, structured).server()) as client:
            for tool, arguments in (
                ("evaluate", {"function": "T"}),
                ("evaluate", {"function": "T[0]"}),
                ("evaluate", {"function": "({[T[0]]: 1})"}),
                ("snapshot", {}),
                ("console", {}),
                ("extract", {}),
            ):
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer
                assert answer.model_dump_json()
