"""The look at a JavaScript property of an element, in the page's own world.

Rule: scripts of the page define such properties, so only a script in the same world sees them and their changes.
While an assertion waits, one object in the page compares the property with its last value every 50 ms. It is
replaced at each look, and stopped at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import attrs
import msgspec

from cdpengine._api.assertions.elements import ElementLook, Verdict
from cdpengine._api.assertions.waiting import Observation
from cdpengine._budget import Budget
from cdpengine._javascript import script
from cdpengine._page.navigation.documents import DocumentGone, FrameWatches, document_error
from cdpengine._page.scripts.page_functions import (
    SETTLED_VALUE,
    ObjectGroup,
    RemoteHandle,
    new_group,
    object_of_node,
    post_resolve,
)
from cdpengine._page.search.locator import FoundNode
from cdpengine._page.search.readings import ReadingRequest, read_nodes
from cdpengine._protocol.calls import pending_group
from cdpengine.errors import ConnectionLostError, EvaluationFailedError, RemoteError, SessionGoneError

_NOW = "function () { return this.now(); }"
_NEXT = "function (known) { return this.next(known); }"
_STOP = "function () { this.stop(); }"

_OF_FIELDS = frozenset({"value", "defaultValue"})
"""Properties that have the content of a secret field."""


class PropertyReading(msgspec.Struct):
    """A property as JSON; not `found` if it is undefined or has no JSON. `secret`: it must not be displayed."""

    found: bool = False
    json: str = ""
    secret: bool = False


@attrs.define(eq=False)
class PropertyLook:
    """A look at the property `path` of the single element, and the watch of its changes."""

    element: ElementLook
    path: Sequence[str]
    judge: Callable[[PropertyReading], Verdict]
    changes: int = 0
    _watch: RemoteHandle | None = None
    _known: str = ""
    _group: ObjectGroup = attrs.field(factory=lambda: new_group("property"))

    async def look(self, watches: FrameWatches | None, budget: Budget) -> Observation:
        """Return the present state, and let `follow` wait for its change."""
        found = await self.element.find(budget)
        if (early := self.element.without_single(found)) is not None:
            return early
        reading = await self._read(found[0], watches)
        if reading is None:
            return self.element.observe_removal()
        return self.element.observe(self.judge(reading))

    async def follow(self) -> None:
        """Count the changes of the property, and notify the waiting assertion, until cancelled."""
        target = self.element.core.target
        try:
            while True:
                watch = await target.changes.wait_for(lambda: self._watch)
                with suppress(RemoteError, EvaluationFailedError, SessionGoneError, ConnectionLostError):
                    await watch.call(_NEXT, self._known, returns=object, how=SETTLED_VALUE)
                if watch is self._watch:
                    self._watch = None
                    self.changes += 1
                    target.changes.notify()
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop the watch in the page without waiting."""
        if self._watch is not None:
            self._watch.send(_STOP)
            self._watch = None
        self._group.release()

    async def _read(self, node: FoundNode, watches: FrameWatches | None) -> PropertyReading | None:
        """Return the property, or None if Chrome no longer knows the element."""
        core = self.element.core
        frame = core.target.frames.get(node.frame_id)
        if frame is None or frame.loader_id != node.loader_id:
            raise DocumentGone(node.frame_id)
        self.stop()
        source = f"function (path) {{ return ({script('_api/assertions/property')})(this, path); }}"
        try:
            with pending_group() as post:
                resolution = post(post_resolve(frame.session, node.backend_node_id, self._group))
                element = await object_of_node(resolution, frame.session)
            watch = await element.make(source, list(self.path), group=self._group)
            if watch is None:
                raise DocumentGone(node.frame_id)
            reading = await watch.call(_NOW, returns=PropertyReading)
        except RemoteError as error:
            if isinstance(gone := document_error(error), DocumentGone):
                raise gone from None
            return None
        if self.path[-1] in _OF_FIELDS:
            (content,) = await read_nodes(core.target, core.worlds, [node], ReadingRequest("value"), None)
            reading.secret = content.secret
        self._known, self._watch = reading.json, watch
        if watches is None:
            self.stop()
        else:
            core.target.changes.notify()
        return reading
