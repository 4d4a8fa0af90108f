"""FrameChanges: reports the frames of a page that appear, navigate, load and disappear.

Rule: the reports follow the frame tree. All attached frames minus all detached ones are the frames of the page,
also when a frame moves to another process or a document returns from the back/forward cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import attrs

from cdpengine._page.frames import RESTORED, Frame, FrameEvent, FrameTree
from cdpengine._protocol.domains import page as protocol
from cdpengine._protocol.session import Session


@attrs.frozen
class FrameAttached:
    """A frame joined the page. It has no document yet, or the initial empty one."""

    frame_id: str
    parent_id: str | None


@attrs.frozen
class FrameNavigated:
    """A frame shows another document, or its URL changed within its document (`within_document`).

    `parent_id` is None for the main frame. `loader_id` identifies the document. `restored`: the document comes
    from the back/forward cache, and no load states follow. `unreachable_url` is the requested URL if the document
    is an error page of Chrome.
    """

    frame_id: str
    parent_id: str | None
    url: str
    name: str
    loader_id: str
    within_document: bool = False
    restored: bool = False
    unreachable_url: str = ""


@attrs.frozen
class FrameDetached:
    """A frame left the page. Frames inside it are reported before it."""

    frame_id: str
    parent_id: str | None


@attrs.frozen
class LoadStateReached:
    """A document of a frame reached the state "domcontentloaded" or "load"."""

    frame_id: str
    parent_id: str | None
    url: str
    loader_id: str
    state: Literal["domcontentloaded", "load"]


FrameReport = FrameAttached | FrameNavigated | FrameDetached | LoadStateReached

_STATES: Mapping[str, Literal["domcontentloaded", "load"]] = {
    "DOMContentLoaded": "domcontentloaded",
    "load": "load",
}

_EMPTY = ("", ":", "about:blank")
"""URLs of the initial empty document, which replaces no other."""


class FrameChanges:
    """The listeners for the changes of one page's frames. Without listeners, nothing is compared."""

    def __init__(self, frames: FrameTree) -> None:
        self._frames = frames
        self._listeners: list[Callable[[FrameReport], None]] = []

    @contextmanager
    def listening(self, listener: Callable[[FrameReport], None]) -> Iterator[None]:
        """Call `listener` with each report during the block. The reader calls it, so it must not wait."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def apply(self, event: FrameEvent, session: Session) -> None:
        """Apply one event to the frames, and report its effects."""
        if not self._listeners:
            self._frames.apply(event, session)
            return
        before = list(self._frames)
        self._frames.apply(event, session)
        self._report_members(before)
        match event:
            case protocol.FrameNavigated():
                frame = self._frames.get(event.frame.id)
                if frame is not None:
                    self._report(_navigated(frame, restored=event.type == RESTORED))
            case protocol.NavigatedWithinDocument():
                frame = self._frames.get(event.frame_id)
                if frame is not None:
                    self._report(_navigated(frame, within_document=True))
            case protocol.LifecycleEvent():
                frame = self._frames.get(event.frame_id)
                state = _STATES.get(event.name)
                if frame is not None and state is not None:
                    self._report(
                        LoadStateReached(frame.id, frame.parent_id, frame.url, event.loader_id, state)
                    )

    @contextmanager
    def comparing(self) -> Iterator[None]:
        """Report the difference between the frames before and after the block."""
        if not self._listeners:
            yield
            return
        before = {frame: frame.loader_id for frame in self._frames}
        yield
        self._report_members(before)
        for frame in self._frames:
            replaced = before.get(frame, "")
            if frame.loader_id != replaced and (replaced or frame.url not in _EMPTY):
                self._report(_navigated(frame))

    def _report_members(self, before: Mapping[Frame, str] | list[Frame]) -> None:
        present = list(self._frames)
        if len(present) == len(before) and all(frame in before for frame in present):
            return
        left = [frame for frame in before if frame not in present]
        for frame in reversed(left):
            self._report(FrameDetached(frame.id, frame.parent_id))
        for frame in present:
            if frame not in before:
                self._report(FrameAttached(frame.id, frame.parent_id))

    def _report(self, report: FrameReport) -> None:
        for listener in tuple(self._listeners):
            listener(report)


def _navigated(frame: Frame, *, within_document: bool = False, restored: bool = False) -> FrameNavigated:
    return FrameNavigated(
        frame.id,
        frame.parent_id,
        frame.url,
        frame.name,
        frame.loader_id,
        within_document=within_document,
        restored=restored,
        unreachable_url=frame.unreachable_url,
    )
