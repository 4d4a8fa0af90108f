"""Server-sent events: a session's journal, sent to one client.

Rule: each client reads the journal at its pace; if it is too slow, a `lost` event counts the events that it
missed. Each event has an id; a client that sends it (Last-Event-ID) continues after that event. The last event
is `end`, with the reason. A comment every few seconds keeps the connection alive and renews the id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import attrs
import trio
from starlette.responses import Response

from cdpengine import _json
from cdpengine.service.events.journal import Ended, Entry, Journal
from cdpengine.service.guard import Receive, Send

EVENTS: Mapping[str, str] = {
    "pageOpened": "A page was opened: `url`, `opener`.",
    "pageClosed": "A page was closed.",
    "pageCrashed": "A page's renderer ended; a navigation brings it back.",
    "navigation": "The page's main frame shows another document, or `sameDocument`: another URL of it.",
    "console": "A message of the console: `level`, `text`, `url`, `line`, `source`.",
    "pageError": "An uncaught exception or rejection: `text`, `url`, `line`.",
    "request": "A request begins: `request` is its id; `method`, `url`, `type`.",
    "response": "Its response headers arrived: `status`.",
    "requestEnded": "It ended; `failure` is the reason if it failed.",
    "dialog": "A dialog opened: `type`, `text`.",
    "dialogClosed": "It was answered: `accepted`.",
    "download": "A download begins: `guid`, `url`, `suggestedFilename`.",
    "downloadEnded": "It ended: `state` is completed, canceled or refused; `bytes`.",
    "lost": "Events are missing here: `count`, null if unknown; `reason`.",
    "end": "The last event: `reason`, and `message` for people.",
}
"""The names of events and their meanings."""

_ALWAYS = frozenset({"lost", "end"})


@attrs.frozen(kw_only=True)
class EventFilter:
    """A client's choice of a page and of events; None means all of them."""

    target_id: str | None = None
    names: frozenset[str] | None = None

    def matches(self, entry: Entry) -> bool:
        """Whether the client wants the entry."""
        if self.target_id is not None and entry.target_id not in (self.target_id, ""):
            return False
        return self.names is None or entry.name in self.names or entry.name in _ALWAYS


class EventsResponse(Response):
    """The events of a journal after a number, as they are added. `missed` is the reason for a first `lost` event.

    `heartbeat` is in seconds; `left` is called once when the client has all events or has disconnected.
    """

    def __init__(
        self,
        journal: Journal,
        chosen: EventFilter,
        *,
        after: int,
        missed: str = "",
        heartbeat: float,
        left: Callable[[], None],
    ) -> None:
        super().__init__(
            media_type="text/event-stream", headers={"cache-control": "no-store", "x-accel-buffering": "no"}
        )
        # The body has no known length.
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        self._journal, self._filter = journal, chosen
        self._after, self._missed, self._heartbeat, self._left = after, missed, heartbeat, left

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Send events until the journal ends or the client disconnects."""
        try:
            await self._serve(receive, send, only_headers=scope["method"] == "HEAD")
        finally:
            self._left()

    async def _serve(self, receive: Receive, send: Send, *, only_headers: bool) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if only_headers:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            await self._send_all(send)
            nursery.cancel_scope.cancel()
        # Outside of the nursery, because the server also reports the end of a response as a disconnect.
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        journal, number = self._journal, self._after

        async def put(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        lost = {"count": None, "reason": self._missed}
        await put(_event(journal.id_of(number), "lost", lost) if self._missed else _beat(journal, number))
        while True:
            count, entries = journal.after(number)
            if count:
                number += count
                reason = "this client was away or too slow"
                await put(_event(journal.id_of(number), "lost", {"count": count, "reason": reason}))
            for entry in entries:
                number = entry.number
                if self._filter.matches(entry):
                    await put(_raw_event(journal.id_of(number), entry.name, entry.data))
                if entry.name == "pageClosed" and entry.target_id == self._filter.target_id:
                    await put(_end(journal, number, Ended("pageClosed", "the page was closed")))
                    return
            if count or entries:
                continue
            if journal.ended is not None:
                await put(_end(journal, number, journal.ended))
                return
            with trio.move_on_after(self._heartbeat) as pause:
                await journal.wait_beyond(number)
            if pause.cancelled_caught:
                await put(_beat(journal, number))


def _beat(journal: Journal, number: int) -> str:
    # Clients also remember an id that is sent without data. So filtered events do not count as lost.
    return f": {journal.key}\nid: {journal.id_of(number)}\n\n"


def _end(journal: Journal, number: int, ended: Ended) -> str:
    return _event(journal.id_of(number), "end", {"reason": ended.reason, "message": ended.message})


def _event(entry_id: str, name: str, fields: Mapping[str, Any]) -> str:
    return _raw_event(entry_id, name, _json.encode_ascii(fields))


def _raw_event(entry_id: str, name: str, data: str) -> str:
    return f"id: {entry_id}\nevent: {name}\ndata: {data}\n\n"
