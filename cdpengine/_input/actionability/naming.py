"""Comparison of a node's current role and name with the role and name of its ref.

Rule: a page can reuse a node for other content, as virtual lists do. The call that probes a node before an action
also compares its role and name with those that the caller knows (`naming.js`), without an extra round trip. If
they differ, `NameChanged` ends the action before any input is sent. The exception never leaves the engine: the
code that resolved the ref catches it, reads the current name, and decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import attrs

from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node

T = TypeVar("T")


@attrs.define(eq=False)
class Expected:
    """Role and name that node `number` must have: one of Chrome's `roles`, and `name`.

    `checked`: whether a comparison has succeeded. Changes caused by the action itself are then ignored.
    """

    number: int
    roles: tuple[str, ...]
    name: str
    checked: bool = False


@attrs.frozen
class NamedNode(Node):
    """A node whose role and name must match its ref."""

    expected: Expected = attrs.field(kw_only=True, eq=False, repr=False)


class NameChanged(Exception):
    """The node's current `role` and `name` differ from the expected ones."""

    def __init__(self, node: Node, role: str, name: str) -> None:
        self.node, self.role, self.name = node, role, name


def due_expectation(node: Node) -> Expected | None:
    """Return the comparison that is still due for a node, or None. Only nodes named by a ref have one."""
    if (
        isinstance(node, NamedNode)
        and not node.expected.checked
        and node.expected.number == node.backend_node_id
    ):
        return node.expected
    return None


def name_expectation(node: Node) -> Mapping[str, Any] | None:
    """Return the `expected` argument of the library's comparison, or None if no comparison is due."""
    expected = due_expectation(node)
    return None if expected is None else {"roles": expected.roles, "name": expected.name}


def check_name(node: Node, renamed: tuple[str, str] | None) -> None:
    """Raise NameChanged if the library reported another role or name."""
    if renamed is not None:
        raise NameChanged(node, *renamed)


def note_name_checked(node: Node) -> None:
    """Note that the comparison succeeded and the action begins."""
    if isinstance(node, NamedNode):
        node.expected.checked = True


async def run_with_renaming(
    node: Node, do: Callable[[Node], Awaitable[T]], settle: Callable[[NameChanged], Awaitable[Node]]
) -> T:
    """Run `do` on a node. On NameChanged, run it on the node that `settle` returns; `settle` may raise."""
    try:
        return await do(node)
    except NameChanged as changed:
        settled = await settle(changed)
    return await do(settled)


@cache
def naming_source() -> str:
    """Return the source of naming.js with its dependencies."""
    own = ("dom_roles", "dom_names", "dom_text", "/", "walk_dom", "walk_elements", "walk_owners")
    paths = ("_page/scripts/secret_field" if part == "/" else f"_snapshot/sources/{part}" for part in own)
    names = f"{script('_snapshot/sources/dom_kit')}({', '.join(script(path) for path in paths)})"
    return f"{script('_input/actionability/naming')}({names})"
