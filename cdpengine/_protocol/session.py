"""Session: the commands and events of one target, or of the browser itself.

Rule: a session serves one target over a shared connection. When the target ends, every pending call fails with the
reason, every stream ends, and further calls fail immediately. Other sessions of the connection are not affected.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from cdpengine._budget import check_run, find_run
from cdpengine._logs import get_logger
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains import NEEDS, REPORTING_DOMAINS
from cdpengine._protocol.streams import Event, EventStream, caller, compile_pattern, domain_of
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    TargetCrashedError,
    UndecodableReplyError,
)

if TYPE_CHECKING:
    from cdpengine._protocol.connection import Connection

T = TypeVar("T")

logger = get_logger("cdpengine.session")

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
    to the target's id. `usable` is whether commands can be sent; if not, `error` returns the reason.
    `documents_shown` increases each time the target shows a document: a remote object id is valid while the number
    is unchanged. `lived` is whether the target's renderer has answered the set-up; it is false for a discarded
    tab, which has no renderer.
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
        self.id = session_id
        self.target_id = target_id
        self.frame_id = target_id or ""
        self.target_type = target_type
        self.parent = parent
        self._ended: Callable[[str | None], EngineError] | None = None
        self._crashed = False
        self._early = False
        self.lived = False
        self.usable = True
        self.documents_shown = 0
        self._listeners: dict[str, list[Callable[[Event], None]]] = {}
        self._streams: list[EventStream] = []
        self._routes: dict[str, tuple[EventStream, ...]] = {}
        self._end_listeners: list[Callable[[], None]] = []
        self._domains: dict[str, int] = {}
        self._enabling: dict[str, SharedCall] = {}
        self._owner = find_run()

    def __repr__(self) -> str:
        state = " ended" if self._ended else " crashed" if self._crashed else ""
        return f"<Session {self.describe()}{state}>"

    def describe(self) -> str:
        """Return a short name for errors and logs: the target's type and the beginning of its id."""
        return self.target_type if self.target_id is None else f"{self.target_type} {self.target_id[:8]}"

    @property
    def ended(self) -> bool:
        """Whether the session is over: its target was closed or detached, or the connection was lost."""
        return self._ended is not None

    @property
    def crashed(self) -> bool:
        """Whether the target's renderer is dead. A reload or a navigation brings it back."""
        return self._crashed

    @property
    def is_discarded(self) -> bool:
        """Whether the target has had no renderer since the engine found it, as a discarded tab has none."""
        return self._crashed and not self.lived and self._ended is None

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

        Raises the errors of `call`, and UndecodableReplyError, with the raw JSON, if the result has another shape.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await self._send(method, params).decoded(kind)

    async def execute(self, command: Generator[dict[str, Any], dict[str, Any], T]) -> T:
        """Run one command of the PyCDP convention, such as `cdp.page.navigate(url)`, from any library.

        The generator yields `{"method": ..., "params": ...}`, receives the result, and returns a typed value.
        Raises the errors of `call`, and UndecodableReplyError, with the raw JSON, if the generator cannot decode
        the answer of a newer Chrome.
        """
        if not isinstance(command, Generator) or _was_used(command):
            raise InvalidArgumentError(what="command", given=_describe_command(command), expected=_A_COMMAND)
        with closing(command):
            try:
                request = next(command)
            except StopIteration:
                raise InvalidArgumentError(
                    what="command", given="a generator that yields nothing", expected=_A_COMMAND
                ) from None
            except _DECODER_ERRORS as error:
                raise InvalidArgumentError(
                    what="arguments of the command",
                    given=f"values that raise {type(error).__name__}: {error}",
                    expected="the arguments that the command declares",
                ) from error
            method, params = _read_request(request)
            await trio.lowlevel.checkpoint_if_cancelled()
            pending = self._send(method, params)
            raw = await pending.raw()
            result = pending.decode(raw, dict[str, Any])
            try:
                command.send(result)
            except StopIteration as done:
                value: T = done.value
                return value
            except _DECODER_ERRORS as error:
                raise UndecodableReplyError(
                    method=method,
                    reason=f"the command's own decoder failed ({type(error).__name__})",
                    raw=bytes(raw),
                ) from error
        raise InvalidArgumentError(
            what="command", given=method, expected="a generator that yields once, then returns its value"
        )

    def _post(self, method: str, params: Mapping[str, Any]) -> PendingCall:
        self._check_usable(method)
        return self.connection._post(method, params, self.id)

    def _send(self, method: str, params: Mapping[str, Any]) -> PendingCall:
        self._check_usable(method)
        return self.connection._send(method, params, self.id)

    def _check_usable(self, method: str) -> None:
        check_run(self._owner, f"send {method}")
        if self._ended is not None:
            raise self._ended(method)
        if self._crashed and not self._early and method not in _ALLOWED_AFTER_CRASH:
            raise self._crash_error(method)

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
        if isinstance(buffer, bool) or not isinstance(buffer, int) or buffer < 1:
            raise InvalidArgumentError(
                what="buffer", given=repr(buffer), expected="a number of events, 1 or more"
            )
        stream = EventStream(patterns, [compile_pattern(pattern) for pattern in patterns], buffer, caller())
        if self._ended is not None:
            raise self._ended(None)
        domains = {domain for pattern in patterns if (domain := domain_of(pattern)) is not None}
        reporting = sorted(domains & REPORTING_DOMAINS) if enable else []
        self._streams.append(stream)
        self.connection._consumers.add(stream)
        self._routes.clear()
        try:
            async with self.enabled(*reporting):
                yield stream
        finally:
            self._streams.remove(stream)
            self.connection._consumers.remove(stream)
            self._routes.clear()
            stream._end(_subscription_left_error)

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
        calls = self._acquire_domains(*domains, also_crashed=also_crashed)
        try:
            for call in calls if wait else ():
                await call.wait()
            yield
        finally:
            self._release_domains(*(need for name in domains for need in (*NEEDS.get(name, ()), name)))

    def _is_enabling(self, domain: str) -> bool:
        """Return whether the `enable` of a domain is pending; events before its reply are outdated."""
        enabling = self._enabling.get(domain)
        return enabling is not None and not enabling.done

    def _acquire_domains(self, *domains: str, also_crashed: bool = False) -> list[SharedCall]:
        """Enable domains as in `enabled`, without a block or waiting. Return the pending `enable` calls.

        `_release_domains` undoes it. Raises SessionGoneError, TargetCrashedError, ConnectionLostError, and then
        holds no domain.
        """
        added: list[str] = []
        try:
            for domain in (need for name in domains for need in (*NEEDS.get(name, ()), name)):
                added.append(domain)
                if self._add_domain_user(domain):
                    if not (also_crashed and self._ended is None):
                        self._check_usable(f"{domain}.enable")
                    self._enabling[domain] = self.connection._post_shared(f"{domain}.enable", {}, self.id)
        except BaseException:
            self._release_domains(*added)
            raise
        return [self._enabling[domain] for domain in added if domain in self._enabling]

    def _add_domain_user(self, domain: str) -> bool:
        """Add one user to the domain. Return whether it is the first, which has to send `enable`."""
        count = self._domains.get(domain, 0)
        self._domains[domain] = count + 1
        return count == 0

    def _release_domains(self, *domains: str) -> None:
        """Remove one user of each domain, and disable the domains without users.

        Sends in order and does not wait: the next command finds the domain off, and a hanging page would not
        answer.
        """
        for domain in reversed(domains):
            self._domains[domain] -= 1
            if self._domains[domain]:
                continue
            del self._domains[domain]
            if (enabling := self._enabling.pop(domain, None)) is not None:
                enabling.abandon()
            if self.error() is None:
                self.post(f"{domain}.disable")

    # --- for the layer above and for the reader ----------------------------------------------------------

    def on_event(self, method: str, listener: Callable[[Event], None]) -> None:
        """Make the reader call `listener` with each event of that name, before it processes any later message.

        For models that must be up to date when a later reply arrives (frames, targets); other consumers use
        `subscribe`. A listener is quick and never waits. Undecodable events are logged and skipped. Other
        exceptions are logged with their traceback and counted (`ConnectionStatistics.failed_callbacks`); the
        listener is still called for the next event.
        """
        self._listeners.setdefault(method, []).append(listener)

    def off_event(self, method: str, listener: Callable[[Event], None]) -> None:
        """Remove a listener of `on_event`."""
        self._listeners[method].remove(listener)

    def on_end(self, listener: Callable[[], None]) -> None:
        """Call `listener` once when the session ends, or immediately if it has ended.

        Its exceptions are handled as in `on_event`.
        """
        if self._ended is not None:
            listener()
        else:
            self._end_listeners.append(listener)

    def error(self, method: str | None = None) -> EngineError | None:
        """Return the reason why the session cannot be used now, or None if it can."""
        if self._ended is not None:
            return self._ended(method)
        return self._crash_error(method) if self._crashed and not self._early else None

    def _deliver(self, event: Event) -> None:
        """Deliver one event (called by the reader)."""
        if event.method in self._listeners:
            self._call_listeners(event)
        if self._streams:
            streams = self._routes.get(event.method)
            if streams is None:
                streams = tuple(stream for stream in self._streams if stream._wants(event.method))
                if len(self._routes) < _MOST_ROUTES:
                    self._routes[event.method] = streams
            for stream in streams:
                stream._deliver(event)

    def _call_listeners(self, event: Event) -> None:
        for listener in tuple(self._listeners.get(event.method, ())):
            try:
                listener(event)
            except UndecodableReplyError as error:
                self.connection._pass_over(event, error)
            except Exception as error:  # noqa: BLE001 - foreign code must not end the connection
                self.connection._callback_failed(event.method, error)

    def _crash(self) -> None:
        """Mark the renderer as dead (called by the reader): Chrome will answer no pending call.

        Streams raise the crash and continue, because a reload uses the same session.
        """
        self._crashed = True
        self.usable = False
        # Chrome executes commands for a discarded tab when it loads the tab.
        self.connection._fail_calls(self.id, self._crash_error, write=not self.lived)
        for stream in self._streams:
            stream._crash(self._crash_error(None))
        self._call_listeners(Event(CRASHED, self.id, b"{}"))

    def _revive(self, *, discarded: bool = False) -> None:
        """Note that the target was reloaded after a crash, or loaded after a discard (called by the reader)."""
        crashed, self._crashed = self._crashed, False
        self.usable = self._ended is None
        if crashed and discarded:
            self._call_listeners(Event(UNDISCARDED, self.id, b"{}"))

    def _end(self, reason: Callable[[str | None], EngineError]) -> None:
        """End the session (called by the reader). `reason` makes the error for a method name."""
        if self._ended is not None:
            return
        self._ended = reason
        self.usable = False
        self.connection._fail_calls(self.id, reason)
        for stream in self._streams:
            stream._end(lambda: reason(None))
        listeners, self._end_listeners = self._end_listeners, []
        for listener in listeners:
            try:
                listener()
            except Exception as error:  # noqa: BLE001 - as in _call_listeners
                self.connection._callback_failed(f"the end of {self.describe()}", error)

    def _crash_error(self, method: str | None) -> TargetCrashedError:
        return TargetCrashedError(target=self.describe(), reason="its renderer crashed", method=method)


CRASHED = "cdpengine.crashed"
"""The event name for `on_event` listeners of a crash."""

UNDISCARDED = "cdpengine.undiscarded"
"""The event name for `on_event` listeners of the loading of a discarded tab."""


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


_DECODER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Exceptions of code that decodes a value of an unexpected shape."""

_A_COMMAND = 'a fresh generator that yields {"method": ..., "params": ...}, as PyCDP commands are'


def _was_used(command: object) -> bool:
    return inspect.isgenerator(command) and inspect.getgeneratorstate(command) != inspect.GEN_CREATED


def _describe_command(command: object) -> str:
    return f"a {type(command).__name__}{' that was used before' if _was_used(command) else ''}"


def _read_request(request: object) -> tuple[str, Mapping[str, Any]]:
    match request:
        case {"method": str(method), "params": Mapping() as params}:
            return method, params
        case {"method": str(method)}:
            return method, {}
    raise InvalidArgumentError(
        what="command", given=f"a generator that yields a {type(request).__name__}", expected=_A_COMMAND
    )


def _subscription_left_error() -> trio.ClosedResourceError:
    return trio.ClosedResourceError("the subscription has ended")


_MOST_ROUTES = 1000
"""Maximum number of method names with cached streams: more than Chrome has events; it bounds the memory use."""
