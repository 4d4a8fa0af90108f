"""The page library: its source, its calls on a node, and the comparison of the node's name in the same call.

Rule: code that runs in a page is a function of a .js file, called on a node in the isolated world of its frame.
It returns plain JSON, which is decoded into the requested type, or a remote object. Chrome's termination of
scripts hits all scripts of a renderer process, so any call may be repeated. A function that may change the page
gets a number: the library runs it once and returns its result again (see once.js).

A function is sent with its source until Chrome has answered such a call. The library keeps it, and later calls in
the same document send its number only: sources of 20 kB take 0.3 ms to send, parse and compile.

A page can reuse a node for other content, as virtual lists do. The call that probes a node before an action also
compares its role and name with those that the caller knows (`naming.js`), without an extra round trip. If they
differ, `NameChanged` ends the action before any input is sent. The exception never leaves the engine: the code
that resolved the ref catches it, reads the current name, and decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import (
    SETTLED_OBJECT,
    SETTLED_VALUE,
    How,
    Node,
    ObjectGroup,
    RemoteHandle,
    context_gone,
    value_of,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds, KnownElement
from cdpengine._protocol.calls import NEIGHBOR_STOPPED, PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationFailedError, EvaluationTerminatedError, RemoteError, StaleRefError

T = TypeVar("T")

_runs: WeakKeyDictionary[Session, Iterator[int]] = WeakKeyDictionary()
"""The next number by session: the same program sends the same numbers, so that its recording can be replayed."""

_StoredFunctions: TypeAlias = dict[str, tuple[int, PendingCall | None]]
"""Functions that a library keeps: their numbers by source, and the first call, None once it was answered."""

_stored_functions: WeakKeyDictionary[RemoteHandle, _StoredFunctions] = WeakKeyDictionary()

_CUT_OFF = "cut off by a termination"
"""The message of the error that once.js throws."""


@attrs.frozen
class Handle:
    """A node, its remote object in the isolated world of its frame, and the library in that world."""

    node: Node
    object: RemoteHandle
    library: RemoteHandle


@attrs.frozen
class KnownHandle:
    """A node as the element that a snapshot's walk knows in the node's world, and the library there."""

    node: Node
    element: KnownElement
    library: RemoteHandle


AnyHandle = Handle | KnownHandle


GONE = '{ connected: false, element: "an element that is gone" }'


@cache
def _sources(expression: str, gone: str, act: str, once: bool) -> tuple[str, str]:
    """Return two functions that evaluate the expression of `node` and `request`: one for a node, one for a number.

    The second function returns `gone` if the element with its number no longer exists. `act` is an expression for
    the engine's function, which `expression` calls as `act`, or "". With `once`, the request is numbered, and the
    expression calls `change` before it changes anything: see once.js.
    """
    known = f"const node = this.element(holder, number); return node ? {expression} : {gone};"
    parameters, has = ("{ run, kept, request }", f"const act = {act}; ") if act else ("request", "")
    if not once:
        return (
            own(f"function (node, {parameters}) {{ {has}return {expression}; }}"),
            own(f"function (holder, {parameters}, number) {{ {has}{known} }}"),
        )
    return (
        own(f"function (node, {parameters}) {{ {has}return this.once(run, (change) => {expression}); }}"),
        own(
            f"function (holder, {parameters}, number) {{ {has}return this.once(run, (change) => {{ {known} }}); }}"
        ),
    )


def _post(
    handle: AnyHandle, sources: tuple[str, str], request: object, how: How = SETTLED_VALUE
) -> PendingCall:
    on_node, on_number = sources
    if isinstance(handle, Handle):
        return handle.library.post(on_node, handle.object, request, how=how)
    known = handle.element
    return handle.library.post(on_number, known.holder, request, known.number, how=how)


def _post_function(
    handle: AnyHandle, source: str, use: str, request: object, gone: str, *, once: bool
) -> PendingCall:
    """Post the call `use` of the engine's function `source`, as `act`, on the node. See `_sources`."""
    library = handle.library
    stored = _stored_functions.setdefault(library, {})
    number, first = stored.get(source, (len(stored), None))
    is_stored = source in stored and (first is None or first.succeeded)
    runs = _runs.setdefault(library.session, itertools.count(1))
    arguments = {"run": next(runs) if once else 0, "kept": number, "request": request}
    act = "this.kept(kept)" if is_stored else f"this.kept(kept, {source})"
    call = _post(handle, _sources(use, gone, act, once), arguments)
    stored[source] = number, None if is_stored else call
    return call


def known_handle(node: Node, worlds: IsolatedWorlds) -> KnownHandle | None:
    """Return a handle on a node that a snapshot has seen, or None. Takes no round trip.

    If a call on it reports a stale node, use `handle_on`, which finds out the reason.
    """
    known = worlds.known_element(node) if node.valid() else None
    return None if known is None else KnownHandle(node, *known)


async def handle_on(node: Node, worlds: IsolatedWorlds, group: ObjectGroup) -> Handle:
    """Return a handle on the node, in `group`.

    Raises StaleRefError if Chrome does not know the frame, or the frame's document does not contain the node.
    """
    try:
        found = await worlds.resolve(node, group, _library_source())
    except RemoteError as error:
        raise stale_ref_error(node, "a node of another document", "its document is gone") from error
    library = worlds.library(node, found)
    if library is None or not node.valid():
        # A node of another document, perhaps of another process, may have the same number.
        raise stale_ref_error(node, "a node of another document", "its document was replaced")
    return Handle(node, found, library)


def post_library_call(handle: AnyHandle, name: str, request: object, *, by_value: bool = True) -> PendingCall:
    """Post a call of the library's function `name` on the node. Promises are awaited in the page."""
    how = SETTLED_VALUE if by_value else SETTLED_OBJECT
    gone = GONE if name == "probe" else "null"
    return _post(handle, _sources(f"this.{name}(node, request)", gone, "", False), request, how)


def post_use(handle: AnyHandle, source: str, request: object) -> PendingCall:
    """Post a probe of the node and, if nothing hinders its use, a call of the engine's function on it."""
    use = "this.use(node, request, act, change)"
    return _post_function(handle, source, use, request, f"{{ seen: {GONE}, made: null }}", once=True)


def post_run(handle: AnyHandle, source: str, request: object, *, changes: bool = True) -> PendingCall:
    """Post a call of the engine's function on the node, with `request` and the library's key guards.

    Promises are awaited in the page. With `changes` the function may change the page, so it runs once.
    """
    use = "act.call(node, request, this.keys)"
    return _post_function(
        handle, source, f"change(() => {use})" if changes else use, request, "null", once=changes
    )


async def decode_result(pending: PendingCall, node: Node, kind: type[T]) -> T:
    """Return the decoded result of a posted call.

    Raises StaleRefError, EvaluationFailedError, ProtocolError, and EvaluationTerminatedError if a
    termination ended a function that may have changed the page.
    """
    try:
        return await value_of(pending, kind)
    except EvaluationFailedError as error:
        if _CUT_OFF in error.text:
            raise EvaluationTerminatedError(reason=NEIGHBOR_STOPPED) from None
        raise
    except RemoteError as error:
        check_not_gone(node, error)
        raise


async def run(handle: Handle, source: str, request: object, kind: type[T]) -> T:
    """Call the engine's function on the node and return its result. Raises the errors of `decode_result`."""
    return await decode_result(post_run(handle, source, request), handle.node, kind)


def check_not_gone(node: Node, error: RemoteError) -> None:
    """Raise StaleRefError if the error means that the node's document was replaced."""
    if context_gone(error):
        raise stale_ref_error(node, "a node of another document", "its document was replaced") from error


def stale_ref_error(node: Node, what: str, reason: str) -> StaleRefError:
    """Return a StaleRefError for the node. `what` describes the node, `reason` why it is stale."""
    return StaleRefError(ref=node.description, description=what, reason=reason)


# --- names of nodes ------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Expected:
    """Role and name that node `number` must have: one of Chrome's `roles`, and `name`.

    `checked`: whether a comparison has succeeded. Changes caused by the action itself are then ignored.
    """

    number: int
    roles: tuple[str, ...]
    name: str
    checked: bool = False


@attrs.frozen
class NamedNode(Node):
    """A node whose role and name must match its ref."""

    expected: Expected = attrs.field(kw_only=True, eq=False, repr=False)


class NameChanged(Exception):
    """The node's current `role` and `name` differ from the expected ones."""

    def __init__(self, node: Node, role: str, name: str) -> None:
        self.node, self.role, self.name = node, role, name


def due_expectation(node: Node) -> Expected | None:
    """Return the comparison that is still due for a node, or None. Only nodes named by a ref have one."""
    if (
        isinstance(node, NamedNode)
        and not node.expected.checked
        and node.expected.number == node.backend_node_id
    ):
        return node.expected
    return None


def name_expectation(node: Node) -> Mapping[str, Any] | None:
    """Return the `expected` argument of the library's comparison, or None if no comparison is due."""
    expected = due_expectation(node)
    return None if expected is None else {"roles": expected.roles, "name": expected.name}


def check_name(node: Node, renamed: tuple[str, str] | None) -> None:
    """Raise NameChanged if the library reported another role or name."""
    if renamed is not None:
        raise NameChanged(node, *renamed)


def note_name_checked(node: Node) -> None:
    """Note that the comparison succeeded and the action begins."""
    if isinstance(node, NamedNode):
        node.expected.checked = True


async def run_with_renaming(
    node: Node, do: Callable[[Node], Awaitable[T]], settle: Callable[[NameChanged], Awaitable[Node]]
) -> T:
    """Run `do` on a node. On NameChanged, run it on the node that `settle` returns; `settle` may raise."""
    try:
        return await do(node)
    except NameChanged as changed:
        settled = await settle(changed)
    return await do(settled)


# --- the source ----------------------------------------------------------------------------------------------


@cache
def _library_source() -> str:
    """Return the source of the library. It is sent to and compiled in each world once."""
    names = (
        "input_observer",
        "actionability",
        "input_report",
        "covering",
        "places",
        "label",
        "once",
        "when_usable",
        "pace",
    )
    sources = (script(f"_input/actionability/{name}") for name in names)
    arms, probe, report, covering, places, label, once, use, pace = sources
    guards = script("_input/actionability/key_guard")
    tools, states = script("_page/scripts/node_tools"), script("_page/scripts/node_states")
    return own(f"""function () {{
      const toolsOf = {tools};
      const statesOf = {states};
      const known = {{ marks: false, held: null, last: null, observers: new Map(), renamed: {_naming_source()} }};
      const tools = (node) => toolsOf(node, known);
      const arms = {arms};
      const observer = (wanted, points, of) => arms(wanted, points, of, known);
      const probe = {probe};
      const report = {report};
      const covering = {covering};
      const places = {places};
      const label = {label};
      const use = {use};
      const functions = new Map();
      const labelOf = (node) => label.call(node, tools, places);
      return {{
        observers: known.observers,
        keys: ({guards})(tools, ({pace})()),
        once: ({once})(),
        // Keeps a function under its number, or returns the kept one.
        kept: (number, act) => (act ? functions.set(number, act).get(number) : functions.get(number)),
        use,
        // Resolves an element's number. The element is kept alive until the next call.
        element: (holder, number) => (known.held = holder.element(number) || null),
        probe: (node, request) => {{
          const of = tools(node);
          return probe.call(node, request, of, statesOf(node, of), observer, known, labelOf);
        }},
        states(node) {{ return statesOf(node, tools(node)).all(this.keys.drawnByPage); }},
        drag: (node, dragging) => {{ known.dragged = dragging ? tools(node).element : null; }},
        covering: (node, request) => covering.call(node, request, tools(node)),
        places: (node, request) => places.call(node, request, tools(node)),
        label: labelOf,
        renamed: (node, expected) => known.renamed(tools(node).element, expected),
        report: (node, request) => report.call(node, request, tools(node)),
      }};
    }}""")


@cache
def _naming_source() -> str:
    """Return the source of naming.js with its dependencies."""
    own = ("dom_roles", "dom_names", "dom_text", "/", "walk_dom", "walk_elements", "walk_owners")
    paths = ("_page/scripts/secret_field" if part == "/" else f"_snapshot/sources/{part}" for part in own)
    names = f"{script('_snapshot/sources/dom_kit')}({', '.join(script(path) for path in paths)})"
    return f"{script('_input/actionability/naming')}({names})"
