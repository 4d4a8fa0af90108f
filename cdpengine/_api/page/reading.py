"""PageReading: the verbs that read a page, find in it, evaluate in it, and wait for what it becomes.

Rule: every verb takes one `timeout`, makes one Budget of it, and hands it down; how it is done stands in the
modules beside this one. What cannot be is refused before anything is sent.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Unpack

import attrs
import trio

from cdpengine._api.page.core import BackendNode, ElementTarget, PageCore
from cdpengine._api.page.finding import FrameTarget, find_one, look_for, make_wanted
from cdpengine._api.page.pictures import PictureRequest, take_picture
from cdpengine._api.page.snapshots import PageSection, TextOptions, check_source, extract, read_snapshot
from cdpengine._api.page.waiting import (
    Condition,
    Elapsed,
    NetworkIdle,
    NodeState,
    TextPart,
    check_optional_seconds,
    check_state,
    check_text,
    make_expression,
    make_load_condition,
    make_node_condition,
    make_text_conditions,
    make_url_condition,
    settle,
    wait_for_all,
)
from cdpengine._budget import Budget, check_seconds
from cdpengine._evaluate.recovery import Recovery
from cdpengine._evaluate.script import JSHandle, Script, World
from cdpengine._input.view import BoundingBox
from cdpengine._javascript import own, script
from cdpengine._page.announcing import announce_block
from cdpengine._page.downloads.output_file import checked_path
from cdpengine._page.finding import FoundNode, Locator, check_index
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.navigation import check_wait_until
from cdpengine._page.navigation.settling import watch_requests
from cdpengine._page.patterns import UrlPattern, Words, check_words
from cdpengine._page.running_actions import announced
from cdpengine._pictures.editing import ImageFormat, ImageOptions, format_of
from cdpengine._pictures.pdf import PdfOptions, print_params, print_pdf
from cdpengine._protocol.calls import span as action_span
from cdpengine._snapshot.content import to_text
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.render.lines import Mode, RefsFor, SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot

QUIET = 0.1
"""Seconds without any activity that count as rest."""

_TITLE = own("DOM.title(document)")


class PageReading:
    """The verbs of a Page that leave it as it is. `_core` is what they work on."""

    _core: PageCore

    async def title(self, *, timeout: float = 30) -> str:
        """Return the document's title."""
        return str(await self._core.read("title", _TITLE, timeout))

    async def content(self, *, timeout: float = 30) -> str:
        """Return the document's HTML as it is now, with its doctype."""
        return str(await self._core.read("content", script("_api/page/content"), timeout))

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
        """Return the page, all its frames included, as lines with refs for what can be acted on.

        `mode` is "role" (indented lines), "ai" (YAML with all that can matter), "numbered", "webarena", or "aria"
        (Chrome's accessibility tree, with `ignored` also what it shows nobody). `interactive` shows only what can
        be acted on, `compact` leaves out structural lines, `max_depth` deeper lines; `max_chars` and `max_tokens`
        cut at a line and say what was left out.

        `refs` is "actions" (what can be acted on, and content that has a name) or "all": then every element with a
        line has a ref, an item of a sortable list for example. Texts, and in mode "aria" what Chrome shows nobody,
        have none.

        `frame` takes one frame and the frames in it: a Frame, a frame's id, name or URL pattern (`*`, `?`), or a
        ref of its element. `root` takes what is in one element: a ref, or a CSS selector, for which the main frame
        or `frame` is searched, open shadow roots included.

        `source` says where to read the page from: "computed" (one walk in the page, by Chrome's own roles and
        names), "ax" (Chrome's accessibility tree), "dom" (the DOM alone). None and "hybrid" take the best there
        is for each frame; `.stats.sources` says which and why. What the page made clickable without saying so is
        looked for in each. A frame that does not answer in its share of the time (see `_snapshot/capture.py`) is
        marked, and the rest is there. `fresh` reads all of it anew: otherwise parts that say the same as at the
        last snapshot are not read again (docs/snapshots.md says when); the result is the same.

        `since` is an earlier snapshot in the same mode: `.diff` then says what was added, removed, changed and
        moved since; `.text` is the whole all the same.

        Raises InvalidArgumentError, NodeNotFoundError and StaleRefError for what `frame` or `root` name,
        DeadlineExceededError.
        """
        taken = await self._look(
            mode=mode,
            interactive=interactive,
            compact=compact,
            max_depth=max_depth,
            max_chars=max_chars,
            max_tokens=max_tokens,
            ignored=ignored,
            refs=refs,
            section=PageSection(frame, root, source, fresh=fresh),
            since=since,
            timeout=timeout,
        )
        self._core.refs.give(taken.refs)
        return taken

    async def _look(
        self,
        *,
        section: PageSection | None = None,
        since: Snapshot | None = None,
        timeout: float,
        frame: FrameTarget | None = None,
        root: ElementTarget | None = None,
        **shown: Any,
    ) -> Snapshot:
        """Take a snapshot that the caller need not see: its refs do not count as given."""
        options = SnapshotOptions(**shown)
        part = section or PageSection(frame, root)
        part = attrs.evolve(part, source=check_source(part.source, options.mode))
        return await read_snapshot(self._core, part, options, since, timeout)

    async def find(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        exact: bool = False,
        nth: int | None = None,
        frame: Frame | None = None,
        timeout: float = 0,
    ) -> FoundNode:
        """Return the one node that matches all that is given; it can be the target of any action.

        `css` is a selector, asked in the documents of all frames (the main one first) and in each open shadow
        root. `role` is what a snapshot calls it, in any mode; `name` is the whole name, as Chrome computes it,
        white space collapsed, in the same case or, where no name has the same case and `exact` is False, in any.

        `text` is visible text, in any case of letters: it finds the smallest element that holds it, or with
        `css`, `role` or `name` those that hold it. With `exact` it is all that an element says, in the same case,
        as it is shown. Name and text can be compiled patterns, too, which are searched for; `exact` changes
        nothing then.
        `nth` (from 0) chooses one of several. `frame` restricts the search to one of `frames`.

        `timeout` (seconds) above 0 waits until there is one. Raises NodeNotFoundError when there is none by then,
        AmbiguousNodeError at once when several match and `nth` is None, DeadlineExceededError when the page does
        not answer, and InvalidArgumentError for an invalid selector, and for an unknown role, naming the nearest
        ones.
        """
        index = None if nth is None else check_index(nth)
        wanted = make_wanted(css, role, name, text, exact)
        return await find_one(self._core, wanted, frame, index, timeout)

    def locate(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        exact: bool = False,
        nth: int | None = None,
        frame: Frame | None = None,
    ) -> Locator:
        """Return what an element is like, as a target of any action, which looks for it itself and waits for it.

        For pages that draw their elements anew again and again: a ref, and what `find` gives, name one element of
        one document, and a Locator what is there when it is used. The arguments are those of `find`. Asks the page
        nothing. Raises InvalidArgumentError for an unknown role, naming the nearest ones.
        """
        wanted = make_wanted(css, role, name, text, exact)
        index = None if nth is None else check_index(nth)
        return Locator(str(wanted), partial(find_one, self._core, wanted, frame), index)

    async def find_all(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        exact: bool = False,
        frame: Frame | None = None,
        timeout: float = 0,
    ) -> list[FoundNode]:
        """Return all nodes that match, as `find` does, in the order of the page; at most 2000 of a document.

        `timeout` (seconds) above 0 waits until there is at least one. Without any, the list is empty.
        """
        return await look_for(self._core, make_wanted(css, role, name, text, exact), frame, 1, timeout)

    async def extract_text(
        self,
        target: ElementTarget | None = None,
        *,
        main_only: bool = False,
        max_chars: int | None = None,
        timeout: float = 30,
    ) -> str:
        """Return what a reader sees of the page, frames included, as plain text; of `target` only, if given.

        `target` is a ref, or a CSS selector for the main frame. What is not drawn is left out, and so is what was
        typed into password fields. `main_only` takes the main content alone (docs/snapshots.md has the rule);
        `max_chars` cuts, and says so. Raises InvalidArgumentError, NodeNotFoundError, StaleRefError,
        DeadlineExceededError.
        """
        options = TextOptions(to_text, main_only, max_chars)
        return await extract(self._core, "extract text", target, options, timeout)

    async def extract_markdown(
        self,
        target: ElementTarget | None = None,
        *,
        main_only: bool = False,
        max_chars: int | None = None,
        timeout: float = 30,
    ) -> str:
        """Return what a reader sees of the page as Markdown: links with whole addresses, lists, tables, code.

        The page's words are escaped, so they cannot make structure. Everything else as `extract_text`.
        """
        options = TextOptions(to_markdown, main_only, max_chars)
        return await extract(self._core, "extract Markdown", target, options, timeout)

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
        """Return an image of the viewport, or of the whole page; "png", "jpeg" or "webp", quality 0 to 100.

        With `target`, of that node alone: scrolled into view, all of it even where it is larger than the
        viewport. With `clip`, of a rectangle, in CSS pixels of the viewport and beyond it. With `refs`, the
        elements that have refs are framed and labelled on it, as by `labelled_screenshot`. `scale` is pixels per
        CSS pixel, rendered sharp; the default is that of the page's screen. `max_side` makes the picture
        smaller, in proportion, until its longer side has at most so many pixels: models accept 1,568.
        `omit_background` leaves transparent what the page does not paint. Nodes in `mask` are painted over with
        `mask_color`. The image is written to `path`, too, whose suffix chooses the format. Pages of any height are
        captured, in pieces that are joined; a page hears `resize` if more than its viewport is captured. Only its
        owner can read the file. An existing file is replaced once the new one is complete, or refused if
        `overwrite` is False.

        Raises InvalidArgumentError for options that do not go together, PictureTooLargeError for what jpeg (65,535
        pixels a side) or webp (16,383) cannot hold, InvisibleError for a target that has no box,
        MeasurementFailedError when the file cannot be written, and as `scroll_into_view` does.
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
        return await take_picture(self._core, request, place, overwrite=overwrite, timeout=timeout)

    async def pdf(self, *, timeout: float = 30, **options: Unpack[PdfOptions]) -> bytes:
        """Return the page as PDF, as Chrome would print it. `options` are those of PdfOptions.

        Raises InvalidArgumentError for options that cannot be, DeadlineExceededError.
        """
        params = print_params(options)
        parts = []
        async with self._core.action("pdf", timeout), print_pdf(self._core.session, params) as pieces:
            async for piece in pieces:
                parts.append(piece)  # noqa: PERF401 - one await a piece
        return b"".join(parts)

    @announced("evaluate")
    async def evaluate(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: Frame | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> Any:
        """Evaluate an expression, or call a function with `args`, and return its value; promises are awaited.

        Runs on a session of its own, so it never holds up another action. When the timeout or a surrounding
        cancel scope ends it, the page's script is terminated first; `recover` says how much further to go with a
        page that does not answer even then (see `recover`). `target`, a ref or node, is passed to the function as
        its first argument; a Ref or BackendNode among the other arguments is an element too. `frame` is one of
        `frames`; `world="isolated"` keeps out of reach of the page's own script. Arguments are what JSON holds,
        NaN, the infinities, -0 and big integers; what comes back is told in cdpengine/_evaluate/values.py.

        Raises EvaluationFailedError when the script threw, EvaluationTimeoutError at the deadline,
        EvaluationTerminatedError when the page navigated away or another termination hit it,
        EvaluationDisabledError, StaleRefError and NodeNotFoundError for an element that is gone.
        """
        budget = Budget.start("evaluate", timeout)
        script = await make_script(self._core, expression_or_function, args, target, frame, world, budget)
        with action_span("page.evaluate"), self._core.target.running.run("evaluate"):
            return await self._core.evaluator.evaluate(script, budget, allow=recover)

    @asynccontextmanager
    async def evaluate_handle(
        self,
        expression_or_function: str,
        *args: object,
        target: ElementTarget | None = None,
        frame: Frame | None = None,
        world: World = "main",
        recover: Recovery = "terminate",
        timeout: float = 30,
    ) -> AsyncIterator[JSHandle]:
        """Evaluate as `evaluate` does, and leave the value in the page: `async with` gives a handle on it.

        The handle can be an argument of `evaluate` while the block lasts; it is released with the block. Raises
        InvalidArgumentError for a value that is no object, and as `evaluate`.
        """
        await announce_block("evaluate_handle", self._core.target.running.listeners)
        budget = Budget.start("evaluate", timeout)
        script = await make_script(self._core, expression_or_function, args, target, frame, world, budget)
        async with AsyncExitStack() as stack:
            with action_span("page.evaluate_handle"):
                handle = await stack.enter_async_context(
                    self._core.evaluator.handle(script, budget, allow=recover)
                )
            yield handle

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
        timeout: float = 30,
    ) -> None:
        """Wait until all conditions that are given hold at the same time.

        `text` is visible in one of the frames, white space collapsed and in any case of letters; `text_gone` is
        visible in none. Either can be a compiled pattern, which is searched for in the text of each frame as it is
        shown. `css` matches a visible element (open shadow roots included), `css_gone` none. `ref`, a
        target as actions take it, is in `state`: "visible", "hidden", "attached", "detached", "enabled",
        "disabled", "checked" or "unchecked"; a Locator is looked for once, before all else. `url` is that of the
        main frame: a glob in which only "*" is special, a compiled regular expression that is searched for, or a
        function. `load_state` is reached by the present document ("commit", "domcontentloaded", "load",
        "networkidle"), and no navigation is under way. `network_idle`: no request has been under way for so many
        seconds, counted from the call at the earliest. `expression`: JavaScript, or a function without arguments,
        that is true in the page; it is looked at with each animation frame, and one that throws is not true yet.
        `seconds` have passed.

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
        core = self._core
        if load_state is not None:
            conditions.append(make_load_condition(core.target, check_wait_until(load_state)))
        if url is not None:
            conditions.append(make_url_condition(core.target, url))
        parts: list[TextPart] = [
            ("text", text, True),
            ("text", text_gone, False),
            ("css", css, True),
            ("css", css_gone, False),
        ]
        conditions += make_text_conditions(
            core, [(kind, words, wanted) for kind, words, wanted in parts if words]
        )
        if ref is not None:
            checked = check_state(state)
            if isinstance(ref, Locator):
                budget = Budget.start("wait", timeout)
                ref = await ref._find_now(budget.deadline)
                timeout = max(0.0, budget.deadline - trio.current_time())
            conditions.append(make_node_condition(core, ref, checked))
        if network_idle is not None:
            conditions.append(NetworkIdle(core.target, float(network_idle)))
        if expression is not None:
            conditions.append(make_expression(core, expression))
        if seconds is not None:
            conditions.append(Elapsed(core.target, float(seconds)))
        await wait_for_all(core, conditions, timeout)

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
                await settle(self._core, requests, float(quiet), budget)


async def make_script(
    core: PageCore,
    source: str,
    args: Sequence[object],
    target: ElementTarget | None,
    frame: Frame | None,
    world: World,
    budget: Budget,
) -> Script:
    """Return the user's script with its arguments, nodes among them."""
    first = [] if target is None else [await core.find_node(target, budget)]
    rest = [
        await core.find_node(arg, budget) if isinstance(arg, (Ref, BackendNode, FoundNode, Locator)) else arg
        for arg in args
    ]
    return Script(source, [*first, *rest], frame=frame, world=world)
