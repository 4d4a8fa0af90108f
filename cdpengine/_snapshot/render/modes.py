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

The nodes are chosen first (outline.py). Each mode then writes their lines in one loop, because a call for each
node takes longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.render.lines import (
    DEEPEST_INDENT,
    INDENTS,
    Lines,
    Mode,
    Roles,
    SnapshotOptions,
    safe_remark,
    short_url,
    state_texts,
)
from cdpengine._snapshot.render.outline import Parts, Place, choose_nodes
from cdpengine._snapshot.text import UNSAFE, YAML_WORDS, quote, shorten, yaml_text

Entries = Iterable[tuple[Node, int, int, Node | None]]
"""Consecutive nodes: each with its depth, the depth of the next line, and its only child if that is text."""


def render_lines(
    document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions, parts: Parts
) -> Lines:
    """Return the lines that the options show; `parts` has the lines of unchanged parts."""
    outline = choose_nodes(document, refs, options, parts)
    nodes, depths, insides = outline.nodes, outline.depths, iter(outline.insides)
    lines = Lines([], nodes, depths, outline.too_deep)
    write, texts, following = _WRITERS[options.mode], lines.texts, [*depths[1:], 0]
    sections = pairwise([*outline.sections, (len(nodes), (0, "", ""), None)])
    for (_, place, part), (end, _, _) in sections:
        if part is not None:
            texts += part.texts
        start = len(texts)
        if start < end:
            entries = zip(nodes[start:end], depths[start:end], following[start:end], insides, strict=False)
            write(lines, entries, refs, place, options.interactive)
    outline.keep_parts(lines, refs, parts)
    return lines


# --- role ----------------------------------------------------------------------------------------------------


def _write_role(
    lines: Lines, entries: Entries, refs: Mapping[Node, Ref], place: Place, interactive_only: bool
) -> None:
    _, page, origin = place
    texts, ref_of, unsafe, roles = lines.texts, refs.get, UNSAFE.search, Roles()
    for node, depth, _, inside in entries:
        name, indent = node.name, INDENTS[depth if depth < DEEPEST_INDENT else DEEPEST_INDENT]
        if node.kind == "text":
            text = f'"{name}"' if unsafe(name) is None else quote(name)
            texts.append(f"{indent}- text: {text}")
            continue
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
        tail = f" [url={quote(short_url(node.url, page, origin))}]" if node.url else ""
        has_frame = node.document is not None or node.remark != ""
        if has_frame:
            tail += _frame(node, page, origin)
        if inside is not None and not interactive_only:
            tail += f": {quote(inside.name)}"
        if node.description:
            described = f"{line} [description={quote(node.description)}]{tail}"
            lines.add_dependent(node, described, line + tail)
        elif has_frame:
            lines.add_dependent(node, line + tail, None)
        else:
            texts.append(line + tail)


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


def _write_ai(
    lines: Lines, entries: Entries, refs: Mapping[Node, Ref], place: Place, interactive_only: bool
) -> None:
    _, page, origin = place
    texts, ref_of, unsafe, ends_plain, roles = (
        lines.texts,
        refs.get,
        UNSAFE.search,
        _ENDS_PLAIN.search,
        Roles(),
    )
    for node, depth, next_depth, text_inside in entries:
        name, indent = node.name, INDENTS[depth if depth < DEEPEST_INDENT else DEEPEST_INDENT]
        if node.kind == "text":
            texts.append(f"{indent}- text: {yaml_text(name)}")
            continue
        ref, role = ref_of(node), roles[node.role]
        key = role
        if name and len(name) <= _LONGEST_NAME:
            key = f'{role} "{name}"' if unsafe(name) is None else f"{role} {quote(name)}"
        if ref is not None:
            key += f" [ref={ref.id}]"
        if node.states or node.clickable or node.remark or node.document is not None:
            key += _marks(node)
        properties: list[str] = []
        if node.url or node.placeholder or node.document is not None:
            properties = _properties(node, indent, page, origin)
        if len(key) > _LONGEST_KEY or (name and len(name) > _LONGEST_NAME):
            key = _short_key(node, role, ref)
            properties.insert(0, f"{indent}  - /name: {yaml_text(name)}")
        if key == role:
            if role in YAML_WORDS:
                key = f'"{role}"'
        elif ends_plain(key) is not None:
            key = "'" + key.replace("'", "''") + "'"
        inside, opens = node.value, next_depth > depth
        values: tuple[str, ...] = ()  # those that do not fit on the line
        if text_inside is not None and not interactive_only:
            if inside is not None:
                values = (f"{indent}  - text: {yaml_text(inside)}",)
            inside = text_inside.name
        elif inside is not None and text_inside is None and node.children:
            values, inside = (f"{indent}  - text: {yaml_text(inside)}",), None
        if node.description:
            described = [*properties, f"{indent}  - /description: {yaml_text(node.description)}", *values]
            text = _entry(indent, key, described, inside, opens)
            lines.add_dependent(node, text, _entry(indent, key, [*properties, *values], inside, opens))
        elif node.document is not None or node.remark:
            lines.add_dependent(node, _entry(indent, key, [*properties, *values], inside, opens), None)
        elif properties or values:
            texts.append(_entry(indent, key, [*properties, *values], inside, opens))
        elif inside is not None:
            texts.append(f"{indent}- {key}: {yaml_text(inside)}")
        else:
            texts.append(f"{indent}- {key}:" if opens else f"{indent}- {key}")


def _entry(indent: str, key: str, properties: list[str], inside: str | None, opens: bool) -> str:
    """Return the lines of a node and its properties. `opens` is whether lines inside the node follow."""
    if properties and inside is not None:
        properties = [*properties, f"{indent}  - text: {yaml_text(inside)}"]
    elif inside is not None:
        return f"{indent}- {key}: {yaml_text(inside)}"
    return "\n".join((f"{indent}- {key}:", *properties)) if properties or opens else f"{indent}- {key}"


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
    pairs = ("url", short_url(url, page, origin) if url else ""), ("placeholder", node.placeholder)
    return [f"{indent}  - /{name}: {yaml_text(text)}" for name, text in pairs if text]


def _short_key(node: Node, role: str, ref: Ref | None) -> str:
    """Return a key within YAML's limit, with the start of the name."""
    key = f"{role} {quote(shorten(node.name, _CUT_NAME))}" if node.name else role
    if ref is not None:
        key += f" [ref={ref.id}]"
    marks = _marks(node)
    return key + marks if len(key) + 2 * len(marks) <= _LONGEST_KEY else key + " [states left out]"


# --- numbered ------------------------------------------------------------------------------------------------


def _write_numbered(
    lines: Lines, entries: Entries, refs: Mapping[Node, Ref], place: Place, interactive_only: bool
) -> None:
    _, page, origin = place
    texts, roles = lines.texts, Roles()
    for node, depth, _, inside in entries:
        indent = INDENTS[depth if depth < DEEPEST_INDENT else DEEPEST_INDENT]
        if node.kind == "text":
            texts.append(f"{indent}text {quote(node.name)}")
            continue
        ref, role = refs.get(node), roles[node.role]
        line = f"{indent}[{ref.id[1:]}] {role}" if ref is not None else f"{indent}{role}"
        if node.name:
            line += f" {quote(node.name)}"
        if node.value is not None:
            line += f" value={quote(node.value)}"
        if node.placeholder:
            line += f" placeholder={quote(node.placeholder)}"
        tail = ""
        if url := node.url or (node.document.url if node.document is not None else ""):
            tail += f" url={quote(short_url(url, page, origin))}"
        marks = state_texts(node.states)
        if node.clickable and node.kind != "interactive":
            marks.append("clickable")
        if node.document is not None and node.document.cut:
            marks.append(f"partly read, {node.document.cut_short}")
        if node.remark:
            marks.append(safe_remark(node.remark))
        if marks:
            tail += f" ({', '.join(marks)})"
        if inside is not None and not interactive_only:
            tail += f": {quote(inside.name)}"
        if node.description:
            described = f"{line} description={quote(node.description)}{tail}"
            lines.add_dependent(node, described, line + tail)
        elif node.document is not None or node.remark:
            lines.add_dependent(node, line + tail, None)
        else:
            texts.append(line + tail)


_WRITERS: Mapping[Mode, Callable[[Lines, Entries, Mapping[Node, Ref], Place, bool], None]] = {
    "role": _write_role,
    "ai": _write_ai,
    "numbered": _write_numbered,
}
"""Functions that append the lines of consecutive nodes. The bool is the option `interactive`."""
