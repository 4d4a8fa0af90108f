"""Captures: the nodes of all documents of a process and their layout, by `DOMSnapshot.captureSnapshot`.

Rule: one call gives every document of the session's process, and nothing asks for one element at a time.
"""

from __future__ import annotations

import json

import msgspec

from cdpengine._protocol.domains.dom_snapshot import Capture
from cdpengine._protocol.session import Session
from cdpengine.errors import UndecodableReplyError


async def fetch_capture(session: Session) -> Capture:
    """Capture all documents of the session's process, in one call.

    Raises as `Session.request` does; a reply with half a surrogate pair in a text of the page is read all the
    same.
    """
    params = {"computedStyles": [], "includePaintOrder": False, "includeDOMRects": False}
    try:
        return await session.request("DOMSnapshot.captureSnapshot", params, Capture)
    except UndecodableReplyError as refused:
        try:
            return msgspec.convert(json.loads(refused.raw), Capture)
        except (ValueError, RecursionError):
            raise refused from None
