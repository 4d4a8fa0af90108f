"""From nodes and refs to the text of a snapshot.

Rule: pure, and deterministic. One line is one node:

    - role "name" [ref=e12] [nth=1] [state] [state=token] [value="..."]: "text inside"

with two spaces of indentation for each level, up to 100 levels. Everything between double quotes is a
JSON string and comes from the page; everything outside of them comes from here. A line that begins with
`#` is a remark of ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine.errors import InvalidArgument
from cdpengine.snapshot.node import Document, Node, walk
from cdpengine.snapshot.refs import Ref
from cdpengine.snapshot.roles import STRUCTURAL_ROLES
from cdpengine.snapshot.text import is_token, quote, shorten

_LONGEST_URL = 120

# Deeper lines are indented no further: without this, the text grows with the square of the depth.
_DEEPEST_INDENT = 100


def _not_negative(_: object, attribute: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InvalidArgument(
            what=attribute.name, given=repr(value), expected="0 or more, or None for no limit"
        )


@attrs.frozen(kw_only=True)
class SnapshotOptions:
    """What to show. Raises InvalidArgument for a negative limit.

    interactive: only what can be acted on; indented under other such nodes only.
    compact: without the unnamed structural lines that group fewer than two lines, or that hold no ref.
    max_depth: leave out lines that are indented deeper than this; 0 keeps the outermost lines.
    max_chars: cut at a line end, so that the text has at most this many characters, the remark about what was
        left out included (the remark is there even when it alone is longer).
    """

    interactive: bool = False
    compact: bool = False
    max_depth: int | None = attrs.field(default=None, validator=_not_negative)
    max_chars: int | None = attrs.field(default=None, validator=_not_negative)


@attrs.frozen
class Rendering:
    """The text, the refs that stand in it, and how many lines it has, all and interactive ones."""

    text: str
    refs: dict[str, Ref]
    lines: int
    interactive: int


@attrs.define(eq=False)
class _Line:
    text: str
    ref: Ref | None
    interactive: bool


def render(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Rendering:
    """Return the text of the document's nodes, as far as the options show them."""
    lines, too_deep = _lines(document, refs, options)
    remarks = []
    if too_deep:
        remarks.append(
            f"# {_amount(len(too_deep), sum(node in refs for node in too_deep))} below "
            f"max_depth={options.max_depth} left out; raise max_depth to see them"
        )
    if options.max_chars is not None:
        kept = _fitting(lines, remarks, options)
        if kept < len(lines):
            remarks.append(_cut_remark(lines[kept:], options))
            del lines[kept:]
    texts = [line.text for line in lines] + remarks
    if not texts:
        what = "nothing that can be acted on" if options.interactive else "nothing to show"
        texts = [f"# {what} in the accessibility tree of this document"]
    return Rendering(
        text="\n".join(texts),
        refs={line.ref.id: line.ref for line in lines if line.ref is not None},
        lines=len(texts),
        interactive=sum(line.interactive for line in lines),
    )


def _lines(
    document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions
) -> tuple[list[_Line], list[Node]]:
    """Return the lines within `max_depth`, and the nodes of those beyond it."""
    interactive_only, deepest = options.interactive, options.max_depth
    folded = _folded_when_compact(document, refs) if options.compact else frozenset()
    page, origin = _page_and_origin(document.url)
    lines: list[_Line] = []
    too_deep: list[Node] = []
    stack: list[tuple[Node, int]] = [(root, 0) for root in reversed(document.roots)]
    while stack:
        node, depth = stack.pop()
        children = node.children
        is_interactive = node.kind == "interactive"
        if (interactive_only and not is_interactive) or node in folded:
            stack.extend((child, depth) for child in reversed(children))
            continue
        text_inside = children[0] if len(children) == 1 and children[0].kind == "text" else None
        if deepest is not None and depth > deepest:
            too_deep.append(node)
        else:
            ref = refs.get(node)
            line = "  " * min(depth, _DEEPEST_INDENT) + _head(node, ref, page, origin)
            if text_inside is not None and not interactive_only:
                line += f": {quote(text_inside.name)}"
            lines.append(_Line(line, ref, is_interactive))
        if children and text_inside is None:
            stack.extend((child, depth + 1) for child in reversed(children))
    return lines, too_deep


def _head(node: Node, ref: Ref | None, page: str, origin: str) -> str:
    if node.kind == "text":
        return f"- text: {quote(node.name)}"
    head = f"- {node.role} {quote(node.name)}" if node.name else f"- {node.role}"
    if ref is not None:
        head += f" [ref={ref.id}]"
        if ref.nth:
            head += f" [nth={ref.nth}]"
    for state, value in node.states:
        if value is True:
            head += f" [{state}]"
        elif isinstance(value, str):
            head += f" [{state}={value if is_token(value) else quote(value)}]"
        else:
            head += f" [{state}={value:g}]"
    if node.value is not None:
        head += f" [value={quote(node.value)}]"
    if node.placeholder:
        head += f" [placeholder={quote(node.placeholder)}]"
    if node.description:
        head += f" [description={quote(node.description)}]"
    if node.url:
        head += f" [url={quote(_short_url(node.url, page, origin))}]"
    return head


# --- links ---------------------------------------------------------------------------------------------------

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def _page_and_origin(url: str) -> tuple[str, str]:
    """Return what the address of a link within the document, and within its origin, begins with."""
    origin = _ORIGIN.match(url)
    return url.partition("#")[0] + "#", origin[0] + "/" if origin else ""


def _short_url(url: str, page: str, origin: str) -> str:
    """Leave out what a link shares with its document; cut what is long, the middle of no escape spared."""
    if url.startswith(page):
        url = url[len(page) - 1 :]
    elif origin and url.startswith(origin):
        url = url[len(origin) - 1 :]
    return shorten(url, _LONGEST_URL)


# --- size ----------------------------------------------------------------------------------------------------


def _folded_when_compact(document: Document, refs: Mapping[Node, Ref]) -> AbstractSet[Node]:
    """Return the unnamed structural nodes that group fewer than two lines, or that hold no ref."""
    folded: set[Node] = set()
    below: dict[Node, tuple[int, bool]] = {}  # lines right below, after folding; whether a ref is below
    for node in reversed(list(walk(document.roots))):
        lines, has_ref = 0, False
        for child in node.children:
            child_lines, child_has_ref = below.pop(child)
            lines += child_lines if child in folded else 1
            has_ref = has_ref or child_has_ref or child in refs
        below[node] = lines, has_ref
        says_nothing = not node.name and not node.states and node.value is None and node not in refs
        if node.role in STRUCTURAL_ROLES and says_nothing and (lines < 2 or not has_ref):
            folded.add(node)
    return folded


def _fitting(lines: Sequence[_Line], remarks: Sequence[str], options: SnapshotOptions) -> int:
    """Return how many lines fit into `max_chars` with the remarks, and with one about the rest if there is one."""
    most = options.max_chars or 0
    room = most + 1 - sum(len(remark) + 1 for remark in remarks)
    if sum(len(line.text) + 1 for line in lines) <= room:
        return len(lines)
    room -= len(_cut_remark(lines, options)) + 1  # no remark about fewer lines is longer
    kept = 0
    for line in lines:
        room -= len(line.text) + 1
        if room < 0:
            break
        kept += 1
    return kept


def _cut_remark(lines: Sequence[_Line], options: SnapshotOptions) -> str:
    unused = [name for name in ("interactive", "compact") if not getattr(options, name)]
    if options.max_depth is None:
        unused.append("max_depth")
    instead = f", or use {' or '.join(unused)}" if unused else ""
    amount = _amount(len(lines), sum(line.ref is not None for line in lines), "more ")
    return f"# {amount} left out by max_chars={options.max_chars}; raise max_chars to see them{instead}"


def _amount(lines: int, refs: int, more: str = "") -> str:
    return f"{lines} {more}line{'s' if lines != 1 else ''} ({refs} ref{'s' if refs != 1 else ''})"
