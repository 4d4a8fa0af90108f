"""Readings of nodes for assertions: one property of several nodes, in one call for each document.

Rule: the content belongs to the user and may contain secrets, such as the value of a password field. So the calls
are not registered as the engine's own, and recordings withhold their results. While watches run, their reader
reads, and then reports a change of the property that no mutation reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias

import attrs
import msgspec

from cdpengine._javascript import script, with_dom
from cdpengine._page.navigation.documents import (
    Document,
    DocumentGone,
    FrameWatches,
    document_error,
    open_document,
)
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.node_lists import objects_of_nodes
from cdpengine._page.scripts.page_functions import SETTLED_VALUE, RemoteHandle, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.search.locator import FoundNode
from cdpengine.errors import RemoteError

What: TypeAlias = Literal[
    "attached", "visible", "enabled", "editable", "checked", "focused", "empty", "view", "text", "inner_text",
    "value", "values", "attribute", "style", "error_message",
]  # fmt: skip

_READ = "function (request, ...nodes) { return this.read(request, nodes); }"


@attrs.frozen
class ReadingRequest:
    """The property to read. `name` is the name of an attribute or a style property."""

    what: What
    name: str = ""


class Reading(msgspec.Struct):
    """The property of one node. `value` is None if the node has no such property.

    `why` is the reason for a missing property or a false state. `secret`: the value must not be displayed.
    """

    attached: bool = False
    value: bool | float | str | list[str] | None = None
    why: str = ""
    secret: bool = False


class _Readings(msgspec.Struct):
    readings: list[Reading] = []


@cache
def reader_source() -> str:
    """Return the source of an expression that makes the reader of readings.js."""
    tools, states = script("_page/scripts/node_tools"), script("_page/scripts/node_states")
    reader, secret = script("_page/search/readings"), script("_page/scripts/secret_field")
    state = (
        f"(node) => {{ const tools = ({tools})(node, {{}}); "
        f"return {{ element: tools.element, state: ({states})(node, tools) }}; }}"
    )
    return f"({reader})({state}, ({secret})())"


@cache
def watch_source() -> str:
    """Return the source of a function that makes the watch of waiting.js with a reader."""
    search, watch = script("_page/navigation/node_search"), script("_page/navigation/waiting")
    return f"function (request) {{ return ({watch})(request, ({search})(), null, {reader_source()}); }}"


@cache
def _single_reading() -> str:
    return with_dom(f"function (request, ...nodes) {{ return {reader_source()}.take(request, nodes); }}")


async def read_nodes(
    page: PageTarget,
    worlds: IsolatedWorlds,
    nodes: Sequence[FoundNode],
    request: ReadingRequest,
    watches: FrameWatches | None,
) -> list[Reading]:
    """Return the property of each node. A node that is no longer in its document is not `attached`.

    Raises DocumentGone if a document was replaced, and the errors of `Session.call`.
    """
    readings: dict[FoundNode, Reading] = {}
    for key in dict.fromkeys((node.frame_id, node.loader_id, node.session_id) for node in nodes):
        frame = page.frames.get(key[0])
        if frame is None or frame.loader_id != key[1]:
            raise DocumentGone(key[0])
        here = [node for node in nodes if (node.frame_id, node.loader_id, node.session_id) == key]
        watched = None if watches is None else watches.watched(frame)
        if watched is not None:
            readings.update(await _read(watched[0], here, request, watched[1]))
            continue
        document = await open_document(worlds, frame)
        try:
            readings.update(await _read(document, here, request, None))
        finally:
            document.release()
    return [readings[node] for node in nodes]


async def _read(
    document: Document, nodes: Sequence[FoundNode], request: ReadingRequest, watch: RemoteHandle | None
) -> dict[FoundNode, Reading]:
    wanted = attrs.asdict(request)
    with object_group("readings") as group:
        try:
            numbers = [node.backend_node_id for node in nodes]
            objects = await objects_of_nodes(
                document.session, numbers, group, executionContextId=document.context.id
            )
            if watch is not None:
                found = await watch.call(
                    _READ, wanted, *objects.values(), returns=_Readings, how=SETTLED_VALUE, group=group
                )
            else:
                found = await document.context.call(
                    _single_reading(),
                    wanted,
                    *objects.values(),
                    returns=_Readings,
                    how=SETTLED_VALUE,
                    group=group,
                )
        except RemoteError as error:
            raise document_error(error) from None
    by_number = dict(zip(objects, found.readings, strict=False))
    return {node: by_number.get(node.backend_node_id, Reading()) for node in nodes}
