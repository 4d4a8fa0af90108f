"""Rendering of nodes and refs to a snapshot's text, cut to size if needed.

Rule: pure and deterministic. Each mode defines its lines; this module chooses them, cuts them to size and joins
them. In every mode a page can forge neither a line nor a ref: its content is quoted and escaped, and a line that
begins with `#` is a remark of the engine.

Only whole lines are cut. Lines in the viewport are kept first, then the nearest ones; without known positions,
lines are kept in document order. A line is kept together with its ancestors, so that the rest still reads as a
tree. A last line describes the omitted lines and how to see them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import attrs

from cdpengine._snapshot.node import Box, Document, Node, walk
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.ref_parts import RefsByNode
from cdpengine._snapshot.render.ax_modes import aria_lines, webarena_lines
from cdpengine._snapshot.render.lines import AX_MODES, Lines, Mode, RenderedPart, SnapshotOptions, amount
from cdpengine._snapshot.render.modes import render_lines
from cdpengine._snapshot.render.outline import Parts

__all__ = ["Mode", "Rendering", "SnapshotOptions", "render"]


@attrs.define(eq=False, slots=False)
class Rendering:
    """The text of a snapshot, with its refs by their ids, in order, as `refs`. `lines` includes remarks.

    `nodes` are the nodes of the lines, in order; None for a line without a node.

    `repeated` are the nodes whose description the following lines repeat. `unshown` are the refs of nodes that the
    options left out. `gaps` describe the parts of the page that were not read: frames that did not answer,
    documents that were read only in part.
    """

    text: str
    mode: Mode
    refs: dict[str, Ref]
    lines: int
    interactive: int
    unshown: list[Ref]
    gaps: list[str]
    nodes: Sequence[Node | None]
    repeated: set[Node] = attrs.field(factory=set)

    @property
    def listed(self) -> list[Ref]:
        """The shown refs in order."""
        return list(self.refs.values())

    @cached_property
    def tokens(self) -> int:
        """The estimated number of tokens, see `estimate_tokens`."""
        return estimate_tokens(self.text)


def render(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Rendering:
    """Render the document's nodes, and those of the documents in its frames, with these options.

    The result is cached for documents that share the same nodes with the same refs.
    """
    shared = document.shared
    if shared is None or document.loading:
        return _render(document, refs, options)
    memo = shared.recall(RenderedNodes)
    if memo is None:
        shared.keep(memo := RenderedNodes())
    if memo.roots is not document.roots or (memo.refs is not refs and memo.refs != refs):
        memo.roots, memo.refs = document.roots, refs
        memo.renderings.clear()
    known = memo.renderings.get(options)
    if known is None:
        # Not with max_depth, which counts the lines below it.
        tops = shared.tops if options.max_depth is None else frozenset()
        assigned = refs.parts if isinstance(refs, RefsByNode) else {}
        parts = Parts(tops, memo.parts.pop(options, {}), assigned)
        known = memo.renderings[options] = _render(document, refs, options, parts)
        memo.parts[options] = parts.rendered
        while len(memo.parts) > _OPTIONS_REMEMBERED:
            del memo.parts[next(iter(memo.parts))]
    return known


@attrs.define(eq=False)
class RenderedNodes:
    """The renderings of a document with these nodes and refs, and the lines of its parts, by options."""

    roots: Sequence[Node] = ()
    refs: Mapping[Node, Ref] = attrs.field(factory=dict)
    renderings: dict[SnapshotOptions, Rendering] = attrs.field(factory=dict)
    parts: dict[SnapshotOptions, Mapping[Node, RenderedPart]] = attrs.field(factory=dict)


_OPTIONS_REMEMBERED = 4
"""Number of option sets for which the lines of parts are kept."""


def _render(
    document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions, parts: Parts | None = None
) -> Rendering:
    if options.mode in AX_MODES:
        ax_lines = aria_lines if options.mode == "aria" else webarena_lines
        lines = ax_lines(document, refs, options)
    else:
        lines = render_lines(document, refs, options, parts or Parts())
    repeated = lines.leave_out_repeated(with_texts=not options.interactive)
    frames = [node for node in _owners(document) if node.document is not None or node.remark]
    heading = [f"# {document.loading}"] if document.loading else []
    if document.kind:
        heading.append(f"# this document is {document.kind} ({document.content_type})")
    remarks = _remarks(document, frames, lines, refs, options)
    if options.max_chars is not None or options.max_tokens is not None:
        lines, left_out = fit(lines, heading + remarks, document, refs, options)
        if left_out:
            remarks.append(left_out)
    texts = lines.texts + remarks
    if not texts and not (document.kind and not options.interactive):
        what = "nothing that can be acted on" if options.interactive else "nothing to show"
        texts = [f"# {what} in the accessibility tree of this document"]
    text = "\n".join(heading + texts)
    listed, acting = lines.collect_listed(refs)
    return Rendering(
        text=text,
        mode=options.mode,
        refs=listed,
        lines=text.count("\n") + 1,
        interactive=acting,
        unshown=[ref for ref in refs.values() if ref.id not in listed] if len(listed) < len(refs) else [],
        gaps=_find_gaps(document, frames, refs),
        nodes=lines.nodes,
        repeated=repeated,
    )


def _owners(document: Document) -> Iterable[Node]:
    """Return all nodes that may own frames."""
    return walk(document.roots) if document.shared is None or document.shared.framed else ()


def _remarks(
    document: Document,
    frames: Sequence[Node],
    lines: Lines,
    refs: Mapping[Node, Ref],
    options: SnapshotOptions,
) -> list[str]:
    """Return the remarks about missing content, apart from lines that are cut to size."""
    remarks = list(lines.remarks)
    if document.cut:
        why = document.cut_because
        remarks.append(
            f"# this document was read only in part, {why}; take an element as root to read a part"
        )
    documents = [document, *(node.document for node in frames if node.document is not None)]
    if skipped := sum(each.skipped for each in documents):
        acting = sum(each.skipped_acting for each in documents)
        elsewhere = "the mode role with " if options.mode in AX_MODES else ""
        remarks.append(
            f"# {skipped} element{'s' if skipped != 1 else ''} ({acting} to act on) far off the screen left out: "
            "content-visibility: auto keeps them out of the accessibility tree; "
            f"scroll to them, or use {elsewhere}the source dom"
        )
    if lines.too_deep:
        ref_count = sum(node is not None and node in refs for node in lines.too_deep)
        remarks.append(
            f"# {amount(len(lines.too_deep), ref_count)} below depth {options.max_depth} left out; "
            "raise the depth to see them"
        )
    return remarks


def _find_gaps(document: Document, frames: Iterable[Node], refs: Mapping[Node, Ref]) -> list[str]:
    """Return descriptions of the unread parts of the page, with reasons."""
    gaps = [f"the document was read only in part, {document.cut_because}"] if document.cut else []
    if document.loading:
        gaps.append(document.loading)
    for node in frames:
        unread = node.document is None  # otherwise the remark describes the frame's document
        if unread or (node.document is not None and node.document.cut):
            ref = refs.get(node)
            why = "" if node.document is None else node.document.cut_because
            what = node.remark if unread else f"read only in part, {why}"
            gaps.append(f"{'frame' if ref is None else ref}: {what}")
    return gaps


# --- size ----------------------------------------------------------------------------------------------------

_MOST_PASSED_OVER = 20
"""Number of lines that may be skipped because they do not fit, before the search ends."""

_HUGE = 1000


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens that a language model uses for a string: 2 for each 5 bytes of UTF-8.

    Tokenisers of current models first split a string into pieces: a word with the space before it, up to three
    digits, a run of punctuation, a run of space. Snapshots have 2.6 characters per piece (the tests' recorded
    ones: 2.1 to 3.0); English prose has 5, and 4 characters per token. As most pieces are one token, the estimate
    uses 2.5. It counts bytes because other scripts need more tokens: 0.8 of a token for a letter of two bytes
    (Cyrillic, Greek, Arabic), 1.2 for one of three (CJK), 1.6 for an emoji. The error is at most about a third.
    """
    return -(-_bytes(text) * 2 // 5)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def fit(
    lines: Lines,
    remarks: Sequence[str],
    document: Document,
    refs: Mapping[Node, Ref],
    options: SnapshotOptions,
) -> tuple[Lines, str]:
    """Return the lines to keep, and the remark about the others, or "" if all are kept.

    `remarks` are also part of the snapshot. With the remark it is within `max_chars` and `max_tokens`, unless
    the remarks alone are too long.
    """
    limits: list[tuple[Callable[[str], int], int]] = []
    if options.max_chars is not None:
        limits.append((len, options.max_chars + 1))
    if options.max_tokens is not None:
        limits.append((_bytes, options.max_tokens * 5 // 2 + 1))
    sizes = [[measure(text) + 1 for text in lines.texts] for measure, _ in limits]
    rooms = [room - sum(measure(remark) + 1 for remark in remarks) for measure, room in limits]
    if all(sum(size) <= room for size, room in zip(sizes, rooms, strict=True)):
        return lines, ""
    where = _Where(lines, document)
    # The remark about all lines is the longest, apart from the ref that it may name.
    everything = range(len(lines.texts))
    worst = _remark(lines, everything, where, refs, options, "")
    longest_ref = max((len(ref.id) for ref in refs.values()), default=0)
    rooms = [
        room - measure(worst) - 1 - (longest_ref + len(_ROOT_HINT.format("")) if longest_ref else 0)
        for room, (measure, _) in zip(rooms, limits, strict=True)
    ]
    selected = _choose(sizes, rooms, where)
    left = [index for index in everything if index not in selected]
    chosen = sorted(selected)
    root = _best_root(left, selected, where.parents, lines, refs)
    return (
        Lines(
            [lines.texts[index] for index in chosen],
            [lines.nodes[index] for index in chosen],
            [lines.depths[index] for index in chosen],
            lines.too_deep,
            lines.remarks,
        ),
        _remark(lines, left, where, refs, options, root),
    )


def _choose(sizes: list[list[int]], rooms: list[int], where: _Where) -> set[int]:
    selected: set[int] = set()
    parents, at_first = where.parents, rooms
    passed_over = 0
    for index in where.order:
        if index in selected:
            continue
        needed = [index]
        above = parents[index]
        while above >= 0 and above not in selected:
            needed.append(above)
            above = parents[above]
        needs = [sum(size[each] for each in needed) for size in sizes]
        if any(need > room for need, room in zip(needs, rooms, strict=True)):
            # One long line must not exclude all later ones. In document order, however, text that continues
            # after a gap is misleading.
            huge = any(
                size[index] > max(_HUGE, room // 2) for size, room in zip(sizes, at_first, strict=True)
            )
            passed_over += 1
            if (huge or where.known) and passed_over <= _MOST_PASSED_OVER:
                continue
            break
        rooms = [room - need for need, room in zip(needs, rooms, strict=True)]
        selected.update(needed)
    return selected


# --- positions ----------------------------------------------------------------------------------------


class _Where:
    """For each line its parent line (-1: none), its distance from the viewport, and the order of choice.

    `distances` are in CSS pixels: 0 in the viewport, negative above or left of it. `known` is whether any box is
    known.
    """

    def __init__(self, lines: Lines, document: Document) -> None:
        self.parents = _parents(lines.depths)
        boxes = _distances(document)
        self.known = bool(boxes)
        self.distances: list[float] = []
        for index, node in enumerate(lines.nodes):
            known = None if node is None else boxes.get(node)
            if known is None:
                # Text and other nodes without a box have the position of the line before, if that is a sibling or
                # inside a sibling, and otherwise the position of their parent.
                before = index - 1
                beside = before >= 0 and lines.depths[before] >= lines.depths[index]
                inherited = before if beside else self.parents[index]
                known = self.distances[inherited] if inherited >= 0 else 0.0
            self.distances.append(known)
        self.order = sorted(range(len(lines.nodes)), key=lambda index: abs(self.distances[index]))


def _parents(depths: Sequence[int]) -> list[int]:
    parents: list[int] = []
    path: list[int] = []
    for index, depth in enumerate(depths):
        while path and depths[path[-1]] >= depth:
            path.pop()
        parents.append(path[-1] if path else -1)
        path.append(index)
    return parents


def _distances(document: Document) -> dict[Node, float]:
    """Return each node's distance from the viewport. Content of a frame is at least as far as the frame."""
    found: dict[Node, float] = {}
    documents: list[tuple[Document, float]] = [(document, 0.0)]
    while documents:
        current, at_least = documents.pop()
        stack = list(current.roots)
        while stack:
            node = stack.pop()
            if node.box is not None and current.viewport is not None:
                own = _distance(node.box, *current.viewport)
                found[node] = own if abs(own) > abs(at_least) else at_least
            if node.document is not None:
                documents.append((node.document, found.get(node, at_least)))
            else:
                stack.extend(node.children)
    return found


def _distance(box: Box, width: float, height: float) -> float:
    x, y, box_width, box_height = box
    if y + box_height < 0 or x + box_width < 0:
        return min(y + box_height, x + box_width, 0.0)
    return max(y - height, x - width, 0.0)


# --- remarks -----------------------------------------------------------------------------------

_ROOT_HINT = "take {} as root for its other lines, or "


def _best_root(
    left: Sequence[int],
    selected: set[int],
    parents: Sequence[int],
    lines: Lines,
    refs: Mapping[Node, Ref],
) -> str:
    """Return the ref of the kept line with the most omitted lines in it, "" if none exists."""
    counts: Counter[int] = Counter()
    nearest: dict[int, int] = {-1: -1}
    for index in left:
        path = []
        above = parents[index]
        while above not in nearest:
            node = lines.nodes[above]
            if above in selected and node is not None and node in refs:
                nearest[above] = above
                break
            path.append(above)
            above = parents[above]
        for each in path:
            nearest[each] = nearest[above]
        counts[nearest[parents[index]]] += 1
    del counts[-1]
    if not counts:
        return ""
    node = lines.nodes[counts.most_common(1)[0][0]]
    assert node is not None
    return refs[node].id


def _remark(
    lines: Lines,
    left: Sequence[int],
    where: _Where,
    refs: Mapping[Node, Ref],
    options: SnapshotOptions,
    root: str,
) -> str:
    if not left:
        return ""
    count = sum(lines.texts[index].count("\n") + 1 for index in left)
    ref_count = sum(node is not None and node in refs for node in map(lines.nodes.__getitem__, left))
    sizes = (options.max_chars, "characters"), (options.max_tokens, "tokens")
    used = [f"{most} {unit}" for most, unit in sizes if most is not None]
    plural = "s" if len(used) > 1 else ""
    unused = [] if options.mode in AX_MODES else ["interactive", "compact"]
    unused = [name for name in unused if not getattr(options, name)]
    if options.max_depth is None:
        unused.append("a maximum depth")
    others = f", or use {' or '.join(unused)}" if unused else ""
    place = ""
    if where.known:
        above = sum(where.distances[index] < 0 for index in left)
        below = sum(where.distances[index] > 0 for index in left)
        place = f"; {above} of them above the viewport, {below} below"
    hint = _ROOT_HINT.format(root) if root else ""
    return (
        f"# {amount(count, ref_count, 'more ')} left out by the limit{plural} of {' and '.join(used)}{place}; "
        f"{hint}raise the limit{plural} to see them{others}"
    )
