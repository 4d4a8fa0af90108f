"""The assertion that the accessibility snapshot of a page or an element matches a template."""

from __future__ import annotations

import os
from contextlib import suppress

import trio

from cdpengine._api.assertions.elements import ElementLook
from cdpengine._api.assertions.snapshot_files import SnapshotTemplate, load_template
from cdpengine._api.assertions.waiting import Assertion, Observation
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.finding import similar_to
from cdpengine._api.page.snapshots import look_at_page
from cdpengine._api.page.waiting import settle
from cdpengine._budget import Budget, check_timeout
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.navigation.settling import watch_requests
from cdpengine._page.search.locator import FoundNode
from cdpengine._snapshot.template.comparison import compare
from cdpengine._snapshot.template.lines import LineTree, parse_snapshot, write_template
from cdpengine.errors import AssertionFailedError, DeadlineExceededError, NodeError, StaleRefError

_QUIET = 0.3
"""Time in seconds without activity after which a page is written to a template."""

_LONGEST_SETTLING = 0.5
"""Share of the timeout in which a page has to settle before it is written."""


async def check_snapshot(
    core: PageCore,
    subject: str,
    template: str | os.PathLike[str],
    root: ElementLook | None,
    timeout: float,
    *,
    negated: bool,
) -> None:
    """Wait until the snapshot matches the template, or write the file of the template."""
    seconds = check_timeout(timeout)
    loaded = await load_template(template, writable=not negated)
    if loaded.lines is None or loaded.update:
        await _write(core, subject, loaded, root, seconds)
        return
    await _assertion(core, subject, loaded, loaded.lines, root, negated=negated).check(seconds)


def _assertion(
    core: PageCore,
    subject: str,
    template: SnapshotTemplate,
    lines: LineTree,
    root: ElementLook | None,
    *,
    negated: bool,
) -> Assertion:
    async def look(_watches: FrameWatches | None, budget: Budget) -> Observation:
        element: FoundNode | None = None
        if root is not None:
            found = await root.find(budget)
            if (early := root.without_single(found)) is not None:
                return early
            (element,) = found
        try:
            text = str(await look_at_page(core, root=element, timeout=budget.remaining))
        except NodeError as error:
            if root is not None and isinstance(error, StaleRefError):
                return root.observe_removal()
            return Observation(False, str(error).partition("\n")[0])
        difference = compare(lines, parse_snapshot(text))
        actual = write_template(text)
        if negated:
            return Observation(bool(difference), "it matched", (), actual)
        seen = _describe_difference(difference)
        return Observation(not difference, seen, difference.split("\n"), actual)

    words = f"{subject} {'not ' if negated else ''}to match {template.words}"
    return Assertion(core, words, look, similar=None if root is None else similar_to(root.locator))


def _describe_difference(difference: str) -> str:
    marks = [line[:1] for line in difference.split("\n")[2:]]
    missing, total = marks.count("-"), len(marks) - marks.count("+")
    if not missing:
        return "it had more lines"
    return f"{missing} of its {total} lines {'was' if missing == 1 else 'were'} not on the page"


async def _write(
    core: PageCore, subject: str, template: SnapshotTemplate, root: ElementLook | None, timeout: float
) -> None:
    """Write the template's file once the page has settled, unless the template matches."""
    with suppress(DeadlineExceededError), trio.move_on_after(timeout * _LONGEST_SETTLING):
        async with (
            core.action(f"expect {subject} to settle", timeout) as budget,
            watch_requests(core.target) as requests,
        ):
            await settle(core, requests, _QUIET, budget)
    if template.lines is not None:
        try:
            await _assertion(core, subject, template, template.lines, root, negated=False).check(0)
        except AssertionFailedError as error:
            if not error.actual:  # there is no single element to read
                raise
            if template.path is None:
                lines = ("The new template:", *error.actual.rstrip("\n").split("\n"))
                error.details = (*error.details, *lines)
                raise
            await template.write(error.actual)
        return
    target = None if root is None else root.locator.target
    text = str(await look_at_page(core, root=target, timeout=timeout or 5))
    await template.write(write_template(text))
