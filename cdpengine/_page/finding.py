"""Finding nodes: by CSS, by visible text, by role and accessible name, in every document of a page.

Rule: a node that was found belongs to one document of one session, and says so; a later use is refused
once that document is gone. Roles and names are Chrome's own accessibility, everything else is looked for in the
page's isolated world, open shadow roots included.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import attrs
import msgspec
import trio

from cdpengine._javascript import own
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import (
    Document,
    DocumentGone,
    gone_or,
    open_document,
    script_with_search,
)
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import (
    Words,
    check_words,
    collapse_space,
    describe_words,
    holds,
    with_name,
)
from cdpengine._page.scripts.node_lists import SERIALIZED, objects_of_nodes, text_and_nodes
from cdpengine._page.scripts.page_functions import IsolatedWorlds, RemoteHandle, value_of
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.accessibility import AXNodeHead, AXQueryReply, AXValue
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)
from cdpengine.errors.foreign_names import ELEMENT, LOCATOR, name_ours

MOST = 2000
"""Nodes of one document that are looked at, of those that match."""

_TEXT_ROLES = ("StaticText", "InlineTextBox")
"""Roles of text alone: it is found as what holds it."""

_LABELLED = frozenset({"radio", "checkbox", "switch", "button"})
"""Roles of controls that pages hide behind their labels."""

_TRIES = 3
"""Times that a document which is replaced under the search is looked at anew."""


@attrs.frozen
class FoundNode:
    """A node that `page.find` gave, as a target of actions. It names one node of one document, never another.

    `description` is for people; `backend_node_id` is Chrome's, of the process that `session_id` talks to.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(ELEMENT)

    backend_node_id: int
    frame_id: str
    session_id: str | None
    loader_id: str
    description: str

    def __str__(self) -> str:
        return self.description


@not_picklable("what it finds: a text, a value, a snapshot")
@attrs.frozen(eq=False)
class Locator:
    """What an element of a page is like, as a target of actions: each looks for it anew. `page.locate` gives one.

    An action waits until there is one, within its own timeout, and acts on what is there then. Where the page puts
    another element in its place before that, it looks again; `type`, `press` and `drag` do not, since to do them
    twice is not the same: StaleRefError. Raises as `page.find`: NodeNotFoundError at the end of the timeout,
    AmbiguousNodeError at once. `index` is which of several it is (from 0), None for the only one.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(LOCATOR)

    description: str
    _find: Callable[[int | None, float], Awaitable[FoundNode]] = attrs.field(repr=False)
    index: int | None = None

    def __str__(self) -> str:
        return self.description if self.index is None else f"{self.description} (nth={self.index})"

    def nth(self, index: int) -> Locator:
        """Return the locator of one of several, counted from 0. Raises InvalidArgumentError."""
        return attrs.evolve(self, index=check_index(index))

    async def _find_now(self, deadline: float = 0.0) -> FoundNode:
        """Return the element that is there now, or by the deadline (trio's clock). Raises as `page.find`."""
        return await self._find(self.index, max(0.0, deadline - trio.current_time()))


def check_index(index: int) -> int:
    """Return `index`. Raises InvalidArgumentError for one that is not 0 or more."""
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise InvalidArgumentError(what="nth", given=repr(index)[:80], expected="0 or more")
    return index


@attrs.frozen
class Wanted:
    """What is looked for: everything that is given must hold. `text` and names: white space collapsed.

    `roles` are the roles of Chrome that `role` stands for, each with a selector of all that can have it, or None:
    those of which the document has nothing are not asked for, which costs 20 us for each of its nodes. `untold` is
    a selector of visible elements of the role that Chrome does not tell, for want of a name. `called` says what a
    role of Chrome's is called in messages. `unhidden` gives the source of a function that finds what is visible
    under `aria-hidden`, by role; `under_hidden`: it is looked for there, and not in Chrome's tree. `exact`: a name
    or a text in the same case, a text as all that an element says.
    """

    css: str | None = None
    role: str | None = None
    name: Words | None = None
    text: Words | None = None
    exact: bool = False
    roles: Mapping[str, str | None] = attrs.field(factory=dict)
    untold: str | None = None
    called: Callable[[str], str] = attrs.field(default=str, eq=False, repr=False)
    unhidden: Callable[[], str] | None = attrs.field(default=None, eq=False, repr=False)
    under_hidden: bool = False

    def __attrs_post_init__(self) -> None:
        for what in ("css", "role"):
            given = getattr(self, what)
            if given is not None and (not isinstance(given, str) or not given.strip()):
                raise InvalidArgumentError(
                    what=what, given=repr(given)[:80], expected="a text that is not empty"
                )
        check_words("name", self.name, empty=True)
        check_words("text", self.text)
        if (self.css, self.role, self.name, self.text) == (None, None, None, None):
            raise InvalidArgumentError(what="find", given="nothing", expected="css, role, name or text")

    @property
    def by_role(self) -> bool:
        """Whether Chrome's accessibility tree is asked."""
        return self.role is not None or self.name is not None

    @property
    def may_be_labelled(self) -> bool:
        """Whether it may be a control that is hidden behind its label."""
        return self.role is None or not _LABELLED.isdisjoint(self.roles)

    def __str__(self) -> str:
        name = self.name.pattern if isinstance(self.name, re.Pattern) else self.name
        parts = [self.role or ("a node" if self.name is not None else "")]
        parts += [f'"{name[:80]}"'] if name is not None else []
        parts += [f"css {self.css[:80]!r}"] if self.css is not None else []
        with_text = "with exactly the text" if self.exact else "with the text"
        parts += [f"{with_text} {describe_words(self.text)}"] if self.text is not None else []
        return " ".join(part for part in parts if part)


class _Seen(msgspec.Struct):
    """The visible text of a document, and its elements.

    Of each: where its text begins and ends in it, and the place behind the last element in it.
    """

    text: str = ""
    elements: list[tuple[int, int, int]] = []
    invalid: str = ""


class _Head(msgspec.Struct):
    descriptions: list[str] = []
    invalid: str = ""


async def find_nodes(
    page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frames: Sequence[Frame] | None = None
) -> list[FoundNode]:
    """Return the nodes that are wanted: main frame first, in each document in its order. One look, no waiting.

    Where no frame has one by role or name, those under a visible `aria-hidden` are looked for. Raises
    InvalidArgumentError for an invalid selector, TargetCrashedError, SessionGoneError when the page is gone.
    """
    found = await _find_in_all(page, worlds, wanted, frames)
    if not found and wanted.by_role and wanted.unhidden is not None:
        found = await _find_in_all(page, worlds, attrs.evolve(wanted, under_hidden=True), frames)
    return found


async def _find_in_all(
    page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frames: Sequence[Frame] | None
) -> list[FoundNode]:
    searched = list(page.frames if frames is None else frames)
    if len(searched) == 1:
        return await _find_in_frame(page, worlds, wanted, searched[0])
    found: dict[int, list[FoundNode]] = {}
    failed: list[Exception] = []

    async def search(place: int, frame: Frame) -> None:
        try:
            found[place] = await _find_in_frame(page, worlds, wanted, frame)
        except EngineError as error:
            failed.append(error)
            nursery.cancel_scope.cancel()

    # All at the same time: the limits of frames that are never drawn do not add up.
    async with trio.open_nursery() as nursery:
        for place, frame in enumerate(searched):
            nursery.start_soon(search, place, frame)
    if failed:
        raise failed[0]
    return [node for place in sorted(found) for node in found[place]]


async def _find_in_frame(
    page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frame: Frame
) -> list[FoundNode]:
    for _ in range(_TRIES):
        try:
            return await _find_in(worlds, wanted, frame)
        except DocumentGone:
            if page.frames.get(frame.id) is None:
                break
        except SessionGoneError as error:
            if page.closed or isinstance(error, TargetCrashedError):
                raise
            break  # the frame went elsewhere
    return []


async def _find_in(worlds: IsolatedWorlds, wanted: Wanted, frame: Frame) -> list[FoundNode]:
    document = await open_document(worlds, frame)
    try:
        described: dict[int, str] | None = None
        if wanted.css is not None or (wanted.text is not None and not wanted.by_role):
            described = await _select(document, wanted)
        if wanted.by_role and described != {}:
            if wanted.under_hidden:
                named = await _query_hidden(document, wanted)
            else:
                named = await _query(document, wanted, frame)
            if described is not None:
                named = {number: text for number, text in named.items() if number in described}
            elif wanted.text is not None:
                named = await _with_text(document, named, wanted)
            described = named
        return [
            FoundNode(number, frame.id, document.session.id, document.loader_id, text)
            for number, text in (described or {}).items()
        ]
    finally:
        document.release()


# --- by selector and text, in the page ----------------------------------------------------------------------


async def _select(document: Document, wanted: Wanted, *, visible: bool = False) -> dict[int, str]:
    request: dict[str, object] = {
        "visible": visible,
        "css": wanted.css,
        "text": wanted.text if isinstance(wanted.text, str) else None,
        "exact": wanted.exact,
        "most": MOST,
    }
    arguments: list[object] = []
    if isinstance(wanted.text, re.Pattern):
        texts = await document.make(script_with_search("_page/texts"), {"css": wanted.css})
        seen = await document.ask(texts, "function () { return this.seen; }", kind=_Seen)
        _refuse(seen.invalid, wanted)
        request = {"chosen": _chosen(seen, wanted.text, smallest=wanted.css is None), "most": MOST}
        arguments.append(texts)
    source = own(script_with_search("_page/find"))
    await trio.lowlevel.checkpoint_if_cancelled()
    call = document.context.post(source, request, *arguments, how=SERIALIZED, group=document.group)
    try:
        head, nodes = await text_and_nodes(call, _Head)
    except RemoteError as error:
        raise gone_or(error) from None
    _refuse(head.invalid, wanted)
    numbers = [node.backend_node_id for node in nodes if node is not None]
    return dict(zip(numbers, head.descriptions, strict=True))


def _refuse(invalid: str, wanted: Wanted) -> None:
    if invalid:
        raise InvalidArgumentError(what="css", given=repr(wanted.css), expected=f"a selector ({invalid})")


def _chosen(seen: _Seen, pattern: re.Pattern[str], *, smallest: bool) -> list[int]:
    """Return the places of the elements in whose text the pattern is found; with `smallest`, the innermost."""
    chosen: list[int] = []
    last = len(seen.elements)  # the place that was chosen last, looking from the end
    for place in range(len(seen.elements) - 1, -1, -1):
        start, end, after = seen.elements[place]
        holds_one = smallest and last < after
        if not holds_one and pattern.search(seen.text[start:end].strip(" ")):
            chosen.append(place)
            last = place
    chosen.reverse()
    return chosen


# --- by role and name, by Chrome's accessibility ------------------------------------------------------------


_LONGEST_QUERY = 0.25
"""Seconds in which a frame answers `queryAXTree`. Chrome answers once the frame is drawn, which may be never."""

_Named = tuple[int, str, str]

_undrawn: WeakKeyDictionary[Frame, str] = WeakKeyDictionary()
"""Frames that did not answer in time, with the loader of their document: their whole tree is read instead."""


async def _query(document: Document, wanted: Wanted, frame: Frame) -> dict[int, str]:
    root, asked = await _root_and_roles(document, wanted)
    nodes: list[_Named] = []
    queries = 0
    try:
        with pending_group() as post:
            calls = _ask_tree(document, frame, root, asked, post)
            labelled = post(_ask_labelled(document, wanted)) if wanted.may_be_labelled else None
            for found in await _answers(document, frame, calls, asked, post):
                nodes += [
                    (number, wanted.called(role), collapse_space(name))
                    for number, role, name in found
                    if role not in _TEXT_ROLES
                ]
                queries += bool(found)
            if labelled is not None and (hidden := await _labelled(labelled, wanted)):
                nodes += hidden
                queries += 1
    except RemoteError as error:
        raise gone_or(error) from None
    described = _describe(nodes, wanted)
    if wanted.untold is not None and with_name([""], str, wanted.name, wanted.exact):
        untold = await _select(document, Wanted(css=wanted.untold), visible=True)
        queries += bool(untold)
        described.update(dict.fromkeys(untold, str(wanted.role)))
    if queries > 1 and len(described) > 1:
        return await _in_order(document, described)
    return described


def _describe(nodes: Iterable[_Named], wanted: Wanted) -> dict[int, str]:
    described: dict[int, str] = {}
    for number, role, name in with_name(nodes, lambda node: node[2], wanted.name, wanted.exact):
        described.setdefault(number, f'{role} "{name[:80]}"' if name else role)
    return described


_MAY_HIDE = Wanted(css='[aria-hidden="true"]:not(svg, svg *, :empty)')
"""Elements under which visible content may be hidden from Chrome's tree; others are pictures, or empty."""


async def _query_hidden(document: Document, wanted: Wanted) -> dict[int, str]:
    """Find what is visible under `aria-hidden`, which Chrome's tree leaves out."""
    if wanted.unhidden is None or not await _select(document, _MAY_HIDE):
        return {}
    request = {"roles": None if wanted.role is None else list(wanted.roles), "most": MOST}
    await trio.lowlevel.checkpoint_if_cancelled()
    source = own(wanted.unhidden())
    call = document.context.post(source, request, how=SERIALIZED, group=document.group)
    try:
        return _describe(await _labelled(call, wanted), wanted)
    except RemoteError as error:
        raise gone_or(error) from None


def _ask_tree(
    document: Document,
    frame: Frame,
    root: RemoteHandle,
    asked: Sequence[Mapping[str, object]],
    post: Callable[[PendingCall], PendingCall],
) -> list[PendingCall]:
    """Ask for each role; ask for nothing where only the whole tree gives an answer."""
    if _undrawn.get(frame) == document.loader_id:
        return []
    method = "Accessibility.queryAXTree"
    return [post(document.session.post(method, objectId=root.reference, **role)) for role in asked]


async def _answers(
    document: Document,
    frame: Frame,
    calls: Sequence[PendingCall],
    asked: Sequence[Mapping[str, object]],
    post: Callable[[PendingCall], PendingCall],
) -> list[list[_Named]]:
    """Return the nodes of each role, from the queries or from the tree of a frame that is not drawn."""
    if not asked:
        return []
    if calls:
        with trio.move_on_after(_LONGEST_QUERY if frame.parent_id is not None else math.inf):
            return [_named((await call.decoded(AXQueryReply)).nodes) for call in calls]
        _undrawn[frame] = document.loader_id
    tree = post(document.session.post("Accessibility.getFullAXTree", frameId=frame.id))
    nodes = _named((await tree.decoded(AXQueryReply)).nodes)
    roles = {role.get("role") for role in asked}
    return [nodes if None in roles else [node for node in nodes if node[1] in roles]]


def _named(nodes: Iterable[AXNodeHead]) -> list[_Named]:
    return [
        (node.backend_node_id, _text_of(node.role), _text_of(node.name))
        for node in nodes
        if not node.ignored and node.backend_node_id is not None
    ]


def _ask_labelled(document: Document, wanted: Wanted) -> PendingCall:
    """Ask for the controls that are hidden behind their labels, of which Chrome's tree has nothing."""
    request = {"roles": None if wanted.role is None else list(wanted.roles), "most": MOST}
    source = own(script_with_search("_page/labelled"))
    return document.context.post(source, request, how=SERIALIZED, group=document.group)


async def _labelled(call: PendingCall, wanted: Wanted) -> list[_Named]:
    """Return the nodes of which the page told role and name."""
    head, nodes = await text_and_nodes(call, _Head)
    found: list[_Named] = []
    for node, text in zip((each for each in nodes if each is not None), head.descriptions, strict=True):
        role, _, name = text.partition("\n")
        found.append((node.backend_node_id, wanted.called(role), collapse_space(name)))
    return found


async def _root_and_roles(document: Document, wanted: Wanted) -> tuple[RemoteHandle, list[dict[str, object]]]:
    """Return the document as an object, and the roles to ask for: those of which it may have something."""
    selectors = [selector for selector in wanted.roles.values() if selector is not None]
    with pending_group() as post:
        present = None
        if wanted.role is not None and selectors:
            source = own(script_with_search("_page/present"))
            present = post(document.context.post(source, selectors, group=document.group))
        root = await document.make("function () { return document; }")
        if wanted.role is None:
            return root, [{}]
        try:
            found = [] if present is None else await value_of(present, list[str])
        except RemoteError as error:
            raise gone_or(error) from None
    return root, [
        {"role": role} for role, selector in wanted.roles.items() if selector is None or selector in found
    ]


def _text_of(value: AXValue | None) -> str:
    return "" if value is None or value.value is None else str(value.value)


async def _in_order(document: Document, described: dict[int, str]) -> dict[int, str]:
    """Return the same nodes in the order of the page."""
    numbers, nodes = await _hold(document, described)
    order = await document.call(script_with_search("_page/order"), None, nodes, kind=list[int])
    return {numbers[place]: described[numbers[place]] for place in order}


async def _with_text(document: Document, described: dict[int, str], wanted: Wanted) -> dict[int, str]:
    """Return the nodes whose visible text is the wanted one, or holds it."""
    assert wanted.text is not None
    if not described:
        return described
    numbers, nodes = await _hold(document, described)
    texts = await document.call(script_with_search("_page/text_of"), None, nodes, kind=list[str | None])
    return {
        number: described[number]
        for number, text in zip(numbers, texts, strict=True)
        if text is not None and holds(text, wanted.text, wanted.exact)
    }


async def _hold(document: Document, numbers: Iterable[int]) -> tuple[list[int], RemoteHandle]:
    """Return a remote array of the nodes that are still there, and their numbers in the same order."""

    def refused(error: RemoteError) -> None:
        gone = gone_or(error)
        if isinstance(gone, DocumentGone):
            raise gone from None  # otherwise just this node is

    nodes = await objects_of_nodes(
        document.session,
        islice(numbers, MOST),
        document.group,
        refused=refused,
        executionContextId=document.context.id,
    )
    return list(nodes), await document.make("function (...nodes) { return nodes; }", *nodes.values())
