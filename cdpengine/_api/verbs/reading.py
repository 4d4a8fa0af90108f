"""ReadingVerbs: the verbs that read a page: as lines with refs, as text, as Markdown, as HTML.

Rule: nothing is changed in the page for it. What is read is read under the action's budget, of one document; where
that is replaced meanwhile, the new one is read. Only then, in one go, refs are given and the text is made: a
snapshot that is cancelled has changed nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import get_args

import attrs

from cdpengine._api.page_core import PageCore, PageVerbs
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._api.verbs.finding import FrameTarget, find_frame, find_root
from cdpengine._budget import Budget
from cdpengine._page.frames import Frame
from cdpengine._protocol.domains.dom import OuterHTMLReply
from cdpengine._snapshot.arrival import Arrival, has_nothing
from cdpengine._snapshot.capture import Capture, Scope, capture
from cdpengine._snapshot.content import Block, shorten, to_text
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.node import Document, Source, pause_collector
from cdpengine._snapshot.readable import ReadableDocument, readable_reader, says_nothing
from cdpengine._snapshot.refs import RefTable, parse_ref_text
from cdpengine._snapshot.render.ax_modes import loose_nodes
from cdpengine._snapshot.render.lines import AX_MODES, Mode, RefsFor, SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.snapshot import Snapshot, SnapshotStats, common_source, sum_milliseconds
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, shown_url

_GRAFTING = 0.02
"""The part of the time that is kept for what comes after capturing."""


class ReadingVerbs(PageVerbs):
    """The verbs that read a page."""

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
        source = _checked_source(source, mode)
        if since is not None:
            since.check_mode(mode)
        started = time.perf_counter()
        async with self._core.action("snapshot", timeout) as budget:
            captured = await capture_arrived(
                self._core,
                lambda: self._scope(options, source, frame, root, fresh=fresh),
                has_nothing,
                budget,
            )
            return make_snapshot(
                captured, self._core.refs, options, started, partial=root is not None, since=since
            )

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
        return await self._extract("extract text", to_text, target, main_only, max_chars, timeout)

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
        return await self._extract("extract Markdown", to_markdown, target, main_only, max_chars, timeout)

    async def outer_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the element's HTML as it is now, its own tag included.

        Raises NodeNotFoundError and StaleRefError.
        """
        async with self._core.action(f"outer HTML of {describe_target(target)}", timeout):
            node = self._core.node(target)
            reply = await node.session.request(
                "DOM.getOuterHTML", {"backendNodeId": node.backend_node_id}, OuterHTMLReply
            )
            self._core.node(target)  # whether it still is the document that it was asked of
            return reply.outer_html

    async def _extract(
        self,
        action: str,
        write: Callable[[Sequence[Block]], str],
        target: ElementTarget | None,
        main_only: bool,
        max_chars: int | None,
        timeout: float,
    ) -> str:
        if max_chars is not None and (isinstance(max_chars, bool) or max_chars < 1):
            raise InvalidArgumentError(what="max_chars", given=repr(max_chars), expected="1 or more, or None")
        reader = readable_reader(main_only=main_only and target is None)
        async with self._core.action(action, timeout) as budget:

            async def choose() -> Scope:
                scope = await self._scope(SnapshotOptions(), None, None, target)
                return attrs.evolve(scope, reader=reader)

            captured = await capture_arrived(self._core, choose, says_nothing, budget)
            assert isinstance(captured.document, ReadableDocument)
            return shorten(captured.document.blocks(), write, max_chars)

    async def _scope(
        self,
        options: SnapshotOptions,
        source: Source | None,
        frame: FrameTarget | None,
        root: ElementTarget | None,
        *,
        fresh: bool = False,
    ) -> Scope:
        chosen = self._core.target.frames.main
        if frame is not None:
            chosen = await find_frame(self._core.target, frame, self._core.node)
        number = None
        if isinstance(root, str) and parse_ref_text(root) is None:
            number = await find_root(self._core.worlds, chosen, root, self._core.target)
        elif root is not None:
            node = self._core.node(root)
            number, chosen = node.backend_node_id, self._frame_of_root(node.frame_id, frame, chosen)
        return Scope(
            frame=chosen,
            root=number,
            source=source,
            raw=options.mode in AX_MODES,
            boxes=options.max_chars is not None or options.max_tokens is not None,
            pointer=options.mode == "ai",
            fresh=fresh,
        )

    def _frame_of_root(self, frame_id: str, asked: FrameTarget | None, chosen: Frame) -> Frame:
        found = self._core.target.frames.get(frame_id)
        if found is None:
            raise NodeNotFoundError(target="root", reason="its frame is not in the page any more")
        if asked is not None and found is not chosen:
            raise InvalidArgumentError(
                what="root",
                given=f"a node of {shown_url(found.url)}",
                expected=f"one of the frame {shown_url(chosen.url)}, or frame=None",
            )
        return found


async def capture_arrived(
    core: PageCore,
    choose: Callable[[], Awaitable[Scope]],
    is_empty: Callable[[Document], bool],
    budget: Budget,
) -> Capture:
    """Capture what `choose` chooses, once a navigation that was asked for has come, and there is something."""
    arrival = Arrival(core.target, core.worlds, budget.remaining, is_empty)
    await arrival.begun()
    while True:
        scope = await choose()
        budget.step(f"reading {shown_url(scope.frame.url)} and its frames")
        seconds = budget.remaining * (1 - _GRAFTING)
        arrival.begin_look()
        captured = await capture(core.target, core.worlds, scope, seconds)
        if captured is None:
            budget.step("the document was replaced meanwhile; reading the new one")
            continue
        if scope.root is not None or not await arrival.may_come(captured):
            arrival.remark(captured)
            return captured
        budget.step("the document had nothing in it yet, and was loading")


def _checked_source(source: Source | None, mode: Mode) -> Source | None:
    if source is not None and source not in get_args(Source):
        raise InvalidArgumentError(
            what="source", given=repr(source), expected=f"one of {', '.join(get_args(Source))}, or None"
        )
    if mode in AX_MODES:
        if source not in (None, "ax"):
            raise InvalidArgumentError(
                what="source",
                given=repr(source),
                expected=f'"ax" or None in mode {mode}, which shows the accessibility tree itself',
            )
        return "ax"
    return source


def make_snapshot(
    captured: Capture,
    table: RefTable,
    options: SnapshotOptions,
    started: float,
    *,
    partial: bool,
    since: Snapshot | None,
) -> Snapshot:
    """Give the refs and make the text. Nothing is awaited here."""
    captured_at = time.perf_counter()
    every = options.refs == "all"
    with pause_collector():
        if every and options.mode in AX_MODES:
            for document in captured.documents:
                document.loose = loose_nodes(document)
        refs = table.assign(captured.documents, partial=partial, every=every)
        assigned = time.perf_counter()
        rendering = render(captured.document, refs, options)
    ended = time.perf_counter()
    documents = captured.documents
    stats = SnapshotStats(
        lines=rendering.lines,
        chars=len(rendering.text),
        tokens=rendering.tokens,
        refs=len(rendering.shown),
        interactive=rendering.interactive,
        frames=len(documents),
        nodes_seen=sum(document.nodes_seen for document in documents),
        parts_reused=sum(document.parts_reused for document in documents),
        source=common_source(document.source for document in documents),
        sources=captured.sources,
        milliseconds={
            **sum_milliseconds(documents),
            "read": (captured_at - started) * 1000,
            "refs": (assigned - captured_at) * 1000,
            "render": (ended - assigned) * 1000,
            "total": (ended - started) * 1000,
        },
    )
    document = captured.document
    return Snapshot.of(rendering, document, refs, stats, options, since=since)
