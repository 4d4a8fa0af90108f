"""Node: one element or text in a snapshot, independent of its source; and the request to a source.

Rule: a source is `async (FrameRequest) -> Document`. Rendering, refs and searches know only these nodes. A source
has no deadline; `seconds` is its share of the time, so that work inside the page stops in time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, TypeVar

import attrs
import msgspec

from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.domains.accessibility import AXTree
from cdpengine._protocol.session import Session

_Memo = TypeVar("_Memo")

Kind = Literal["interactive", "content", "structural", "text"]

Source = Literal["ax", "computed", "hybrid", "dom"]
"""The source of a document's nodes: Chrome's accessibility tree; one walk in the page that reads Chrome's own
roles and names; the best of these, requested by that name ("hybrid"); the DOM alone.
"""

Box = tuple[float, float, float, float]
"""x, y, width, height in CSS pixels of the frame's viewport."""

LARGE = 10_000
"""Number of elements from which an incompletely read document counts as too large, and not as read too late. The
walk takes 0.1 to 0.3 s to read so many.
"""


class Node(msgspec.Struct, eq=False):
    """A shown element or a run of text. A Struct, because that is three times faster to create.

    `name` is the accessible name on one line (for text: the text). `states` are pairs such as ("checked", True),
    ("checked", "mixed"), ("level", 2), in display order. `value` is a field's value on the page, None if it has
    none or is secret. `url` is a link's whole address.
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
        """Whether the node gets a ref: it is interactive, or it is content with a name."""
        return self.backend_node_id is not None and (
            self.kind == "interactive" or self.clickable or (self.kind == "content" and self.name != "")
        )


@attrs.define(eq=False)
class Document:
    """The nodes of one frame's document: `roots` are the outermost shown ones, in document order.

    `source` is the source of the nodes, `reason` the reason for the choice. `nodes_seen` counts the elements that
    the source read; `milliseconds` is the time by step. `cut` is whether the source stopped before the end, for
    lack of time or (`deep`) because the elements are nested too deep; `cut_short` and `cut_because` describe the
    reason. `unread` counts the elements that it did not reach. `parts_reused` counts parts whose nodes come from
    an earlier document. `viewport` is the width and height of the frame's viewport, if boxes were requested. `ax`
    is the reply of the accessibility tree, kept on request, and `loose` are nodes for elements that only that tree
    has. `renderer_id` names the document's process (_page/frames.py); either all documents of a program have it or
    none. `unknown` describes failed queries. `skipped` counts the elements that `content-visibility: auto` hides
    from the source, `skipped_acting` the interactive ones among them. `shared` is present if later documents may
    have the same nodes (`once_more`). `kind` describes a document that is not an HTML page, such as "a PDF";
    `content_type` is its MIME type then. `loading` describes content that was still pending during the read, "" if
    none was.
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
        """The reason why the document was read only in part: "too deep", "too large" or "too late"."""
        if self.deep:
            return "too deep"
        return "too large" if self.nodes_seen + self.unread >= LARGE else "too late"

    @property
    def cut_because(self) -> str:
        """The reason why the document was read only in part, as shown."""
        if self.deep:
            return "because its elements are nested too deep"
        read = f"{self.nodes_seen} elements in time"
        if self.unread:
            read += f", {self.unread} not"
        if self.cut_short == "too large":
            return f"because it is too large ({read})"
        return f"because it was read too late ({read})"

    def once_more(self) -> Document:
        """Return a copy with the same nodes, whose session, source, reason and time can be changed."""
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
    """The nodes that a document shares with later ones, and the results that their users cached.

    `tops` are the outermost nodes of the parts that later documents may reuse. `framed` is whether any of the
    nodes owns a frame. All documents that follow each other have the same `memos`: one object of each type, whose
    owner checks whether it still applies.
    """

    tops: AbstractSet[Node] = frozenset()
    framed: bool = False
    memos: dict[type, object] = attrs.field(factory=dict, repr=False)

    def recall(self, kind: type[_Memo]) -> _Memo | None:
        """Return the object of this type that `keep` stored, or None."""
        memo = self.memos.get(kind)
        return memo if isinstance(memo, kind) else None

    def keep(self, memo: object) -> None:
        """Store an object for later documents. It replaces the earlier object of its type."""
        self.memos[type(memo)] = memo

    def __getstate__(self) -> tuple[AbstractSet[Node], bool]:
        """Pickle without what belongs to this process."""
        return self.tops, self.framed

    def __setstate__(self, state: tuple[AbstractSet[Node], bool]) -> None:
        self.tops, self.framed = state
        self.memos = {}


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Yield all nodes, parents before children, in document order."""
    stack = list(roots)
    stack.reverse()
    while stack:
        node = stack.pop()
        yield node
        if node.children:
            stack.extend(reversed(node.children))


@attrs.frozen(kw_only=True)
class FrameRequest:
    """A request for one frame's document.

    `session` is the session of the frame's process, `worlds` the engine's isolated worlds of this page,
    `loader_id` the document at the time of the request. `root` is a backend node id: only its content is read.
    `boxes` fills `Node.box` and `Document.viewport`, `raw` keeps `Document.ax`. `clickables` finds elements that
    the page made clickable, and fills `Node.clickable`; `pointer` also marks all elements that set the pointer
    cursor themselves, including links and buttons. `fresh` does not use earlier walks of the document, and keeps
    nothing for later ones, so its nodes are not shared. `owners` are the known backend node ids of elements that
    own frames, which are shown whatever roles they have.
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
