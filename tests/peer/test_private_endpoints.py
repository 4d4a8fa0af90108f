"""Endpoints that give each connection a separate browser, or that refuse a second connection."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import pytest
import trio
from scripted_browser import Door, ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._api.attach import open_engine
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Connection
from cdpengine.testing import Request
from cdpengine.testing.peer import Answer


@pytest.fixture
async def other(guard: None) -> AsyncIterator[ScriptedBrowser]:
    """The browser of every further connection."""
    async with ScriptedBrowser() as peer:
        yield peer


class OneOnly:
    """A server over websockets that accepts the first client and refuses all others."""

    def __init__(self, handshake: int | Literal["close"]) -> None:
        self.peer = ScriptedBrowser("websocket")
        self.handshake = handshake
        self.peer.on("Browser.getVersion", self.shut)

    def shut(self, _request: Request) -> Answer:
        self.peer.handshake = self.handshake
        return {"product": "Scripted/1", "userAgent": "Scripted"}


@asynccontextmanager
async def engine(
    main: ScriptedBrowser, opened: list[ScriptedBrowser], *, optional: bool = True
) -> AsyncIterator[cdpengine.Browser]:
    """The engine on `main`.

    Its further connections reach the browsers of the list in order; the last one repeats.
    """
    instruments = Instruments()

    @asynccontextmanager
    async def open_further() -> AsyncIterator[Connection]:
        async with opened[0].connect(instruments=instruments) as connection:
            if len(opened) > 1:
                del opened[0]
            yield connection

    async with (
        main.connect(instruments=instruments) as connection,
        open_engine(connection, open_further, instruments, "scripted", launched=not optional) as browser,
    ):
        yield browser


def attached_by_hand(scripted: ScriptedBrowser) -> list[str]:
    return [r.params["targetId"] for r in scripted.received if r.method == "Target.attachToTarget"]


async def test_evaluation_stays_on_the_first_connection_when_the_second_reaches_another_browser(
    scripted: ScriptedBrowser,
    other: ScriptedBrowser,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="cdpengine")
    started = trio.current_time()
    async with engine(scripted, [other]) as browser:
        pages = [await browser.new_page() for _ in range(3)]
        for page in pages:
            assert await page.evaluate("1") == 1
            assert page.internals.target.evaluation_session_rebuilds == {}
        assert trio.current_time() == started, "nothing was waited for"
        assert attached_by_hand(scripted) == ["T1", "T2", "T3"]
        assert attached_by_hand(other) == ["T1"], "one refusal is enough"
        assert "each connection" in caplog.text
        await quiet()
        assert not other.links[0].open, "the connection to the other browser is closed: it may cost something"
        assert scripted.links[0].open
    assert scripted.count("Target.closeTarget") == 0


async def test_pages_that_open_concurrently_all_move(
    scripted: ScriptedBrowser, other: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async with engine(scripted, [other]) as browser:
        held = other.hold("Target.attachToTarget")
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(browser.new_page)
            refusals = await held.wait(3)
            for request in refusals:
                request.answer(other.attach(request))
        for page in browser.pages:
            assert await page.evaluate("1") == 1
        assert sorted(attached_by_hand(scripted)) == ["T1", "T2", "T3"]


async def test_a_replaced_connection_can_reach_another_browser(
    scripted: ScriptedBrowser, other: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async with engine(scripted, [scripted, other]) as browser:
        page = await browser.new_page()
        assert await page.evaluate("1") == 1
        assert len(scripted.links) == 2
        scripted.links[1].drop()
        await quiet()
        assert await page.evaluate("1") == 1
        assert attached_by_hand(scripted) == ["T1", "T1"]
        assert attached_by_hand(other) == ["T1"]
        assert page.internals.target.evaluation_session_rebuilds == {"connection lost": 1}


async def test_a_target_that_closed_on_both_connections_moves_nothing(
    scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """A tab that closes while its evaluation session is created is refused with the same words."""

    def close_first(request: Request) -> Answer:
        scripted.vanish("T1")
        return scripted.attach(request)

    async with engine(scripted, [scripted]) as browser:
        scripted.on("Target.attachToTarget", close_first, nth=1)
        with pytest.raises(cdpengine.errors.SessionGoneError):
            await (await browser.new_page()).evaluate("1")
        page = await browser.new_page()
        assert await page.evaluate("1") == 1
        assert browser.internals.tabs.evaluation_sessions.connection is not browser.internals.tabs.connection


# --- no second connection ----------------------------------------------------------------------------------


@pytest.mark.parametrize("handshake", [429, 503, 401, "close"])
async def test_an_endpoint_that_refuses_a_second_connection_is_used_over_the_first(
    handshake: int | Literal["close"], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="cdpengine")
    one = OneOnly(handshake)
    async with one.peer, cdpengine.connect(one.peer.endpoint) as browser:
        page = await browser.new_page()
        assert await page.evaluate("1") == 1
        assert attached_by_hand(one.peer) == ["T1"]
        assert len(one.peer.links) == 1
    assert "evaluation is on the first connection" in caplog.text


@pytest.mark.parametrize(("timeout", "patience"), [(30, 5), (4, 2)])
async def test_a_second_connection_that_is_never_answered_is_abandoned(
    scripted: ScriptedBrowser, timeout: float, patience: float, autojump_clock: MockClock
) -> None:
    """A service with no further browser queues the second client while the first one stays."""

    door = Door(scripted)
    door.silent = True
    async with scripted.connect() as main:
        began = trio.current_time()
        with trio.move_on_after(timeout) as starting:
            async with open_engine(main, door.open, Instruments(), "scripted", launched=False) as browser:
                assert trio.current_time() - began == patience
                starting.deadline = math.inf
                assert await (await browser.new_page()).evaluate("1") == 1
        assert not starting.cancelled_caught


async def test_a_launched_browser_must_accept_a_second_connection(
    scripted: ScriptedBrowser,
) -> None:
    door = Door(scripted)
    door.refuses = True
    async with scripted.connect() as main:
        with pytest.raises(cdpengine.errors.ConnectFailedError, match="the test refuses it"):
            async with open_engine(main, door.open, Instruments(), "scripted"):
                pytest.fail("no engine")


@pytest.mark.parametrize("path", ["/", "", "/chromium", "/devtools/browser/", "/session/1"])
async def test_an_address_without_a_browser_id_gets_no_second_connection(path: str) -> None:
    async with ScriptedBrowser("websocket") as peer:
        address = peer.endpoint.partition("/devtools/")[0]
        async with cdpengine.connect(address + path + "?token=1") as browser:
            assert await (await browser.new_page()).evaluate("1") == 1
            assert len(peer.links) == 1
