"""Mode ai: YAML in the way of Playwright's snapshots, for models that know those.

Rule: a YAML parser reads it, whatever the page says. An element is an item of a list:

    - role "name" [ref=e3] [checked] [cursor=pointer]:
      - /url: /cart
      - text: what it says

and `- role "name": text` where a text is all there is inside. The name is a JSON string; where the whole would
mean something to YAML, it stands in single quotes. A field's value is its text. `/url`, `/placeholder`,
`/description` and `/name` are properties: the last one only for a name that YAML's limit on keys (1,024
characters) does not let stand whole. `[active]` has the focus, `[cursor=pointer]` was made clickable by the
page. A line that begins with `#` is a remark of ours.

The walk through the nodes stands in `mode_role.py` too, on purpose: as one generator that both modes take
their nodes from, it made this one 9 to 14 % slower (a list of 1,000 rows: 5.5 ms in place of 4.9).
"""

from __future__ import annotations

import re
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
from cdpengine._snapshot.text import UNSAFE, YAML_WORDS, quote, shorten, yaml_text

# What ends a plain scalar of YAML inside of a line.
_ENDS_PLAIN = re.compile(r":(?= |$)| #")
_LONGEST_NAME = 800
_LONGEST_KEY = 1000
_CUT_NAME = 64  # even when each character is an escape of 12, it leaves room for the rest of a key


def ai_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of the document's nodes, as far as the options show them."""
    lines = Lines()
    texts, nodes, depths = lines.texts, lines.nodes, lines.depths
    interactive_only, deepest = options.interactive, options.max_depth
    folded = folded_when_compact(document, refs) if options.compact else frozenset()
    ref_of, unsafe, ends_plain, roles = refs.get, UNSAFE.search, _ENDS_PLAIN.search, Roles()
    page, origin = page_and_origin(document.url)
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
                texts.append(f"{indent}- text: {yaml_text(name)}")
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
                ref = ref_of(node)
                role = roles[node.role]
                if name and len(name) <= _LONGEST_NAME:
                    key = f'{role} "{name}"' if unsafe(name) is None else f"{role} {quote(name)}"
                else:
                    key = role
                if ref is not None:
                    key += f" [ref={ref.id}]"
                if node.states or node.clickable or node.remark or node.document is not None:
                    key += _marks(node)
                properties: list[str] = []
                if node.url or node.placeholder or node.description or node.document is not None:
                    properties = _properties(node, indent, page, origin)
                if len(key) > _LONGEST_KEY or (name and len(name) > _LONGEST_NAME):
                    key = _short_key(node, role, ref)
                    properties.insert(0, f"{indent}  - /name: {yaml_text(name)}")
                if key == role:
                    if role in YAML_WORDS:
                        key = f'"{role}"'
                elif ends_plain(key) is not None:
                    key = "'" + key.replace("'", "''") + "'"
                inside = node.value
                if text_inside is not None and not interactive_only:
                    if inside is not None:
                        properties.append(f"{indent}  - text: {yaml_text(inside)}")
                    inside = text_inside.name
                holds = text_inside is None and len(children) > 0
                if properties or (inside is not None and holds):
                    if node.description:
                        described = f"{indent}  - /description: "
                        others = [each for each in properties if not each.startswith(described)]
                        lines.undescribed[node] = _entry(indent, key, others, inside, holds)
                    texts.append(_entry(indent, key, properties, inside, holds))
                elif inside is not None:
                    texts.append(f"{indent}- {key}: {yaml_text(inside)}")
                else:
                    texts.append(f"{indent}- {key}:" if holds else f"{indent}- {key}")
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
                if interactive_only or deepest is not None or folded:
                    _take_back_colons(lines)
                return lines
            siblings, depth, page, origin = above.pop()
            indent = INDENTS[depth] if depth < DEEPEST_INDENT else INDENTS[DEEPEST_INDENT]


def _entry(indent: str, key: str, properties: list[str], inside: str | None, holds: bool) -> str:
    """Return the lines of a node, its properties with it."""
    if inside is not None and (properties or holds):
        properties = [*properties, f"{indent}  - text: {yaml_text(inside)}"]
    elif inside is not None:
        return f"{indent}- {key}: {yaml_text(inside)}"
    if properties or holds:
        return "\n".join((f"{indent}- {key}:", *properties))
    return f"{indent}- {key}"


def _marks(node: Node) -> str:
    marks = state_texts(
        ("active" if state == "focused" else state, value)
        for state, value in node.states
        if value is not False
    )
    if node.clickable:
        marks.append("cursor=pointer")
    if node.document is not None and node.document.cut:
        marks.append("partly read")
    if node.remark:
        marks.append(safe_remark(node.remark))
    return f" [{'] ['.join(marks)}]" if marks else ""


def _properties(node: Node, indent: str, page: str, origin: str) -> list[str]:
    url = node.url or (node.document.url if node.document is not None else "")
    pairs = (
        ("url", short_url(url, page, origin) if url else ""),
        ("placeholder", node.placeholder),
        ("description", node.description),
    )
    return [f"{indent}  - /{name}: {yaml_text(text)}" for name, text in pairs if text]


def _short_key(node: Node, role: str, ref: Ref | None) -> str:
    """Return a key that YAML takes, with the beginning of the name."""
    key = f"{role} {quote(shorten(node.name, _CUT_NAME))}" if node.name else role
    if ref is not None:
        key += f" [ref={ref.id}]"
    marks = _marks(node)
    return key + marks if len(key) + 2 * len(marks) <= _LONGEST_KEY else key + " [states left out]"


def _take_back_colons(lines: Lines) -> None:
    """Take the colon off where none of what is inside is shown."""
    texts, depths = lines.texts, lines.depths
    last = len(texts) - 1
    for index, text in enumerate(texts):
        if text[-1] == ":" and (index == last or depths[index + 1] <= depths[index]):
            texts[index] = text[:-1]
        node = lines.nodes[index]
        if node in lines.undescribed and (index == last or depths[index + 1] <= depths[index]):
            lines.undescribed[node] = lines.undescribed[node].removesuffix(":")
