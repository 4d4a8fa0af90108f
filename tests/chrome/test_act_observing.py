"""Requests that one request starts and another ends: their owner, their end, and what other actors can see."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from busy_machine import slack

import cdpengine
from cdpengine.act import KINDS, Actor, dispatch

pytestmark = pytest.mark.chrome

PAGE = "<!doctype html><title>Stage</title><input id=name><input id=secret type=password><button id=go>Go</button>"


@pytest.fixture
async def actor(browser: cdpengine.Browser, tmp_path: Path) -> AsyncIterator[Actor]:
    async with browser.new_context() as context:
        actor = Actor(browser, context, files=None, outputs=tmp_path)
        assert (await dispatch(actor, {"kind": "newTab"})).ok
        assert actor.current is not None
        await actor.current.set_content(PAGE)
        yield actor


STARTS = (
    {"kind": "startRecording"},
    {"kind": "messages"},
    {"kind": "startMeasurement", "measurement": "trace"},
    {"kind": "startMeasurement", "measurement": "profile"},
    {"kind": "startMeasurement", "measurement": "coverage"},
)


async def test_files_get_unused_names(actor: Actor, tmp_path: Path) -> None:
    for number in (1, 2):
        answer = await dispatch(actor, {"kind": "startMeasurement", "measurement": "profile"})
        assert answer.result == {"path": str(tmp_path / f"profile-{number}.cpuprofile")}
        assert (await dispatch(actor, {"kind": "stopMeasurement", "measurement": "profile"})).ok
    assert all(each.stat().st_mode & 0o777 == 0o600 for each in tmp_path.iterdir())
    own = str(tmp_path / "own.heapsnapshot")
    assert (await dispatch(actor, {"kind": "heapSnapshot", "path": own})).ok
    again = await dispatch(actor, {"kind": "heapSnapshot", "path": own})
    assert again.error is not None
    assert "exists" in again.error.message
    actor.outputs = None
    for request in (
        {"kind": "heapSnapshot"},
        {"kind": "heapSnapshot", "path": own},
        *STARTS[:1],
        *STARTS[2:4],
    ):
        refused = await dispatch(actor, request)
        assert refused.error is not None, request
        assert refused.error.kind == "invalidArgument"


async def test_disabled_protocol_commands_are_neither_sent_nor_visible(actor: Actor) -> None:
    actor.commands_enabled = False
    seeing = {kind for kind, each in KINDS.items() if each.uses_protocol}
    assert seeing == {"command", "messages", "startRecording", "stopRecording"}
    for kind in seeing:
        request = {"kind": kind, **({"method": "Page.close"} if kind == "command" else {})}
        answer = await dispatch(actor, request)
        assert answer.error is not None
        assert "not enabled here" in answer.error.message
    assert actor.current is not None, "the page was not closed"
    assert not actor.scopes.opened


async def test_prefetched_snapshot_does_not_count_as_seen_and_can_be_cancelled(actor: Actor) -> None:
    page = actor.current
    assert page is not None
    actor.reads_ahead = True
    with trio.CancelScope() as scope:
        scope.cancel()
        await actor.read_ahead(page, 5)
    assert scope.cancelled_caught
    seen = await dispatch(actor, {"kind": "snapshot", "diff": True})
    assert "Go" in seen.result["snapshot"], "a prefetched snapshot is no base for a diff"
    assert not actor._ahead
    went = await dispatch(actor, {"kind": "navigate", "url": "data:text/html,<button>Stay</button>"})
    assert went.ok
    assert went.diff is None
    assert "Stay" in (await dispatch(actor, {"kind": "snapshot", "diff": True})).result["snapshot"]


async def test_messages_show_no_secret(actor: Actor) -> None:
    await dispatch(actor, {"kind": "messages"})
    await dispatch(actor, {"kind": "fill", "fields": [{"selector": "#secret", "value": "hunter2hunter2"}]})
    await dispatch(actor, {"kind": "type", "selector": "#name", "text": "Ada Lovelace"})
    await dispatch(
        actor,
        {
            "kind": "command",
            "method": "Network.setExtraHTTPHeaders",
            "params": {"headers": {"Authorization": "Bearer abcdefgh12345"}},
        },
    )
    found = await dispatch(actor, {"kind": "messages", "limit": 500})
    text = json.dumps(found.result)
    assert found.result["count"] > 10
    assert "Network.setExtraHTTPHeaders" in text
    for secret in ("hunter2", "Lovelace", "abcdefgh12345"):
        assert secret not in text
    ended = await dispatch(actor, {"kind": "messages", "method": "Network.setExtra*", "stop": True})
    assert [each["k"] for each in ended.result["messages"]] == ["call", "reply"]
    assert not actor.scopes.opened


@pytest.mark.parametrize("how", [pytest.param("timeout", marks=pytest.mark.slow), "cancelled"])
async def test_the_script_of_a_command_is_stopped(actor: Actor, how: str) -> None:
    hung = {"kind": "command", "method": "Runtime.evaluate", "params": {"expression": "while (true);"}}
    if how == "timeout":
        answer = await dispatch(actor, {**hung, "timeoutMs": 200})
        assert answer.error is not None
        assert answer.error.kind == "deadlineExceeded"
    else:
        with trio.move_on_after(0.2):
            await dispatch(actor, hung)
    began = trio.current_time()
    assert (await dispatch(actor, {"kind": "click", "selector": "#go"})).ok
    assert trio.current_time() - began < slack(1)
