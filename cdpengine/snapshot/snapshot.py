"""Snapshot: a page as text with refs, and what one can ask it.

Rule: it is what was seen at one moment, and asks the page nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from cdpengine.browser.wanted_text import Words, check_words
from cdpengine.errors import InvalidArgument
from cdpengine.snapshot.diff import SnapshotDiff, diff
from cdpengine.snapshot.finding import matching, not_found, wanted_role
from cdpengine.snapshot.node import Document, Node
from cdpengine.snapshot.options import Mode, SnapshotOptions
from cdpengine.snapshot.refs import Ref
from cdpengine.snapshot.render import Rendering
from cdpengine.snapshot.render_aria import to_json
from cdpengine.snapshot.stats import SnapshotStats


def _read_only(refs: Mapping[str, Ref]) -> Mapping[str, Ref]:
    return MappingProxyType(refs if isinstance(refs, dict) else dict(refs))


@attrs.frozen(eq=False)
class Snapshot:
    """A page as text. `str()` gives the text; `refs` maps each ref in it, such as "e3", to its `Ref`.

    `mode` says how it reads. `diff` is what changed since the snapshot that was given as `since`, None without
    one; its `apply` makes this text of that one. `unshown` are refs of nodes that the options left out, `gaps`
    says which parts of the page nobody could look at.
    """

    text: str
    refs: Mapping[str, Ref] = attrs.field(converter=_read_only, repr=False)
    stats: SnapshotStats
    url: str = ""
    title: str = ""
    mode: Mode = "role"
    diff: SnapshotDiff | None = attrs.field(default=None, repr=False)
    unshown: Sequence[Ref] = attrs.field(default=(), repr=False)
    gaps: Sequence[str] = ()
    _tree: tuple[Document, Mapping[Node, Ref], bool] | None = attrs.field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        rendering: Rendering,
        document: Document,
        refs: Mapping[Node, Ref],
        stats: SnapshotStats,
        options: SnapshotOptions,
        *,
        since: Snapshot | None = None,
    ) -> Snapshot:
        """Make a snapshot of what `render` made of the document, these refs and these options.

        Raises InvalidArgument when `since` is a snapshot in another mode.
        """
        if since is not None:
            since.check_mode(options.mode)
        return cls(
            rendering.text,
            rendering.refs,
            stats,
            document.url,
            document.title,
            options.mode,
            None if since is None else diff(since.text, rendering.text),
            rendering.unshown,
            rendering.gaps,
            (document, refs, options.ignored) if options.mode == "aria" else None,
        )

    def __str__(self) -> str:
        return self.text

    def check_mode(self, mode: Mode) -> None:
        """Raise InvalidArgument when a snapshot in this mode cannot be compared with this one."""
        if self.mode != mode:
            raise InvalidArgument(
                what="since", given=f"a snapshot in mode {self.mode}", expected=f"one in mode {mode}"
            )

    def find(
        self, role: str | None = None, name: Words | None = None, nth: int = 0, *, exact: bool = False
    ) -> Ref:
        """Return the ref shown with this role and name; the first one by default, `nth` counts from 0.

        Matches as `find_all` does. Raises NodeNotFound when there are not that many, naming near candidates,
        refs that match but that the options left out, and parts of the page that could not be looked at; and
        InvalidArgument for a negative `nth`, and for what is no role.
        """
        if isinstance(nth, bool) or not isinstance(nth, int) or nth < 0:
            raise InvalidArgument(what="nth", given=repr(nth), expected="0 or more")
        role = self._role(role)
        found = self.find_all(role, name, exact=exact)
        if nth < len(found):
            return found[nth]
        refs = list(self.refs.values())
        raise not_found(refs, found, role, name, nth, exact=exact, unshown=self.unshown, gaps=self.gaps)

    def find_all(
        self, role: str | None = None, name: Words | None = None, *, exact: bool = False
    ) -> list[Ref]:
        """Return the refs shown with this role and name, in the order of the page; without either, all.

        A string is the whole name, white space collapsed: in the same case, or, where no name has the same case
        and `exact` is False, in any case. A compiled pattern is searched for in the name. A role is called as in
        the modes role, ai and numbered, or as Chrome calls it (modes aria and webarena).

        Raises InvalidArgument, which names the nearest ones, for what is no role.
        """
        check_words("name", name, empty=True)
        return matching(self.refs.values(), self._role(role), name, exact)

    def _role(self, role: str | None) -> str | None:
        return wanted_role([*self.refs.values(), *self.unshown], role)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON can say it. In mode aria `nodes` has the accessibility tree, node by node."""
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
        if self._tree is not None:
            document, refs, ignored = self._tree
            out["nodes"] = to_json(document, refs, ignored=ignored)
        return out
