"""OpenScope: a scope that one request opens and a later one ends, such as a trace.

Rule: it is open in a task of the browser. It ends with its page, with the browser, or when its actor is
released. A cancelled request leaves nothing open.
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
class OpenScope:
    """An open scope. `value` is its value; `failure` is the error of its exit."""

    what: str
    value: Any = None
    failure: EngineError | None = None
    _begun: trio.Event = attrs.field(factory=trio.Event)
    _stopping: trio.Event = attrs.field(factory=trio.Event)
    _ended: trio.Event = attrs.field(factory=trio.Event)
    _beginning: trio.CancelScope = attrs.field(factory=trio.CancelScope)

    async def run(self, scope: AbstractAsyncContextManager[Any], on_end: Callable[[OpenScope], None]) -> None:
        """Keep the scope open until `stop`; in every case, call `on_end` at the end."""
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
        """Wait until the scope is open.

        Raises its error, or DeadlineExceededError; after an error it will not open.
        """
        try:
            with within(f"begin the {self.what}", timeout):
                await self._begun.wait()
        except BaseException:
            self._beginning.cancel()  # even if it is open by now: no caller has it
            raise
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Ask the scope to end. Does not wait."""
        self._stopping.set()

    async def end(self, timeout: float) -> Any:
        """End the scope, and return its value. Raises the error of its exit, and DeadlineExceededError."""
        self.stop()
        with within(f"end the {self.what}", timeout):
            await self._ended.wait()
        if self.failure is not None:
            raise self.failure
        return self.value


async def open_scope(
    run: Performance, key: tuple[str, str], scope: AbstractAsyncContextManager[Any]
) -> OpenScope:
    """Open a scope that outlives this request. Raises InvalidArgumentError if one is already open."""
    actor = run.actor
    what, of = key
    if key in actor._scopes:
        raise InvalidArgumentError(
            what=what, given="a second start", expected="one at a time: stop the running one first"
        )
    opened = actor._scopes[key] = OpenScope(what)
    if of:
        run.page.session.on_end(opened.stop)

    def forget(_ended: OpenScope) -> None:
        actor._scopes.pop(key, None)

    actor.begin(opened.run, scope, forget)
    await opened.begun(run.left)
    return opened


def scope_of(run: Performance, key: tuple[str, str]) -> OpenScope | None:
    """Return the open scope, or None."""
    return run.actor._scopes.get(key)


def find_scope(run: Performance, key: tuple[str, str], expected: str) -> OpenScope:
    """Return the open scope. Raises InvalidArgumentError, with `expected`, if none is open."""
    opened = scope_of(run, key)
    if opened is None:
        raise InvalidArgumentError(what=key[0], given="none that is running", expected=expected)
    return opened
