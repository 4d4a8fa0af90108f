"""PageActivityLines: the console, the errors and the requests of a page as lines of a step trace."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import attrs
import trio

from cdpengine._activity import har
from cdpengine._activity.collector import Collector
from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.options import Part
from cdpengine._activity.page_activity import open_stream
from cdpengine._activity.request import Request
from cdpengine._activity.request_state import RequestState
from cdpengine._activity.streams import Kind, RequestEnded
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.wire import span as action_span
from cdpengine.debug.steps.documents import SPAN
from cdpengine.debug.steps.step_file import StepFile
from cdpengine.errors import ConnectionLostError, EngineError, EventsLostError, SessionGoneError

_PARTS: tuple[Part, ...] = ("console", "errors", "requests")

_KINDS: tuple[Kind, ...] = ("console", "errors", "requests", "finished")

_WITH_BODY = frozenset({"Document", "XHR", "Fetch", "EventSource", "Manifest", "Other", "Script"})
"""Resource types whose body is kept. Style sheets, pictures and fonts are resources of the documents."""

_LARGEST_BODY = 262_144
"""Maximum size of a body, in bytes."""

_MOST_OPEN = 1_000
"""Maximum number of requests without an end that are described at the end of the trace, the latest ones."""

_READING_BODY = 2.0
_BUFFER = 5_000


class PageActivityLines:
    """Records the activity of one page. `began` is the start of the trace on trio's clock."""

    def __init__(
        self, collector: Collector, page: int, file: StepFile, began: float, *, redacted: bool
    ) -> None:
        self._collector = collector
        self._page = page
        self._file = file
        self._began = began
        self._redacted = redacted
        self._open: dict[str, RequestState] = {}

    def begin(self) -> None:
        """Switch the parts on, before the first script of a new page."""
        with suppress(SessionGoneError, ConnectionLostError):
            self._collector.acquire(_PARTS)

    def end(self) -> None:
        """Describe the requests that have not ended, and switch the parts off."""
        for state in self._open.values():
            self._add_exchange(_id(state), attrs.evolve(state.exchange))
        with suppress(EngineError):
            self._collector.release(_PARTS)

    async def run(self) -> None:
        """Record until the page ends. Raises nothing."""
        with action_span(SPAN), suppress(EngineError):
            async with (
                open_body_nursery() as nursery,
                open_stream(self._collector, *_KINDS, buffer=_BUFFER) as stream,
            ):
                while True:
                    try:
                        item = await stream.receive()
                    except EventsLostError:
                        continue
                    if isinstance(item, ConsoleMessage):
                        self._add_message(item)
                    elif isinstance(item, PageError):
                        self._add_error(item)
                    elif isinstance(item, Request):
                        self._add_request(item)
                    elif isinstance(item, RequestEnded):
                        nursery.start_soon(self._add_ended, item.request)

    def _line(self, kind: str, **fields: Any) -> None:
        now = round(trio.current_time() - self._began, 4)
        self._file.add({"k": kind, "page": self._page, "t": now, **fields})

    def _add_message(self, message: ConsoleMessage) -> None:
        place = f"{message.url}:{message.line + 1}" if message.url else ""
        self._line("console", level=message.level, type=message.type, text=message.text[:10_000], at=place)

    def _add_error(self, error: PageError) -> None:
        self._line("error", text=str(error)[:10_000], stack=str(error.stack)[:10_000])

    def _add_request(self, request: Request) -> None:
        state = request.internals
        sent = state.exchange.sent
        self._open[state.exchange.id] = state
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        self._line("request", id=_id(state), url=request.url, method=request.method, type=request.type,
                   at=sent.timestamp)  # fmt: skip

    async def _add_ended(self, request: Request) -> None:
        state = request.internals
        self._open.pop(state.exchange.id, None)
        exchange = attrs.evolve(state.exchange)
        if exchange.response is not None and exchange.after is None and not exchange.failure:
            await self._read_body(state, exchange)
        self._add_exchange(_id(state), exchange)

    def _add_exchange(self, request_id: str, exchange: Exchange) -> None:
        at = round(trio.current_time() - self._began, 4)
        size = len(exchange.body or "") + 1_000

        def make() -> dict[str, Any]:
            archive = har.document([exchange], [], cookies=not self._redacted)
            if self._file.redactor is not None:
                archive = har.redacted(archive, self._file.redactor)
            return {
                "k": "response", "page": self._page, "t": at, "id": request_id, "failure": exchange.failure,
                "began": exchange.sent.timestamp, "ended": exchange.finished, "type": exchange.sent.type,
                "entry": archive["log"]["entries"][0],
            }  # fmt: skip

        self._file.add_job(make, size)

    async def _read_body(self, state: RequestState, exchange: Exchange) -> None:
        if exchange.sent.type not in _WITH_BODY:
            exchange.body_comment = "kept as a resource of the document"
        elif exchange.decoded > _LARGEST_BODY:
            exchange.body_comment = f"{exchange.decoded:,} bytes, and at most {_LARGEST_BODY:,} are kept"
        else:
            with trio.move_on_after(_READING_BODY), suppress(EngineError):
                text = (await state.read_body()).text
                if text is None:
                    exchange.body_comment = "binary"
                exchange.body = text


def _id(state: RequestState) -> str:
    redirects, exchange = 0, state.exchange
    while (before := exchange.before) is not None:
        redirects, exchange = redirects + 1, before
    return f"{state.exchange.id}.{redirects}"
