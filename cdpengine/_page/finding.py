"""Search for nodes by CSS, visible text, role and accessible name, in every document of a page.

Rule: a found node belongs to one document of one session, and is refused once that document is gone. Roles and
names are Chrome's accessibility data. The other criteria are evaluated in the page's isolated world, open shadow
roots included.
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
"""Maximum number of matching nodes that are processed in one document."""

_TEXT_ROLES = ("StaticText", "InlineTextBox")
"""Roles of text nodes: the search returns the element that contains them."""

_LABELLED = frozenset({"radio", "checkbox", "switch", "button"})
"""Roles of controls that pages hide behind their labels."""

_TRIES = 3
"""Maximum number of searches in a document that is replaced meanwhile."""


@attrs.frozen
class FoundNode:
    """A result of `page.find`, as a target of actions. It always refers to the same node of one document.

    `description` is for messages. `backend_node_id` is Chrome's, in the process of `session_id`.
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


@not_picklable("data of the element: a text, a value, a snapshot")
@attrs.frozen(eq=False)
class Locator:
    """A description of an element, as a target of actions that find it again each time. See `page.locate`.

    An action waits for a match within its timeout, and acts on it. If the page replaces the element before that,
    the action finds it again. `type`, `press` and `drag` raise StaleRefError instead, because a repetition is
    unsafe. Raises the errors of `page.find`: NodeNotFoundError at the end of the timeout, AmbiguousNodeError
    immediately. `index` chooses one of several matches (from 0); None requires a single match.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(LOCATOR)

    description: str
    _find: Callable[[int | None, float], Awaitable[FoundNode]] = attrs.field(repr=False)
    index: int | None = None

    def __str__(self) -> str:
        return self.description if self.index is None else f"{self.description} (nth={self.index})"

    def nth(self, index: int) -> Locator:
        """Return the locator of the match number `index`, from 0. Raises InvalidArgumentError."""
        return attrs.evolve(self, index=check_index(index))

    async def _find_now(self, deadline: float = 0.0) -> FoundNode:
        """Return the current match, waiting until the deadline (trio's clock). Raises as `page.find`."""
        return await self._find(self.index, max(0.0, deadline - trio.current_time()))


def check_index(index: int) -> int:
    """Return `index`. Raises InvalidArgumentError unless it is 0 or more."""
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        raise InvalidArgumentError(what="nth", given=repr(index)[:80], expected="0 or more")
    return index


@attrs.frozen
class Wanted:
    """Search criteria, all of which must match. White space in `text` and `name` is collapsed.

    `roles` maps Chrome's roles for `role` to a selector of all candidates, or None. Roles without candidates are
    not queried, which saves 20 us for each node of the document. `untold` selects visible elements of the role
    that Chrome omits because they have no name. `called` returns the displayed name of a Chrome role. `unhidden`
    returns a function's source that finds visible elements under `aria-hidden` by role. `under_hidden` searches
    there instead of in Chrome's tree. `exact` compares case, and `text` with the element's whole text.
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
                raise InvalidArgumentError(what=what, given=repr(given)[:80], expected="a non-empty string")
        check_words("name", self.name, empty=True)
        check_words("text", self.text)
        if (self.css, self.role, self.name, self.text) == (None, None, None, None):
            raise InvalidArgumentError(what="find", given="nothing", expected="css, role, name or text")

    @property
    def by_role(self) -> bool:
        """Whether the search uses Chrome's accessibility tree."""
        return self.role is not None or self.name is not None

    @property
    def may_be_labelled(self) -> bool:
        """Whether the element may be a control hidden behind its label."""
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

    An element is the start and end of its text, and the index after its last descendant.
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
    """Return the matching nodes without waiting, main frame first, each document in tree order.

    If no frame has a match by role or name, elements under a visible `aria-hidden` are searched. Raises
    InvalidArgumentError for an invalid selector, TargetCrashedError, SessionGoneError if the page is gone.
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
        return await _find_in_frame(page, worlds, wanted, searched[0], raises=True)
    found: dict[int, list[FoundNode]] = {}
    failed: list[Exception] = []

    async def search(place: int, frame: Frame) -> None:
        try:
            is_main = frame is page.frames.main
            found[place] = await _find_in_frame(page, worlds, wanted, frame, raises=is_main)
        except EngineError as error:
            failed.append(error)
            nursery.cancel_scope.cancel()

    # All at the same time, so that the time limits of undrawn frames do not add up.
    async with trio.open_nursery() as nursery:
        for place, frame in enumerate(searched):
            nursery.start_soon(search, place, frame)
    if failed:
        raise failed[0]
    return [node for place in sorted(found) for node in found[place]]


async def _find_in_frame(
    page: PageTarget, worlds: IsolatedWorlds, wanted: Wanted, frame: Frame, *, raises: bool
) -> list[FoundNode]:
    """Search one frame. A frame whose renderer crashed has no elements, unless `raises`."""
    for _ in range(_TRIES):
        try:
            return await _find_in(worlds, wanted, frame)
        except DocumentGone:
            if page.frames.get(frame.id) is None:
                break
        except SessionGoneError as error:
            if page.closed or (raises and isinstance(error, TargetCrashedError)):
                raise
            break  # the frame navigated
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
    """Return the indexes of elements whose text matches the pattern; with `smallest`, the innermost ones."""
    chosen: list[int] = []
    last = len(seen.elements)  # the last chosen index, from the end
    for place in range(len(seen.elements) - 1, -1, -1):
        start, end, after = seen.elements[place]
        holds_one = smallest and last < after
        if not holds_one and pattern.search(seen.text[start:end].strip(" ")):
            chosen.append(place)
            last = place
    chosen.reverse()
    return chosen


# --- by role and name, in Chrome's accessibility tree -------------------------------------------------------


_LONGEST_QUERY = 0.25
"""Time in seconds for a frame to answer `queryAXTree`. Chrome answers once the frame is drawn, perhaps never."""

_Named = tuple[int, str, str]

_undrawn: WeakKeyDictionary[Frame, str] = WeakKeyDictionary()
"""Frames that did not answer in time, with their document's loader. Their whole tree is read instead."""


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
"""Elements whose content may be visible but missing in Chrome's tree. Others are pictures, or empty."""


async def _query_hidden(document: Document, wanted: Wanted) -> dict[int, str]:
    """Find visible elements under `aria-hidden`, which Chrome's tree omits."""
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
    """Post a query for each role, or none if only the whole tree gives an answer."""
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
    """Return the nodes of each role, from the queries, or from the whole tree of an undrawn frame."""
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
    """Request the controls hidden behind their labels, which Chrome's tree omits."""
    request = {"roles": None if wanted.role is None else list(wanted.roles), "most": MOST}
    source = own(script_with_search("_page/labelled"))
    return document.context.post(source, request, how=SERIALIZED, group=document.group)


async def _labelled(call: PendingCall, wanted: Wanted) -> list[_Named]:
    """Return the nodes with the role and name that the page reported."""
    head, nodes = await text_and_nodes(call, _Head)
    found: list[_Named] = []
    for node, text in zip((each for each in nodes if each is not None), head.descriptions, strict=True):
        role, _, name = text.partition("\n")
        found.append((node.backend_node_id, wanted.called(role), collapse_space(name)))
    return found


async def _root_and_roles(document: Document, wanted: Wanted) -> tuple[RemoteHandle, list[dict[str, object]]]:
    """Return the document object and the roles to query: those with candidates in the document."""
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
    """Return the same nodes in page order."""
    numbers, nodes = await _hold(document, described)
    order = await document.call(script_with_search("_page/order"), None, nodes, kind=list[int])
    return {numbers[place]: described[numbers[place]] for place in order}


async def _with_text(document: Document, described: dict[int, str], wanted: Wanted) -> dict[int, str]:
    """Return the nodes whose visible text equals or contains the searched one."""
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
    """Return the numbers of existing nodes, and a remote array of these nodes in the same order."""

    def refused(error: RemoteError) -> None:
        gone = gone_or(error)
        if isinstance(gone, DocumentGone):
            raise gone from None  # otherwise only this node is gone

    nodes = await objects_of_nodes(
        document.session,
        islice(numbers, MOST),
        document.group,
        refused=refused,
        executionContextId=document.context.id,
    )
    return list(nodes), await document.make("function (...nodes) { return nodes; }", *nodes.values())
