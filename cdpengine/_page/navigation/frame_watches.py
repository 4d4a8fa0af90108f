"""FrameWatches: what holds in the documents of all frames of a page, reported by observers in them.

Rule: each document has one observer, in the isolated world; its report comes when it changes, so nothing is polled
from here. A document that is replaced takes its observer along, and the next one gets its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import attrs
import msgspec
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import (
    Document,
    DocumentGone,
    held_node,
    open_document,
    script_with_search,
)
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.scripts.worlds import IsolatedWorlds, Node
from cdpengine.errors import ConnectionLostError, EngineError, InvalidArgumentError, SessionGoneError

_AGAIN = 0.05
"""Seconds until a document that refused is asked again, where no event tells that it was replaced."""

NEXT = "function (known) { return this.next(known); }"
NOW = "function () { return this.now(); }"
STOP = "function () { this.stop(); }"

Key = tuple[str, str, str | None]
"""Frame, loader, session: one document."""


class Report(msgspec.Struct):
    """What waiting.js answers: for each condition, whether it holds, and what was seen.

    Of a "pattern" condition `texts` has the visible text, and whether it holds is for its owner to say.
    """

    key: str
    holds: list[bool]
    seen: list[str]
    texts: list[str]
    invalid: str = ""


@attrs.define(eq=False)
class _Watched:
    document: Document | None = None
    held: RemoteHandle | None = None
    report: Report | None = None
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)


class FrameWatches:
    """Follows `conditions` (as waiting.js takes them) in the documents of a page, or of some frames of it.

    `run` does it; `page.changes` is notified of every report. A "node" condition holds for `node` alone, and is
    looked at in its frame only. With `changes`, a report comes for every change.
    """

    def __init__(
        self,
        page: PageTarget,
        worlds: IsolatedWorlds,
        conditions: Sequence[Mapping[str, str]],
        *,
        node: Node | None = None,
        frames: Callable[[], Sequence[Frame]] | None = None,
        changes: bool = False,
    ) -> None:
        self._page = page
        self._worlds = worlds
        self._conditions = list(conditions)
        self._node = node
        self._frames = frames or (lambda: list(page.frames))
        self._changes = changes
        self._watched: dict[Key, _Watched] = {}
        self._failure: EngineError | None = None
        self.rounds = 0
        self.node_gone = False

    def reports(self) -> list[Report] | None:
        """Return the documents' reports; None while one of them has not reported.

        Raises why a document cannot be followed: InvalidArgumentError for an invalid selector.
        """
        if self._failure is not None:
            raise copy.copy(self._failure)
        keys = {_key(frame) for frame in self._frames()}
        self.node_gone = self.node_gone or (self._node is not None and not keys)
        found = [watched.report for key in keys if (watched := self._watched.get(key)) is not None]
        reports = [report for report in found if report is not None]
        return reports if len(reports) == len(keys) else None

    async def run(self) -> None:
        """Follow the documents until cancelled, or the page ends. Raises nothing: see `reports`."""
        async with open_body_nursery() as nursery:
            while True:
                frames = {_key(frame): frame for frame in self._frames()}
                for key in [key for key in self._watched if key not in frames]:
                    self._watched.pop(key).scope.cancel()
                for key, frame in frames.items():
                    if key not in self._watched:
                        watched = self._watched[key] = _Watched()
                        nursery.start_soon(self._follow, key, frame, watched, name="watch a document")
                known = set(self._watched)
                await self._page.changes.wait_for(lambda: {_key(frame) for frame in self._frames()} != known)  # noqa: B023

    async def refresh(self) -> None:
        """Ask every document for its report of now."""
        for watched in list(self._watched.values()):
            with suppress(DocumentGone, SessionGoneError):
                if watched.document is not None and watched.held is not None:
                    watched.report = await watched.document.ask(watched.held, NOW, kind=Report)

    async def _follow(self, key: Key, frame: Frame, watched: _Watched) -> None:
        with watched.scope:
            while self._watched.get(key) is watched:
                try:
                    await self._follow_document(frame, watched)
                except DocumentGone:
                    await trio.sleep(_AGAIN)
                except (SessionGoneError, ConnectionLostError):
                    # the page ended, and its waiters get the reason; or the frame moves: that is another key
                    return
                except EngineError as error:
                    self._failure = error
                    self._page.changes.notify()
                    return

    async def _follow_document(self, frame: Frame, watched: _Watched) -> None:
        document = watched.document = await open_document(self._page, self._worlds, frame)
        try:
            request = {"conditions": self._conditions, "changes": self._changes, "quiet": False}
            arguments: list[object] = [request]
            if self._node is not None:
                held = await held_node(document, self._node)
                if held is None:
                    self.node_gone = True
                    self._page.changes.notify()
                    await trio.sleep_forever()
                arguments.append(held)
            watched.held = await document.make(script_with_search("_page/navigation/waiting"), *arguments)
            known: str | None = None
            while True:
                report = await document.ask(watched.held, NEXT, known, kind=Report)
                if report.invalid:
                    raise InvalidArgumentError(
                        what="css", given=f"what is not valid ({report.invalid})", expected="a CSS selector"
                    )
                known = report.key
                watched.report = report
                self.rounds += 1
                self._page.changes.notify()
        finally:
            if watched.held is not None:
                document.tell(watched.held, STOP)
                watched.held = None
            document.release()


def _key(frame: Frame) -> Key:
    return frame.id, frame.loader_id, frame.session_id
