"""Targets: which targets the browser has, and which sessions of this connection belong to them.

Rule: fed by the reader, message by message, before anything later is routed: a session exists from the moment
at which the reader has seen it attached, and is over from the moment at which it has seen it detached. Only
the few events that say so are decoded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from cdpengine._logs import get_logger
from cdpengine._protocol.domains.target import (
    AttachedToTarget,
    DetachedFromTarget,
    TargetCrashed,
    TargetCreated,
    TargetDestroyed,
    TargetInfo,
    TargetInfoChanged,
)
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import EngineError, SessionGoneError, UndecodableReplyError

if TYPE_CHECKING:
    from cdpengine._protocol.connection import Connection

logger = get_logger("cdpengine.session")


class Attachment(msgspec.Struct, frozen=True):
    """A session that Chrome attached. `waiting`: the target is paused until `Runtime.runIfWaitingForDebugger`."""

    session: Session
    info: TargetInfo
    waiting: bool


class Targets:
    """The targets and sessions of one connection. `attachments` gets every session that Chrome attaches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.infos: dict[str, TargetInfo] = {}
        self._announced: set[str] = set()
        self.sessions: dict[str, Session] = {}
        self._observers = {
            "Target.attachedToTarget": self._attached,
            "Target.detachedFromTarget": self._detached,
            "Target.targetCreated": self._created,
            "Target.targetInfoChanged": self._changed,
            "Target.targetDestroyed": self._destroyed,
            "Target.targetCrashed": self._crashed,
            "Inspector.targetCrashed": self._session_crashed,
            "Inspector.targetReloadedAfterCrash": self._session_reloaded,
        }
        # Unbounded on purpose: the reader must not wait, and one entry a target is what Chrome itself holds.
        self._send, self.attachments = trio.open_memory_channel[Attachment](2**31)

    def observe(self, source: Session, event: Event) -> None:
        """Take one event of the Target or Inspector domain from the reader."""
        observer = self._observers.get(event.method)
        if observer is None:
            return
        try:
            observer(source, event)
        except UndecodableReplyError as error:
            source.connection.pass_over(event, error)

    def end(self) -> None:
        """Note that the connection is over: nothing will be attached any more."""
        self._send.close()

    def _attached(self, source: Session, event: Event) -> None:
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
        self._send.send_nowait(Attachment(session, info, notice.waiting_for_debugger))

    def _detached(self, _source: Session, event: Event) -> None:
        session = self.sessions.get(event.decode(DetachedFromTarget).session_id)
        if session is not None:
            self._end_session(session, "Chrome detached it: its target was closed, replaced or taken over")

    def _end_session(self, session: Session, reason: str) -> None:
        # Chrome does not announce the sessions that go with their parent.
        children = [other for other in self.sessions.values() if other.parent is session]
        for child in children:
            self._end_session(child, f"{session.describe()}, through which it was attached, is gone")
        if session.id is not None:
            self.sessions.pop(session.id, None)
        # Without target discovery, the detachment is the last that is heard of a target.
        target_id = session.target_id
        others = (other for other in self.sessions.values() if other.target_id == target_id)
        if target_id is not None and target_id not in self._announced and next(others, None) is None:
            self.infos.pop(target_id, None)

        def gone(method: str | None) -> EngineError:
            return SessionGoneError(target=session.describe(), reason=reason, method=method)

        session.end(gone)

    def _created(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetCreated).target_info)

    def _changed(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetInfoChanged).target_info)

    def _note(self, info: TargetInfo) -> None:
        self.infos[info.target_id] = info
        self._announced.add(info.target_id)

    def _destroyed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetDestroyed).target_id
        self.infos.pop(target_id, None)
        self._announced.discard(target_id)
        for session in [other for other in self.sessions.values() if other.target_id == target_id]:
            self._end_session(session, "its target was closed")

    def _crashed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetCrashed).target_id
        for session in list(self.sessions.values()):
            if session.target_id == target_id and not session.crashed:
                session.crash()

    def _session_crashed(self, source: Session, _event: Event) -> None:
        if not source.crashed:
            source.crash()

    def _session_reloaded(self, source: Session, _event: Event) -> None:
        source.revive()
