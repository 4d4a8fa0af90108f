"""InjectedPort: a script in the documents or workers of sessions that reports strings, and takes calls.

Rule: the script is added to each session once and removed once, even from a document that got it during the
removal. Its binding and its key have random names, so no page can guess them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

from cdpengine import _json
from cdpengine._evaluate.init_script import InitScript, answered
from cdpengine._evaluate.worker_script import WorkerScript
from cdpengine._javascript import script
from cdpengine._page.frames import RESTORED
from cdpengine._page.scripts.page_functions import ExecutionContext, expression_command
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.runtime import BindingCalled
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError

_MOST_DOCUMENTS = 1000
"""Documents per session in which the script was installed, so that it can be removed."""

Receive: TypeAlias = Callable[[Session, int, str], None]
"""Takes a string of the script from the execution context of a session."""


class InjectedPort:
    """A script in the documents of sessions.

    `source` returns it for the names of the binding and of the key. `receive` is called by the reader with each
    string that the script sends, except the empty one, which reports a new document.
    """

    def __init__(self, tabs: Tabs, source: Callable[[str, str], str], receive: Receive) -> None:
        self._tabs = tabs
        self._receive = receive
        self._raw_name = f"cdpengine_{secrets.token_hex(8)}"
        self._key = f"cdpengine_{secrets.token_hex(8)}"
        self._source = source
        self._script: InitScript | WorkerScript = InitScript(tabs, "")
        self._documents: dict[Session, OrderedDict[int, None]] = {}
        self._listeners: dict[Session, Callable[[Event], None]] = {}
        self._cached: WeakKeyDictionary[Session, OrderedDict[int, None]] = WeakKeyDictionary()

    def _make_script(self, session: Session) -> InitScript | WorkerScript:
        source = self._source(_json.encode_ascii(self._raw_name), _json.encode_ascii(self._key))
        if session.target_type == "worker":
            return WorkerScript(self._tabs, source)
        return InitScript(self._tabs, source, at_once=True)

    def begin(self, session: Session) -> list[Posted]:
        """Install the script in a session's documents."""
        if not self._listeners:
            self._script = self._make_script(session)
        # Chrome adds bindings to new documents only while Runtime is enabled.
        calls: list[Posted] = [*session.domains.acquire("Runtime")]
        calls.append(session.post("Runtime.addBinding", name=self._raw_name))
        calls += self._script.begin(session)
        # A document in the back/forward cache can still have the script of an earlier use.
        self._documents[session] = self._cached.pop(session, OrderedDict())

        def called(event: Event) -> None:
            self._take_call(session, event)

        self._listeners[session] = called
        session.on_event("Runtime.bindingCalled", called)
        return calls

    def covers(self, session: Session) -> bool:
        """Return whether the script is installed in a session."""
        return session in self._listeners

    def update(self, session: Session) -> list[Posted]:
        """Replace the script in new documents, and run it again in the present ones."""
        calls = self._script.end(session)
        self._script = self._make_script(session)
        return [*calls, *self._script.begin(session)]

    async def renew(self, session: Session) -> None:
        """Install the script in the documents of a session that Chrome had prerendered."""
        await answered([*self.end(session), *self.begin(session)])

    def end(self, session: Session) -> list[Posted]:
        """Remove the script from a session's documents."""
        listener = self._listeners.pop(session, None)
        if listener is None:
            return []
        documents = self._documents.pop(session)
        calls = self._script.end(session)
        removal = session.post_shared("Runtime.removeBinding", {"name": self._raw_name})
        # Chrome leaves the script in existing documents. The context numbers may belong to another process by now;
        # that process does not have the key.
        calls += [removal, *(self.post(session, context, "end") for context in documents)]
        session.domains.release("Runtime")
        self._tabs.in_background(self._end_listening, session, listener, removal)
        if session not in self._cached:
            session.on_event("Page.frameNavigated", partial(self._end_restored, session))
        self._cached[session] = documents
        return calls

    def _end_restored(self, session: Session, event: Event) -> None:
        """Remove the script from a document that was in the back/forward cache during the removal."""
        if session not in self._listeners and event.params.get("type") == RESTORED:
            with suppress(SessionGoneError, ConnectionLostError):
                for context in self._cached.get(session, ()):
                    self.post(session, context, "end")

    def post(self, session: Session, context: int, name: str, *literals: str) -> Posted:
        """Call a function of the script in one document. Does not wait: a hanging page gets the call later."""
        return ExecutionContext(session, context).post_expression(
            self.call(name, *literals), how={"silent": True}
        )

    def post_once(self, session: Session, context: int, name: str, *literals: str) -> Posted:
        """Call a function as `post` does, but never again after a termination of the page's scripts."""
        command = expression_command(session, self.call(name, *literals), context, how={"silent": True})
        return session.post_own(*command, repeats=False)

    def call(self, name: str, *literals: str) -> str:
        """Return the expression that calls a function of the script. Values are passed only as arguments."""
        arguments = _json.encode_ascii(self._key), _json.encode_ascii(name), *literals
        return f"({script('_evaluate/binding_call')}\n)({', '.join(arguments)})"

    async def _end_listening(
        self, session: Session, listener: Callable[[Event], None], removal: SharedCall
    ) -> None:
        """Keep listening for documents that got the script just before its removal."""
        try:
            with suppress(RemoteError):  # the removing call raises it
                await removal.wait()
        finally:
            session.off_event("Runtime.bindingCalled", listener)

    def _take_call(self, session: Session, event: Event) -> None:
        called = event.decode(BindingCalled)
        if called.name != self._raw_name:
            return
        context = called.execution_context_id
        documents = self._documents.get(session)
        if documents is None:  # the document got the script during its removal
            with suppress(SessionGoneError, ConnectionLostError):
                self.post(session, context, "end")
            return
        documents[context] = None
        documents.move_to_end(context)
        while len(documents) > _MOST_DOCUMENTS:
            documents.popitem(last=False)
        if called.payload:
            self._receive(session, context, called.payload)
