"""Readings of a page: snapshots, plain text and Markdown.

Rule: a reading does not change the page. All content comes from one document, under the action's budget. If the
document is replaced meanwhile, the new one is read. Refs are assigned and lines rendered afterwards, without an
await, so a cancelled snapshot changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, get_args

import attrs
import trio

from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.finding import find_root
from cdpengine._api.page.frame_targets import FrameTarget, find_frame
from cdpengine._budget import Budget
from cdpengine._checks import check_choice, check_count
from cdpengine._collector import pause_collector
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import PATIENCE, wait_for_documents
from cdpengine._snapshot.capture import Capture, Scope, capture
from cdpengine._snapshot.content import Block, shorten
from cdpengine._snapshot.first_content import ContentWait, has_nothing
from cdpengine._snapshot.node import Document, Source
from cdpengine._snapshot.readable import ReadableDocument, has_no_content, readable_reader
from cdpengine._snapshot.refs import RefTable, parse_ref_text
from cdpengine._snapshot.render.ax_modes import loose_nodes
from cdpengine._snapshot.render.lines import AX_MODES, Mode, SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.snapshot import (
    Snapshot,
    SnapshotStats,
    build_snapshot,
    check_comparable,
    common_source,
    sum_milliseconds,
)
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, shown_url

_GRAFTING = 0.02
"""Fraction of the time reserved for the steps after the capture."""


@attrs.frozen
class PageSection:
    """The section of the page to read and its source: arguments of `Page.snapshot`."""

    frame: FrameTarget | None = None
    root: ElementTarget | None = None
    source: Source | None = None
    fresh: bool = False

    async def scope(self, core: PageCore, options: SnapshotOptions, budget: Budget) -> Scope:
        """Return the current scope of the section.

        Raises NodeNotFoundError, StaleRefError, InvalidArgumentError.
        """
        chosen = core.target.frames.main
        if self.frame is not None:
            chosen = await find_frame(core, self.frame, budget)
        number = None
        if isinstance(self.root, str) and parse_ref_text(self.root) is None:
            number = await find_root(core, chosen, self.root)
        elif self.root is not None:
            node = core.node(await core.find_element(self.root, budget.deadline))
            number, chosen = node.backend_node_id, self._frame_of_root(core, node.frame_id, chosen)
        return Scope(
            frame=chosen,
            root=number,
            source=self.source,
            raw=options.mode in AX_MODES,
            boxes=options.max_chars is not None or options.max_tokens is not None,
            pointer=options.mode == "ai",
            fresh=self.fresh,
        )

    def _frame_of_root(self, core: PageCore, frame_id: str, chosen: Frame) -> Frame:
        found = core.target.frames.get(frame_id)
        if found is None:
            raise NodeNotFoundError(target="root", reason="its frame is no longer in the page")
        if self.frame is not None and found is not chosen:
            raise InvalidArgumentError(
                what="root",
                given=f"a node of {shown_url(found.url)}",
                expected=f"a node of the frame {shown_url(chosen.url)}, or frame=None",
            )
        return found


async def read_snapshot(
    core: PageCore, section: PageSection, options: SnapshotOptions, since: Snapshot | None, timeout: float
) -> Snapshot:
    """Read a section of the page, assign the refs and render it: `Page.snapshot`.

    The refs do not count as known to the caller: see `PageCore.give`.
    """
    section = attrs.evolve(section, source=_check_source(section.source, options.mode))
    if since is not None:
        check_comparable(since, options.mode)
    started = time.perf_counter()
    async with core.action("snapshot", timeout, everywhere=True) as budget:
        captured = await capture_loaded(
            core, lambda: section.scope(core, options, budget), has_nothing, budget
        )
        partial = section.root is not None
        return make_snapshot(captured, core.refs, options, started, partial=partial, since=since)


async def look_at_page(
    core: PageCore,
    *,
    since: Snapshot | None = None,
    frame: FrameTarget | None = None,
    root: ElementTarget | None = None,
    source: Source | None = None,
    timeout: float,
    **options: Any,
) -> Snapshot:
    """Take a snapshot for the engine itself. `options` are the fields of SnapshotOptions."""
    section = PageSection(frame, root, source)
    return await read_snapshot(core, section, SnapshotOptions(**options), since, timeout)


@attrs.frozen
class TextOptions:
    """Format of a page's text: `Page.extract_text`, `Page.extract_markdown`. Raises InvalidArgumentError."""

    write: Callable[[Sequence[Block]], str]
    main_only: bool = False
    max_chars: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.max_chars is not None:
            check_count("max_chars", self.max_chars, least=1, unit="characters")


async def extract(
    core: PageCore, action: str, target: ElementTarget | None, options: TextOptions, timeout: float
) -> str:
    """Return the visible content of the page, or of `target` only."""
    reader = readable_reader(main_only=options.main_only and target is None)
    section = PageSection(root=target)
    async with core.action(action, timeout, everywhere=True) as budget:

        async def choose() -> Scope:
            return attrs.evolve(await section.scope(core, SnapshotOptions(), budget), reader=reader)

        captured = await capture_loaded(core, choose, has_no_content, budget)
        assert isinstance(captured.document, ReadableDocument)
        return shorten(captured.document.blocks(), options.write, options.max_chars)


async def capture_loaded(
    core: PageCore,
    choose: Callable[[], Awaitable[Scope]],
    is_empty: Callable[[Document], bool],
    budget: Budget,
) -> Capture:
    """Capture the scope of `choose`, after a pending navigation has arrived and the document has content."""
    content_wait = ContentWait(core.target, core.worlds, budget.remaining, is_empty)
    await content_wait.wait_begun()
    waited_until = trio.current_time() + PATIENCE
    while True:
        scope = await choose()
        budget.step(f"reading {shown_url(scope.frame.url)} and its frames")
        seconds = budget.remaining * (1 - _GRAFTING)
        content_wait.begin_look()
        captured = await capture(core.target, core.worlds, scope, seconds)
        if captured is None:
            budget.step("the document was replaced during the capture; reading the new one")
            continue
        if (left := waited_until - trio.current_time()) > 0 and await wait_for_documents(
            core.target, (scope.frame.id,), budget, left
        ):
            continue
        if scope.root is not None or not await content_wait.may_come(captured):
            content_wait.remark(captured)
            return captured
        budget.step("the document was still empty and loading")


def _check_source(source: Source | None, mode: Mode) -> Source | None:
    """Return the source to use for a mode, or None to let the engine choose. Raises InvalidArgumentError."""
    if source is not None:
        check_choice("source", source, get_args(Source))
    if mode in AX_MODES:
        expected = f'"ax" or None in mode {mode}, which shows the accessibility tree itself'
        check_choice("source", source, (None, "ax"), expected)
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
    """Assign the refs and render the snapshot. Awaits nothing."""
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
        refs=len(rendering.refs),
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
    return build_snapshot(rendering, document, refs, stats, options, since=since)
