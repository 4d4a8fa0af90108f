"""Chains of redirects in Chrome's events: every order in which its two event sources can be merged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs

EventParams = tuple[str, dict[str, Any]]
"""One event: its name in the Network domain, and its parameters without the request id."""


@attrs.frozen
class Chain:
    """Requests of one id. `extra` records for each request whether Chrome reports the headers of the network
    service.

    `ending` is "finished", "failed" (after the response) or "unanswered" (the last request has no response).
    """

    extra: tuple[bool, ...]
    ending: str = "finished"

    @property
    def hops(self) -> range:
        return range(len(self.extra))

    def status(self, hop: int) -> int:
        return 200 if hop == len(self.extra) - 1 else 302 + hop

    def _response(self, hop: int) -> dict[str, Any]:
        headers = {"X-Hop": f"plain {hop}"}
        return {
            "url": f"https://a.example/{hop}",
            "status": self.status(hop),
            "mimeType": "text/html",
            "headers": headers,
        }

    def requests(self) -> list[EventParams]:
        """Return the events of the browser's or page's process, in order."""
        events: list[EventParams] = []
        for hop in self.hops:
            request = {
                "url": f"https://a.example/{hop}",
                "method": "GET",
                "headers": {"X-Hop": f"plain {hop}"},
            }
            more: dict[str, Any] = {}
            if hop:
                more = {
                    "redirectResponse": self._response(hop - 1),
                    "redirectHasExtraInfo": self.extra[hop - 1],
                }
            events.append(
                (
                    "requestWillBeSent",
                    {
                        "request": request,
                        "type": "XHR",
                        "timestamp": 1.0 + hop,
                        "wallTime": 1.7e9 + hop,
                        **more,
                    },
                )
            )
        if self.ending != "unanswered":
            last = self.hops[-1]
            response = {
                "response": self._response(last),
                "hasExtraInfo": self.extra[last],
                "timestamp": 9.0,
                "type": "XHR",
            }
            events.append(("responseReceived", response))
        if self.ending == "finished":
            events.append(("loadingFinished", {"timestamp": 10.0, "encodedDataLength": 1}))
        else:
            events.append(("loadingFailed", {"timestamp": 10.0, "errorText": "net::ERR_FAILED"}))
        return events

    def headers(self) -> list[EventParams]:
        """Return the events of the network service, in order."""
        events: list[EventParams] = []
        for hop in self.hops:
            if self.extra[hop]:
                events.append(("requestWillBeSentExtraInfo", {"headers": {"X-Hop": f"sent {hop}"}}))
                answered = {"X-Hop": f"answered {hop}", "Set-Cookie": f"hop={hop}"}
                if not (self.ending == "unanswered" and hop == self.hops[-1]):
                    events.append(
                        (
                            "responseReceivedExtraInfo",
                            {"headers": answered, "statusCode": self.status(hop)},
                        )
                    )
        return events

    def orders(self) -> Iterator[list[EventParams]]:
        """Yield every interleaving of all events that keeps the order within each source."""
        first, second = self.requests(), self.headers()
        every = len(first) + len(second)
        for places in itertools.combinations(range(every), len(second)):
            one, other = iter(first), iter(second)
            yield [next(other if place in places else one) for place in range(every)]

    def sent(self, hop: int) -> str:
        """Return the final header X-Hop of a request."""
        return f"{'sent' if self.extra[hop] else 'plain'} {hop}"

    def answered(self, hop: int) -> dict[str, str]:
        """Return the final headers of a response."""
        if self.extra[hop]:
            return {"X-Hop": f"answered {hop}", "Set-Cookie": f"hop={hop}"}
        return {"X-Hop": f"plain {hop}"}


def chains() -> list[Chain]:
    """Yield every chain of one to three requests, with and without extra headers, with each ending."""
    return [
        Chain(extra, ending)
        for length in (1, 2, 3)
        for extra in itertools.product((True, False), repeat=length)
        for ending in ("finished", "failed", "unanswered")
    ]
