"""PersonObserver: a person's actions in the browser window, reported by trusted DOM events.

Rule: the observer runs in an isolated world of each document, so the page cannot detect it. Reports keep
their order of arrival. The observer looks up the node of a report immediately, because the page may leave
the document a moment later. The observer never reads the value of a secret field. It reads a field only
after `FieldFacts` show that the field is harmless. Reports that arrive while a verb of the engine runs
belong to that verb, and the observer drops them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs
import msgspec
import trio

from cdpengine import Page, _json
from cdpengine._evaluate.init_script import InitScript
from cdpengine._javascript import own, script, with_dom
from cdpengine._page.navigation.active_document import request_of_active
from cdpengine._page.page_scope import PageScope, SessionOverride
from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply, SerializedNode
from cdpengine._page.scripts.page_functions import Command, ExecutionContext, ObjectGroup, new_group
from cdpengine._page.scripts.page_functions import Node as BrowserNode
from cdpengine._page.tabs import Posted
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import (
    FrameRequestedNavigation,
    FrameStartedNavigating,
    NavigationHistoryReply,
)
from cdpengine._protocol.domains.runtime import BindingCalled
from cdpengine._protocol.messages import decode_payload
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.cache.learning.fields import NO_FACTS, FieldFacts, secret_name
from cdpengine.errors import EngineError, RemoteError

WORLD = "cdpengine.learning"
"""Name of the observer's isolated world. The engine's other scripts run in a different world."""

ANSWERING = 1.0
"""Maximum time for a document to return a node or a field's value, in seconds."""

BEGINNING = 3.0
"""Maximum time for a page to confirm the start of the observation, in seconds."""

_MOST_WAITING = 1_000
"""Maximum number of queued reports. Further reports count as lost."""

_MOST_NODES = 100


class Report(msgspec.Struct):
    """One report of person.js."""

    kind: str
    number: int = 0
    facts: FieldFacts = NO_FACTS
    text: str | None = None
    label: str = ""
    role: str = ""
    button: str = "left"
    count: int = 1
    modifiers: list[str] = []
    checked: bool = False
    values: list[str] | None = None
    names: list[str] = []
    key: str = ""
    sure: bool = False
    url: str = ""

    def __repr__(self) -> str:
        return f"<{self.kind}>"


@attrs.define(eq=False)
class PersonAction:
    """An action of a person.

    `place` counts the reports. A view shows the effect of an action if its reading began after the action
    and ended before the next one. `view` is the observer's view at arrival. `at` is the arrival time on
    trio's clock. `where` is the session and the execution context of the report. `rested`: whether the page
    had settled and the engine had read it since the previous action.
    """

    report: Report = attrs.field(repr=False)
    place: int
    view: object = attrs.field(repr=False)
    at: float
    where: tuple[Session, int] | None = attrs.field(default=None, repr=False)
    history: int | None = None
    rested: bool = False


_HINTS = frozenset({"hello", "near", "focus", "changed"})
"""Kinds of reports that are not actions."""


class PersonObserver:
    """An observer of one page.

    The reader task calls `arrived` for each action. It returns the action's place, the current view, and
    whether the page had settled before the action. The observer calls `changed` after a change of the page.
    """

    def __init__(
        self, page: Page, arrived: Callable[[], tuple[int, object, bool]], changed: Callable[[], None]
    ) -> None:
        self._page = page
        self._core = page.internals
        self._arrived = arrived
        self._changed = changed
        self.own_verbs = 0
        self.lost = 0
        self._binding = f"cdpengine_{secrets.token_hex(8)}"
        self._key = f"cdpengine_{secrets.token_hex(8)}"
        tabs = self._core.state.tabs
        self._script = InitScript(tabs, self._source(), world=WORLD, at_once=True)
        self._group: ObjectGroup = new_group("person")
        scope = PageScope.of_page(tabs, self._core.target, popups=False)
        self._override = SessionOverride(scope, self._begin, self._end)
        self._listeners: dict[Session, Callable[[Event], None]] = {}
        self._contexts: dict[tuple[Session, int], None] = {}
        self._nodes: OrderedDict[tuple[Session, int, int], PendingCall] = OrderedDict()
        self._found: OrderedDict[tuple[Session, int, int], list[SerializedNode]] = OrderedDict()
        self._requested: set[str] = set()
        self._history: int | None = None
        self._send, self.actions = trio.open_memory_channel[PersonAction](_MOST_WAITING)

    def _source(self) -> str:
        parts = ", ".join(
            [
                _json.encode_ascii(self._binding),
                _json.encode_ascii(self._key),
                f"({script('_page/scripts/secret_field')})()",
                f"({script('cache/learning/field_facts')})",
            ]
        )
        return with_dom(f"({script('cache/learning/person')}\n)({parts})")

    @asynccontextmanager
    async def observing(self, note: Callable[[str], None]) -> AsyncIterator[None]:
        """Observe the page while the block runs. On a timeout or an error, call `note` with the reason."""
        try:
            with trio.move_on_after(BEGINNING) as scope:
                try:
                    await self._override.enter()
                except EngineError as error:
                    note(f"what a person does cannot be seen: {type(error).__name__}")
            if scope.cancelled_caught:
                note("what a person does may not be seen before the next document: the page did not answer")
            yield
        finally:
            await self._override.leave()
            for call in self._nodes.values():
                call.abandon()
            self._nodes.clear()
            self._group.release()
            self._send.close()

    @property
    def sees(self) -> bool:
        """Whether every session of the page has a document that reports changes."""
        return {session for session, _ in self._contexts} >= set(self._core.target.frame_sessions.values())

    # --- sessions ------------------------------------------------------------------------------------------------

    def _begin(self, session: Session) -> Sequence[Posted]:
        # Chrome adds bindings to new documents only while the Runtime domain is enabled.
        calls: list[Posted] = [*session.domains.acquire("Runtime")]
        calls.append(session.post("Runtime.addBinding", name=self._binding, executionContextName=WORLD))

        def called(event: Event) -> None:
            self._take(session, event)

        self._listeners[session] = called
        session.on_event("Runtime.bindingCalled", called)
        if session is self._core.session:
            session.on_event("Page.frameRequestedNavigation", self._note_requested)
            session.on_event("Page.frameStartedNavigating", self._note_started)
        calls += self._script.begin(session)
        return calls

    def _end(self, session: Session) -> Sequence[Posted]:
        listener = self._listeners.pop(session, None)
        if listener is None:
            return []
        session.off_event("Runtime.bindingCalled", listener)
        if session is self._core.session:
            session.off_event("Page.frameRequestedNavigation", self._note_requested)
            session.off_event("Page.frameStartedNavigating", self._note_started)
        calls: list[Posted] = [
            self._post(session, context, "stop()") for of, context in self._contexts if of is session
        ]
        calls += self._script.end(session)
        calls.append(session.post("Runtime.removeBinding", name=self._binding))
        session.domains.release("Runtime")
        return calls

    def _post(self, session: Session, context: int, call: str, **how: Any) -> PendingCall:
        expression = f"globalThis[{_json.encode_ascii(self._key)}]?.{call}"
        return ExecutionContext(session, context).post_expression(
            own(expression) if call in _OWN else expression, **how
        )

    def _tell(self, call: str) -> dict[tuple[Session, int], PendingCall]:
        """Send a call to all documents without waiting for the replies."""
        posted = {}
        for session, context in list(self._contexts):
            if session.ended:
                del self._contexts[session, context]
                continue
            with suppress(EngineError):
                posted[session, context] = self._post(session, context, call)
        return posted

    async def flush(self) -> None:
        """Make all documents report pending input, and wait for the replies."""
        calls = self._tell("flush()")
        try:
            with trio.move_on_after(ANSWERING):
                for where, call in calls.items():
                    try:
                        await call.raw()
                    except EngineError:
                        self._contexts.pop(where, None)  # the document no longer exists
        finally:
            for call in calls.values():
                call.abandon()

    def reset(self) -> None:
        """Make all documents discard pending input, because the engine entered it."""
        self._tell("reset()")

    def watch(self) -> None:
        """Request a report of the page's next change."""
        self._tell("watch()")

    # --- reports -------------------------------------------------------------------------------------------------

    def _take(self, session: Session, event: Event) -> None:
        """Handle a report. Runs in the reader task, so it sends without waiting."""
        called = event.decode(BindingCalled)
        if called.name != self._binding:
            return
        report = decode_payload(called.payload.encode("utf-8", "surrogatepass"), Report)
        context = called.execution_context_id
        self._contexts[session, context] = None
        if report.kind == "hello":
            return
        if report.kind == "changed":
            self._changed()
        elif not self.own_verbs:
            where = (session, context)
            if report.number:
                self._ask(where, report.number)
            if report.kind == "focus" and secret_name(report.facts) is None:
                with suppress(EngineError):
                    self._post(session, context, f"allow({report.number})")
            if report.kind not in _HINTS:
                self._put(report, where)

    def _put(self, report: Report, where: tuple[Session, int] | None) -> None:
        place, view, rested = self._arrived()
        try:
            self._send.send_nowait(
                PersonAction(report, place, view, trio.current_time(), where, self._history, rested)
            )
        except (trio.WouldBlock, trio.BrokenResourceError):
            self.lost += 1

    def _ask(self, where: tuple[Session, int], number: int) -> None:
        """Request the node of a number immediately, without waiting for the reply."""
        session, context = where
        key = (session, context, number)
        if key in self._nodes or key in self._found:
            return
        with suppress(EngineError):
            self._nodes[key] = self._post(
                session, context, f"around({number})", how=SERIALIZED, group=self._group
            )
        while len(self._nodes) > _MOST_NODES:
            self._nodes.popitem(last=False)[1].abandon()

    async def nodes_of(self, action: PersonAction) -> tuple[BrowserNode | None, list[int]]:
        """Return the node of an action and the backend node ids of the node and its ancestors.

        Return (None, []) if the node is gone.
        """
        if action.where is None:
            return None, []
        session, context = action.where
        key = (session, context, action.report.number)
        if key not in self._found:
            found = await self._answer_of(key)
            if not found:
                return None, []
            self._found[key] = found
            while len(self._found) > _MOST_NODES:
                self._found.popitem(last=False)
        found = self._found[key]
        numbers = [each.backend_node_id for each in found]
        frames = [frame for frame in self._core.target.frames if frame.session is session]
        frame = next((each for each in frames if each.loader_id == found[0].loader_id), None)
        frame_id = frame.id if frame is not None else (frames[0].id if len(frames) == 1 else "")
        return BrowserNode(session, numbers[0], frame_id, "an element that a person used"), numbers

    async def _answer_of(self, key: tuple[Session, int, int]) -> list[SerializedNode]:
        call = self._nodes.pop(key, None)
        if call is None:
            return []
        try:
            with trio.move_on_after(ANSWERING), suppress(EngineError):
                reply = await call.decoded(NodesReply)
                if reply.exception_details is None:
                    return reply.result.deep_serialized_value.nodes()
        finally:
            call.abandon()
        return []

    async def text_of(self, action: PersonAction) -> str | None:
        """Return the input of an action. Read the field if the report lacks it. None for a secret."""
        if action.report.text is not None or secret_name(action.report.facts) is not None:
            return action.report.text
        if action.where is None or action.report.facts.secret:
            return None
        session, context = action.where
        with trio.move_on_after(ANSWERING), suppress(EngineError, RemoteError):
            call = self._post(
                session, context, f"inputOf({action.report.number})", how={"returnByValue": True}
            )
            reply = await call.decoded(dict[str, Any])
            value = reply.get("result", {}).get("value")
            return value if isinstance(value, str) else None
        return None

    async def moved_in_history(self, action: PersonAction) -> int:
        """Return the offset of a history navigation, or 0 if it is not known. Negative offsets go back."""
        known, history = action.history, await self._read_history()
        if history is None:
            return 0
        index, entries = history.current_index, history.entries
        if known is not None and index != known:
            return index - known
        # The navigation has not committed yet.
        places = [
            place
            for place, entry in enumerate(entries)
            if abs(place - index) == 1 and entry.url == action.report.url
        ]
        return places[0] - index if len(places) == 1 else 0

    async def note_history(self) -> None:
        """Remember the page's current position in its history."""
        history = await self._read_history()
        self._history = None if history is None else history.current_index

    async def _read_history(self) -> NavigationHistoryReply | None:
        with trio.move_on_after(ANSWERING), suppress(EngineError):
            return await request_of_active(
                self._core.session, Command("Page.getNavigationHistory", {}), NavigationHistoryReply
            )
        return None

    # --- navigations ---------------------------------------------------------------------------------------------

    def _note_requested(self, event: Event) -> None:
        self._requested.add(event.decode(FrameRequestedNavigation).frame_id)

    def _note_started(self, event: Event) -> None:
        """Report a main-frame navigation that the browser's UI started: the address bar, Back or Reload."""
        started = event.decode(FrameStartedNavigating)
        requested = started.frame_id in self._requested
        self._requested.discard(started.frame_id)
        if requested or self.own_verbs or started.frame_id != self._core.target.frames.main.id:
            return
        kind = _NAVIGATIONS.get(started.navigation_type)
        if kind is not None:
            self._put(Report(kind=kind, url=started.url), None)


_NAVIGATIONS = {
    "reload": "reload",
    "reloadBypassingCache": "reload",
    "differentDocument": "navigate",
    "historyDifferentDocument": "history",
    "historySameDocument": "history",
}

_OWN = frozenset({"flush()", "reset()", "watch()", "stop()"})
