"""Finding nodes: by CSS, by visible text, by role and accessible name, in every document of a page.

Rule: a node that was found belongs to one document of one session, and says so; whoever uses it later is refused
once that document is gone. Roles and names are Chrome's own accessibility, everything else is looked for in the
page's isolated world, open shadow roots included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs
import msgspec

from cdpengine.browser.documents import Document, DocumentGone, gone_or, open_document, with_looking
from cdpengine.browser.frames import Frame
from cdpengine.browser.page_target import PageTarget
from cdpengine.browser.worlds import IsolatedWorlds
from cdpengine.errors import InvalidArgument, RemoteError, SessionGone, TargetCrashed

MOST = 2000
"""Nodes of one document that are looked at, of those that match."""

_TEXT_ROLES = ("StaticText", "InlineTextBox")
"""Roles of text alone: it is found as what holds it."""

_TRIES = 3
"""Times that a document which is replaced under the search is looked at anew."""


@attrs.frozen
class FoundNode:
    """A node that `page.find` gave, as a target of actions. It names one node of one document, never another.

    `description` is for people; `backend_node_id` is Chrome's, of the process that `session_id` talks to.
    """

    backend_node_id: int
    frame_id: str
    session_id: str | None
    loader_id: str
    description: str

    def __str__(self) -> str:
        return self.description


@attrs.frozen
class Wanted:
    """What is looked for: everything that is given must hold. `text` and names: white space collapsed."""

    css: str | None = None
    role: str | None = None
    name: str | re.Pattern[str] | None = None
    text: str | None = None

    def __attrs_post_init__(self) -> None:
        for what in ("css", "role", "text"):
            given = getattr(self, what)
            if given is not None and (not isinstance(given, str) or not given.strip()):
                raise InvalidArgument(what=what, given=repr(given)[:80], expected="a text that is not empty")
        if self.name is not None and not isinstance(self.name, str | re.Pattern):
            raise InvalidArgument(
                what="name", given=f"a {type(self.name).__name__}", expected="a str or a compiled pattern"
            )
        if (self.css, self.role, self.name, self.text) == (None, None, None, None):
            raise InvalidArgument(what="find", given="nothing", expected="css, role, name or text")

    def __str__(self) -> str:
        name = self.name.pattern if isinstance(self.name, re.Pattern) else self.name
        parts = [self.role or ("a node" if self.name is not None else "")]
        parts += [f'"{name[:80]}"'] if name is not None else []
        parts += [f"css {self.css[:80]!r}"] if self.css is not None else []
        parts += [f"with the text {self.text[:80]!r}"] if self.text is not None else []
        return " ".join(part for part in parts if part)


class _Text(msgspec.Struct):
    value: object = ""


class _AXNode(msgspec.Struct, rename="camel"):
    ignored: bool = False
    role: _Text = msgspec.field(default_factory=_Text)
    name: _Text = msgspec.field(default_factory=_Text)
    backend_d_o_m_node_id: int | None = msgspec.field(default=None, name="backendDOMNodeId")


class _AXReply(msgspec.Struct):
    nodes: list[_AXNode] = []


class _Remote(msgspec.Struct, rename="camel"):
    object_id: str | None = None
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Property(msgspec.Struct):
    name: str
    value: _Remote = msgspec.field(default_factory=_Remote)


class _Properties(msgspec.Struct):
    result: list[_Property] = []


class _Head(msgspec.Struct):
    count: int = 0
    descriptions: list[str] = []
    invalid: str = ""


async def find_nodes(
    page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frames: Sequence[Frame] | None = None
) -> list[FoundNode]:
    """Return the nodes that are wanted: main frame first, in each document in its order. One look, no waiting.

    Raises InvalidArgument for a selector that is none, TargetCrashed, SessionGone when the page is gone.
    """
    found: list[FoundNode] = []
    for frame in page.frames if frames is None else frames:
        for _ in range(_TRIES):
            try:
                found += await _find_in(page, worlds, wanted, frame)
            except DocumentGone:
                if page.frames.get(frame.id) is None:
                    break
            except TargetCrashed:
                raise
            except SessionGone:
                if page.closed:
                    raise
                break  # the frame went elsewhere
            else:
                break
    return found


async def _find_in(page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frame: Frame) -> list[FoundNode]:
    document = await open_document(page, worlds, frame)
    try:
        described: dict[int, str] | None = None
        if wanted.css is not None or wanted.text is not None:
            described = await _select(document, wanted)
        if wanted.role is not None or wanted.name is not None:
            if described == {}:
                return []
            by_role = await _query(document, wanted)
            if described is not None:
                by_role = {number: text for number, text in by_role.items() if number in described}
            described = by_role
        return [
            FoundNode(number, frame.id, document.session.id, document.loader_id, text)
            for number, text in (described or {}).items()
        ]
    finally:
        document.release()


async def _select(document: Document, wanted: Wanted) -> dict[int, str]:
    request = {"css": wanted.css, "text": wanted.text, "most": MOST}
    array = await document.make(with_looking("find"), request)
    session = document.session
    try:
        params = {"objectId": array, "ownProperties": True}
        properties = await session.request("Runtime.getProperties", params, _Properties)
        parts = {each.name: each.value for each in properties.result}
        read = "function () { return this[0]; }"
        head = await document.ask(array, read, kind=_Head)
        if head.invalid:
            raise InvalidArgument(what="css", given=repr(wanted.css), expected=f"a selector ({head.invalid})")
        calls = [
            session.post("DOM.describeNode", objectId=parts[str(number)].object_id)
            for number in range(1, len(head.descriptions) + 1)
        ]
        found: dict[int, str] = {}
        try:
            for call, text in zip(calls, head.descriptions, strict=True):
                found[(await call.result())["node"]["backendNodeId"]] = text
        finally:
            for call in calls:
                call.abandon()
    except RemoteError as error:
        raise gone_or(error) from None
    return found


async def _query(document: Document, wanted: Wanted) -> dict[int, str]:
    root = await document.make("function () { return document; }")
    params: dict[str, object] = {"objectId": root}
    if wanted.role is not None:
        params["role"] = wanted.role
    try:
        reply = await document.session.request("Accessibility.queryAXTree", params, _AXReply)
    except RemoteError as error:
        raise gone_or(error) from None
    named: list[_Named] = [
        (node.backend_d_o_m_node_id, str(node.role.value), " ".join(str(node.name.value).split()))
        for node in reply.nodes
        if not node.ignored and node.backend_d_o_m_node_id is not None and node.role.value not in _TEXT_ROLES
    ]
    found: dict[int, str] = {}
    for number, role, name in _of_name(named, wanted.name):
        assert number is not None
        found.setdefault(number, f'{role} "{name[:80]}"' if name else role)
    return found


_Named = tuple[int | None, str, str]


def _of_name(nodes: list[_Named], name: str | re.Pattern[str] | None) -> list[_Named]:
    """Keep the nodes of that name: the whole name in the same case or, where there is none, in any case."""
    if name is None:
        return nodes
    if isinstance(name, re.Pattern):
        return [node for node in nodes if name.search(node[2])]
    wanted = " ".join(name.split())
    exact = [node for node in nodes if node[2] == wanted]
    return exact or [node for node in nodes if node[2].casefold() == wanted.casefold()]
