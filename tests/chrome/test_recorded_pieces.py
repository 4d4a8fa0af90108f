"""Passwords of a page come back in pieces of 1 to 10 bytes: no recording contains them, on any channel."""

from __future__ import annotations

import base64
import gzip
import json
import random
import string
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import trio
from raw_server import ByteStream, read_request, tcp_server
from rounds import rounds
from trio_websocket import WebSocketRequest, serve_websocket

import cdpengine
from cdpengine import debug
from cdpengine.debug import open_recording

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(600)]

PAGE = b"<!doctype html><link rel=icon href='data:,'><input id=p type=password>"
READ = """async (url) => {
  if (url.startsWith("ws")) {
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    return new Promise((done) => { socket.onclose = () => done(0); });
  }
  if (url.includes("/events")) {
    const events = new EventSource(url);
    return new Promise((done) => { events.onerror = () => { events.close(); done(0); }; });
  }
  return fetch(url).then((response) => response.arrayBuffer()).then(() => 0);
}"""

ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "text": str.encode,
    "UTF-16": lambda text: text.encode("utf-16-le"),
    "percent": lambda text: quote(text, safe="").encode(),
    "base64": lambda text: base64.b64encode(b"ab" + text.encode()),
    "JSON": lambda text: json.dumps(text).encode(),
}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": gzip.compress, "zlib": zlib.compress}


class Streams:
    """A server of streams. The test sets the pieces of each stream before the request."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[bytes]] = {}

    async def serve(self, stream: ByteStream) -> None:
        head = await read_request(stream)
        target = urlsplit(head.split(b" ")[1].decode())
        if target.path == "/":
            await stream.send_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"
                % (len(PAGE), PAGE)
            )
            return
        kind = b"text/event-stream" if target.path == "/events" else b"text/plain"
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nConnection: close\r\n\r\n" % kind)
        for piece in self.pieces[parse_qs(target.query)["n"][0]]:
            await stream.send_all(b"data: %b\n\n" % piece if target.path == "/events" else piece)
            await trio.sleep(0.001)  # so that they are sent one by one

    async def serve_messages(self, request: WebSocketRequest) -> None:
        socket = await request.accept()
        for piece in self.pieces[parse_qs(urlsplit(request.path).query)["n"][0]]:
            await socket.send_message(piece if request.path.startswith("/binary") else piece.decode())
        await socket.aclose()


def cut(data: bytes, chosen: random.Random) -> list[bytes]:
    pieces = []
    while data:
        size = chosen.randint(1, 10)
        pieces.append(data[:size])
        data = data[size:]
    return pieces


def read_streams(path: Path) -> list[bytes]:
    """Return each stream in the recording, its pieces joined."""
    found: dict[tuple[str, str], bytes] = defaultdict(bytes)
    asked: dict[tuple[str, int | None], str] = {}
    with open_recording(path) as recording:
        for line in recording:
            message = json.loads(bytes(line.msg) or b"{}")
            params: dict[str, Any] = message.get("params") or {}
            if line.k == "call" and line.m == "Network.streamResourceContent":
                asked[line.s, line.id] = params["requestId"]
            name = params.get("requestId") or asked.get((line.s, line.id), "")
            data = params.get("data") or (message.get("result") or {}).get("bufferedData")
            if (response := params.get("response")) and "payloadData" in response:
                data = response["payloadData"]
                if response["opcode"] == 1:
                    data = base64.b64encode(data.replace("[redacted]", "").encode()).decode()
            if line.m == "Network.eventSourceMessageReceived" and data:
                data = base64.b64encode(data.replace("[redacted]", "").encode()).decode()
            if name and data and data != "[redacted]":
                found[line.s, name] += base64.b64decode(data).replace(b"[redacted]", b"")
    return list(found.values())


@pytest.mark.parametrize("transport", ["pipe", "websocket"])
async def test_no_password_is_in_a_recorded_stream(
    transport: Literal["pipe", "websocket"], tmp_path: Path
) -> None:
    chosen = random.Random(transport)
    streams = Streams()
    path = tmp_path / "streams.jsonl"
    letters = string.ascii_letters + string.digits + string.punctuation + "äß中文"
    secrets: list[str] = []
    async with tcp_server(streams.serve) as port, trio.open_nursery() as nursery:
        server = await nursery.start(serve_websocket, streams.serve_messages, "127.0.0.1", 0, None)
        bodies = cdpengine.ActivityOptions(bodies=cdpengine.network.KeepBodies())
        async with cdpengine.launch(transport=transport) as browser, debug.record(browser, path):
            page = await browser.new_page(f"http://127.0.0.1:{port}/", activity=bodies)
            field = await page.find(css="#p")
            for number in range(rounds(8, 100)):
                secret = "".join(chosen.choices(letters, k=chosen.randint(8, 40)))
                secrets.append(secret)
                await page.fill(field, secret)
                channel = chosen.choice(["body", "events", "text", "binary"])
                encoding = chosen.choice(
                    [*ENCODINGS] if channel in ("body", "binary") else ["percent", "base64", "JSON"]
                )
                packing = chosen.choice([*PACKINGS] if channel in ("body", "binary") else [""])
                body = PACKINGS[packing](b"<p>" + ENCODINGS[encoding](secret) + b"</p> the password")
                streams.pieces[str(number)] = cut(body, chosen)
                base = (
                    f"http://127.0.0.1:{port}"
                    if channel in ("body", "events")
                    else f"ws://127.0.0.1:{server.port}"
                )
                await page.evaluate(READ, f"{base}/{channel}?n={number}")
        nursery.cancel_scope.cancel()
    recorded = read_streams(path)
    assert len(recorded) >= len(secrets) // 2, "the streams are in the recording"
    for secret in secrets:
        forms = [encode(secret) for encode in ENCODINGS.values()]
        for stream in recorded:
            assert not any(form in stream for form in forms), (secret, stream)
            for bits in (31, 15):
                try:
                    plain = zlib.decompressobj(wbits=bits).decompress(stream)
                except zlib.error:
                    continue
                assert not any(form in plain for form in forms), (secret, plain)
