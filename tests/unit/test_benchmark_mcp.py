"""The client that measures MCP servers, with servers that answer, refuse, ask back, die and fail to start."""

from __future__ import annotations

import sys

import pytest

from benchmarks.cases.mcp import DIALECTS, Server
from benchmarks.harness.bench import is_peer
from benchmarks.harness.installed import MCP_SERVERS
from benchmarks.harness.mcp_client import open_client
from benchmarks.harness.peers import Cannot

SCRIPT = r"""
import json, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    number, method = message["id"], message["method"]
    if method == "initialize":
        say(id=number, result={"serverInfo": {"name": "scripted", "version": "1"}})
    elif method == "tools/list":
        say(method="notifications/message", params={})
        say(id=99, method="roots/list")
        assert json.loads(sys.stdin.readline())["result"] == {"roots": []}
        say(id=number, result={"tools": [{"name": "echo"}]})
    elif message["params"]["name"] == "echo":
        text = message["params"]["arguments"]["text"]
        say(id=number, result={"content": [{"type": "text", "text": text}, {"type": "image"}]})
    elif message["params"]["name"] == "fail":
        say(id=number, result={"isError": True, "content": [{"type": "text", "text": "it did not work"}]})
    elif message["params"]["name"] == "die":
        print("last words", file=sys.stderr, flush=True)
        sys.exit(3)
    else:
        say(id=number, error={"code": -32601, "message": "no such tool"})
"""


async def test_a_server_is_driven() -> None:
    async with open_client([sys.executable, "-c", SCRIPT]) as client:
        assert (client.about, list(client.tools)) == ("scripted 1", [{"name": "echo"}])
        long = "x" * 2_000_000
        answer = await client.tool("echo", text=long)
        assert answer.text == f"{long}\n"
        assert answer.milliseconds > 0
        for name, words in (
            ("fail", "it did not work"),
            ("none", "no such tool"),
            ("die", "ended at tools/call"),
        ):
            with pytest.raises(Cannot, match=words):
                await client.tool(name)


async def test_a_server_that_does_not_start_reports_the_reason() -> None:
    for command, words in (
        (["/no/such/program"], "cannot be started"),
        ([sys.executable, "-c", ""], "ended at initialize"),
    ):
        with pytest.raises(Cannot, match=words):
            async with open_client(command):
                raise AssertionError


def test_each_server_has_its_dialect_and_is_a_peer() -> None:
    assert set(DIALECTS) == {"engine", *MCP_SERVERS}
    assert all(map(is_peer, MCP_SERVERS))
    snapshots = {
        "engine": '- button "Buy 0" [ref=e4]\n- checkbox "Compare 0" [ref=e5]',
        "playwright-mcp": '- button "Buy 0" [active] [ref=f1e6]\n  - checkbox "Compare 0" [ref=f1e8]',
        "chrome-devtools-mcp": 'uid=1_4 button "Buy 0"\nuid=1_5 checkbox "Compare 0"',
    }
    for name, dialect in DIALECTS.items():
        server = Server(name, None, "not here")
        refs = [server.find(each, snapshots[name]) for each in (dialect.button, dialect.box)]
        assert all(ref in snapshots[name] for ref in refs)
        with pytest.raises(Cannot, match="in its snapshot"):
            server.find(dialect.button, "nothing")
