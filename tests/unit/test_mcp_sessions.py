"""The state that the MCP endpoint keeps for its sessions: a folder of long answers for each allowed client."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from cdpengine.act import ActResponse
from cdpengine.service.mcp_transport.http import open_endpoint, session_of
from cdpengine.service.settings import ServiceSettings

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Mcp-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "tabs",
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "tabs", "arguments": {}, "_meta": META},
}


async def test_the_most_recently_used_sessions_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done: list[str] = []

    async def perform(session: str, request: Mapping[str, Any]) -> ActResponse:
        await trio.lowlevel.checkpoint()
        done.append(session)
        return ActResponse(kind=request["kind"], ok=True, result=[])

    async def close(_session: str) -> bool:
        await trio.lowlevel.checkpoint()
        return True

    settings = ServiceSettings(token="x" * 20, connections=3)
    async with open_endpoint(perform, close, settings) as endpoint:
        transport = httpx.ASGITransport(app=endpoint)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=HEADERS
        ) as http:
            for name in ("a", "b", "a", "profile:p", "c", "d"):
                answer = await http.post(f"/mcp?session={name}", json=CALL)
                assert answer.status_code == 200, answer.text
                assert answer.json()["result"]["isError"] is False
        assert done == ["a", "b", "a", "profile:p", "c", "d"]
        kept = {each.name for folder in tmp_path.iterdir() for each in folder.iterdir() if each.is_dir()}
        assert kept == {"profile-p", "c", "d"}
    assert not list(tmp_path.iterdir()), "the service removes everything at its end"


@pytest.mark.parametrize(
    ("query", "header", "session"),
    [("", "", "mcp"), ("", "0a1b", "mcp-0a1b"), ("session=ada", "0a1b", "ada"), ("session=profile%3Awork", "", "profile:work"), ("x=1", "", "mcp")],
)  # fmt: skip
def test_a_session_is_named_by_the_url_or_by_its_id(query: str, header: str, session: str) -> None:
    headers = [(b"mcp-session-id", header.encode())] if header else []
    assert session_of({"query_string": query.encode(), "headers": headers}) == session
