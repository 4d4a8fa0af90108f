"""PageContent: what a page says, as text and as a picture.

Rule: nothing is changed in the page for it. What is read is read under the action's budget, of one document; where
that is replaced meanwhile, the new one is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import attrs

from cdpengine._api.page_snapshots import PageSnapshots, taken_snapshot
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._budget import Budget
from cdpengine._page.scripts.worlds import context_gone
from cdpengine._pictures.options import ImageFormat, ImageOptions, check_image_options
from cdpengine._pictures.screenshot import current_view, screen_scale, take_screenshot
from cdpengine._protocol.domains.dom import BoxModelReply, OuterHTMLReply
from cdpengine._snapshot.arrival import has_nothing
from cdpengine._snapshot.capture import Capture, Scope
from cdpengine._snapshot.content import Block
from cdpengine._snapshot.labels import boxes_of, draw_labels
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.node import walk
from cdpengine._snapshot.options import SnapshotOptions
from cdpengine._snapshot.plain_text import to_text
from cdpengine._snapshot.readable import ReadableDocument, readable_reader, says_nothing
from cdpengine._snapshot.shortening import shortened
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors import InvalidArgumentError, RemoteError

_TRIES = 2
"""Pictures that are taken of a page that scrolls meanwhile, before the last one will do."""


@attrs.frozen
class LabelledScreenshot:
    """A picture with refs drawn on it, and the snapshot whose refs they are."""

    image: bytes = attrs.field(repr=False)
    snapshot: Snapshot


class PageContent(PageSnapshots):
    """What one does to read a page."""

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

    async def labelled_screenshot(
        self,
        *,
        format: ImageFormat = "png",  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        full_page: bool = False,
        interactive: bool = True,
        timeout: float = 30,
    ) -> LabelledScreenshot:
        """Return a picture on which elements are framed and labelled with their refs, and the snapshot of these.

        With `interactive`, only what can be acted on is framed. The labels are drawn on the picture; the page is
        not touched. Picture and refs are of one document, and of one scroll position where the page stands still
        long enough for that. Needs Pillow. Raises InvalidArgumentError for odd options, DeadlineExceededError.
        """
        check_image_options(format, quality)
        options = SnapshotOptions(interactive=interactive)
        started = time.perf_counter()
        async with self._core.action("labelled screenshot", timeout) as budget:
            tries = 0
            while True:
                before = await current_view(self._core.session)
                scope = Scope(frame=self._core.target.frames.main, boxes=True)
                captured = await self._captured(scope, budget)
                origins = await self._origins(captured)
                async with self._core.target.pictures:
                    picture = await take_screenshot(
                        self._core.session,
                        ImageOptions(),
                        screen=await self._screen_scale(),
                        full_page=full_page,
                    )
                after = await current_view(self._core.session)
                if self._core.target.frames.main.loader_id != captured.document.loader_id:
                    budget.step("the document was replaced meanwhile; reading the new one")
                    continue
                tries += 1
                if after == before or tries == _TRIES:
                    break
                budget.step("the page scrolled or changed its size meanwhile; once more")
            snapshot = taken_snapshot(captured, self._core.refs, options, started, partial=False, since=None)
            refs = {(ref.frame_id, ref.backend_node_id): ref for ref in snapshot.refs.values()}
            boxes = boxes_of(captured.document, refs, origins)
            viewport = captured.document.viewport
            width = before.width if viewport is None else viewport[0]  # with its scroll bar
            if full_page:
                boxes = [(ref, (x + before.x, y + before.y, w, h)) for ref, (x, y, w, h) in boxes]
                width = before.content_width
            image = draw_labels(picture.data, boxes, width=width, image_format=format, quality=quality)
            return LabelledScreenshot(image, snapshot)

    async def _screen_scale(self) -> float:
        """Return how many pixels of the screen a CSS pixel of the page has."""
        while True:
            context = await self._core.worlds.context(self._core.session, self._core.target.frames.main.id)
            try:
                return await screen_scale(context)
            except RemoteError as error:
                if not context_gone(error):
                    raise

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

            captured = await self._arrived(choose, says_nothing, budget)
            assert isinstance(captured.document, ReadableDocument)
            return shortened(captured.document.blocks(), write, max_chars)

    async def _captured(self, scope: Scope, budget: Budget) -> Capture:
        async def choose() -> Scope:
            return attrs.evolve(scope, frame=self._core.target.frames.main)

        return await self._arrived(choose, has_nothing, budget)

    async def _origins(self, captured: Capture) -> dict[str, tuple[float, float]]:
        """Return for each frame how far its viewport is from the corner of its element's box."""
        origins = {}
        for document in captured.documents:
            frame = None if document.frame_id is None else self._core.target.frames.get(document.frame_id)
            if frame is None:
                continue
            for node in walk(document.roots):
                child = node.document
                if child is None or child.frame_id is None or node.frame_id != document.frame_id:
                    continue
                try:
                    reply = await self._core.target.session_of(frame).request(
                        "DOM.getBoxModel", {"backendNodeId": node.backend_node_id}, BoxModelReply
                    )
                except RemoteError:
                    continue  # it has no box any more
                content, border = reply.model.content, reply.model.border
                origins[child.frame_id] = content[0] - border[0], content[1] - border[1]
        return origins
