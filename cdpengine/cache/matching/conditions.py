"""Waiting for the condition of a step on the page.

Rule: waiting does not poll. The engine reports URLs, page text, load states and each change of a document. It
searches for an element again only after a change. At the end, all conditions hold at the same time. The
caller sets the only deadline.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine._budget import within
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.page_target import PageTarget
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.entries import PostCondition, Target
from cdpengine.cache.matching.finding import find_target, is_shown
from cdpengine.cache.matching.probing import QueriedElement, probe_page
from cdpengine.cache.variables import Values

if TYPE_CHECKING:
    from cdpengine import Page


@attrs.define(eq=False)
class PageChanges:
    """The reported changes of a page's documents."""

    _page: PageTarget
    _watches: FrameWatches
    _seen: int = -1

    async def next(self) -> None:
        """Wait for a change since the last call. The first call waits until all documents are observed."""
        await self._page.wait_for(lambda: self._watches.rounds != self._seen)
        self._seen = self._watches.rounds


@asynccontextmanager
async def watch_changes(page: Page) -> AsyncIterator[PageChanges]:
    """Observe the changes of all documents of a page."""
    core = page.internals
    watches = FrameWatches(core.target, core.worlds, [], changes=True)
    async with open_body_nursery() as nursery:
        nursery.start_soon(watches.run, name="watch for changes")
        yield PageChanges(core.target, watches)


async def wait_for_condition(page: Page, condition: PostCondition, values: Values, seconds: float) -> None:
    """Wait until all parts of a condition hold.

    Raises DeadlineExceededError with the part that does not hold, VariablesError, and the errors of
    `page.wait_for`.
    """
    with within("wait for what the step leads to", seconds) as budget:
        plain = _plain_conditions(condition, values)
        while True:
            if plain:
                await page.wait_for(**plain, timeout=max(round(budget.remaining, 3), 0))
            waited = False
            for target, present in ((condition.shown, True), (condition.gone, False)):
                if target is not None:
                    state = "shown" if present else "gone"
                    name = values.hide(values.fill(target.name))[:80]
                    budget.step(f"{target.role} {name!r} is to be {state}")
                    waited = await _wait_for_element(page, target, values, present=present) or waited
            if not waited or not (plain or (condition.shown and condition.gone)):
                return


def _plain_conditions(condition: PostCondition, values: Values) -> dict[str, Any]:
    """Return the parts of a condition that `page.wait_for` supports, as its arguments."""
    plain: dict[str, Any] = {}
    if condition.url is not None:
        pattern = UrlPattern(condition.url)

        def matches(url: str) -> bool:
            return pattern.matches(url)

        matches.__name__ = condition.url[:200]
        plain["url"] = matches
    for name in ("text", "text_gone"):
        if (template := getattr(condition, name)) is not None:
            plain[name] = values.fill(template)
    if condition.load_state is not None:
        plain["load_state"] = condition.load_state
    return plain


async def _wait_for_element(page: Page, target: Target, values: Values, *, present: bool) -> bool:
    """Wait until an element is present, or absent. Return whether the wait was necessary."""
    if await is_element_shown(page, target, values, present=present) is present:
        return False
    async with watch_changes(page) as changes:
        while True:
            await changes.next()
            if await is_element_shown(page, target, values, present=present) is present:
                return True


async def is_element_shown(page: Page, target: Target, values: Values, *, present: bool) -> bool:
    """Return whether an element is on the page.

    If the condition requires its absence (not `wanted`), any element of its role, name and item counts.
    """
    element = QueriedElement(target=target, name=values.fill(target.name), item=values.fill(target.item))
    probed = await probe_page(page, {"t1": element})
    if probed is not None and "t1" in probed.refs:
        return True
    snapshot = await page.snapshot(timeout=seconds_left())
    if not present:
        return is_shown(snapshot, target, values)
    return find_target(snapshot, target, values).ref is not None


def seconds_left() -> float:
    """Return the seconds until the enclosing deadline, at most a minute."""
    return min(max(round(trio.current_effective_deadline() - trio.current_time(), 3), 0), 60.0)
