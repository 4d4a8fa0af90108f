"""Connections to a launched browser: the pipe by default, and a port for other clients on request."""

from __future__ import annotations

import random
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from rounds import rounds

import cdpengine
from cdpengine import debug

pytestmark = pytest.mark.chrome
HANG = "for (;;);"
CALLS = rounds(600, 20_000)


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDPENGINE_TRANSPORT", raising=False)


async def test_calls_over_pipe_leave_nothing_and_port_serves_other_clients() -> None:
    """One browser for all of it: calls cancelled at random moments, a second client, and refs of both."""
    async with cdpengine.launch(debugging_port=0) as browser:
        assert browser.endpoint is not None
        assert urlsplit(browser.endpoint).hostname == "127.0.0.1"
        assert [connection.name for connection in browser.connections] == ["pipe"]
        page = await browser.new_page("data:text/html,<title>One</title><button>Go</button>")
        await cancel_calls(page, CALLS)
        async with cdpengine.connect(browser.endpoint) as other:
            assert other.key == browser.key
            there = other.page(page.target_id)
            assert there is not None
            assert await there.title() == "One"
            await there.click((await page.snapshot()).find(role="button"))
        async with debug.proxy(browser.endpoint) as proxy, cdpengine.connect(proxy.endpoint) as other:
            assert other.version == browser.version
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await page.evaluate(HANG, timeout=0.2)
        assert await page.evaluate("1 + 1") == 2


async def cancel_calls(page: cdpengine.Page, calls: int) -> None:
    """Make calls of all sizes, 40 at a time, and cancel each at a random moment. Check that nothing is left
    of them.
    """
    chance = random.Random(calls)
    connections = page.browser.connections
    before = [connection.statistics() for connection in connections]
    done = 0

    async def call() -> None:
        nonlocal done
        size = chance.choice(
            (1, 1, 1, 1_000, 70_000)
        )  # a pipe holds 65,536 bytes, so the last one is written in parts
        with trio.CancelScope() as scope:
            if chance.random() < 0.5:
                scope.deadline = trio.current_time() + chance.random() * 0.01
            else:
                nursery.start_soon(cancel_soon, scope, chance.randrange(12))
            found = await page.session.call(
                "Runtime.evaluate", expression=f"'{'x' * size}'", returnByValue=True
            )
            assert len(found["result"]["value"]) == size
            done += 1

    async def cancel_soon(scope: trio.CancelScope, checkpoints: int) -> None:
        for _ in range(checkpoints):
            await trio.lowlevel.checkpoint()
        scope.cancel()

    for _ in range(calls // 40):
        async with trio.open_nursery() as nursery:
            for _ in range(40):
                nursery.start_soon(call)
    assert done < calls, "some calls were cancelled"
    with trio.fail_after(30):
        while any(now.in_flight or now.queued for now in (each.statistics() for each in connections)):
            await page.session.call("Runtime.evaluate", expression="1")
    for connection, then in zip(connections, before, strict=True):
        now = connection.statistics()
        assert connection.lost is None
        assert (now.in_flight, now.queued) == (0, 0)
        assert now.unknown_replies == then.unknown_replies
        assert now.malformed == then.malformed
        assert now.shapeless == then.shapeless


async def test_taken_port_is_reported_and_free_port_is_used() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        with pytest.raises(cdpengine.errors.LaunchFailedError, match=f"debugging port {port} is taken"):
            async with cdpengine.launch(debugging_port=port):
                raise AssertionError("launched on a taken port")
    async with cdpengine.launch(transport="websocket", debugging_port=port) as browser:
        assert urlsplit(browser.endpoint or "").netloc == f"127.0.0.1:{port}"
        assert len(browser.connections) == 2


@pytest.mark.parametrize("port", [-1, 65_536, True, "9222", 1.5])
async def test_invalid_port_is_refused(port: Any) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="debugging_port"):
        async with cdpengine.launch(debugging_port=port):
            pass


async def test_unknown_transport_is_refused_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="transport"):
        async with cdpengine.launch(transport="tcp"):  # type: ignore[arg-type]
            pass
    monkeypatch.setenv("CDPENGINE_TRANSPORT", "tcp")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="CDPENGINE_TRANSPORT"):
        async with cdpengine.launch():
            pass


async def test_missing_port_is_reported_where_one_is_needed() -> None:
    nowhere: Any = None  # this is `browser.endpoint`
    for opened in (cdpengine.connect(nowhere), debug.proxy(nowhere)):
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match=r"debugging_port=0"):
            async with opened:
                pass


async def test_keys_arrive_after_another_client_has_left() -> None:
    """Chrome ends a page's emulated focus for all clients when one of them disconnects."""
    frame = "<iframe srcdoc='<label>inner <input></label>'></iframe>"
    values = "[document.querySelector('input').value, frames[0].document.querySelector('input').value]"
    async with cdpengine.launch(debugging_port=0) as browser:
        assert browser.endpoint is not None
        page = await browser.new_page(f"data:text/html,<label>outer <input></label>{frame}")
        async with cdpengine.connect(browser.endpoint) as other:
            there = other.page(page.target_id)
            assert there is not None
            await there.snapshot()
        await browser.new_page("about:blank")  # the page is no longer in front
        snapshot = await page.snapshot()
        await page.fill(snapshot.find(role="textbox", name="outer"), "filled")
        await page.type(snapshot.find(role="textbox", name="inner"), "typed")
        assert await page.evaluate(values) == ["filled", "typed"]
        await page.press("End")
        await page.keyboard.type("!")
        assert await page.evaluate(values) == ["filled", "typed!"]
