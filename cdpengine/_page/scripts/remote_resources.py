"""Creations: what the engine makes in the browser (targets, contexts), and takes back when nobody wants it.

Rule: what was asked for comes into being even when the one who asked is cancelled before the reply. Then the
reply is waited for in the background, and what it names is taken back; nobody's budget pays for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

import attrs
import outcome
import trio

from cdpengine._budget import undoing
from cdpengine._protocol.session import Session
from cdpengine.errors import EngineError

T = TypeVar("T")

Undo = Callable[[T], Awaitable[object]]

_DISPOSE_TIMEOUT = 0.08
"""Seconds that a cancelled caller waits for the disposal, which is mostly done by then."""

_SETTLE_TIMEOUT = 2.0
"""Seconds that the end of the engine waits for what is still to be taken back."""


@attrs.define(eq=False)
class _Creation(Generic[T]):
    undo: Undo[T]
    wanted: bool = True
    result: outcome.Value[T] | outcome.Error | None = None
    settled: trio.Event = attrs.field(factory=trio.Event)


@attrs.define(eq=False)
class RemoteResources:
    """Makes things through `session`; its tasks live in `nursery`."""

    _session: Session
    _nursery: trio.Nursery
    _unsettled: set[trio.Event] = attrs.field(factory=set, init=False)

    async def create(self, method: str, params: Mapping[str, Any], kind: type[T], undo: Undo[T]) -> T:
        """Send a command that makes something, and return its decoded reply.

        Cancelled, it has `undo` called with the reply when that comes. Raises as `Session.request` does.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if (error := self._session.error(method)) is not None:
            raise error
        creation = _Creation(undo)
        self._unsettled.add(creation.settled)
        self._nursery.start_soon(self._run, creation, method, params, kind, name=method)
        try:
            await creation.settled.wait()
        except trio.Cancelled:
            creation.wanted = False
            if isinstance(creation.result, outcome.Value):
                await self.dispose(undo, creation.result.value)
            else:
                with undoing(_DISPOSE_TIMEOUT):
                    await creation.settled.wait()
            raise
        assert creation.result is not None
        return creation.result.unwrap()

    async def dispose(self, undo: Undo[T], made: T, grace: float = _DISPOSE_TIMEOUT) -> None:
        """Undo what was made, in the background; returns when it is done, or after `grace` seconds at most.

        Where the time of the action is over, it returns in time, and the undoing goes on.
        """
        settled = trio.Event()
        self._unsettled.add(settled)
        self._nursery.start_soon(self._undo, undo, made, settled, name="take back")
        with undoing(grace):
            await settled.wait()

    async def settle(self) -> None:
        """Wait, a short while, until all that nobody wants is taken back."""
        with trio.move_on_after(_SETTLE_TIMEOUT, shield=True):
            while self._unsettled:
                await next(iter(self._unsettled)).wait()

    async def _run(
        self, creation: _Creation[T], method: str, params: Mapping[str, Any], kind: type[T]
    ) -> None:
        try:
            try:
                creation.result = outcome.Value(await self._session.request(method, params, kind))
            except EngineError as error:
                creation.result = outcome.Error(error)
            else:
                if not creation.wanted:
                    with suppress(EngineError):  # gone by itself, or with the connection
                        await creation.undo(creation.result.value)
        finally:
            self._settle(creation.settled)

    async def _undo(self, undo: Undo[T], made: T, settled: trio.Event) -> None:
        try:
            with suppress(EngineError):  # gone by itself, or with the connection
                await undo(made)
        finally:
            self._settle(settled)

    def _settle(self, settled: trio.Event) -> None:
        self._unsettled.discard(settled)
        settled.set()
