"""PageWaits: the Page methods that wait for conditions and for the end of activity.

Rule: every method takes one `timeout`, creates one Budget from it, and passes it down to the modules of this
folder. Invalid arguments are refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import trio

from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._api.page.match_state import MatchState
from cdpengine._api.page.waiting import (
    NODE_STATES,
    Condition,
    Elapsed,
    NetworkIdle,
    NodeState,
    TextPart,
    check_selector,
    make_expression,
    make_load_condition,
    make_node_condition,
    make_text_conditions,
    make_url_condition,
    settle,
    wait_for_all,
)
from cdpengine._budget import Budget, check_seconds
from cdpengine._checks import check_choice, check_string
from cdpengine._evaluate.handles import JSHandle
from cdpengine._page.frames import LoadState
from cdpengine._page.navigation.navigation import check_wait_until
from cdpengine._page.navigation.settling import watch_requests
from cdpengine._page.patterns import Words, check_words
from cdpengine._page.running_actions import announced, announced_read
from cdpengine._page.search.locator import BaseLocator
from cdpengine._urls.patterns import UrlPattern
from cdpengine.errors.misuse import block

QUIET = 0.1
"""Default time without activity, in seconds, after which a page counts as settled."""


class PageWaits:
    """The methods of a Page that wait. They use `internals`."""

    internals: PageCore

    @announced("wait_for")
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
        frame: FrameTarget | None = None,
        timeout: float = 30,
    ) -> None:
        """Wait until all given conditions hold at the same time.

        `text` is visible in one of the frames, regardless of case and with white space collapsed; `text_gone` is
        visible in none. Either can be a compiled pattern, which is searched for in the displayed text of each
        frame. `css` matches a visible element (open shadow roots included), `css_gone` matches none. `ref`, a
        target as in actions, is in `state`: "visible", "hidden", "attached", "detached", "enabled", "disabled",
        "checked" or "unchecked". A Locator searches again after each change, and its match may be
        replaced meanwhile; several matches are an error. `url` is the main frame's
        URL: a glob in which only "*" is special, a compiled regular expression that is searched for, or a
        function. `load_state` is a state of the current document ("commit", "domcontentloaded", "load",
        "networkidle") while no navigation is in progress. `network_idle` is the number of seconds without a
        request in progress, counted from the call or later. `expression` is JavaScript, or a function without
        arguments, that is true in the page. It is evaluated in each animation frame; an exception counts as false.
        `seconds` is a time that must have passed since the call. With `frame`, named as in `snapshot`, all
        conditions except `ref`, `network_idle` and `seconds` are about this frame alone.

        After a navigation, the wait continues in the new document. A `ref` whose document or node is removed
        raises StaleRefError, unless `state` is "detached" or "hidden". Changes without an event, such as a style
        sheet changed by a script, are noticed within 0.25 s.

        Raises DeadlineExceededError with the unmet conditions and the last observations, InvalidArgumentError for
        impossible conditions, EvaluationFailedError for an expression with invalid syntax,
        EvaluationDisabledError, SessionGoneError and TargetCrashedError.
        """
        check_words("text", text)
        check_words("text_gone", text_gone)
        check_selector("css", css)
        check_selector("css_gone", css_gone)
        if expression is not None:
            check_string("expression", expression, empty=False)
        for what, duration in (("network_idle", network_idle), ("seconds", seconds)):
            if duration is not None:
                check_seconds(what, duration)
        conditions: list[Condition] = []
        core = self.internals
        chosen = None
        if frame is not None:
            budget = Budget.start("wait", timeout)
            with budget.scope():
                chosen = await find_requested_frame(core, frame, budget, budget.deadline)
            timeout = max(0.0, budget.deadline - trio.current_time())
        if load_state is not None:
            conditions.append(make_load_condition(core.target, check_wait_until(load_state), chosen))
        if url is not None:
            conditions.append(make_url_condition(core, url, chosen))
        parts: list[TextPart] = [
            ("text", text, True),
            ("text", text_gone, False),
            ("css", css, True),
            ("css", css_gone, False),
        ]
        conditions += make_text_conditions(
            core, [(kind, words, expected) for kind, words, expected in parts if words], chosen
        )
        if ref is not None:
            checked = check_choice("state", state, NODE_STATES)
            if isinstance(ref, JSHandle):
                budget = Budget.start("wait", timeout)
                ref = await core.find_element(ref, budget.deadline)
                timeout = max(0.0, budget.deadline - trio.current_time())
            if isinstance(ref, BaseLocator):
                ref.check_page(core.target)
                conditions.append(MatchState(core, ref, checked))
            else:
                conditions.append(make_node_condition(core, ref, checked))
        if network_idle is not None:
            conditions.append(NetworkIdle(core.target, float(network_idle)))
        if expression is not None:
            conditions.append(make_expression(core, expression, chosen))
        if seconds is not None:
            conditions.append(Elapsed(core.target, float(seconds)))
        await wait_for_all(core, conditions, timeout)

    @announced_read("settled")
    async def settled(self, *, quiet: float = QUIET, timeout: float = 30) -> None:
        """Wait until the page has settled: no activity in any frame for `quiet` seconds (0.1).

        A settled page has no navigation in progress, no document still loading, no DOM mutations and no requests
        in progress. Sockets, event streams, media and pings do not count, nor do the scripts of shared and service
        workers. The script of a dedicated worker counts until its response begins. A request sent before the call
        is known only once Chrome reports a later event of it. If an action sends a request, use `settling` around
        the action.

        Raises DeadlineExceededError with the causes of the activity, SessionGoneError, TargetCrashedError.
        """
        async with self.settling(quiet=quiet, timeout=timeout):
            pass

    @block("page.settling()")
    async def settling(self, *, quiet: float = QUIET, timeout: float = 30) -> AsyncIterator[None]:
        """Wait, at the end of an `async with` block, until the page has settled after the block.

        Works like `settled`, and also waits for every request sent during the block. `timeout` (seconds) counts
        from the end of the block. An exception of the block is raised unchanged.
        """
        check_seconds("quiet", quiet)
        Budget.start("settle", timeout)
        async with watch_requests(self.internals.target) as requests:
            yield
            async with self.internals.action("wait until the page is settled", timeout) as budget:
                await settle(self.internals, requests, float(quiet), budget)
