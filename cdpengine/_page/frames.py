"""FrameTree: the frames of one page, updated by Chrome's events (pure), and the renderer of a document.

Rule: one tree contains the frames of all sessions of the page (an iframe in another process has its own session).
Every change comes from an event or from a `Page.getFrameTree` reply. Unknown frames and unexpected orders are
normal, never an error. Backend node ids are unique only within a renderer process. Chrome does not report
processes to clients, but each renderer has one V8 isolate for its pages. Two documents with the same
`Runtime.getIsolateId` share a process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

import attrs

from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import (
    FrameAttached,
    FrameDetached,
    FrameInfo,
    FrameNavigated,
    FrameTreeNode,
    LifecycleEvent,
    NavigatedWithinDocument,
)
from cdpengine._protocol.domains.runtime import IsolateIdReply
from cdpengine._protocol.domains.target import TargetInfo
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import FRAME

LoadState = Literal["commit", "domcontentloaded", "load", "networkidle"]

LOAD_STATES: dict[LoadState, str] = {
    "commit": "commit",
    "domcontentloaded": "DOMContentLoaded",
    "load": "load",
    "networkidle": "networkIdle",
}
"""Load states and their names in Chrome's Page.lifecycleEvent."""

_DOCUMENTS_REMEMBERED = 4
"""Number of loaders per frame whose lifecycle is kept, because a navigation may replace an awaited one."""

_DOCUMENTS_LEFT = 50
"""Number of left documents whose frames are kept: more than Chrome's back/forward cache holds."""

RESTORED = "BackForwardCacheRestore"
"""Navigation type of a document from the back/forward cache."""

FrameEvent = FrameAttached | FrameNavigated | NavigatedWithinDocument | FrameDetached | LifecycleEvent

FRAME_EVENTS: dict[str, type[FrameEvent]] = {
    "Page.frameAttached": FrameAttached,
    "Page.frameNavigated": FrameNavigated,
    "Page.navigatedWithinDocument": NavigatedWithinDocument,
    "Page.frameDetached": FrameDetached,
    "Page.lifecycleEvent": LifecycleEvent,
}


@not_picklable("its `url` and `name`")
@attrs.define(eq=False)
class Frame:
    """One frame. `loader_id` identifies its current document, `session` reports it and runs in its process.

    `attached` is False once the frame has left the page. `moves_within` counts navigations within a document
    (fragments, history.pushState). `restored` is the loader of the latest document from the back/forward cache.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(FRAME)

    id: str
    session: Session = attrs.field(repr=False)
    parent_id: str | None = None
    loader_id: str = ""
    url: str = ""
    name: str = ""
    unreachable_url: str = ""
    restored: str = ""
    moves_within: int = 0
    attached: bool = True
    lifecycle: dict[str, set[str]] = attrs.field(factory=dict, repr=False)

    @property
    def session_id(self) -> str | None:
        """The id of the session that reports the frame."""
        return self.session.id

    def reached(self, loader_id: str, state: LoadState) -> bool:
        """Return whether the loader's document has reached `state`."""
        events = self.lifecycle.get(loader_id, set())
        if state == "commit":
            return self.loader_id == loader_id or bool(events - {"init"})
        return LOAD_STATES[state] in events


def _note_lifecycle(frame: Frame, loader_id: str, name: str) -> None:
    """Record one lifecycle event of a frame."""
    if loader_id not in frame.lifecycle:
        frame.lifecycle[loader_id] = set()
        while len(frame.lifecycle) > _DOCUMENTS_REMEMBERED:
            del frame.lifecycle[next(iter(frame.lifecycle))]
    frame.lifecycle[loader_id].add(name)


class FrameTree:
    """All frames of one page, in order of appearance.

    The main frame's id is initially the target's id. It differs in a document that Chrome prerendered.

    `session` is the page's session, which reports the main frame. `complete` is False if a restored document's
    frames are unknown; Chrome must be asked for them.
    """

    complete = True

    def __init__(self, main_id: str, session: Session) -> None:
        self.main = Frame(main_id, session)
        self._session = session
        self._frames: dict[str, Frame] = {main_id: self.main}
        self._left: dict[str, list[Frame]] = {}
        self._earlier_states: dict[str, tuple[Session, str, str]] = {}
        """By frame id: the session, loader and URL of a frame that another session reports now.

        Chrome attaches the target of a frame that moves to another process before it commits a document there. If
        that navigation is abandoned, Chrome ends the target without any event of the frame, and the frame
        continues in its old process.
        """
        self._swapped: set[str] = set()
        """Ids of frames that left their session before another session reported them."""

    def __iter__(self) -> Iterator[Frame]:
        return iter(tuple(self._frames.values()))

    def __len__(self) -> int:
        return len(self._frames)

    def get(self, frame_id: str) -> Frame | None:
        """Return the frame with that id, or None."""
        return self._frames.get(frame_id)

    def children(self, frame_id: str) -> list[Frame]:
        """Return the child frames of a frame."""
        return [frame for frame in self._frames.values() if frame.parent_id == frame_id]

    def apply(self, event: FrameEvent, session: Session) -> None:
        """Apply one event from `session`."""
        match event:
            case FrameAttached():
                frame = self._obtain(event.frame_id, session)
                self._place(frame, event.parent_frame_id)
            case FrameNavigated():
                self._apply_navigation(event, session)
            case NavigatedWithinDocument():
                frame = self._obtain(event.frame_id, session)
                frame.url = event.url
                frame.moves_within += 1
            case FrameDetached():
                self._apply_detachment(event, session)
            case LifecycleEvent():
                if (known := self.get(event.frame_id)) is not None:
                    _note_lifecycle(known, event.loader_id, event.name)
                    # A new frame has an empty document at first, which only this event identifies.
                    known.loader_id = known.loader_id or event.loader_id

    def apply_tree(self, node: FrameTreeNode, session: Session) -> None:
        """Apply a session's reply to `Page.getFrameTree`."""
        if session is self._session and node.frame.id != self.main.id:
            self._adopt(node.frame.id)
            if self.main.loader_id != node.frame.loader_id:  # Chrome reports no navigation to it
                self._leave(self.main.loader_id, session)
                self._note_loaded(self.main, node.frame.loader_id)
        waiting = [node]
        while waiting:
            subtree = waiting.pop()
            self._describe(self._obtain(subtree.frame.id, session), subtree.frame)
            waiting.extend(reversed(subtree.child_frames))

    def add_crashed(self, session: Session, info: TargetInfo) -> None:
        """Add a frame whose renderer has crashed, because its session reports no frames."""
        frame = self._obtain(info.target_id, session)
        self._place(frame, info.parent_frame_id)

    def end_session(self, session: Session) -> None:
        """Remove the frames that only the ended session reported. The main frame stays."""
        for frame in self:
            if frame.session is session and frame is not self.main:
                earlier = self._earlier_states.pop(frame.id, None)
                if earlier is None or earlier[0].ended or earlier[0] is session:
                    self._forget(frame)
                else:
                    frame.session, frame.loader_id, frame.url = earlier

    def _apply_navigation(self, event: FrameNavigated, session: Session) -> None:
        if session is self._session and event.frame.parent_id is None and event.frame.id not in self._frames:
            self._adopt(event.frame.id)
        frame = self._obtain(event.frame.id, session)
        if frame is self.main:
            self._leave(frame.loader_id, session)
        if (
            event.type != RESTORED
        ):  # otherwise frames of other sessions belong to the restored document: see `_leave`
            for child in self.children(frame.id):
                self._remove(child)
        self._describe(frame, event.frame)
        _note_lifecycle(frame, frame.loader_id, "commit")
        if event.type == RESTORED:
            frame.restored = frame.loader_id
            # The document is restored loaded, and Chrome does not report its lifecycle again.
            self._note_loaded(frame, frame.loader_id)
            self._put_back(frame.loader_id)

    def _adopt(self, main_id: str) -> None:
        """Give the main frame another id."""
        if main_id != self.main.id:
            for known in (self.main.id, main_id):
                self._frames.pop(known, None)
            self.main.id = self._session.frame_id = main_id
            self._frames = {main_id: self.main, **self._frames}

    @staticmethod
    def _note_loaded(frame: Frame, loader_id: str) -> None:
        for name in LOAD_STATES.values():
            _note_lifecycle(frame, loader_id, name)

    def _leave(self, loader_id: str, session: Session) -> None:
        """Remove the frames reported by the page's session, and remember them in case their document is restored.

        Chrome does not report them again on a restoration. It ends the sessions of other frames before it reports
        that the document was left, and attaches new ones before it reports the return.
        """
        left = [each for each in self if each.session is session and each is not self.main]
        for each in left:
            self._forget(each)
        self._left.pop(loader_id, None)
        self._left[loader_id] = left
        while len(self._left) > _DOCUMENTS_LEFT:
            del self._left[next(iter(self._left))]

    def _put_back(self, loader_id: str) -> None:
        restored = self._left.pop(loader_id, None)
        self.complete = restored is not None
        for each in restored or ():
            each.attached = True
            self._frames[each.id] = each

    def _apply_detachment(self, event: FrameDetached, session: Session) -> None:
        frame = self.get(event.frame_id)
        if frame is None or frame is self.main:
            return
        is_earlier_session = self._earlier_states.get(frame.id, (None,))[0] is session
        if event.reason == "swap":
            if is_earlier_session:
                del self._earlier_states[frame.id]
            elif frame.session is session:
                self._swapped.add(frame.id)
            # The frame continues in another process, and its new session will report it. Its children are gone.
            for child in self.children(frame.id):
                if child.session is session:  # the new process may have reported its own already
                    self._remove(child)
        elif frame.session is session or is_earlier_session:
            self._remove(frame)

    def _obtain(self, frame_id: str, session: Session) -> Frame:
        frame = self._frames.get(frame_id)
        if frame is None:
            frame = self._frames[frame_id] = Frame(frame_id, session)
        elif frame_id in self._swapped:
            self._swapped.discard(frame_id)
        elif frame.session is not session:
            self._earlier_states[frame_id] = frame.session, frame.loader_id, frame.url
        frame.session = session
        return frame

    def _remove(self, frame: Frame) -> None:
        waiting = [frame]
        while waiting:
            gone = waiting.pop()
            self._forget(gone)
            waiting.extend(self.children(gone.id))

    def _forget(self, frame: Frame) -> None:
        frame.attached = False
        self._frames.pop(frame.id, None)
        self._earlier_states.pop(frame.id, None)
        self._swapped.discard(frame.id)

    def _describe(self, frame: Frame, info: FrameInfo) -> None:
        frame.loader_id = info.loader_id
        frame.url = info.url + info.url_fragment
        frame.name = info.name
        frame.unreachable_url = info.unreachable_url
        self._place(frame, info.parent_id)

    def _place(self, frame: Frame, parent_id: str | None) -> None:
        if parent_id is not None and parent_id != frame.id and frame is not self.main:
            frame.parent_id = parent_id


_known: WeakKeyDictionary[Session, dict[str, str]] = WeakKeyDictionary()
"""Renderers by loader id. A document never changes its process."""

_RENDERERS_REMEMBERED = 100


async def renderer_id(session: Session) -> str | None:
    """Return the id of the renderer that `session` currently reaches, or None if the browser does not report it.

    Raises the errors of `Session.call`.
    """
    try:
        return (await session.request("Runtime.getIsolateId", {}, IsolateIdReply)).id
    except RemoteError:
        return None


async def renderer_of(session: Session, frame: Frame) -> str | None:
    """Return the renderer id of the frame's current document. It is requested once for each document.

    If the document is replaced meanwhile, the id may belong to the next one. Raises the errors of `Session.call`.
    """
    with ask_renderer(session, frame) as query:
        return await query.result()


class AskedRenderer:
    """A pending request for the renderer id of a frame's current document. See `renderer_of`."""

    def __init__(self, session: Session, frame: Frame, call: PendingCall | None) -> None:
        self._session = session
        self._frame = frame
        self._loader_id = frame.loader_id
        self._call = call

    async def result(self) -> str | None:
        """Return the id, or None if the browser does not report it. Raises the errors of `Session.call`."""
        session, frame, loader_id = self._session, self._frame, self._loader_id
        known = _known.setdefault(session, {})
        if self._call is None:
            return known.get(loader_id)
        try:
            renderer = (await self._call.decoded(IsolateIdReply)).id
        except RemoteError:
            return None
        # Chrome reports a new document before that document's process answers.
        if renderer is not None and frame.loader_id == loader_id and frame.session is session:
            known[loader_id] = renderer
            while len(known) > _RENDERERS_REMEMBERED:
                del known[next(iter(known))]
        return renderer


@contextmanager
def ask_renderer(session: Session, frame: Frame) -> Iterator[AskedRenderer]:
    """Request the id if unknown, and yield its pending result, to be awaited within the block."""
    known = frame.loader_id in _known.get(session, {})
    call = None if known else session.post("Runtime.getIsolateId")
    try:
        yield AskedRenderer(session, frame, call)
    finally:
        if call is not None:
            call.abandon()
