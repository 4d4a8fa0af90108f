"""The modes that show the engine's own nodes: role (for people and models), ai (YAML), numbered (flat numbers).

Rule: in each mode everything between double quotes is a JSON string and comes from the page; everything outside
them comes from the engine. A line that begins with `#` is a remark of the engine. Each level is two spaces, up to
100 levels.

role:

    - role "name" [ref=e12] [nth=1] [state] [state=token] [value="..."]: "text inside"

The lines of a frame's document follow below its iframe; addresses in it are shortened relative to that document.
`[clickable]` marks elements that the page made clickable without a role that shows it.

ai follows Playwright's snapshots, for models that know them. A YAML parser reads it for any content of the page:

    - role "name" [ref=e3] [checked] [cursor=pointer]:
      - /url: /cart
      - text: page text

and `- role "name": text` if text is the only content. If the name's JSON string would be YAML syntax, the whole
key is in single quotes. A field's value is its text. `/url`, `/placeholder`, `/description` and `/name` are
properties; `/name` is present only for a name that exceeds YAML's limit on keys (1,024 characters). `[active]`
marks the focused element, `[cursor=pointer]` an element that the page made clickable.

numbered is for programs and models that answer with a number. The number is the number of the ref, so `12` and
`e12` act on the same node. Nodes without interaction have no number:

    [12] button "name" value="..." url="..." (disabled, level=2): "text inside"

`role_lines` and `ai_lines` each have their own copy of the walk through the nodes on purpose: one generator for
both made role 13 to 16 % slower (a list of 1,000 rows: 2.9 ms instead of 2.5 ms) and ai 9 to 14 % (5.5 ms instead
of 4.9 ms).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.render.lines import (
    DEEPEST_INDENT,
    INDENTS,
    Blocks,
    Lines,
    Roles,
    SnapshotOptions,
    find_folded,
    page_and_origin,
    safe_remark,
    short_url,
    state_texts,
)
from cdpengine._snapshot.text import UNSAFE, YAML_WORDS, quote, shorten, yaml_text

# --- role ----------------------------------------------------------------------------------------------------


def role_lines(
    document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions, blocks: Blocks
) -> Lines:
    """Return the lines that the options show; `blocks` has the lines of parts."""
    lines, tops = Lines(), blocks.tops
    texts, nodes, depths = lines.texts, lines.nodes, lines.depths
    interactive_only, deepest = options.interactive, options.max_depth
    folded = find_folded(document, refs) if options.compact else frozenset()
    ref_of, unsafe, roles = refs.get, UNSAFE.search, Roles()
    page, origin = page_and_origin(document.url)
    # For each level above: its node, the remaining siblings, and the level's format.
    above: list[tuple[Node, Iterator[Node], int, str, str]] = []
    siblings, depth, indent = iter(document.roots), 0, ""
    while True:
        for node in siblings:
            if node in tops and blocks.reuse_or_open(node, (depth, page, origin), refs, lines):
                continue
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
                    above.append((node, siblings, depth, page, origin))
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
                    lines.frames += 1
                    line += _frame(node, page, origin)
                if text_inside is not None and not interactive_only:
                    line += f": {quote(text_inside.name)}"
                if before:
                    lines.undescribed[node] = before + line[described:]
                texts.append(line)
                nodes.append(node)
                depths.append(depth)
            if children and text_inside is None:
                above.append((node, siblings, depth, page, origin))
                if node.document is not None:
                    page, origin = page_and_origin(node.document.url)
                siblings = iter(children)
                depth += 1
                indent = INDENTS[depth] if depth < DEEPEST_INDENT else INDENTS[DEEPEST_INDENT]
                break
        else:
            if not above:
                return lines
            inner, siblings, depth, page, origin = above.pop()
            if inner in tops:
                blocks.close(inner, (depth, page, origin), refs, lines)
            indent = INDENTS[depth] if depth < DEEPEST_INDENT else INDENTS[DEEPEST_INDENT]


def _frame(node: Node, page: str, origin: str) -> str:
    text = ""
    if node.document is not None:
        if node.document.url and not node.url:
            text += f" [url={quote(short_url(node.document.url, page, origin))}]"
        if node.document.cut:
            text += f" [partly read, {node.document.cut_short}]"
    if node.remark:
        text += f" [{safe_remark(node.remark)}]"
    return text


# --- ai ------------------------------------------------------------------------------------------------------

# The characters that end a plain scalar of YAML inside a line.
_ENDS_PLAIN = re.compile(r":(?= |$)| #")
_LONGEST_NAME = 800
_LONGEST_KEY = 1000
_CUT_NAME = 64  # with escapes of 12 characters each, this leaves room for the rest of a key


def ai_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines that the options show."""
    lines = Lines()
    texts, nodes, depths = lines.texts, lines.nodes, lines.depths
    interactive_only, deepest = options.interactive, options.max_depth
    folded = find_folded(document, refs) if options.compact else frozenset()
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
    """Return the lines of a node and its properties."""
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
        marks.append(f"partly read, {node.document.cut_short}")
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
    """Return a key within YAML's limit, with the start of the name."""
    key = f"{role} {quote(shorten(node.name, _CUT_NAME))}" if node.name else role
    if ref is not None:
        key += f" [ref={ref.id}]"
    marks = _marks(node)
    return key + marks if len(key) + 2 * len(marks) <= _LONGEST_KEY else key + " [states left out]"


def _take_back_colons(lines: Lines) -> None:
    """Remove the colon from lines without visible content."""
    texts, depths = lines.texts, lines.depths
    last = len(texts) - 1
    for index, text in enumerate(texts):
        if text[-1] == ":" and (index == last or depths[index + 1] <= depths[index]):
            texts[index] = text[:-1]
        node = lines.nodes[index]
        if node in lines.undescribed and (index == last or depths[index + 1] <= depths[index]):
            lines.undescribed[node] = lines.undescribed[node].removesuffix(":")


# --- numbered ------------------------------------------------------------------------------------------------


def numbered_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines that the options show."""
    lines = Lines()
    folded = find_folded(document, refs) if options.compact else frozenset()
    roles = Roles()
    page, origin = page_and_origin(document.url)
    above: list[tuple[Iterator[Node], int, str, str]] = []
    siblings, depth = iter(document.roots), 0
    while True:
        for node in siblings:
            children = node.children
            is_text = node.kind == "text"
            is_listed = node not in folded
            if options.interactive and node.kind != "interactive" and not node.clickable:
                is_listed = False
            text_inside = children[0] if len(children) == 1 and children[0].kind == "text" else None
            if is_listed and options.max_depth is not None and depth > options.max_depth:
                lines.too_deep.append(node)
            elif is_listed:
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
            if children and (text_inside is None or not is_listed):
                above.append((siblings, depth, page, origin))
                if node.document is not None:
                    page, origin = page_and_origin(node.document.url)
                siblings = iter(children)
                depth += is_listed
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
        marks.append(f"partly read, {node.document.cut_short}")
    if node.remark:
        marks.append(safe_remark(node.remark))
    return f"{head} ({', '.join(marks)})" if marks else head
