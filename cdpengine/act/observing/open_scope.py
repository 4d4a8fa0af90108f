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
    from cdpengine import Page


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


@attrs.define(eq=False)
class OpenScopes:
    """The open scopes of an actor, by their purpose and their page (None: the browser).

    `begin` runs a task that continues after the request. `opened` has the scopes by purpose and target id.
    """

    _begin: Callable[..., None]
    opened: dict[tuple[str, str], OpenScope] = attrs.field(factory=dict)

    async def open(
        self, what: str, page: Page | None, scope: AbstractAsyncContextManager[Any], timeout: float
    ) -> OpenScope:
        """Open a scope that outlives the request. Raises InvalidArgumentError if one is already open."""
        key = _key(what, page)
        if key in self.opened:
            raise InvalidArgumentError(
                what=what, given="a second start", expected="one at a time: stop the running one first"
            )
        opened = self.opened[key] = OpenScope(what)
        if page is not None:
            page.session.on_end(opened.stop)

        def forget(_ended: OpenScope) -> None:
            self.opened.pop(key, None)

        self._begin(opened.run, scope, forget)
        await opened.begun(timeout)
        return opened

    def get(self, what: str, page: Page | None) -> OpenScope | None:
        """Return the open scope, or None."""
        return self.opened.get(_key(what, page))

    def find(self, what: str, page: Page | None, expected: str) -> OpenScope:
        """Return the open scope. Raises InvalidArgumentError, with `expected`, if none is open."""
        opened = self.get(what, page)
        if opened is None:
            raise InvalidArgumentError(what=what, given="none that is running", expected=expected)
        return opened

    def stop(self) -> None:
        """Ask all scopes to end. Does not wait."""
        for scope in self.opened.values():
            scope.stop()


def _key(what: str, page: Page | None) -> tuple[str, str]:
    return what, "" if page is None else page.target_id
