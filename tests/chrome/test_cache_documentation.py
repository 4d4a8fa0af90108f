"""The shell and MCP logins of docs/cache.md run as printed, on a login page on loopback."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import trio
from doc_examples import ROOT, blocks
from mcp import Client
from ways_in import TOKEN

from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy
from cdpengine.shell.background import BackgroundOptions, running

pytestmark = pytest.mark.chrome

PAGE = ROOT / "docs" / "cache.md"
SHOWN = "https://shop.example/login"
"""The address in the page. The tests replace it with that of a page on loopback."""

GREETING = "Welcome, grace"


def block_with(beginning: str) -> str:
    """Return the only block of the page that starts with this."""
    (found,) = (each.source for each in blocks(PAGE) if each.source.startswith(beginning))
    return found


@pytest.fixture
def login(serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The address of the login page in the page's Python example."""
    monkeypatch.setenv("CDPENGINE_CACHE_KEYRING", "false")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (html,) = re.findall(r'LOGIN = """(.*?)"""', block_with("import tempfile"), re.DOTALL)
    return serve(f"<!doctype html>{html}", "/login")


async def test_the_login_in_the_shell(login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ada.json").write_text('{"username": "ada", "password": "correct horse"}')
    (tmp_path / "password.txt").write_text("correct horse")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", root)
        Path(root, "cdpengine").mkdir(mode=0o700)
        async with running(BackgroundOptions()):

            async def do(line: str) -> str:
                done = await trio.run_process(
                    ["sh", "-c", line.replace(SHOWN, login)], cwd=tmp_path, capture_stdout=True
                )
                return done.stdout.decode()

            lines = [line for line in block_with("cdpengine open").splitlines() if line]
            assert len(lines) <= 10
            for line in lines:
                await do(line)
            assert GREETING in await do("cdpengine snapshot")


async def test_the_login_over_mcp(login: str, shared_endpoint: str, tmp_path: Path) -> None:
    settings = ServiceSettings(
        token=TOKEN,
        endpoint=shared_endpoint,
        url_policy=UrlPolicy(allow_private=True),
        cache=tmp_path / "cache.sqlite3",
    )
    async with open_service(settings) as service:
        server = ToolServer(partial(service.perform, "mcp"), McpSettings(capabilities=("cache",)))
        async with Client(server.server()) as client:

            async def call(tool: str, given: str) -> str:
                result = await client.call_tool(tool, json.loads(given))
                said = "\n".join(getattr(block, "text", "") for block in result.content)
                assert not result.is_error, (tool, said)
                return said

            lines = [line for line in block_with("navigate ").splitlines() if line]
            assert len(lines) <= 10
            for line in lines:
                tool, _, given = line.replace(SHOWN, login).partition(" ")
                await call(tool, given)
            assert GREETING in await call("snapshot", "{}")
