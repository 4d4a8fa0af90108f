"""Mode webarena: as the agents of WebArena read a page.

Rule: one line is one node of the accessibility tree, a tab for each level, in Chrome's words:

    [12] button 'Log in' focused: True

The number is that of the ref, so that `12` and `e12` act on the same; a node that has no ref has no number
(WebArena numbers all nodes, by ids that Chrome does not act on). Names are Python's string literals, so
`ast.literal_eval` reads them back. Which properties are left out, and which nodes are folded into their parents,
is WebArena's, as tables below, except that nothing with a ref is folded; other nodes that Chrome ignores are. A
line that begins with `#` is a remark of ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from cdpengine._protocol.domains.accessibility import AXProperty
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.options import SnapshotOptions
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.render.ax_lines import Visit, ax_lines, value_text
from cdpengine._snapshot.render.lines import Lines
from cdpengine._snapshot.roles import TEXT_ROLES
from cdpengine._snapshot.text import is_token, python_text

IGNORED_PROPERTIES = frozenset(
    {"editable", "focusable", "invalid", "level", "multiline", "readonly", "settable"}
    | {"url"}  # Chrome did not tell it in WebArena's day
)

FOLDED_WITHOUT_NAME = frozenset(
    {
        "LabelText", "Legend", "Section", "banner", "generic", "img", "list", "listitem", "navigation",
        "paragraph", "strong",
    }
    | {"image"}  # as Chrome calls `img` now
)  # fmt: skip
"""Folded when they have neither a name nor a property."""

ALWAYS_FOLDED_WITHOUT_NAME = frozenset({"listitem"})

LEFT_OUT = frozenset({"InlineTextBox"})
"""The pieces of a StaticText, which Chrome did not tell in WebArena's day."""


def webarena_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of all trees."""
    return ax_lines(document, refs, _line, indent="\t", max_depth=options.max_depth)


def _line(visit: Visit) -> str | None:
    ax = visit.ax
    role = "generic" if ax.ignored else value_text(ax.role)
    has_line = visit.ref is not None and not visit.loose
    if not has_line and (ax.ignored or ax.name is None or not role or role in LEFT_OUT):
        return None
    name = "(hidden)" if visit.hidden and role in TEXT_ROLES else value_text(ax.name)
    if not name and visit.node is not None and visit.node.clickable:
        name = visit.node.name
    properties = [
        text for item in ax.properties if item.name not in IGNORED_PROPERTIES and (text := _property(item))
    ]
    if visit.node is not None and visit.node.remark:
        properties.append(f"remark: {python_text(visit.node.remark)}")
    if (
        not name.strip()
        and not has_line
        and (role in FOLDED_WITHOUT_NAME if not properties else role in ALWAYS_FOLDED_WITHOUT_NAME)
    ):
        return None
    line = f"{role if is_token(role) else 'unknown'} {python_text(name)}"
    if visit.ref is not None:
        line = f"[{visit.ref.id[1:]}] {line}"
    return " ".join([line, *properties])


def _property(item: AXProperty) -> str | None:
    value = None if item.value is None else item.value.value
    name = item.name if is_token(item.name) else python_text(item.name)
    if isinstance(value, str):
        return f"{name}: {value if is_token(value) else python_text(value)}"
    if isinstance(value, bool):
        return f"{name}: {value}"
    return f"{name}: {value:g}" if isinstance(value, int | float) else None
