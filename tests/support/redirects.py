"""Chains of redirects as Chrome tells of them: every order in which its two sources of events can be merged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs

Told = tuple[str, dict[str, Any]]
"""An event: its name in the Network domain, and what it says beside the request's id."""


@attrs.frozen
class Chain:
    """Requests of one id. `extra` says for each whether headers are told as they went over the network.

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

    def requests(self) -> list[Told]:
        """What the browser's or the page's process tells, in its order."""
        told: list[Told] = []
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
            told.append(
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
            told.append(("responseReceived", response))
        if self.ending == "finished":
            told.append(("loadingFinished", {"timestamp": 10.0, "encodedDataLength": 1}))
        else:
            told.append(("loadingFailed", {"timestamp": 10.0, "errorText": "net::ERR_FAILED"}))
        return told

    def headers(self) -> list[Told]:
        """What the network service tells, in its order."""
        told: list[Told] = []
        for hop in self.hops:
            if self.extra[hop]:
                told.append(("requestWillBeSentExtraInfo", {"headers": {"X-Hop": f"sent {hop}"}}))
                answered = {"X-Hop": f"answered {hop}", "Set-Cookie": f"hop={hop}"}
                if not (self.ending == "unanswered" and hop == self.hops[-1]):
                    told.append(
                        (
                            "responseReceivedExtraInfo",
                            {"headers": answered, "statusCode": self.status(hop)},
                        )
                    )
        return told

    def orders(self) -> Iterator[list[Told]]:
        """Give every order of all events in which each source keeps its own."""
        first, second = self.requests(), self.headers()
        every = len(first) + len(second)
        for places in itertools.combinations(range(every), len(second)):
            one, other = iter(first), iter(second)
            yield [next(other if place in places else one) for place in range(every)]

    def sent(self, hop: int) -> str:
        """The header X-Hop of a request, as it is in the end."""
        return f"{'sent' if self.extra[hop] else 'plain'} {hop}"

    def answered(self, hop: int) -> dict[str, str]:
        """The headers of a response, as they are in the end."""
        if self.extra[hop]:
            return {"X-Hop": f"answered {hop}", "Set-Cookie": f"hop={hop}"}
        return {"X-Hop": f"plain {hop}"}


def chains() -> list[Chain]:
    """Every chain of one to three requests, with and without extra headers, in each of its endings."""
    return [
        Chain(extra, ending)
        for length in (1, 2, 3)
        for extra in itertools.product((True, False), repeat=length)
        for ending in ("finished", "failed", "unanswered")
    ]
