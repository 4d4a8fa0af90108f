"""Strings from a peer appear in errors and logs as one line without terminal commands and secrets."""

from __future__ import annotations

import logging
import unicodedata

import pytest
from scripted_browser import ScriptedBrowser

from cdpengine._protocol.session import Connection, Session
from cdpengine.errors import ConnectionLostError, RemoteError
from cdpengine.testing import Refusal, ScriptedPeer

HOSTILE = "a\nError: forged \x1b]0;x\x07\x9b\u202e\u2028 token=hunter2"
SAFE = r"a\nError: forged \x1b]0;x\x07\x9b\u202e\u2028 token=***"


def is_one_safe_line(text: str) -> bool:
    return not {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.parametrize("kind", ["websocket"], indirect=True)
async def test_why_a_connection_ended(peer: ScriptedPeer, connection: Connection, root: Session) -> None:
    peer.on("A.b", lambda _: peer.close(1000, HOSTILE))
    with pytest.raises(ConnectionLostError) as caught:
        await root.call("A.b")
    assert is_one_safe_line(str(caught.value))
    assert SAFE in str(caught.value)
    assert HOSTILE in caught.value.reason


async def test_a_refusal(peer: ScriptedPeer, root: Session) -> None:
    peer.on("A.b", lambda request: request.refuse(-32000, HOSTILE, HOSTILE))
    with pytest.raises(RemoteError) as caught:
        await root.call("A.b")
    assert str(caught.value) == f"A.b: {SAFE} ({SAFE}) [-32000]"
    assert caught.value.message == caught.value.data == HOSTILE


async def test_logged_strings(scripted: ScriptedBrowser, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "cdpengine")
    scripted.on("Page.setLifecycleEventsEnabled", Refusal(-32000, HOSTILE))
    async with scripted.engine() as browser:
        await browser.new_page()
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("cdpengine")]
    assert any(SAFE in message for message in messages)
    assert all(is_one_safe_line(message) for message in messages)
    assert not any("hunter2" in message for message in messages)
