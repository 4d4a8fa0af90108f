"""Injected scripts: scripts for every new document (InitScript), and exposed functions (ExposedBinding).

Rule: a script is added to each session once and removed once, even if Chrome's reply with its number arrives late.
An exposed function is user code that foreign pages call. Calls begin in the page's order (`exposed_calls`). An
exception of the function becomes the page's rejection and is recorded. A hanging function blocks neither the page
nor another task. On removal, the page's old value of the name is restored, and pending promises are rejected.
"""

from __future__ import annotations

import inspect
import logging
import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._checks import invalid
from cdpengine._history import BoundedHistory, Records
from cdpengine._javascript import script
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._page.exposed_calls import ExposedCall, exposed_names, note_call
from cdpengine._page.scripts.page_functions import ExecutionContext, context_gone
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.page import AddScriptReply
from cdpengine._protocol.domains.runtime import BindingCalled
from cdpengine._protocol.messages import decode_payload
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError
from cdpengine.errors.texts import duration

logger = get_logger("cdpengine.inject")

ExposedFunction: TypeAlias = Callable[..., Awaitable[object]]
"""An async function. Its arguments come from the page, and its value resolves the page's promise."""

Reader: TypeAlias = Callable[[Session, int, str], Awaitable[Any]]
"""Evaluates an expression in an execution context, and returns its value."""

_MOST_DOCUMENTS = 1000
"""Documents per session in which the function was installed, so that it can be removed."""

_LONGEST_REASON = 300

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
        self._tabs = tabs
        self._raw_name = f"cdpengine_{secrets.token_hex(8)}"
        self._key = f"cdpengine_{secrets.token_hex(8)}"
        arguments = ", ".join(_json.encode_ascii(text) for text in (name, self._raw_name, self._key))
        self._script = InitScript(tabs, f"{script('_evaluate/binding')}({arguments})", at_once=True)
        self._documents: dict[Session, OrderedDict[int, None]] = {}
        self._listeners: dict[Session, Callable[[Event], None]] = {}

    def begin(self, session: Session) -> list[Posted]:
        """Install the function in a session's documents.

        Raises InvalidArgumentError if they already have a function of that name.
        """
        names = exposed_names(session)
        if self._name in names:
            raise invalid("name", self._name, "a name that is not exposed already")
        # Chrome adds bindings to new documents only while Runtime is enabled.
        calls: list[Posted] = [*session.domains.acquire("Runtime")]
        calls.append(session.post("Runtime.addBinding", name=self._raw_name))
        calls += self._script.begin(session)
        names.add(self._name)
        self._documents[session] = OrderedDict()

        def called(event: Event) -> None:
            self._take_call(session, event)

        self._listeners[session] = called
        session.on_event("Runtime.bindingCalled", called)
        return calls

    async def renew(self, session: Session) -> None:
        """Install the function in the documents of a session that Chrome had prerendered."""
        await _answered([*self.end(session), *self.begin(session)])

    def end(self, session: Session) -> list[Posted]:
        """Remove the function from a session's documents."""
        listener = self._listeners.pop(session, None)
        if listener is None:
            return []
        exposed_names(session).discard(self._name)
        documents = self._documents.pop(session)
        calls = self._script.end(session)
        removal = session.post_shared("Runtime.removeBinding", {"name": self._raw_name})
        # Chrome leaves the function in existing documents. The context numbers may belong to another process by
        # now; that process does not have the key.
        calls += [removal, *(self._post_call(session, context, "end") for context in documents)]
        session.domains.release("Runtime")
        self._tabs.in_background(self._end_listening, session, listener, removal)
        return calls

    async def _end_listening(
        self, session: Session, listener: Callable[[Event], None], removal: SharedCall
    ) -> None:
        """Keep listening for documents that got the function just before its removal."""
        try:
            with suppress(RemoteError):  # the removing call raises it
                await removal.wait()
        finally:
            session.off_event("Runtime.bindingCalled", listener)

    def close(self) -> None:
        """Accept no further calls."""
        self._closed = True

    # --- calls -------------------------------------------------------------------------------------------------

    def _take_call(self, session: Session, event: Event) -> None:
        called = event.decode(BindingCalled)
        if called.name != self._raw_name:
            return
        context = called.execution_context_id
        documents = self._documents.get(session)
        if documents is None:  # the document got the function during its removal
            with suppress(SessionGoneError, ConnectionLostError):
                self._post_call(session, context, "end")
            return
        documents[context] = None
        documents.move_to_end(context)
        while len(documents) > _MOST_DOCUMENTS:
            documents.popitem(last=False)
        # An empty payload reports a new document with the function. A payload without a number is not from
        # binding.js.
        if not self._closed and (call := _CALL.fullmatch(called.payload)) is not None:
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
                    args = await self._read(session, context, self._call("args", _json.encode_ascii(number)))
                    if args is None:
                        return  # the document no longer has the function, and the page has its rejection
                await turn.wait_turn()
                turn.begin()
                literal = self._literal(await _call_function(self._function, args))
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
                self._post_call(session, context, "resolve", _json.encode_ascii(number), literal)
            else:
                self._reject(session, context, number, failed)

    def _reject(self, session: Session, context: int, number: str, error: Exception) -> None:
        kind, message = type(error).__name__, str(error)
        failure = BindingFailure(self._name, f"{kind}: {message}"[:_LONGEST_REASON])
        self._failures.add(failure)
        self._log.add(failure)
        self._failed.log(self._name, failure.reason, error=error)
        reason = _json.encode_ascii(kind), _json.encode_ascii(message[:_LONGEST_MESSAGE])
        self._post_call(session, context, "reject", _json.encode_ascii(number), *reason)

    def _post_call(self, session: Session, context: int, name: str, *literals: str) -> Posted:
        # Settling a call does not wait: a hanging page receives it later.
        return ExecutionContext(session, context).post_expression(
            self._call(name, *literals), how={"silent": True}
        )

    def _call(self, name: str, *literals: str) -> str:
        """Return a call of a function that binding.js left.

        Values are passed only as arguments, as in `evaluate`.
        """
        arguments = _json.encode_ascii(self._key), _json.encode_ascii(name), *literals
        return f"({script('_evaluate/binding_call')}\n)({', '.join(arguments)})"


_LONGEST_MESSAGE = 10_000


ADD = "Page.addScriptToEvaluateOnNewDocument"


class InitScript:
    """A script, `source`, that runs in new documents and in the blank document of a new page.

    With `at_once`, it also runs in existing documents. `world` "" is the main world.
    """

    def __init__(self, tabs: Tabs, source: str, *, world: str = "", at_once: bool = False) -> None:
        self._tabs = tabs
        self._params: dict[str, Any] = {"source": source}
        if world:
            self._params["worldName"] = world
        if at_once:
            self._params["runImmediately"] = True
        self._added: dict[Session, SharedCall] = {}

    def begin(self, session: Session) -> list[Posted]:
        """Add the script to a session."""
        for ended in [known for known in self._added if known.ended]:
            del self._added[ended]
        # The blank document of a new page already exists, and no script has run in it.
        is_paused = any(page.paused_at_start for page in self._tabs.pages.values() if page.session is session)
        params = {**self._params, "runImmediately": True} if is_paused else self._params
        # Shared: cancelling a caller must not lose the number.
        call = self._added[session] = session.post_shared(ADD, params)
        return [call]

    async def renew(self, session: Session) -> None:
        """Run the script in the documents of a session that Chrome had prerendered, and in new ones as before."""
        calls = self.end(session)
        params = {**self._params, "runImmediately": True}
        call = self._added[session] = session.post_shared(ADD, params)
        await _answered([*calls, call])

    def end(self, session: Session) -> list[Posted]:
        """Remove the script from a session."""
        call = self._added.pop(session, None)
        if call is None:
            return []
        if not call.done:
            self._tabs.in_background(_remove_late, session, call)
            return []
        try:
            return [_post_removal(session, call)]
        except (RemoteError, msgspec.DecodeError):
            return []  # it was never added


async def _answered(calls: Sequence[Posted]) -> None:
    for call in calls:
        with suppress(RemoteError):  # a closed document needs no change
            await call.raw()


def _read_plain(text: str) -> list[object]:
    return _json.decode(text, list[object])


async def _call_function(function: ExposedFunction, args: Sequence[object]) -> object:
    result: object = function(*args)
    return await result if inspect.isawaitable(result) else result


def _post_removal(session: Session, call: SharedCall) -> Posted:
    added = decode_payload(call.raw_nowait(), AddScriptReply)
    return session.post("Page.removeScriptToEvaluateOnNewDocument", identifier=added.identifier)


async def _remove_late(session: Session, call: SharedCall) -> None:
    """Remove a script whose addition had no reply yet at its removal."""
    try:
        await call.wait()
        await _post_removal(session, call).raw()
    except (RemoteError, msgspec.DecodeError):
        return
