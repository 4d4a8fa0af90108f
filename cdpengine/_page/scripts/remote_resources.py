"""Resources that the engine creates in the browser, such as targets and contexts, and their disposal.

Rule: Chrome creates a requested resource even if the caller is cancelled before the reply. A background task then
waits for the reply and disposes of the resource, outside of any budget.
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
"""Time in seconds that a cancelled caller waits for the disposal, which usually suffices."""

_SETTLE_TIMEOUT = 2.0
"""Time in seconds that the engine's end waits for pending disposals."""


@attrs.define(eq=False)
class _Creation(Generic[T]):
    undo: Undo[T]
    needed: bool = True
    result: outcome.Value[T] | outcome.Error | None = None
    settled: trio.Event = attrs.field(factory=trio.Event)


@attrs.define(eq=False)
class RemoteResources:
    """Creates resources through `session`. Its tasks run in `nursery`."""

    _session: Session
    _nursery: trio.Nursery
    _unsettled: set[trio.Event] = attrs.field(factory=set, init=False)

    async def create(self, method: str, params: Mapping[str, Any], kind: type[T], undo: Undo[T]) -> T:
        """Send a command that creates a resource, and return its decoded reply.

        If cancelled, `undo` is called with the reply when it arrives. Raises the errors of `Session.request`.
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
            creation.needed = False
            if isinstance(creation.result, outcome.Value):
                await self.dispose(undo, creation.result.value)
            else:
                with undoing(_DISPOSE_TIMEOUT):
                    await creation.settled.wait()
            raise
        assert creation.result is not None
        return creation.result.unwrap()

    async def dispose(self, undo: Undo[T], made: T, grace: float = _DISPOSE_TIMEOUT) -> None:
        """Undo a creation in the background. Return when it is done, or after `grace` seconds at most.

        If the action's time is over, the call returns, and the disposal continues in the background.
        """
        settled = trio.Event()
        self._unsettled.add(settled)
        self._nursery.start_soon(self._undo, undo, made, settled, name="take back")
        with undoing(grace):
            await settled.wait()

    async def settle(self) -> None:
        """Wait briefly for all pending disposals."""
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
                if not creation.needed:
                    with suppress(EngineError):  # gone already, or lost with the connection
                        await creation.undo(creation.result.value)
        finally:
            self._settle(creation.settled)

    async def _undo(self, undo: Undo[T], made: T, settled: trio.Event) -> None:
        try:
            with suppress(EngineError):  # gone already, or lost with the connection
                await undo(made)
        finally:
            self._settle(settled)

    def _settle(self, settled: trio.Event) -> None:
        self._unsettled.discard(settled)
        settled.set()
