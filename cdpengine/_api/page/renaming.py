"""Detection of renamed elements, by comparing the name last reported for a ref with its node's current name.

Rule: virtual lists and frameworks reuse a node for another item, so its ref may refer to an item that the caller
did not intend. The comparison in the page (`_input/actionability/naming.js`) costs almost nothing if the name is
unchanged. On a difference, the engine reads the node as a snapshot does, and that result decides. Names that
differ only by a counter (`_snapshot/ref.py`) belong to the same item, unless another element has the same name
except for such a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import attrs

from cdpengine._budget import Budget
from cdpengine._input.actionability.library_calls import Expected, NameChanged, NamedNode
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.capture import Scope, capture
from cdpengine._snapshot.node import walk
from cdpengine._snapshot.ref import without_counter
from cdpengine._snapshot.refs import Ref, RefTable
from cdpengine._snapshot.roles import ARIA_ROLES, FOLDED_ROLES, INLINE_ROLES, chrome_roles, role_name
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import RemoteError, StaleRefError


class Renamed(NamedTuple):
    """A renamed element: its ref with the last reported name, and its ref with the current name."""

    old: Ref
    new: Ref


@attrs.define(eq=False)
class Renaming:
    """Refs that one action uses, with checks for new names. With `refuse`, a renamed element fails the action.

    `found` lists the renamed elements.
    """

    _page: PageTarget
    _worlds: IsolatedWorlds
    _refs: Callable[[], RefTable]
    _received: Callable[[Ref], Ref]
    _budget: Budget
    refuse: bool = False
    found: list[Renamed] = attrs.field(factory=list, init=False)
    _reported: dict[int, Ref] = attrs.field(factory=dict, init=False)

    def expect(self, node: Node, ref: Ref) -> Node:
        """Return the node of a ref, with the role and name that were last reported for it."""
        reported = self._received(ref)
        number = node.backend_node_id
        self._reported[number] = reported
        expected = Expected(number, _roles(reported.role), reported.name)
        return NamedNode(
            node.session, number, node.frame_id, node.description, valid=node.valid, expected=expected
        )

    async def settle(self, changed: NameChanged) -> Node:
        """Return the node to act on, described by its current name.

        Raises StaleRefError if the node now shows another item and `refuse` is set.
        """
        node = changed.node
        reported = self._reported[node.backend_node_id]
        role, names = await self._look(changed, reported)
        if role == reported.role and any(_is_same(reported.name, name) for name in names):
            return _plain(node, node.description)
        table = self._refs()
        present = table.rename(reported.id, role, names[0]) or attrs.evolve(
            reported, role=role, name=names[0]
        )
        if self.refuse and not self._counts(reported, present):
            raise self._refusal(reported, present)
        self.found.append(Renamed(reported, present))
        return _plain(node, str(present))

    async def _look(self, changed: NameChanged, reported: Ref) -> tuple[str, list[str]]:
        """Return the node's role and possible names as in a snapshot, or else as the page reported them."""
        number = changed.node.backend_node_id
        frame = self._page.frames.get(changed.node.frame_id)
        captured = None
        if frame is not None:
            scope = Scope(frame=frame, root=number, pointer=True)
            try:
                captured = await capture(self._page, self._worlds, scope, self._budget.remaining)
            except RemoteError:  # it is gone; the action reports that
                return reported.role, [reported.name]
        for node in () if captured is None else walk(captured.document.roots):
            if node.backend_node_id == number:
                inside = " ".join(each.name for each in walk(node.children) if each.kind == "text")
                return node.role, [node.name or inside, node.name, inside]
        role = role_name(changed.role)
        if not changed.role:
            role = reported.role
        elif role in FOLDED_ROLES | INLINE_ROLES:
            role = "generic"
        return role, [changed.name]

    def _counts(self, reported: Ref, present: Ref) -> bool:
        """Return whether the names differ only by a counter."""
        label = without_counter(reported.name)
        if reported.role != present.role or not label or label != without_counter(present.name):
            return False
        return not any(
            other.role == reported.role and without_counter(other.name) == label
            for other in self._refs().others(reported)
        )

    def _refusal(self, reported: Ref, present: Ref) -> StaleRefError:
        was, now = reported.describe(), present.describe()
        if was == now:  # both are shortened and begin alike
            place = next(
                (at for at, (a, b) in enumerate(zip(reported.name, present.name, strict=False)) if a != b),
                min(len(reported.name), len(present.name)),
            )
            was, now = (
                f"{each.role} {quote('…' + shorten(each.name[max(place - 20, 0) :], 60))}"
                for each in (reported, present)
            )
        return StaleRefError(
            ref=reported.id,
            description=was,
            reason=f"the element is {now} now, so the page uses it for something else",
            became="renamed",
            alternatives=self._refs().alternatives(
                reported, {frame.loader_id for frame in self._page.frames}
            ),
        )


def _plain(node: Node, description: str) -> Node:
    return Node(node.session, node.backend_node_id, node.frame_id, description, valid=node.valid)


@cache
def _roles(role: str) -> tuple[str, ...]:
    """Return Chrome's roles that a snapshot shows as `role`, or ("",) for a role unknown to ARIA."""
    found = set(chrome_roles(role))
    if not found <= ARIA_ROLES:
        found.add("")
    if role == "generic":
        found |= FOLDED_ROLES | INLINE_ROLES | {"group"}  # Chrome's role of a draggable element
    if role == "image":
        found.add("none")
    return tuple(sorted(found))


_UNSEEN = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+")


def _is_same(reported: str, name: str) -> bool:
    """Return whether the names are equal except for white space. `reported` may be shortened with "…"."""
    expected, found = _UNSEEN.sub("", reported), _UNSEEN.sub("", name)
    return expected == found or (expected.endswith("…") and found.startswith(expected[:-1]))
