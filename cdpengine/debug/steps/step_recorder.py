"""StepRecorder: the step trace of a scope of pages, while a block runs.

Rule: the recorder's own commands are no part of the recorded traffic. The end of the block ends the trace, however
the block ends, and a failure to write is raised there.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path

import attrs
import trio

from cdpengine._activity.collector import Activities
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._page.page_scope import PageScope
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Posted
from cdpengine._protocol.instruments import Instruments, Traffic
from cdpengine._protocol.messages import envelope_or_none
from cdpengine._protocol.session import Session
from cdpengine.debug.recording.recording_file import create_recording, not_begun
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.steps.activity import PageActivityLines
from cdpengine.debug.steps.documents import SPAN
from cdpengine.debug.steps.film import FilmStrip
from cdpengine.debug.steps.page_steps import PageSteps, StepOptions
from cdpengine.debug.steps.step_file import StepFile, header_of
from cdpengine.errors import EngineError, FileNotWrittenError, shortages_named

_log = get_logger("cdpengine.debug")

LIMIT = 256_000_000
"""Default maximum size of a step trace, in bytes."""

_READING = 2.0
"""Maximum time at the end for the pages to answer the last readings, in seconds."""

_READING_AFTER_ERROR = 0.3
"""The same after an error or a cancellation, in seconds."""

_CLOSING = 60.0
"""Maximum time at the end to write the rest, in seconds."""

_MOST_OWN = 10_000


class StepTraffic:
    """The instrument that records the messages, without those of the trace itself."""

    def __init__(self, file: StepFile) -> None:
        self._file = file
        self._own: dict[tuple[str, int | None], None] = {}

    def __call__(self, traffic: Traffic) -> None:
        """Record one message."""
        envelope = traffic.envelope
        if traffic.span is not None and traffic.span.name == SPAN:
            found = envelope or envelope_or_none(traffic.message)
            if found is not None:
                self._own[traffic.connection, found.id] = None
                if len(self._own) > _MOST_OWN:
                    del self._own[next(iter(self._own))]
            return
        if envelope is not None:
            key = traffic.connection, envelope.id
            if envelope.id is not None and key in self._own:
                del self._own[key]
                return
            if envelope.method == "Page.screencastFrame":
                return
        self._file.add_message(traffic)

    def add_secret(self, text: str) -> None:
        """Keep a string out of all later lines."""
        self._file.add_secret(text)


@attrs.define(eq=False)
class _Page:
    steps: PageSteps
    activity: PageActivityLines
    film: FilmStrip | None

    def end(self) -> None:
        for part in (self.steps, self.activity, self.film):
            if part is not None:
                with suppress(EngineError):
                    part.end()


class StepRecorder:
    """A running step trace to the file `path`."""

    def __init__(
        self,
        scope: PageScope,
        activities: Activities,
        file: StepFile,
        options: StepOptions,
        nursery: trio.Nursery,
    ) -> None:
        self.path = file.path
        self._scope = scope
        self._activities = activities
        self._file = file
        self._options = options
        self._nursery = nursery
        self._pages: dict[PageTarget, _Page] = {}
        self._numbers = itertools.count(1)
        self._steps = itertools.count(1)
        self._documents = itertools.count(1)

    @property
    def failure(self) -> str | None:
        """Reason why writing failed, or None."""
        return self._file.failure

    @property
    def size(self) -> int:
        """Size of the file so far, in bytes."""
        return self._file.size

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record the pages of the scope while the block runs."""
        tabs = self._scope.tabs
        tabs.add_set_up(self._set_up)
        try:
            for page in list(tabs.pages.values()):
                if self._scope.covers(page):
                    self._join(page)
            yield
        finally:
            tabs.remove_set_up(self._set_up)
            for each in self._pages.values():
                each.end()

    async def settle(self, seconds: float) -> None:
        """Wait until the last readings are answered."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + seconds):
            for each in self._pages.values():
                read = trio.Event()

                async def note(read: trio.Event = read) -> None:
                    read.set()
                    await trio.lowlevel.checkpoint()

                if not each.steps.page.closed:
                    each.steps.add_job(note)
                    await read.wait()

    def _set_up(self, page: PageTarget, session: Session) -> list[Posted]:
        if session is page.session and self._scope.covers(page):
            self._join(page)
        return []

    def _join(self, page: PageTarget) -> None:
        if page in self._pages:
            return
        number, options = next(self._numbers), self._options
        steps = PageSteps(page, number, self._file, options, self._steps, self._documents, self._nursery)
        activity = PageActivityLines(
            self._activities.of(page), number, self._file, options.began, redacted=options.redacted
        )
        film = FilmStrip(page, number, self._file, options.began, self._nursery) if options.film else None
        self._pages[page] = _Page(steps, activity, film)
        steps.begin()
        activity.begin()
        self._nursery.start_soon(steps.run, name="step trace of a page")
        self._nursery.start_soon(activity.run, name="activity of a step trace")
        if film is not None:
            film.begin()


@asynccontextmanager
async def record_steps(
    scope: PageScope,
    activities: Activities,
    instruments: Instruments,
    path: Path,
    *,
    product: str,
    film: bool,
    redacted: bool,
    keep_arguments: bool,
    limit: int,
    overwrite: bool,
    timeout: float,
) -> AsyncIterator[StepRecorder]:
    """Record the steps of a scope's pages to `path`. See `Page.trace_steps`."""
    began = trio.current_time()
    redactor = Redactor(keep_arguments=keep_arguments) if redacted else None
    made = create_recording(path, overwrite=overwrite)
    try:
        with shortages_named(partial(not_begun, made.path)):
            file = StepFile(path, made.descriptor, limit=limit, began=began, redactor=redactor)
            file.start(header_of(product=product, redacted=redacted, film=film, limit=limit))
    except BaseException:
        made.remove()
        raise
    options = StepOptions(began, film, redacted, keep_arguments)
    try:
        async with open_body_nursery() as nursery:
            recorder = StepRecorder(scope, activities, file, options, nursery)
            with ExitStack() as stack:
                stack.enter_context(instruments.attached(StepTraffic(file)))
                stack.enter_context(recorder.running())
                try:
                    yield recorder
                except BaseException:
                    await recorder.settle(min(_READING_AFTER_ERROR, timeout / 2))
                    raise
                await recorder.settle(min(_READING, timeout / 2))
    finally:
        closing = trio.CancelScope(shield=True, deadline=trio.current_time() + _CLOSING)
        with closing:
            await trio.to_thread.run_sync(file.finish, abandon_on_cancel=True)
    if file.failure is not None or closing.cancelled_caught:
        reason = file.failure or "the disk did not take it in time"
        raise FileNotWrittenError("the step trace", str(path), reason, "The earlier steps are in the file")
