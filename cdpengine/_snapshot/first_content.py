"""ContentWait: a bounded wait for the first content of a page that is navigating.

Rule: Chrome's events of the document decide. A requested navigation is awaited. An empty document is read again
while it is loading or, once loaded, while its scripts still have pending requests. A document with content is
accepted immediately, and a document that stays empty costs nothing. If anything was still pending at the end, the
first line mentions it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import trio

from cdpengine._javascript import own
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.capture import Capture
from cdpengine._snapshot.node import Document, walk
from cdpengine.errors import RemoteError, SessionGoneError

BOUND = 1.5
"""Maximum wait for first content after the document arrived, in seconds; at most half of the snapshot's time."""

_TICK = 0.1
"""Interval at which an empty document is read again, in seconds: scripts add content without any event."""

LOADING = "the document is still loading: more of it may come"
LEAVING = "a navigation is under way: this is still the document before it"
FRAME_LOADING = "a frame of the document is still loading: more of it may come"


def has_nothing(document: Document) -> bool:
    """Return whether the document has nothing to show."""
    return all(node.kind == "structural" for node in walk(document.roots))


@attrs.define(eq=False)
class ContentWait:
    """One snapshot of a page, with `seconds` of time. `is_empty` is true for a document with nothing to show."""

    page: PageTarget
    worlds: IsolatedWorlds
    seconds: float
    is_empty: Callable[[Document], bool] = has_nothing
    _end: float = attrs.field(init=False)
    _frames: set[str] = attrs.field(init=False)
    _scripts: dict[str, bool] = attrs.field(factory=dict, init=False)
    _before: dict[str, tuple[str, int]] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._end = trio.current_time() + min(BOUND, self.seconds / 2)
        self._frames = {self.page.session.frame_id, *self.page.navigation.take_set_off()}

    async def wait_begun(self) -> None:
        """Wait until the requested navigation has arrived or failed."""
        if self._find_leaving():
            with trio.move_on_at(self._end):
                await self.page.wait_for(lambda: not self._find_leaving())

    def _find_leaving(self) -> set[str]:
        pending = self.page.navigation.pending
        return self._frames.intersection(pending) if pending else set()

    def begin_look(self) -> None:
        """Record each frame's progress. The read may lack content that Chrome reports later."""
        self._before = {frame.id: _progress(frame) for frame in self.page.frames}

    async def may_come(self, capture: Capture) -> bool:
        """Wait for a sign of more content if a captured document is empty. False: accept the capture."""
        self._frames.add(capture.document.frame_id or "")
        for document in capture.documents:
            frame = self.page.frames.get(document.frame_id or "")
            if frame is None or frame.id not in self._frames or not self.is_empty(document):
                continue
            end = min(self._end, self.page.navigation.arrived.get(frame.id, -math.inf) + BOUND)
            if trio.current_time() < end and self._before.get(frame.id) != _progress(frame):
                return True  # content arrived during the read
            if trio.current_time() < end and await self._is_coming(frame):
                await self._sign(frame, end)
                return True
        return False

    async def _is_coming(self, frame: Frame) -> bool:
        events = frame.lifecycle.get(frame.loader_id, set())
        return _is_loading(frame) or ("networkIdle" not in events and await self._has_scripts(frame))

    async def _has_scripts(self, frame: Frame) -> bool:
        loader_id, session = frame.loader_id, frame.session
        if loader_id not in self._scripts:
            try:
                context = await self.worlds.context(session, frame.id)
                count = await context.evaluate(own("DOM.scripts(document).length"), returns=int)
            except (RemoteError, SessionGoneError):
                return self.page.session.error() is None  # the document is being replaced: read again
            self._scripts[loader_id] = count > 0
        return self._scripts[loader_id]

    async def _sign(self, frame: Frame, end: float) -> None:
        loader_id, before = frame.loader_id, len(frame.lifecycle.get(frame.loader_id, ()))

        def has_changed() -> bool:
            return frame.loader_id != loader_id or len(frame.lifecycle.get(loader_id, ())) > before

        with trio.move_on_at(min(end, trio.current_time() + _TICK)):
            await self.page.wait_for(has_changed)

    def remark(self, capture: Capture) -> None:
        """Record pending navigations and loads in the outermost document."""
        leaving = self._find_leaving()
        loading = []
        for document in capture.documents:
            frame = self.page.frames.get(document.frame_id or "")
            if frame is None or frame.id not in self._frames or frame.id not in self.page.navigation.arrived:
                continue
            idle = "networkIdle" in frame.lifecycle.get(frame.loader_id, ())
            if _is_parsing(frame) or (
                self.is_empty(document) and not idle and self._scripts.get(frame.loader_id)
            ):
                loading.append(frame.id)
        outermost = capture.document.frame_id
        if outermost in leaving:
            capture.document.loading = LEAVING
        elif outermost in loading:
            capture.document.loading = LOADING
        elif leaving or loading:
            capture.document.loading = FRAME_LOADING


def _progress(frame: Frame) -> tuple[str, int]:
    return frame.loader_id, len(frame.lifecycle.get(frame.loader_id, ()))


def _is_loading(frame: Frame) -> bool:
    return "load" not in frame.lifecycle.get(frame.loader_id, ())


def _is_parsing(frame: Frame) -> bool:
    return "DOMContentLoaded" not in frame.lifecycle.get(frame.loader_id, ())
