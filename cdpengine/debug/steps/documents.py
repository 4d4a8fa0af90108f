"""PageDocuments: the versions of a page's documents, in all frames, read by `document.js`.

Rule: a reading is posted before the input of a step, in the session that checks the element. Chrome executes both
in this order, so nothing waits for the reading. Only a document that has no reader yet is waited for, briefly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import Context
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import (
    LIBRARY_GROUP,
    OBJECT,
    VALUE,
    Node,
    RemoteHandle,
    object_group,
    object_of,
    returned,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.sources.walk import Installed, remembered
from cdpengine.errors import EngineError

_MAKE = own(
    f"function () {{ return ({script('debug/steps/document')})(({script('_page/scripts/secret_field')})()); }}"
)
_CALL = own("function (request) { return this(request); }")
_NUMBERS = own(
    'function (holder, ids) { return this({ do: "numbers", elements: ids.map((id) => holder.element(id)) }); }'
)
_NUMBER = own('function (element) { return this({ do: "numbers", elements: [element] }); }')
_READ = {"do": "read"}

_MOST_FRAMES = 30
"""Maximum number of frames that are read, the main one first."""

SPAN = "step trace"
"""Name of the action that causes the commands of a step trace."""


@attrs.define(eq=False)
class Document:
    """A document with its reader. `version` is its latest version, -1 before the first one."""

    number: int
    frame_id: str
    loader_id: str
    session: Session
    reader: RemoteHandle
    version: int = -1
    walked: dict[int, int] = attrs.field(factory=dict)
    """Numbers of the walk by backend node id."""
    walk_read: int = 1


@attrs.frozen
class Reading:
    """The posted readings of all frames: the document, the frame above it, and the call."""

    frames: tuple[tuple[Document, str, PendingCall | None], ...]


State = list[list[Any]]
"""The documents of a page: frame id, number of the document, version, and id of the frame above it."""

Take = Callable[[Document, int, bytes, list[str]], None]
"""Called with each new version: the document, its number, its JSON, and the new URLs that it needs."""


class PageDocuments:
    """The documents of one page. `numbers` gives the numbers of documents, unique in the trace."""

    def __init__(self, page: PageTarget, numbers: Iterator[int], take: Take) -> None:
        self._page = page
        self._numbers = numbers
        self._take = take
        self._worlds = IsolatedWorlds()
        self._documents: dict[str, Document] = {}
        self._numbered: set[str] = set()
        self._preparing: set[tuple[str, str]] = set()
        self._outside = Context()  # without the running action, which is not the cause of these commands

    @property
    def complete(self) -> bool:
        """Whether all documents have a reader."""
        return all(self._known(frame) for frame in self._frames())

    async def prepare(self) -> None:
        """Make the missing readers, and forget the documents of removed frames. Raises nothing."""
        present = {frame.id for frame in self._page.frames}
        for frame_id in self._documents.keys() - present:
            del self._documents[frame_id]
        for frame in self._frames():
            key = frame.id, frame.loader_id
            if self._known(frame) is None and key not in self._preparing:
                self._preparing.add(key)
                try:
                    with suppress(EngineError):
                        await self._make_reader(frame)
                finally:
                    self._preparing.discard(key)

    def post(self) -> Reading:
        """Read all documents without waiting. Pass the result to `state_of`."""
        return Reading(
            tuple(
                (document, frame.parent_id or "", self._post(document, _CALL, _READ))
                for frame in self._frames()
                if (document := self._known(frame)) is not None
            )
        )

    async def state_of(self, reading: Reading) -> State:
        """Return the documents as they were at the reading. A document that was left has its last version."""
        state: State = []
        for document, above, call in reading.frames:
            version = document.version
            if call is not None:
                with suppress(EngineError):
                    found = _json.decode(bytes((await returned(call)).value), _Version)
                    version = found.number
                    document.version = max(document.version, version)
                    if found.data:
                        data = found.data.encode("utf-8", "surrogatepass")
                        self._take(document, version, data, found.urls)
            if version >= 0:
                state.append([document.frame_id, document.number, version, above])
        return state

    async def number_of(self, node: Node) -> tuple[int, int] | None:
        """Return the numbers of a node's document and of the node, or None."""
        document = self._documents.get(node.frame_id)
        if document is None or document.session is not node.session:
            return None
        with suppress(EngineError), object_group("steps") as group:
            handle = await self._worlds.resolve(node, group)
            call = self._post(document, _NUMBER, handle)
            if call is not None and (number := await _first(call)):
                return document.number, number
        return None

    async def numbers_of(self, refs: Mapping[str, Ref]) -> dict[str, list[int]]:
        """Return the numbers of the documents and nodes of new refs: those that no earlier call has returned.

        A ref never changes its node. Refs of nodes without a number are left out.
        """
        found: dict[str, list[int]] = {}
        asked: list[tuple[Document, list[str], PendingCall]] = []
        new = [name for name in refs if name not in self._numbered]
        for document in self._documents.values() if new else ():
            names = [name for name in new if refs[name].frame_id == document.frame_id]
            if names and (question := self._ask_numbers(document, names, refs)) is not None:
                asked.append((document, *question))
        for document, names, call in asked:
            with suppress(EngineError):
                numbers = _json.decode(bytes((await returned(call)).value), list[int])
                self._numbered.update(names)
                places = zip(names, numbers, strict=True)
                found |= {name: [document.number, number] for name, number in places if number}
        return found

    def end(self) -> None:
        """Remove the readers from the documents without waiting."""
        for document in self._documents.values():
            self._post(document, _CALL, {"do": "end"})

    def _ask_numbers(
        self, document: Document, names: list[str], refs: Mapping[str, Ref]
    ) -> tuple[list[str], PendingCall] | None:
        installed = find_walk(document.session, document.frame_id)
        if installed is None:
            return None
        for index in range(document.walk_read, len(installed.ids)):
            document.walked.setdefault(installed.ids[index], index)
        document.walk_read = len(installed.ids)
        known = [name for name in names if refs[name].backend_node_id in document.walked]
        ids = [document.walked[refs[name].backend_node_id] for name in known]
        call = self._post(document, _NUMBERS, installed.function, ids) if ids else None
        return None if call is None else (known, call)

    def _frames(self) -> Iterator[Frame]:
        for _, frame in zip(range(_MOST_FRAMES), self._page.frames, strict=False):
            if frame.attached and frame.loader_id and frame.session.usable:
                yield frame

    def _known(self, frame: Frame) -> Document | None:
        document = self._documents.get(frame.id)
        if document is None or document.loader_id != frame.loader_id or document.session is not frame.session:
            return None
        return None if document.reader.lost else document

    def _post(self, document: Document, function: str, *arguments: object) -> PendingCall | None:
        def post() -> PendingCall:
            with action_span(SPAN):
                return document.reader.post(function, *arguments, how=VALUE, repeats=False)

        with suppress(EngineError):
            return self._outside.run(post)
        return None

    async def _make_reader(self, frame: Frame) -> None:
        loader_id, session = frame.loader_id, frame.session
        context = await self._worlds.context(session, frame.id)
        reader = await object_of(context.post(_MAKE, how=OBJECT, group=LIBRARY_GROUP), session)
        if reader is not None and frame.loader_id == loader_id:
            number = next(self._numbers)
            self._documents[frame.id] = Document(number, frame.id, loader_id, session, reader)


class _Version(msgspec.Struct, array_like=True):
    number: int
    data: str = ""
    urls: list[str] = []


async def _first(call: PendingCall) -> int:
    numbers = _json.decode(bytes((await returned(call)).value), list[int])
    return numbers[0] if numbers else 0


def find_walk(session: Session, frame_id: str) -> Installed | None:
    """Return the walk of a frame's document, which knows the numbers of the nodes that a snapshot has read."""
    for (known, _kit), installed in remembered.get(session, {}).items():
        if known == frame_id and not installed.function.lost:
            return installed
    return None
