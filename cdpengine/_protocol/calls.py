"""Pending commands: PendingCall (one waiter), SharedCall (many waiters), Turn (scripts one after another).

Rule: a call ends exactly once: with the reply, with the browser's error, with the reason why its session or
connection ended, or because its waiter gave up. A PendingCall has exactly one waiter. If the waiter is cancelled,
the entry leaves the table immediately, and an unwritten command is never sent.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import attrs
import msgspec
import outcome
import trio

from cdpengine._protocol.messages import OBJECT, Call, Reply, decode_error, decode_payload
from cdpengine._protocol.wire import Wire
from cdpengine.errors import (
    EngineError,
    EvaluationTerminatedError,
    ProtocolError,
    RemoteError,
)

T = TypeVar("T")

_Raw = msgspec.Raw | bytes


_REPEATS = 8
"""Maximum number of retries of an engine function that a termination ended."""

NEIGHBOR_STOPPED = (
    "a script of this page, or of another page in the same renderer process, was stopped, "
    "and this one with it"
)


_TERMINATED = ("Execution was terminated", "Internal error")
"""Chrome's messages for a terminated script. The second one appears if the value was being serialized."""


def was_terminated(error: Exception) -> bool:
    """Return whether Chrome refused a call because a termination ended its script."""
    return isinstance(error, RemoteError) and error.message in _TERMINATED


@attrs.define
class _Own:
    """Parameters and remaining retries of a call of one of the engine's functions."""

    params: Mapping[str, Any]
    repeats: int


class PendingCall:
    """A command in the writer's queue. Await `result()` or `decoded()`, or call `abandon()`."""

    __slots__ = ("_error", "_own", "_raw", "_task", "_wire", "call")

    def __init__(self, wire: Wire, call: Call) -> None:
        self._wire = wire
        self.call = call
        self._own: _Own | None = None
        self._raw: _Raw | None = None
        self._error: BaseException | None = None
        self._task: trio.lowlevel.Task | None = None
        call.waiter = self

    @property
    def done(self) -> bool:
        """Whether the call has an outcome or was abandoned."""
        return self._raw is not None or self._error is not None

    @property
    def succeeded(self) -> bool:
        """Whether the browser has answered the call with a result."""
        return self._raw is not None

    def survive_terminations(self, params: Mapping[str, Any], *, repeats: bool) -> PendingCall:
        """Mark the call as one of the engine's own functions; return it.

        Chrome terminates all scripts of a renderer process, so terminating another page's script can end this
        call. With `repeats`, the call is then sent again, so its function must be safe to run twice. Without
        `repeats`, or after too many retries, the call raises EvaluationTerminatedError.
        """
        self._own = _Own(params, _REPEATS if repeats else 0)
        return self

    async def raw(self) -> _Raw:
        """Wait for the reply and return its result as raw JSON. Write all posted commands first.

        Raises RemoteError if Chrome refuses, SessionGoneError (TargetCrashedError) if the target ends,
        ConnectionLostError if the connection ends, ProtocolError if the reply is damaged.
        """
        await self._wait(self._abort)
        return self.raw_nowait()

    async def wait(self) -> None:
        """Wait until the call has an outcome; do not raise it. Cancelling the waiter does not affect the call."""
        await self._wait(self._left)

    async def _wait(self, abort: Callable[[object], trio.lowlevel.Abort]) -> None:
        self._wire.write_now()
        if self.done:
            await trio.lowlevel.checkpoint()
        else:
            self._task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(abort)

    def _left(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    def raw_nowait(self) -> _Raw:
        """Return the result without a checkpoint.

        Raises the errors of `raw`, and trio.WouldBlock without an outcome.
        """
        if self._error is not None:
            raise self._error
        if self._raw is None:
            raise trio.WouldBlock
        return self._raw

    async def result(self) -> dict[str, Any]:
        """Wait for the reply and return its result as a dict. Raises the errors of `raw`."""
        return await self.decoded(OBJECT)

    async def decoded(self, kind: type[T]) -> T:
        """Wait for the reply and decode its result as `kind`.

        Raises the errors of `raw`, and ProtocolError (with the raw JSON) if the result has another shape.
        """
        return self.decode(await self.raw(), kind)

    def decode(self, raw: _Raw, kind: type[T]) -> T:
        """Decode the result `raw` as `kind`. Raises ProtocolError if it has another shape."""
        return decode_reply(self.call.method, raw, kind)

    def abandon(self) -> None:
        """Drop the call. An unwritten command is never sent; a reply counts as late."""
        if not self.done:
            self._wire.forget(self.call)
            self._error = trio.ClosedResourceError("the call was abandoned")

    def settle(self, reply: Reply) -> None:
        """Accept the reply (called by the reader)."""
        if (error := _error_of(reply)) is not None:
            if self._own is None or not was_terminated(error):
                self.fail(error)
            elif not self.done and not self._send_again(self._own):
                self.fail(EvaluationTerminatedError(reason=NEIGHBOR_STOPPED))
        elif self._error is None:
            self._raw = reply.result or b"{}"
            self._finish()

    def fail(self, error: BaseException) -> None:
        """End the call with an error (called by the reader or by shutdown)."""
        if not self.done:
            self._error = error
            self._finish()

    def ask_again(self) -> None:
        """Send a call that waits for a promise again: a termination can have kept the promise from settling.

        The first command is forgotten. Does nothing to calls that do not `survive_terminations`.
        """
        own, ended = self._own, self.call
        if own is None or self.done or not own.params.get("awaitPromise"):
            return
        if self._send_again(own):
            self._wire.forget(ended)
        elif not own.repeats:  # this promise can be lost as well, and nothing would settle it
            self._wire.forget(ended)
            self.fail(EvaluationTerminatedError(reason=NEIGHBOR_STOPPED))

    def _send_again(self, own: _Own) -> bool:
        """Send the call again, from the reader. Return False if no retries are left or it cannot be sent."""
        if not own.repeats:
            return False
        own.repeats -= 1
        ended = self.call
        try:
            self.call = self._wire.open_call(ended.method, own.params, ended.session_id)
        except EngineError:
            return False
        ended.waiter, self.call.waiter, self.call.cause = None, self, ended.cause
        self._wire.write_now()
        return True

    def _finish(self) -> None:
        self.call.waiter = None  # otherwise a reference cycle keeps large replies until the next collection
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)

    def _abort(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._task = None
        self.abandon()
        return trio.lowlevel.Abort.SUCCEEDED


def note_termination(wire: Wire) -> None:
    """Send the calls that wait for promises again, because a termination hits all scripts of a renderer."""
    for call in list(wire.pending.values()):
        if isinstance(call.waiter, PendingCall):
            call.waiter.ask_again()


class SharedCall:
    """A command with several waiters. Cancelling a waiter does not drop the command; `abandon()` does."""

    __slots__ = ("_outcome", "_settled", "_wire", "call")

    def __init__(self, wire: Wire, call: Call) -> None:
        self._wire = wire
        self.call = call
        self._outcome: outcome.Value[_Raw] | outcome.Error | None = None
        self._settled = trio.Event()
        call.waiter = self

    @property
    def done(self) -> bool:
        """Whether the call has an outcome or was abandoned."""
        return self._outcome is not None

    async def wait(self) -> None:
        """Wait until Chrome confirms the command. Raises the errors of `PendingCall.raw` in every waiting task."""
        await self.raw()

    async def raw(self) -> _Raw:
        """Wait for the reply and return its result as raw JSON. Raises the errors of `PendingCall.raw`."""
        self._wire.write_now()
        await self._settled.wait()
        return self.raw_nowait()

    async def decoded(self, kind: type[T]) -> T:
        """Wait for the reply and decode its result as `kind`. Raises the errors of `PendingCall.decoded`."""
        return decode_reply(self.call.method, await self.raw(), kind)

    def raw_nowait(self) -> _Raw:
        """Return the result of `raw`. Raises trio.WouldBlock without an outcome."""
        if self._outcome is None:
            raise trio.WouldBlock
        if isinstance(self._outcome, outcome.Error):
            # A copy: an error raised in several tasks would collect all their tracebacks and contexts.
            raise copy.copy(self._outcome.error)
        return self._outcome.value

    def abandon(self) -> None:
        """Drop the call. An unwritten command is never sent; a reply counts as late."""
        if self._outcome is None:
            self._wire.forget(self.call)
            self._finish(outcome.Error(trio.ClosedResourceError("the call was abandoned")))

    def settle(self, reply: Reply) -> None:
        """Accept the reply (called by the reader)."""
        error = _error_of(reply)
        self._finish(outcome.Value(reply.result or b"{}") if error is None else outcome.Error(error))

    def fail(self, error: BaseException) -> None:
        """End the call with an error (called by the reader or by shutdown)."""
        self._finish(outcome.Error(error))

    def _finish(self, result: outcome.Value[_Raw] | outcome.Error) -> None:
        if self._outcome is None:
            self._outcome = result
            self.call.waiter = None  # as in PendingCall
            self._settled.set()


@attrs.define(eq=False)
class Turn:
    """A queue that sends users' scripts to one session's page, one at a time: `send` sends to the session.

    The next script is sent after the page has answered a probe (`ask`) that follows the previous script. So a
    hanging page holds one script and not a queue: after terminating it, Chrome has no further script to begin, and
    a script that still waits in the queue never begins if its caller gives up.
    """

    send: Callable[[str, Mapping[str, Any]], SharedCall]
    ask: Callable[[], PendingCall]
    _last: Call | None = None
    _lock: trio.Lock = attrs.field(factory=trio.Lock)

    async def post(
        self, make: Callable[[], tuple[str, Mapping[str, Any]]], *, waits: Callable[[], object]
    ) -> SharedCall:
        """Send a script once the page is done with the previous one.

        Return the call without waiting for its reply.

        A script that awaits a promise does not occupy the page. `make` is called just before sending, `waits` is
        called if the script has to wait. Raises the session's error if it ended. If cancelled, nothing was sent.
        """
        if self._is_free() and not self._lock.locked():
            return self._post(*make())
        waits()
        async with self._lock:
            if not self._is_free():
                # Any outcome, even a termination, proves that the page reached the probe.
                with suppress(RemoteError, ProtocolError):
                    await self.ask().raw()
            return self._post(*make())

    def _is_free(self) -> bool:
        # Keep only the entry of the call, since its reply may be large. A finished entry has no waiter.
        return self._last is None or self._last.waiter is None

    def _post(self, method: str, params: Mapping[str, Any]) -> SharedCall:
        shared = self.send(method, params)
        self._last = shared.call
        return shared


@contextmanager
def pending_group() -> Iterator[Callable[[PendingCall], PendingCall]]:
    """Collect calls that are posted together. On exit, abandon the calls that were not awaited."""
    pendings: list[PendingCall] = []

    def collect(pending: PendingCall) -> PendingCall:
        pendings.append(pending)
        return pending

    try:
        yield collect
    finally:
        for pending in pendings:
            pending.abandon()


async def result_or_none(pending: PendingCall, kind: type[T]) -> T | None:
    """Return the decoded result, or None if Chrome refuses, as for a detached node or a node without a box."""
    try:
        return await pending.decoded(kind)
    except RemoteError:
        return None


def decode_reply(method: str, raw: _Raw, kind: type[T]) -> T:
    """Decode the result of a call, or a part of it. Raises ProtocolError if it has another shape."""
    try:
        return decode_payload(raw, kind)
    except msgspec.DecodeError as error:
        raise ProtocolError(method=method, reason=str(error), raw=bytes(raw)) from None


def decode_bytes(method: str, text: str) -> bytes:
    """Decode the base64 of a reply. Raises ProtocolError for invalid base64."""
    try:
        return base64.b64decode(text)
    except ValueError as error:
        raise ProtocolError(method=method, reason=f"it is not base64: {error}", raw=text.encode()) from None


def _error_of(reply: Reply) -> RemoteError | ProtocolError | None:
    if reply.error and bytes(reply.error) != b"null":
        body = decode_error(reply.error)
        data = body.data if body.data is None or isinstance(body.data, str) else "with structured data"
        return RemoteError(method=reply.call.method, code=body.code, message=body.message, data=data)
    if reply.damage:
        return ProtocolError(method=reply.call.method, reason=reply.damage, raw=b"")
    return None
