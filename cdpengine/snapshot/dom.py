"""The source `dom`: one frame's document out of the DOM alone.

Rule: it asks nothing of Chrome's accessibility engine, so it works where that fails, is missing, or would take
too long: the same walk as `computed`, with roles and names worked out in the page by ARIA's and HTML's rules.
What it says otherwise than the accessibility tree does is in docs/snapshots.md.
"""

from __future__ import annotations

from functools import cache

from cdpengine.js import script
from cdpengine.snapshot.computed import Clickables, read_clickables, read_walk
from cdpengine.snapshot.node import Document
from cdpengine.snapshot.request import FrameRequest


@cache
def role_and_name_source() -> str:
    """Return the source of a function that returns `{ roleOf, nameOf }`, anew at each call."""
    parts = ", ".join(f"{script(part)}()" for part in ("dom_roles", "dom_text", "secret_field"))
    return f"() => {script('dom_names')}({parts})"


async def read_dom(request: FrameRequest) -> Document:
    """Return the frame's document as the DOM has it, without the accessibility engine.

    Linear in the size of the document. Closed shadow roots are not in it. Raises as `Session.call` does;
    RemoteError also when the frame is gone, or gets new documents all the time.
    """
    return await read_walk(request, role_and_name_source(), "dom")


async def dom_clickables(request: FrameRequest) -> Clickables:
    """Return what the frame's page made clickable without saying so, whatever reads the rest of the document.

    Raises as `read_dom` does.
    """
    return await read_clickables(request, role_and_name_source())
