"""execute(): commands of the PyCDP convention, valid and invalid."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from typing import Any

import cdp.accessibility
import cdp.dom
import cdp.page
import cdp.runtime
import pytest
import trio

from cdpengine._protocol.session import Connection, Session
from cdpengine.errors import InvalidArgumentError, ProtocolError, RemoteError, SessionGoneError
from cdpengine.testing import ScriptedPeer

Command = Generator[dict[str, Any], dict[str, Any], Any]


def is_closed(command: object) -> bool:
    return inspect.isgenerator(command) and inspect.getgeneratorstate(command) == inspect.GEN_CLOSED


async def test_a_pycdp_command_returns_its_declared_type(peer: ScriptedPeer, root: Session) -> None:
    peer.on("Page.navigate", result={"frameId": "F", "loaderId": "L", "brandNew": 1})
    frame_id, loader_id, error_text, *_ = await root.execute(cdp.page.navigate("https://x/"))
    assert isinstance(frame_id, cdp.page.FrameId)
    assert (frame_id, loader_id, error_text) == ("F", "L", None)
    assert peer.received[-1].params == {"url": "https://x/"}


async def test_ids_of_pycdp_are_parameters(peer: ScriptedPeer, root: Session) -> None:
    peer.on("DOM.querySelector", result={"nodeId": 2})
    peer.on("Page.createIsolatedWorld", result={"executionContextId": 3})
    assert await root.execute(cdp.dom.query_selector(cdp.dom.NodeId(1), "title")) == 2
    assert peer.received[-1].params == {"nodeId": 1, "selector": "title"}
    await root.call("Page.createIsolatedWorld", frameId=cdp.page.FrameId("F\ud83d"))
    assert peer.received[-1].params == {"frameId": "F\ud83d"}


async def test_a_command_without_parameters_or_result(peer: ScriptedPeer, root: Session) -> None:
    result: object = await root.execute(cdp.page.enable())
    assert result is None
    assert peer.received[-1].method == "Page.enable"


async def test_a_result_that_the_decoder_rejects_carries_the_raw_json(
    peer: ScriptedPeer, root: Session
) -> None:
    node = {"nodeId": "1", "ignored": False, "properties": [{"name": "brandNew", "value": {"type": "x"}}]}
    peer.on("Accessibility.getFullAXTree", result={"nodes": [node], "secret": "hunter2"})
    with pytest.raises(ProtocolError) as caught:
        await root.execute(cdp.accessibility.get_full_ax_tree())
    assert caught.value.result() == {"nodes": [node], "secret": "hunter2"}
    assert caught.value.method == "Accessibility.getFullAXTree"
    assert caught.value.__cause__ is not None
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "error", [KeyError("x"), IndexError("x"), ValueError("x"), AssertionError("x"), ZeroDivisionError("x")]
)
async def test_whatever_the_decoder_raises(root: Session, error: Exception) -> None:
    def command() -> Command:
        yield {"method": "A.b"}
        raise error

    with pytest.raises(ProtocolError) as caught:
        await root.execute(command())
    assert caught.value.raw == b"{}"
    assert caught.value.__cause__ is error


async def test_a_refusal_is_a_remote_error_and_closes_the_generator(
    peer: ScriptedPeer, root: Session
) -> None:
    peer.on("Page.navigate", error=(-32000, "Cannot navigate to invalid URL"))
    command = cdp.page.navigate("nonsense")
    with pytest.raises(RemoteError, match="invalid URL"):
        await root.execute(command)
    assert is_closed(command)


def used() -> Command:
    command: Command = cdp.page.enable()
    next(command)
    return command


def finished() -> Command:
    command = used()
    command.close()
    return command


def yields(value: object) -> Command:
    yield value  # type: ignore[misc]


def empty() -> Command:
    yield from ()


@pytest.mark.parametrize(
    "make",
    [
        used,
        finished,
        empty,
        lambda: yields("Page.enable"),
        lambda: yields({"params": {}}),
        lambda: yields({"method": 5}),
        lambda: {"method": "Page.enable"},
        lambda: cdp.page.enable,
        lambda: iter([{"method": "Page.enable"}]),
        lambda: None,
    ],
)
async def test_anything_but_a_command_is_refused_and_nothing_is_sent(
    peer: ScriptedPeer, connection: Connection, make: Any
) -> None:
    with pytest.raises(InvalidArgumentError, match="command"):
        await connection.root.execute(make())
    assert not peer.received
    assert connection.statistics().in_flight == 0


async def test_a_command_that_continues_after_its_result(peer: ScriptedPeer, root: Session) -> None:
    def twice() -> Command:
        yield {"method": "A.b"}
        yield {"method": "A.c"}

    command = twice()
    with pytest.raises(InvalidArgumentError, match="yields once"):
        await root.execute(command)
    assert peer.count("A.c") == 0
    assert is_closed(command)


async def test_arguments_that_the_command_itself_refuses(peer: ScriptedPeer, root: Session) -> None:
    with pytest.raises(InvalidArgumentError, match="arguments of the command") as caught:
        await root.execute(cdp.page.navigate("u", transition_type="typed"))  # type: ignore[arg-type]
    assert isinstance(caught.value.__cause__, AttributeError)
    assert not peer.received


async def test_cancelled_before_it_starts_it_is_closed(peer: ScriptedPeer, root: Session) -> None:
    command = cdp.page.enable()
    with trio.CancelScope() as scope:
        scope.cancel()
        await root.execute(command)
    assert scope.cancelled_caught
    assert is_closed(command)
    assert not peer.received


async def test_on_an_ended_session(peer: ScriptedPeer, connection: Connection) -> None:
    peer.attach_target("S")
    peer.detach_target("S")
    peer.attach_target("O")
    await connection.root.call("A.b")
    attachment = await connection.targets.attachments.receive()
    command = cdp.page.enable()
    with pytest.raises(SessionGoneError, match=r"during Page\.enable"):
        await attachment.session.execute(command)
    assert is_closed(command)
