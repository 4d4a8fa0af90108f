"""PageSteps: the steps of one page, as a listener of its methods and of requests to it.

Rule: a step posts its readings and returns; a task of the page takes their replies in order. While a page does not
answer, no more than a few readings wait for it, so memory stays bounded.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._page.announcing import ActionCall
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.wire import current_span
from cdpengine._protocol.wire import span as action_span
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.debug.steps.descriptions import (
    describe_call,
    describe_error,
    describe_field,
    describe_outcome,
    find_caller,
    is_read,
    short_url,
)
from cdpengine.debug.steps.documents import SPAN, Document, PageDocuments, Reading
from cdpengine.debug.steps.resources import PageResources
from cdpengine.debug.steps.step_file import StepFile
from cdpengine.errors import EngineError

_log = get_logger("cdpengine.debug")

PREPARING = 0.3
"""Maximum time to make the readers of new documents before and after a step, in seconds."""

_MOST_READINGS = 40
"""Maximum number of readings without a reply. Further steps show the last known state."""

_LARGEST_PICTURE = 4_000_000

NO_READING = Reading(())


@attrs.frozen
class StepOptions:
    """Options of a step trace: see `Page.trace_steps`. `began` is trio's clock at the start."""

    began: float
    film: bool = True
    redacted: bool = True
    keep_arguments: bool = False


@attrs.define(eq=False)
class _Step:
    number: int
    span: AbstractContextManager[None]
    before: Reading
    frame_id: str = ""


Job = Callable[[], Awaitable[None]]


class PageSteps:
    """The listener of one page. `steps` and `documents` number the steps and documents of the trace."""

    def __init__(
        self,
        page: PageTarget,
        number: int,
        file: StepFile,
        options: StepOptions,
        steps: Iterator[int],
        documents: Iterator[int],
        nursery: trio.Nursery,
    ) -> None:
        self.page = page
        self.number = number
        self._file = file
        self._options = options
        self._steps = steps
        self._resources = PageResources(nursery, file)
        self.documents = PageDocuments(page, documents, self._take_version)
        self._running: dict[ActionCall, _Step] = {}
        self._send, self._jobs = trio.open_memory_channel[Job](math.inf)
        self._unread = 0
        self._given = GivenTexts()

    def seconds(self, at: float | None = None) -> float:
        """Return the time since the start of the trace."""
        return round((trio.current_time() if at is None else at) - self._options.began, 4)

    def begin(self) -> None:
        """Listen to the page's methods."""
        self.page.running.listeners.append(self)
        self.page.running.read_listeners.append(self)
        self.page.running.request_listeners.append(self)
        self._file.add({"k": "page", "page": self.number, "target": self.page.target_id, "t": self.seconds()})

    def end(self) -> None:
        """Stop listening. Steps that run on are recorded without their end."""
        running = self.page.running
        for listeners in (running.listeners, running.read_listeners, running.request_listeners):
            if self in listeners:
                listeners.remove(self)
        with suppress(EngineError):
            self.documents.end()
        self._send.close()

    async def run(self) -> None:
        """Take the replies until `end`. Raises nothing."""
        with action_span(SPAN):
            async for job in self._jobs:
                with _harmless():
                    await job()

    def add_job(self, job: Job) -> None:
        """Run a job in its turn."""
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            self._send.send_nowait(job)

    # --- the listener --------------------------------------------------------------------------------------------

    async def before(self, call: ActionCall) -> None:
        """Begin a step: read the page before the method sends anything."""
        step = self._running[call] = _Step(
            next(self._steps), action_span(f"page.{call.verb}"), NO_READING, self.page.frames.main.id
        )
        line = {
            "k": "step", "n": step.number, "page": self.number, "verb": call.verb, "t": self.seconds(),
            "read": is_read(call), "url": short_url(self.page.frames.main.url),
            "at": find_caller() if call.request is None else "",
            "args": describe_call(
                call, redacted=self._options.redacted, keep_arguments=self._options.keep_arguments
            ),
        }  # fmt: skip
        try:
            with _harmless():
                await self._prepare()
                self._post(step.number, "before")
        finally:
            step.span.__enter__()
            span = current_span()
            self._file.add({**line, "span": 0 if span is None else span.number})

    async def on_node(self, call: ActionCall, argument: str, node: Node, _seconds: float) -> None:
        """Record the node of an argument."""
        if (step := self._running.get(call)) is not None:
            step.frame_id = node.frame_id
            self.add_job(partial(self._add_node, step.number, argument, node, describe_field(call, argument)))
        await trio.lowlevel.checkpoint_if_cancelled()

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        """End a step: read the page again."""
        step = self._leave(call)
        if step is None:
            return
        with _harmless():
            self._end(step, call, None if error is None else describe_error(error))
            if call.given is not None and isinstance(call.given.snapshot, Snapshot):
                self._give(step.number, call.given.snapshot, call.given.text, call.given.diff)
            elif isinstance(call.outcome, Snapshot):
                snapshot = call.outcome
                diff = None if snapshot.diff is None else str(snapshot.diff)
                self._give(step.number, snapshot, snapshot.text, diff)
            elif isinstance(call.outcome, bytes) and len(call.outcome) <= _LARGEST_PICTURE:
                self._file.add_blob(f"given/{step.number}", call.outcome)
            if error is None and not is_read(call):
                await self._prepare()
            self._post(step.number, "after")
        await trio.lowlevel.checkpoint_if_cancelled()

    def cancelled(self, call: ActionCall) -> None:
        """End a cancelled step."""
        if (step := self._leave(call)) is None:
            return
        with _harmless():
            self._end(step, call, {"kind": "Cancelled", "message": "the call was cancelled", "notes": []})
            self._post(step.number, "after")

    def _leave(self, call: ActionCall) -> _Step | None:
        step = self._running.pop(call, None)
        if step is not None:
            step.span.__exit__(None, None, None)
        return step

    def _end(self, step: _Step, call: ActionCall, error: dict[str, Any] | None) -> None:
        options, budget = self._options, call.budget
        log = sorted(
            (self.seconds(at), text)
            for each in call.budgets
            for at, text in zip(each.step_times, each.steps, strict=False)
        )
        outcome = describe_outcome(call, redacted=options.redacted, keep_arguments=options.keep_arguments)
        self._file.add({
            "k": "end", "n": step.number, "t": self.seconds(), "error": error, "log": log, "outcome": outcome,
            "frame": step.frame_id, "timeout": None if budget is None else budget.timeout,
        })  # fmt: skip

    # --- the pages -----------------------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        if not self.documents.complete:
            with trio.move_on_after(PREPARING):
                await self.documents.prepare()

    def _post(self, number: int, when: str) -> None:
        if self._unread > _MOST_READINGS:
            return
        reading = self.documents.post()
        self._unread += 1
        complete = self.documents.complete
        self.add_job(partial(self._add_state, number, when, reading if complete else None, self.seconds()))

    async def _add_state(self, number: int, when: str, reading: Reading | None, at: float) -> None:
        try:
            if reading is None:  # a new document, which is read later than it should
                await self.documents.prepare()
                reading = self.documents.post()
            state = await self.documents.state_of(reading)
        finally:
            self._unread -= 1
        self._file.add({"k": "state", "n": number, "when": when, "t": at, "frames": state})

    def _take_version(self, document: Document, version: int, data: bytes, urls: list[str]) -> None:
        head = b'{"k":"document","d":%d,"v":%d,"data":' % (document.number, version)
        self._file.add_raw("documents", b"%b%b}" % (head, data))
        self._resources.need(document, urls)

    async def _add_node(self, number: int, argument: str, node: Node, query: Mapping[str, str]) -> None:
        found = await self.documents.number_of(node)
        line = {"k": "node", "n": number, "arg": argument, "name": node.description, "frame": node.frame_id}
        line.update(query)
        self._file.add(line if found is None else {**line, "node": found})

    def _give(self, number: int, snapshot: Snapshot, text: str | None, diff: str | None) -> None:
        """Record the text that the caller received: a snapshot, or only its diff."""
        received = (diff or "") if text is None else text
        line = {
            "k": "given", "n": number, "diff": diff, "whole": text is not None,
            "tokens": estimate_tokens(received), "chars": len(received), "lines": received.count("\n") + 1,
            "mode": snapshot.mode, "gaps": list(snapshot.gaps),
            "sources": sorted({each.source for each in snapshot.stats.sources.values()}),
        }  # fmt: skip

        async def add_refs() -> None:
            if numbers := await self.documents.numbers_of(snapshot.refs):
                self._file.add({"k": "refs", "n": number, "page": self.number, "refs": numbers})

        shown = snapshot.text if text is None else text
        self._file.add_job(lambda: {**line, **self._given.delta(number, shown)}, len(shown))
        self.add_job(add_refs)


@contextmanager
def _harmless() -> Iterator[None]:
    """Log a failure of the trace, which is none of the program."""
    try:
        yield
    except EngineError:
        pass  # the page or the browser is gone
    except Exception:  # noqa: BLE001 - no failure of the trace may end the program
        _log.exception("a part of a step trace failed")


class GivenTexts:
    """The snapshots that the caller was given, each as the difference from the one before it."""

    def __init__(self) -> None:
        self._number = 0
        self._lines: list[str] = []

    def delta(self, number: int, text: str) -> dict[str, Any]:
        """Return `text` as its own lines between the first and the last ones of the text of step `base`."""
        lines, before, base = text.split("\n"), self._lines, self._number
        most = min(len(lines), len(before))
        head = next((at for at in range(most) if lines[at] != before[at]), most)
        tail = next((at for at in range(most - head) if lines[-1 - at] != before[-1 - at]), most - head)
        self._number, self._lines = number, lines
        return {"base": base, "head": head, "tail": tail, "text": lines[head : len(lines) - tail]}
