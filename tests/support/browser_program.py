#!/usr/bin/env python3
"""A program with the debugging pipe and port of a browser, which answers each command with its parameters.

It is run as an executable. Like Chrome, it reports its port on standard error, writes DevToolsActivePort for port 0,
then answers HTTP, ends at Browser.close, at the end of its pipe and by signals, and exits with 7.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler

PATH = "/devtools/browser/01234567-89ab-cdef-0123-456789abcdef"
STATUS = 7
ENDED = threading.Event()


def switch(name: str) -> str | None:
    values = [each.partition("=")[2] for each in sys.argv[1:] if each.partition("=")[0] == f"--{name}"]
    return values[-1] if values else None


def answer(message: bytes) -> bytes:
    call = json.loads(message)
    return json.dumps({"id": call["id"], "result": call.get("params", {})}).encode()


def end_at_close(message: bytes) -> None:
    if json.loads(message)["method"] == "Browser.close":
        ENDED.set()


def serve_pipe() -> None:
    rest = b""
    while chunk := os.read(3, 65_536):
        *messages, rest = (rest + chunk).split(b"\0")
        for message in messages:
            reply = answer(message) + b"\0"
            while reply:
                reply = reply[os.write(4, reply) :]
            end_at_close(message)
    ENDED.set()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.headers.get("Upgrade") == "websocket":
            self.serve_websocket()
            return
        address = f"ws://{self.headers['Host']}{PATH}"
        body = json.dumps({"Browser": "Program/1", "webSocketDebuggerUrl": address}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve_websocket(self) -> None:
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header(
            "Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        )
        self.end_headers()
        while (head := self.rfile.read(2)) and head[0] & 15 == 1:
            length = head[1] & 127
            if length == 126:
                length = int.from_bytes(self.rfile.read(2))
            mask = self.rfile.read(4)
            content = bytes(byte ^ mask[place % 4] for place, byte in enumerate(self.rfile.read(length)))
            reply = answer(content)
            size = bytes([len(reply)]) if len(reply) < 126 else bytes([126]) + len(reply).to_bytes(2)
            self.wfile.write(b"\x81" + size + reply)
            self.wfile.flush()
            end_at_close(content)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Log nothing."""


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def serve_port(port: int) -> None:
    server = Server(("127.0.0.1", port), Handler)
    number = server.server_address[1]
    print(f"\nDevTools listening on ws://127.0.0.1:{number}{PATH}", file=sys.stderr, flush=True)
    if port == 0:
        try:
            with open(f"{switch('user-data-dir')}/DevToolsActivePort", "w") as file:
                file.write(f"{number}\n{PATH}")
        except OSError as error:
            print(
                f"[1:1:ERROR] Error writing DevTools active port to file: {error}",
                file=sys.stderr,
                flush=True,
            )
    print("a line of the browser", file=sys.stderr, flush=True)
    server.serve_forever(poll_interval=0.05)


def main() -> None:
    if switch("environment") is not None:
        with open("/proc/self/environ", "rb") as file:
            sys.stdout.buffer.write(file.read())
        return
    port = switch("remote-debugging-port")
    if switch("remote-debugging-pipe") is not None:
        threading.Thread(target=serve_pipe, daemon=True).start()
    if port is not None and re.fullmatch(r"\d+", port):
        threading.Thread(target=serve_port, args=[int(port)], daemon=True).start()
    ENDED.wait()
    sys.stderr.flush()
    os._exit(STATUS)


main()
