"""Coverage: the parts of a page's scripts and style sheets that are used during a block, across navigations.

Rule: Chrome drops its counts with every document. The counts are read before each navigation of the engine, at
intervals, and when Chrome sends them. When a page navigates on its own, the unread time is reported as a gap. All
frames are counted, out-of-process frames from their first script on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import attrs
import trio

from cdpengine._budget import within
from cdpengine._logs import get_logger
from cdpengine._measure.coverage_report import (
    CoverageGap,
    CoverageReport,
    SourceText,
    counted_ranges,
    same_texts_once,
)
from cdpengine._nursery import open_body_nursery
from cdpengine._page.page_scope import PageScope, SessionOverride
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.css import CoverageDelta, StyleSheetAdded, StyleSheetTextReply
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.domains.profiler import PreciseCoverage, ScriptParsed, ScriptSourceReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, InvalidStateError, RemoteError, SessionGoneError

logger = get_logger("cdpengine.measure")

EVERY = 0.25
"""Seconds between two readings of the counts."""

_LEISURE = 10
"""Minimum ratio of the pause after a reading to the reading's duration, which limits the cost of reading."""

_COVERED: set[tuple[str, str | None]] = set()
"""Browsers and contexts with a covered page. Chrome counts for all pages of a process, or for none."""


@not_picklable("its `report`")
@attrs.define(eq=False)
class Coverage:
    """A running coverage measurement. `report` is set after its block has ended."""

    report: CoverageReport | None = None


@attrs.define(eq=False)
class _Watched:
    """The state of one session: its scripts and sheets by Chrome's ids, and the time of its last reading."""

    session: Session
    url: str = ""
    scripts: dict[str, SourceText] = attrs.field(factory=dict)
    sheets: dict[str, SourceText] = attrs.field(factory=dict)
    read_at: float | None = None
    final_counts_read: bool = False


@asynccontextmanager
async def measure_coverage(
    tabs: Tabs, page: PageTarget, browser_key: str, *, javascript: bool, css: bool, timeout: float
) -> AsyncIterator[Coverage]:
    """Count the used parts while the body runs. `timeout` applies to the beginning, and again to the end.

    Raises InvalidStateError if a page of the same browser context is already covered, DeadlineExceededError,
    and the errors of `Session.call`. A body that fails or is cancelled leaves no report.
    """
    key = (browser_key, page.context_id)
    if key in _COVERED:
        raise InvalidStateError(
            "measure coverage",
            "a page in the same browser context is being measured, and the processes share the counts. "
            "End that measurement first",
        )
    _COVERED.add(key)
    watch = _Watch(page, javascript, css)
    override = SessionOverride(PageScope.of_page(tabs, page, popups=False), watch.begin, watch.end)
    coverage = Coverage()
    try:
        try:
            with within("start coverage", timeout):
                await override.enter()
            async with open_body_nursery() as nursery:
                nursery.start_soon(watch.run, name="coverage")
                with page.reading_before_leaving(watch.read_before_leaving):
                    yield coverage
                    with (
                        within("end coverage", timeout) as budget,
                        page.running.ask_before(budget.deadline),
                    ):
                        await watch.read_counts(final=True)
                        await watch.texts_are_there()
            coverage.report = watch.report()
        finally:
            await override.leave()
    finally:
        _COVERED.discard(key)


class _Watch:
    def __init__(self, page: PageTarget, javascript: bool, css: bool) -> None:
        self._page = page
        self._javascript = javascript
        self._css = css
        self._watched: dict[Session, _Watched] = {}
        self._ended: list[_Watched] = []
        self._scripts: list[SourceText] = []
        self._sheets: list[SourceText] = []
        self._gaps: list[CoverageGap] = []
        self._listeners: dict[Session, list[tuple[str, Callable[[Event], None]]]] = {}
        self._pending_texts: deque[
            tuple[SourceText, PendingCall, type[ScriptSourceReply | StyleSheetTextReply]]
        ] = deque()
        self._stirred = trio.Event()
        self._reading = trio.Lock()
        self._reading = trio.Lock()

    # --- the sessions ---------------------------------------------------------------------------------------

    def begin(self, session: Session) -> list[PendingCall]:
        """Start counting in one session."""
        watched = self._watched[session] = _Watched(session, self._url_of(session))
        listeners: list[tuple[str, Callable[[Event], None]]] = [
            ("Page.frameNavigated", lambda event: self._note_navigation(watched, event)),
        ]
        calls = []
        if self._javascript:
            listeners.append(("Debugger.scriptParsed", lambda event: self._note_script(watched, event)))
            listeners.append(
                ("Profiler.preciseCoverageDeltaUpdate", lambda event: self._take_counts(watched, event))
            )
        if self._css:
            listeners.append(("CSS.styleSheetAdded", lambda event: self._note_sheet(watched, event)))
        for method, listener in listeners:
            session.on_event(method, listener)
        self._listeners[session] = listeners
        session.on_end(lambda: self._note_gone(session))
        if self._javascript:
            session.domains.acquire("Profiler", "Debugger")
            calls += [
                # Ignore `debugger` statements: the Debugger domain serves only to read script sources.
                session.post("Debugger.setSkipAllPauses", skip=True),
                session.post(
                    "Profiler.startPreciseCoverage", callCount=True, detailed=True, allowTriggeredUpdates=True
                ),
            ]
        if self._css:
            session.domains.acquire("CSS")
            calls.append(session.post("CSS.startRuleUsageTracking"))
        return calls

    def end(self, session: Session) -> list[PendingCall]:
        """Stop counting in one session."""
        for method, listener in self._listeners.pop(session, []):
            session.off_event(method, listener)
        calls = []
        if self._javascript:
            calls.append(session.post("Profiler.stopPreciseCoverage"))
            calls.append(session.post("Debugger.setSkipAllPauses", skip=False))
            session.domains.release("Profiler", "Debugger")
        if self._css:
            calls.append(session.post("CSS.stopRuleUsageTracking"))
            session.domains.release("CSS")
        return calls

    def _url_of(self, session: Session) -> str:
        frame = self._page.frames.get(session.frame_id)
        return "" if frame is None else frame.url

    # --- events ---------------------------------------------------------------------------------------------

    def _note_script(self, watched: _Watched, event: Event) -> None:
        parsed = event.decode(ScriptParsed)
        is_page_script = parsed.url and parsed.execution_context_aux_data.is_default
        if not is_page_script or parsed.script_language != "JavaScript":
            watched.scripts.pop(parsed.script_id, None)  # a new process counts from 1 again
            return
        text = SourceText(parsed.url, parsed.start_line, parsed.start_column, parsed.length)
        watched.scripts[parsed.script_id] = text
        self._scripts.append(text)
        self._ask(
            watched.session,
            text,
            "Debugger.getScriptSource",
            {"scriptId": parsed.script_id},
            ScriptSourceReply,
        )

    def _note_sheet(self, watched: _Watched, event: Event) -> None:
        header = event.decode(StyleSheetAdded).header
        if header.origin != "regular":
            return
        text = SourceText(
            header.source_url, int(header.start_line), int(header.start_column), int(header.length)
        )
        watched.sheets[header.style_sheet_id] = text
        self._sheets.append(text)
        params = {"styleSheetId": header.style_sheet_id}
        self._ask(watched.session, text, "CSS.getStyleSheetText", params, StyleSheetTextReply)

    def _ask(
        self,
        session: Session,
        text: SourceText,
        method: str,
        params: dict[str, str],
        kind: type[ScriptSourceReply | StyleSheetTextReply],
    ) -> None:
        with suppress(SessionGoneError, ConnectionLostError):
            self._pending_texts.append((text, session.post(method, **params), kind))
            self._stirred.set()

    def _take_counts(self, watched: _Watched, event: Event) -> None:
        self._add_scripts(watched, event.decode(PreciseCoverage))

    def _note_navigation(self, watched: _Watched, event: Event) -> None:
        frame = event.decode(FrameNavigated).frame
        if frame.id != watched.session.frame_id:
            return
        self._leave(watched)
        watched.url = frame.url

    def _note_gone(self, session: Session) -> None:
        if (watched := self._watched.pop(session, None)) is not None and session in self._listeners:
            del self._listeners[session]
            self._leave(watched)

    def _leave(self, watched: _Watched) -> None:
        """Note that a document was replaced, and how long its counts had not been read."""
        if not watched.final_counts_read and watched.url not in ("", "about:blank"):
            read_at = watched.read_at
            since = None if read_at is None else trio.current_time() - read_at
            self._gaps.append(CoverageGap(watched.url, since))
        watched.final_counts_read = False
        watched.read_at = None

    def _add_scripts(self, watched: _Watched, counted: PreciseCoverage) -> None:
        for script in counted.result:
            text = watched.scripts.get(script.script_id)
            if text is not None:
                text.add(
                    counted_ranges(
                        (part.start_offset, part.end_offset, part.count)
                        for function in script.functions
                        for part in function.ranges
                    )
                )

    def _add_rules(self, watched: _Watched, delta: CoverageDelta) -> None:
        for rule in delta.coverage:
            text = watched.sheets.get(rule.style_sheet_id)
            if text is not None and rule.used:
                text.add([(int(rule.start_offset), int(rule.end_offset))])

    # --- reading --------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read the counts at intervals, and the sources of new scripts and sheets."""
        async with open_body_nursery() as nursery:
            nursery.start_soon(self._read_texts)
            while True:
                started = trio.current_time()
                await self.read_counts()
                took = trio.current_time() - started
                await trio.sleep(max(EVERY, took * _LEISURE))

    async def read_before_leaving(self) -> None:
        """Read the counts of a document that a navigation of the engine is about to replace."""
        await self.read_counts()
        for watched in self._watched.values():
            watched.final_counts_read = True

    async def read_counts(self, *, final: bool = False) -> None:
        """Read the current counts.

        With `final`, raises the error of a failed reading of the page's main session.
        """
        async with self._reading:
            posted = [(watched, self._post_reading(watched)) for watched in list(self._watched.values())]
            for watched, calls in posted:
                try:
                    await self._take(watched, calls)
                except (SessionGoneError, ConnectionLostError, RemoteError) as error:
                    if final and watched.session is self._page.session:
                        raise
                    logger.debug("no counts of %s: %s", watched.session.describe(), error)

    def _post_reading(self, watched: _Watched) -> list[PendingCall]:
        calls = []
        with suppress(SessionGoneError, ConnectionLostError):
            if self._javascript:
                calls.append(watched.session.post("Profiler.takePreciseCoverage"))
            if self._css:
                calls.append(watched.session.post("CSS.takeCoverageDelta"))
        return calls

    async def _take(self, watched: _Watched, calls: list[PendingCall]) -> None:
        # Chrome drops the counts when it sends them, so a pending reading is awaited unless the whole measurement
        # ends.
        for call in calls:
            if call.call.method == "Profiler.takePreciseCoverage":
                self._add_scripts(watched, await call.decoded(PreciseCoverage))
            else:
                self._add_rules(watched, await call.decoded(CoverageDelta))
        watched.read_at = trio.current_time()

    async def _read_texts(self) -> None:
        while True:
            await self._stirred.wait()
            self._stirred = trio.Event()
            await self.texts_are_there()

    async def texts_are_there(self) -> None:
        """Wait until the requested sources of scripts and sheets have arrived."""
        async with self._reading:
            while self._pending_texts:
                text, call, kind = self._pending_texts.popleft()
                try:
                    reply = await call.decoded(kind)
                except (SessionGoneError, ConnectionLostError, RemoteError) as error:
                    logger.debug("no text of %s: %s", text.url, error)
                else:
                    text.text = reply.script_source if isinstance(reply, ScriptSourceReply) else reply.text

    def report(self) -> CoverageReport:
        """Return the coverage."""
        return CoverageReport(
            same_texts_once(self._scripts), same_texts_once(self._sheets), tuple(self._gaps)
        )
