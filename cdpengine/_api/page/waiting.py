"""The conditions of `wait_for` and `settled`, and the wait for all of them.

Rule: impossible conditions are refused before anything is sent. A condition returns synchronously whether it held
at its last report, and the wait evaluates all conditions together. A condition whose report may be outdated is
queried again (`confirm`) before it counts. Events end the wait; it uses a timer only for conditions on time. One
budget limits it. At the deadline the error lists the unmet conditions with the last observations.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, get_args

import attrs
import trio

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._budget import Budget
from cdpengine._checks import check_string, invalid
from cdpengine._evaluate.evaluation import Evaluator
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.script import Script, is_function
from cdpengine._javascript import own, script
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.documents import STOP, FrameWatches
from cdpengine._page.navigation.settling import RequestsUnderWay, Settling, watch_requests
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import Words, describe_words
from cdpengine._urls.patterns import UrlPattern, join_pattern, url_test, url_words
from cdpengine.errors import (
    EngineError,
    EvaluationDisabledError,
    EvaluationTerminatedError,
    InvalidArgumentError,
    StaleRefError,
    shown_url,
)
from cdpengine.errors.selectors import advise_waiting
from cdpengine.errors.texts import duration

_STOP_TIMEOUT = 0.08
"""Time in seconds in which an expression must stop before its script is terminated."""

_LONGEST_OBSERVATION = 220
"""Maximum length of an expression's value in the error, in characters."""

_RETRY_PAUSE = 0.05
"""Pause in seconds before an expression is evaluated again after a navigation."""


class Condition(Protocol):
    """One condition of a wait."""

    def words(self) -> str:
        """Return the description of the condition for messages."""

    def observation(self) -> str:
        """Return the last observation."""

    def holds(self) -> bool:
        """Return whether the condition held at the last report."""

    async def run(self) -> None:
        """Follow the condition until cancelled."""

    async def confirm(self) -> None:
        """Query the page again."""


@attrs.define(eq=False)
class Simple:
    """A condition on state that the engine always tracks."""

    _words: str
    _test: Callable[[], bool]
    _observe: Callable[[], str]

    def words(self) -> str:
        """Return the description of the condition."""
        return self._words

    def observation(self) -> str:
        """Return the last observation."""
        return self._observe()

    def holds(self) -> bool:
        """Return whether the condition holds now."""
        return self._test()

    async def run(self) -> None:
        """Do nothing: the engine always tracks the state."""
        await trio.lowlevel.checkpoint()

    async def confirm(self) -> None:
        """Do nothing: the state is always current."""
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class Elapsed:
    """The condition that a number of seconds has passed since the wait began."""

    page: PageTarget
    seconds: float
    began: float = attrs.field(factory=trio.current_time)

    def words(self) -> str:
        """Return the description of the condition."""
        return f"{duration(self.seconds)} have passed"

    def observation(self) -> str:
        """Return the last observation."""
        return f"{trio.current_time() - self.began:.2f} s had passed"

    def holds(self) -> bool:
        """Return whether the time has passed."""
        return trio.current_time() >= self.began + self.seconds

    async def run(self) -> None:
        """Wake the waiting call when the time has passed."""
        await trio.sleep_until(self.began + self.seconds)
        self.page.changes.notify()

    async def confirm(self) -> None:
        """Do nothing: the result cannot become outdated."""
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class InPage:
    """Conditions that observers in the documents report. Each part has a description and an expected value.

    The expected value False means that the condition must hold in no document. `patterns` maps part numbers to
    patterns, which are searched for in the text of the documents.
    """

    watches: FrameWatches
    parts: list[tuple[str, bool]]
    node: str = ""
    patterns: Mapping[int, re.Pattern[str]] = attrs.field(factory=dict)

    def words(self) -> str:
        """Return the description of the condition."""
        return ", ".join(words for words, _ in self.parts)

    def observation(self) -> str:
        """Return the last observation of each unmet part."""
        reports = self.watches.reports()
        if self.watches.node_gone:
            return "the node is no longer in its document"
        if reports is None:
            return "a document did not answer"
        unmet = []
        for number, (words, expected) in enumerate(self.parts):
            if not self._part_holds(number, expected):
                all_observed = [each.observed[number] for each in reports]
                observations = [each for each in all_observed if each or len(reports) == 1]
                unmet.append(f"{words}: seen was {' | '.join(map(repr, observations[:4])) or 'nothing'}")
        return "; ".join(unmet)

    def holds(self) -> bool:
        """Return whether all parts held at the last reports. Raises StaleRefError if they never can."""
        reports = self.watches.reports()
        if self.watches.node_gone:
            return self._accepts_removal()
        if reports is None:
            return False
        all_hold = all(self._part_holds(number, expected) for number, (_, expected) in enumerate(self.parts))
        if not all_hold and self.node and any("detached" in each.observed[0].split(", ") for each in reports):
            return self._accepts_removal()
        return all_hold

    def _accepts_removal(self) -> bool:
        if self.parts[0][0].endswith((" is detached", " is hidden")):
            return True
        raise StaleRefError(ref=self.node, description="a node", reason="it is no longer in its document")

    def _part_holds(self, number: int, expected: bool) -> bool:
        reports = self.watches.reports()
        if reports is None:
            return False
        pattern = self.patterns.get(number)
        if pattern is not None:
            return any(pattern.search(report.texts[number]) for report in reports) is expected
        return any(report.holds[number] for report in reports) is expected

    async def run(self) -> None:
        """Run the observers in the documents."""
        await self.watches.run()

    async def confirm(self) -> None:
        """Query all documents for their current state."""
        await self.watches.refresh()


@attrs.define(eq=False)
class NetworkIdle:
    """The condition that no request was in progress for a number of seconds."""

    page: PageTarget
    seconds: float
    requests: RequestsUnderWay | None = None

    def words(self) -> str:
        """Return the description of the condition."""
        return f"no request in progress for {duration(self.seconds)}"

    def observation(self) -> str:
        """Return the last observation."""
        waiting = [] if self.requests is None else self.requests.under_way(self.page.frames)
        urls = [shown_url(each.url) or "a request sent before the wait" for each in waiting[:3]]
        return f"{len(waiting)} in progress: {', '.join(urls)}" if waiting else "a request ended just before"

    def holds(self) -> bool:
        """Return whether the network is idle."""
        return self.requests is not None and self.requests.idle_for(self.page.frames) >= self.seconds

    async def run(self) -> None:
        """Follow the requests, and wake the waiting call when they have been idle for long enough."""
        async with watch_requests(self.page) as self.requests:
            while True:
                # Also at the start: on a busy machine the network may already have been idle for long enough.
                self.page.changes.notify()
                idle = self.requests.idle_for(self.page.frames)
                busy = bool(self.requests.under_way(self.page.frames))
                pause = math.inf if busy or idle >= self.seconds else self.seconds - idle + 0.001
                with trio.move_on_after(pause):
                    await self._wait_for_move(self.requests, self.requests.since, busy)

    async def _wait_for_move(self, requests: RequestsUnderWay, since: float, busy: bool) -> None:
        frames = self.page.frames
        await self.page.changes.wait_for(
            lambda: requests.since != since or bool(requests.under_way(frames)) is not busy
        )

    async def confirm(self) -> None:
        """Do nothing: the state is always current."""
        await trio.lowlevel.checkpoint()


class _DocumentLeftError(Exception):
    """The page left the document that evaluates a condition."""


@attrs.define(eq=False)
class Expression:
    """A condition of the user, evaluated in the page until it is true."""

    page: PageTarget
    evaluator: Evaluator
    source: str
    frame: Frame | None = None
    true: bool = False
    last: str = "it was not evaluated"
    _handle: JSHandle | None = None
    _failure: EngineError | None = None
    _again: trio.Event = attrs.field(factory=trio.Event)

    def words(self) -> str:
        """Return the description of the condition."""
        return f"expression {' '.join(self.source.split())[:120]}"

    def observation(self) -> str:
        """Return the last observation."""
        return self.last

    def holds(self) -> bool:
        """Return whether the last value was true. Raises the error that makes the evaluation impossible."""
        if self._failure is not None:
            raise copy.copy(self._failure)
        return self.true

    async def run(self) -> None:
        """Evaluate until true, and again after `confirm` found a false value."""
        while True:
            try:
                await self._until_true()
            except (EvaluationTerminatedError, _DocumentLeftError) as error:
                self.true, self.last = False, str(error)  # a navigation: evaluate in the next document
                await trio.sleep(_RETRY_PAUSE)
                continue
            except EngineError as error:
                self._failure = error  # `holds` raises it, once, when all conditions are evaluated
                self.page.changes.notify()
                return
            self._again = trio.Event()
            self.page.changes.notify()
            await self._again.wait()

    async def confirm(self) -> None:
        """Evaluate once again."""
        if self.true:
            try:
                self._take(
                    await self.evaluator.evaluate(
                        Script(f"{self._watch()}.now()", frame=self.frame), self._budget()
                    )
                )
            except EvaluationTerminatedError as error:
                self.true, self.last = False, str(error)
        if not self.true:
            self._again.set()

    async def _until_true(self) -> None:
        """Evaluate in the page until true. On cancellation, stop the script, or terminate it."""
        done = trio.Event()
        shield = trio.CancelScope(shield=True)

        async def look() -> None:
            try:
                with shield:
                    await self._look()
            finally:
                done.set()

        async with open_body_nursery() as nursery:
            nursery.start_soon(look, name="look at an expression")
            try:
                await done.wait()
            except trio.Cancelled:
                self._stop()
                with trio.move_on_after(_STOP_TIMEOUT, shield=True):
                    await done.wait()
                if not done.is_set():
                    self.last = "it did not finish; its script was terminated"
                shield.cancel()
                raise

    async def _look(self) -> None:
        async with self.evaluator.handle(Script(self._watch(), frame=self.frame), self._budget()) as handle:
            self._handle = handle
            try:
                script_of_next = Script("(watch) => watch.next()", [handle], self.frame)
                self._take(await self.evaluator.evaluate(script_of_next, self._budget()))
            except StaleRefError as error:  # the watch: a condition has no arguments of the caller
                raise _DocumentLeftError(str(error)) from error
            finally:
                self._stop()
                self._handle = None

    def _watch(self) -> str:
        condition = self.source if is_function(self.source) else f"() => ({self.source}\n)"
        return f"(({script('_api/page/expression')})(({condition}\n)))"

    def _budget(self) -> Budget:
        """Return a budget without a deadline; the caller limits the time."""
        return Budget.start(f"evaluate {self.words()}", math.inf)

    def _take(self, answer: object) -> None:
        if isinstance(answer, dict):
            self.true = bool(answer.get("holds"))
            self.last = str(answer.get("observed"))[:_LONGEST_OBSERVATION]

    def _stop(self) -> None:
        if self._handle is not None and self._handle.remote is not None:
            self._handle.remote.send(own(STOP))


NodeState = Literal[
    "attached", "detached", "visible", "hidden", "enabled", "disabled", "checked", "unchecked"
]

NODE_STATES: tuple[NodeState, ...] = get_args(NodeState)


def check_selector(what: str, given: str | None) -> None:
    """Raise InvalidArgumentError for a string that is certainly no CSS selector, such as a name."""
    if given is None:
        return
    check_string(what, given, empty=False)
    if advice := advise_waiting(given, gone=what == "css_gone"):
        raise invalid(what, given, f"a CSS selector. {advice}")


_NO_URL = "about:blank"
"""URL of a page before its first document."""

_CHANGES_TIMEOUT = 0.05
"""Time in seconds to request the reasons from documents that did not settle."""

TextPart: TypeAlias = "tuple[str, Words | None, bool]"
"""The kind of a text condition ("text", "css"), its text or selector, and whether it must be present."""


def make_url_condition(core: PageCore, url: UrlPattern, frame: Frame | None = None) -> Condition:
    """Return the condition that the URL of the main frame, or `frame`, matches. Raises InvalidArgumentError."""
    whole = join_pattern(core.base_url, url)
    test, words = url_test(whole), url_words(whole)
    main = frame or core.target.frames.main
    hint = ""
    if isinstance(whole, str) and whole.startswith("/"):
        hint = f" (a pattern is for the whole URL: */{whole.lstrip('/')})"
    return Simple(
        f"url {words}",
        lambda: test(main.url or _NO_URL),
        lambda: f"it was {shown_url(main.url or _NO_URL)}{hint}",
    )


def make_load_condition(target: PageTarget, state: LoadState, frame: Frame | None = None) -> Condition:
    """Return the condition that the document of a frame reached a state, without a navigation in progress."""
    main = frame or target.frames.main

    def is_leaving() -> bool:
        return target.navigation.under_way if frame is None else frame.id in target.navigation.pending

    def reached() -> bool:
        return main.attached and not is_leaving() and main.reached(main.loader_id, state)

    def observe() -> str:
        if is_leaving():
            return "a navigation was in progress"
        return f"it had reached {', '.join(sorted(main.lifecycle.get(main.loader_id, ()))) or 'nothing'}"

    return Simple(f"load state {state}", reached, observe)


def make_text_conditions(
    core: PageCore, parts: Sequence[tuple[str, Words, bool]], frame: Frame | None = None
) -> list[Condition]:
    """Return one condition on the texts and selectors in `parts`, in all documents or in that of `frame`.

    Returns [] if `parts` is empty.
    """
    if not parts:
        return []
    requests, described = [], []
    patterns: dict[int, re.Pattern[str]] = {}
    for number, (kind, words, expected) in enumerate(parts):
        if isinstance(words, re.Pattern):
            patterns[number] = words
            requests.append({"kind": "pattern"})
        else:
            requests.append({"kind": kind, kind: words})
        described.append((f"{kind} {describe_words(words)}" + ("" if expected else " gone"), expected))

    def frames() -> list[Frame]:
        present = None if frame is None else core.target.frames.get(frame.id)
        return list(core.target.frames) if frame is None else [] if present is None else [present]

    watches = FrameWatches(core.target, core.worlds, requests, frames=frames)
    return [InPage(watches, described, patterns=patterns)]


def make_node_condition(core: PageCore, ref: ElementTarget, state: NodeState) -> Condition:
    """Return the condition that a node is in a state. Raises the errors of `PageCore.node`."""
    node = core.node(ref)
    frame = core.target.frames.get(node.frame_id)
    loader_id = None if frame is None else frame.loader_id

    def frames() -> list[Frame]:
        present = core.target.frames.get(node.frame_id)
        return [] if present is None or present.loader_id != loader_id else [present]

    condition = {"kind": "node", "state": state}
    watches = FrameWatches(core.target, core.worlds, [condition], node=node, frames=frames)
    words = f"{describe_target(ref)} is {state}"
    return InPage(watches, [(words, True)], node=describe_target(ref))


def make_expression(core: PageCore, expression: str, frame: Frame | None = None) -> Condition:
    """Return the condition that the user's expression is true in a frame. Raises EvaluationDisabledError."""
    if not core.evaluator.enabled:
        raise EvaluationDisabledError(action="wait for an expression")
    return Expression(core.target, core.evaluator, expression, frame)


async def wait_for_all(core: PageCore, conditions: Sequence[Condition], timeout: float) -> None:
    """Wait until all conditions hold at the same time. Raises DeadlineExceededError with the unmet ones."""
    if not conditions:
        raise InvalidArgumentError(what="wait_for", given="no condition", expected="at least one")
    action = f"wait for {', '.join(condition.words() for condition in conditions)}"
    async with core.action(action, timeout) as budget:
        missing: list[tuple[Condition, str]] = []
        try:
            async with open_body_nursery() as nursery:
                for condition in conditions:
                    nursery.start_soon(condition.run, name=condition.words()[:60])
                try:
                    await _wait_until_confirmed(core.target, conditions)
                except trio.Cancelled:
                    missing += [(each, each.observation()) for each in conditions if not each.holds()]
                    raise
        except trio.Cancelled:
            for condition, observation in missing:
                # An expression has its last value only at its end.
                latest = condition.observation() if isinstance(condition, Expression) else observation
                budget.step(f"{condition.words()} did not hold; {latest}")
            raise


async def _wait_until_confirmed(target: PageTarget, conditions: Sequence[Condition]) -> None:
    while True:
        await target.wait_for(lambda: all(condition.holds() for condition in conditions))
        if len(conditions) == 1:
            return
        for condition in conditions:
            await condition.confirm()
        if all(condition.holds() for condition in conditions):
            return


async def settle(core: PageCore, requests: RequestsUnderWay, quiet: float, budget: Budget) -> None:
    """Wait for `quiet` seconds without activity. At the deadline, add the causes to the budget's steps."""
    settling = Settling(core.target, core.worlds, requests, quiet)
    try:
        await settling.settle()
    except trio.Cancelled:
        causes = settling.busy()
        with trio.move_on_after(_CHANGES_TIMEOUT, shield=True):
            causes += await settling.recent_changes()
        for words in causes:
            budget.step(words)
        raise
    finally:
        settling.close()
