"""Unpaired surrogates of a real page in every output: values, names, requests, recordings and their exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import trio
from cache_stores import KEY, opened
from command_line import run_here
from mcp import Client
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import debug
from cdpengine.act import Actor, dispatch
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.cache import execute_entry, learn_steps, make_entry, make_key, resolve_values
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.serving import serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TEXTS = ["\ud83d", "a\ude00b", "\ude00\ud83d"]
"""A high and a low surrogate, and both in the wrong order: alone, in the middle, at the beginning and at the
end.
"""

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
        assert run_here("recording", "export", export, "-o", str(written), str(path)).returncode == 0
        text = written.read_text("utf-8")
        assert suffix == "html" or json.loads(text)
    for command in ("show", "stats"):
        done = run_here("recording", command, str(path))
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


STORE = """for (const [i, text] of T.entries()) {
    localStorage.setItem(`v${i}`, text);
    localStorage.setItem(text, `k${i}`);
}"""


def serve_page(server: HTTPServer) -> str:
    """Serve the page over HTTP, because storage needs an origin."""
    html = "<!doctype html><meta charset=utf-8>" + unquote(PAGE.partition(",")[2])
    server.expect_request("/").respond_with_data(html, content_type="text/html")
    server.expect_request("/favicon.ico").respond_with_data("")
    return server.url_for("/")


async def test_stored_values_and_their_file(
    browser: cdpengine.Browser, httpserver: HTTPServer, tmp_path: Path
) -> None:
    url = serve_page(httpserver)
    stored = {f"v{n}": text for n, text in enumerate(TEXTS)} | {text: f"k{n}" for n, text in enumerate(TEXTS)}
    file = tmp_path / "state.json"
    async with browser.new_context() as context:
        page = await context.new_page(url)
        await page.evaluate(STORE)
        state = await context.storage.state(path=file)
    assert [dict(origin.local_storage) for origin in state.origins] == [stored]
    async with browser.new_context(storage_state=file) as context:
        page = await context.new_page(url)
        assert await page.evaluate("({...localStorage})") == stored


async def test_http_service(shared_endpoint: str) -> None:
    settings = ServiceSettings(
        token="t" * 16, endpoint=shared_endpoint, url_policy=UrlPolicy(schemes=frozenset({"data"}))
    )
    async with (
        serve(settings) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": "Bearer " + "t" * 16}, timeout=30
        ) as http,
    ):

        async def ask(**request: object) -> Any:
            body = json.dumps(request)  # unpaired surrogates are escapes
            answer = await http.post("/act", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 200, answer.text
            return answer.json()

        await ask(kind="navigate", url=PAGE)
        for text in TEXTS:
            given = await ask(kind="evaluate", function="(text) => [text, {[text]: 1}, T]", args=[text])
            assert given["result"] == [text, {text: 1}, TEXTS]
        await ask(kind="snapshot")
        assert TEXTS[0] in json.dumps(await ask(kind="console"), ensure_ascii=False)


def test_map_writes_them(tmp_path: Path, httpserver: HTTPServer) -> None:
    (tmp_path / "tasks.py").write_text(
        "async def texts(page, item):\n    await page.goto(item)\n    return {t: t for t in await page.evaluate('T')}\n"
    )
    (tmp_path / "in.txt").write_text(serve_page(httpserver) + "\n")
    options = ["-o", str(tmp_path / "o.jsonl"), "--pages", "1"]
    done = run_here("map", f"{tmp_path / 'tasks.py'}:texts", str(tmp_path / "in.txt"), *options)
    assert done.returncode == 0, done.stderr
    (line,) = (tmp_path / "o.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["value"] == {text: text for text in TEXTS}


async def test_a_cassette_replays_them(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl.zst"

    async def run() -> list[object]:
        async with (
            debug.cassette(path, keep_arguments=True) as taped,
            cdpengine.connect(taped.endpoint) as browser,
        ):
            page = await browser.new_page(PAGE)
            return [
                await page.title(),
                await page.evaluate("T"),
                *[await page.evaluate("(text) => ({[text]: text})", text) for text in TEXTS],
                str(await page.snapshot()),
            ]

    recorded = await run()
    assert recorded[:2] == [TEXTS[0], TEXTS]
    assert recorded[2:5] == [{text: text} for text in TEXTS]
    assert await run() == recorded


async def test_a_cached_flow_clicks_by_such_a_name(
    browser: cdpengine.Browser, httpserver: HTTPServer, tmp_path: Path
) -> None:
    url = serve_page(httpserver)
    async with browser.new_context() as context:
        page = await context.new_page(url)
        async with learn_steps(page) as learned:
            await page.click(await page.find(role="button", name=TEXTS[1]))
        assert learned.viewport is not None
        made = make_entry(make_key("greet", url, learned.viewport, ()), learned.steps, now=1.0)
        async with opened(tmp_path / "cache.db", key=KEY) as store:
            await store.put(made)
            entry = await store.get(made.key)
            exported = await store.export()
        assert entry is not None
        assert entry.steps == made.steps
        async with opened(tmp_path / "other.db", key=KEY) as other:
            await other.import_entries(exported.text)
            entry = await other.get(made.key)
        assert entry is not None
        await page.goto(url)
        values = await resolve_values((), values={}, environment={})
        report = await execute_entry(page, entry, values, patience=0.5)
        assert report.ok, report.to_table()
        assert len(page.dialogs.records) == 2
