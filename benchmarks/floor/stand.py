"""A test stand: the engine and all floors, each with sessions on a number of pages at the same address.

Rule: the floors on a socket use the same pages as the engine over a websocket. The floors and the engine on a pipe
have a browser each, because a browser has one pipe. All browsers have the same flags. During a blocking floor's
turn, nothing else of this program runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import attrs
import trio

import cdpengine
from benchmarks.floor.blocking import Caller
from benchmarks.floor.pipe import browser_on_pipe
from benchmarks.floor.plain_socket import plain_socket
from benchmarks.floor.websocket import Alone, BareLoop, alone, bare
from benchmarks.harness.bench import Bench
from cdpengine._launch.endpoint import resolve_endpoint

REST = 1.0
"""Time for browsers to settle after pages were opened, in seconds."""

MANY = 20
"""Number of pages from which settling takes longer."""


@attrs.define(eq=False)
class Stand:
    """The participants, and their pages or sessions. `grow` adds more."""

    site: str
    browser: cdpengine.Browser
    browser_on_websocket: cdpengine.Browser
    websocket: BareLoop
    alone: Alone
    socket: Caller
    pipe: Caller
    pages: list[cdpengine.Page] = attrs.field(factory=list)
    pages_on_websocket: list[cdpengine.Page] = attrs.field(factory=list)
    on_websocket: list[str] = attrs.field(factory=list)
    on_alone: list[str] = attrs.field(factory=list)
    on_socket: list[str] = attrs.field(factory=list)
    on_pipe: list[str] = attrs.field(factory=list)

    async def grow(self, path: str, count: int) -> None:
        """Open `count` pages at that path of the site on every side, and wait until the browsers have settled."""
        url, more = self.site + path, count - len(self.pages)
        self.pages += await opened(self.browser, url, more)
        self.pages_on_websocket += await opened(self.browser_on_websocket, url, more)
        for page in self.pages_on_websocket[-more:] if more > 0 else []:
            self.on_websocket.append(await self.websocket.attach(page.target_id))
            self.on_alone.append(await self.alone.attach(page.target_id))
            self.on_socket.append(self.socket.attach(page.target_id))
            self.on_pipe.append(self._opened_on_pipe(url))
        await trio.sleep(REST if more < MANY else 3 * REST)

    def _opened_on_pipe(self, url: str) -> str:
        target_id = self.pipe.call("Target.createTarget", {"url": url})["targetId"]
        session = self.pipe.attach(target_id)
        loaded = f"document.readyState == 'complete' && location.href == {url!r}"
        while not self.pipe.holds(session, loaded):
            pass
        return session


async def opened(browser: cdpengine.Browser, url: str, count: int) -> list[cdpengine.Page]:
    """Open a number of pages, several concurrently."""
    pages: list[cdpengine.Page] = []
    limiter = trio.CapacityLimiter(4)

    async def one() -> None:
        async with limiter:
            pages.append(await browser.new_page(url))

    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(one)
    return pages


async def browser_url(browser: cdpengine.Browser) -> str:
    """Return the websocket URL of the engine's browser, for other clients."""
    address = browser.connections[0].name.partition("://")[2]
    return (await resolve_endpoint(f"http://{address}")).ws_url


@asynccontextmanager
async def open_stand(bench: Bench) -> AsyncIterator[Stand]:
    """Start the browsers and connect all sides."""
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch(transport="pipe"))
        on_websocket = await stack.enter_async_context(bench.launch(transport="websocket"))
        url = await browser_url(on_websocket)
        yield Stand(
            bench.site,
            browser,
            on_websocket,
            await stack.enter_async_context(bare(url)),
            await stack.enter_async_context(alone(url)),
            Caller(stack.enter_context(plain_socket(url))),
            Caller(stack.enter_context(browser_on_pipe(bench.executable, bench.flags))),
        )
