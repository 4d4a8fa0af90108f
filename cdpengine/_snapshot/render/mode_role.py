"""Mode role: indented lines, for people and models.

Rule: one line is one node:

    - role "name" [ref=e12] [nth=1] [state] [state=token] [value="..."]: "text inside"

with two spaces of indentation for each level, up to 100 levels. Everything between double quotes is a
JSON string and comes from the page; everything outside of them comes from here. A line that begins with
`#` is a remark of ours. The lines of a frame's document stand below its iframe; addresses in it are shortened
against that document. `[clickable]` marks what the page made clickable without saying so by its role.

The walk through the nodes stands in `mode_ai.py` too, on purpose: as one generator that both modes take
their nodes from, it made this one 13 to 16 % slower (a list of 1,000 rows: 2.9 ms in place of 2.5).
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
from cdpengine._snapshot.text import UNSAFE, quote


def role_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of the document's nodes, as far as the options show them."""
    lines = Lines()
    texts, nodes, depths = lines.texts, lines.nodes, lines.depths
    interactive_only, deepest = options.interactive, options.max_depth
    folded = folded_when_compact(document, refs) if options.compact else frozenset()
    ref_of, unsafe, roles = refs.get, UNSAFE.search, Roles()
    page, origin = page_and_origin(document.url)
    # The siblings that are still to come on each level above, and how the level stands.
    above: list[tuple[Iterator[Node], int, str, str]] = []
    siblings, depth, indent = iter(document.roots), 0, ""
    while True:
        for node in siblings:
            children, name = node.children, node.name
            if node.kind == "text":
                if interactive_only:
                    continue
                if deepest is not None and depth > deepest:
                    lines.too_deep.append(node)
                    continue
                texts.append(
                    f'{indent}- text: "{name}"' if unsafe(name) is None else f"{indent}- text: {quote(name)}"
                )
                nodes.append(node)
                depths.append(depth)
                continue
            if (interactive_only and node.kind != "interactive" and not node.clickable) or node in folded:
                if children:
                    above.append((siblings, depth, page, origin))
                    if node.document is not None:
                        page, origin = page_and_origin(node.document.url)
                    siblings = iter(children)
                    break
                continue
            text_inside = children[0] if len(children) == 1 and children[0].kind == "text" else None
            if deepest is not None and depth > deepest:
                lines.too_deep.append(node)
            else:
                line = f"{indent}- {roles[node.role]}"
                if name:
                    line += f' "{name}"' if unsafe(name) is None else f" {quote(name)}"
                ref = ref_of(node)
                if ref is not None:
                    line += f" [ref={ref.id}] [nth={ref.nth}]" if ref.nth else f" [ref={ref.id}]"
                if node.clickable and node.kind != "interactive":
                    line += " [clickable]"
                if node.states:
                    line += f" [{'] ['.join(state_texts(node.states))}]"
                if node.value is not None:
                    line += f" [value={quote(node.value)}]"
                if node.placeholder:
                    line += f" [placeholder={quote(node.placeholder)}]"
                before = line if node.description else ""
                if node.description:
                    line += f" [description={quote(node.description)}]"
                described = len(line)
                if node.url:
                    line += f" [url={quote(short_url(node.url, page, origin))}]"
                if node.document is not None or node.remark:
                    line += _frame(node, page, origin)
                if text_inside is not None and not interactive_only:
                    line += f": {quote(text_inside.name)}"
                if before:
                    lines.undescribed[node] = before + line[described:]
                texts.append(line)
                nodes.append(node)
                depths.append(depth)
            if children and text_inside is None:
                above.append((siblings, depth, page, origin))
                if node.document is not None:
                    page, origin = page_and_origin(node.document.url)
                siblings = iter(children)
                depth += 1
                indent = INDENTS[depth] if depth < DEEPEST_INDENT else INDENTS[DEEPEST_INDENT]
                break
        else:
            if not above:
                return lines
            siblings, depth, page, origin = above.pop()
            indent = INDENTS[depth] if depth < DEEPEST_INDENT else INDENTS[DEEPEST_INDENT]


def _frame(node: Node, page: str, origin: str) -> str:
    text = ""
    if node.document is not None:
        if node.document.url and not node.url:
            text += f" [url={quote(short_url(node.document.url, page, origin))}]"
        if node.document.cut:
            text += " [partly read]"
    if node.remark:
        text += f" [{safe_remark(node.remark)}]"
    return text
