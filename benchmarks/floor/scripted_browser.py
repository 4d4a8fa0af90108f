"""A simulated browser that answers every command immediately, like Runtime.evaluate of "1".

Rule: it serves to count a call's cost on this side, independent of a real browser. `python -m
benchmarks.floor.scripted_browser` runs as a separate process, prints its address and serves until its input ends,
with one thread for each connection. It reads and writes whole frames, one command after the other.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SESSION = "3A5C0F5D9B1E4C7AA1B2C3D4E5F60718"
ONE = {"result": {"type": "number", "value": 1, "description": "1"}}
ATTACHED = {
    "sessionId": SESSION,
    "targetInfo": {
        "targetId": "T",
        "type": "page",
        "title": "",
        "url": "about:blank",
        "attached": True,
        "canAccessOpener": False,
    },
    "waitingForDebugger": False,
}
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def unmasked(data: bytes, key: bytes) -> bytes:
    """Return the data of a client that was masked with `key`. Pure."""
    size = len(data)
    stretched = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "big") ^ int.from_bytes(stretched, "big")).to_bytes(size, "big")


def text_frame(message: bytes) -> bytes:
    """Return the frame of a server's short text message. Pure."""
    size = len(message)
    if size < 126:
        return bytes((0x81, size)) + message
    return bytes((0x81, 126)) + size.to_bytes(2, "big") + message


def answers(command: dict[str, object]) -> list[bytes]:
    """Return the messages that answer a command. Pure."""
    if command["method"] == "Target.attachToTarget":
        return [
            json.dumps({"method": "Target.attachedToTarget", "params": ATTACHED}).encode(),
            json.dumps({"id": command["id"], "result": {"sessionId": SESSION}}).encode(),
        ]
    reply = {"id": command["id"], "result": ONE}
    if "sessionId" in command:
        reply["sessionId"] = command["sessionId"]
    return [json.dumps(reply, separators=(",", ":")).encode()]


def _serve(connection: socket.socket) -> None:
    with connection, connection.makefile("rb") as incoming, suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = b""
        while (line := incoming.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"sec-websocket-key":
                key = value.strip()
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: %b\r\n\r\n" % accept
        )
        while len(head := incoming.read(2)) == 2:
            size = head[1] & 0x7F
            if size >= 126:
                size = int.from_bytes(incoming.read(2 if size == 126 else 8), "big")
            mask = incoming.read(4)
            message = unmasked(incoming.read(size), mask)
            if head[0] != 0x81:
                return  # a close frame, or an unexpected frame
            connection.sendall(b"".join(map(text_frame, answers(json.loads(message)))))


@contextmanager
def scripted_browser() -> Iterator[str]:
    """Run it during the block. Yield its websocket's URL."""
    command = [sys.executable, "-m", "benchmarks.floor.scripted_browser"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError("the scripted browser did not start")
            yield url
        finally:
            process.kill()


def _main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}/devtools/browser/scripted", flush=True)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()  # ends with the program that started it, even if that is killed


if __name__ == "__main__":
    _main()
