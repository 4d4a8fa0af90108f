"""Announcements of verbs: once, before and after each call, and only with a listener."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import trio

from cdpengine._page.announcing import ActionCall, announce_block, announce_node
from cdpengine._page.running_actions import announced


class Listener:
    """Records its calls."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    async def before(self, call: ActionCall) -> None:
        self.heard.append(("before", call.verb, dict(call.arguments)))

    async def on_node(self, call: ActionCall, argument: str, node: Any, seconds: float) -> None:
        self.heard.append(("node", call.verb, argument, node, seconds))

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        self.heard.append(("after", call.verb, error))

    def cancelled(self, call: ActionCall) -> None:
        self.heard.append(("cancelled", call.verb))


class Device:
    """An object with verbs, like a page."""

    def __init__(self, *listeners: Listener) -> None:
        self.internals = SimpleNamespace(
            target=SimpleNamespace(running=SimpleNamespace(listeners=list(listeners), owner=None))
        )

    @announced("press")
    async def press(self, key: str, *, hold: float = 0) -> str:
        node: Any = "a node"
        await announce_node("target", node, 2.0)
        await trio.sleep(hold)
        if key == "bad":
            raise ValueError(key)
        return key.upper()

    @announced("press twice")
    async def press_twice(self, key: str) -> str:
        return await self.press(key) + await self.press(key)


async def test_a_verb_is_announced_with_its_arguments_and_its_node() -> None:
    listener = Listener()
    assert await Device(listener).press("a") == "A"
    assert listener.heard == [
        ("before", "press", {"key": "a", "hold": 0}), ("node", "press", "target", "a node", 2.0), ("after", "press", None),
    ]  # fmt: skip


async def test_only_the_outermost_verb_is_announced() -> None:
    listener = Listener()
    assert await Device(listener).press_twice("a") == "AA"
    assert [each[:2] for each in listener.heard if each[0] != "node"] == [
        ("before", "press twice"), ("after", "press twice"),
    ]  # fmt: skip


async def test_an_error_propagates_unchanged_and_is_announced() -> None:
    listener = Listener()
    with pytest.raises(ValueError, match="bad") as raised:
        await Device(listener).press("bad")
    assert listener.heard[-1] == ("after", "press", raised.value)


async def test_a_cancelled_verb_is_announced_as_cancelled() -> None:
    listener = Listener()
    with trio.move_on_after(0):
        await Device(listener).press("a", hold=9)
    assert [each[0] for each in listener.heard] == ["before", "node", "cancelled"]
    await Device(listener).press("a")
    assert [each[0] for each in listener.heard[3:]] == ["before", "node", "after"]


async def test_without_a_listener_nothing_is_announced() -> None:
    assert await Device().press("a") == "A"
    await announce_block("block", [])


async def test_verbs_of_two_tasks_are_distinguished() -> None:
    listener = Listener()
    device = Device(listener)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(device.press, "a")
        nursery.start_soon(device.press, "b")
    assert sorted(each[2]["key"] for each in listener.heard if each[0] == "before") == ["a", "b"]
    assert [each[0] for each in listener.heard].count("after") == 2


def test_a_call_shows_none_of_its_arguments() -> None:
    assert "hunter2" not in repr(ActionCall("type", {"text": "hunter2"}))
