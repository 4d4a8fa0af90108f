"""WaitingVerbs: waits for what a page becomes, and for its rest.

Rule: nothing sleeps where an event tells: documents are observed from an isolated world, frames and loads are told
by Chrome, a user's own condition is evaluated in the page. One budget bounds it all, and its end says
which condition did not hold and what was seen instead.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from cdpengine._api.page_core import PageVerbs
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._api.verbs.conditions import (
    Condition,
    Elapsed,
    Expression,
    InPage,
    NetworkIdle,
    NodeState,
    Simple,
    check_optional_seconds,
    check_state,
    check_text,
)
from cdpengine._budget import Budget, check_seconds
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.frame_watches import FrameWatches
from cdpengine._page.navigation.navigation import check_wait_until
from cdpengine._page.navigation.requests import watch_requests
from cdpengine._page.navigation.settling import Settling
from cdpengine._page.urls import UrlPattern, url_test, url_words
from cdpengine._page.wanted_text import Words, check_words, describe_words
from cdpengine.errors import EvaluationDisabledError, InvalidArgumentError, shown_url

QUIET = 0.1
"""Seconds without any activity that count as rest."""

_NO_URL = "about:blank"
"""Where a page is before its first document."""

_LAST_WORDS = 0.05
"""Seconds in which documents that did not come to rest are asked why."""


class WaitingVerbs(PageVerbs):
    """The part of a Page that waits."""

    async def wait_for(
        self,
        *,
        text: Words | None = None,
        text_gone: Words | None = None,
        css: str | None = None,
        css_gone: str | None = None,
        ref: ElementTarget | None = None,
        state: NodeState = "visible",
        url: UrlPattern | None = None,
        load_state: LoadState | None = None,
        network_idle: float | None = None,
        expression: str | None = None,
        seconds: float | None = None,
        timeout: float = 30,
    ) -> None:
        """Wait until all conditions that are given hold at the same time.

        `text` is visible in one of the frames, white space collapsed and in any case of letters; `text_gone` is
        visible in none. Either can be a compiled pattern, which is searched for in the text of each frame as it is
        shown. `css` matches a visible element (open shadow roots included), `css_gone` none. `ref`, a
        target as actions take it, is in `state`: "visible", "hidden", "attached", "detached", "enabled",
        "disabled", "checked" or "unchecked". `url` is that of the main frame: a glob in which only "*" is
        special, a compiled regular expression that is searched for, or a function. `load_state` is reached by
        the present document ("commit", "domcontentloaded", "load", "networkidle"), and no navigation is under
        way. `network_idle`: no request has been under way for so many seconds, counted from the call at the
        earliest. `expression`: JavaScript, or a function without arguments, that is true in the page; it is
        looked at with each animation frame, and one that throws is not true yet. `seconds` have passed.

        A navigation is no end: the new document is waited for. A `ref` ends with its document, or once its node is
        taken out of it: StaleRefError, unless "detached" or "hidden" is waited for. What tells no event, such as a
        style sheet changed by script, is seen within 0.25 s.

        Raises DeadlineExceededError, which names the conditions that did not hold and what was seen,
        InvalidArgumentError for conditions that cannot be, EvaluationFailedError for an expression that is no
        JavaScript, EvaluationDisabledError, SessionGoneError and TargetCrashedError.
        """
        check_words("text", text)
        check_words("text_gone", text_gone)
        for what, words in (("css", css), ("css_gone", css_gone), ("expression", expression)):
            check_text(what, words)
        check_optional_seconds("network_idle", network_idle)
        check_optional_seconds("seconds", seconds)
        conditions: list[Condition] = []
        if load_state is not None:
            conditions.append(self._load_condition(check_wait_until(load_state)))
        if url is not None:
            test, words = url_test(url), url_words(url)
            main = self._core.target.frames.main
            conditions.append(
                Simple(
                    f"url {words}",
                    lambda: test(main.url or _NO_URL),
                    lambda: f"it was {shown_url(main.url or _NO_URL)}",
                )
            )
        parts: list[tuple[str, Words | None, bool]] = [
            ("text", text, True),
            ("text", text_gone, False),
            ("css", css, True),
            ("css", css_gone, False),
        ]
        conditions += self._in_page([(kind, words, wanted) for kind, words, wanted in parts if words])
        if ref is not None:
            conditions.append(self._node_condition(ref, check_state(state)))
        if network_idle is not None:
            conditions.append(NetworkIdle(self._core.target, float(network_idle)))
        if expression is not None:
            if not self._core.evaluator.enabled:
                raise EvaluationDisabledError(action="wait for an expression")
            conditions.append(Expression(self._core.target, self._core.evaluator, expression))
        if seconds is not None:
            conditions.append(Elapsed(self._core.target, float(seconds)))
        if not conditions:
            raise InvalidArgumentError(what="wait_for", given="no condition", expected="at least one")
        action = f"wait for {', '.join(condition.words() for condition in conditions)}"
        async with self._core.action(action, timeout) as budget:
            await self._until_all_hold(conditions, budget)

    async def settled(self, *, quiet: float = QUIET, timeout: float = 30) -> None:
        """Wait until the page is at rest: nothing has moved for `quiet` seconds (0.1), in any of its frames.

        That is: no navigation under way, all documents loaded, no DOM mutation, no request under way. Sockets,
        event streams, media and pings do not count, nor do the scripts of shared and service workers; that of a
        dedicated worker does until its response begins. A request that was sent before the call is known only
        once something of it comes: where an action sends one, use `settling` around the action.

        Raises DeadlineExceededError, which names what kept the page busy, SessionGoneError, TargetCrashedError.
        """
        async with self.settling(quiet=quiet, timeout=timeout):
            pass

    @asynccontextmanager
    async def settling(self, *, quiet: float = QUIET, timeout: float = 30) -> AsyncIterator[None]:
        """Wait, at the end of an `async with` block, until the page has come to rest after what the block did.

        As `settled`, and every request that the block sent is waited for. `timeout` (seconds) counts from the
        end of the block; an exception of the block leaves as itself.
        """
        check_seconds("quiet", quiet)
        Budget.start("settle", timeout)
        async with watch_requests(self._core.target) as requests:
            yield
            async with self._core.action("wait until the page is settled", timeout) as budget:
                settling = Settling(self._core.target, self._core.worlds, requests, float(quiet))
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

    # --- how it is done ----------------------------------------------------------------------------------------

    def _url(self) -> str:
        return self._core.target.frames.main.url or _NO_URL

    def _load_condition(self, state: LoadState) -> Condition:
        target = self._core.target
        main = target.frames.main

        def reached() -> bool:
            return not target.navigation.under_way and main.reached(main.loader_id, state)

        def seen() -> str:
            if target.navigation.under_way:
                return "a navigation was under way"
            return f"it had reached {', '.join(sorted(main.lifecycle.get(main.loader_id, ()))) or 'nothing'}"

        return Simple(f"load state {state}", reached, seen)

    def _in_page(self, parts: list[tuple[str, Words, bool]]) -> list[Condition]:
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
        return [InPage(FrameWatches(self._core.target, self._core.worlds, asked), told, patterns=patterns)]

    def _node_condition(self, ref: ElementTarget, state: NodeState) -> Condition:
        node = self._core.node(ref)
        frame = self._core.target.frames.get(node.frame_id)
        loader_id = None if frame is None else frame.loader_id

        def frames() -> list[Frame]:
            present = self._core.target.frames.get(node.frame_id)
            return [] if present is None or present.loader_id != loader_id else [present]

        condition = {"kind": "node", "state": state}
        watches = FrameWatches(self._core.target, self._core.worlds, [condition], node=node, frames=frames)
        words = f"{describe_target(ref)} is {state}"
        return InPage(watches, [(words, True)], node=describe_target(ref))

    async def _until_all_hold(self, conditions: list[Condition], budget: Budget) -> None:
        missing: list[tuple[Condition, str]] = []
        try:
            async with open_body_nursery() as nursery:
                for condition in conditions:
                    nursery.start_soon(condition.run, name=condition.words()[:60])
                try:
                    await self._until_confirmed(conditions)
                except trio.Cancelled:
                    missing += [(each, each.seen()) for each in conditions if not each.holds()]
                    raise
        except trio.Cancelled:
            for condition, seen in missing:
                # Only at its end does an expression tell what it was.
                told = condition.seen() if isinstance(condition, Expression) else seen
                budget.step(f"{condition.words()} did not hold; {told}")
            raise

    async def _until_confirmed(self, conditions: list[Condition]) -> None:
        while True:
            await self._core.target.wait_for(lambda: all(condition.holds() for condition in conditions))
            if len(conditions) == 1:
                return
            for condition in conditions:
                await condition.confirm()
            if all(condition.holds() for condition in conditions):
                return
