"""A client of the Model Context Protocol over standard input and output, the same for every server.

Rule: it does only the necessary work, so that the server is timed: lines of JSON-RPC, one call at a time, no
schema, no cache. A server runs in a separate session and folder, and nothing of it survives the block.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from benchmarks.harness.leftovers import MARK, end_marked
from benchmarks.harness.peers import Cannot
from cdpengine._nursery import open_body_nursery

VERSION = "2025-06-18"
PATIENCE = 60.0
"""Timeout of a server's call, in seconds."""

STOP_PATIENCE = 5.0
KEPT = 2_000


@attrs.frozen
class Answer:
    """A tool's response: its text, and its duration in milliseconds."""

    text: str
    milliseconds: float


@attrs.define(eq=False)
class McpClient:
    """A running server. `about` is its name and version, `tools` its list of tools."""

    _process: trio.Process
    about: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    _number: int = 0
    _rest: bytearray = attrs.field(factory=bytearray)
    words: bytearray = attrs.field(factory=bytearray)
    """The end of its standard error."""

    async def begin(self) -> None:
        """Initialize the session, and read the list of tools."""
        given = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "benchmarks", "version": "1"},
        }
        said = await self._call("initialize", given)
        self.about = f"{said['serverInfo']['name']} {said['serverInfo']['version']}"
        await self._send({"method": "notifications/initialized"})
        self.tools = (await self._call("tools/list", {}))["tools"]

    async def tool(self, name: str, /, **arguments: object) -> Answer:
        """Call a tool. Raises Cannot with its message if it reports a failure or returns nothing."""
        started = time.perf_counter()
        result = await self._call("tools/call", {"name": name, "arguments": arguments})
        milliseconds = (time.perf_counter() - started) * 1000
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise Cannot(f"{name}: {text[:200]}")
        return Answer(text, milliseconds)

    async def _call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        self._number += 1
        try:
            with trio.fail_after(PATIENCE):
                await self._send({"id": self._number, "method": method, "params": params})
                return await self._reply(self._number)
        except trio.TooSlowError:
            raise Cannot(f"did not answer {method} within {PATIENCE:g} s") from None
        except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError):
            last = self.words.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise Cannot(f"ended at {method}: {last[:200]}") from None

    async def _reply(self, number: int) -> dict[str, Any]:
        while True:
            message = json.loads(await self._line())
            if "method" in message:
                if "id" in message:  # a request for an unsupported feature
                    await self._send({"id": message["id"], "result": {"roots": []}})
            elif message.get("id") == number:
                if "error" in message:
                    raise Cannot(str(message["error"].get("message"))[:200])
                result: dict[str, Any] = message["result"]
                return result

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            more = await self._process.stdout.receive_some(1 << 20)
            if not more:
                raise EOFError
            self._rest += more
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        await self._process.stdin.send_all(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def listen(self) -> None:
        """Read its standard error, so that it never blocks."""
        assert self._process.stderr is not None
        async for piece in self._process.stderr:
            self.words += piece
            del self.words[:-KEPT]

    async def end(self) -> None:
        """Close its input, like clients do, and wait until it has ended."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        with trio.move_on_after(STOP_PATIENCE):
            await self._process.wait()


@asynccontextmanager
async def open_client(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> AsyncIterator[McpClient]:
    """Run a server during the block. Raises Cannot if it fails to start."""
    mark = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True) as folder:
        process: trio.Process | None = None
        try:
            async with open_body_nursery() as nursery:
                try:
                    process = await trio.lowlevel.open_process(
                        list(command),
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        env={**os.environ, **(environment or {}), MARK: mark},
                        start_new_session=True,
                        cwd=folder,
                    )
                except OSError as error:
                    raise Cannot(f"cannot be started: {error}") from None
                client = McpClient(process)
                nursery.start_soon(client.listen)
                await client.begin()
                yield client
                await client.end()
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await end_marked(mark, process)
