"""Search for nodes by a script in one document: selectors, visible text, labels, attributes, and combinations.

Rule: the script runs in the isolated world, open shadow roots included. Compiled patterns are never sent to the
page: it returns the strings, and the engine chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

import attrs
import msgspec
import trio

from cdpengine._checks import invalid_selector
from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import Document, document_error, open_document
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._page.scripts.page_functions import (
    LIBRARY_GROUP,
    OBJECT,
    VALUE,
    ExecutionContext,
    How,
    RemoteHandle,
    new_group,
    object_of,
    value_of,
)
from cdpengine._page.scripts.worlds import Finder, FoundElements, IsolatedWorlds
from cdpengine._page.search.criteria import Criteria
from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import EvaluationFailedError, RemoteError

MOST = 2000
"""Maximum number of matching nodes that are processed in one document."""


_MOST_NUMBERED = 100
"""Maximum number of found elements to which the page gives numbers: finder.js."""

T = TypeVar("T")


class _Strings(msgspec.Struct):
    """The strings of a document's elements.

    In `elements`, an element is the start and end of its visible text, and the index after its last descendant.
    `strings` has for each other criterion a list of strings for each element.
    """

    text: str = ""
    elements: list[tuple[int, int, int]] = []
    strings: dict[str, list[list[str]]] = {}
    invalid: str = ""


class FoundHead(msgspec.Struct):
    """The JSON string that a script returns before elements. `first` is the number of the first one."""

    first: int = 0


class _Head(FoundHead):
    descriptions: list[str] = []
    invalid: str = ""
    selector: str = ""


H = TypeVar("H", bound=FoundHead)


_SCRIPTS = {
    "computed_names": "_page/search/computed_names",
    "find": "_page/search/find",
    "pattern_strings": "_page/search/pattern_strings",
    "matching_selectors": "_page/search/matching_selectors",
    "hidden_controls": "_page/search/hidden_controls",
    "page_order": "_page/search/page_order",
    "visible_texts": "_page/search/visible_texts",
}
"""Scripts that a finder has, by the name for its `call`."""

_CALL = own("function (name, request, ...given) { return this.call(name, request, ...given); }")
_FIND = own("function (name, request, ...given) { return this.find(name, request, ...given); }")


@cache
def _finder_source() -> str:
    """Return the source of a function that makes the finder of a document."""
    search, matching = script("_page/navigation/node_search"), script("_page/search/matching")
    scripts = ", ".join(f"{name}: {script(path)}" for name, path in _SCRIPTS.items())
    finder = script("_page/search/finder")
    return own(f"function () {{ return ({finder})(({search})(), {matching}, {{ {scripts} }}); }}")


@attrs.frozen(eq=False)
class SearchedDocument(Document):
    """A document with its finder. The first call of the finder proves that the document is current."""

    worlds: IsolatedWorlds
    finder: RemoteHandle

    def post(self, name: str, request: object, *given: RemoteHandle, how: How = VALUE) -> PendingCall:
        """Send a call of a script of the finder without waiting."""
        return self.finder.post(_CALL, name, request, *given, how=how, group=self.group)

    async def run(self, name: str, request: object, *given: RemoteHandle, kind: type[T]) -> T:
        """Return the JSON value of a script of the finder, decoded. Raises DocumentGone."""
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            return await value_of(self.post(name, request, *given), kind)
        except RemoteError as error:
            raise document_error(error) from None

    async def find(
        self, name: str, request: object, *given: RemoteHandle, kind: type[H]
    ) -> tuple[H, list[int]]:
        """Return the result of a script: its JSON string, decoded, and the elements' backend node ids.

        The page numbers the elements, so that their next use needs no object. Raises DocumentGone.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        call = self.finder.post(_FIND, name, request, *given, how=SERIALIZED, group=self.group)
        try:
            head, nodes = await text_and_nodes(call, kind)
        except RemoteError as error:
            raise document_error(error) from None
        numbers = [node.backend_node_id for node in nodes if node is not None]
        elements = FoundElements(self.finder, numbers[:_MOST_NUMBERED], head.first)
        self.worlds.keep_found(self.session, self.frame.id, elements)
        return head, numbers

    async def make_object(self, name: str, request: object) -> RemoteHandle:
        """Return the object that a script of the finder makes. Raises DocumentGone."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._object(self.post(name, request, how=OBJECT))

    async def root(self) -> RemoteHandle:
        """Return the document as an object."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._object(self.finder.post(_DOCUMENT, how=OBJECT, group=self.group))

    async def _object(self, call: PendingCall) -> RemoteHandle:
        try:
            made = await object_of(call, self.session)
        except RemoteError as error:
            raise document_error(error) from None
        if made is None:
            raise EvaluationFailedError(text="the script returned no object")
        return made


_DOCUMENT = own("function () { return this.document; }")


async def open_searched(worlds: IsolatedWorlds, frame: Frame, *, checked: bool = False) -> SearchedDocument:
    """Return the frame's current document for a search. A kept finder makes it without a round trip.

    With `checked`, the document is known to be current before the finder's first call. Raises DocumentGone, and
    the error of an ended session.
    """
    session, loader_id = frame.session, frame.loader_id
    kept = worlds.finder(session, frame.id)
    if kept is not None and not checked:
        context = ExecutionContext(session, kept.number)
        return SearchedDocument(frame, loader_id, context, new_group("look"), worlds, kept.handle)
    document = await open_document(worlds, frame)
    if kept is None or kept.number != document.context.id:
        try:
            made = await document.context.make(_finder_source(), group=LIBRARY_GROUP)
        except RemoteError as error:
            raise document_error(error) from None
        if made is None:
            raise EvaluationFailedError(text="the finder's script returned no object")
        kept = Finder(made, document.context.id)
        worlds.keep_finder(session, frame.id, kept)
    return SearchedDocument(frame, document.loader_id, document.context, document.group, worlds, kept.handle)


async def select(
    document: SearchedDocument, criteria: Criteria, *, visible: bool = False, last: bool = False
) -> dict[int, str]:
    """Return the descriptions of the nodes by backend node id that match the criteria of the page's script.

    Raises InvalidArgumentError for an invalid selector, and DocumentGone.
    """
    given: list[RemoteHandle] = []
    query = await leaf_request(document, criteria, given)
    return await evaluate(document, query, given, visible=visible, last=last)


async def leaf_request(
    document: SearchedDocument, criteria: Criteria, given: list[RemoteHandle]
) -> Mapping[str, object]:
    """Return the criteria as a query of matching.js. Objects that it refers to are added to `given`."""
    patterns = criteria.patterns
    if not patterns:
        return criteria.request()
    request = {"leaf": criteria.request(), "patterns": list(patterns)}
    made = await document.make_object("pattern_strings", request)
    index = await document.ask(made, "function () { return this.index; }", kind=_Strings)
    if index.invalid:
        raise invalid_selector(criteria.css or "", index.invalid)
    given.append(made)
    return {"kind": "chosen", "at": len(given) - 1, "places": _matching_places(index, criteria)}


async def evaluate(
    document: SearchedDocument,
    query: Mapping[str, object],
    given: Sequence[RemoteHandle],
    *,
    visible: bool = False,
    last: bool = False,
) -> dict[int, str]:
    """Return the descriptions by backend node id of the nodes that match a query of matching.js, in page order.

    With `last`, the last ones if there are more than MOST. Raises the errors of `select`.
    """
    request = {"query": query, "visible": visible, "most": MOST, "last": last}
    head, numbers = await document.find("find", request, *given, kind=_Head)
    if head.invalid:
        raise invalid_selector(head.selector, head.invalid)
    return dict(zip(numbers, head.descriptions, strict=True))


def _matching_places(index: _Strings, criteria: Criteria) -> list[int]:
    """Return the indexes of elements whose strings match all patterns."""
    text, *others = (criteria.patterns.get(name) for name in ("text", *index.strings))
    columns = [
        (pattern, index.strings[name])
        for name, pattern in zip(index.strings, others, strict=True)
        if pattern is not None
    ]
    if text is None:
        places = list(range(len(columns[0][1])))
    else:
        alone = criteria.request().keys() <= {"kind", "exact"} and not columns
        places = _matching_texts(index, text, smallest=alone)
    return [
        place
        for place in places
        if all(any(map(pattern.search, strings[place])) for pattern, strings in columns)
    ]


def _matching_texts(index: _Strings, pattern: re.Pattern[str], *, smallest: bool) -> list[int]:
    """Return the indexes of elements whose text matches the pattern; with `smallest`, the innermost ones."""
    chosen: list[int] = []
    last = len(index.elements)  # the last chosen index, from the end
    for place in range(len(index.elements) - 1, -1, -1):
        start, end, after = index.elements[place]
        holds_one = smallest and last < after
        if not holds_one and pattern.search(index.text[start:end].strip(" ")):
            chosen.append(place)
            last = place
    chosen.reverse()
    return chosen
