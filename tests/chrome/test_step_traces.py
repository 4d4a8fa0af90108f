"""Step traces of a real browser, and their page in the same browser, opened without a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from busy_machine import slack
from click.testing import CliRunner
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.act import Actor, dispatch
from cdpengine.cli.commands import commands
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.recording_file import create_recording
from cdpengine.debug.steps.reading import StepTrace, open_step_trace
from cdpengine.debug.steps.step_file import StepFile, header_of
from cdpengine.debug.steps.view import page_of
from cdpengine.errors import ConnectionLostError, EngineError, InvalidArgumentError

pytestmark = pytest.mark.chrome

PAGE = """<!doctype html><title>Shop</title><link rel=stylesheet href=/style.css><img src=/dot.png alt=dot>
<h1>Shop</h1>
<label>Name <input id=name></label> <label>Password <input type=password id=password></label>
<label><input type=checkbox id=gift> Gift</label>
<label>Size <select id=size><option>small<option>large</select></label>
<button onclick="console.log('bought'); this.after('Thanks'); fetch('/api').then((r) => r.json())">Buy</button>
<div id=box style="height: 50px; overflow: auto"><div style="height: 500px">tall</div></div>
<iframe src="/inner"></iframe><my-card></my-card>
<script>
  fetch("/api").then((response) => response.json());
  globalThis.ran = (globalThis.ran ?? 0) + 1;
  customElements.define("my-card", class extends HTMLElement {
    constructor() { super(); this.attachShadow({mode: "open"}).innerHTML = "<style>b {color: rgb(1, 2, 3)}</style><b>card</b>"; }
  });
</script>
<img src="data:," onerror="parent.broken = true">
"""
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8cfc0f01f000501"
    "01ff5f2a7d8d0000000049454e44ae426082"
)


KILLED_PROGRAM = """
import os, signal, sys, trio, cdpengine

async def main():
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        async with page.trace_steps(sys.argv[1]):
            await page.goto("data:text/html,<button>Go</button>")
            await page.snapshot()
            await trio.sleep(1.5)
            await page.locate("button").click()
            os.kill(os.getpid(), signal.SIGKILL)

trio.run(main)
"""


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/style.css").respond_with_data(
        "h1 { color: rgb(4, 5, 6); background: url(dot.png) }", content_type="text/css"
    )
    httpserver.expect_request("/dot.png").respond_with_data(DOT, content_type="image/png")
    httpserver.expect_request("/inner").respond_with_data(
        "<!doctype html><button>Inner</button>", content_type="text/html"
    )
    httpserver.expect_request("/api").respond_with_json({"stock": 3})
    return httpserver


def steps_of(trace: StepTrace) -> dict[int, dict[str, Any]]:
    """Return the steps by number, with their end."""
    steps: dict[int, dict[str, Any]] = {}
    for line in trace.lines("steps"):
        if line["k"] == "step":
            steps[line["n"]] = line
        elif line["k"] == "end":
            steps[line["n"]]["ended"] = line
        elif line["k"] == "state":
            steps[line["n"]][line["when"]] = line["frames"]
        elif line["k"] in ("given", "refs", "node"):
            steps[line["n"]][line["k"]] = line
    return steps


async def journey(page: cdpengine.Page, url: str) -> None:
    """Buy something, with a failure at the end."""
    await page.goto(url)
    snapshot = await page.snapshot()
    await page.fill(snapshot.find(role="textbox", name="Name"), "Ada Lovelace")
    await page.fill(snapshot.find(role="textbox", name="Password"), "correct horse battery")
    await page.check(snapshot.find(role="checkbox", name="Gift"))
    await page.select(snapshot.find(role="combobox", name="Size"), "large")
    await page.evaluate("document.getElementById('box').scrollTop = 30")
    await page.click(snapshot.find(role="button", name="Buy"))
    await page.snapshot(since=snapshot)
    with pytest.raises(EngineError):
        await page.click("e999", timeout=5)


@pytest.fixture
async def traced(page: cdpengine.Page, site: HTTPServer, tmp_path: Path) -> Path:
    path = tmp_path / "shop.zip"
    async with page.trace_steps(path, redacted=False):
        await journey(page, site.url_for("/"))
    return path


@pytest.fixture
def viewer(traced: Path) -> Path:
    path = traced.with_suffix(".html")
    path.write_bytes(b"".join(page_of(open_step_trace(traced))))
    return path


async def test_a_journey_has_its_steps_states_and_snapshots(traced: Path, site: HTTPServer) -> None:
    trace = open_step_trace(traced)
    steps = steps_of(trace)
    verbs = [step["verb"] for step in steps.values()]
    assert verbs == [
        "goto", "snapshot", "fill", "fill", "check", "select", "evaluate", "click", "snapshot", "click",
    ]  # fmt: skip
    click = steps[8]
    assert click["at"].startswith("test_step_traces.py:")
    assert click["ended"]["outcome"]["delivered"] is True
    assert click["ended"]["log"][-1][1] == "the input was sent"
    assert click["node"]["node"][1] > 0
    assert len(click["before"]) == 2  # the page and its frame
    (_, number, before, _), (_, _, after, _) = click["before"][0], click["after"][0]
    assert after > before
    data = {(line["d"], line["v"]): line["data"] for line in trace.lines("documents")}
    assert "Thanks" in str(data[number, after])
    assert steps[9]["given"]["tokens"] > 50
    assert "Thanks" in steps[9]["given"]["diff"]
    assert len(steps[2]["refs"]["refs"]) >= 7
    assert steps[10]["ended"]["error"]["kind"] == "NodeNotFoundError"
    kinds = [line["k"] for line in trace.lines("steps")]
    assert {"console", "request", "response", "resource", "picture"} <= set(kinds)
    urls = {line["url"] for line in trace.lines("steps") if line["k"] == "resource"}
    assert {site.url_for("/style.css"), site.url_for("/dot.png")} <= urls
    bodies = [
        line["entry"]["response"]["content"].get("text")
        for line in trace.lines("steps")
        if line["k"] == "response" and line["entry"]["request"]["url"].endswith("/api")
    ]
    assert bodies
    assert '"stock"' in bodies[0]
    assert any(line.get("span") == click["span"] for line in trace.lines("protocol"))


async def test_entered_strings_are_in_no_part_of_a_redacted_trace(
    page: cdpengine.Page, site: HTTPServer, tmp_path: Path
) -> None:
    path = tmp_path / "shop.zip"
    async with page.trace_steps(path, film=False):
        await journey(page, site.url_for("/"))
    trace = open_step_trace(path)
    everything = b"".join(trace.read(name) for name in trace.names)
    for secret in (b"correct horse battery", b"Ada Lovelace"):
        assert secret not in everything
    unredacted = tmp_path / "open.zip"
    async with page.trace_steps(unredacted, film=False, redacted=False):
        await journey(page, site.url_for("/"))
    trace = open_step_trace(unredacted)
    documents = b"".join(trace.read(name) for name in trace.names if name.startswith("documents/"))
    assert b"correct horse battery" not in documents  # no script of the engine returns a password
    assert b"Ada Lovelace" in documents


async def test_the_file_is_readable_after_a_crash_of_the_browser(tmp_path: Path) -> None:
    path = tmp_path / "crash.zip"
    with pytest.raises(EngineError):
        async with cdpengine.launch() as browser:
            page = await browser.new_page()
            async with page.trace_steps(path):
                await page.goto("data:text/html,<button>Go</button>")
                await page.click((await page.snapshot()).find(role="button", name="Go"))
                with suppress(EngineError):
                    await browser.session.call("Browser.crash")
                await page.title()
    trace = open_step_trace(path)
    assert trace.complete
    assert [step["verb"] for step in steps_of(trace).values()] == ["goto", "snapshot", "click", "title"]
    assert b"".join(page_of(trace)).startswith(b"<!doctype html>")


async def test_a_browser_that_is_killed_in_a_step_leaves_a_complete_file(tmp_path: Path) -> None:
    path = tmp_path / "killed.zip"
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        reply = await browser.session.call("SystemInfo.getProcessInfo")
        pid = next(each["id"] for each in reply["processInfo"] if each["type"] == "browser")

        async def kill() -> None:
            await trio.sleep(0.5)
            os.kill(pid, signal.SIGKILL)

        async with page.trace_steps(path), trio.open_nursery() as nursery:
            await page.set_content("<button>Go</button>")
            nursery.start_soon(kill)
            with pytest.raises(ConnectionLostError):
                await page.wait_for(text="never", timeout=60)
    trace = open_step_trace(path)
    waiting = steps_of(trace)[2]
    assert trace.complete
    assert waiting["ended"]["error"]["kind"] == "ConnectionLostError"
    assert "Go" in str([line["data"] for line in trace.lines("documents")])


def test_a_program_that_is_killed_leaves_its_steps_and_the_page_says_so(tmp_path: Path) -> None:
    path = tmp_path / "program.zip"
    command = [sys.executable, "-c", KILLED_PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    trace = open_step_trace(path)
    assert not trace.complete
    assert [step["verb"] for step in steps_of(trace).values()][:2] == ["goto", "snapshot"]
    assert b'"complete":false' in b"".join(page_of(trace))


async def test_a_long_trace_stays_within_its_limit(page: cdpengine.Page, tmp_path: Path) -> None:
    path, limit = tmp_path / "long.zip", 100_000
    await page.set_content("<button onclick='this.after(`${Math.random()} `.repeat(50))'>Go</button>")
    async with page.trace_steps(path, limit=limit):
        for _ in range(150):
            await page.locate("button").click()
    trace = open_step_trace(path)
    steps = steps_of(trace)
    assert len(steps) == 150
    assert all("ended" in step for step in steps.values())
    assert json.loads(trace.read("end.json"))["omitted"] > 0
    written = sum(len(trace.read(name)) for name in trace.names if not name.startswith("steps/"))
    assert path.stat().st_size < limit * 2
    assert written > limit / 2


async def test_a_screencast_pauses_the_film_strip(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "film.zip"
    colour = "(colour) => { document.body.style.background = colour }"
    async with page.trace_steps(path):
        async with page.pictures.screencast(tmp_path / "a.webp") as recording:
            await page.evaluate(colour, "red")
            await trio.sleep(0.3)
        await page.evaluate(colour, "green")
        await trio.sleep(1)
    async with page.pictures.frames() as frames:
        async with page.trace_steps(tmp_path / "inside.zip"):
            await frames.receive()
        await page.evaluate(colour, "blue")
        await frames.receive()
    assert recording.pictures > 0
    lines = list(open_step_trace(path).lines("steps"))
    last = max(line["t"] for line in lines if line["k"] == "picture")
    assert last > next(line["t"] for line in lines if line["k"] == "step" and line["n"] == 2)


async def test_steps_without_an_element_show_their_search(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "searches.zip"
    await page.set_content("<h1>Shop</h1>")
    async with page.trace_steps(path, film=False):
        await page.find(role="heading", name="Shop")
        await page.press("Enter")
        await page.wait_for(text="Shop")
        await cdpengine.expect(page.locate("h1")).to_be_visible()
        await page.snapshot()
    path.with_suffix(".html").write_bytes(b"".join(page_of(open_step_trace(path))))
    await page.goto(path.with_suffix(".html").as_uri())
    listed = "[...document.querySelectorAll('#steps .target')].map((each) => each.textContent)"
    assert await page.evaluate(listed) == [
        'heading "Shop"', "Enter", "text Shop", "css 'h1' to be visible", "",
    ]  # fmt: skip


async def test_the_page_shows_the_traced_page_and_runs_none_of_its_scripts(
    page: cdpengine.Page, viewer: Path
) -> None:
    async with page.activity.collecting():
        await page.goto(f"{viewer.as_uri()}#action=8&page=after")
        built = "document.querySelector('#scaled iframe')?.contentDocument"
        await page.wait_for(expression=f"{built}?.querySelector('iframe')?.contentDocument?.body")
        read = await page.evaluate(f"""(() => {{
          const inner = {built};
          const style = (element) => inner.defaultView.getComputedStyle(element).color;
          return [
            style(inner.querySelector("h1")), inner.querySelector("my-card").shadowRoot.querySelector("b").textContent,
            style(inner.querySelector("my-card").shadowRoot.querySelector("b")),
            inner.getElementById("name").value, inner.getElementById("gift").checked, inner.getElementById("size").value,
            inner.getElementById("box").scrollTop, inner.querySelector("iframe").contentDocument.body.innerText,
            inner.querySelector("img").naturalWidth, inner.body.innerText.includes("Thanks"),
            inner.defaultView.ran ?? null, globalThis.broken ?? null,
          ];
        }})()""")
        assert read == [
            "rgb(4, 5, 6)", "card", "rgb(1, 2, 3)", "Ada Lovelace", True, "large", 30, "Inner", 1, True, None, None,
        ]  # fmt: skip
        assert list(page.activity.errors) == []
        assert [message.text for message in page.activity.console if message.level == "error"] == []
        assert {request.url[:5] for request in page.activity.requests} <= {"file:", "data:", "about"}


async def test_the_page_is_accessible_and_follows_keys_and_addresses(
    page: cdpengine.Page, viewer: Path
) -> None:
    await page.goto(f"{viewer.as_uri()}#action=3&tab=given")
    snapshot = await page.snapshot()
    assert '- button "8 click' in snapshot.text
    chosen = "[location.hash, document.querySelector('#steps [aria-current]').textContent.slice(0, 5)]"
    assert await page.evaluate(chosen) == ["#action=3&tab=given", "3fill"]
    await page.press("ArrowDown")
    await page.wait_for(expression="location.hash.startsWith('#action=4')")
    await page.press("End")
    await page.wait_for(expression="location.hash.startsWith('#action=10')")
    await page.press("b")
    await page.press("1")
    await page.wait_for(expression="location.hash === '#action=10&page=before'")
    failure = await page.evaluate("document.querySelector('#panel .failure').textContent")
    assert failure.startswith("NodeNotFoundError")
    await page.evaluate("location.hash = '#action=1&tab=network'")
    await page.wait_for(expression="document.querySelector('#panel table')")
    await page.click(await page.find(role="button", name="GET /inner"))
    await page.wait_for(expression="document.querySelector('#panel').innerText.includes('<button>Inner')")
    await page.evaluate("location.hash = '#action=8&tab=messages'")
    await page.wait_for(expression="document.querySelector('#panel .message')")
    await page.fill(await page.find("#search"), "password")
    await page.wait_for(expression="document.getElementById('count').textContent.startsWith('1 of 10')")


async def test_a_trace_of_2000_steps_opens_in_two_seconds(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "long.zip"
    file = StepFile(path, create_recording(path).descriptor, limit=10**8, began=0, redactor=None)
    file.start(header_of(product="Chrome/156", redacted=False, film=False, limit=10**8))
    rows: list[object] = [[2 * at + 10, "p", 0, 0, [2 * at + 11, "#", f"row {at}"]] for at in range(1000)]
    nodes = [1, "#document", 0, 0, [2, "html", 0, 0, [3, "body", 0, 0, *rows]]]
    facts = {
        "url": "",
        "base": "",
        "title": "",
        "quirks": False,
        "view": [800, 600],
        "scroll": [0, 0],
        "index": -1,
    }
    for n in range(1, 2001):
        data = {"facts": facts, **({"whole": nodes} if n == 1 else {"ops": [["t", 11, f"step {n}"]]})}
        file.add_raw("documents", json.dumps({"d": 1, "v": n - 1, "data": data}).encode())
        file.add({"k": "step", "n": n, "page": 1, "verb": "click", "t": n / 10, "read": False, "url": "",
                  "at": "", "args": {"target": f"e{n}"}, "span": n})  # fmt: skip
        file.add({"k": "end", "n": n, "t": n / 10 + 0.05, "error": None, "log": [], "outcome": None, "frame": "F",
                  "timeout": 30})  # fmt: skip
        file.add({"k": "state", "n": n, "when": "after", "frames": [["F", 1, n - 1, ""]]})
        for number in range(5):
            message = {
                "k": "call",
                "t": n / 10,
                "span": n,
                "id": number,
                "m": "Page.enable",
                "msg": {"id": n},
            }
            file.add_raw("protocol", json.dumps(message).encode())
    await trio.to_thread.run_sync(file.finish)
    path.with_suffix(".html").write_bytes(b"".join(page_of(open_step_trace(path))))
    await page.goto(f"{path.with_suffix('.html').as_uri()}#action=1999", wait_until="commit")
    shown = (
        "document.querySelector('#scaled iframe')?.contentDocument?.body?.innerText.startsWith('step 1999')"
    )
    await page.wait_for(expression=f"{shown} && performance.mark('shown')")
    assert await page.evaluate("document.querySelectorAll('#steps li').length") == 2000
    took = await page.evaluate("performance.getEntriesByName('shown')[0].startTime")
    assert took < slack(2_000)


async def test_popups_and_all_pages_of_a_context_are_traced(
    browser: cdpengine.Browser, tmp_path: Path
) -> None:
    path = tmp_path / "context.zip"
    async with browser.new_context() as context, context.trace_steps(path, film=False):
        first = await context.new_page("data:text/html,<title>one</title>")
        second = await context.new_page("data:text/html,<title>two</title>")
        async with trio.open_nursery() as nursery:
            for each in (first, second):
                nursery.start_soon(each.title)
    trace = open_step_trace(path)
    titles = [step for step in steps_of(trace).values() if step["verb"] == "title"]
    assert sorted(step["page"] for step in titles) == [1, 2]


async def test_a_cancelled_action_is_a_step_and_the_file_ends(page: cdpengine.Page, tmp_path: Path) -> None:
    path = tmp_path / "cancelled.zip"
    with trio.move_on_after(0.8) as scope:
        async with page.trace_steps(path):
            await page.wait_for(text="never", timeout=60)
    assert scope.cancelled_caught
    trace = open_step_trace(path)
    assert trace.complete
    assert steps_of(trace)[1]["ended"]["error"]["kind"] == "Cancelled"
    assert not page.internals.target.running.listeners
    assert not page.internals.target.running.read_listeners


async def test_an_existing_file_is_refused_and_the_command_makes_the_page(
    page: cdpengine.Page, tmp_path: Path
) -> None:
    path = tmp_path / "a.zip"
    async with page.trace_steps(path, film=False):
        await page.title()
    with pytest.raises(InvalidArgumentError, match="exists already"):
        async with page.trace_steps(path):
            pass
    result = CliRunner().invoke(commands, ["trace", "view", str(path)])
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(path.with_suffix(".html"))
    assert CliRunner().invoke(commands, ["step-trace", "view", str(path)]).exit_code == 2


async def test_requests_are_steps_with_the_text_that_the_caller_was_given(
    page: cdpengine.Page, site: HTTPServer, tmp_path: Path
) -> None:
    actor = Actor(page.context.browser, page.context)
    actor.focus(page)
    path = tmp_path / "agent.zip"
    requests: list[dict[str, Any]] = [
        {"kind": "navigate", "url": site.url_for("/")},
        {"kind": "snapshot", "find": "Buy"},
        {"kind": "fill", "fields": [{"selector": "#name", "value": "Ada Lovelace"}]},
        {"kind": "click", "selector": "text=Buy", "diff": True},
        {"kind": "click", "ref": "e999"},
        {"kind": "evaluate", "function": "'private ' + 1"},
    ]
    async with page.trace_steps(path, film=False):
        responses = [await dispatch(actor, request) for request in requests]
    trace = open_step_trace(path)
    steps = steps_of(trace)
    kinds = ["navigate", "snapshot", "fill", "click", "click", "evaluate"]
    assert [step["verb"] for step in steps.values()] == kinds
    assert [step["read"] for step in steps.values()] == [kind == "snapshot" for kind in kinds]
    assert "\n".join(steps[2]["given"]["text"]) == responses[1].result["snapshot"]
    given = (responses[3].diff or "").replace("Ada Lovelace", REDACTED)
    assert steps[4]["given"]["diff"] == given
    assert "Thanks" in given
    assert not steps[4]["given"]["whole"]
    assert steps[4]["node"]["node"][1] > 0
    assert steps[4]["ended"]["outcome"]["point"]
    assert steps[4]["args"] == {"selector": "text=Buy", "diff": "True"}
    assert any(text == "the input was sent" for _, text in steps[4]["ended"]["log"])
    assert steps[5]["ended"]["error"]["kind"] == "NodeNotFoundError"
    assert steps[6]["ended"]["outcome"] == "[withheld]"
    everything = b"".join(trace.read(name) for name in trace.names)
    assert b"Ada Lovelace" not in everything
    assert b"private 1" not in everything


def test_a_command_writes_a_step_trace(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/").respond_with_data("<h1>Shop</h1>", content_type="text/html")
    path = tmp_path / "shop.zip"
    command = [sys.executable, "-m", "cdpengine", "snapshot", httpserver.url_for("/"), "--trace", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    trace = open_step_trace(path)
    steps = steps_of(trace)
    assert trace.complete
    assert [step["verb"] for step in steps.values()] == ["goto", "snapshot"]
    assert "\n".join(steps[2]["given"]["text"]).strip() == done.stdout.strip()
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (again.returncode, "--trace" in again.stderr) == (2, True)
