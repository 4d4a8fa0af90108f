"""The service over real sockets: the table of cases, disconnects, a crashed browser, limits, and shutdown."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing
from act_cases import CASES, run_case, serve_pages
from busy_machine import slack
from pytest_httpserver import HTTPServer

from cdpengine.service.serving import Listening, serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"
ANYWHERE = UrlPolicy(allow_private=True)


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


class Client:
    """A client of a service. Its responses are JSON with the expected status."""

    def __init__(self, listening: Listening, http: httpx.AsyncClient) -> None:
        self.listening, self.http = listening, http

    async def ask(self, request: dict[str, Any], session: str = "default") -> dict[str, Any]:
        answer = await self.http.post("/act", json=request, params={"session": session})
        document: dict[str, Any] = answer.json()
        assert (answer.status_code == 200) is document["ok"], document
        return document


@asynccontextmanager
async def run_service(**settings: Any) -> AsyncIterator[Client]:
    given = {"url_policy": ANYWHERE, **settings}
    async with (
        serve(ServiceSettings(token=TOKEN, **given)) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as http,
    ):
        yield Client(listening, http)


Running = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def running(shared_endpoint: str) -> Running:
    """Runs a service on the shared browser, which continues to run."""
    return partial(run_service, endpoint=shared_endpoint)


SERVED = [case for case in CASES if not any(step.get("engine") in ("local", "gone") for step in case.steps)]
"""Cases that work on a default service, which does not know the tests' search engines."""


@pytest.mark.sample(6, start=1)
@pytest.mark.parametrize("first", range(0, len(SERVED), 14))
async def test_the_table_over_http(first: int, site: str, tmp_path: Path, running: Running) -> None:
    file = tmp_path / "upload.txt"
    file.write_text("x")
    places = {"site": site, "folder": str(tmp_path), "file": str(file)}
    cases = SERVED[first : first + 14]
    # As in the process: the table has no policy for URLs.
    policy = UrlPolicy(schemes=frozenset({"http", "https", "data", "javascript"}), allow_private=True)
    async with running(url_policy=policy, files=Path("/"), commands_enabled=True) as client:
        without = partial(_ask_without_scripts, client)
        wrong = [await run_case(case, client.ask, without, places) for case in cases]
    assert not any(wrong), "\n".join(filter(None, wrong))


async def _ask_without_scripts(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request as an actor without scripts: the same session, with scripts disabled for this request."""
    async with client.listening.service.sessions.use("default") as session:
        session.actor.evaluate_enabled = False
        try:
            return await client.ask(request)
        finally:
            session.actor.evaluate_enabled = True


async def test_disconnect_ends_script_and_other_client_continues(site: str, running: Running) -> None:
    async with running() as client:
        assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}))["ok"]
        async with httpx.AsyncClient(base_url=client.listening.url, headers=client.http.headers) as leaving:
            with trio.move_on_after(0.1):
                await leaving.post("/act", json={"kind": "evaluate", "function": "while (true);"})
        began = trio.current_time()
        answer = await client.ask({"kind": "click", "selector": "#go"})
        assert answer["ok"], answer
        assert trio.current_time() - began < slack(0.25)
        assert (await client.ask({"kind": "evaluate", "function": "record"}))["result"] == ["click go"]
        assert "cdpengine_requests_abandoned_total 1.0" in (await client.http.get("/metrics")).text


async def test_disconnect_during_drag_releases_the_button(site: str, running: Running) -> None:
    async with running() as client:
        opened = await client.ask({"kind": "newTab", "url": f"{site}/stage"})
        seen = (await client.ask({"kind": "snapshot"}))["result"]["snapshot"]
        refs = {name: seen.partition(f'"{name}" [ref=')[2].partition("]")[0] for name in ("Source", "Goal")}
        async with httpx.AsyncClient(base_url=client.listening.url, headers=client.http.headers) as leaving:
            with trio.move_on_after(0.03):
                await leaving.post(
                    "/act", json={"kind": "drag", "startRef": refs["Source"], "endRef": refs["Goal"]}
                )
        assert (await client.ask({"kind": "hover", "selector": "#go", "targetId": opened["targetId"]}))["ok"]
        script = "new Promise((done) => addEventListener('mousemove', (e) => done(e.buttons), {once: true}))"
        async with trio.open_nursery() as nursery:
            answers: list[Any] = []

            async def listen() -> None:
                answers.append(await client.ask({"kind": "evaluate", "function": script}))

            nursery.start_soon(listen)
            while not answers:
                await client.ask({"kind": "hover", "selector": "#change"})
                await client.ask({"kind": "hover", "selector": "#go"})
        assert answers[0]["result"] == 0


async def test_crashed_browser_is_reported_and_session_works_again(site: str) -> None:
    async with run_service() as client:
        assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}))["ok"]
        old = (await client.ask({"kind": "find", "role": "button"}))["result"]["nodes"]
        for other in ("ada", "bob"):
            assert (await client.ask({"kind": "newTab"}, other))["ok"]
        waiting: list[dict[str, Any]] = []

        async def wait(index: int) -> None:
            waiting.append(await client.ask({"kind": "wait", "text": f"never {index}"}))

        async with client.listening.service.sessions.use("default") as session:
            browser = session.actor.browser
        async with trio.open_nursery() as nursery:
            for index in range(5):
                nursery.start_soon(wait, index)
            await trio.testing.wait_all_tasks_blocked(0.05)
            reply = await browser.session.call("SystemInfo.getProcessInfo")
            main = next(each["id"] for each in reply["processInfo"] if each["type"] == "browser")
            os.kill(main, signal.SIGKILL)
        kinds = {answer["error"]["kind"] for answer in waiting}
        assert len(waiting) == 5
        assert kinds == {"sessionGone"}
        for other, first in (
            ("ada", {"kind": "snapshot"}),
            ("bob", {"kind": "navigate", "url": f"{site}/stage"}),
        ):
            answer = (await client.ask(first, other))["error"]
            assert answer["kind"] == "sessionGone"
            assert "cookies" in answer["message"]
            assert "a navigate request" in answer["hint"].lower()
            assert (await client.ask({"kind": "navigate", "url": f"{site}/stage"}, other))["ok"], "once"
        assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}))["ok"]
        assert client.listening.service.sessions.browsers_started == 2
        new = (await client.ask({"kind": "find", "role": "button"}))["result"]["nodes"]
        assert [each["name"] for each in new] == [each["name"] for each in old]
        assert {each["ref"] for each in new}.isdisjoint(each["ref"] for each in old)
        refused = (await client.ask({"kind": "click", "ref": old[0]["ref"]}))["error"]
        assert refused["kind"] == "staleRef"
        assert "has ended" in refused["message"]


async def test_unused_session_is_closed(running: Running) -> None:
    async with running(session_idle=0.3) as client:
        assert (await client.ask({"kind": "tabs"}))["ok"]
        with trio.fail_after(10):
            while (await client.http.get("/sessions")).json()["sessions"]:  # noqa: ASYNC110 - another program's
                await trio.sleep(0.05)
        assert (await client.ask({"kind": "tabs"}))["ok"], "and is created again"


async def test_sessions_are_apart_and_the_oldest_makes_room(site: str, running: Running) -> None:
    async with running(sessions=2, origins=(site,)) as client:
        for name, value in (("ada", "1"), ("bob", "2")):
            assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}, name))["ok"]
            await client.ask({"kind": "evaluate", "function": f"document.cookie = 'who={value}'"}, name)
        for name, value in (("ada", "1"), ("bob", "2")):
            cookies = (await client.ask({"kind": "cookies"}, name))["result"]
            assert [(each["name"], each["value"]) for each in cookies] == [("who", value)]
        # A page of an allowed origin can send requests to the service.
        script = (
            "(url, token) => fetch(url, {headers: {Authorization: `Bearer ${token}`}}).then((a) => a.json())"
        )
        asked = {"kind": "evaluate", "function": script, "args": [f"{client.listening.url}/sessions", TOKEN]}
        assert (await client.ask(asked, "bob"))["result"] == {"sessions": ["ada", "bob"]}
        # A third session replaces the one that was unused the longest.
        assert (await client.ask({"kind": "tabs"}, "eve"))["ok"]
        assert (await client.http.get("/sessions")).json() == {"sessions": ["bob", "eve"]}
        wrong = await client.ask({"kind": "tabs"}, "a/b")
        assert wrong["error"]["kind"] == "invalidArgument"
        assert (await client.http.delete("/sessions/ada")).status_code == 404


async def test_all_sessions_in_use_is_reported(site: str, running: Running) -> None:
    async with running(sessions=1) as client, trio.open_nursery() as nursery:
        assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}))["ok"]
        nursery.start_soon(client.ask, {"kind": "wait", "text": "never", "timeoutMs": 5000})
        await trio.testing.wait_all_tasks_blocked(0.05)
        answer = await client.ask({"kind": "tabs"}, "other")
        assert answer["error"]["kind"] == "busy"
        nursery.cancel_scope.cancel()


async def test_url_policy_applies_to_links_redirects_and_frames(
    httpserver: HTTPServer, site: str, running: Running
) -> None:
    port = site.rpartition(":")[2]
    httpserver.expect_request("/away").respond_with_data(
        "", 302, headers={"Location": f"http://127.0.0.1:{port}/second"}
    )
    frame = f'<title>f</title><iframe src="http://127.0.0.1:{port}/second"></iframe><a href="http://127.0.0.1:{port}/second">x</a>'
    httpserver.expect_request("/framing").respond_with_data(frame, content_type="text/html")
    here = f"http://localhost:{port}"
    async with running(url_policy=UrlPolicy(allow=("localhost",))) as client:
        assert (await client.ask({"kind": "newTab", "url": f"{here}/stage"}))["ok"]
        for url in (
            f"{site}/second",
            f"{here}/away",
            "file:///etc/passwd",
            "javascript:1",
            "chrome://version",
        ):
            answer = await client.ask({"kind": "navigate", "url": url})
            assert answer["error"]["kind"] == "urlRefused", answer
            assert answer["error"]["message"]
        # Each of several concurrent requests gets its own error: one for a refused page, one for an
        # unreachable server.
        answers: dict[str, dict[str, Any]] = {}

        async def go(url: str) -> None:
            answers[url] = await client.ask({"kind": "newTab", "url": url})

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(go, f"{here}/away")
                nursery.start_soon(go, "http://localhost:1/")
        assert answers[f"{here}/away"]["error"]["kind"] == "urlRefused", answers
        assert answers["http://localhost:1/"]["error"]["kind"] == "navigationFailed", answers
        await client.ask({"kind": "newTab"})
        assert (await client.ask({"kind": "navigate", "url": f"{here}/framing"}))["ok"]
        assert "Second" not in (await client.ask({"kind": "snapshot"}))["result"]["snapshot"]
        await client.ask({"kind": "click", "selector": "a"})
        assert "Second" not in (await client.ask({"kind": "snapshot"}))["result"]["snapshot"]


async def test_short_paths_and_pictures(site: str, running: Running) -> None:
    async with running() as client:
        answer = await client.http.post("/navigate", json={"url": f"{site}/stage"})
        assert answer.json()["result"]["status"] == 200
        assert 'button "Go"' in (await client.http.post("/snapshot")).json()["result"]["snapshot"]
        assert (await client.http.get("/tabs")).json()["result"][0]["url"] == f"{site}/stage"
        picture = await client.http.post(
            "/screenshot", json={"format": "jpeg"}, headers={"Accept": "image/jpeg"}
        )
        assert picture.headers["content-type"] == "image/jpeg"
        assert picture.content.startswith(b"\xff\xd8\xff")
        assert (await client.http.post("/hooks/dialog", json={"accept": True})).json()["ok"]
        assert (await client.ask({"kind": "click", "selector": "#ask"}))["effects"]["dialogs"][0]["accepted"]
        for path, content in (
            ("/snapshot", b"["),
            ("/snapshot", b'{"kind":"click"}'),
            ("/navigate", b"[" * 10_000),
        ):
            assert (await client.http.post(path, content=content)).status_code == 400
        assert (await client.http.get("/act")).status_code == 405
        assert (await client.http.get("/none")).status_code == 404


async def test_shutdown_answers_running_requests_with_named_error(site: str, running: Running) -> None:
    answers: list[dict[str, Any]] = []
    async with trio.open_nursery() as nursery, running(ending=0.3) as client:
        assert (await client.ask({"kind": "newTab", "url": f"{site}/stage"}))["ok"]
        http = httpx.AsyncClient(base_url=client.listening.url, headers=client.http.headers, timeout=60)

        async def wait() -> None:
            async with http:
                request = {"kind": "evaluate", "function": "while (true);", "timeoutMs": 60_000}
                answers.append((await http.post("/act", json=request)).json())

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked(0.1)
        began = trio.current_time()
    assert answers[0]["error"]["kind"] == "busy"
    assert "ended" in answers[0]["error"]["message"]
    assert trio.current_time() - began < 0.3 + slack(3)


@pytest.mark.slow
@pytest.mark.timeout(240)  # it requests every kind, many times
async def test_responses_match_the_openapi_document(tmp_path: Path, running: Running) -> None:
    """Schemathesis sends valid and invalid requests of the OpenAPI document, and checks the responses against
    it.
    """
    async with running(url_policy=UrlPolicy(), longest=3) as client:
        document = tmp_path / "openapi.json"
        document.write_bytes((await client.http.get("/openapi.json")).content)
        command = [
            str(Path(sys.executable).parent / "schemathesis"), "run", str(document), "--url", client.listening.url,
            "--exclude-path", "/events",  # it continues until the session ends
            "--exclude-path", "/mcp",  # of another protocol
            "--header", f"Authorization: Bearer {TOKEN}", "--max-examples", "15", "--seed", "1",
            "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ]  # fmt: skip
        done = await trio.run_process(
            command, capture_stdout=True, check=False, env={**os.environ, "NO_COLOR": "1"}, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout.decode()[-6000:]


async def test_requests_respect_the_service_timeout(site: str, running: Running) -> None:
    async with running(longest=0.3) as client:
        began = trio.current_time()
        answer = await client.ask({"kind": "wait", "text": "never", "timeoutMs": 60_000})
        assert not answer["ok"]
        opened = await client.ask({"kind": "newTab", "url": f"{site}/stage"})
        assert trio.current_time() - began < slack(5)
        if opened["ok"]:
            answer = await client.ask({"kind": "wait", "text": "never", "timeoutMs": 60_000})
            assert answer["error"]["kind"] == "deadlineExceeded"
