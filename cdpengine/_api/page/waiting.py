"""Waiting for what a page becomes, and for its rest: how the conditions of one wait are made and waited for.

Rule: nothing sleeps where an event tells: documents are observed from an isolated world, frames and loads are told
by Chrome, a user's own condition is evaluated in the page. One budget bounds it all, and its end says
which condition did not hold and what was seen instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import trio

from cdpengine._api.page.conditions import Condition, Expression, InPage, NodeState, Simple
from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._budget import Budget
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.frame_watches import FrameWatches
from cdpengine._page.navigation.settling import RequestsUnderWay, Settling
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import UrlPattern, Words, describe_words, url_test, url_words
from cdpengine.errors import EvaluationDisabledError, InvalidArgumentError, shown_url

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
