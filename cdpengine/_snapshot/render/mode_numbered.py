"""Mode numbered: flat numbers, for programs and models that answer with a number.

Rule: one line is one node, and the number is that of its ref, so that `12` and `e12` act on the same:

    [12] button "name" value="..." url="..." (disabled, level=2): "text inside"

with two spaces of indentation for each level, and no number where there is nothing to act on. Everything
between double quotes is a JSON string and comes from the page; everything outside of them comes from here. A
line that begins with `#` is a remark of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.options import SnapshotOptions
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.render.lines import (
    DEEPEST_INDENT,
    INDENTS,
    Lines,
    Roles,
    folded_when_compact,
    page_and_origin,
    safe_remark,
    short_url,
    state_texts,
)
from cdpengine._snapshot.text import quote


def numbered_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of the document's nodes, as far as the options show them."""
    lines = Lines()
    folded = folded_when_compact(document, refs) if options.compact else frozenset()
    roles = Roles()
    page, origin = page_and_origin(document.url)
    above: list[tuple[Iterator[Node], int, str, str]] = []
    siblings, depth = iter(document.roots), 0
    while True:
        for node in siblings:
            children = node.children
            is_text = node.kind == "text"
            shown = node not in folded
            if options.interactive and node.kind != "interactive" and not node.clickable:
                shown = False
            text_inside = children[0] if len(children) == 1 and children[0].kind == "text" else None
            if shown and options.max_depth is not None and depth > options.max_depth:
                lines.too_deep.append(node)
            elif shown:
                if is_text:
                    line = f"text {quote(node.name)}"
                else:
                    line = _head(node, refs.get(node), roles[node.role], page, origin)
                    tail = ""
                    if text_inside is not None and not options.interactive:
                        tail = f": {quote(text_inside.name)}"
                        line += tail
                    if node.description:
                        bare = _head(node, refs.get(node), roles[node.role], page, origin, described=False)
                        lines.undescribed[node] = INDENTS[min(depth, DEEPEST_INDENT)] + bare + tail
                lines.texts.append(INDENTS[min(depth, DEEPEST_INDENT)] + line)
                lines.nodes.append(node)
                lines.depths.append(depth)
            if children and (text_inside is None or not shown):
                above.append((siblings, depth, page, origin))
                if node.document is not None:
                    page, origin = page_and_origin(node.document.url)
                siblings = iter(children)
                depth += shown
                break
        else:
            if not above:
                return lines
            siblings, depth, page, origin = above.pop()


def _head(node: Node, ref: Ref | None, role: str, page: str, origin: str, *, described: bool = True) -> str:
    head = f"[{ref.id[1:]}] {role}" if ref is not None else role
    if node.name:
        head += f" {quote(node.name)}"
    url = node.url or (node.document.url if node.document is not None else "")
    pairs = (
        ("value", node.value),
        ("placeholder", node.placeholder or None),
        ("description", (node.description or None) if described else None),
        ("url", short_url(url, page, origin) if url else None),
    )
    for key, text in pairs:
        if text is not None:
            head += f" {key}={quote(text)}"
    marks = state_texts(node.states)
    if node.clickable and node.kind != "interactive":
        marks.append("clickable")
    if node.document is not None and node.document.cut:
        marks.append("partly read")
    if node.remark:
        marks.append(safe_remark(node.remark))
    return f"{head} ({', '.join(marks)})" if marks else head
