"""Evaluation sessions: a second session that can terminate the scripts of a page or of a frame's process.

Rule: an evaluation session is usable once it has answered. While its target lives, it exists or is being created.
If its connection or session ends, it is created again, and the reason is counted. Commands that were sent on the
old session are not repeated. Pages and their main sessions are unaffected. Scripts run on the page's main session.
The evaluation session is queried for liveness and contexts, and terminates scripts and dialogs.

Evaluation sessions have a separate connection if that leads to the same browser. Otherwise they share the main
one: over a pipe, and at endpoints that start a browser for each connection or allow only one. A second connection
to another browser is detected at the first page, because it does not know a live target. A second connection that
stays silent for ANSWER_TIMEOUT is abandoned if the browser answers on the main one.
"""

from __future__ import annotations

import copy
import logging
import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.liveness import post_empty_evaluation
from cdpengine._page.page_target import REVIVED, PageTarget
from cdpengine._page.scripts.page_functions import context_gone
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.target import AttachToTargetReply
from cdpengine._protocol.session import Connection, Session, Targets
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
    shortage_of,
)
from cdpengine.errors.texts import duration

logger = get_logger("cdpengine.browser")

ConnectionOpener = Callable[[], AbstractAsyncContextManager[Connection]]
"""Opens one more connection to the same browser. The end of the context closes it."""

CONNECTION_LOST = "connection lost"
DETACHED = "detached"
REFUSED = "refused"
"""Reasons for a new evaluation session: the keys of `PageTarget.evaluation_session_rebuilds`."""

_PAUSES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0)
"""Pauses in seconds before repeated attempts. The last one also applies to all further attempts."""

_STEADY = 2.0
"""Time in seconds after which a connection or evaluation session counts as stable and resets the attempts."""

PROOF_TIMEOUT = 0.25
"""Time in seconds in which a target that is paused at its start must answer on its evaluation session. A target
that will change its process answers only when it runs; its evaluation session can still terminate it."""

_NO_DOCUMENT = "Cannot find default execution context"
"""Chrome's error message before a frame's first document. Its process knows the session."""

_NO_TARGET = "No target with given id"
"""Chrome's error message for a missing target."""

_OPEN_TIMEOUT = 5.0
"""Timeout in seconds of one attempt to open the connection: a server can accept a socket and stay silent."""

ANSWER_TIMEOUT = 1.0
"""Time in seconds in which the browser must answer on the second connection, before it is queried on the main one.
Less than the 2 s for which a new page is paused until its evaluation session exists."""

_FAILURES_BEFORE_ERROR = 4
"""Failed attempts to open the connection (0.7 s of pauses) after which waiting calls fail."""

_REFUSALS = 5
"""Refused attempts to attach to a target after which only a new connection tries again."""


@attrs.define
class _Row:
    """A series of attempts, with the pause before the next one."""

    made: int = 0
    _sound_since: float | None = None

    def succeeded(self) -> None:
        self._sound_since = trio.current_time()

    def next_pause(self) -> float:
        if self._sound_since is not None and trio.current_time() - self._sound_since >= _STEADY:
            self.made = 0
        self._sound_since = None
        pause = _PAUSES[min(self.made, len(_PAUSES) - 1)]
        self.made += 1
        return pause


class EvaluationSessions:
    """The evaluation sessions of one browser.

    Without `opener` (a pipe is the only connection) they use `main`. With `optional` they also use it if a second
    connection cannot be opened at the start. `rebuilds` counts the evaluation sessions that were created again, by
    reason, over all pages.
    """

    def __init__(
        self,
        main: Connection,
        opener: ConnectionOpener | None,
        nursery: trio.Nursery,
        *,
        optional: bool = False,
    ) -> None:
        self.connection = main
        self.connections_opened = 0
        self.rebuilds: Counter[str] = Counter()
        self._main = main
        self._opener = opener
        self._optional = optional
        self._closed = False
        self._nursery = nursery
        self._changes = Notifier()
        self._target_changes: set[Notifier] = set()
        self._unreachable: ConnectionLostError | None = None
        self._in_doubt: Connection | None = None

    async def start(self) -> None:
        """Open the evaluation sessions' connection, and keep it open.

        Raises the opener's errors if the first attempt fails. With `optional`, raises only errors caused by `main`
        or this machine.
        """
        self._main.root.on_end(self._notify)
        if self._opener is None:
            return
        try:
            await self._nursery.start(
                self._keep_connection, self._opener, name="evaluation session connection"
            )
        except (ConnectFailedError, ConnectionLostError) as error:
            if not self._optional or self._main.lost is not None or shortage_of(error) is not None:
                raise
            self._share_main(f"the endpoint allows no second one ({error})")

    def close(self) -> None:
        """Close the connection permanently."""
        self._closed = True
        self.connection.wire.close()

    def keep(self, page: PageTarget, session: Session, *, paused_at_start: bool) -> None:
        """Keep an evaluation session for the target of `session` (the page, or a frame) while it lives.

        `paused_at_start`: the target is paused at its start, until its first evaluation session exists.
        """
        page.on_evaluation_session_in_doubt(self._doubt)
        self._nursery.start_soon(
            self._keep_evaluation_session, page, session, paused_at_start, name="evaluation session"
        )

    def _notify(self) -> None:
        self._changes.notify()
        for changes in self._target_changes:
            changes.notify()

    # --- the connection ------------------------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        return self._closed or self._main.lost is not None or self._opener is None

    def _share_main(self, why: str) -> None:
        """Use the main connection for evaluation sessions from now on."""
        logger.info("evaluation is on the first connection: %s", why)
        separate, self.connection = self.connection, self._main
        self._opener, self._unreachable = None, None
        if separate is not self._main:
            separate.wire.close()
        self._notify()

    async def _reaches_another(self, connection: Connection, session: Session, error: Exception) -> bool:
        """Return whether `connection`, which refused to attach to a session's target, leads to another browser.

        Target ids are never reused. If the main connection still knows the target after the refusal, the two
        connections lead to different browsers.
        """
        if not (isinstance(error, RemoteError) and _NO_TARGET in error.message):
            return False
        if connection is not self._main:
            try:
                await self._main.root.call("Target.getTargetInfo", targetId=session.target_id)
            except (RemoteError, ProtocolError, ConnectionLostError):
                return False  # the target is gone: hence the refusal
            if connection is self.connection:
                self._share_main("the endpoint starts a browser for each connection")
        return connection is not self.connection

    async def _keep_connection(
        self, opener: ConnectionOpener, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        seconds = math.inf  # the engine's start has its own deadline
        if self._optional:
            left = trio.current_effective_deadline() - trio.current_time()
            seconds = min(_OPEN_TIMEOUT, left / 2)
        await self._live(opener, task_status.started, seconds)
        row, failed = _Row(), 0
        row.succeeded()
        while True:
            with trio.move_on_after(row.next_pause()):
                await self._changes.wait_for(lambda: self._over)
            if self._over:
                return
            try:
                await self._live(
                    opener, partial(self._note_opened_again, row, self.connection.lost), _OPEN_TIMEOUT
                )
            except (ConnectFailedError, ConnectionLostError) as error:
                failed += 1
                if failed >= _FAILURES_BEFORE_ERROR:
                    logger.log(
                        logging.WARNING if failed == _FAILURES_BEFORE_ERROR else logging.DEBUG,
                        "the connection for evaluation cannot be opened again, and no script can be evaluated "
                        "until it can: check that the endpoint allows a second connection, or restart: %s",
                        error,
                    )
                    self._unreachable = ConnectionLostError(endpoint=self.connection.name, reason=str(error))
                    self._notify()
            else:
                failed = 0

    def _note_opened_again(self, row: _Row, reason: str | None) -> None:
        row.succeeded()
        # Logged only now: when the browser ends, the evaluation session may be the first to end.
        logger.info("the evaluation session connection ended and was opened again: %s", reason)

    async def _live(self, opener: ConnectionOpener, opened: Callable[[], object], seconds: float) -> None:
        """Open the connection, call `opened`, and return when it has ended."""
        with trio.move_on_after(seconds) as opening:
            async with opener() as connection:
                opening.deadline = math.inf
                self._nursery.start_soon(_discard, connection.targets, name="evaluation session attachments")
                connection.root.on_end(self._notify)
                self.connection, self._unreachable = connection, None
                self.connections_opened += 1
                opened()
                self._notify()
                await self._changes.wait_for(lambda: connection.lost is not None or self._over)
        if opening.cancelled_caught:
            raise ConnectFailedError(endpoint=self._main.name, reason=f"no answer within {duration(seconds)}")

    async def _wait_for_connection(self, page: PageTarget, target_id: str, changes: Notifier) -> Connection:
        def reached() -> bool:
            return self.connection.lost is None

        await changes.wait_for(lambda: reached() or self._over or self._unreachable is not None)
        if not reached():
            error = self._unreachable or self.connection.root.error("Runtime.evaluate")
            assert error is not None
            page.set_evaluation_session_error(target_id, copy.copy(error))
            await changes.wait_for(reached)
        return self.connection

    # --- evaluation session of one target --------------------------------------------------------------------

    async def _keep_evaluation_session(
        self, page: PageTarget, session: Session, paused_at_start: bool
    ) -> None:
        changes = Notifier()
        with trio.CancelScope() as while_it_lives:
            session.on_end(while_it_lives.cancel)
            self._target_changes.add(changes)
            try:
                await self._rebuild(page, session, changes, paused_at_start)
            finally:
                self._target_changes.discard(changes)

    async def _rebuild(
        self, page: PageTarget, session: Session, changes: Notifier, paused_at_start: bool
    ) -> None:
        target_id = session.target_id
        assert target_id is not None
        row, refusals = _Row(), 0
        ended = ""
        while True:
            connection = await self._wait_for_connection(page, target_id, changes)
            try:
                evaluation_session = await self._open(connection, page, session, paused_at_start)
            except ConnectionLostError:
                ended = ended or CONNECTION_LOST
                continue
            except (RemoteError, ProtocolError, SessionGoneError) as error:
                if await self._reaches_another(connection, session, error):
                    continue
                ended = ended or REFUSED
                reason = f"it has no evaluation session ({error})"
                gone = SessionGoneError(target=session.describe(), reason=reason, method="Runtime.evaluate")
                page.set_evaluation_session_error(target_id, gone)
                refusals += 1
                # Usually the target itself is ending, and the pause with it. That is not an error.
                await trio.sleep(max(row.next_pause(), _PAUSES[1]))
                level = logging.DEBUG if session.ended or _NO_TARGET in str(error) else logging.WARNING
                logger.log(level, "no evaluation session for %s: %s", session.describe(), error)
                if refusals >= _REFUSALS:
                    await changes.wait_for(lambda old=connection: self.connection is not old)  # type: ignore[misc]
                    refusals = 0
                continue
            refusals = 0
            paused_at_start = False
            row.succeeded()
            if ended:
                page.count_rebuild(ended)
                self.rebuilds[ended] += 1
            try:
                page.set_evaluation_session(target_id, evaluation_session)
                evaluation_session.on_end(changes.notify)
                await changes.wait_for(lambda current=evaluation_session: current.ended)  # type: ignore[misc]
            finally:
                page.drop_evaluation_session(target_id, evaluation_session)
                _detach(evaluation_session)
            ended = CONNECTION_LOST if connection.lost is not None else DETACHED
            await trio.sleep(row.next_pause())

    async def _attach(self, connection: Connection, session: Session) -> AttachToTargetReply:
        """Attach to a session's target over `connection`.

        Raises ConnectionLostError if the connection is abandoned meanwhile.
        """
        params = {"targetId": session.target_id, "flatten": True}
        if connection is self._main:
            return await connection.root.request("Target.attachToTarget", params, AttachToTargetReply)
        async with open_body_nursery() as nursery:
            nursery.start_soon(
                self._leave_if_silent, connection, connection.statistics().received, name="evaluation session"
            )
            return await connection.root.request("Target.attachToTarget", params, AttachToTargetReply)

    def _doubt(self) -> None:
        """Check whether the connection answers, because a page does not answer on its evaluation session."""
        if self.connection not in (self._main, self._in_doubt) and self.connection.lost is None:
            self._in_doubt = self.connection
            self._nursery.start_soon(
                self._ask_in_doubt, self.connection, name="evaluation session connection in doubt"
            )

    async def _ask_in_doubt(self, connection: Connection) -> None:
        received = connection.statistics().received
        try:
            with suppress(ConnectionLostError):
                question = connection.root.post("Browser.getVersion")
                try:
                    await self._leave_if_silent(connection, received)
                finally:
                    question.abandon()
        finally:
            self._in_doubt = None

    async def _leave_if_silent(self, connection: Connection, received: int) -> None:
        """Use the main connection if the browser answers only there.

        A query was sent on `connection` after it had `received` that many messages. A busy or stopped browser
        answers on neither connection; then nothing changes.
        """
        await trio.sleep(ANSWER_TIMEOUT)
        with suppress(RemoteError, ProtocolError, ConnectionLostError):
            await self._main.root.call("Browser.getVersion")
        if (
            self._main.lost is None
            and connection is self.connection
            and connection.statistics().received == received
        ):
            self._share_main("the browser does not answer on a second one")

    async def _open(
        self, connection: Connection, page: PageTarget, session: Session, paused_at_start: bool
    ) -> Session:
        attached = await self._attach(connection, session)
        evaluation_session = connection.targets.sessions.get(attached.session_id)
        if evaluation_session is None:
            raise SessionGoneError(target=session.describe(), reason="it was detached again immediately")
        evaluation_session.on_event(REVIVED, lambda _event: page.changes.notify())
        evaluation_session.on_end(page.changes.notify)
        try:
            with trio.move_on_after(PROOF_TIMEOUT if paused_at_start else math.inf):
                await _prove(evaluation_session, page)
        except BaseException:
            _detach(evaluation_session)
            raise
        return evaluation_session


async def _prove(evaluation_session: Session, page: PageTarget) -> None:
    """Set the evaluation session up.

    Return when the target's process knows the session, so that its scripts can be terminated.
    """
    while True:
        # Inspector.enable reports immediately whether the renderer is dead. After Page.enable it answers dialogs.
        calls = [
            evaluation_session.post("Inspector.enable"),
            evaluation_session.post("Page.enable"),
            post_empty_evaluation(evaluation_session),
        ]
        try:
            for call in calls:
                await _wait_for_answer(call, needed=call is calls[-1])
            return
        except TargetCrashedError:
            await page.changes.wait_for(lambda: evaluation_session.ended or not evaluation_session.crashed)
        except RemoteError as error:
            if not context_gone(error):  # the target navigated meanwhile
                raise
        finally:
            for call in calls:
                call.abandon()


async def _wait_for_answer(call: PendingCall, *, needed: bool) -> None:
    try:
        await call.raw()
    except (RemoteError, ProtocolError) as error:
        if needed and isinstance(error, RemoteError) and error.message.startswith(_NO_DOCUMENT):
            return
        if needed or (isinstance(error, RemoteError) and context_gone(error)):
            raise
        # An older Chrome, or a target without this command: evaluation still works.
        logger.info("part of an evaluation session's set-up was refused: %s", error)


def _detach(evaluation_session: Session) -> None:
    """Detach an evaluation session whose target continues, without waiting."""
    with suppress(ConnectionLostError):
        if not evaluation_session.ended:
            evaluation_session.connection.root.post(
                "Target.detachFromTarget", sessionId=evaluation_session.id
            )


async def _discard(targets: Targets) -> None:
    """Drop attachments of evaluation sessions: they are found by session id."""
    async for _attachment in targets.attachments:
        pass
