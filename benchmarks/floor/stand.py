"""A test stand: the engine and the floors, each with sessions on a number of pages at the same address.

Rule: the floor on a websocket uses the same pages as the engine over a websocket. The floor and the engine on a pipe
have a browser each, because a browser has one pipe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import attrs
import trio

import cdpengine
from benchmarks.floor.pipe import Pipe, browser_on_pipe
from benchmarks.floor.websocket import BareLoop, bare_loop
from benchmarks.harness.bench import Bench
from cdpengine._launch.endpoint import resolve_endpoint

Call = Callable[[], Awaitable[dict[str, Any]]]

REST = 1.0  # time for browsers to settle after pages were opened, in seconds


@attrs.define(eq=False)
class Stand:
    """The participants, and their pages or sessions. `grow` adds more."""

    site: str
    browser: cdpengine.Browser
    browser_on_websocket: cdpengine.Browser
    websocket: BareLoop
    pipe: Pipe
    pages: list[cdpengine.Page] = attrs.field(factory=list)
    pages_on_websocket: list[cdpengine.Page] = attrs.field(factory=list)
    on_websocket: list[str] = attrs.field(factory=list)
    on_pipe: list[str] = attrs.field(factory=list)

    async def grow(self, path: str, count: int) -> None:
        """Open `count` pages at that path of the site on every side, and wait until the browsers have settled."""
        url = self.site + path
        for _ in range(count - len(self.pages)):
            self.pages.append(await self.browser.new_page(url))
            page = await self.browser_on_websocket.new_page(url)
            self.pages_on_websocket.append(page)
            self.on_websocket.append(await self.websocket.attach(page.target_id))
            self.on_pipe.append(self.pipe.open_loaded_page(url))
        await trio.sleep(REST)

    def calls(self, **params: object) -> dict[str, list[Call]]:
        """Return the calls of Runtime.evaluate on each page, by side, without the bare pipe."""
        method = "Runtime.evaluate"
        return {
            "engine": [partial(page.session.call, method, **params) for page in self.pages],
            "engine: websocket": [
                partial(page.session.call, method, **params) for page in self.pages_on_websocket
            ],
            "floor: websocket": [
                partial(self.websocket.call, method, params, session) for session in self.on_websocket
            ],
        }


@asynccontextmanager
async def open_stand(bench: Bench) -> AsyncIterator[Stand]:
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch(transport="pipe"))
        on_websocket = await stack.enter_async_context(bench.launch(transport="websocket"))
        loop = await stack.enter_async_context(bare_loop(await browser_url(on_websocket)))
        pipe = stack.enter_context(browser_on_pipe(bench.executable, bench.flags))
        yield Stand(bench.site, browser, on_websocket, loop, pipe)


async def browser_url(browser: cdpengine.Browser) -> str:
    address = browser.connections[0].name.partition("://")[2]
    return (await resolve_endpoint(f"http://{address}")).ws_url
