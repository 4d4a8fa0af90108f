"""Typed text over a whole recording and replay: the proxy's file, the strict mode and the command's --strict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import trio

from cdpengine import debug
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.errors import RemoteError, ReplayDivergedError
from cdpengine.testing import ScriptedPeer

pytestmark = pytest.mark.usefixtures("guard")

PASSWORD, OTHER = "c4nary-pass", "c4nary-PASS"


async def log_in(connection: Connection, password: str, *, by_keys: bool) -> None:
    if by_keys:
        for letter in password:
            await connection.root.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
        await connection.root.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Enter")
    else:
        await connection.root.call("Input.insertText", text=password)
    await connection.root.call("Page.reload")


@pytest.fixture(params=[True, False], ids=["keys", "a text"])
async def tape(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bool]:
    path = tmp_path / "login.jsonl.zst"
    async with (
        ScriptedPeer() as peer,
        debug.proxy(peer.endpoint, record=path) as proxy,
        open_websocket(proxy.ws_endpoint) as transport,
        open_connection(transport) as connection,
    ):
        for method in ("Input.dispatchKeyEvent", "Input.insertText", "Page.reload"):
            peer.on(method, result={})
        await log_in(connection, PASSWORD, by_keys=request.param)
    return path, request.param


@pytest.mark.parametrize(("strict", "password", "fits"), [
    (True, PASSWORD, True), (True, OTHER, False), (False, PASSWORD, True), (False, OTHER, True),
])  # fmt: skip
async def test_typed_text_must_match_the_recording_in_strict_mode(
    tape: tuple[Path, bool], strict: bool, password: str, fits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path, by_keys = tape

    async def again() -> None:
        async with debug.cassette(path, strict=strict, complete=True) as taped:
            ws = taped.endpoint.replace("http", "ws") + "/devtools/browser/replay"
            async with open_websocket(ws) as transport, open_connection(transport) as connection:
                await log_in(connection, password, by_keys=by_keys)

    if fits:
        await again()
        return
    with pytest.raises(ReplayDivergedError) as caught:
        await again()
    cause = caught.value.__cause__
    assert isinstance(cause, RemoteError)
    for text in (str(caught.value), cause.message, caplog.text):
        assert "c4nary" not in text
        assert "PASS" not in text
    assert "typed" in str(caught.value)


@pytest.mark.parametrize("tape", [False], indirect=True)
@pytest.mark.parametrize("strict", [True, False])
async def test_the_command_has_the_strict_mode_too(tape: tuple[Path, bool], strict: bool) -> None:
    path, by_keys = tape
    arguments = ["recording", "replay", str(path), *(["--strict"] if strict else [])]
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", "cdpengine", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        endpoint = (await process.stdout.receive_some()).decode().strip()
        ws = endpoint.replace("http", "ws") + "/devtools/browser/replay"
        async with open_websocket(ws) as transport, open_connection(transport) as connection:
            if strict:
                with pytest.raises(RemoteError, match="the text typed up to line"):
                    await log_in(connection, OTHER, by_keys=by_keys)
            else:
                await log_in(connection, OTHER, by_keys=by_keys)
                process.terminate()
        output = b"".join([chunk async for chunk in process.stderr])
        with trio.fail_after(20):
            status = await process.wait()
        nursery.cancel_scope.cancel()
    assert (b"the text typed up to line" in output) is strict
    assert b"c4nary" not in output
    assert status == 1 if strict else status != 1
