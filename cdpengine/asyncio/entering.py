"""launch, connect and expect for asyncio."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from functools import wraps
from types import TracebackType
from typing import Any

import cdpengine
from cdpengine._checks import wrong_type
from cdpengine.asyncio.facades import AsyncioBlock, Facade, to_asyncio
from cdpengine.asyncio.guest_run import GuestRun, join_run
from cdpengine.errors import WrongRunError
from cdpengine.errors.misuse import refuse_await


class BrowserBlock:
    """A browser for an `async with` block of asyncio. Runs trio beside the loop during the block."""

    def __init__(self, manager: AbstractAsyncContextManager[Any], written: str) -> None:
        self._manager = manager
        self._written = written
        self._run: GuestRun | None = None
        self._block: AsyncioBlock | None = None

    async def __aenter__(self) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise WrongRunError("enter the block without a running asyncio loop", outside=True) from None
        self._run = await join_run()
        try:
            self._block = AsyncioBlock(self._manager, self._run)
            return await self._block.__aenter__()
        except BaseException:
            await self._run.leave()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        assert self._run is not None
        assert self._block is not None
        try:
            return await self._block.__aexit__(kind, error, traceback)
        finally:
            await self._run.leave()

    def __await__(self) -> Any:
        refuse_await(f"async with cdpengine.asyncio.{self._written}:")(self)


@wraps(cdpengine.launch)
def launch(*args: Any, **kwargs: Any) -> BrowserBlock:
    """Start a browser for a block of asyncio. Works like `cdpengine.launch`."""
    return BrowserBlock(cdpengine.launch(*args, **kwargs), "launch() as browser")


@wraps(cdpengine.connect)
def connect(*args: Any, **kwargs: Any) -> BrowserBlock:
    """Connect to a running browser for a block of asyncio. Works like `cdpengine.connect`."""
    return BrowserBlock(cdpengine.connect(*args, **kwargs), "connect(endpoint) as browser")


def expect(subject: Facade, *, timeout: float = 5) -> Any:
    """Return the assertions about a page, or about the elements of a locator. Works like `cdpengine.expect`."""
    if not isinstance(subject, Facade):
        raise wrong_type("subject", subject, "a page or a locator of cdpengine.asyncio")
    return to_asyncio(cdpengine.expect(subject.of, timeout=timeout), subject.guest_run)
