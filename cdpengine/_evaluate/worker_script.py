"""WorkerScript: a script for dedicated workers, before their own scripts.

Rule: Chrome cannot evaluate in a worker that is paused at its start. So the script runs at a breakpoint before the
worker's first own script, in the reader, and the worker continues. Without that pause, it runs when Chrome reports
the worker's script as loaded. The Debugger domain is on only until then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import attrs

from cdpengine._page.scripts.page_functions import expression_command
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._page.worker_targets import WORKER_LOADED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, SessionGoneError

_PAUSED = "Debugger.paused"


@attrs.define(eq=False)
class WorkerScript:
    """A script, `source`, that runs in new workers before their own scripts, and in running ones immediately."""

    _tabs: Tabs
    _source: str
    _waiting: dict[Session, Callable[[Event], None]] = attrs.field(factory=dict, init=False)

    def begin(self, session: Session) -> list[Posted]:
        """Run the script in the worker of a session, or before its first own script."""
        worker = self._tabs.workers.known.get(session.target_id or "")
        if worker is None or worker.started:
            return [self._post(session)]

        def reached(event: Event) -> None:
            if event.method == WORKER_LOADED or event.params.get("reason") == "instrumentation":
                with suppress(SessionGoneError, ConnectionLostError):
                    self._post(session)
                    self.end(session)
            else:  # a "debugger" statement
                session.post("Debugger.resume")

        self._waiting[session] = reached
        calls: list[Posted] = [*session.domains.acquire("Debugger")]
        for method in (_PAUSED, WORKER_LOADED):
            session.on_event(method, reached)
        breakpoint_at = "beforeScriptExecution"
        calls.append(session.post("Debugger.setInstrumentationBreakpoint", instrumentation=breakpoint_at))
        return calls

    def end(self, session: Session) -> list[Posted]:
        """Stop waiting for the first script of a session's worker."""
        reached = self._waiting.pop(session, None)
        if reached is None:
            return []
        for method in (_PAUSED, WORKER_LOADED):
            session.off_event(method, reached)
        session.domains.release("Debugger")  # which removes the breakpoint, and resumes
        return []

    def _post(self, session: Session) -> Posted:
        return session.post_own(
            *expression_command(session, self._source, how={"silent": True}), repeats=False
        )
