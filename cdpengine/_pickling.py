"""What goes between processes, by pickle: values do; what belongs to a connection, a page or a task does not.

Rule: what cannot work elsewhere is refused by name when it is pickled, with what to send in its place, and not
when it is used there. A value that can ask its page for more goes without that page: it keeps all that it has, and
what it would have to ask for is what it is when the page is gone.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from cdpengine.errors import SessionGoneError

Kind = TypeVar("Kind", bound=type[Any])


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _reduce_read_only(mapping: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return _read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduce_read_only)
"""Mappings of our values are read-only; Python pickles none of those by itself."""


def not_picklable(instead: str) -> Callable[[Kind], Kind]:
    """Have a class refuse to be pickled; `instead` says what can be sent in place of its objects."""

    def refuse(self: object, _protocol: object = None) -> NoReturn:
        raise TypeError(
            f"cannot pickle {type(self).__name__}: it works only in the process that made it. "
            f"Send {instead} in its place"
        )

    def decorate(kind: Kind) -> Kind:
        kind.__reduce_ex__ = refuse
        return kind

    return decorate


class DepartedSession:
    """What stands for the session of a value that was pickled: it says whose it was, and answers nothing."""

    def __init__(self, target_type: str, target_id: str) -> None:
        self.target_type = target_type
        self.target_id = target_id

    async def call(self, method: str, *_parameters: object, **_more: object) -> NoReturn:
        """Raise SessionGoneError."""
        raise SessionGoneError(
            target=f"{self.target_type} {self.target_id}",
            reason="this is a copy, in another process",
            method=method,
        )

    request = call


def state_without_page(value: Any, **replaced: object) -> dict[str, object]:
    """Return what a value with slots is pickled as: all that it has, its session replaced, and `replaced`."""
    state = {name: getattr(value, name) for name in type(value).__slots__}
    session = state["_session"]
    return {**state, "_session": DepartedSession(session.target_type, session.target_id), **replaced}


def restore_state(value: Any, state: dict[str, object]) -> None:
    """Give a value with slots what it was pickled as."""
    for name, each in state.items():
        setattr(value, name, each)
