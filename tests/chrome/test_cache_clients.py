"""The action cache for clients of a service, over HTTP and MCP."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import attrs
import httpx
import httpx2
import mcp_types as types
import pytest
import trio
from cache_flows import LOGIN
from cache_site.server import CacheSite
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cdpengine.act import CachedActions
from cdpengine.act.response import describe_cached
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.serving import open_service
from cdpengine.service.serving import serve as serve_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"
VALUES = LOGIN.examples[0]
"""Typed values by variable."""


@pytest.fixture(autouse=True)
def without_keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CDPENGINE_CACHE_KEYRING", "false")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))


def settings(endpoint: str, cache: Path) -> ServiceSettings:
    policy = UrlPolicy(allow_private=True)
    return ServiceSettings(token=TOKEN, endpoint=endpoint, url_policy=policy, cache=cache)


@attrs.frozen
class OverHttp:
    """Sends requests over HTTP."""

    http: httpx.AsyncClient

    async def __call__(self, kind: str, **fields: Any) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.http.post("/act", json={"kind": kind, **fields})).json()
        return answer


@attrs.frozen
class OverMcp:
    """Calls the tool of a request kind."""

    client: Client

    async def __call__(self, kind: str, **fields: Any) -> dict[str, Any]:
        names = {
            "executeCached": "cache_replay",
            "cacheList": "cache_list",
            "startLearning": "learn",
            "stopLearning": "learn",
        }
        action = {"startLearning": {"action": "start"}, "stopLearning": {"action": "stop"}}.get(kind, {})
        result = await self.client.call_tool(names.get(kind, kind), {**fields, **action})
        assert isinstance(result.structured_content, dict), result
        return result.structured_content


async def learn_and_replay(ask: Any, site: CacheSite) -> None:
    """Learn and replay a login through `ask`."""
    LOGIN.reset(site, "a")
    arrived = await ask("navigate", url=site.url + LOGIN.start)
    assert (arrived["ok"], "cached" in arrived) == (True, False)
    assert (await ask("startLearning", scenario="login", variables=VALUES))["ok"]
    refs = {
        name: (await ask("find", role=role, name=name))["result"]["nodes"][0]["ref"]
        for role, name in [("textbox", "User name"), ("textbox", "Password"), ("button", "Sign in")]
    }
    await ask("type", ref=refs["User name"], text=VALUES["username"])
    await ask("type", ref=refs["Password"], text=VALUES["password"])
    assert (await ask("click", ref=refs["Sign in"]))["ok"]
    kept = await ask("stopLearning")
    assert kept["result"]["entry"]["variables"] == ["password", "username"]
    LOGIN.reset(site, "a")
    arrived = await ask("navigate", url=site.url + LOGIN.start)
    (known,) = arrived["cached"]
    done = await ask("executeCached", entry=known["entry"], variables=VALUES)
    assert done["result"]["ok"], done
    assert VALUES["password"] not in json.dumps([kept, arrived, done])
    assert [form for form, _, accepted in site.submitted if accepted] == ["login"]
    assert (await ask("cacheList"))["result"]["count"] == 1


async def test_over_http(site: CacheSite, shared_endpoint: str, tmp_path: Path) -> None:
    async with (
        serve_service(settings(shared_endpoint, tmp_path / "cache.sqlite3")) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as http,
    ):
        await learn_and_replay(OverHttp(http), site)
        assert (await OverHttp(http)("cacheClear"))["result"] == {"deleted": 1}


async def test_over_mcp(site: CacheSite, shared_endpoint: str, tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite3"
    async with open_service(settings(shared_endpoint, file)) as service:
        offered = McpSettings(capabilities=("cache",), structured=True)
        server = ToolServer(partial(service.perform, "mcp"), offered)
        async with Client(server.server()) as client:
            await learn_and_replay(OverMcp(client), site)
            LOGIN.reset(site, "a")
            told = await client.call_tool("navigate", {"url": site.url + LOGIN.start})
            assert "known: login in 3 steps, entry " in str(told.content)


DELETING = "<title>Files</title><h1>Files</h1><button onclick='done.push(1)'>Delete</button><script>var done = []</script>"


@attrs.define
class Person:
    """Answers the server's elicitations and keeps their questions."""

    action: Literal["accept", "decline", "cancel"] = "accept"
    asked: list[str] = attrs.field(factory=list)

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        await trio.lowlevel.checkpoint()
        assert context is not None
        self.asked.append(params.message)
        return types.ElicitResult(action=self.action)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_person_of_mcp_client_confirms_deletions(
    mode: str, serve: Callable[..., str], shared_endpoint: str, tmp_path: Path
) -> None:
    url = serve(DELETING, "/files")
    person = Person()
    async with open_service(settings(shared_endpoint, tmp_path / "cache.sqlite3")) as service:
        offered = McpSettings(capabilities=("cache",), structured=True)
        server = ToolServer(partial(service.perform, "mcp"), offered)
        async with Client(server.server(), mode=mode, elicitation_callback=person) as client:
            if mode == "legacy":
                assert "call cache_replay with" in (client.instructions or "")
            mcp = OverMcp(client)
            await mcp("navigate", url=url)
            await mcp("startLearning", scenario="cleaning")
            node = (await mcp("find", role="button", name="Delete"))["result"]["nodes"][0]
            await mcp("click", ref=node["ref"])
            await mcp("stopLearning")
            for action, title in (("accept", True), ("decline", False), ("cancel", False)):
                person.action = action  # type: ignore[assignment]
                await mcp("navigate", url=url)
                report = (await mcp("executeCached", scenario="cleaning"))["result"]
                assert (report["ok"], report["refused"]) == (title, not title)
            assert len(person.asked) == 3
            assert set(person.asked) == {
                f'The learned flow "cleaning" is about to click button "Delete", on {url}. Continue?'
            }
        # A client without the capability gets no question, as before.
        async with Client(server.server(), mode=mode) as client:
            mcp = OverMcp(client)
            await mcp("navigate", url=url)
            assert (await mcp("executeCached", scenario="cleaning"))["result"]["ok"]
    assert len(person.asked) == 3


async def test_person_of_client_over_http_confirms_deletions(
    serve: Callable[..., str], shared_endpoint: str, tmp_path: Path
) -> None:
    url = serve(DELETING, "/files")
    person = Person()
    offered = attrs.evolve(
        settings(shared_endpoint, tmp_path / "cache.sqlite3"),
        mcp_capabilities=("cache",),
        mcp_structured=True,
    )
    async with (
        serve_service(offered) as listening,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
        Client(
            streamable_http_client(f"{listening.url}/mcp", http_client=http),
            mode="2026-07-28",
            elicitation_callback=person,
        ) as client,
    ):
        mcp = OverMcp(client)
        await mcp("navigate", url=url)
        await mcp("startLearning", scenario="cleaning")
        node = (await mcp("find", role="button", name="Delete"))["result"]["nodes"][0]
        await mcp("click", ref=node["ref"])
        await mcp("stopLearning")
        for action, title in (("accept", True), ("decline", False)):
            person.action = action  # type: ignore[assignment]
            await mcp("navigate", url=url)
            report = (await mcp("executeCached", scenario="cleaning"))["result"]
            assert (report["ok"], report["refused"]) == (title, not title)
    assert len(person.asked) == 2


async def test_unopenable_cache_affects_only_cache_requests(
    site: CacheSite, shared_endpoint: str, tmp_path: Path
) -> None:
    file = tmp_path / "cache.sqlite3"
    file.write_bytes(b"no database at all, but a text" * 99)
    async with open_service(settings(shared_endpoint, file)) as service:
        ask = partial(service.perform, "one")
        LOGIN.reset(site, "a")
        assert (await ask({"kind": "navigate", "url": site.url + LOGIN.start})).ok
        refused = await ask({"kind": "cacheList"})
        assert refused.error is not None
        assert refused.error.kind == "fileUnreadable"
        file.unlink()
        assert (await ask({"kind": "cacheList"})).ok


def test_known_scenarios_in_words() -> None:
    known = CachedActions(entry="a1", scenario="login", level="L3", steps=2, variables=("password",))
    assert describe_cached([known, attrs.evolve(known, variables=())]) == [
        "known: login in 2 steps, entry a1, needs password",
        "known: login in 2 steps, entry a1",
    ]
