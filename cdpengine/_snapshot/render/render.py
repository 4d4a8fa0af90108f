"""From nodes and refs to the text of a snapshot.

Rule: pure, and deterministic. Each mode has a file that says what its lines are; here they are chosen, cut to
size and joined. In every mode a page can forge neither a line nor a ref: what it wrote stands between quotes and
escaped, and a line that begins with `#` is a remark of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import attrs

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.options import AX_MODES, Mode, SnapshotOptions
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.render.lines import Lines, amount, can_be_acted_on
from cdpengine._snapshot.render.mode_ai import ai_lines
from cdpengine._snapshot.render.mode_aria import aria_lines
from cdpengine._snapshot.render.mode_numbered import numbered_lines
from cdpengine._snapshot.render.mode_role import role_lines
from cdpengine._snapshot.render.mode_webarena import webarena_lines
from cdpengine._snapshot.render.size import estimate_tokens, fit

__all__ = ["Mode", "Rendering", "SnapshotOptions", "render"]

_MODES: Mapping[Mode, Callable[[Document, Mapping[Node, Ref], SnapshotOptions], Lines]] = {
    "role": role_lines,
    "ai": ai_lines,
    "aria": aria_lines,
    "numbered": numbered_lines,
    "webarena": webarena_lines,
}


@attrs.define(eq=False, slots=False)
class Rendering:
    """The text, and what stands in it: `shown` are its refs in order, `lines` counts remarks too.

    `nodes` are what its lines stand for, in order; None for a line that stands for no node.

    `repeated` are those whose description the lines after them say.
    `unshown` are the refs of nodes that the options left out. `gaps` say, one text each, which parts of the page
    that were not read: frames that did not answer, documents that were read only in part.
    """

    text: str
    mode: Mode
    shown: list[Ref]
    lines: int
    interactive: int
    unshown: list[Ref]
    gaps: list[str]
    nodes: list[Node | None]
    repeated: set[Node] = attrs.field(factory=set)

    @cached_property
    def refs(self) -> dict[str, Ref]:
        """The shown refs by their ids."""
        return {ref.id: ref for ref in self.shown}

    @cached_property
    def tokens(self) -> int:
        """About how many tokens the text is, see `size.estimate_tokens`."""
        return estimate_tokens(self.text)


def render(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Rendering:
    """Return the text of the document's nodes and of the documents in its frames, as the options say.

    A document that has the nodes of an earlier one, with the same refs, is not gone through again.
    """
    if document.shared is None or document.loading:
        return _rendered(document, refs, options)
    known = document.shared.renderings
    last = known.get(options)
    if last is None or (last[0] is not refs and last[0] != refs):
        known.clear()
        known[options] = last = refs, _rendered(document, refs, options)
    return last[1]


def _rendered(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Rendering:
    lines = _MODES[options.mode](document, refs, options)
    repeated = lines.leave_out_repeated(with_texts=not options.interactive)
    remarks = list(lines.remarks)
    heading = [f"# {document.loading}"] if document.loading else []
    gaps = _gaps(document, refs)
    if document.cut:
        remarks.append("# this document was read only in part, for want of time; root= takes a part of it")
    if skipped := _skipped(document, options.mode):
        remarks.append(skipped)
    if lines.too_deep:
        ref_count = sum(node is not None and node in refs for node in lines.too_deep)
        remarks.append(
            f"# {amount(len(lines.too_deep), ref_count)} below max_depth={options.max_depth} left out; "
            "raise max_depth to see them"
        )
    if options.max_chars is not None or options.max_tokens is not None:
        lines, left_out = fit(lines, heading + remarks, document, refs, options)
        if left_out:
            remarks.append(left_out)
    texts = lines.texts + remarks
    if not texts:
        what = "nothing that can be acted on" if options.interactive else "nothing to show"
        texts = [f"# {what} in the accessibility tree of this document"]
    text = "\n".join(heading + texts)
    nodes = lines.nodes
    ref_of = refs.get
    shown = [ref for node in nodes if node is not None and (ref := ref_of(node)) is not None]
    unshown: list[Ref] = []
    if len(shown) < len(refs):
        ids = {ref.id for ref in shown}
        unshown = [ref for ref in refs.values() if ref.id not in ids]
    return Rendering(
        text=text,
        mode=options.mode,
        shown=shown,
        lines=text.count("\n") + 1,
        interactive=sum(node is not None and can_be_acted_on(node) for node in nodes),
        unshown=unshown,
        gaps=gaps,
        nodes=nodes,
        repeated=repeated,
    )


def _skipped(document: Document, mode: Mode) -> str:
    """Say what is in no source that was asked, in frames too; "" where nothing is."""
    found = [document, *(node.document for node in walk(document.roots) if node.document is not None)]
    count = sum(each.skipped for each in found)
    if not count:
        return ""
    acting = sum(each.skipped_acting for each in found)
    elsewhere = 'mode="role" with ' if mode in AX_MODES else ""
    return (
        f"# {count} element{'s' if count != 1 else ''} ({acting} to act on) far off the screen left out: "
        "content-visibility: auto keeps them out of the accessibility tree; "
        f'{elsewhere}source="dom" shows them'
    )


def _gaps(document: Document, refs: Mapping[Node, Ref]) -> list[str]:
    """Return what is not known of the page."""
    gaps = ["the document was read only in part, for want of time"] if document.cut else []
    if document.loading:
        gaps.append(document.loading)
    for node in walk(document.roots):
        if node.remark or (node.document is not None and node.document.cut):
            ref = refs.get(node)
            what = node.remark or "read only in part, for want of time"
            gaps.append(f"{'frame' if ref is None else ref}: {what}")
    return gaps
