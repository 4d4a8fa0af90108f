"""Node: one thing that a snapshot shows, whatever source it came from; and what a source is asked for.

Rule: a source is `async (FrameRequest) -> Document`. Rendering, refs and searching know nothing but these nodes. A
source has no deadline of its own; `seconds` is its share of the time, so that work inside the page stops by itself
in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal

import attrs
import msgspec

from cdpengine._page.scripts.page_functions import IsolatedWorlds
from cdpengine._protocol.session import Session

if TYPE_CHECKING:
    from cdpengine._protocol.domains.accessibility import AXTree
    from cdpengine._snapshot.ref_parts import Given, GivenParts
    from cdpengine._snapshot.refs import Ref
    from cdpengine._snapshot.render.lines import Block, SnapshotOptions
    from cdpengine._snapshot.render.render import Rendering


Kind = Literal["interactive", "content", "structural", "text"]

Source = Literal["ax", "computed", "hybrid", "dom"]
"""Where a document's nodes came from: Chrome's accessibility tree; one walk in the page that reads Chrome's own
roles and names; the best of these, asked for by that name ("hybrid"); the DOM alone."""

Box = tuple[float, float, float, float]
"""x, y, width, height in CSS pixels of the frame's own viewport."""

LARGE = 10_000
"""Elements of a document after which it is too large for the time that there was, and not read too late. To read
so many takes the walk 0.1 to 0.3 s."""


class Node(msgspec.Struct, eq=False):
    """A shown element or a run of text. A Struct: a page has thousands, and it is made in a third of the time.

    `name` is the accessible name on one line (of a text: the text). `states` are pairs such as ("checked",
    True), ("checked", "mixed"), ("level", 2), in the order in which they are shown. `value` is a field's value
    as the page has it, None where there is none or where it is secret. `url` is a link's whole address.
    """

    role: str
    kind: Kind
    name: str = ""
    states: tuple[tuple[str, str | int | float | bool], ...] = ()
    value: str | None = None
    url: str = ""
    description: str = ""
    placeholder: str = ""
    backend_node_id: int | None = None
    frame_id: str | None = None
    children: list[Node] = msgspec.field(default_factory=list)
    box: Box | None = None
    clickable: bool = False
    remark: str = ""
    document: Document | None = None

    @property
    def wants_ref(self) -> bool:
        """Whether it gets a ref: what can be acted on, and content that has a name."""
        return self.backend_node_id is not None and (
            self.kind == "interactive" or self.clickable or (self.kind == "content" and self.name != "")
        )


@attrs.define(eq=False)
class Document:
    """The nodes of one frame's document: `roots` are the outermost shown ones, in the order of the page.

    `source` and `reason` say where they came from and why from there; `nodes_seen` counts what the source looked
    at, `milliseconds` is the time by step. `cut` says that the source stopped before the end, for want of time or
    (`deep`) because the elements are nested too deep; `cut_short` and `cut_because` say which. `unread` counts the
    elements that it did not come to.
    `parts_reused` counts parts whose nodes are those of an earlier document. `viewport` is the width and height of
    the frame's own viewport where boxes were asked for. `ax` is the reply of the accessibility tree, kept on
    request, and `loose` are nodes made for what only that tree has. `renderer_id` names the process that the
    document is in (_page/frames.py); of the documents that one program reads, all have it or none has. `unknown`
    says what could not be asked, `skipped` counts what `content-visibility: auto` keeps from the source,
    `skipped_acting` what of that can be acted on. `shared` is there where later documents may have the same nodes
    (`once_more`). `kind` says what the document is if it is no page of HTML, such as "a PDF"; `content_type` is
    its MIME type then. `loading` says what was still on its way when it was read, "" for nothing.
    """

    roots: list[Node]
    url: str = ""
    title: str = ""
    frame_id: str | None = None
    nodes_seen: int = 0
    loader_id: str | None = None
    session_id: str | None = None
    renderer_id: str | None = None
    source: Source = "ax"
    reason: str = ""
    milliseconds: Mapping[str, float] = attrs.field(factory=dict)
    cut: bool = False
    parts_reused: int = 0
    viewport: tuple[float, float] | None = None
    ax: AXTree | None = None
    loose: list[Node] = attrs.field(factory=list, kw_only=True)
    shared: SharedNodes | None = None
    loading: str = ""
    unknown: str = ""
    skipped: int = 0
    skipped_acting: int = 0
    kind: str = ""
    content_type: str = ""
    deep: bool = False
    unread: int = 0

    @property
    def cut_short(self) -> str:
        """Why the document was read only in part, in two words: "too deep", "too large" or "too late"."""
        if self.deep:
            return "too deep"
        return "too large" if self.nodes_seen + self.unread >= LARGE else "too late"

    @property
    def cut_because(self) -> str:
        """Why the document was read only in part, as it is shown."""
        if self.deep:
            return "because its elements are nested too deep"
        read = f"{self.nodes_seen} elements in time"
        if self.unread:
            read += f", {self.unread} not"
        if self.cut_short == "too large":
            return f"because it is too large ({read})"
        return f"because it was read too late ({read})"

    def once_more(self) -> Document:
        """Return a document of the same nodes, that may have another session, source, reason and time."""
        return Document(
            self.roots,
            self.url,
            self.title,
            self.frame_id,
            self.nodes_seen,
            self.loader_id,
            self.session_id,
            self.renderer_id,
            self.source,
            self.reason,
            self.milliseconds,
            self.cut,
            self.parts_reused,
            self.viewport,
            self.ax,
            self.shared,
            kind=self.kind,
            content_type=self.content_type,
        )


@attrs.define(eq=False)
class SharedNodes:
    """What was last made of nodes that several documents share: their texts and their refs.

    `tops` are the outermost nodes of the parts that later documents may have again; `blocks` are their lines, by
    the options that these were written for. `framed`: some of the nodes own frames.
    """

    renderings: dict[SnapshotOptions, tuple[Mapping[Node, Ref], Rendering]] = attrs.field(factory=dict)
    given: Given | None = None
    given_parts: GivenParts | None = None
    tops: AbstractSet[Node] = frozenset()
    blocks: dict[SnapshotOptions, Mapping[Node, Block]] = attrs.field(factory=dict)
    framed: bool = False


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Go through all nodes, parents before children, in the order of the page."""
    stack = list(roots)
    stack.reverse()
    while stack:
        node = stack.pop()
        yield node
        if node.children:
            stack.extend(reversed(node.children))


@attrs.frozen(kw_only=True)
class FrameRequest:
    """One frame's document.

    `session` is that of the process in which the frame runs, `worlds` the engine's isolated worlds of this page,
    `loader_id` the document that was there when the request was made. `root` is a backend node id: only what is
    in it. `boxes` fills `Node.box` and `Document.viewport`, `raw` keeps `Document.ax`. `clickables` looks for
    what the page made clickable, and fills `Node.clickable`; `pointer` also marks whatever has the cursor of a
    pointer by its own doing, links and buttons included. `fresh` takes nothing from earlier walks of the
    document, and leaves nothing to later ones: the nodes are its own. `owners` are the backend node ids of
    elements that own frames, as far as they are known: these are shown whatever roles they have.
    """

    session: Session
    worlds: IsolatedWorlds
    frame_id: str
    loader_id: str
    root: int | None = None
    seconds: float = math.inf
    boxes: bool = False
    clickables: bool = False
    pointer: bool = False
    raw: bool = False
    fresh: bool = False
    owners: AbstractSet[int] = frozenset()

    def within(self, seconds: float) -> FrameRequest:
        """Return the same request with another share of the time."""
        return FrameRequest(
            session=self.session,
            worlds=self.worlds,
            frame_id=self.frame_id,
            loader_id=self.loader_id,
            root=self.root,
            seconds=seconds,
            boxes=self.boxes,
            clickables=self.clickables,
            pointer=self.pointer,
            raw=self.raw,
            fresh=self.fresh,
            owners=self.owners,
        )
