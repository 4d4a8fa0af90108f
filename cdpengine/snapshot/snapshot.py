"""Snapshot: a page as text with refs, and the one call that takes it.

Rule: one `Accessibility.getFullAXTree`, and the rest is pure. There are no deadlines here; a cancel scope
around `take_snapshot` ends it, and then the table of refs is as it was.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from cdpengine.errors import InvalidArgument, NodeNotFound, UndecodableReply
from cdpengine.session.session import Session
from cdpengine.snapshot.axtree import AXTree, decode_ax_tree
from cdpengine.snapshot.node import walk
from cdpengine.snapshot.refs import Ref, RefTable
from cdpengine.snapshot.render import SnapshotOptions, render
from cdpengine.snapshot.text import collapse_space, quote, shorten
from cdpengine.snapshot.tree import fold


@attrs.frozen
class SnapshotStats:
    """What a snapshot is made of. `lines` includes remarks; `refs` and `interactive` count what is shown.

    `nodes_seen` counts the nodes of the reply, `milliseconds` the time by step: fetch (the wire and decoding),
    fold, refs, render. `source` is "ax": Chrome's accessibility tree.
    """

    lines: int
    chars: int
    refs: int
    interactive: int
    nodes_seen: int
    source: str
    milliseconds: Mapping[str, float]


def _read_only(refs: Mapping[str, Ref]) -> Mapping[str, Ref]:
    return MappingProxyType(dict(refs))


@attrs.frozen(eq=False)
class Snapshot:
    """One document as text. `str()` gives the text; `refs` maps each ref in it, such as "e3", to its `Ref`."""

    text: str
    refs: Mapping[str, Ref] = attrs.field(converter=_read_only, repr=False)
    stats: SnapshotStats
    url: str = ""
    title: str = ""

    def __str__(self) -> str:
        return self.text

    def find(self, role: str | None = None, name: str | re.Pattern[str] | None = None, nth: int = 0) -> Ref:
        """Return the ref shown with this role and name; the first one by default, `nth` counts from 0.

        Matches as `find_all` does. Raises NodeNotFound when there are not that many, naming near candidates,
        and InvalidArgument for a negative `nth`.
        """
        if isinstance(nth, bool) or not isinstance(nth, int) or nth < 0:
            raise InvalidArgument(what="nth", given=repr(nth), expected="0 or more")
        found = self.find_all(role, name)
        if nth < len(found):
            return found[nth]
        wanted = " ".join(
            part for part in (role or "any role", _describe_name(name), f"nth={nth}" if nth else "") if part
        )
        if found:
            reason = f"the snapshot shows only {len(found)} of these: {_listed(found)}"
        else:
            near = self._near(role, name)
            reason = "not in the snapshot" + (f"; near it: {_listed(near)}" if near else "")
        raise NodeNotFound(target=wanted, reason=reason)

    def find_all(self, role: str | None = None, name: str | re.Pattern[str] | None = None) -> list[Ref]:
        """Return the refs shown with this role and name, in the order of the page; without either, all.

        A string is the whole name, white space collapsed: in the same case, or, where no name has the same
        case, in any case. A compiled pattern is searched for in the name. Roles have lower case.
        """
        refs = [ref for ref in self.refs.values() if role is None or ref.role == role]
        if name is None:
            return refs
        if isinstance(name, re.Pattern):
            return [ref for ref in refs if name.search(ref.name)]
        wanted = collapse_space(name)
        exact = [ref for ref in refs if ref.name == wanted]
        if exact:
            return exact
        wanted = wanted.casefold()
        return [ref for ref in refs if ref.name.casefold() == wanted]

    def _near(self, role: str | None, name: str | re.Pattern[str] | None) -> list[Ref]:
        """List the same name in another role, then names like it, then others of the role."""
        near: list[Ref] = []
        of_role = [ref for ref in self.refs.values() if ref.role == role]
        if isinstance(name, re.Pattern):
            near += self.find_all(None, name)
        elif name is not None:
            near += self.find_all(None, name)
            wanted = collapse_space(name).casefold()
            pool = (of_role or list(self.refs.values()))[:_MOST_COMPARED]
            names = {ref.name.casefold(): ref for ref in reversed(pool) if len(ref.name) <= _LONGEST_COMPARED}
            near += [
                ref
                for text, ref in reversed(names.items())
                if wanted and text and (wanted in text or text in wanted)
            ]
            if len(wanted) <= _LONGEST_COMPARED:
                from difflib import get_close_matches

                near += [names[text] for text in get_close_matches(wanted, names, n=_MOST_LISTED)]
        near += of_role
        return list(dict.fromkeys(near))


_MOST_LISTED = 5
_MOST_COMPARED = 2_000
_LONGEST_COMPARED = 200


def _describe_name(name: str | re.Pattern[str] | None) -> str:
    if name is None:
        return ""
    return f"/{shorten(name.pattern, 80)}/" if isinstance(name, re.Pattern) else quote(shorten(name, 80))


def _listed(refs: Iterable[Ref]) -> str:
    refs = list(refs)
    more = f", and {len(refs) - _MOST_LISTED} more" if len(refs) > _MOST_LISTED else ""
    return ", ".join(map(str, refs[:_MOST_LISTED])) + more


async def fetch_ax_tree(session: Session) -> AXTree:
    """Ask for the whole accessibility tree of the session's root document.

    Raises as `Session.request` does; a reply is refused only when it is not JSON.
    """
    try:
        return await session.request("Accessibility.getFullAXTree", {}, AXTree)
    except UndecodableReply as refused:
        try:
            return decode_ax_tree(refused.raw)
        except ValueError:
            raise refused from None


def build_snapshot(
    tree: AXTree,
    table: RefTable,
    *,
    session_id: str | None,
    frame_id: str | None,
    loader_id: str | None,
    options: SnapshotOptions | None = None,
    fetch_milliseconds: float = 0.0,
) -> Snapshot:
    """Make a snapshot of a tree that was fetched from the document `loader_id`; the table gets its refs.

    All nodes of the document get their refs, shown or not, so they are the same whatever the options are.
    """
    started = time.perf_counter()
    document = fold(tree, frame_id=frame_id)
    folded = time.perf_counter()
    refs = table.assign(
        walk(document.roots), session_id=session_id, frame_id=document.frame_id, loader_id=loader_id
    )
    assigned = time.perf_counter()
    rendering = render(document, refs, options or SnapshotOptions())
    rendered = time.perf_counter()
    stats = SnapshotStats(
        lines=rendering.lines,
        chars=len(rendering.text),
        refs=len(rendering.refs),
        interactive=rendering.interactive,
        nodes_seen=document.nodes_seen,
        source="ax",
        milliseconds=MappingProxyType(
            {
                "fetch": fetch_milliseconds,
                "fold": (folded - started) * 1000,
                "refs": (assigned - folded) * 1000,
                "render": (rendered - assigned) * 1000,
            }
        ),
    )
    return Snapshot(rendering.text, rendering.refs, stats, document.url, document.title)


async def take_snapshot(
    session: Session,
    table: RefTable,
    *,
    frame_id: str | None,
    loader_id: str | None,
    options: SnapshotOptions | None = None,
) -> Snapshot:
    """Take a snapshot of the session's root document, which is `loader_id` of `frame_id`.

    Raises as `Session.request` does. The document must not have been replaced meanwhile: a caller that cannot
    know beforehand fetches the tree with `fetch_ax_tree`, looks at the frame's loader before and after, and
    then builds with `build_snapshot`.
    """
    started = time.perf_counter()
    tree = await fetch_ax_tree(session)
    return build_snapshot(
        tree,
        table,
        session_id=session.id,
        frame_id=frame_id,
        loader_id=loader_id,
        options=options,
        fetch_milliseconds=(time.perf_counter() - started) * 1000,
    )
