"""Capture: all frames of a page as one tree of nodes.

Rule: all frames are read concurrently, each on the session of its own process. A frame's document is placed below
the element that owns the frame. A document counts only if it was present before and after the read; if it was
replaced in between, it is read again. A frame that does not answer delays the others only for its share of the
time; its element then has a remark, and the rest is complete.

Shares of the capture's time T: a frame in another process than the outermost frame has a tenth for a sign of life,
and 45 % for the read, for a T of at most 60 s. Frames in the outermost frame's process, which answer one after the
other, have nine tenths. The outermost frame has all of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, ask_renderer
from cdpengine._page.navigation.liveness import answers
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.dom import FrameOwnerReply
from cdpengine._protocol.session import Session
from cdpengine._snapshot.node import Document, FrameRequest, Node, Source, walk
from cdpengine._snapshot.snapshot import FrameSource
from cdpengine._snapshot.sources.source_choice import SharedCaptures, read_document
from cdpengine._snapshot.sources.walk import forget_frames_but
from cdpengine.errors import EngineError, RemoteError, SessionGoneError, TargetCrashedError

logger = get_logger("cdpengine.snapshot")

NOT_RESPONDING = "frame not responding"
CRASHED = "frame crashed"
NOT_READABLE = "frame could not be read"

_SIGN_OF_LIFE = 0.1
_OTHER_PROCESS = 0.45
_SAME_PROCESS = 0.9
_LONGEST_COUNTED = 60.0

_NAVIGATION_TIMEOUT = 0.5
"""Maximum time until Chrome reports a frame's new document, after it refused a read of the old one, in seconds."""


@attrs.frozen(kw_only=True)
class Scope:
    """The content to capture: `frame` and the frames in it, or only the part of its document in `root`.

    `root` is a backend node id. `source` forces one source for all frames. `raw` keeps the accessibility trees.
    `boxes`, `clickables`, `pointer` and `fresh` set the fields of `FrameRequest`. `reader` reads each document
    instead of a source; its document also needs nodes for the elements that own frames.
    """

    frame: Frame
    root: int | None = None
    source: Source | None = None
    raw: bool = False
    boxes: bool = False
    clickables: bool = True
    pointer: bool = False
    fresh: bool = False
    reader: Callable[[FrameRequest], Awaitable[Document]] | None = None


@attrs.frozen
class Capture:
    """One tree of all frames: `document` is the outermost one, `documents` all of them, outer ones first.

    `sources` has the source of each frame's nodes by frame id, including frames without nodes.
    """

    document: Document
    documents: tuple[Document, ...]
    sources: dict[str, FrameSource]


async def capture(page: PageTarget, worlds: IsolatedWorlds, scope: Scope, seconds: float) -> Capture | None:
    """Read the frame and all frames in it within `seconds` (math.inf: no limit).

    Returns None if the frame's document was replaced, or the frame removed, during the read. Raises the errors of
    `Session.call` for that frame. Failures of frames in it become remarks on their elements.
    """
    return await _Capturing(page, worlds, scope, seconds).run()


@attrs.define(eq=False)
class _Reading:
    """The read of one frame. `owner` is the backend node id of its element, in the document of `parent`.

    `owners` are the owners of the frames in it. `time` ends the read when its share is over, or when its element
    turns out to be `hidden`. `owner_time` ends the wait for its owner, also when the read of `parent` is
    abandoned. `nodes` are its document's nodes by backend node id. `remark` and `reason` describe the failure of a
    frame that could not be read.
    """

    frame_id: str
    url: str
    parent: _Reading | None = None
    owner: int | None = None
    owner_known: trio.Event = attrs.field(factory=trio.Event)
    time: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    owner_time: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    owners: set[int] = attrs.field(factory=set)
    hidden: bool = False
    document: Document | None = None
    nodes: dict[int, Node] = attrs.field(factory=dict)
    remark: str = ""
    reason: str = ""


_NOT_USED: Any = {"owner_known": trio.Event(), "time": trio.CancelScope(), "owner_time": trio.CancelScope()}
"""The outermost frame has no owner and ends with the whole capture, so all captures share these objects."""


class _Capturing:
    """One attempt to capture all frames."""

    def __init__(self, page: PageTarget, worlds: IsolatedWorlds, scope: Scope, seconds: float) -> None:
        self._page = page
        self._worlds = worlds
        self._scope = scope
        self._seconds = seconds
        self._started = trio.current_time()
        self._session = scope.frame.session
        self._readings: dict[str, _Reading] = {}
        self._captures = SharedCaptures()
        self._running = 0
        self._all_ended = trio.Event()

    async def run(self) -> Capture | None:
        frame = self._scope.frame
        forget_frames_but(self._session, self._page.frames.get)
        outermost = self._readings[frame.id] = _Reading(frame.id, frame.url, **_NOT_USED)
        document = None
        if self._scope.root is not None or not self._page.frames.children(frame.id):
            # Most pages have no frames and are read without starting a task.
            document = await self._read_outermost(outermost)
            if document is None:
                return None
        if self._page.frames.children(frame.id):
            async with open_body_nursery() as nursery:
                if document is None:
                    self._start_children(outermost, nursery)
                    document = await self._read_outermost(outermost)
                    if document is None:
                        return None
                self._start_children(outermost, nursery)
                if self._running:
                    self._all_ended = trio.Event()
                    await self._all_ended.wait()
        if document is None:
            return None
        if error := self._session.error():
            if self._page.closed or not self._session.ended:
                raise error
            return None  # the frame moved to another process, or was removed
        if frame.loader_id != document.loader_id or self._page.frames.get(frame.id) is None:
            return None
        return self._assemble(document)

    async def _read_outermost(self, outermost: _Reading) -> Document | None:
        document = await self._read(outermost, self._seconds)
        if document is not None:
            self._take(outermost, document)
        return document

    # --- frames in frames ----------------------------------------------------------------------------------

    def _start_children(self, parent: _Reading, nursery: trio.Nursery) -> None:
        """Start to read new direct child frames.

        The queries for their owners are sent first, so Chrome answers them before it reads the parent.
        """
        for frame in self._page.frames.children(parent.frame_id):
            if frame.id not in self._readings:
                reading = self._readings[frame.id] = _Reading(frame.id, frame.url, parent)
                self._start(self._find_owner, nursery, reading, parent, self._post_owner(reading, parent))
                self._start(self._read_child, nursery, reading, nursery)

    def _post_owner(self, reading: _Reading, parent: _Reading) -> PendingCall | None:
        frame = self._page.frames.get(parent.frame_id)
        try:
            if frame is not None:
                session = frame.session
                return session.post("DOM.getFrameOwner", frameId=reading.frame_id)
        except EngineError as error:
            logger.debug("the owner of frame %s cannot be queried: %s", reading.frame_id[:8], error)
        return None

    def _start(self, function: Callable[..., Awaitable[None]], nursery: trio.Nursery, *args: object) -> None:
        self._running += 1
        nursery.start_soon(self._run_counted, partial(function, *args), name=function.__name__)

    async def _run_counted(self, function: Callable[[], Awaitable[None]]) -> None:
        try:
            await function()
        finally:
            self._running -= 1
            if not self._running:
                self._all_ended.set()

    async def _find_owner(self, reading: _Reading, parent: _Reading, call: PendingCall | None) -> None:
        try:
            reading.owner_time.deadline = self._started + self._share(_SAME_PROCESS)
            with reading.owner_time:
                if call is not None:
                    reading.owner = (await call.decoded(FrameOwnerReply)).backend_node_id
                    parent.owners.add(reading.owner)
        except EngineError as error:
            # The frame was removed, or its parent's process is gone. A frame without an owner is not shown.
            logger.debug("the owner of frame %s is unknown: %s", reading.frame_id[:8], error)
        finally:
            if call is not None:
                call.abandon()
            reading.owner_known.set()
        self._end_if_hidden(reading)

    def _end_if_hidden(self, reading: _Reading) -> None:
        """Stop reading a frame whose element is not shown."""
        parent = reading.parent
        if parent is not None and parent.document is not None and reading.owner_known.is_set():
            reading.hidden = reading.owner is None or reading.owner not in parent.nodes
            if reading.hidden:
                self._end(reading)

    def _end(self, reading: _Reading) -> None:
        """Stop reading a frame and its child frames, which no node could contain."""
        reading.time.cancel()
        for child in self._readings.values():
            if child.parent is reading:
                child.owner_time.cancel()
                self._end(child)

    async def _read_child(self, reading: _Reading, nursery: trio.Nursery) -> None:
        """Read a child frame within its share of the time, and the frames in it.

        Its errors do not leave this method.
        """
        if reading.parent is not None and reading.parent.document is not None:
            await reading.owner_known.wait()  # its parent was read, so the owner may turn out hidden
        if reading.hidden:
            return
        try:
            with reading.time:
                self._start_children(reading, nursery)
                document = await self._read_in_share(reading)
                if document is not None:
                    self._take(reading, document)
                    self._start_children(reading, nursery)
        except TargetCrashedError:
            reading.remark = CRASHED
        except EngineError as error:
            reading.remark, reading.reason = NOT_READABLE, str(error)
        if reading.time.cancelled_caught:
            reading.remark = NOT_RESPONDING
        if reading.document is None:
            self._end(reading)

    async def _read_in_share(self, reading: _Reading) -> Document | None:
        frame = self._page.frames.get(reading.frame_id)
        if frame is None:
            return None
        session = frame.session
        if session is self._session:
            share = self._share(_SAME_PROCESS)
        else:
            reading.time.deadline = self._started + self._share(_SIGN_OF_LIFE)
            await answers(session)
            share = self._share(_OTHER_PROCESS)
        reading.time.deadline = self._started + share
        return await self._read(reading, share)

    def _share(self, part: float) -> float:
        return part * (self._seconds if part == _SAME_PROCESS else min(self._seconds, _LONGEST_COUNTED))

    def _take(self, reading: _Reading, document: Document) -> None:
        reading.document = document
        children = [child for child in self._readings.values() if child.parent is reading]
        if children or self._page.frames.children(reading.frame_id):
            reading.nodes = {
                node.backend_node_id: node
                for node in walk(document.roots)
                if node.backend_node_id is not None
            }
        for child in children:
            self._end_if_hidden(child)

    # --- one document --------------------------------------------------------------------------------------

    async def _read(self, reading: _Reading, share: float) -> Document | None:
        """Read the frame's document, again if it was replaced in between; None if the frame is gone.

        For the outermost frame, also return None if its document was replaced, because this removes all frames in
        it.
        """
        root = self._scope.root if reading.parent is None else None
        while True:
            frame = self._page.frames.get(reading.frame_id)
            if frame is None:
                return None
            session, loader_id = frame.session, frame.loader_id
            reading.url = frame.url

            def replaced(
                frame: Frame = frame, session: Session = session, loader_id: str = loader_id
            ) -> bool:
                now = self._page.frames.get(frame.id)
                return now is None or now.loader_id != loader_id or now.session is not session

            request = FrameRequest(
                session=session,
                worlds=self._worlds,
                frame_id=frame.id,
                loader_id=loader_id,
                root=root,
                seconds=max(0.0, self._started + share - trio.current_time()),
                boxes=self._scope.boxes,
                clickables=self._scope.clickables,
                pointer=self._scope.pointer,
                raw=self._scope.raw,
                fresh=self._scope.fresh,
                owners=reading.owners,
            )
            try:
                with ask_renderer(session, frame) as query:
                    if self._scope.reader is not None:
                        document = await self._scope.reader(request)
                    else:
                        document = await read_document(request, self._scope.source, self._captures)
                    renderer = await query.result()
            except (RemoteError, SessionGoneError) as refusal:
                # Chrome refuses a frame that is moving to another document or process shortly before it
                # reports the move.
                over = self._page.closed or isinstance(refusal, TargetCrashedError)
                if not replaced() and (over or not await self._wait_reported(replaced)):
                    raise
            else:
                if not replaced() and document.loader_id == loader_id:
                    document.renderer_id = renderer
                    return document
                # A walk may have read a newer document than the events have reported.
                await self._wait_reported(replaced)
            if reading.parent is None:
                return None

    async def _wait_reported(self, replaced: Callable[[], bool]) -> bool:
        """Wait briefly for the report that the document was replaced. Return whether it came."""
        with trio.move_on_after(_NAVIGATION_TIMEOUT):
            await self._page.changes.wait_for(replaced)
        return replaced()

    # --- the tree ------------------------------------------------------------------------------------------

    def _assemble(self, document: Document) -> Capture:
        documents: list[Document] = []
        sources: dict[str, FrameSource] = {}
        for reading in self._readings.values():  # parents come before their children
            if not self._is_in(reading):
                continue
            taken = reading.document
            if reading.parent is not None and reading.owner is not None:
                owner = reading.parent.nodes[reading.owner]
                if reading.parent.document is not None and reading.parent.document.shared is not None:
                    reading.parent.document.shared.framed = True
                if taken is not None:
                    owner.document, owner.children, owner.remark = taken, taken.roots, taken.kind
                else:
                    owner.remark = reading.remark or NOT_READABLE
            if taken is not None:
                documents.append(taken)
                sources[reading.frame_id] = FrameSource(taken.source, taken.reason, reading.url)
            else:
                reason = reading.reason or reading.remark or NOT_READABLE
                sources[reading.frame_id] = FrameSource("none", reason, reading.url)
        return Capture(document, tuple(documents), sources)

    def _is_in(self, reading: _Reading) -> bool:
        """Return whether the frame's element is shown, in a document of the capture."""
        parent = reading.parent
        return parent is None or (
            not reading.hidden
            and parent.document is not None
            and reading.owner is not None
            and reading.owner in parent.nodes
            and self._page.frames.get(reading.frame_id) is not None
            and self._is_in(parent)
        )
