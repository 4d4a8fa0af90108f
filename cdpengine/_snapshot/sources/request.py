"""FrameRequest: what a source of nodes is asked for: one frame's document, and how much of it.

Rule: a source is `async (FrameRequest) -> Document`. It has no deadline of its own; `seconds` is its share of the
time, so that work inside the page stops by itself in time.
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session


@attrs.frozen(kw_only=True)
class FrameRequest:
    """One frame's document.

    `session` is that of the process in which the frame runs, `worlds` the engine's isolated worlds of this page,
    `loader_id` the document that was there when the request was made. `root` is a backend node id: only what is
    in it. `boxes` fills `Node.box` and `Document.viewport`, `raw` keeps `Document.ax`. `clickables` looks for
    what the page made clickable, and fills `Node.clickable`; `pointer` also marks whatever has the cursor of a
    pointer by its own doing, links and buttons included. `fresh` takes nothing from earlier walks of the
    document, and leaves nothing to later ones: the nodes are its own. `owners` are the backend node ids of
    elements that own frames, as far as they are known: these are shown whatever roles they have.
    """

    session: Session
    worlds: IsolatedWorlds
    frame_id: str
    loader_id: str
    root: int | None = None
    seconds: float = math.inf
    boxes: bool = False
    clickables: bool = False
    pointer: bool = False
    raw: bool = False
    fresh: bool = False
    owners: AbstractSet[int] = frozenset()

    def within(self, seconds: float) -> FrameRequest:
        """Return the same request with another share of the time."""
        return FrameRequest(
            session=self.session,
            worlds=self.worlds,
            frame_id=self.frame_id,
            loader_id=self.loader_id,
            root=self.root,
            seconds=seconds,
            boxes=self.boxes,
            clickables=self.clickables,
            pointer=self.pointer,
            raw=self.raw,
            fresh=self.fresh,
            owners=self.owners,
        )
