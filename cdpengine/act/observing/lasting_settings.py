"""LastingSettings: settings of an actor's pages that one request makes and a later one ends.

Rule: a new setting replaces an older one with the same name, after it is in effect. The actor ends only its own
settings, never those of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from cdpengine._api.scopes.awaitable_scope import AwaitableScope
    from cdpengine.act.requests import ActRequest


@attrs.define(eq=False)
class LastingSetting:
    """A setting in effect: its name, the request that made it, and the value of its scope."""

    name: str
    request: ActRequest
    value: Any
    scope: AwaitableScope[Any]


@attrs.define(eq=False)
class LastingSettings:
    """The settings in effect, oldest first."""

    made: list[LastingSetting] = attrs.field(factory=list)

    async def add(self, name: str, request: ActRequest, scope: AwaitableScope[Any]) -> None:
        """Set a scope. Raises its errors; then nothing changes."""
        value = await scope
        self.made.append(LastingSetting(name, request, value, scope))

    async def replace(self, name: str, request: ActRequest, scope: AwaitableScope[Any]) -> None:
        """Set a scope, and then end the older settings of that name. Raises the errors of the scope."""
        older = [each for each in self.made if each.name == name]
        await self.add(name, request, scope)
        await self.end(lambda each: each in older)

    async def end(self, where: Callable[[LastingSetting], bool] = lambda _each: True) -> int:
        """End the matching settings, latest first, and return their number."""
        ending = [each for each in reversed(self.made) if where(each)]
        for each in ending:
            self.made.remove(each)
            await each.scope.aclose()
        return len(ending)
