"""PersonRecorder: the actions of a person in a browser window, as recorded steps.

Rule: the person's input reaches the page unchanged, and dialogs and file choosers are left to the person. The
learner of the action cache turns the input on each page into steps. The recorder puts the pages in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

import attrs
import trio

from cdpengine import Browser, Page
from cdpengine.cache.learning.learned_steps import LearnedSteps, learn_steps
from cdpengine.cache.templates import escape
from cdpengine.codegen import recorded
from cdpengine.codegen.from_entry import convert
from cdpengine.codegen.recorded import RecordedStep
from cdpengine.errors import EngineError


@attrs.define(eq=False)
class _RecordedPage:
    """One page. `began` and `closed_at` are times of trio's clock."""

    page: Page
    number: int
    opener: int | None
    began: float
    closed_at: float = math.inf
    learned: LearnedSteps | None = None
    over: trio.Event = attrs.field(factory=trio.Event)


class PersonRecorder:
    """A recorder of one page and the pages that it opens; with `every`, of all new pages of the browser."""

    def __init__(self, browser: Browser, first: Page, *, every: bool = False) -> None:
        self._browser = browser
        self._every = every
        self._known = {page.target_id for page in browser.pages}
        self._pages: list[_RecordedPage] = []
        self._stopped = False
        self._url = ""
        self._first = first
        leave_to_person(first)

    async def open(self, url: str) -> None:
        """Navigate the first page, as the first step. Raises the errors of `Page.goto`."""
        self._url = url
        await self._first.goto(url)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Record until `stop` is called or the last page is closed."""
        async with trio.open_nursery() as nursery:
            try:
                await nursery.start(self._record, self._first)
                task_status.started()
                while page := await self._next_page():
                    await nursery.start(self._record, page)
            except EngineError:
                self.stop()  # the browser ended

    def stop(self) -> None:
        """End the recording."""
        self._stopped = True
        for each in self._pages:
            each.over.set()
        self._browser.internals.tabs.changes.notify()

    async def _next_page(self) -> Page | None:
        """Return the next new page, or None at the end of the recording."""

        def found() -> tuple[Page | None] | None:
            if self._stopped:
                return (None,)
            if error := self._browser.session.error():
                raise error
            page = next((each for each in self._browser.pages if self._is_new(each)), None)
            return None if page is None else (page,)

        (page,) = await self._browser.internals.tabs.changes.wait_for(found)
        if page is not None:
            self._known.add(page.target_id)
            leave_to_person(page)
        return page

    def _is_new(self, page: Page) -> bool:
        return page.target_id not in self._known and (self._every or self._number_of(page.opener) is not None)

    def _number_of(self, page: Page | None) -> int | None:
        return next((each.number for each in self._pages if page is not None and each.page is page), None)

    async def _record(
        self, page: Page, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        each = _RecordedPage(page, len(self._pages) + 1, self._number_of(page.opener), trio.current_time())
        self._pages.append(each)

        def closed() -> None:
            each.closed_at = math.inf if self._stopped else trio.current_time()
            each.over.set()

        page.session.on_end(closed)
        is_started = False
        try:
            async with learn_steps(page, complete=True) as each.learned:
                is_started = True
                task_status.started()
                await each.over.wait()
        except EngineError:
            pass  # the page is gone; its steps remain
        finally:
            if not is_started:
                task_status.started()
            if all(other.over.is_set() for other in self._pages):
                self.stop()

    # --- steps ---------------------------------------------------------------------------------------------------

    def steps(self, notes: list[str], *, asserts: bool = False) -> list[RecordedStep]:
        """Return the steps of all pages in order. Append the actions that are no steps to `notes`.

        With `asserts`, the effects of the steps become assertions. Call it after `run`.
        """
        timed: list[tuple[float, RecordedStep]] = []
        for each in self._pages:
            own = list(self._steps_of(each, notes, asserts=asserts))
            if each.closed_at < math.inf:
                own.append((each.closed_at, RecordedStep(recorded.ClosePage(), each.number)))
            if each.number > 1 and not _mark_opening(timed, each):
                own.insert(0, (each.began, RecordedStep(recorded.OpenPage(), each.number)))
            timed += own
        steps = [step for _, step in sorted(timed, key=itemgetter(0))]
        while steps and isinstance(steps[-1].action, recorded.ClosePage):
            steps.pop()
        first = [RecordedStep(recorded.Goto(escape(self._url)))] if self._url else []
        return [*first, *steps]

    def _steps_of(
        self, each: _RecordedPage, notes: list[str], *, asserts: bool
    ) -> Iterator[tuple[float, RecordedStep]]:
        learned = each.learned
        if learned is None:
            return
        own_notes = [note for note in learned.notes if ": popup: " not in note]
        converted = list(convert(learned.steps, own_notes, page=each.number, asserts=asserts))
        notes += [f"page {each.number}: {note}" for note in own_notes]
        if each.opener is not None and converted and isinstance(converted[0][1].action, recorded.Goto):
            del converted[0]  # the page's own first document
        for place, step in converted:
            yield learned.times[place], step


def _mark_opening(timed: list[tuple[float, RecordedStep]], page: _RecordedPage) -> bool:
    """Mark the step that opened a page: the last action on its opener before it. Return False without one."""
    for place in range(len(timed) - 1, -1, -1):
        at, step = timed[place]
        if (
            at <= page.began
            and step.page == page.opener
            and isinstance(step.action, recorded.Click | recorded.Press)
        ):
            if step.opens is not None:
                return False
            timed[place] = at, attrs.evolve(step, opens=page.number)
            return True
    return False


def leave_to_person(page: Page) -> None:
    """Leave the page's dialogs, file choosers and focus to the person, also while the engine reads it."""
    target = page.internals.target
    target.leave_alone()
    target.running.used = True
