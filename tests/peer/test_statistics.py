"""Live statistics of a connection, the warning about slow consumers, and logs without payloads."""

from __future__ import annotations

import logging
import re

import pytest
import trio
from scripting import settled

from cdpengine._logs import FIRST, INTERVAL
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Connection, Session
from cdpengine.debug import log_traffic
from cdpengine.errors import RemoteError
from cdpengine.testing import SILENCE, ScriptedPeer

CANARY = "canary-in-the-wire"


async def test_lost_events_are_counted_and_their_consumer_is_named(
    peer: ScriptedPeer, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async with connection.root.subscribe("X.*", buffer=10):
        for n in range(100):
            peer.send_event("X.e", {"n": n, "text": CANARY})
        await connection.root.call("Any.call")
        assert connection.statistics().lost_events == 90
    assert connection.statistics().lost_events == 90
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.name for record in warnings] == ["cdpengine.session"]
    assert f"opened at {__file__}:" in warnings[0].getMessage()
    assert "X.*" in warnings[0].getMessage()
    assert CANARY not in caplog.text


async def test_in_flight_queued_and_lag(peer: ScriptedPeer, connection: Connection) -> None:
    peer.on("Never.answered", SILENCE)
    pending = connection.root.post("Never.answered")
    assert connection.statistics().queued == 1
    await peer.wait_for("Never.answered")
    assert (connection.statistics().queued, connection.statistics().in_flight) == (0, 1)
    pending.abandon()
    await connection.root.call("Any.call")
    statistics = connection.statistics()
    assert 0 < statistics.reader_lag <= statistics.longest_reader_lag < 60
    assert statistics.bytes_received > 0


async def test_strays_are_counted(peer: ScriptedPeer, connection: Connection) -> None:
    peer.send_raw('{"id": 999999, "result": {}}')
    peer.send_raw("no JSON")
    peer.send_raw("{}")
    peer.send_event("X.e", session_id="nobody's")
    await connection.root.call("Any.call")
    statistics = connection.statistics()
    assert statistics.unknown_replies == 1
    assert (statistics.malformed, statistics.shapeless, statistics.events_of_unknown_sessions) == (1, 1, 1)


async def everything(peer: ScriptedPeer, session: Session) -> None:
    """Pass each kind of message, valid and damaged, each with a canary in it."""
    secret = {"value": CANARY, "password": CANARY}
    peer.on("Network.getCookies", result={"cookies": [{"name": "a", "value": CANARY, "domain": "x"}]})
    peer.on("Refused.call", error=(-32000, "no"))
    await session.call("Input.insertText", text=CANARY)
    await session.call("Network.getCookies")
    with pytest.raises(RemoteError):
        await session.call("Refused.call", token=CANARY)
    peer.send_raw(f'{{"method": "X.e", "params": {{"password": "{CANARY}"')
    peer.send_raw(f'{{"password": "{CANARY}"}}')
    peer.send_event("Target.attachedToTarget", {"sessionId": 5, "targetInfo": secret})
    peer.send_event("Target.targetCreated", {"targetInfo": secret})
    async with session.subscribe("X.*", buffer=1):
        peer.send_event("X.e", secret)
        peer.send_event("X.e", secret)
        await session.call("Any.call")


async def test_logs_above_debug_contain_no_payload_and_disabled_logs_are_free(
    peer: ScriptedPeer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cdpengine")
    instruments = Instruments()
    async with peer.connect(instruments=instruments) as connection:
        assert instruments.active == ()
        await everything(peer, connection.root)
        await settled(connection)
    assert {record.levelname for record in caplog.records} == {"INFO", "WARNING"}
    assert CANARY not in caplog.text


async def test_at_debug_each_message_is_one_line_without_its_secrets(
    peer: ScriptedPeer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "cdpengine")
    instruments = Instruments()
    async with peer.connect(instruments=instruments) as connection:
        with log_traffic(instruments):
            await everything(peer, connection.root)
            await connection.root.call("Large.call", text="x" * 100_000)
            statistics = connection.statistics()
        assert instruments.active == ()
    lines = [record.getMessage() for record in caplog.records if record.name == "cdpengine.wire"]
    assert all("->" in line or "<-" in line for line in lines)
    assert len(lines) == statistics.sent + statistics.received
    assert any("Network.getCookies" in line and "->" in line for line in lines)
    assert max(map(len, lines)) < 1_000
    assert CANARY not in "\n".join(lines)


async def test_a_disabled_logger_formats_nothing(
    peer: ScriptedPeer, caplog: pytest.LogCaptureFixture
) -> None:
    instruments = Instruments()
    caplog.set_level(logging.DEBUG, "cdpengine")
    async with peer.connect(instruments=instruments) as connection:
        with log_traffic(instruments):
            caplog.set_level(logging.WARNING, "cdpengine")
            hold = peer.hold("DOMStorage.getDOMStorageItems")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(connection.root.call, "DOMStorage.getDOMStorageItems")
                await hold.wait()
                caplog.set_level(logging.DEBUG, "cdpengine")
                # The recorder did not see its command, so the secrets of the reply are unknown.
                hold.release({"entries": [["key", CANARY]]})
    assert CANARY not in caplog.text
    assert "cdpengine.cut" in caplog.text


@pytest.mark.parametrize("kind", ["pipe"])
@pytest.mark.parametrize(
    ("what", "flood"), [("malformed", 20_000), ("shapeless", 2_000), ("undecodable", 2_000)]
)
async def test_a_flood_of_unreadable_messages_is_a_few_lines_and_an_exact_count(
    peer: ScriptedPeer, caplog: pytest.LogCaptureFixture, what: str, flood: int
) -> None:
    text = {
        "malformed": f'{{"method": "X.e", "params": {{"text": "{CANARY}"',
        "shapeless": f'{{"text": "{CANARY}"}}',
        "undecodable": '{"method": "Target.targetCreated", "params": {"targetInfo": 5}}',
    }[what]
    caplog.set_level(logging.INFO, "cdpengine.session")
    async with peer.connect() as connection:
        began = trio.current_time()
        for start in range(0, flood, 1000):
            for _ in range(start, start + 1000):
                peer.send_raw(text)
            await connection.root.call("Any.call")
        took = trio.current_time() - began
        statistics = connection.statistics()
    counts = {
        "malformed": statistics.malformed,
        "shapeless": statistics.shapeless,
        "undecodable": statistics.undecodable_events,
    }
    assert counts == dict.fromkeys(counts, 0) | {what: flood}
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert FIRST < len(lines) <= FIRST + took / INTERVAL + 2
    passed_over = sum(int(found[1]) for line in lines if (found := re.search(r"(\d+) more warnings", line)))
    # The last line only reports the messages skipped at the end.
    assert passed_over + len(lines) - 1 == flood
    assert CANARY not in caplog.text
