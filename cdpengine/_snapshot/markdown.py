"""Markdown of a page's content. Pure.

Rule: the output is CommonMark with GitHub's tables and strikethrough, and parses back to the same blocks:
characters of the page that could be read as structure are escaped. Emphasis that Markdown cannot express at its
place is left out, but its words are kept.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence

import attrs

from cdpengine._snapshot.content import (
    Block,
    Break,
    Code,
    Heading,
    Image,
    Inline,
    Items,
    Mark,
    Paragraph,
    Quote,
    Remark,
    Rule,
    Run,
    Table,
)
from cdpengine.errors.texts import MAYBE_HIDDEN

_CODE: Mark = ("code", "")
_ASCII_PUNCTUATION = frozenset(string.punctuation)
_DELIMITERS = {"b": "**", "i": "_", "s": "~~"}
_ESCAPED = re.compile(r"[\\`*\[\]|~]|<(?=[A-Za-z/!?]|$)|&(?=[#A-Za-z]|$)|_")
_LINE_START = re.compile(r"(?:(#{1,6}|[-+])(?= |$)|([-=]+ *$|-[- ]*$|>)|(\d{1,9})([.)])(?= |$))")
_UNSAFE_IN_URL = re.compile(rf"[\x20<>()\[\]\\`|*_~\"{MAYBE_HIDDEN}]|&(?=#?\w+;)")


def to_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown, without a newline at the end."""
    return "\n".join(_blocks(blocks))


# --- blocks --------------------------------------------------------------------------------------------------


def _blocks(blocks: Sequence[Block]) -> list[str]:
    """Return the lines of consecutive blocks, with an empty line between them."""
    lines: list[str] = []
    other = False
    last: Block | None = None
    for block in blocks:
        # Two consecutive lists would be read as one, so the second has another kind of bullet.
        alike = isinstance(block, Items) and isinstance(last, Items)
        other = alike and not other
        written = _items(block, other) if isinstance(block, Items) else _block(block)
        if written:
            lines.extend(["", *written] if lines else written)
            last = block
    return lines


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return _paragraph(block.inlines)
    if isinstance(block, Heading):
        text = _inlines(block.inlines, line_break=" ").strip()
        return [f"{'#' * block.level} {re.sub(r'(#+)$', _escape_closing, text)}"] if text else []
    if isinstance(block, Code):
        fence = _fence(block.text, 3)
        return [f"{fence}{block.language}", *block.text.split("\n"), fence]
    if isinstance(block, Rule):
        return ["___"]  # the only form that is not a list item after a bullet
    if isinstance(block, Quote):
        return [f"> {line}".rstrip(" ") for line in _blocks(block.blocks)]
    if isinstance(block, Remark):
        return [f"[{_text(block.text)}]"]
    if isinstance(block, Table):
        return _table(block)
    return _items(block, False)


def _escape_closing(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _paragraph(inlines: Sequence[Inline]) -> list[str]:
    lines = [line.strip(" ") for line in _inlines(inlines, line_break="\n").split("\n")]
    lines = [
        _LINE_START.sub(_escape_start, line, count=1) if _LINE_START.match(line) else line for line in lines
    ]
    lines = [line for line in lines if line]
    return [f"{line}\\" for line in lines[:-1]] + lines[-1:]


def _escape_start(found: re.Match[str]) -> str:
    return f"{found[3]}\\{found[4]}" if found[3] else f"\\{found[0]}"


def _items(block: Items, other: bool) -> list[str]:
    lines: list[str] = []
    items = [_blocks(item) for item in block.items]
    tight = all(map(_is_tight, block.items))
    for number, item in zip(block.bullets(), items, strict=True):
        if number is None:
            bullet = "* " if other else "- "
        else:
            bullet = f"{min(max(number, 0), 999_999_999)}{')' if other else '.'} "
        indent = " " * len(bullet)
        written = [line for line in item if line] if tight else item
        if lines and not tight:
            lines.append("")
        lines.append((bullet + written[0] if written else bullet).rstrip(" "))
        lines.extend(indent + line if line else "" for line in written[1:])
    return lines


def _is_tight(item: Sequence[Block]) -> bool:
    """Return whether an item needs no empty lines: it has words, followed only by lists that may begin there."""
    return all(isinstance(block, Paragraph) for block in item[:1]) and all(
        isinstance(block, Items)
        and (block.numbers is None or block.numbers[:1] == (1,))
        and len(item) == 2
        and all(map(_is_tight, block.items))
        for block in item[1:]
    )


def _table(block: Table) -> list[str]:
    rows = [[_inlines(cell, line_break="<br>").strip() for cell in row] for row in block.rows]
    if not block.header:
        rows.insert(0, [""] * len(rows[0]))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"| {' | '.join(['---'] * len(rows[0]))} |")
    return lines


# --- text ----------------------------------------------------------------------------------------------------


def _inlines(inlines: Sequence[Inline], *, line_break: str) -> str:
    return _write_marked(_lone_codes(inlines), 0, "", "", line_break)


def _lone_codes(inlines: Sequence[Inline]) -> list[Inline]:
    """Remove marks other than links from adjacent pieces of code, because their backticks must not meet."""
    out: list[Inline] = []
    for number, inline in enumerate(inlines):
        beside = [*inlines[max(number - 1, 0) : number], *inlines[number + 1 : number + 2]]
        if _CODE in inline.marks and any(_CODE in other.marks for other in beside):
            inline = attrs.evolve(inline, marks=tuple(m for m in inline.marks if m[0] in ("a", "code")))
        out.append(inline)
    return out


def _write_marked(inlines: Sequence[Inline], depth: int, before: str, after: str, line_break: str) -> str:
    """Write runs whose first `depth` marks are written already, between the characters `before` and `after`."""
    groups = _groups(inlines, depth)
    edges = [_edges(group, depth) for _, group in groups]
    written: list[str] = []
    for index, (mark, group) in enumerate(groups):
        left = edges[index - 1][1] if index else before
        right = edges[index + 1][0] if index + 1 < len(groups) else after
        if mark is None:
            written.append("".join(_plain(inline, line_break) for inline in group))
            if right in ("[", "!") and written[-1].endswith("!"):
                written[-1] = f"{written[-1][:-1]}\\!"
        else:
            written.append(_wrap(mark, group, depth, left, right, line_break))
    return "".join(written)


def _groups(inlines: Sequence[Inline], depth: int) -> list[tuple[Mark | None, list[Inline]]]:
    groups: list[tuple[Mark | None, list[Inline]]] = []
    for inline in inlines:
        mark = inline.marks[depth] if len(inline.marks) > depth else None
        if groups and groups[-1][0] == mark:
            groups[-1][1].append(inline)
        else:
            groups.append((mark, [inline]))
    return groups


def _edges(inlines: Sequence[Inline], depth: int) -> tuple[str, str]:
    """Return the first and last characters of the output, without emphasis, inside `depth` marks."""

    def edge(inline: Inline, place: int) -> str:
        if isinstance(inline, Break):
            return " "
        if any(kind == "a" for kind, _ in inline.marks[depth:]) or isinstance(inline, Image):
            return "[" if place == 0 else ")"
        if any(kind in ("code", "sup", "sub") for kind, _ in inline.marks[depth:]):
            return "`"
        return inline.text[place]

    return edge(inlines[0], 0), edge(inlines[-1], -1)


def _wrap(mark: Mark, group: Sequence[Inline], depth: int, left: str, right: str, line_break: str) -> str:
    kind, url = mark
    if kind == "code":
        return _code("".join(_raw(inline) for inline in group), in_table=line_break == "<br>")
    if kind in ("sup", "sub"):
        return f"<{kind}>{_write_marked(group, depth + 1, '>', '<', line_break)}</{kind}>"
    lead, group, trail = _trim(group, line_break)
    if not group:
        return lead + trail
    left, right = (lead and " ") or left, (trail and " ") or right
    if kind == "a":
        inner = _write_marked(group, depth + 1, "[", "]", " " if line_break == "\n" else line_break)
        return f"{lead}[{inner.strip()}]({_address(url)}){trail}"
    first, last = _edges(group, depth + 1)
    inner = _write_marked(group, depth + 1, left, right, line_break)
    sign = _DELIMITERS[kind]
    outside_words = not (_is_word(left) or _is_word(right))
    opens = not _is_punctuation(inner[:1]) or not _is_word(left)
    closes = not _is_punctuation(inner[-1:]) or not _is_word(right)
    if not (opens and closes) or (kind == "i" and not outside_words) or sign[0] in (left, right):
        return lead + inner + trail
    if first.isspace() or last.isspace() or inner[:1] == sign[0] or inner[-1:] == sign[0]:
        return lead + inner + trail
    return f"{lead}{sign}{inner}{sign}{trail}"


def _trim(group: Sequence[Inline], line_break: str) -> tuple[str, list[Inline], str]:
    """Split spaces and breaks off both ends, because Markdown requires them outside of marks."""
    inner = list(group)
    edges = ["", ""]
    for place in (0, -1):
        while inner:
            inline = inner[place]
            if isinstance(inline, Break):
                edges[place] = line_break
            elif isinstance(inline, Run):
                text = inline.text.lstrip(" ") if place == 0 else inline.text.rstrip(" ")
                if text != inline.text:
                    edges[place] = edges[place] or " "
                if text:
                    inner[place] = Run(text, inline.marks, inline.keeps_spaces)
                    break
            else:
                break
            inner.pop(place)
    return edges[0], inner, edges[-1]


def _is_word(character: str) -> bool:
    """Return whether the character may count as part of a word.

    Symbols may, because CommonMark versions differ.
    """
    if character == "" or character.isspace() or character in _ASCII_PUNCTUATION:
        return False
    return not unicodedata.category(character).startswith("P")


def _is_punctuation(character: str) -> bool:
    """Return whether the character may count as punctuation in any version of CommonMark."""
    return character != "" and not character.isalnum() and not character.isspace()


def _plain(inline: Inline, line_break: str) -> str:
    if isinstance(inline, Break):
        return line_break
    if isinstance(inline, Image):
        return f"![{_text(inline.alt)}]({_address(inline.url)})"
    return _text(re.sub(" +", " ", inline.text))


def _raw(inline: Inline) -> str:
    return " " if isinstance(inline, Break) else inline.alt if isinstance(inline, Image) else inline.text


def _text(text: str) -> str:
    """Return a page's words with all characters escaped that Markdown would interpret."""

    def escape(found: re.Match[str]) -> str:
        at, end = found.start(), found.end()
        if found[0] == "_" and at > 0 and text[at - 1].isalnum() and text[end : end + 1].isalnum():
            return "_"  # it has no meaning within a word
        return f"\\{found[0]}"

    return _ESCAPED.sub(escape, text)


def _code(text: str, *, in_table: bool) -> str:
    if not text.strip():
        return text
    fence = _fence(text, 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    written = f"{fence}{pad}{text}{pad}{fence}"
    return written.replace("|", "\\|") if in_table else written


def _fence(text: str, least: int) -> str:
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _address(url: str) -> str:
    def escape(found: re.Match[str]) -> str:
        if found[0] == "&":
            return "&amp;"
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))

    return _UNSAFE_IN_URL.sub(escape, url.strip())
