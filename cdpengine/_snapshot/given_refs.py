"""The refs as callers were given them: the role and name of each when the caller last got it. Pure.

Rule: the engine also looks for itself, while a flow is replayed or planned. What the task reads in such a block
(`unseen`) counts as given inside of the block only. What other tasks are given meanwhile counts as always.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

from cdpengine._snapshot.ref import Ref

_Own = dict["GivenRefs", dict[str, Ref]]

_own: ContextVar[_Own | None] = ContextVar("cdpengine_own_looks", default=None)
"""What the engine was given in the blocks that this task is in, by table; None outside of them."""


@attrs.define(eq=False)
class GivenRefs:
    """The refs of one table, by their ids, as their caller was given them last."""

    _given: dict[str, Ref] = attrs.field(factory=dict, init=False)

    def note(self, refs: Mapping[str, Ref]) -> None:
        """Note that the caller is given these refs; in an `unseen` block, that the engine itself is."""
        own = _own.get()
        (self._given if own is None else own.setdefault(self, {})).update(refs)

    def find(self, ref_id: str) -> Ref | None:
        """Return a ref as it was given last, None for one that never was."""
        own = _own.get()
        if own is not None and (known := own.get(self, {}).get(ref_id)) is not None:
            return known
        return self._given.get(ref_id)

    def forget(self, ref_id: str) -> None:
        """Forget a ref that the table drops."""
        self._given.pop(ref_id, None)


@contextmanager
def unseen() -> Iterator[None]:
    """Let nothing count as given that this task reads or finds in the block: the engine looks for itself there."""
    around = _own.get() or {}
    token = _own.set({table: dict(refs) for table, refs in around.items()})
    try:
        yield
    finally:
        _own.reset(token)
