"""OriginPage: an empty document of any origin, unseen, for as long as a block runs.

Rule: storages can be reached only from a frame of their origin. This one is a target that is in no window; what it
loads is made here, so nothing goes to the network, no service worker is asked, and no script of the site runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import attrs

from cdpengine._budget import undoing
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.domains.page import FrameNavigated, NavigateReply
from cdpengine._protocol.domains.target import AttachToTargetReply, CreateTargetReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._storage.storage_items import StorageItems, top_storage_key
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError, StorageUnavailableError

_GRACE = 2.0
"""Seconds that closing may take when the block ends."""

_EMPTY = "PCFkb2N0eXBlIGh0bWw+"  # <!doctype html>


@attrs.frozen(eq=False)
class OriginPage:
    """The unseen page; `session` is its own."""

    session: Session

    async def go(self, origin: str) -> StorageItems:
        """Be at `origin`, and return its local storage. Raises StorageUnavailableError where Chrome will not."""
        # The reply comes before the document is there.
        async with self.session.subscribe("Page.frameNavigated", enable=False) as commits:
            reply = await self.session.request("Page.navigate", {"url": f"{origin}/"}, NavigateReply)
            if reply.error_text:
                raise StorageUnavailableError(origin=origin, reason=f"Chrome says {reply.error_text}")
            while (
                frame := (await commits.receive()).decode(FrameNavigated).frame
            ).loader_id != reply.loader_id:
                pass
        if frame.security_origin != origin:
            raise StorageUnavailableError(
                origin=origin, reason=f"Chrome goes to {frame.security_origin} instead"
            )
        return StorageItems(self.session, top_storage_key(origin), local=True)


@asynccontextmanager
async def open_origin_page(
    root: Session, creations: RemoteResources, context_id: str | None
) -> AsyncIterator[OriginPage]:
    """Open an unseen page in a context, and close it with the block. Raises RemoteError, ConnectionLostError."""
    params: dict[str, object] = {"url": "about:blank", "hidden": True, "background": True}
    if context_id is not None:
        params["browserContextId"] = context_id

    async def close(made: CreateTargetReply) -> None:
        await root.call("Target.closeTarget", targetId=made.target_id)

    made = await creations.create("Target.createTarget", params, CreateTargetReply, close)
    try:
        session = await _attached(root, made.target_id)
        session.on_event("Fetch.requestPaused", lambda event: _answer(session, event))
        for call in [
            session.post("Fetch.enable", patterns=[{"urlPattern": "*"}]),
            session.post("Network.enable"),
            session.post("Network.setBypassServiceWorker", bypass=True),
            session.post("Page.enable"),
        ]:
            await call.raw()
        yield OriginPage(session)
    finally:
        # Gone with the connection or the context: either way it is gone.
        with undoing(_GRACE), suppress(ConnectionLostError, RemoteError):
            await close(made)


async def _attached(root: Session, target_id: str) -> Session:
    reply = await root.request(
        "Target.attachToTarget", {"targetId": target_id, "flatten": True}, AttachToTargetReply
    )
    session = root.connection.targets.sessions.get(reply.session_id)
    if session is None:
        raise SessionGoneError(target=f"page {target_id[:8]}", reason="it was closed at once")
    return session


def _answer(session: Session, event: Event) -> None:
    """Give the document that was asked for; nothing else is loaded. In the reader: sent, not waited for."""
    paused = event.decode(RequestPaused)
    if session.error() is not None:
        return
    if paused.resource_type == "Document":
        headers = [
            {"name": "Content-Type", "value": "text/html"},
            {"name": "Cache-Control", "value": "no-store"},
        ]
        session.post(
            "Fetch.fulfillRequest",
            requestId=paused.request_id,
            responseCode=200,
            responseHeaders=headers,
            body=_EMPTY,
        )
    else:
        session.post("Fetch.failRequest", requestId=paused.request_id, errorReason="BlockedByClient")
