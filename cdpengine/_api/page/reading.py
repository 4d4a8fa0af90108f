"""PageReading: the Page methods that find nodes and read content.

Rule: every method takes one `timeout`, creates one Budget from it, and passes it down to the modules of this
folder. Invalid arguments are refused before anything is sent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Unpack

from cdpengine._api.page.accessibility import AccessibilityIssue, find_issues
from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.finding import find_matches, find_one, make_query
from cdpengine._api.page.frame_targets import FrameTarget
from cdpengine._api.page.pictures import PictureRequest, take_picture
from cdpengine._api.page.snapshots import PageSection, TextOptions, extract, read_snapshot
from cdpengine._input.view import BoundingBox
from cdpengine._javascript import own, script
from cdpengine._page.downloads.output_file import checked_path
from cdpengine._page.patterns import Words
from cdpengine._page.running_actions import announced_read
from cdpengine._page.search.locator import FoundNode
from cdpengine._pictures.editing import ImageFormat, ImageOptions, format_of
from cdpengine._pictures.pdf import PdfOptions, print_params, print_pdf
from cdpengine._snapshot.content import to_text
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import Mode, RefsFor, SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors.misuse import name_our_arguments
from cdpengine.errors.other_libraries import FIND, SCREENSHOT

TITLE = own("DOM.title(document)")
CONTENT = script("_api/page/content")


class PageReading:
    """The methods of a Page that do not change it. They use `internals`."""

    internals: PageCore

    @announced_read("title")
    async def title(self, *, timeout: float = 30) -> str:
        """Return the document's title."""
        return str(await self.internals.read("title", TITLE, timeout))

    @announced_read("content")
    async def content(self, *, timeout: float = 30) -> str:
        """Return the document's current HTML, with its doctype."""
        return str(await self.internals.read("content", CONTENT, timeout))

    @announced_read("snapshot")
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

    @announced_read("find")
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

    @announced_read("find_all")
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

    @announced_read("accessibility_issues")
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

    @announced_read("extract_text")
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

    @announced_read("extract_markdown")
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

    @announced_read("screenshot")
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

    @announced_read("pdf")
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
