"""Performance: the context of one running request: the actor, the page, and the rest of its time.

Rule: a request is data. Its verb performs it by calls of the page, with the rest of the request's time.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import attrs
import trio

from cdpengine._paths import to_path
from cdpengine.act.actor import Actor
from cdpengine.act.observing.open_scope import OpenScope
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import Effects, effects_of
from cdpengine.act.selectors import parse_selector
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.selectors import may_be_name

if TYPE_CHECKING:
    from cdpengine import ActionOutcome, BrowserContext, Page
    from cdpengine.actions import ElementTarget


@attrs.define(eq=False)
class Performance:
    """A running request. `deadline` is on trio's clock; `outcome` and `effects` are those of its action."""

    actor: Actor
    page_or_none: Page | None
    deadline: float
    effects: Effects = attrs.field(factory=Effects)
    outcome: ActionOutcome | None = None

    @property
    def page(self) -> Page:
        """The page of the request."""
        assert self.page_or_none is not None, "requests without a page do not use one"
        return self.page_or_none

    @property
    def context(self) -> BrowserContext:
        """The context whose pages the request concerns: that of the actor, else of its current page."""
        if self.actor.context is not None:
            return self.actor.context
        page = self.page_or_none or self.actor.current
        return self.actor.browser.context if page is None else page.context

    @property
    def left(self) -> float:
        """The remaining time in seconds, rounded to milliseconds for errors."""
        return max(round(self.deadline - trio.current_time(), 3), 0)

    def report(self, outcome: ActionOutcome) -> None:
        """Store the outcome of the action, and its effects for the response."""
        self.outcome = outcome
        self.effects = effects_of(outcome)

    async def find(self, ref: str | None, selector: str | None) -> ElementTarget:
        """Return the element of a request. Waits for an element that matches a CSS selector.

        A selector with a criterion is returned as a locator, which the action waits for.
        """
        if ref is not None:
            return ref
        assert selector is not None, "the parser refuses a request without an element"
        if criteria := parse_selector(selector):
            return self.page.locate(**criteria)
        # No element ever matches a name as a selector, so do not wait.
        return await self.page.find(selector, timeout=0 if may_be_name(selector) else self.left)

    async def find_optional(self, ref: str | None, selector: str | None) -> ElementTarget | None:
        """Return the element of a request, or None if it has none."""
        return None if ref is None and selector is None else await self.find(ref, selector)

    async def open_scope(self, what: str, scope: AbstractAsyncContextManager[Any]) -> OpenScope:
        """Open a scope that outlives the request, and ends with its page at the latest.

        Raises InvalidArgumentError if one is already open.
        """
        return await self.actor.scopes.open(what, self.page_or_none, scope, self.left)

    async def output_path(self, field: str, path: str | None, name: str, suffix: str) -> Path:
        """Return the file to write: the one at `path`, or a new one in the folder of outputs.

        `field` names the field of the request in errors. `name` begins the name of a new file.
        """
        if path is not None:
            return to_path(field, path)
        folder = self.actor.outputs
        if folder is None:
            raise InvalidArgumentError(what=field, given="nothing", expected="the path of a file")
        return await trio.to_thread.run_sync(_new_path, folder, name, suffix)


@runtime_checkable
class Verb(Protocol):
    """A request that can be performed."""

    async def run(self, performance: Performance) -> Any:
        """Perform the request, and return the result as JSON data."""


async def perform(performance: Performance, request: ActRequest) -> Any:
    """Perform a request, and return the result as JSON data."""
    assert isinstance(request, Verb), "the parser accepts only kinds of `act/verbs/`"
    return await request.run(performance)


def _new_path(folder: Path, name: str, suffix: str) -> Path:
    taken = {each.name for each in folder.iterdir()}
    number = 1
    while (new := f"{name}-{number}{suffix}") in taken:
        number += 1
    return folder / new
