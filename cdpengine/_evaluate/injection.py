"""Exposed functions: functions of the program that pages call (ExposedBinding).

Rule: an exposed function is user code that foreign pages call. Calls begin in the page's order (`exposed_calls`).
An exception of the function becomes the page's rejection and is recorded. A hanging function blocks neither the
page nor another task. On removal, the page's old value of the name is restored, and pending promises are rejected.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import attrs
import trio

from cdpengine import _json
from cdpengine._checks import invalid
from cdpengine._evaluate.injected_port import InjectedPort
from cdpengine._handlers import call_handler, describe_failure
from cdpengine._history import BoundedHistory, Records
from cdpengine._javascript import script
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._page.exposed_calls import ExposedCall, exposed_names, note_call
from cdpengine._page.scripts.page_functions import context_gone
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError
from cdpengine.errors.texts import duration

logger = get_logger("cdpengine.inject")

ExposedFunction: TypeAlias = Callable[..., Awaitable[object]]
"""An async function. Its arguments come from the page, and its value resolves the page's promise."""

Reader: TypeAlias = Callable[[Session, int, str], Awaitable[Any]]
"""Evaluates an expression in an execution context, and returns its value."""

_MOST_DOCUMENTS = 1000
"""Documents per session in which the function was installed, so that it can be removed."""

_CALL = re.compile(r"([0-9]{1,16})(\[.*\])?", re.DOTALL)
"""The payload of binding.js: the number of a call, and its arguments if JSON represents them."""


@attrs.frozen
class BindingFailure:
    """A call of an exposed function that ended in a rejection. `reason` is the page's error message."""

    name: str
    reason: str


@not_picklable("the arguments of its calls")
@attrs.define(eq=False, repr=False)
class Binding:
    """An exposed function.

    `name` is the name in pages, `failures` lists the latest calls that ended in a rejection, and `calls` is the
    number of calls.
    """

    name: str
    failures: BoundedHistory[BindingFailure]
    calls: int = 0

    def __repr__(self) -> str:
        return f"<exposed {self.name}: {self.calls} calls, {len(self.failures)} failures>"


class ExposedBinding:
    """A function in the documents of sessions. `binding` is its public part.

    Its calls run in `nursery`, each for at most `limit` seconds; failures are added to `log` too. `read` and
    `literal` convert values in each direction.
    """

    def __init__(
        self,
        tabs: Tabs,
        name: str,
        function: ExposedFunction,
        *,
        limit: float,
        nursery: trio.Nursery,
        read: Reader,
        literal: Callable[[object], str],
        log: Records[BindingFailure],
    ) -> None:
        self._failures: Records[BindingFailure] = Records()
        self.binding = Binding(name, BoundedHistory(self._failures))
        self._name = name
        self._function = function
        self._limit = limit
        self._nursery = nursery
        self._read = read
        self._literal = literal
        self._log = log
        self._failed = RepeatedWarning(logger, "the exposed function %s failed: %s", level=logging.ERROR)
        self._closed = False
        source, name_literal = script("_evaluate/binding"), _json.encode_ascii(name)
        self._port = InjectedPort(
            tabs, lambda binding, key: f"{source}({name_literal}, {binding}, {key})", self._take_call
        )

    def begin(self, session: Session) -> list[Posted]:
        """Install the function in a session's documents.

        Raises InvalidArgumentError if they already have a function of that name.
        """
        names = exposed_names(session)
        if self._name in names:
            raise invalid("name", self._name, "a name that is not exposed already")
        calls = self._port.begin(session)
        names.add(self._name)
        return calls

    async def renew(self, session: Session) -> None:
        """Install the function in the documents of a session that Chrome had prerendered."""
        await self._port.renew(session)

    def restore(self, session: Session) -> list[Posted]:
        """Install the function in a document from the back/forward cache."""
        return self._port.update(session)

    def end(self, session: Session) -> list[Posted]:
        """Remove the function from a session's documents."""
        if self._port.covers(session):
            exposed_names(session).discard(self._name)
        return self._port.end(session)

    def close(self) -> None:
        """Accept no further calls."""
        self._closed = True

    # --- calls -------------------------------------------------------------------------------------------------

    def _take_call(self, session: Session, context: int, payload: str) -> None:
        # A payload without a number is not from binding.js.
        if not self._closed and (call := _CALL.fullmatch(payload)) is not None:
            self.binding.calls += 1
            turn = note_call(session)
            self._nursery.start_soon(
                self._run, session, context, call[1], call[2] or "", turn, name=f"exposed {self._name}"
            )

    async def _run(self, session: Session, context: int, number: str, plain: str, turn: ExposedCall) -> None:
        failed: Exception | None = None
        literal = "undefined"
        try:
            with trio.move_on_after(self._limit) as deadline:
                if plain:
                    args = _read_plain(plain)
                else:
                    args = await self._read(
                        session, context, self._port.call("args", _json.encode_ascii(number))
                    )
                    if args is None:
                        return  # the document no longer has the function, and the page has its rejection
                await turn.wait_turn()
                turn.begin()
                literal = self._literal(await call_handler(self._function, *args))
        except Exception as error:  # noqa: BLE001 - foreign code: a rejection in the page, and on record
            if session.ended or (isinstance(error, RemoteError) and context_gone(error)):
                return  # the waiting promise is gone too
            failed = error
        finally:
            turn.end()
        if deadline.cancelled_caught:
            failed = TimeoutError(f"{self._name} gave no answer within {duration(self._limit)}")
        with suppress(SessionGoneError, ConnectionLostError):
            if failed is None:
                self._port.post(session, context, "resolve", _json.encode_ascii(number), literal)
            else:
                self._reject(session, context, number, failed)

    def _reject(self, session: Session, context: int, number: str, error: Exception) -> None:
        kind, message = type(error).__name__, str(error)
        failure = BindingFailure(self._name, describe_failure(error))
        self._failures.add(failure)
        self._log.add(failure)
        self._failed.log(self._name, failure.reason, error=error)
        reason = _json.encode_ascii(kind), _json.encode_ascii(message[:_LONGEST_MESSAGE])
        self._port.post(session, context, "reject", _json.encode_ascii(number), *reason)


_LONGEST_MESSAGE = 10_000


def _read_plain(text: str) -> list[object]:
    return _json.decode(text, list[object])
