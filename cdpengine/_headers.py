"""HTTP headers as a dictionary whose lookups ignore the case of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, overload

T = TypeVar("T")


class HeaderMapping(dict[str, str]):
    """Headers by name, in the order and case of the message.

    Names are found in any case, as HTTP requires (RFC 9110, section 5.1). Iteration, equality and copies are those
    of a dict: `{**headers, "x-mine": "1"}` is a plain one. Values of a repeated header are separated by line
    breaks, as in Chrome's protocol.
    """

    @classmethod
    def joined(cls, pairs: Iterable[tuple[str, str]]) -> HeaderMapping:
        """Return the headers of a message that repeats names."""
        headers = cls()
        for name, value in pairs:
            known = headers._known(name)
            headers[known or name] = value if known is None else f"{headers[known]}\n{value}"
        return headers

    def __missing__(self, name: str) -> str:
        known = self._known(name)
        if known is None:
            raise KeyError(name)
        return self[known]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._known(name) is not None

    @overload
    def get(self, name: str, default: None = None, /) -> str | None: ...
    @overload
    def get(self, name: str, default: str, /) -> str: ...
    @overload
    def get(self, name: str, default: T, /) -> str | T: ...
    def get(self, name: str, default: object = None, /) -> object:
        """Return a header's value, or the default."""
        known = self._known(name)
        return default if known is None else self[known]

    def _known(self, name: str) -> str | None:
        if super().__contains__(name):
            return name
        lowered = name.lower()
        return next((each for each in self if each.lower() == lowered), None)
