"""Probes: nodes as objects in isolated worlds, and what is asked of them there.

Rule: what runs in a page is a function of a .js file, called on a node in the isolated world of its frame. Its
answer is plain JSON, decoded into the type that was asked for, or a remote object. What every action needs is a
library, installed once in each world: sending and compiling it again each time would cost more than running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import attrs
import msgspec

from cdpengine._input.geometry import Point, Quad
from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_OBJECT,
    SETTLED_VALUE,
    ObjectGroup,
    RemoteHandle,
    object_group,
    object_of,
    value_of,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds, Node, context_gone
from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import EvaluationFailedError, RemoteError, StaleRefError

T = TypeVar("T")

_LIBRARY_GROUP = "cdpengine-library"
"""Never released: the library lives as long as its document."""


@attrs.frozen
class Handle:
    """A node, its remote object in the isolated world of its frame, and the library in that world."""

    node: Node
    object: RemoteHandle
    library: RemoteHandle


@cache
def _library() -> str:
    """Return the source of what is installed once in each world, so that it is sent and compiled once."""
    tools, arms, probe, report, covering, area = (
        script(f"_input/actionability/{name}")
        for name in ("node_tools", "input_observer", "actionability", "input_report", "covering", "area")
    )
    return own(f"""function () {{
      const tools = {tools};
      const known = {{ marks: false }};
      const arms = {arms};
      const observer = (wanted, points, of) => arms(wanted, points, of, known);
      const probe = {probe};
      const report = {report};
      const covering = {covering};
      const area = {area};
      return {{
        probe: (node, request) => probe.call(node, request, tools(node), observer, known),
        drag: (node, dragging) => {{ known.dragged = dragging ? tools(node).element : null; }},
        covering: (node, request) => covering.call(node, request, tools(node)),
        area: (node, request) => area.call(node, request, tools(node)),
        report: (node, request) => report.call(node, request, tools(node)),
      }};
    }}""")


@cache
def _call_of(name: str) -> str:
    return own(f"function (node, request) {{ return this.{name}(node, request); }}")


async def handle_on(node: Node, worlds: IsolatedWorlds, group: ObjectGroup) -> Handle:
    """Return a handle on the node, in `group`.

    Raises StaleRefError when Chrome knows no such frame, or no such node in the document that the frame shows.
    """
    try:
        found = await worlds.resolve(node, group)
        library = worlds.library(node, found)
        if library is None:
            library = await found.make(_library(), group=_LIBRARY_GROUP)
            if library is None:
                raise EvaluationFailedError(
                    text="the engine's own functions could not be installed: they gave no object"
                )
            worlds.keep_library(node, library)
    except RemoteError as error:
        raise stale_ref_error(node, "a node of another document", "its document is gone") from error
    if not node.valid():
        # Another document, perhaps of another process, answered for a node of its own with the same number.
        raise stale_ref_error(node, "a node of another document", "its document was replaced")
    return Handle(node, found, library)


def post_library_call(handle: Handle, name: str, request: object, *, by_value: bool = True) -> PendingCall:
    """Post a call of the library's function `name` on the node. Promises are awaited in the page."""
    how = SETTLED_VALUE if by_value else SETTLED_OBJECT
    return handle.library.post(_call_of(name), handle.object, request, how=how)


def post_run(handle: Handle, source: str, request: object) -> PendingCall:
    """Post a call of the engine's own function `source` on the node, with one argument.

    Promises are awaited in the page.
    """
    return handle.object.post(own(source), request, how=SETTLED_VALUE)


async def decode_result(pending: PendingCall, node: Node, kind: type[T]) -> T:
    """Return what such a call answered. Raises StaleRefError, EvaluationFailedError, UndecodableReplyError."""
    with _stale_where_gone(node):
        return await value_of(pending, kind)


async def decode_object(pending: PendingCall, node: Node) -> RemoteHandle | None:
    """Return the remote object that a call without `by_value` gave, None for null. Raises as `returned` does."""
    with _stale_where_gone(node):
        return await object_of(pending, node.session)


async def run(handle: Handle, source: str, request: object, kind: type[T]) -> T:
    """Post, and return the answer."""
    return await decode_result(post_run(handle, source, request), handle.node, kind)


@contextmanager
def _stale_where_gone(node: Node) -> Iterator[None]:
    try:
        yield
    except RemoteError as error:
        if context_gone(error):
            raise stale_ref_error(node, "a node of another document", "its document was replaced") from error
        raise


def stale_ref_error(node: Node, what: str, reason: str) -> StaleRefError:
    """Return the error for a node that is no longer what it was."""
    return StaleRefError(ref=node.description, description=what, reason=reason)


async def related_node(
    node: Node, name: str, request: object, description: str, *, worlds: IsolatedWorlds
) -> Node | None:
    """Return the node that the function in the file `name` gives for `node` and `request`; None for none.

    Raises StaleRefError when the node's document is gone, EvaluationFailedError when the function threw.
    """
    with object_group("related") as group:
        try:
            found = await object_from(await handle_on(node, worlds, group), name, request)
            if found is None:
                return None
            number = await found.backend_node_id()
        except RemoteError as error:
            if not context_gone(error):
                raise
            raise stale_ref_error(node, "a node of another document", "its document was replaced") from error
    return attrs.evolve(node, backend_node_id=number, description=description)


async def object_from(handle: Handle, name: str, request: object) -> RemoteHandle | None:
    """Return the remote object that the function in the file `name` gives; None for null.

    Chrome puts it into the object group that the handle's node is in.
    """
    return await decode_object(handle.object.post(own(script(name)), request, how=OBJECT), handle.node)


class ProbeReply(msgspec.Struct):
    """What actionability.js answers. A reason is "" when there is none; `point` is that of a quick one.

    `never`: no waiting helps. `frees`: what another action has to do first. `behind`: the modal dialog in the way.
    """

    connected: bool
    element: str
    invisible: str = ""
    disabled: str = ""
    uneditable: str = ""
    readonly: str = ""
    moved: bool = False
    hits: list[bool] = []
    covered: str = ""
    untouchable: bool = False
    never: str = ""
    frees: str = ""
    behind: str = ""
    point: Point | None = None


def probe_request(
    points: Sequence[Point],
    frame: Quad | None = None,
    *,
    settle: bool = False,
    quick: bool = False,
    dragging: bool = False,
) -> dict[str, Any]:
    """Return what the library's `probe` is asked; with `frame`, the points are taken to fractions of it.

    With `quick` it chooses the point itself, if there is one that needs no measuring. With `dragging`, what is
    being dragged covers nothing.
    """
    if frame is not None:
        points = [frame.fractions(point) or Point(-1, -1) for point in points]
    return {
        "points": list(points),
        "fractions": frame is not None,
        "settle": settle,
        "quick": quick,
        "dragging": dragging,
        "observer": None,
    }
