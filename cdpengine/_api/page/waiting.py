"""Waiting for what a page becomes, and for its rest: the conditions of one wait, and how they are waited for.

Rule: what cannot work is refused before anything is sent. A condition says synchronously whether it holds, as of
the last it was told; the wait looks at all of them together. One whose word may be old by then is asked again
(`confirm`) before it counts. Nothing sleeps where an event tells. One budget bounds it all, and its end says which
condition did not hold and what was seen instead.
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
from cdpengine._budget import Budget, check_seconds
from cdpengine._evaluate.evaluation import Evaluator
from cdpengine._evaluate.script import JSHandle, Script, is_function
from cdpengine._javascript import own, script
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.documents import STOP, FrameWatches
from cdpengine._page.navigation.settling import RequestsUnderWay, Settling, watch_requests
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import UrlPattern, Words, describe_words, url_test, url_words
from cdpengine.errors import (
    EngineError,
    EvaluationDisabledError,
    EvaluationTerminatedError,
    InvalidArgumentError,
    StaleRefError,
    shown_url,
)

_STOP_TIMEOUT = 0.08
"""Seconds that a condition of the user's gets to end when it is told to; then its script is terminated."""

_LONGEST_SEEN = 220
"""Characters of what an expression gave that are kept for the error."""

_AGAIN = 0.05
"""Seconds until an expression that a navigation hit is evaluated again."""


class Condition(Protocol):
    """One thing that has to hold."""

    def words(self) -> str:
        """Return what has to hold, for messages."""

    def seen(self) -> str:
        """Return what was seen last."""

    def holds(self) -> bool:
        """Tell whether it holds, as of the last that was told."""

    async def run(self) -> None:
        """Follow it until cancelled."""

    async def confirm(self) -> None:
        """Ask again whether it holds."""


@attrs.define(eq=False)
class Simple:
    """A condition on what the engine knows of the page anyway."""

    _words: str
    _test: Callable[[], bool]
    _seen: Callable[[], str]

    def words(self) -> str:
        """Return what has to hold."""
        return self._words

    def seen(self) -> str:
        """Return what was seen last."""
        return self._seen()

    def holds(self) -> bool:
        """Tell whether it holds now."""
        return self._test()

    async def run(self) -> None:
        """Follow nothing: the page's model is kept anyway."""
        await trio.lowlevel.checkpoint()

    async def confirm(self) -> None:
        """Ask nobody: it is always of now."""
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class Elapsed:
    """That a number of seconds has passed since the wait began."""

    page: PageTarget
    seconds: float
    began: float = attrs.field(factory=trio.current_time)

    def words(self) -> str:
        """Return what has to hold."""
        return f"{self.seconds:g} s have passed"

    def seen(self) -> str:
        """Return what was seen last."""
        return f"{trio.current_time() - self.began:.2f} s had passed"

    def holds(self) -> bool:
        """Tell whether the time is over."""
        return trio.current_time() >= self.began + self.seconds

    async def run(self) -> None:
        """Wake the waiter when it is time."""
        await trio.sleep_until(self.began + self.seconds)
        self.page.changes.notify()

    async def confirm(self) -> None:
        """Ask nobody: time does not come back."""
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class InPage:
    """The conditions that the documents' observers tell of: of each, its words and whether it is wanted.

    `wanted` False means that the condition must hold nowhere. `patterns` are searched for in the documents' texts,
    by the numbers of their parts.
    """

    watches: FrameWatches
    parts: list[tuple[str, bool]]
    node: str = ""
    patterns: Mapping[int, re.Pattern[str]] = attrs.field(factory=dict)

    def words(self) -> str:
        """Return what has to hold."""
        return ", ".join(words for words, _ in self.parts)

    def seen(self) -> str:
        """Return what was seen last, for each part that does not hold."""
        reports = self.watches.reports()
        if self.watches.node_gone:
            return "the node is not in its document any more"
        if reports is None:
            return "a document did not answer"
        told = []
        for number, (words, wanted) in enumerate(self.parts):
            if not self._part_holds(number, wanted):
                seen = [report.seen[number] for report in reports if report.seen[number] or len(reports) == 1]
                told.append(f"{words}: seen was {' | '.join(map(repr, seen[:4])) or 'nothing'}")
        return "; ".join(told)

    def holds(self) -> bool:
        """Tell whether all parts hold, by the last reports. Raises StaleRefError where they never will."""
        reports = self.watches.reports()
        if self.watches.node_gone:
            return self._gone_will_do()
        if reports is None:
            return False
        held = all(self._part_holds(number, wanted) for number, (_, wanted) in enumerate(self.parts))
        if not held and self.node and any("detached" in report.seen[0].split(", ") for report in reports):
            return self._gone_will_do()
        return held

    def _gone_will_do(self) -> bool:
        if self.parts[0][0].endswith((" is detached", " is hidden")):
            return True
        raise StaleRefError(ref=self.node, description="a node", reason="it is not in its document any more")

    def _part_holds(self, number: int, wanted: bool) -> bool:
        reports = self.watches.reports()
        if reports is None:
            return False
        pattern = self.patterns.get(number)
        if pattern is not None:
            return any(pattern.search(report.texts[number]) for report in reports) is wanted
        return any(report.holds[number] for report in reports) is wanted

    async def run(self) -> None:
        """Follow the documents."""
        await self.watches.run()

    async def confirm(self) -> None:
        """Ask all documents for now."""
        await self.watches.refresh()


@attrs.define(eq=False)
class NetworkIdle:
    """That no request has been under way for a number of seconds."""

    page: PageTarget
    seconds: float
    requests: RequestsUnderWay | None = None

    def words(self) -> str:
        """Return what has to hold."""
        return f"no request under way for {self.seconds:g} s"

    def seen(self) -> str:
        """Return what was seen last."""
        waiting = [] if self.requests is None else self.requests.under_way(self.page.frames)
        urls = [shown_url(each.url) or "a request that was sent before" for each in waiting[:3]]
        return f"{len(waiting)} under way: {', '.join(urls)}" if waiting else "a request ended just before"

    def holds(self) -> bool:
        """Tell whether the network is idle."""
        return self.requests is not None and self.requests.idle_for(self.page.frames) >= self.seconds

    async def run(self) -> None:
        """Follow the requests, and wake the waiter when it is time."""
        async with watch_requests(self.page) as self.requests:
            while True:
                # Also at first: on a busy machine it may have been idle for long enough by now.
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
        """Ask nobody: what is known is of now."""
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class Expression:
    """A condition of the user's own: evaluated in the page until it is true."""

    page: PageTarget
    evaluator: Evaluator
    source: str
    true: bool = False
    last: str = "it was not evaluated"
    _handle: JSHandle | None = None
    _failure: EngineError | None = None
    _again: trio.Event = attrs.field(factory=trio.Event)

    def words(self) -> str:
        """Return what has to hold."""
        return f"expression {' '.join(self.source.split())[:120]}"

    def seen(self) -> str:
        """Return what was seen last."""
        return self.last

    def holds(self) -> bool:
        """Tell whether it was true when it was last evaluated. Raises why it cannot be."""
        if self._failure is not None:
            raise copy.copy(self._failure)
        return self.true

    async def run(self) -> None:
        """Evaluate until it is true; after `confirm` found that it is not any more, again."""
        while True:
            try:
                await self._until_true()
            except EvaluationTerminatedError as error:
                self.true, self.last = False, str(error)  # a navigation: the next document is asked
                await trio.sleep(_AGAIN)
                continue
            except EngineError as error:
                self._failure = error  # told by `holds`, once, where all conditions are looked at
                self.page.changes.notify()
                return
            self._again = trio.Event()
            self.page.changes.notify()
            await self._again.wait()

    async def confirm(self) -> None:
        """Evaluate it once more."""
        if self.true:
            try:
                self._take(await self.evaluator.evaluate(Script(f"{self._watch()}.now()"), self._budget()))
            except EvaluationTerminatedError as error:
                self.true, self.last = False, str(error)
        if not self.true:
            self._again.set()

    async def _until_true(self) -> None:
        """Have the page look until it is true. Cancelled, the page is told to stop before it is made to."""
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
                    self.last = "it had not come to an end; its script was terminated"
                shield.cancel()
                raise

    async def _look(self) -> None:
        async with self.evaluator.handle(Script(self._watch()), self._budget()) as handle:
            self._handle = handle
            try:
                script_of_next = Script("(watch) => watch.next()", [handle])
                self._take(await self.evaluator.evaluate(script_of_next, self._budget()))
            finally:
                self._stop()
                self._handle = None

    def _watch(self) -> str:
        condition = self.source if is_function(self.source) else f"() => ({self.source}\n)"
        return f"(({script('_api/page/expression')})(({condition}\n)))"

    def _budget(self) -> Budget:
        """Wait without a deadline: the caller has one."""
        return Budget.start(f"evaluate {self.words()}", math.inf)

    def _take(self, answer: object) -> None:
        if isinstance(answer, dict):
            self.true, self.last = bool(answer.get("holds")), str(answer.get("seen"))[:_LONGEST_SEEN]

    def _stop(self) -> None:
        if (handle := self._handle) is not None:
            handle.remote.tell(own(STOP))


NodeState = Literal[
    "attached", "detached", "visible", "hidden", "enabled", "disabled", "checked", "unchecked"
]

NODE_STATES: tuple[NodeState, ...] = get_args(NodeState)


def check_text(what: str, given: str | None) -> None:
    """Raise InvalidArgumentError for a text or selector that is not a string, or empty; None is no condition."""
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise InvalidArgumentError(what=what, given=repr(given)[:80], expected="a text that is not empty")


def check_state(state: str) -> NodeState:
    """Return the state of a node. Raises InvalidArgumentError for an unknown name."""
    for known in NODE_STATES:
        if known == state:
            return known
    expected = ", ".join(repr(known) for known in NODE_STATES)
    raise InvalidArgumentError(what="state", given=repr(state)[:80], expected=expected)


def check_optional_seconds(what: str, seconds: float | None) -> None:
    """Raise InvalidArgumentError unless it is a positive number of seconds; None is no condition."""
    if seconds is not None:
        check_seconds(what, seconds)


_NO_URL = "about:blank"
"""Where a page is before its first document."""

_LAST_WORDS = 0.05
"""Seconds in which documents that did not come to rest are asked why."""

TextPart: TypeAlias = "tuple[str, Words | None, bool]"
"""Of a text or selector: its kind, itself, and whether it is to be there."""


def make_url_condition(target: PageTarget, url: UrlPattern) -> Condition:
    """Return the condition that the main frame is at a URL. Raises InvalidArgumentError."""
    test, words = url_test(url), url_words(url)
    main = target.frames.main
    return Simple(
        f"url {words}",
        lambda: test(main.url or _NO_URL),
        lambda: f"it was {shown_url(main.url or _NO_URL)}",
    )


def make_load_condition(target: PageTarget, state: LoadState) -> Condition:
    """Return the condition that the main document has reached a state, and no other one is on its way."""
    main = target.frames.main

    def reached() -> bool:
        return not target.navigation.under_way and main.reached(main.loader_id, state)

    def seen() -> str:
        if target.navigation.under_way:
            return "a navigation was under way"
        return f"it had reached {', '.join(sorted(main.lifecycle.get(main.loader_id, ()))) or 'nothing'}"

    return Simple(f"load state {state}", reached, seen)


def make_text_conditions(core: PageCore, parts: Sequence[tuple[str, Words, bool]]) -> list[Condition]:
    """Return the condition on texts and selectors in all documents; none without any."""
    if not parts:
        return []
    asked, told = [], []
    patterns: dict[int, re.Pattern[str]] = {}
    for number, (kind, words, wanted) in enumerate(parts):
        if isinstance(words, re.Pattern):
            patterns[number] = words
            asked.append({"kind": "pattern"})
        else:
            asked.append({"kind": kind, kind: words})
        told.append((f"{kind} {describe_words(words)}" + ("" if wanted else " gone"), wanted))
    return [InPage(FrameWatches(core.target, core.worlds, asked), told, patterns=patterns)]


def make_node_condition(core: PageCore, ref: ElementTarget, state: NodeState) -> Condition:
    """Return the condition that a node is in a state. Raises as `PageCore.node`."""
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


def make_expression(core: PageCore, expression: str) -> Condition:
    """Return the condition that an expression of the user's is true. Raises EvaluationDisabledError."""
    if not core.evaluator.enabled:
        raise EvaluationDisabledError(action="wait for an expression")
    return Expression(core.target, core.evaluator, expression)


async def wait_for_all(core: PageCore, conditions: Sequence[Condition], timeout: float) -> None:
    """Wait until all conditions hold at the same time. Raises DeadlineExceededError, which names the others."""
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
                    missing += [(each, each.seen()) for each in conditions if not each.holds()]
                    raise
        except trio.Cancelled:
            for condition, seen in missing:
                # Only at its end does an expression tell what it was.
                told = condition.seen() if isinstance(condition, Expression) else seen
                budget.step(f"{condition.words()} did not hold; {told}")
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
    """Wait until nothing has moved for `quiet` seconds; at the deadline, the budget is told what did."""
    settling = Settling(core.target, core.worlds, requests, quiet)
    try:
        await settling.settle()
    except trio.Cancelled:
        told = settling.busy()
        with trio.move_on_after(_LAST_WORDS, shield=True):
            told += await settling.last_words()
        for words in told:
            budget.step(words)
        raise
    finally:
        settling.close()
