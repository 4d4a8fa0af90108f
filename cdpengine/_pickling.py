"""Pickling between processes: values can be pickled; objects of a connection, page or task cannot.

Rule: an object that cannot work in another process raises when it is pickled, and the error names a replacement. A
value that can query its page is pickled without the page: it keeps its data, and queries behave as if the page
were closed.
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
"""Read-only mappings, which Python cannot pickle by default."""


def not_picklable(instead: str) -> Callable[[Kind], Kind]:
    """Make a class refuse to be pickled; `instead` names the data to send instead of its objects."""

    def refuse(self: object, _protocol: object = None) -> NoReturn:
        raise TypeError(
            f"cannot pickle {type(self).__name__}: it works only in the process that made it. "
            f"Send {instead} instead"
        )

    def decorate(kind: Kind) -> Kind:
        kind.__reduce_ex__ = refuse
        return kind

    return decorate


class DepartedSession:
    """The session of a pickled value: it identifies the target, and refuses all commands."""

    def __init__(self, session: Any) -> None:
        self.target_type: str = session.target_type
        self.target_id: str = session.target_id

    async def call(self, method: str, *_parameters: object, **_more: object) -> NoReturn:
        """Raise SessionGoneError."""
        raise SessionGoneError(
            target=f"{self.target_type} {self.target_id}",
            reason="this is a copy, in another process",
            method=method,
        )

    request = call


def state_without_page(value: Any, **replaced: object) -> dict[str, object]:
    """Return the pickled state of a value with slots: its attributes, with `replaced` for those of the page."""
    return {name: getattr(value, name) for name in type(value).__slots__} | replaced


def restore_state(value: Any, state: dict[str, object]) -> None:
    """Restore the pickled state of a value with slots."""
    for name, each in state.items():
        setattr(value, name, each)
