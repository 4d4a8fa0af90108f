"""Settling: waits until a page has come to rest.

Rule: at rest means, for one and the same window of time: no navigation under way, every document loaded, no DOM
mutation in any of them, and no request under way. The documents tell of their mutations by observers of their own;
at the end all of them are asked once more, because one may have moved while another one was waited for.
"""

from __future__ import annotations

from contextlib import suppress

import attrs
import msgspec
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import Document, DocumentGone, open_document, with_looking
from cdpengine._page.navigation.requests import RequestsUnderWay
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine.errors import EngineError, SessionGoneError, TargetCrashedError, shown_url

_AGAIN = 0.02
"""Seconds until documents that were replaced under the question are asked anew."""

_SHOWN = 5
"""Requests that a message names."""

STOP = "function () { this.stop(); }"


class Stillness(msgspec.Struct):
    """How long (ms) a document has been still, how often it had changed, and what kept it busy last."""

    still: float = 0
    changes: int = 0
    busy: str = ""


@attrs.define(eq=False)
class _Still:
    """One document and its observer."""

    document: Document
    held: RemoteHandle
    frame: Frame
    last: Stillness = attrs.field(factory=Stillness)

    async def quiet(self, milliseconds: float) -> None:
        source = "function (ms) { return this.quiet(ms); }"
        self.last = await self.document.ask(self.held, source, milliseconds, kind=Stillness)

    async def stillness(self) -> Stillness:
        source = "function () { return this.stillness(); }"
        self.last = await self.document.ask(self.held, source, kind=Stillness)
        return self.last

    def stop(self) -> None:
        self.document.tell(self.held, STOP)
        self.document.release()


class Settling:
    """One wait for rest, of `quiet` seconds."""

    def __init__(
        self, page: PageTarget, worlds: IsolatedWorlds, requests: RequestsUnderWay, quiet: float
    ) -> None:
        self._page = page
        self._worlds = worlds
        self._requests = requests
        self._quiet = quiet
        self._stills: dict[tuple[str, str, str | None], _Still] = {}

    async def settle(self) -> None:
        """Return when the page is at rest. Raises what ends the page."""
        while not await self._at_rest():
            pass

    def close(self) -> None:
        """End the observers."""
        for still in self._stills.values():
            still.stop()
        self._stills.clear()

    async def _at_rest(self) -> bool:
        """Wait for each of the conditions once; tell whether they hold together."""
        page = self._page
        await page.wait_for(lambda: not page.navigation.under_way)
        try:
            await self._documents_quiet()
            await self._network_idle()
            if not self._is_idle():
                return False
            known = set(self._stills)
            for still in list(self._stills.values()):
                if (await still.stillness()).still < self._quiet * 1000 * _TOLERANCE:
                    return False
        except DocumentGone:
            await trio.sleep(_AGAIN)
            return False
        except TargetCrashedError:
            raise
        except SessionGoneError:
            if page.closed:
                raise
            await trio.sleep(_AGAIN)
            return False
        return self._is_idle() and known == {_key(frame) for frame in page.frames}

    def _is_idle(self) -> bool:
        page = self._page
        return not page.navigation.under_way and self._requests.idle_for(page.frames) >= self._quiet

    async def _network_idle(self) -> None:
        frames = self._page.frames
        while (idle := self._requests.idle_for(frames)) < self._quiet:
            if self._requests.under_way(frames):
                await self._page.wait_for(lambda: not self._requests.under_way(frames))
            else:
                await trio.sleep(self._quiet - idle + 0.001)

    async def _documents_quiet(self) -> None:
        frames = {_key(frame): frame for frame in self._page.frames}
        for key in [key for key in self._stills if key not in frames]:
            self._stills.pop(key).stop()
        left = len(frames)
        over = trio.Event()
        errors: list[Exception] = []

        async def wait(key: tuple[str, str, str | None], frame: Frame) -> None:
            nonlocal left
            try:
                if key not in self._stills:
                    self._stills[key] = await self._open(frame)
                await self._stills[key].quiet(self._quiet * 1000)
                left -= 1
            except (DocumentGone, EngineError) as error:
                if (still := self._stills.pop(key, None)) is not None:
                    still.stop()
                errors.append(error)
            if errors or not left:
                over.set()  # one that is gone ends the round: what follows it is asked anew

        async with open_body_nursery() as nursery:
            nursery.start_soon(self._until_replaced, set(frames), over)
            for key, frame in frames.items():
                nursery.start_soon(wait, key, frame)
            await over.wait()
        if errors:
            raise errors[0]
        if left:
            raise DocumentGone("a document was replaced")

    async def _until_replaced(self, known: set[tuple[str, str, str | None]], over: trio.Event) -> None:
        with suppress(SessionGoneError):
            await self._page.wait_for(lambda: {_key(frame) for frame in self._page.frames} != known)
        over.set()

    async def _open(self, frame: Frame) -> _Still:
        document = await open_document(self._page, self._worlds, frame)
        request = {"conditions": [], "changes": False, "quiet": True}
        try:
            return _Still(
                document, await document.make(with_looking("_page/navigation/waiting"), request), frame
            )
        except BaseException:
            document.release()
            raise

    def busy(self) -> list[str]:
        """Say what keeps the page from its rest, for messages."""
        page, told = self._page, []
        if page.navigation.under_way:
            told.append(f"a navigation is under way from {shown_url(page.frames.main.url)}")
        requests = self._requests.under_way(page.frames)
        urls = [shown_url(request.url) or "a request that was sent before" for request in requests[:_SHOWN]]
        told += [f"under way: {url}" for url in urls]
        if len(requests) > _SHOWN:
            told.append(f"and {len(requests) - _SHOWN} more requests")
        return told

    async def last_words(self) -> list[str]:
        """Ask the documents what kept them busy. For the end, under a short deadline of the caller's."""
        told: list[str] = []
        for still in list(self._stills.values()):
            with suppress(DocumentGone, SessionGoneError):
                last = await still.stillness()
                if last.busy and last.still < max(self._quiet, 1.0) * 1000:
                    where = shown_url(still.frame.url)
                    times = f", {last.changes} changes so far" if last.changes else ""
                    told.append(f"{where}: last change {last.busy}{times}")
        return told


_TOLERANCE = 0.9
"""A timer may come a moment early."""


def _key(frame: Frame) -> tuple[str, str, str | None]:
    return frame.id, frame.loader_id, frame.session_id
