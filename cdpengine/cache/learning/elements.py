"""Elements: descriptions of the nodes that actions target, from a snapshot taken before the action.

Rule: every read has a time limit. An unreadable value is None and never fails the learned verb. If the
snapshot does not contain a node, the enclosing button, link or similar control replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import trio

from cdpengine import Page, Snapshot
from cdpengine._api.page.core import ElementTarget
from cdpengine._api.page.snapshots import look_at_page
from cdpengine._javascript import own, script, script_with
from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply
from cdpengine._page.scripts.page_functions import Node as BrowserNode
from cdpengine._page.scripts.page_functions import RemoteHandle, object_group
from cdpengine._page.search.locator import BaseLocator
from cdpengine._protocol.domains.page import LayoutMetricsReply
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.render.lines import RefsFor
from cdpengine._snapshot.roles import INTERACTIVE_ROLES
from cdpengine.cache.entries import Viewport
from cdpengine.cache.learning.drafts import Element
from cdpengine.cache.learning.fields import NO_FACTS, FieldFacts
from cdpengine.cache.learning.outcomes import PageView, clean_target
from cdpengine.cache.learning.templating import Templating
from cdpengine.cache.origins import frame_origin
from cdpengine.cache.targets import describe_target
from cdpengine.errors import EngineError

SETTLING = 1.0
"""Maximum time for a page to settle before it is read, in seconds."""

READING = 10.0
"""Maximum time to read a page, in seconds."""

DESCRIBING = 1.0
"""Maximum time to read the field facts and the ancestors of a node, in seconds."""

_MEASURING = 2.0
"""Maximum time to read the viewport, in seconds."""

_REFS: tuple[RefsFor, ...] = ("actions", "all")

_AROUND = own(script("cache/learning/around"))
_FOCUSED = own(script("cache/learning/focused"))


class ElementReader:
    """A reader of one page during learning."""

    def __init__(self, page: Page, templating: Templating) -> None:
        self._page = page
        self._core = page.internals
        self._templating = templating

    def view(self, snapshot: Snapshot | None = None) -> PageView:
        """Return the current URL and document without a request to the page, together with `snapshot`."""
        main = self._core.target.frames.main
        return PageView(
            snapshot=snapshot,
            url=main.url,
            document=main.loader_id,
            loaded=main.reached(main.loader_id, "load"),
        )

    async def look(self, *, settle: bool = True, refs: RefsFor = "actions") -> PageView:
        """Read the page after it settles. On a timeout, the view has no snapshot."""
        snapshot: Snapshot | None = None
        with suppress(EngineError):
            await self._rest(SETTLING if settle else 0)
            if not await self._page.measure.unresponsive_for():
                snapshot = await look_at_page(self._core, refs=refs, timeout=READING)
        return self.view(snapshot)

    async def _rest(self, seconds: float) -> None:
        if seconds:
            with suppress(EngineError):
                await self._page.settled(timeout=seconds)

    def node_of(self, target: ElementTarget) -> BrowserNode | None:
        """Return the node of a target. Return None for a locator and for a removed node."""
        if isinstance(target, BaseLocator):
            return None
        with suppress(EngineError):
            return self._core.node(target)
        return None

    async def focused(self) -> BrowserNode | None:
        """Return the node with keyboard focus, or None."""
        with _limit(DESCRIBING), suppress(EngineError):
            for frame in self._core.target.frames:
                context = await self._core.worlds.context(frame.session, frame.id)
                with object_group("learning") as group:
                    found = await context.make(_FOCUSED, group=group)
                    if found is not None:
                        number = await found.backend_node_id()
                        return BrowserNode(frame.session, number, frame.id, "the focused element")
        return None

    async def describe(
        self, node: BrowserNode, snapshot: Snapshot | None, *, seconds: float = DESCRIBING
    ) -> Element | None:
        """Return the description of a node, or None. If `snapshot` lacks the node, take a new snapshot."""
        facts, around = NO_FACTS, [node.backend_node_id]
        with _limit(min(seconds, DESCRIBING)), suppress(EngineError), object_group("learning") as group:
            handle = await self._core.worlds.resolve(node, group)
            facts = await handle.call(_facts_script(), {}, returns=FieldFacts)
            around = await _numbers_around(handle)
        return await self.describe_around(node, around, snapshot, facts, seconds=seconds)

    async def describe_around(
        self,
        node: BrowserNode,
        around: list[int],
        snapshot: Snapshot | None,
        facts: FieldFacts,
        *,
        seconds: float = DESCRIBING,
    ) -> Element | None:
        """Describe a node whose facts are known.

        around: backend node ids of the node and its ancestors, innermost first.
        """
        seen = self.find(node, around, snapshot)
        if seen is None:
            with _limit(seconds):
                for refs in _REFS:
                    snapshot = (await self.look(settle=False, refs=refs)).snapshot
                    if (seen := self.find(node, around, snapshot)) is not None:
                        break
        if seen is None or snapshot is None:
            return None
        return self._element(seen, snapshot, facts)

    def describe_by_name(self, role: str, name: str, snapshot: Snapshot | None) -> Element | None:
        """Return the only element with this role and name. Return None if none or several match."""
        refs = () if snapshot is None or not name else snapshot.refs.values()
        named = [ref for ref in refs if (ref.role, ref.name) == (role, name)]
        return (
            self._element(named[0], snapshot, NO_FACTS) if snapshot is not None and len(named) == 1 else None
        )

    def _element(self, seen: Ref, snapshot: Snapshot, facts: FieldFacts) -> Element:
        target = clean_target(describe_target(snapshot, seen.id), self._templating)
        origin = frame_origin(self._core.target.frames, seen.frame_id)
        node = seen.session_id, seen.backend_node_id
        return Element(target=target, facts=facts, node=node, origin=origin)

    def find(self, node: BrowserNode, around: list[int], snapshot: Snapshot | None) -> Ref | None:
        """Return the ref of the node, or of the enclosing control such as a button or a link.

        A form or a region is no substitute: a click on it would hit another point.
        """
        if snapshot is None:
            return None
        main = self._core.target.frames.main.id
        here = {
            shown.ref.backend_node_id: shown
            for shown in snapshot.nodes
            if shown.ref is not None
            and shown.ref.session_id == node.session.id
            and (shown.ref.frame_id or main) == node.frame_id
        }
        nearest = next((number for number in around if number in here), None)
        if nearest is None:
            return None
        shown = here[nearest]
        whole = shown.clickable or shown.role in INTERACTIVE_ROLES
        return shown.ref if nearest == node.backend_node_id or whole else None


def _facts_script() -> str:
    return script_with("cache/learning/field_facts", "_page/scripts/secret_field")


async def _numbers_around(handle: RemoteHandle) -> list[int]:
    await trio.lowlevel.checkpoint_if_cancelled()
    reply = await handle.post(_AROUND, how=SERIALIZED).decoded(NodesReply)
    if reply.exception_details is not None:
        return []
    return [node.backend_node_id for node in reply.result.deep_serialized_value.nodes()]


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    with trio.move_on_after(max(seconds, 0)):
        yield


async def read_viewport(page: Page) -> Viewport | None:
    """Return the viewport size, or None if the page does not answer."""
    with trio.move_on_after(_MEASURING), suppress(EngineError):
        metrics = await page.session.request("Page.getLayoutMetrics", {}, LayoutMetricsReply)
        size = metrics.css_layout_viewport
        if min(size.client_width, size.client_height) >= 1:
            return Viewport(width=round(size.client_width), height=round(size.client_height))
    return None
