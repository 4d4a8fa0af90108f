"""Event: one protocol event as a subscriber sees it, and the patterns that choose events.

Rule: the payload is raw until somebody looks at it, and is decoded once however many subscribers look.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from cdpengine._protocol.messages import decode_payload
from cdpengine.errors import InvalidArgumentError, UndecodableReplyError

T = TypeVar("T")

_METHOD = re.compile(r"[A-Za-z][A-Za-z0-9]*\.[A-Za-z][A-Za-z0-9]*\Z")
_DOMAIN = re.compile(r"([A-Za-z][A-Za-z0-9]*)\.\*\Z")


class Event:
    """One event: `method` ("Network.requestWillBeSent"), `session_id`, and its parameters."""

    __slots__ = ("_params", "method", "raw", "session_id")

    def __init__(self, method: str, session_id: str | None, raw: msgspec.Raw | bytes) -> None:
        self.method = method
        self.session_id = session_id
        self.raw = raw or b"{}"
        self._params: dict[str, Any] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as a dict, decoded when first looked at. Shared by all subscribers: do not change it.

        Raises UndecodableReplyError, with the raw JSON, when they are not an object.
        """
        if self._params is None:
            self._params = self.decode(dict[str, Any])
        return self._params

    def decode(self, kind: type[T]) -> T:
        """Decode the parameters straight into `kind`.

        Raises UndecodableReplyError when they have another shape.
        """
        try:
            return decode_payload(self.raw, kind)
        except msgspec.DecodeError as error:
            raise UndecodableReplyError(
                method=self.method, reason=str(error), raw=bytes(self.raw), is_event=True
            ) from None

    def typed(self) -> Any:
        """Return PyCDP's class for this event, such as `cdp.page.LoadEventFired`.

        Raises UndecodableReplyError, with the raw JSON, when PyCDP does not know the event, or not in this shape:
        its vocabulary is of 2020.
        """
        import cdp.util

        try:
            return cdp.util.parse_json_event({"method": self.method, "params": self.params})
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            reason = f"PyCDP cannot decode it ({type(error).__name__}: {error})"
            raise UndecodableReplyError(
                method=self.method, reason=reason, raw=bytes(self.raw), is_event=True
            ) from error

    def __repr__(self) -> str:
        return f"<Event {self.method} ({len(bytes(self.raw))} bytes) session={self.session_id}>"


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a test for method names: "Page.loadEventFired", "Network.*", or "*" for all.

    Raises InvalidArgumentError for anything else.
    """
    if not isinstance(pattern, str):
        raise InvalidArgumentError(what="event pattern", given=repr(pattern), expected="a string")
    if pattern == "*":
        return lambda _method: True
    if domain := _DOMAIN.match(pattern):
        prefix = domain[1] + "."
        return lambda method: method.startswith(prefix)
    if _METHOD.match(pattern):
        return lambda method: method == pattern
    raise InvalidArgumentError(
        what="event pattern", given=repr(pattern), expected='"Domain.event", "Domain.*" or "*"'
    )


def domain_of(pattern: str) -> str | None:
    """Return the domain that a pattern asks for, None for "*"."""
    return None if pattern == "*" else pattern.split(".", 1)[0]
