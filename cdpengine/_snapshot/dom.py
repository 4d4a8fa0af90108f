"""The source `dom`: one frame's document out of the DOM alone.

Rule: it asks nothing of Chrome's accessibility engine, so it works where that fails, is missing, or would take
too long: the same walk as `computed`, with roles and names worked out in the page by ARIA's and HTML's rules.
What it says otherwise than the accessibility tree does is in docs/snapshots.md.
"""

from __future__ import annotations

from cdpengine._snapshot.computed import read_walk
from cdpengine._snapshot.dom_kit import role_and_name_source
from cdpengine._snapshot.node import Document
from cdpengine._snapshot.request import FrameRequest


async def read_dom(request: FrameRequest) -> Document:
    """Return the frame's document as the DOM has it, without the accessibility engine.

    Linear in the size of the document. Closed shadow roots are not in it. Raises as `Session.call` does;
    RemoteError also when the frame is gone, or gets new documents all the time.
    """
    return await read_walk(request, role_and_name_source(), "dom")
