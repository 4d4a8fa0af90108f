"""Random strings of all planes, with controls and unpaired surrogates: recorded, read, exported and replayed.

The peer echoes each string, so the wire itself is the oracle: every form must return the sent string.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from random_strings import make_strings
from rounds import rounds

from cdpengine import _json, debug
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.debug.reading.display import page_document
from cdpengine.debug.reading.perfetto import trace_document
from cdpengine.testing import Request, ScriptedPeer

pytestmark = pytest.mark.usefixtures("guard")

METHOD = "Strings.echo"
IN_A_CALL = 4
"""Strings per call: few enough that no export cuts the call."""


def in_calls(strings: list[str]) -> list[dict[str, Any]]:
    """Return the parameters of calls: strings as values and as keys."""
    groups = [strings[at : at + IN_A_CALL] for at in range(0, len(strings), IN_A_CALL)]
    return [{"values": group, "keys": dict.fromkeys(group, 1)} for group in groups]


async def echo_all(connection: Connection, calls: list[dict[str, Any]]) -> list[Any]:
    return [await connection.root.call(METHOD, **params) for params in calls]


async def record_strings(path: Path, calls: list[dict[str, Any]]) -> list[Any]:
    def echo(request: Request) -> dict[str, Any]:
        return dict(request.params)

    async with (
        ScriptedPeer() as peer,
        debug.proxy(peer.endpoint, record=path, unredacted=True) as proxy,
        open_websocket(proxy.ws_endpoint) as transport,
        open_connection(transport) as connection,
    ):
        peer.on(METHOD, echo)
        return await echo_all(connection, calls)


async def replay_strings(path: Path, calls: list[dict[str, Any]]) -> list[Any]:
    async with debug.cassette(path, strict=True, complete=True) as taped:
        url = taped.endpoint.replace("http", "ws") + "/devtools/browser/replay"
        async with open_websocket(url) as transport, open_connection(transport) as connection:
            return await echo_all(connection, calls)


def give_trace_payloads(trace: dict[str, Any]) -> list[list[Any]]:
    """Return the parameters and the results of the calls in a trace."""
    events = trace["traceEvents"]
    begun = [event["args"]["params"] for event in events if event["ph"] == "B" and event["name"] == METHOD]
    results = [event["args"]["result"] for event in events if event["ph"] == "E" and "args" in event]
    return [[json.loads(text) for text in texts] for texts in (begun, results)]


def give_page_payloads(page: str) -> list[Any]:
    """Return the payloads of the calls and replies in the rows of a recording's page."""
    packed = re.search(r'<script[^>]*id="data"[^>]*>([^<]*)<', page)
    assert packed is not None
    rows = [json.loads(row) for row in zlib.decompress(base64.b64decode(packed[1])).decode().split("\n")[:-1]]
    return [json.loads(row[9]) for row in rows if row[2] in ("call", "reply")]


@pytest.mark.parametrize("name", ["strings.jsonl", "strings.jsonl.zst"])
async def test_each_string_survives_record_read_export_and_replay(tmp_path: Path, name: str) -> None:
    calls = in_calls(make_strings(len(name), rounds(400, 20_000)))
    path = tmp_path / name
    assert await record_strings(path, calls) == calls
    with debug.open_recording(path) as recording:
        lines = list(recording)
        assert (recording.damage, recording.closed_in_order) == ([], True)
    of_calls = [_json.decode(line.msg)["params"] for line in lines if line.k == "call" and line.m == METHOD]
    of_replies = [
        _json.decode(line.msg)["result"] for line in lines if line.k == "reply" and line.m == METHOD
    ]
    assert of_calls == of_replies == calls

    trace = json.loads(b"".join(trace_document(recording.header, lines)))
    assert give_trace_payloads(trace) == [calls, calls]
    page = b"".join(page_document(recording.header, name, lines))
    assert give_page_payloads(page.decode()) == [each for params in calls for each in (params, params)]
    assert await replay_strings(path, calls) == calls
