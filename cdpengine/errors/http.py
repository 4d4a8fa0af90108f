"""Errors of HTTP requests that the program sends itself."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import shown_url


@attrs.define(eq=False, slots=False, str=False, repr=False)
class HttpRequestFailedError(EngineError):
    """An HTTP request has no response: the server was not reached, or it broke the protocol."""

    method: str
    url: str
    reason: str

    def _describe(self) -> str:
        return f"{self.method} {shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class HttpStatusError(EngineError):
    """The response to an HTTP request has a status of 400 or more, and `fail_on_status` is set."""

    method: str
    url: str
    status: int
    status_text: str = ""

    def _describe(self) -> str:
        words = f" {self.status_text}" if self.status_text else ""
        return f"{self.method} {shown_url(self.url)} failed: the server answered {self.status}{words}"
