"""HeldScope: a scope that one request opens and a later one ends, such as a trace.

Rule: it is open in a task of the browser, and ends with its page, with the browser, or when its actor is released.
A request that was cancelled while it began leaves nothing open.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine._budget import within
from cdpengine.errors import EngineError, InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.define(eq=False)
class HeldScope:
    """A scope that is open. `value` is what it gave; `failure` is what it raised at its end."""

    what: str
    value: Any = None
    failure: EngineError | None = None
    _begun: trio.Event = attrs.field(factory=trio.Event)
    _stopping: trio.Event = attrs.field(factory=trio.Event)
    _ended: trio.Event = attrs.field(factory=trio.Event)
    _beginning: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    async def run(self, scope: AbstractAsyncContextManager[Any], on_end: Callable[[HeldScope], None]) -> None:
        """Have the scope open until it is told to stop; `on_end` is called then, however it ends."""
        try:
            with self._beginning:
                async with scope as self.value:
                    self._begun.set()
                    await self._stopping.wait()
        except EngineError as error:
            self.failure = error
        finally:
            on_end(self)
            self._begun.set()
            self._ended.set()

    async def begun(self, timeout: float) -> None:
        """Wait until it is open. Raises what it raised, DeadlineExceededError; it is not opened any more then."""
        try:
            with within(f"begin the {self.what}", timeout):
                await self._begun.wait()
        except BaseException:
            self._beginning.cancel()  # also where it is open by now: nobody gets to know
            raise
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Tell it to end."""
        self._stopping.set()

    async def end(self, timeout: float) -> Any:
        """End it, and return what it gave. Raises what it raised at its end, and DeadlineExceededError."""
        self.stop()
        with within(f"end the {self.what}", timeout):
            await self._ended.wait()
        if self.failure is not None:
            raise self.failure
        return self.value


async def hold(run: Performance, key: tuple[str, str], scope: AbstractAsyncContextManager[Any]) -> HeldScope:
    """Open a scope that goes on after this request. Raises InvalidArgumentError where there is one."""
    actor = run.actor
    what, of = key
    if key in actor._held:
        raise InvalidArgumentError(
            what=what, given="one while another goes on", expected="the end of that first"
        )
    held = actor._held[key] = HeldScope(what)
    if of:
        run.page.session.on_end(held.stop)

    def forget(_held: HeldScope) -> None:
        actor._held.pop(key, None)

    actor.begin(held.run, scope, forget)
    await held.begun(run.left)
    return held


def find_held(run: Performance, key: tuple[str, str], expected: str) -> HeldScope:
    """Return the scope that is open. Raises InvalidArgumentError, with what is `expected`, where none is."""
    held = run.actor._held.get(key)
    if held is None:
        raise InvalidArgumentError(what=key[0], given="the end of one that did not begin", expected=expected)
    return held
