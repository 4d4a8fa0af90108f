"""The ways in which a request reaches the engine: in process, over MCP, over HTTP, and through shell
commands.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from mcp import Client
from spelling import spell

import cdpengine
from cdpengine.act import Actor, dispatch
from cdpengine.act.commands.parsing import Typed
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.cache import ActionCache, CacheRequests, read_config
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_tools import TOOLS
from cdpengine.service.serving import open_service, serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy
from cdpengine.shell.background import BackgroundOptions, running

WAYS = ("dispatch", "mcp", "http", "shell")

TOKEN = "the-token-of-the-tests"

Ask = Callable[..., Awaitable[dict[str, Any]]]
"""Sends a request in a session ("default" if absent), and returns the JSON response."""


@attrs.frozen
class Way:
    """One way in. `words` are the messages of its answers, if it also answers in words."""

    ask: Ask
    words: list[str] = attrs.field(factory=list)


@asynccontextmanager
async def open_way(name: str, endpoint: str, cache: Path | None = None) -> AsyncIterator[Way]:
    """Open a way in to the browser at `endpoint`. The shell starts a new browser.

    cache: the folder of an action cache for the requests. Its file is `cache_file(folder)`.
    """
    async with _OPEN[name](endpoint, cache) as way:
        yield way


def cache_file(folder: Path) -> Path:
    """Return the path of the cache of the user whose data are in this folder. Creates missing folders."""
    (folder / "cdpengine").mkdir(exist_ok=True)
    return folder / "cdpengine" / "cache.sqlite3"


def _settings(endpoint: str, cache: Path | None) -> ServiceSettings:
    policy = UrlPolicy(schemes=frozenset({"http", "https", "data"}), allow_private=True)
    return ServiceSettings(
        token=TOKEN, endpoint=endpoint, url_policy=policy, files=Path("/"), commands_enabled=True,
        cache=None if cache is None else cache_file(cache),
    )  # fmt: skip


@asynccontextmanager
async def _in_process(endpoint: str, cache: Path | None) -> AsyncIterator[Way]:
    async with (
        cdpengine.connect(endpoint) as browser,
        browser.new_context() as first,
        browser.new_context() as second,
        AsyncExitStack() as stack,
    ):
        more: dict[str, Any] = {}
        if cache is not None:
            config = await read_config()
            opened = await stack.enter_async_context(ActionCache.open(cache_file(cache), config=config))
            requests = CacheRequests(opened)
            more = {"cache": requests, "hooks": (requests.hook,)}
        actors = {"default": Actor(browser, first, **more), "other": Actor(browser, second, **more)}

        async def ask(request: dict[str, Any], session: str = "default") -> dict[str, Any]:
            return (await dispatch(actors[session], request)).to_json()

        yield Way(ask)


@asynccontextmanager
async def _over_mcp(endpoint: str, cache: Path | None) -> AsyncIterator[Way]:
    by_kind = {kind: (tool.name, action) for tool in TOOLS for action, kind in tool.kinds.items()}
    settings = McpSettings(capabilities=CAPABILITIES, structured=True)
    async with open_service(_settings(endpoint, cache)) as service:
        servers = {
            session: ToolServer(partial(service.perform, session), settings).server()
            for session in ("default", "other")
        }
        async with Client(servers["default"]) as first, Client(servers["other"]) as second:
            clients = {"default": first, "other": second}
            words: list[str] = []

            async def ask(request: dict[str, Any], session: str = "default") -> dict[str, Any]:
                tool, action = by_kind.get(request["kind"], (request["kind"], ""))
                fields = {key: value for key, value in request.items() if key != "kind"}
                given = {**fields, **({"action": action} if action else {})}
                result = await clients[session].call_tool(tool, given)
                words.append("\n".join(getattr(block, "text", "") for block in result.content))
                assert isinstance(result.structured_content, dict), words[-1]
                return result.structured_content

            yield Way(ask, words)


@asynccontextmanager
async def _over_http(endpoint: str, cache: Path | None) -> AsyncIterator[Way]:
    async with (
        serve(_settings(endpoint, cache)) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as client,
    ):

        async def ask(request: dict[str, Any], session: str = "default") -> dict[str, Any]:
            answer = await client.post("/act", json=request, params={"session": session})
            document: dict[str, Any] = answer.json()
            return document

        yield Way(ask)


@asynccontextmanager
async def _in_the_shell(_endpoint: str, cache: Path | None) -> AsyncIterator[Way]:
    with (
        tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_RUNTIME_DIR", root)
        patch.setenv("XDG_STATE_HOME", root)
        if cache is not None:
            patch.setenv("XDG_DATA_HOME", str(cache))
        Path(root, "cdpengine").mkdir(mode=0o700)
        words: list[str] = []
        async with running(BackgroundOptions()) as background:

            async def ask(request: dict[str, Any], session: str = "default") -> dict[str, Any]:
                verb, *rest = spell(request)
                typed = Typed(arguments=[verb, "--json", *rest], folder="/", session=session)
                printed = await background.perform(typed)
                words.append(printed.err)
                document: dict[str, Any] = json.loads(printed.out)
                return document

            yield Way(ask, words)


_OPEN = {"dispatch": _in_process, "mcp": _over_mcp, "http": _over_http, "shell": _in_the_shell}
