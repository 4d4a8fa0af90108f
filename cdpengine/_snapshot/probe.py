"""The probe: a quick look at a document, before anything is asked for that cannot be stopped again.

Rule: one evaluation in the frame's isolated world, of milliseconds, that leaves nothing there.
"""

from __future__ import annotations

from functools import cache

from cdpengine._page.scripts.page_functions import VALUE
from cdpengine._snapshot.forecast import Probe
from cdpengine._snapshot.request import FrameRequest
from cdpengine.js import own, script


@cache
def _source() -> str:
    return own(f"({script('probe')})()")


async def probe(request: FrameRequest) -> Probe:
    """Count what the cost of the frame's accessibility tree depends on. Two round trips.

    Raises as `ExecutionContext.call` does: RemoteError when the frame or its document is gone.
    """
    context = await request.worlds.context(request.session, request.frame_id)
    return await context.evaluate(_source(), returns=Probe, how=VALUE | {"silent": True})
