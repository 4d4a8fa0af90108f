"""The sources `computed` and `dom`: one walk in the page, with roles and names from Chrome or from the DOM alone.

Rule: a page that was read before takes one round trip, and the result always belongs to the document that it names
(walk.py). Backend node ids for the walk's numbers come with the listeners; a second call provides the ids of the
remaining new elements. Unchanged parts are not read again (_snapshot/sources/walk_reuse.js): the page names them
only if both sides refer to the same last walk.

`dom` queries Chrome's accessibility engine for custom elements only (internals.py), and does without them if there
is no answer. So it works if that engine fails, is missing, or would take too long: the same walk, with roles and
names computed in the page by ARIA's and HTML's rules. docs/snapshot-sources.md lists the differences from the
accessibility tree.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Any

import attrs
import trio

from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import context_gone
from cdpengine._protocol.calls import pending_group
from cdpengine._snapshot.node import Document, FrameRequest, SharedNodes, Source
from cdpengine._snapshot.sources.carousels import fill_carousels
from cdpengine._snapshot.sources.columns import (
    Customs,
    PartChanged,
    Parts,
    Unnumbered,
    Walk,
    decode_walk,
    nodes_of,
    set_ids,
)
from cdpengine._snapshot.sources.internals import CustomElements, have_other_owners
from cdpengine._snapshot.sources.listeners import Listening
from cdpengine._snapshot.sources.numbers import number_elements
from cdpengine._snapshot.sources.walk import (
    NO_WALK,
    TRIES,
    Installed,
    PreviousWalk,
    forget_walk,
    install_walk,
    list_walks,
    post_tree,
    post_walk,
    read_answer,
    send_names,
    wait_laid_out,
)
from cdpengine.errors import RemoteError

_FRAMES_WITH_PARTS = 64
"""Maximum number of a session's frames whose parts are kept."""


async def read_computed(request: FrameRequest) -> Document:
    """Return the frame's document from a walk in the page, with Chrome's own roles and names.

    Raises the errors of `Session.call`; RemoteError also if the frame is gone, or keeps loading new documents;
    InvalidArgumentError if the browser does not offer roles and names to pages. `Document.loader_id` identifies
    the document that was read, which may be newer than the requested one.
    """
    return await read_walk(request, None, "computed")


async def read_walk(request: FrameRequest, kit: str | None, source: Source) -> Document:
    """Return the frame's document from the walk, with roles and names from `kit`.

    `kit` is the source of a function that returns a new `{ roleOf, nameOf }` for each walk; None uses Chrome's
    own. Raises the errors of `read_computed`.
    """
    started = time.perf_counter()
    end = trio.current_time() + request.seconds
    waited = False
    customs: CustomElements | None = None
    for remaining in reversed(range(TRIES)):
        request = request.within(max(0.0, end - trio.current_time()))
        try:
            may_reuse = kit is None and _may_reuse(request)
            installed = await install_walk(request, kit, partial(_first_request, request, may_reuse, waited))
            previous = installed.previous if may_reuse else None
            if customs is None or customs.installed is not installed:
                customs = CustomElements(request, installed, with_names=kit is not None)
            async with Listening(request, installed) as listening, customs:
                walk = await _run_walk(request, installed, previous, listening, customs, waited=waited)
                if walk is not None:
                    walked = time.perf_counter()
                    if walk.bare:
                        await wait_laid_out(request, installed)
                        waited = True
                        continue
                    if walk.not_plain:
                        installed.previous, installed.plain = NO_WALK, False
                        await post_tree(request).raw()
                        continue
                    if walk.lacking:
                        await send_names(request, installed, role_and_name_source())
                        continue
                    made = _make_nodes(request, installed, walk, previous)  # while Chrome lists the listeners
                    first_nodes = time.perf_counter() - walked
                    known_ids = await listening.read_marks(walk.marks)
                    if await number_elements(request, installed, walk.last, known_ids):
                        continue  # the next walk also reads the closed shadow roots that were found
                    numbered = time.perf_counter()
                    if made is None:
                        installed.previous = NO_WALK
                        continue  # a reused part is unknown or has changed: read everything
                    document = made.complete(request, installed)
                    if walk.carousels:
                        await fill_carousels(request, document)
                        # Chrome changes the states late without reporting it, so the next walk reads everything.
                        installed.previous = NO_WALK
                    others = await customs.have_changed(walk, made.customs)
                    owners = await have_other_owners(request, installed, walk)
                    listeners = await listening.has_changed(walk.presumed, still=walk.same)
                    if remaining and (others or owners or listeners):
                        continue  # the new listeners may need a line
                    if listeners:
                        listening.refusal = "click listeners changed during each read"
                    break
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        forget_walk(request.session, request.frame_id, kit)
    else:
        raise RemoteError(
            method="Runtime.callFunctionOn",
            code=0,
            message="the frame loaded a new document during each read",
        )
    document.unknown = "; ".join(filter(None, (listening.refusal, customs.refusal)))
    document.source = source
    document.loader_id = installed.loader_id
    document.session_id = request.session.id
    document.milliseconds = {
        "walk": (walked - started) * 1000,
        "ids": (numbered - walked - first_nodes) * 1000,
        "nodes": (time.perf_counter() - numbered + first_nodes) * 1000,
    }
    if not request.boxes:
        document.viewport = None
    return document


async def read_dom(request: FrameRequest) -> Document:
    """Return the frame's document from the DOM, without the accessibility engine and without closed shadow roots.

    Linear in the size of the document. Raises the errors of `Session.call`; RemoteError also if the frame is gone,
    or keeps loading new documents.
    """
    return await read_walk(request, role_and_name_source(), "dom")


@cache
def role_and_name_source() -> str:
    """Return the source of a function that returns a new `{ roleOf, nameOf }` for a walk."""
    others = ", ".join(
        f"{script(path)}()" for path in ("_snapshot/sources/dom_text", "_page/scripts/secret_field")
    )
    roles = script("_snapshot/sources/dom_roles")
    return f"(given, moves) => {script('_snapshot/sources/dom_names')}({roles}(given, moves), {others})"


_KIT = (
    "dom_roles",
    "dom_names",
    "dom_text",
    "_page/scripts/secret_field",
    "walk_dom",
    "walk_elements",
    "walk_owners",
)
"""The functions that dom_kit.js takes, in this order."""


@cache
def kit_source() -> str:
    """Return the source of a function that returns a new `{ roleOf, nameOf }` outside of the walk."""
    parts = ", ".join(script(part if "/" in part else f"_snapshot/sources/{part}") for part in _KIT)
    return f"{script('_snapshot/sources/dom_kit')}({parts})"


def _may_reuse(request: FrameRequest) -> bool:
    """Return whether nodes may come from earlier documents and be kept for later ones."""
    return not (request.fresh or request.boxes or request.pointer or request.root is not None)


@attrs.define(eq=False)
class _Made:
    """The nodes of a walk. `unnumbered` are those without ids yet; `latest` is stored once the ids are known.

    `customs` are the nodes of custom elements, by number.
    """

    document: Document
    unnumbered: Unnumbered = attrs.field(factory=list)
    customs: Customs = attrs.field(factory=dict)
    latest: PreviousWalk | None = None

    def complete(self, request: FrameRequest, installed: Installed) -> Document:
        """Set the ids, which are known by now, and return the document."""
        set_ids(self.unnumbered, installed.ids)
        if self.latest is not None:
            _keep(request, installed, self.latest)
        return self.document


def _make_nodes(
    request: FrameRequest, installed: Installed, walk: Walk, previous: PreviousWalk | None
) -> _Made | None:
    """Make the nodes; None if a reused part is unknown or has changed."""
    unnumbered: Unnumbered = []
    customs: Customs = {}
    if previous is None:
        document = nodes_of(
            walk, installed.ids, frame_id=request.frame_id, unnumbered=unnumbered, customs=customs
        )
        return _Made(document, unnumbered, customs)
    if walk.same:
        if previous.document is None:
            return None
        changed = walk.number != previous.number
        return _Made(
            previous.document.once_more(),
            latest=PreviousWalk(walk.number, previous.parts, previous.document) if changed else None,
        )
    parts = Parts(previous.parts)
    try:
        document = nodes_of(
            walk,
            installed.ids,
            frame_id=request.frame_id,
            parts=parts,
            unnumbered=unnumbered,
            customs=customs,
        )
    except PartChanged:
        return None
    document.parts_reused = parts.reused
    before = None if previous.document is None else previous.document.shared
    document.shared = SharedNodes(parts.tops())
    if before is not None:
        document.shared.memos = before.memos
    keep = PreviousWalk(walk.number, parts.found, document) if walk.number else NO_WALK
    return _Made(document, unnumbered, customs, keep)


def _keep(request: FrameRequest, installed: Installed, latest: PreviousWalk) -> None:
    """Keep parts for the next walk, and drop the parts of the least recently read documents."""
    installed.previous = latest
    keeping = [each for each in list_walks(request.session) if each.previous.number]
    for each in keeping[:-_FRAMES_WITH_PARTS]:
        each.previous = NO_WALK


async def _run_walk(
    request: FrameRequest,
    installed: Installed,
    previous: PreviousWalk | None,
    listening: Listening,
    customs: CustomElements,
    *,
    waited: bool,
) -> Walk | None:
    """Run the walk once, and queue the query for listeners. None if its world has another document by now."""
    number = None if previous is None else previous.number
    what = _walk_request(request, number, plain=installed.plain, mark=listening.can_ask, waited=waited)
    first = installed.take_first()
    if first is not None:
        listening.take_first(first)
    if first is not None and first.request == what:
        text: str | None = first.text
        await listening.ask()
        customs.ask()
    else:
        with pending_group() as post:
            call = post(await post_walk(request, installed, what))
            await listening.ask()
            customs.ask()
            text = await read_answer(call)
    return None if text is None else decode_walk(text)


def _first_request(request: FrameRequest, may_reuse: bool, waited: bool, plain: bool) -> dict[str, Any]:
    """Return the request for the first walk of a document, which has no previous walk."""
    return _walk_request(
        request, 0 if may_reuse else None, plain=plain, mark=request.clickables, waited=waited
    )


def _walk_request(
    request: FrameRequest, previous_number: int | None, *, plain: bool, mark: bool, waited: bool
) -> dict[str, Any]:
    return {
        "do": "walk",
        "plain": plain,
        "boxes": request.boxes,
        "clickables": request.clickables,
        "pointer": request.pointer,
        "mark": mark,
        "held": previous_number,
        "waited": waited,
    }
