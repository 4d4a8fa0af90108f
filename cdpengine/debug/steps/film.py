"""FilmStrip: pictures of a page while it changes, from Chrome's screencast.

Rule: Chrome keeps at most two pictures unconfirmed, so the pause before a confirmation limits the rate and the
cost. A screencast of the program pauses the pictures.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.page import ScreencastFrameEvent
from cdpengine._protocol.streams import Event
from cdpengine._protocol.wire import span as action_span
from cdpengine.debug.steps.documents import SPAN
from cdpengine.debug.steps.step_file import StepFile
from cdpengine.errors import EngineError

_PAUSE = 0.25
"""Time before a picture is confirmed, in seconds."""

_OPTIONS = {"format": "jpeg", "quality": 55, "maxWidth": 480, "maxHeight": 360}


class FilmStrip:
    """The pictures of one page. `began` is the start of the trace on trio's clock."""

    def __init__(
        self, page: PageTarget, number: int, file: StepFile, began: float, nursery: trio.Nursery
    ) -> None:
        self._target = page
        self._session = page.session
        self._page = number
        self._file = file
        self._began = began
        self._nursery = nursery
        self._pictures = 0

    def begin(self) -> None:
        """Start the screencast without waiting. It runs from the page's set-up on."""
        self._target.film = self
        if not self._target.has_screencast:
            self.resume()

    def resume(self) -> None:
        """Start the screencast without waiting."""
        self._session.on_event("Page.screencastFrame", self._take)
        self._send("Page.startScreencast", **_OPTIONS)

    def pause(self) -> None:
        """Stop the screencast without waiting."""
        self._session.off_event("Page.screencastFrame", self._take)
        self._send("Page.stopScreencast")

    def end(self) -> None:
        """End the pictures without waiting."""
        self._target.film = None
        if not self._target.has_screencast:
            self.pause()

    def _take(self, event: Event) -> None:
        with suppress(EngineError):
            frame = event.decode(ScreencastFrameEvent)
            now = trio.current_time() - self._began
            self._pictures += 1
            name = f"pictures/{self._page}-{self._pictures}.jpg"
            self._file.add_blob(name, decode_bytes("Page.screencastFrame", frame.data))
            size = [frame.metadata.device_width, frame.metadata.device_height]
            self._file.add(
                {"k": "picture", "page": self._page, "t": round(now, 4), "name": name, "size": size}
            )
            self._nursery.start_soon(self._confirm, frame.session_id)

    async def _confirm(self, number: int) -> None:
        await trio.sleep(_PAUSE)
        self._send("Page.screencastFrameAck", sessionId=number)

    def _send(self, method: str, **params: object) -> None:
        with action_span(SPAN), suppress(EngineError):
            self._session.post(method, **params)
