"""Names of nodes: whether a ref's node is still called what the caller was last given.

Rule: a page can use a node again for something else, as virtual lists do. The call that probes a node for an
action compares its role and name with those that the caller knows (`naming.js`), which costs no round trip of its
own. A difference ends the action before anything is sent, by `NameChanged`. That never leaves the engine: the
maker of the node looks what it is called now, and decides.
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
    """What node `number` is expected to be: Chrome's `roles` that it may have, and its name.

    `met`: it was found to be that, and what it becomes by the action itself is no matter.
    """

    number: int
    roles: tuple[str, ...]
    name: str
    met: bool = False


@attrs.frozen
class NamedNode(Node):
    """A node that is expected to be what its ref was given for."""

    expected: Expected = attrs.field(kw_only=True, eq=False, repr=False)


class NameChanged(Exception):
    """A node is not what it was expected to be: `role` and `name` are what the page says of it now."""

    def __init__(self, node: Node, role: str, name: str) -> None:
        self.node, self.role, self.name = node, role, name


def expected_of(node: Node) -> Expected | None:
    """Return what is still to be compared of a node; None for a node that was not named by a ref."""
    if isinstance(node, NamedNode) and not node.expected.met and node.expected.number == node.backend_node_id:
        return node.expected
    return None


def asked_name(node: Node) -> Mapping[str, Any] | None:
    """Return what the library compares of a node, None for nothing."""
    expected = expected_of(node)
    return None if expected is None else {"roles": expected.roles, "name": expected.name}


def check_name(node: Node, renamed: tuple[str, str] | None) -> None:
    """Raise NameChanged where the library answered that the node is called otherwise."""
    if renamed is not None:
        raise NameChanged(node, *renamed)


def note_met(node: Node) -> None:
    """Note that a node is what it was expected to be, and that the action begins."""
    if isinstance(node, NamedNode):
        node.expected.met = True


async def do_to_named(
    node: Node, do: Callable[[Node], Awaitable[T]], settle: Callable[[NameChanged], Awaitable[Node]]
) -> T:
    """Do something to a node; where it is called otherwise, to what `settle` returns for it, or raises."""
    try:
        return await do(node)
    except NameChanged as changed:
        settled = await settle(changed)
    return await do(settled)


@cache
def naming_source() -> str:
    """Return the source of the library's comparison."""
    given = ("_snapshot/sources/dom_roles", "_snapshot/sources/dom_text", "_page/scripts/secret_field")
    parts = ", ".join(f"{script(path)}()" for path in given)
    names = f"() => {script('_snapshot/sources/dom_names')}({parts})"
    return f"{script('_input/actionability/naming')}({names})"
