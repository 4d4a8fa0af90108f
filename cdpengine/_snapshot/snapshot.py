"""Snapshot: a page as text with refs, its lines as data, its statistics, and searches for refs.

Rule: a snapshot is the state of one moment and never queries the page. The nodes (SnapshotNode) have the content
of the lines, uncut and unescaped: one for each line except remarks, in the same order. They are made on first use.
A search by role and name is exact, or at most ignores case. Similar refs are listed in the error and never
returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from types import MappingProxyType
from typing import Any

import attrs

from cdpengine._checks import check_count
from cdpengine._page.patterns import Words, check_words, collapse_space, holds, with_name
from cdpengine._snapshot.diff import SnapshotDiff, diff
from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.render.ax_modes import to_json
from cdpengine._snapshot.render.lines import AX_MODES, Mode, SnapshotOptions, repeats_description
from cdpengine._snapshot.render.render import Rendering
from cdpengine._snapshot.roles import check_role
from cdpengine._snapshot.similar_names import MOST_LISTED, with_similar_name
from cdpengine._snapshot.text import is_token, quote, shorten
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError


def _read_only_refs(refs: Mapping[str, Ref]) -> Mapping[str, Ref]:
    return MappingProxyType(refs if isinstance(refs, dict) else dict(refs))


@attrs.frozen(eq=False)
class Snapshot:
    """A page as text. `str()` returns the text; `refs` maps each ref in it, such as "e3", to its `Ref`.

    `mode` is its format. `diff` has the changes since the snapshot passed as `since`, None without one; its
    `apply` computes this text from that one. `unshown` are refs of nodes that the options left out, `gaps`
    describes the parts of the page that could not be read.

    `internals` has the engine's own parts of this snapshot. They change without notice.
    """

    text: str
    refs: Mapping[str, Ref] = attrs.field(converter=_read_only_refs, repr=False)
    stats: SnapshotStats
    url: str = ""
    title: str = ""
    mode: Mode = "role"
    diff: SnapshotDiff | None = attrs.field(default=None, repr=False)
    unshown: Sequence[Ref] = attrs.field(default=(), repr=False)
    gaps: Sequence[str] = ()
    internals: ListedNodes | None = attrs.field(default=None, repr=False)
    _ignored: bool = attrs.field(default=False, repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def nodes(self) -> tuple[SnapshotNode, ...]:
        """The lines as data, in order: role, name, value, states, text, ref, parent, frame; without remarks.

        Lines that were cut to size are not included. In the modes aria and webarena, whose lines are Chrome's own
        nodes, these are the nodes of the mode role (see `to_json` for Chrome's).
        """
        return () if self.internals is None else self.internals.data

    def find(
        self,
        role: str | None = None,
        name: Words | None = None,
        nth: int = 0,
        *,
        text: Words | None = None,
        exact: bool = False,
    ) -> Ref:
        """Return the shown ref with this role, name and text; the first one by default, `nth` counts from 0.

        Matches like `find_all`. Raises NodeNotFoundError if too few match; the error names near
        candidates, matching refs that the options left out, and unread parts of the page. Raises
        InvalidArgumentError for a negative `nth`, and for an unknown role.
        """
        check_count("nth", nth)
        query = self._want(role, name, text, exact)
        found = query.among(self.refs.values())
        if nth < len(found):
            return found[nth]
        raise not_found(list(self.refs.values()), found, query, nth, unshown=self.unshown, gaps=self.gaps)

    def find_all(
        self,
        role: str | None = None,
        name: Words | None = None,
        *,
        text: Words | None = None,
        exact: bool = False,
    ) -> list[Ref]:
        """Return the refs with this role, name and text in the snapshot, in document order; without any, all.

        `name` is the whole name with white space collapsed. Names in the same case have priority; if there are
        none and `exact` is False, case is ignored. `text` is a part of the name or content, ignoring case; with
        `exact` all of it, in the same case. Without role and name, only the innermost refs with the text match.
        Both can be compiled patterns, which are searched for. `role` is a role name as in the modes role, ai and
        numbered, or Chrome's name (modes aria and webarena).

        Raises InvalidArgumentError, with the nearest names, for an unknown role.
        """
        return self._want(role, name, text, exact).among(self.refs.values())

    def _want(self, role: str | None, name: Words | None, text: Words | None, exact: bool) -> RefQuery:
        check_words("name", name, empty=True)
        check_words("text", text)
        with_text: AbstractSet[str] = frozenset()
        if text is not None and self.internals is not None:
            with_text = self.internals.find_with_text(text, exact, innermost=role is None and name is None)
        known = resolve_role([*self.refs.values(), *self.unshown], role)
        return RefQuery(known, name, text, exact, with_text)

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as JSON data. In mode aria `nodes` has the accessibility tree, node by node."""
        out: dict[str, Any] = {
            "mode": self.mode,
            "url": self.url,
            "title": self.title,
            "text": self.text,
            "refs": {
                ref.id: {
                    "role": ref.role,
                    "name": ref.name,
                    "nth": ref.nth,
                    "frameId": ref.frame_id,
                    "backendNodeId": ref.backend_node_id,
                }
                for ref in self.refs.values()
            },
            "unshownRefs": len(self.unshown),
            "gaps": list(self.gaps),
            "stats": {
                **attrs.asdict(self.stats, recurse=False),
                "sources": {key: attrs.asdict(source) for key, source in self.stats.sources.items()},
                "milliseconds": dict(self.stats.milliseconds),
            },
        }
        if self.diff is not None:
            out["diff"] = self.diff.text
        if self.internals is not None and self.mode == "aria":
            out["nodes"] = to_json(self.internals.document, self.internals.refs, ignored=self._ignored)
        return out


State = str | int | float | bool


@attrs.frozen(kw_only=True)
class SnapshotNode:
    """One line of a snapshot: an element, or a run of text (role "text").

    role: the role as in the line, see docs/snapshots.md.
    name: the accessible name on one line, "" if it has none.
    value: a field's value; None if it is empty or secret (`states["value"]` is "hidden").
    states: such as {"checked": True, "level": 2}, without false ones.
    text: for text, its words, with the line breaks of `pre` and the like; for an element, its text if that is its
        only content and on its line, else "".
    ref: the ref for actions, or None.
    parent: the index in `Snapshot.nodes` of the node around it; None if it is outermost.
    frame: the id of the document's frame (as in `page.frames`).
    url: a link's whole address; for a frame's element, the address of the document in it.
    description, placeholder: "" if it has none, or if the name repeats it; a description also if the content or
        the next line repeats it.
    clickable: whether the page made it clickable without a role that shows it.
    remark: the reason why its content could not be read, else "".
    """

    role: str
    name: str = ""
    value: str | None = None
    states: Mapping[str, State] = attrs.field(factory=dict, hash=False)
    text: str = ""
    ref: Ref | None = None
    parent: int | None = None
    frame: str | None = None
    url: str = ""
    description: str = ""
    placeholder: str = ""
    clickable: bool = False
    remark: str = ""


@attrs.define(eq=False, slots=False)
class ListedNodes:
    """The nodes of a snapshot: the nodes of a document that have lines, None for all of them.

    `texts` is whether the text inside an element is on its line. `repeated` are the nodes whose description other
    lines repeat; None if not computed yet.
    """

    document: Document
    refs: Mapping[Node, Ref]
    lines: Sequence[Node | None] | None = None
    texts: bool = True
    repeated: AbstractSet[Node] | None = None

    @cached_property
    def data(self) -> tuple[SnapshotNode, ...]:
        """The nodes as data, in the order of the lines."""
        return tuple(self._make_data())

    def _make_data(self) -> Iterator[SnapshotNode]:
        listed = None if self.lines is None else set(self.lines)
        nodes: list[Node] = []
        depths: list[int] = []
        found: list[tuple[str, int | None, str | None]] = []  # text, parent, frame
        stack: list[tuple[Node, int | None, str | None]] = [
            (node, None, self.document.frame_id) for node in reversed(self.document.roots)
        ]
        while stack:
            node, parent, frame = stack.pop()
            only = node.children[0] if len(node.children) == 1 and node.children[0].kind == "text" else None
            below = parent
            is_listed = listed is None or node in listed
            if is_listed:
                text = (
                    node.name if node.kind == "text" else only.name if only is not None and self.texts else ""
                )
                below = len(nodes)
                nodes.append(node)
                depths.append(0 if parent is None else depths[parent] + 1)
                found.append((text, parent, node.frame_id or frame))
            if only is None or not is_listed:
                inner = frame if node.document is None else node.document.frame_id
                stack.extend((child, below, inner) for child in reversed(node.children))
        for place, (node, (text, parent, frame)) in enumerate(zip(nodes, found, strict=True)):
            is_repeated = (
                repeats_description(place, nodes, depths, with_texts=self.texts)
                if self.repeated is None
                else node in self.repeated
            )
            yield _data(
                node, text, self.refs.get(node), parent, frame, "" if is_repeated else node.description
            )

    def find_with_text(self, words_searched: Words, exact: bool, *, innermost: bool) -> set[str]:
        """Return the ids of the refs whose name, or whole content, has the text `words_searched`.

        With `innermost`, exclude those that contain another such ref.
        """
        words: dict[Node, str] = {}
        holding: set[Node] = set()  # nodes with such a ref, and their ancestors
        found: set[str] = set()
        for node in reversed(list(walk(self.document.roots))):
            inside = " ".join(word for child in node.children if (word := words.pop(child)))
            words[node] = inside or node.name
            if not holding.isdisjoint(node.children):
                holding.add(node)
                if innermost:
                    continue
            ref = self.refs.get(node)
            if ref is not None and any(
                holds(collapse_space(each), words_searched, exact)
                for each in (node.name, words[node])
                if each
            ):
                found.add(ref.id)
                holding.add(node)
        return found


def _data(
    node: Node, text: str, ref: Ref | None, parent: int | None, frame: str | None, description: str
) -> SnapshotNode:
    if node.kind == "text":
        return SnapshotNode(role="text", text=text, parent=parent, frame=frame)
    return SnapshotNode(
        role=node.role if is_token(node.role) else "generic",
        name=node.name,
        value=node.value,
        states=MappingProxyType(dict(node.states)),
        text=text,
        ref=ref,
        parent=parent,
        frame=frame,
        url=node.url or (node.document.url if node.document is not None else ""),
        description=description,
        placeholder=node.placeholder,
        clickable=node.clickable,
        remark=node.remark,
    )


def _read_only(values: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(dict(values))


@attrs.frozen
class FrameSource:
    """The source of one frame's nodes, and the reason for it. `source` is "none" for a frame without nodes.

    `url` is the frame's address at the time of the snapshot.
    """

    source: str
    reason: str
    url: str = ""


@attrs.frozen(kw_only=True)
class SnapshotStats:
    """Statistics of a snapshot. `lines` includes remarks; `refs` and `interactive` count shown nodes.

    `chars` is the length of the snapshot, `tokens` an estimate of a language model's count (see
    `_snapshot/render/render.py`). `frames` counts its documents, `nodes_seen` the nodes that the sources read,
    `parts_reused` the unchanged parts whose nodes were reused (docs/snapshots.md). `source` is the common source,
    or "mixed"; `sources` has it for each frame id, with the reason. `milliseconds` is the time by step: `read`
    (all frames), `refs`, `render`, and their sum `total`; the steps of the sources (`fetch`, `fold`, ...) are
    summed over the frames, which are read concurrently.
    """

    lines: int
    chars: int
    tokens: int = 0
    refs: int
    interactive: int
    frames: int = 1
    nodes_seen: int
    parts_reused: int = 0
    source: str
    sources: Mapping[str, FrameSource] = attrs.field(factory=dict, converter=_read_only)
    milliseconds: Mapping[str, float] = attrs.field(converter=_read_only)


def build_snapshot(
    rendering: Rendering,
    document: Document,
    refs: Mapping[Node, Ref],
    stats: SnapshotStats,
    options: SnapshotOptions,
    *,
    since: Snapshot | None = None,
) -> Snapshot:
    """Return the snapshot for a rendering of the document with these refs and options.

    Raises InvalidArgumentError if `since` is a snapshot in another mode.
    """
    if since is not None:
        check_comparable(since, options.mode)
    ax_mode = options.mode in AX_MODES
    return Snapshot(
        rendering.text,
        rendering.refs,
        stats,
        document.url,
        document.title,
        options.mode,
        None if since is None else diff(since.text, rendering.text),
        rendering.unshown,
        rendering.gaps,
        ListedNodes(
            document,
            refs,
            None if ax_mode else rendering.nodes,
            texts=not options.interactive,
            repeated=None if ax_mode else rendering.repeated,
        ),
        options.ignored,
    )


def check_comparable(since: Snapshot, mode: Mode) -> None:
    """Raise InvalidArgumentError if a snapshot in this mode cannot be compared with that one."""
    if since.mode != mode:
        raise InvalidArgumentError(
            what="since", given=f"a snapshot in mode {since.mode}", expected=f"one in mode {mode}"
        )


def common_source(sources: Iterable[str]) -> str:
    """Return the common source, "mixed" if there are several, "none" if none exists."""
    different = set(sources)
    return different.pop() if len(different) == 1 else "mixed" if different else "none"


def sum_milliseconds(documents: Iterable[Document]) -> dict[str, float]:
    """Sum the time of the documents' sources, step by step."""
    total: dict[str, float] = {}
    for document in documents:
        for step, milliseconds in document.milliseconds.items():
            total[step] = total.get(step, 0.0) + milliseconds
    return total


# --- finding refs --------------------------------------------------------------------------------------------


@attrs.frozen
class RefQuery:
    """The criteria of a search for refs, see `Snapshot.find_all`. `with_text` has the ids of refs with `text`."""

    role: str | None
    name: Words | None
    text: Words | None = None
    exact: bool = False
    with_text: AbstractSet[str] = frozenset()

    def among(self, refs: Iterable[Ref]) -> list[Ref]:
        """Return the matching refs, in their order."""
        found = [
            ref
            for ref in refs
            if (self.role is None or ref.role == self.role)
            and (self.text is None or ref.id in self.with_text)
        ]
        return list(with_name(found, lambda ref: ref.name, self.name, self.exact))

    def __str__(self) -> str:
        parts = [self.role or "any role", _describe_name(self.name)]
        if self.text is not None:
            parts.append(f"with text {'exactly ' if self.exact else ''}{_describe_name(self.text)}")
        return " ".join(part for part in parts if part)


def resolve_role(refs: Iterable[Ref], role: str | None) -> str | None:
    """Return the refs' name of the requested role. Raises InvalidArgumentError for an unknown role."""
    if role is None or any(ref.role == role for ref in refs):
        return role
    return check_role(role)


def not_found(
    refs: Sequence[Ref],
    found: Sequence[Ref],
    query: RefQuery,
    nth: int,
    *,
    unshown: Iterable[Ref] = (),
    gaps: Sequence[str] = (),
) -> NodeNotFoundError:
    """Return the error for a search that matches too few refs: only `found`.

    `unshown` are refs that the options left out; matching ones are named. `gaps` are unread parts of the page,
    which may contain the wanted node.
    """
    left_out = query.among(unshown)
    if found:
        reason = f"the snapshot shows only {len(found)} of these: {_list_refs(found)}"
    else:
        near = [] if left_out else _near(refs, query)
        reason = "not in the snapshot" + (f"; near it: {_list_refs(near)}" if near else "")
    if left_out:
        reason += f"; on the page, but left out of this snapshot by its options: {_list_refs(left_out)}"
    if gaps:
        more = f", and {len(gaps) - MOST_LISTED} more" if len(gaps) > MOST_LISTED else ""
        reason += f"; not read: {', '.join(gaps[:MOST_LISTED])}{more}"
    return NodeNotFoundError(target=f"{query} nth={nth}" if nth else str(query), reason=reason)


def _near(refs: Sequence[Ref], query: RefQuery) -> list[Ref]:
    """List refs with the same name or text in another role, then similar names, then others of the role."""
    of_role = [ref for ref in refs if ref.role == query.role]
    near = [] if query.text is None else attrs.evolve(query, role=None, name=None).among(refs)
    name = query.name
    if name is not None:
        near += RefQuery(None, name).among(refs)
    if isinstance(name, str):
        near += with_similar_name(of_role or refs, lambda ref: ref.name, name)
    near += of_role
    return list(dict.fromkeys(near))


def _describe_name(name: Words | None) -> str:
    if name is None:
        return ""
    return f"/{shorten(name.pattern, 80)}/" if isinstance(name, re.Pattern) else quote(shorten(name, 80))


def _list_refs(refs: Sequence[Ref]) -> str:
    more = f", and {len(refs) - MOST_LISTED} more" if len(refs) > MOST_LISTED else ""
    return ", ".join(map(str, refs[:MOST_LISTED])) + more
