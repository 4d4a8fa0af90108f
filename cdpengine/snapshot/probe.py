"""The probe: a quick look at a document, before anything is asked for that cannot be stopped again.

Rule: one evaluation in the frame's isolated world, of milliseconds, that leaves nothing there.
"""

from __future__ import annotations

from functools import cache

import msgspec

from cdpengine.errors import UndecodableReply
from cdpengine.js import own, script
from cdpengine.snapshot.forecast import Probe
from cdpengine.snapshot.request import FrameRequest


class _Remote(msgspec.Struct):
    value: Probe | None = None


class _Evaluated(msgspec.Struct, rename="camel"):
    result: _Remote
    exception_details: msgspec.Raw = msgspec.Raw(b"")


@cache
def _source() -> str:
    return own(f"({script('probe')})()")


async def probe(request: FrameRequest) -> Probe:
    """Count what the cost of the frame's accessibility tree depends on. Two round trips.

    Raises as `Session.request` does: RemoteError when the frame or its document is gone.
    """
    context = await request.worlds.context(request.session, request.frame_id)
    params = {
        "expression": _source(),
        "contextId": context,
        "returnByValue": True,
        "silent": True,
    }
    reply = await request.session.request("Runtime.evaluate", params, _Evaluated)
    if reply.result.value is None:
        raise UndecodableReply(
            method="Runtime.evaluate", reason="the probe gave no counts", raw=bytes(reply.exception_details)
        )
    return reply.result.value
