"""The refs that callers have received: the role and name of each at that time. Pure.

Rule: the engine also reads pages internally, to replay or plan a flow. Refs that a task receives in such a block
(`unseen`) count as received inside the block only. Other tasks are not affected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

from cdpengine._snapshot.ref import Ref

_Own = dict["ReceivedRefs", dict[str, Ref]]

_own: ContextVar[_Own | None] = ContextVar("cdpengine_own_looks", default=None)
"""Refs that the engine received in the current task's blocks, by table; None outside of blocks."""


@attrs.define(eq=False)
class ReceivedRefs:
    """The refs of one table by their ids, as their caller last received them."""

    _given: dict[str, Ref] = attrs.field(factory=dict, init=False)

    def note(self, refs: Mapping[str, Ref]) -> None:
        """Record that the caller receives these refs or, in an `unseen` block, that the engine does."""
        own = _own.get()
        (self._given if own is None else own.setdefault(self, {})).update(refs)

    def find(self, ref_id: str) -> Ref | None:
        """Return a ref as last received, None if it never was."""
        own = _own.get()
        if own is not None and (known := own.get(self, {}).get(ref_id)) is not None:
            return known
        return self._given.get(ref_id)

    def forget(self, ref_id: str) -> None:
        """Forget a ref that the table drops."""
        self._given.pop(ref_id, None)


@contextmanager
def unseen() -> Iterator[None]:
    """Do not count refs that this task receives in the block as received by the caller."""
    around = _own.get() or {}
    token = _own.set({table: dict(refs) for table, refs in around.items()})
    try:
        yield
    finally:
        _own.reset(token)
