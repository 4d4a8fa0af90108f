"""The background service without a browser: its input, its lock, and its automatic end."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from cdpengine.act.commands.parsing import Typed
from cdpengine.shell import background as module
from cdpengine.shell import client
from cdpengine.shell.background import (
    BackgroundOptions,
    listen,
    read_command,
    running,
    send_answer,
    take_lock,
)
from cdpengine.shell.client import PROTOCOL, TAKEN
from cdpengine.shell.printing import Printed


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", f"{root}/state")
        Path(root, "cdpengine").mkdir(mode=0o700)
        yield Path(root, "cdpengine")


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[trio.SocketStream, trio.SocketStream]]:
    one, other = trio.socket.socketpair()
    async with trio.SocketStream(one) as client, trio.SocketStream(other) as service:
        yield client, service


def packed(*fields: str, given: bytes = b"") -> bytes:
    body = "\0".join(fields).encode()
    return b"%s %d %d\n%s%s" % (PROTOCOL, len(body), len(given), body, given)


async def test_a_command_is_read_in_any_pieces() -> None:
    whole = packed("/there", "mine", "utf-8", "type", "e5", "-", given=b"\xff\0text")
    expected = Typed(arguments=["type", "e5", "-"], folder="/there", session="mine", stdin="\ufffd\0text")
    for size in (1, 7, len(whole)):
        async with connected() as (client, service), trio.open_nursery() as nursery:

            async def send(client: trio.SocketStream = client, size: int = size) -> None:
                for at in range(0, len(whole), size):
                    await client.send_all(whole[at : at + size])

            nursery.start_soon(send)
            assert await read_command(service) == (expected, "utf-8")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"cdpengine-shell 2 1 0\nx",
        b"cdpengine-shell 1 x 0\n",
        b"cdpengine-shell 1 5\n",
        b"x cdpengine-shell 1 1 0\nx",
        b"cdpengine-shell 1 99999999 99999999\n",
        b"cdpengine-shell 1 -5 5\n",
        b"cdpengine-shell 1 3 0\na",
        b"cdpengine-shell 1 3 0\na\0b",
        b"x" * 1000,
    ],
)
async def test_invalid_commands_are_rejected(sent: bytes) -> None:
    async with connected() as (client, service):
        await client.send_all(sent)
        await client.send_eof()
        assert await read_command(service) is None


async def test_reading_and_answering_can_be_cancelled() -> None:
    async with connected() as (_, service):
        with trio.move_on_after(0.01) as scope:
            await read_command(service)
        assert scope.cancelled_caught
        with trio.move_on_after(0.01) as scope:
            await send_answer(service, Printed(0, "x" * 2**24), "utf-8", as_json=False)
        assert scope.cancelled_caught


async def test_one_service_has_the_lock_and_the_others_wait_for_its_end(
    folder: Path, autojump_clock: object
) -> None:
    first = await take_lock()
    assert first is not None
    assert (folder / "shell.lock").read_text() == f"{os.getpid()}\n"
    open_before = os.listdir("/proc/self/fd")
    # It has the lock and does not listen: it starts, or ends. A cancelled client leaves nothing open.
    with trio.move_on_after(0.1) as scope:
        await take_lock()
    assert scope.cancelled_caught
    with pytest.raises(TimeoutError):
        await take_lock()
    # It listens, so another one has nothing to do.
    listener = listen()
    assert stat.S_IMODE((folder / "shell.sock").stat().st_mode) == 0o600
    assert [each.name for each in folder.iterdir() if each.suffix not in (".sock", ".lock")] == []
    assert await take_lock() is None
    await listener.aclose()
    assert len(os.listdir("/proc/self/fd")) == len(open_before)
    # It was killed: its lock is free, and its socket refuses. The next one takes over both.
    os.close(first)
    assert not module.answers()
    second = await take_lock()
    assert second is not None
    async with listen():
        assert module.answers()
    os.close(second)


async def ask(*arguments: str) -> tuple[int, str, str]:
    """Return the status, the errors and the output of a command."""
    async with await trio.open_unix_socket(client.socket_path()) as stream:
        await stream.send_all(packed("/", "", "utf-8", *arguments))
        answer = b"".join([bytes(piece) async for piece in stream])
    assert answer.startswith(TAKEN)
    head, _, body = answer.removeprefix(TAKEN).partition(b"\n")
    status, err, out = map(int, head.split())
    assert len(body) == err + out
    return status, body[:err].decode(), body[err:].decode()


async def test_it_ends_when_it_is_idle_and_with_its_last_session(folder: Path) -> None:
    async with running(BackgroundOptions(idle=0.2)) as background:
        began = trio.current_time()
        assert await ask("sessions") == (0, "", "")
        status, err, out = await ask("tabs", "x")
        assert (status, out) == (2, "")
        assert err == (
            "Error: tabs: got 1 argument, expected no argument, "
            "only options: --endpoint, --json, --session, --target-id, --timeout-ms\n"
            "Hint: cdpengine tabs --help shows its arguments and options.\n"
        )
        with trio.fail_after(10):
            await background.ending.wait()
        assert trio.current_time() - began >= 0.2
    assert not (folder / "shell.sock").exists()
    answers = []
    async with trio.open_nursery() as nursery, running(BackgroundOptions()) as background:

        async def close() -> None:
            answers.append(await ask("close", "--json"))

        nursery.start_soon(close)
        with trio.fail_after(10):
            await background.ending.wait()
        assert answers == [], "it is answered when the browser has ended"
    assert answers == [(0, "", '{"ok": true, "kind": ""}\n')]


async def test_a_service_whose_browser_cannot_be_started_ends(folder: Path) -> None:
    """The next command may name another browser."""
    async with running(BackgroundOptions(executable="/no/such/browser")) as background:
        status, err, _ = await ask("open", "https://example.com", "--browser", "/another")
        assert (
            status,
            err.startswith("Error: --browser: got a value for a service that runs with another one"),
        ) == (2, True)
        assert not background.ending.is_set()
        status, err, _ = await ask("open", "https://example.com")
        assert (status, err.startswith("Error: no browser at /no/such/browser was found.")) == (1, True)
        assert background.ending.is_set()


async def test_a_service_that_is_ending_accepts_no_command(folder: Path) -> None:
    async with running(BackgroundOptions()) as background:
        stream = await trio.open_unix_socket(client.socket_path())
        background.ending.set()
        async with stream:
            await stream.send_all(packed("/", "", "utf-8", "sessions"))
            assert await stream.receive_some(100) == b"", "so that its client starts another one"


async def test_a_service_whose_program_is_cancelled_leaves_no_socket(folder: Path) -> None:
    with trio.CancelScope() as scope:
        async with running(BackgroundOptions()):
            scope.cancel()
            await trio.sleep_forever()
    assert list(folder.iterdir()) == []
