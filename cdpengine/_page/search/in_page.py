"""Search for nodes by a script in one document: selectors, visible text, labels, attributes, and combinations.

Rule: the script runs in the isolated world, open shadow roots included. Compiled patterns are never sent to the
page: it returns the strings, and the engine chooses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import trio

from cdpengine._checks import invalid
from cdpengine._javascript import own, script
from cdpengine._page.navigation.documents import Document, document_error
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.search.criteria import Criteria
from cdpengine.errors import RemoteError
from cdpengine.errors.selectors import advise

MOST = 2000
"""Maximum number of matching nodes that are processed in one document."""


class _Strings(msgspec.Struct):
    """The strings of a document's elements.

    In `elements`, an element is the start and end of its visible text, and the index after its last descendant.
    `strings` has for each other criterion a list of strings for each element.
    """

    text: str = ""
    elements: list[tuple[int, int, int]] = []
    strings: dict[str, list[list[str]]] = {}
    invalid: str = ""


class _Head(msgspec.Struct):
    descriptions: list[str] = []
    invalid: str = ""
    selector: str = ""


@cache
def _script(name: str) -> str:
    """Return the source of the function `name` of a request and remote arguments, with matching.js."""
    search, matching = script("_page/navigation/node_search"), script("_page/search/matching")
    return own(
        "function (request, ...given) { "
        f"const search = ({search})(); return ({script(name)})(request, search, ({matching})(search, given)); }}"
    )


async def select(
    document: Document, criteria: Criteria, *, visible: bool = False, last: bool = False
) -> dict[int, str]:
    """Return the descriptions of the nodes by backend node id that match the criteria of the page's script.

    Raises InvalidArgumentError for an invalid selector, and DocumentGone.
    """
    given: list[RemoteHandle] = []
    query = await leaf_request(document, criteria, given)
    return await evaluate(document, query, given, visible=visible, last=last)


async def leaf_request(
    document: Document, criteria: Criteria, given: list[RemoteHandle]
) -> Mapping[str, object]:
    """Return the criteria as a query of matching.js. Objects that it refers to are added to `given`."""
    patterns = criteria.patterns
    if not patterns:
        return criteria.request()
    request = {"leaf": criteria.request(), "patterns": list(patterns)}
    made = await document.make(_script("_page/search/pattern_strings"), request)
    index = await document.ask(made, "function () { return this.index; }", kind=_Strings)
    _refuse(index.invalid, criteria.css)
    given.append(made)
    return {"kind": "chosen", "at": len(given) - 1, "places": _matching_places(index, criteria)}


async def evaluate(
    document: Document,
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
    await trio.lowlevel.checkpoint_if_cancelled()
    call = document.context.post(
        _script("_page/search/find"), request, *given, how=SERIALIZED, group=document.group
    )
    try:
        head, nodes = await text_and_nodes(call, _Head)
    except RemoteError as error:
        raise document_error(error) from None
    _refuse(head.invalid, head.selector)
    numbers = [node.backend_node_id for node in nodes if node is not None]
    return dict(zip(numbers, head.descriptions, strict=True))


def _refuse(reason: str, css: str | None) -> None:
    if reason:
        advice = advise(css or "")
        expected = f"a CSS selector. {advice}" if advice else f"a selector ({reason})"
        raise invalid("css", css, expected)


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
