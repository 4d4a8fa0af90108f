"""Wrappers: elements that a page made clickable, and that say only what the controls in them say. Pure.

Rule: a click on such a control reaches its wrapper, so the wrapper has no line of its own. It keeps its line where
anything else is in it, where it has another name, and where one of the controls is disabled and takes no click.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cdpengine.snapshot.node import Document, Node


def without_wrappers(document: Document, added: Sequence[Node]) -> list[Node]:
    """Take the wrappers among the nodes that were added out of the document, and return the other ones."""
    # Innermost first: what is in a wrapper is then what stays.
    wrappers = {node for node in reversed(added) if node.role == "generic" and _is_wrapper(node)}
    if not wrappers:
        return list(added)
    document.roots = list(_unwrapped(document.roots, wrappers))
    waiting = list(document.roots)
    while waiting:
        node = waiting.pop()
        if not wrappers.isdisjoint(node.children):
            node.children = list(_unwrapped(node.children, wrappers))
        waiting.extend(node.children)
    return [node for node in added if node not in wrappers]


def _unwrapped(nodes: Iterable[Node], wrappers: set[Node]) -> Iterator[Node]:
    """Go through the nodes, with what is in a wrapper in its place."""
    waiting = list(nodes)
    waiting.reverse()
    while waiting:
        node = waiting.pop()
        if node in wrappers:
            waiting.extend(reversed(node.children))
        else:
            yield node


def _is_wrapper(node: Node) -> bool:
    """Say whether the node holds controls, and neither holds nor says anything else."""
    names: list[str] = []
    waiting = list(reversed(node.children))
    while waiting:
        inside = waiting.pop()
        if inside.kind == "interactive" or inside.clickable:
            if ("disabled", True) in inside.states or inside.document is not None:
                return False
            names.append(inside.name)
        elif inside.kind == "text" or inside.role == "image" or inside.name or inside.value is not None:
            return False
        else:
            waiting.extend(reversed(inside.children))
    if not names:
        return False
    said, own = "".join("".join(names).split()), "".join(node.name.split())
    if own.endswith("\u2026"):
        return said.startswith(own[:-1])
    return said == own
