"""The refs that callers have received: the role and name of each at that time. Pure.

Rule: a caller is a connection. Two connections to one browser share the refs of a page, but each acts on what it
received itself. A connection that has received nothing yet continues where an earlier one ended.

The engine also reads pages internally, to replay or plan a flow. Refs that a task receives in such a block
(`unseen`) count as received inside the block only. Other tasks are not affected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._snapshot.ref import Ref

_Own = dict["ReceivedRefs", dict[str, Ref]]

_own: ContextVar[_Own | None] = ContextVar("cdpengine_own_looks", default=None)
"""Refs that the engine received in the current task's blocks, by table; None outside of blocks."""


@attrs.define(eq=False)
class ReceivedRefs:
    """The refs of one table by their ids, as each caller last received them."""

    _by_caller: WeakKeyDictionary[object, dict[str, Ref]] = attrs.field(factory=WeakKeyDictionary, init=False)
    _latest: dict[str, Ref] = attrs.field(factory=dict, init=False)

    def note(self, refs: Mapping[str, Ref], caller: object) -> None:
        """Record that a caller receives these refs or, in an `unseen` block, that the engine does."""
        own = _own.get()
        if own is not None:
            own.setdefault(self, {}).update(refs)
            return
        self._latest.update(refs)
        self._by_caller.setdefault(caller, {}).update(refs)

    def find(self, ref_id: str, caller: object) -> Ref | None:
        """Return a ref as the caller last received it, or else as any caller did; None if none did."""
        own = _own.get()
        if own is not None and (known := own.get(self, {}).get(ref_id)) is not None:
            return known
        return self._by_caller.get(caller, {}).get(ref_id) or self._latest.get(ref_id)

    def forget(self, ref_id: str) -> None:
        """Forget the ref with this id, which the table drops."""
        for received in (self._latest, *self._by_caller.values()):
            received.pop(ref_id, None)


@contextmanager
def unseen() -> Iterator[None]:
    """Count refs that this task receives in the block as received by the engine, not by a caller."""
    around = _own.get() or {}
    token = _own.set({table: dict(refs) for table, refs in around.items()})
    try:
        yield
    finally:
        _own.reset(token)
