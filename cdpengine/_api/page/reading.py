"""PageReading: the Page methods that read, find, evaluate and wait.

Rule: every method takes one `timeout`, creates one Budget from it, and passes it down to the modules of this
folder. Invalid arguments are refused before anything is sent.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Unpack

import trio

from cdpengine._api.page.accessibility import AccessibilityIssue, find_issues
from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.finding import find_matches, find_one, make_query
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._api.page.match_state import MatchState
from cdpengine._api.page.pictures import PictureRequest, take_picture
from cdpengine._api.page.script_arguments import make_script, run_script
from cdpengine._api.page.snapshots import PageSection, TextOptions, extract, read_snapshot
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
from cdpengine._evaluate.recovery import Recovery
from cdpengine._evaluate.script import Script, World
from cdpengine._input.view import BoundingBox
from cdpengine._javascript import own, script
from cdpengine._page.announcing import announce_block
from cdpengine._page.downloads.output_file import checked_path
from cdpengine._page.frames import LoadState
from cdpengine._page.navigation.navigation import check_wait_until
from cdpengine._page.navigation.settling import watch_requests
from cdpengine._page.patterns import Words, check_words
from cdpengine._page.running_actions import announced
from cdpengine._page.search.locator import BaseLocator, FoundNode
from cdpengine._pictures.editing import ImageFormat, ImageOptions, format_of
from cdpengine._pictures.pdf import PdfOptions, print_params, print_pdf
from cdpengine._protocol.wire import span as action_span
from cdpengine._snapshot.content import to_text
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import Mode, RefsFor, SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine._urls.patterns import UrlPattern
from cdpengine.errors.misuse import block, name_our_arguments
from cdpengine.errors.other_libraries import FIND, SCREENSHOT

QUIET = 0.1
"""Default time without activity, in seconds, after which a page counts as settled."""

TITLE = own("DOM.title(document)")
CONTENT = script("_api/page/content")


class PageReading:
    """The methods of a Page that do not change it. They use `internals`."""

    internals: PageCore

    async def title(self, *, timeout: float = 30) -> str:
        """Return the document's title."""
        return str(await self.internals.read("title", TITLE, timeout))

    async def content(self, *, timeout: float = 30) -> str:
        """Return the document's current HTML, with its doctype."""
        return str(await self.internals.read("content", CONTENT, timeout))

    async def snapshot(
        self,
        *,
        mode: Mode = "role",
        interactive: bool = False,
        compact: bool = False,
        max_depth: int | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        source: Source | None = None,
        frame: FrameTarget | None = None,
        root: ElementTarget | None = None,
        refs: RefsFor = "actions",
        ignored: bool = False,
        fresh: bool = False,
        since: Snapshot | None = None,
        timeout: float = 30,
    ) -> Snapshot:
        """Return the page, with all frames, as lines with refs for interactive elements.

        `mode` is "role" (indented lines), "ai" (YAML with all relevant details), "numbered", "webarena" or "aria"
        (Chrome's accessibility tree; `ignored` adds its ignored nodes). `interactive` shows only interactive
        elements, `compact` omits structural lines, and `max_depth` omits deeper lines. `max_chars` and
        `max_tokens` cut at a line and add a note about the omitted rest.

        `refs` is "actions" (interactive elements and named content) or "all". With "all", every element with a
        line has a ref, for example an item of a sortable list. Text nodes have none, and neither do ignored nodes
        in mode "aria".

        `frame` reads one frame and its child frames: a Frame, a frame's id, name or URL pattern (`*`, `?`), or its
        element: a ref, a node or a Locator. `root` reads one element: a ref, or a CSS selector, which is searched
        in the main frame or `frame`, open shadow roots included.

        `source` is "computed" (one walk in the page, with Chrome's roles and names), "ax" (Chrome's accessibility
        tree) or "dom" (the DOM alone). With None or "hybrid", the engine chooses the best source for each frame;
        `.stats.sources` lists the choices with reasons. All sources also find elements that only scripts made
        clickable. A frame that does not respond within its share of the timeout (see `_snapshot/capture.py`) is
        marked; the others are complete. `fresh` reads everything again. By default, parts unchanged since the last
        snapshot are not read again (see docs/snapshots.md); the result is the same.

        `since` is an earlier snapshot in the same mode. `.diff` then lists the added, removed, changed and moved
        lines; `.text` is still the whole snapshot.

        Raises InvalidArgumentError, NodeNotFoundError and StaleRefError for `frame` or `root`, and
        DeadlineExceededError.
        """
        options = SnapshotOptions(
            mode=mode,
            interactive=interactive,
            compact=compact,
            max_depth=max_depth,
            max_chars=max_chars,
            max_tokens=max_tokens,
            ignored=ignored,
            refs=refs,
        )
        section = PageSection(frame, root, source, fresh=fresh)
        taken = await read_snapshot(self.internals, section, options, since, timeout)
        self.internals.give(taken.refs)
        return taken

    @name_our_arguments(FIND)
    async def find(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        label: Words | None = None,
        placeholder: Words | None = None,
        alt_text: Words | None = None,
        title: Words | None = None,
        test_id: str | None = None,
        exact: bool = False,
        nth: int | None = None,
        frame: FrameTarget | None = None,
        timeout: float = 0,
    ) -> FoundNode:
        """Return the one node that matches all arguments. It can be the target of any action.

        `css` is a selector, applied to the documents of all frames (the main one first) and to each open shadow
        root. `role` is a role from a snapshot of any mode. `name` is the whole accessible name as Chrome computes
        it, with white space collapsed. A name in the same case has priority; one in another case matches only if
        `exact` is False.

        `text` is visible text, matched regardless of case. It finds the smallest element that contains it; with
        other arguments, the elements that contain it. `label` is a part of the text of a control's label (a
        <label>, `aria-labelledby` or `aria-label`), and `placeholder`, `alt_text` and `title` of these attributes,
        regardless of case. With `exact`, all these strings are the whole text in the same case. They and `name`
        can also be compiled patterns, which are searched for regardless of `exact`. `test_id` is the value of
        data-testid. `nth` (from 0; -1 is the last) chooses one of several matches. `frame` restricts the search to
        one frame, given as in `snapshot`.

        `timeout` (seconds) above 0 waits for a match. Raises NodeNotFoundError if there is no match by then,
        AmbiguousNodeError immediately if several match and `nth` is None, DeadlineExceededError if the page does
        not respond, InvalidArgumentError for an invalid selector, or for an unknown role with the nearest roles.
        """
        query = make_query(
            css,
            role=role,
            name=name,
            text=text,
            label=label,
            placeholder=placeholder,
            alt_text=alt_text,
            title=title,
            test_id=test_id,
            exact=exact,
            nth=nth,
        )
        return await find_one(self.internals, query, frame, timeout)

    @name_our_arguments(FIND)
    async def find_all(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        label: Words | None = None,
        placeholder: Words | None = None,
        alt_text: Words | None = None,
        title: Words | None = None,
        test_id: str | None = None,
        exact: bool = False,
        frame: FrameTarget | None = None,
        timeout: float = 0,
    ) -> list[FoundNode]:
        """Return all nodes that match, as in `find`, in page order; at most 2000 for each document.

        `timeout` (seconds) above 0 waits for at least one match. Without a match, the list is empty.
        """
        query = make_query(
            css,
            role=role,
            name=name,
            text=text,
            label=label,
            placeholder=placeholder,
            alt_text=alt_text,
            title=title,
            test_id=test_id,
            exact=exact,
        )
        return await find_matches(self.internals, query, frame, 1, timeout)

    async def accessibility_issues(
        self,
        *,
        tags: Sequence[str] = (),
        rules: Sequence[str] = (),
        without: Sequence[str] = (),
        axe: str | os.PathLike[str] | None = None,
        timeout: float = 30,
    ) -> list[AccessibilityIssue]:
        """Check the page and its frames with axe-core. Return one issue for each element that breaks a rule.

        `tags` ("wcag2a", "wcag21aa", "best-practice") or `rules` ("image-alt") restrict the check; `without`
        leaves rules out. `axe` is the path of `axe.min.js` (4.3 or newer). By default the file of the nearest
        `node_modules/axe-core`, or of an installed package `axe-playwright-python` or `axe-core-python`, is used.
        axe-core runs in an isolated world, so the page's scripts do not see it. A frame that cannot be checked is
        left out.

        Raises InvalidArgumentError, InvalidStateError if axe-core was not found, DeadlineExceededError, and the
        error of an unreachable page.
        """
        core = self.internals
        async with core.action("check the accessibility", timeout, everywhere=True) as budget:
            return await find_issues(core, tags=tags, rules=rules, without=without, axe=axe, budget=budget)

    async def extract_text(
        self,
        target: ElementTarget | None = None,
        *,
        main_only: bool = False,
        max_chars: int | None = None,
        timeout: float = 30,
    ) -> str:
        """Return the visible content of the page, frames included, or of `target`, as plain text.

        `target` is a ref, or a CSS selector for the main frame. Hidden content and input in password fields are
        omitted. `main_only` returns only the main content (docs/snapshots.md has the rule). `max_chars` cuts the
        text and adds a note. Raises InvalidArgumentError, NodeNotFoundError, StaleRefError, DeadlineExceededError.
        """
        options = TextOptions(to_text, main_only, max_chars)
        return await extract(self.internals, "extract text", target, options, timeout)

    async def extract_markdown(
        self,
        target: ElementTarget | None = None,
        *,
        main_only: bool = False,
        max_chars: int | None = None,
        timeout: float = 30,
    ) -> str:
        """Return the visible content of the page as Markdown: links with full URLs, lists, tables, code.

        The page's own text is escaped, so it cannot produce markup. Otherwise works like `extract_text`.
        """
        options = TextOptions(to_markdown, main_only, max_chars)
        return await extract(self.internals, "extract Markdown", target, options, timeout)

    @name_our_arguments(SCREENSHOT)
    async def screenshot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        target: ElementTarget | None = None,
        clip: BoundingBox | None = None,
        full_page: bool = False,
        refs: bool = False,
        format: ImageFormat | None = None,  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        scale: float | None = None,
        max_side: int | None = None,
        omit_background: bool = False,
        mask: Sequence[ElementTarget] = (),
        mask_color: str = "#ff00ff",
        overwrite: bool = True,
        timeout: float = 30,
    ) -> bytes:
        """Return an image of the viewport, or of the whole page, as "png", "jpeg" or "webp", quality 0 to 100.

        With `target`, the image shows only that node, scrolled into view, and all of it even if it is larger than
        the viewport. `clip` is a rectangle in CSS pixels relative to the viewport; it may extend beyond it. With
        `refs`, elements are framed and labelled with their refs, as by `labelled_screenshot`. `scale` is the
        number of pixels per CSS pixel, rendered sharply; the default is the scale of the screen. `max_side`
        shrinks the image in proportion until its longer side has at most that many pixels. Models accept 1,568.
        `omit_background` makes unpainted areas transparent. Nodes in `mask` are painted over with `mask_color`.
        The image is also written to `path`, whose suffix chooses the format. Pages of any height are captured, in
        pieces that are joined. The page sees `resize` if the image is larger than its viewport. Only its owner can
        read that file. An existing file is replaced once the new one is complete, or refused if `overwrite` is
        False.

        Raises InvalidArgumentError for contradictory options and beyond the limits of jpeg (65,535 pixels a side)
        and webp (16,383), NotInteractableError for a target without a box, FileNotWrittenError if the file
        cannot be written, and the errors of `scroll_into_view`.
        """
        place = None if path is None else checked_path("the screenshot", path, overwrite=overwrite)
        request = PictureRequest(
            ImageOptions(format_of(place, format), quality, scale, omit_background, max_side),
            target=target,
            clip=clip,
            full_page=full_page,
            refs=refs,
            mask=mask,
            mask_color=mask_color,
        )
        return await take_picture(self.internals, request, place, overwrite=overwrite, timeout=timeout)

    async def pdf(self, *, timeout: float = 30, **options: Unpack[PdfOptions]) -> bytes:
        """Return the page as PDF, as Chrome prints it. `options` are the fields of PdfOptions.

        Raises InvalidArgumentError for invalid options, DeadlineExceededError.
        """
        params = print_params(options)
        parts = []
        async with self.internals.action("pdf", timeout), print_pdf(self.internals.session, params) as pieces:
            async for piece in pieces:
                parts.append(piece)  # noqa: PERF401 - one await a piece
        return b"".join(parts)

    @announced("evaluate")
    async def evaluate(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: FrameTarget | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> Any:
        """Evaluate an expression, or call a function with `args`, and return its value. Promises are awaited.

        Runs on a separate session, so it never delays another action. When the timeout or a surrounding cancel
        scope ends it, the page's script is terminated first. `recover` allows further steps for a page that does
        not respond even then (see `Page.recover`). `target`, a ref or node, is the function's first argument.
        Refs, found nodes, Locators and handles among the other arguments become elements and values too, also
        inside of lists and mappings. `frame` names a frame as in `snapshot`. `world="isolated"` hides the script
        from the page's scripts. Other arguments are JSON values, NaN,
        the infinities, -0 and big integers. cdpengine/_evaluate/values.py describes the results.

        Raises EvaluationFailedError if the script threw, EvaluationTimeoutError at the deadline,
        EvaluationTerminatedError if the page navigated away or another termination ended the script,
        EvaluationDisabledError, and StaleRefError and NodeNotFoundError for a missing element.
        """
        budget = Budget.start("evaluate", timeout)
        make = partial(
            make_script, self.internals, expression_or_function, args, target, frame, world, budget
        )

        async def run(script: Script) -> Any:
            with action_span("page.evaluate"), self.internals.target.running.run("evaluate"):
                return await self.internals.evaluator.evaluate(script, budget, allow=recover)

        if args or target is not None or frame is not None:
            return await run_script(make, run)
        return await run(Script(expression_or_function, world=world))

    @block("page.evaluate_handle(...) as handle")
    async def evaluate_handle(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: FrameTarget | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> AsyncIterator[JSHandle]:
        """Evaluate as `evaluate` does, but keep the value in the page: `async with` gives a handle to it.

        During the block, the handle can be an argument of `evaluate`, also inside of lists and mappings. A handle
        to an element can be the target of any action. The end of the block releases it. Raises the errors of
        `evaluate`.
        """
        await announce_block("evaluate_handle", self.internals.target.running.listeners)
        budget = Budget.start("evaluate", timeout)
        make = partial(
            make_script, self.internals, expression_or_function, args, target, frame, world, budget
        )
        async with AsyncExitStack() as stack:

            async def hold(script: Script) -> JSHandle:
                with action_span("page.evaluate_handle"):
                    handle = self.internals.evaluator.handle(script, budget, allow=recover)
                    return await stack.enter_async_context(handle)

            yield await run_script(make, hold)

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
