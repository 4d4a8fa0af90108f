"""Session, Connection and Targets: the sessions of the browser and its targets, over one wire.

Rule: a session serves one target over a shared connection. When the target ends, every pending call fails with the
reason, every stream ends, and further calls fail immediately. Other sessions of the connection are not affected.

The reader keeps the list of targets message by message, before it routes any later message. A session exists from
its attach event until its detach event. Only those few events are decoded here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, TypeVar

import msgspec
import trio

from cdpengine._budget import check_run, find_run
from cdpengine._checks import check_count
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains import REPORTING_DOMAINS
from cdpengine._protocol.domains.target import (
    AttachedToTarget,
    DetachedFromTarget,
    TargetCrashed,
    TargetCreated,
    TargetDestroyed,
    TargetInfo,
    TargetInfoChanged,
)
from cdpengine._protocol.enabled_domains import EnabledDomains
from cdpengine._protocol.feed import SessionFeed
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.pycdp import run_command
from cdpengine._protocol.streams import Event, EventFeed, EventStream, caller, domain_of
from cdpengine._protocol.transport import Transport
from cdpengine._protocol.wire import ConnectionStatistics, Wire
from cdpengine.errors import EngineError, InvalidArgumentError, ProtocolError, SessionGoneError

T = TypeVar("T")

_ALLOWED_AFTER_CRASH = frozenset(
    {
        "Page.reload",
        "Page.navigate",
        "Page.getNavigationHistory",
        "Page.navigateToHistoryEntry",
        "Page.close",
        "Page.bringToFront",
        "Inspector.enable",
    }
)
"""Commands that the browser process answers for a target whose renderer is dead."""


@not_picklable("replies, as dicts")
class Session:
    """A flattened session. `id` is Chrome's session id, `target_id` its target; both are None for the browser.

    `target_type` is the type of the target ("page", "iframe", "worker", "browser"), `parent` the session through
    which it was attached, `connection` its connection. `frame_id` is the id of its outermost frame, mostly equal
    to the target's id. `feed` and `domains` are for the engine.
    `documents_shown` increases each time the target shows a document: a remote object id is valid while the number
    is unchanged. `lived` is whether the target's renderer has answered the set-up; it is false for a discarded
    tab, which has no renderer. `closing_reason` is the reason if this program closes the target.
    """

    def __init__(
        self,
        connection: Connection,
        session_id: str | None,
        *,
        target_id: str | None = None,
        target_type: str = "browser",
        parent: Session | None = None,
    ) -> None:
        self.connection = connection
        self._wire = connection.wire
        self.id = session_id
        self.target_id = target_id
        self.frame_id = target_id or ""
        self.target_type = target_type
        self.parent = parent
        self.feed = SessionFeed(session_id, self.describe, self._wire.consumers, self._wire.faults)
        self.domains = EnabledDomains(self._enable, self._disable)
        self.closing_reason = ""
        self._early = False
        self.lived = False
        self.documents_shown = 0
        self._owner = find_run()

    def __repr__(self) -> str:
        state = " ended" if self.ended else " crashed" if self.crashed else ""
        return f"<Session {self.describe()}{state}>"

    def describe(self) -> str:
        """Return a short name for errors and logs: the target's type and the beginning of its id."""
        return self.target_type if self.target_id is None else f"{self.target_type} {self.target_id[:8]}"

    @property
    def ended(self) -> bool:
        """Whether the session is over: its target was closed or detached, or the connection was lost."""
        return self.feed.ended is not None

    @property
    def crashed(self) -> bool:
        """Whether the target's renderer is dead. A reload or a navigation brings it back."""
        return self.feed.crashed

    @property
    def usable(self) -> bool:
        """Whether commands can be sent; if not, `error` returns the reason."""
        return self.feed.usable

    @property
    def is_discarded(self) -> bool:
        """Whether the target has had no renderer since the engine found it, as a discarded tab has none."""
        return self.crashed and not self.lived and not self.ended

    # --- commands -----------------------------------------------------------------------------------------

    def post(self, method: str, given: Mapping[str, Any] | None = None, /, **params: Any) -> PendingCall:
        """Queue one command, in order, and return the pending call without waiting.

        Use it to send several commands together. Parameters are passed as in `call`. Await each result, or abandon
        the call. Raises InvalidArgumentError if a parameter has no JSON form, SessionGoneError or
        ConnectionLostError if the session or connection ended.
        """
        return self._post(method, params if given is None else _merge_params(method, given, params))

    def post_own(self, method: str, params: Mapping[str, Any], *, repeats: bool) -> PendingCall:
        """Post a call of one of the engine's own functions: see `PendingCall.survive_terminations`."""
        return self._post(method, params).survive_terminations(params, repeats=repeats)

    async def call(
        self, method: str, given: Mapping[str, Any] | None = None, /, **params: Any
    ) -> dict[str, Any]:
        """Send one command and return its result as a dict.

        Pass parameters by name, `call("Page.navigate", url=url)`, as a mapping, `call("Page.navigate", {"url":
        url})`, or both if no name is in both.

        Raises RemoteError if Chrome refuses, SessionGoneError (or TargetCrashedError) if the target ends,
        ConnectionLostError if the connection ends, InvalidArgumentError if a parameter has no JSON form. Has no
        timeout: put a cancel scope around it. A cancelled call leaves no trace.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._send(
            method, params if given is None else _merge_params(method, given, params)
        ).result()

    async def request(self, method: str, params: Mapping[str, Any], kind: type[T]) -> T:
        """Send one command and decode its result as `kind` (msgspec Struct, attrs class, dict, ...).

        Raises the errors of `call`, and ProtocolError, with the raw JSON, if the result has another shape.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._send(method, params).decoded(kind)

    async def execute(self, command: Generator[dict[str, Any], dict[str, Any], T]) -> T:
        """Run one command of the PyCDP convention, such as `cdp.page.navigate(url)`, from any library.

        The generator yields `{"method": ..., "params": ...}`, receives the result, and returns a typed value.
        Raises the errors of `call`, and ProtocolError, with the raw JSON, if the generator cannot decode
        the answer of a newer Chrome.
        """
        return await run_command(command, self._send)

    def post_shared(
        self, method: str, params: Mapping[str, Any], *, also_crashed: bool = False
    ) -> SharedCall:
        """Queue one command with several waiters. Raises the errors of `post`.

        With `also_crashed`, it is sent to a target whose renderer is dead too.
        """
        self._check_usable(method, also_crashed)
        shared = SharedCall(self._wire, self._wire.open_call(method, params, self.id))
        self._wire.wake_writer()
        return shared

    def send_shared(self, method: str, params: Mapping[str, Any]) -> SharedCall:
        """Post a command as `post_shared` does, and write it now if the transport allows."""
        self._check_usable(method)
        shared = SharedCall(self._wire, self._wire.open_call(method, params, self.id))
        self._wire.write_now()
        return shared

    def _post(self, method: str, params: Mapping[str, Any]) -> PendingCall:
        self._check_usable(method)
        pending = PendingCall(self._wire, self._wire.open_call(method, params, self.id))
        self._wire.wake_writer()
        return pending

    def _send(self, method: str, params: Mapping[str, Any]) -> PendingCall:
        self._check_usable(method)
        pending = PendingCall(self._wire, self._wire.open_call(method, params, self.id))
        self._wire.write_now()
        return pending

    def _check_usable(self, method: str, also_crashed: bool = False) -> None:
        check_run(self._owner, f"send {method}")
        feed = self.feed
        if feed.ended is not None:
            raise feed.ended(method)
        if feed.crashed and not (also_crashed or self._early or method in _ALLOWED_AFTER_CRASH):
            raise feed.crash_error(method)

    @contextmanager
    def posting_early(self) -> Iterator[None]:
        """Post commands in the block although the renderer is dead.

        Chrome executes them when it loads a discarded tab, before the document's own scripts. It answers them with
        "Target crashed" if a renderer crashed and is reloaded.
        """
        self._early = True
        try:
            yield
        finally:
            self._early = False

    # --- events -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def subscribe(
        self, *patterns: str, buffer: int = 1000, enable: bool = True
    ) -> AsyncIterator[EventStream]:
        """Receive the session's events whose names match, from the start of the block.

        `patterns` are "Domain.event", "Domain.*" or "*". Domains that only report (REPORTING_DOMAINS) are enabled
        on entry and disabled on exit, counted over all subscriptions; with `enable=False`, the caller enables
        them. At most `buffer` events wait. If more arrive, the stream raises EventsLostError and then continues.

        Raises InvalidArgumentError for an invalid pattern.
        """
        if not patterns:
            raise InvalidArgumentError(
                what="patterns", given="none", expected='at least one, such as "Network.*"'
            )
        check_count("buffer", buffer, least=1, unit="events")
        feed = EventFeed(patterns, buffer, caller())
        self.feed.add_stream(feed)
        domains = {domain for pattern in patterns if (domain := domain_of(pattern)) is not None}
        try:
            async with self.enabled(*sorted(domains & REPORTING_DOMAINS if enable else ())):
                yield EventStream(feed)
        finally:
            self.feed.remove_stream(feed)
            feed.end(_subscription_left_error)

    async def wait_for(
        self, *patterns: str, where: Callable[[Event], bool] | None = None, buffer: int = 1000
    ) -> Event:
        """Wait for the next event that matches a pattern and for which `where` returns True, and return it.

        Only events after the call count. To wait for an event that an action causes, subscribe first and act in
        the block. Raises the stream's EventsLostError, SessionGoneError, TargetCrashedError and
        ConnectionLostError.
        """
        async with self.subscribe(*patterns, buffer=buffer) as events:
            while True:
                event = await events.receive()
                if where is None or where(event):
                    return event

    @asynccontextmanager
    async def enabled(
        self, *domains: str, wait: bool = True, also_crashed: bool = False
    ) -> AsyncIterator[None]:
        """Keep domains enabled while the body runs: the first user enables a domain, the last one disables it.

        Users that enter while an `enable` is pending wait for it too; cancelling one does not affect the others.
        Raises RemoteError if Chrome refuses a domain. With `wait=False`, the body runs immediately: a hanging page
        would not answer. With `also_crashed`, `enable` is also sent to a target whose renderer is dead: the
        browser process then enables its part of the domain, and the answer comes after a reload.
        """
        calls = self.domains.acquire(*domains, also_crashed=also_crashed)
        try:
            for call in calls if wait else ():
                await call.wait()
            yield
        finally:
            self.domains.release(*domains)

    def _enable(self, domain: str, also_crashed: bool) -> SharedCall:
        return self.post_shared(f"{domain}.enable", {}, also_crashed=also_crashed)

    def _disable(self, domain: str) -> None:
        if self.error() is None:
            self.post(f"{domain}.disable")

    # --- for the layer above -------------------------------------------------------------------------

    def on_event(self, method: str, listener: Callable[[Event], None]) -> None:
        """Make the reader call `listener` with each event of that name, before it processes any later message.

        For models that must be up to date when a later reply arrives (frames, targets); other consumers use
        `subscribe`. A listener is quick and never waits. Undecodable events are logged and skipped. Other
        exceptions are logged with their traceback and counted (`ConnectionStatistics.failed_callbacks`); the
        listener is still called for the next event.
        """
        self.feed.add_listener(method, listener)

    def off_event(self, method: str, listener: Callable[[Event], None]) -> None:
        """Remove a listener of `on_event`."""
        self.feed.remove_listener(method, listener)

    @contextmanager
    def listening(self, listeners: Mapping[str, Callable[[Event], None]]) -> Iterator[None]:
        """Call the listeners of these events during the block, as `on_event` does."""
        for method, listener in listeners.items():
            self.on_event(method, listener)
        try:
            yield
        finally:
            for method, listener in listeners.items():
                self.off_event(method, listener)

    def on_end(self, listener: Callable[[], None]) -> None:
        """Call `listener` once when the session ends, or immediately if it has ended.

        Its exceptions are handled as in `on_event`.
        """
        self.feed.add_end_listener(listener)

    def error(self, method: str | None = None) -> EngineError | None:
        """Return the reason why the session cannot be used now, or None if it can."""
        feed = self.feed
        if feed.ended is not None:
            return feed.ended(method)
        return feed.crash_error(method) if feed.crashed and not self._early else None


def _merge_params(method: str, given: object, named: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the parameters of a command that were passed as a mapping and by name."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidArgumentError(
            what=f"parameters of {method}",
            given=f"a {type(given).__name__}{' with keys that are not str' * isinstance(given, Mapping)}",
            expected=f'names, call("{method}", name=value), or one mapping, call("{method}", {{"name": value}})',
        )
    if twice := sorted(given.keys() & named.keys()):
        raise InvalidArgumentError(
            what=f"parameters of {method}",
            given=f"{', '.join(twice)} both in the mapping and by name",
            expected="each parameter once",
        )
    return {**given, **named}


def _subscription_left_error() -> trio.ClosedResourceError:
    return trio.ClosedResourceError("the subscription has ended")


# --- targets and their sessions ------------------------------------------------------------------------------


@not_picklable("its statistics")
class Connection:
    """The browser's targets and sessions over one transport. Create it with `open_connection`.

    `name` identifies the connection in messages. `root` is the browser's session, `targets` has the listed and
    attached targets, `instruments` the observers of the traffic. `wire` is for the engine.
    """

    def __init__(self, transport: Transport, instruments: Instruments) -> None:
        self.name = transport.name
        self.instruments = instruments
        self.wire = Wire(transport, instruments)
        self.root = Session(self, None)
        self.targets = Targets(self)

    @property
    def lost(self) -> str | None:
        """The reason why the connection ended, or None while it is open."""
        return self.wire.lost

    def statistics(self) -> ConnectionStatistics:
        """Return the counts so far."""
        return self.wire.statistics()


@asynccontextmanager
async def open_connection(
    transport: Transport, *, instruments: Instruments | None = None
) -> AsyncIterator[Connection]:
    """Run a connection over `transport` while the body runs. `connection.root` is the browser's session.

    The caller owns the transport and closes it afterwards. The body's exceptions propagate unwrapped.
    """
    connection = Connection(transport, instruments or Instruments())
    async with open_body_nursery() as nursery:
        nursery.start_soon(connection.wire.run_reader, name=f"reader of {connection.name}")
        nursery.start_soon(connection.wire.run_writer, name=f"writer of {connection.name}")
        try:
            yield connection
        finally:
            connection.wire.close()


class Attachment(msgspec.Struct, frozen=True):
    """A session that Chrome attached. `waiting`: the target is paused until `Runtime.runIfWaitingForDebugger`."""

    session: Session
    info: TargetInfo
    waiting: bool


class Targets:
    """The targets and sessions of one connection. `attachments` receives every session that Chrome attaches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.infos: dict[str, TargetInfo] = {}
        self._discovered: set[str] = set()
        self.sessions: dict[str, Session] = {}
        wire = connection.wire
        wire.feeds[None] = connection.root.feed
        wire.on_lost = self.end
        observed: dict[str, Callable[[Session, Event], None]] = {
            "Target.attachedToTarget": self._attach,
            "Target.detachedFromTarget": self._detach,
            "Target.targetCreated": self._note_created,
            "Target.targetInfoChanged": self._note_changed,
            "Target.targetDestroyed": self._note_destroyed,
            "Target.targetCrashed": self._note_crashed,
            "Inspector.targetCrashed": self._crash_session,
            "Inspector.targetReloadedAfterCrash": self._revive_session,
            "Page.lifecycleEvent": self._revive_discarded,
            "Page.domContentEventFired": self._revive_discarded,
            "Page.frameNavigated": self._revive_session,  # also of a discarded tab that is loaded
        }
        wire.observers.update({method: partial(self._observe, note) for method, note in observed.items()})
        # Unbounded on purpose: the reader must not wait, and there is one entry for each of Chrome's targets.
        self._send, self.attachments = trio.open_memory_channel[Attachment](2**31)

    def _observe(self, note: Callable[[Session, Event], None], session_id: str | None, event: Event) -> None:
        source = self._connection.root if session_id is None else self.sessions[session_id]
        try:
            note(source, event)
        except ProtocolError as error:
            self._connection.wire.faults.pass_over(event, error)

    def end(self) -> None:
        """Forget the sessions, because the connection is over: no target will be attached again."""
        self.sessions.clear()
        self._send.close()

    def _attach(self, source: Session, event: Event) -> None:
        notice = event.decode(AttachedToTarget)
        info = notice.target_info
        self.infos[info.target_id] = info
        if notice.session_id in self.sessions:
            return
        session = Session(
            self._connection,
            notice.session_id,
            target_id=info.target_id,
            target_type=info.type,
            parent=source,
        )
        self.sessions[notice.session_id] = session
        self._connection.wire.feeds[notice.session_id] = session.feed
        self._send.send_nowait(Attachment(session, info, notice.waiting_for_debugger))

    def _detach(self, _source: Session, event: Event) -> None:
        session = self.sessions.get(event.decode(DetachedFromTarget).session_id)
        if session is not None:
            detached = "Chrome detached it, because it was closed, replaced or taken over"
            self._end_session(session, session.closing_reason or detached)

    def _end_session(self, session: Session, reason: str) -> None:
        # Chrome sends no events for the sessions that end with their parent.
        for child in [other for other in self.sessions.values() if other.parent is session]:
            self._end_session(child, f"{session.describe()}, through which it was attached, is gone")
        if session.id is not None:
            self.sessions.pop(session.id, None)
            self._connection.wire.feeds.pop(session.id, None)
        # Without target discovery, the detachment is the last event of a target.
        target_id = session.target_id
        others = (other for other in self.sessions.values() if other.target_id == target_id)
        if target_id is not None and target_id not in self._discovered and next(others, None) is None:
            self.infos.pop(target_id, None)

        def gone(method: str | None) -> EngineError:
            return SessionGoneError(target=session.describe(), reason=reason, method=method)

        self._connection.wire.fail_calls(session.id, gone)
        session.feed.end(gone)

    def _note_created(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetCreated).target_info)

    def _note_changed(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetInfoChanged).target_info)

    def _note(self, info: TargetInfo) -> None:
        self.infos[info.target_id] = info
        self._discovered.add(info.target_id)

    def _note_destroyed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetDestroyed).target_id
        self.infos.pop(target_id, None)
        self._discovered.discard(target_id)
        for session in [other for other in self.sessions.values() if other.target_id == target_id]:
            self._end_session(session, session.closing_reason or "it was closed")

    def _note_crashed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetCrashed).target_id
        for session in list(self.sessions.values()):
            if session.target_id == target_id and not session.crashed:
                self._crash(session)

    def _crash_session(self, source: Session, _event: Event) -> None:
        if not source.crashed:
            self._crash(source)

    def _crash(self, session: Session) -> None:
        """Fail the pending calls, because Chrome will answer none, and mark the renderer as dead."""
        # Chrome executes commands for a discarded tab when it loads the tab.
        self._connection.wire.fail_calls(session.id, session.feed.crash_error, write=not session.lived)
        session.feed.crash()

    def _revive_discarded(self, source: Session, _event: Event) -> None:
        if source.is_discarded:
            source.feed.revive(discarded=True)

    def _revive_session(self, source: Session, event: Event) -> None:
        source.feed.revive(discarded=event.method == "Page.frameNavigated")
