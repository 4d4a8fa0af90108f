"""The workers of a browser (WorkerTargets), each with its session (WorkerTarget).

Rule: the sessions of pages attach dedicated workers, before their first script. Chrome never terminates a service
worker with a session. So a service worker or a shared worker has one only while a call or a setting needs it. The
first user attaches it, and the last one detaches it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

import trio

from cdpengine._budget import undoing
from cdpengine._notifier import Notifier
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains.target import AttachToTargetReply, TargetCreated, TargetDestroyed, TargetInfo
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, EngineError, RemoteError, SessionGoneError

WorkerKind = Literal["dedicated", "shared", "service"]

WORKER_TYPES: dict[str, WorkerKind] = {
    "worker": "dedicated",
    "shared_worker": "shared",
    "service_worker": "service",
}
"""The kinds of workers, by Chrome's types of targets."""

_ENDED = "it was terminated, closed itself, or its document is gone"

WORKER_LOADED = "Inspector.workerScriptLoaded"
"""Event after which a new worker can be used. An earlier evaluation crashes the process (measured)."""

_LOADING_TIMEOUT = 5.0
"""Time in seconds after which a worker counts as running without that event: its script may fail to load."""

_YOUNG = 2.0
"""Age in seconds up to which the script of a shared worker or service worker may not be loaded yet."""

_LOADED_TIMEOUT = 0.3
"""Time in seconds to wait for the event after attaching to a young one. Chrome does not repeat the event."""

_DETACH_TIMEOUT = 0.5
"""Time in seconds to detach a worker at the end of its use."""

WorkerListener = Callable[["WorkerTarget"], None]

WorkerSetUp = Callable[["WorkerTarget", Session], Sequence[PendingCall | SharedCall]]
"""Posts the set-up of the session of a shared worker or service worker, before its first script if it is new."""

_PAGES: list[dict[str, object]] = [{"type": "page", "exclude": False}, {"exclude": True}]
_PAGES_AND_WORKERS: list[dict[str, object]] = [
    {"type": "page", "exclude": False},
    {"type": "service_worker", "exclude": False},
    {"type": "shared_worker", "exclude": False},
    {"exclude": True},
]


class WorkerTarget:
    """A worker in the engine's model. `page_id` is the target id of a dedicated worker's page.

    `session` is the attached session, or None. `kept_session` is one that a setting keeps, or None. `started`: the
    worker is no longer paused at its start.
    """

    def __init__(self, info: TargetInfo, changes: Notifier, page_id: str | None = None) -> None:
        self.target_id = info.target_id
        self.kind = WORKER_TYPES[info.type]
        self.url = info.url
        self.context_id = info.browser_context_id
        self.page_id = page_id
        self.session: Session | None = None
        self.kept_session: Session | None = None
        self.started = self.kind != "dedicated"
        self.closed = False
        self.created_at = trio.current_time()
        self.users = 0
        self.attaching = trio.Lock()
        self._changes = changes

    def __repr__(self) -> str:
        return f"<WorkerTarget {self.kind} {self.target_id[:8]}>"

    def pause(self, session: Session) -> None:
        """Note that Chrome paused the worker at its start. It starts when its script is loaded."""
        self.started = False
        session.on_event(WORKER_LOADED, lambda _event: self.start())

    async def wait_loaded(self) -> None:
        """Wait until the script is loaded, or until it probably never will be."""
        with trio.move_on_after(_LOADING_TIMEOUT):
            await self._changes.wait_for(lambda: self.started or self.closed)
        self.start()

    def set_session(self, session: Session) -> None:
        """Set the session that Chrome attached."""
        self.session = session
        session.closing_reason = session.closing_reason or _ENDED

    def start(self) -> None:
        """Note that the worker runs."""
        self.started = True
        self._changes.notify()

    def end(self) -> None:
        """Note that the worker is gone."""
        self.closed = True
        self._changes.notify()

    def gone(self) -> SessionGoneError:
        """Return the error of a worker that has ended."""
        return SessionGoneError(target=f"{self.kind} worker {self.target_id[:8]}", reason=_ENDED)

    def error(self) -> EngineError | None:
        """Return the reason why the worker cannot be used, or None."""
        session_error = None if self.session is None else self.session.error()
        return session_error or (self.gone() if self.closed else None)

    async def wait_started(self) -> None:
        """Wait until the worker runs. Raises SessionGoneError, ConnectionLostError."""

        def running() -> bool:
            if error := self.error():
                raise error
            return self.started

        await self._changes.wait_for(running)

    async def wait_closed(self) -> None:
        """Wait until the worker is gone."""
        await self._changes.wait_for(lambda: self.closed)


class WorkerTargets:
    """All workers of one browser, by target id. `changes` reports starts and ends."""

    def __init__(self, root: Session, changes: Notifier, creations: RemoteResources) -> None:
        self.known: dict[str, WorkerTarget] = {}
        self._root = root
        self._changes = changes
        self._creations = creations
        self._listeners: list[WorkerListener] = []
        self._set_ups: list[WorkerSetUp] = []
        self._attaching_all = trio.Lock()
        root.on_event("Target.targetCreated", self._note_created)
        root.on_event("Target.targetDestroyed", self._note_destroyed)
        root.on_end(self._end_all)

    @contextmanager
    def follow(self, listener: WorkerListener) -> Iterator[None]:
        """Call `listener` with each new worker during the block."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def attach(self, session: Session, info: TargetInfo, page_id: str) -> WorkerTarget:
        """Add the dedicated worker of a new session."""
        worker = WorkerTarget(info, self._changes, page_id)
        worker.set_session(session)
        self._add(worker)

        def ended() -> None:
            self.known.pop(worker.target_id, None)
            worker.end()

        session.on_end(ended)
        return worker

    @asynccontextmanager
    async def attached(self, worker: WorkerTarget) -> AsyncIterator[Session]:
        """Yield the session of a worker that runs, and attach it for the block if necessary.

        Raises SessionGoneError, ConnectionLostError, RemoteError.
        """
        await worker.wait_started()
        if worker.kind == "dedicated":
            assert worker.session is not None
            yield worker.session
            return
        worker.users += 1
        try:
            session = worker.kept_session
            if session is None or session.ended:
                async with worker.attaching:
                    if worker.session is None or worker.session.ended:
                        await self._attach(worker)
                session = worker.session
            assert session is not None
            yield session
        finally:
            worker.users -= 1
            if not worker.users and (used := worker.session) is not None:
                worker.session = None
                with undoing(_DETACH_TIMEOUT):
                    await self._detach(used.id)

    # --- settings of shared workers and service workers ------------------------------------------------------

    async def add_set_up(self, set_up: WorkerSetUp) -> None:
        """Keep all shared workers and service workers attached, and call `set_up` for each session.

        Raises RemoteError, ConnectionLostError.
        """
        self._set_ups.append(set_up)
        async with self._attaching_all:
            if len(self._set_ups) == 1:
                await self._auto_attach(_PAGES_AND_WORKERS)
        targets = self._root.connection.targets
        for worker in [each for each in self.known.values() if each.kind != "dedicated"]:
            async with worker.attaching:  # a call that attaches it has its own session
                for session in list(targets.sessions.values()):
                    if session.target_id == worker.target_id and session is not worker.session:
                        self.set_up(session)

    async def remove_set_up(self, set_up: WorkerSetUp) -> None:
        """Undo `add_set_up`. The last one detaches the workers. Shielded and bounded."""
        if set_up in self._set_ups:
            self._set_ups.remove(set_up)
        if self._set_ups:
            return
        with undoing(_DETACH_TIMEOUT), suppress(RemoteError, SessionGoneError, ConnectionLostError):
            async with self._attaching_all:
                if not self._set_ups:
                    await self._auto_attach(_PAGES)
                    for worker in list(self.known.values()):
                        if (session := worker.kept_session) is not None:
                            worker.kept_session = None
                            if worker.users and worker.session is None:
                                worker.session = session  # a call uses it, and detaches it
                            else:
                                await self._detach(session.id)

    def set_up(self, session: Session) -> list[PendingCall | SharedCall]:
        """Call the set-up functions for the session of a worker that Chrome attached automatically."""
        worker = self.known.get(session.target_id or "")
        if worker is None or worker.kind == "dedicated" or not self._set_ups:
            return []
        worker.kept_session = session
        session.closing_reason = session.closing_reason or _ENDED
        return [call for set_up in tuple(self._set_ups) for call in set_up(worker, session)]

    async def _auto_attach(self, targets: list[dict[str, object]]) -> None:
        await self._root.call(
            "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True, filter=targets
        )

    async def _attach(self, worker: WorkerTarget) -> None:
        params = {"targetId": worker.target_id, "flatten": True}

        async def undo(made: AttachToTargetReply) -> None:
            await self._detach(made.session_id)

        try:
            made = await self._creations.create("Target.attachToTarget", params, AttachToTargetReply, undo)
        except RemoteError:
            if worker.closed:
                raise worker.gone() from None
            raise
        session = self._root.connection.targets.sessions.get(made.session_id)
        if session is None:
            raise worker.gone()
        worker.set_session(session)
        if trio.current_time() - worker.created_at < _YOUNG:
            loaded = trio.Event()
            session.on_event(WORKER_LOADED, lambda _event: loaded.set())
            session.on_end(loaded.set)
            with trio.move_on_after(_LOADED_TIMEOUT):
                await loaded.wait()
            worker.created_at -= _YOUNG

    async def _detach(self, session_id: str | None) -> None:
        with suppress(RemoteError, SessionGoneError, ConnectionLostError):
            await self._root.call("Target.detachFromTarget", sessionId=session_id)

    def _note_created(self, event: Event) -> None:
        info = event.decode(TargetCreated).target_info
        if WORKER_TYPES.get(info.type, "dedicated") != "dedicated" and info.target_id not in self.known:
            self._add(WorkerTarget(info, self._changes))

    def _note_destroyed(self, event: Event) -> None:
        worker = self.known.get(event.decode(TargetDestroyed).target_id)
        if worker is not None and worker.kind != "dedicated":
            del self.known[worker.target_id]
            worker.end()

    def _add(self, worker: WorkerTarget) -> None:
        self.known[worker.target_id] = worker
        for listener in tuple(self._listeners):
            listener(worker)
        self._changes.notify()

    def _end_all(self) -> None:
        for worker in [each for each in self.known.values() if each.kind != "dedicated"]:
            del self.known[worker.target_id]
            worker.end()
