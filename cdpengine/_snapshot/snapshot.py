"""Snapshot: a page as text with refs, and what one can ask it.

Rule: it is what was seen at one moment, and asks the page nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

import attrs

from cdpengine._page.wanted_text import Words, check_words
from cdpengine._snapshot.data import ShownNodes, SnapshotNode
from cdpengine._snapshot.diff import SnapshotDiff, diff
from cdpengine._snapshot.finding import WantedRef, not_found, wanted_role
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.options import AX_MODES, Mode, SnapshotOptions
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.render import Rendering
from cdpengine._snapshot.render_aria import to_json
from cdpengine._snapshot.stats import SnapshotStats
from cdpengine.errors import InvalidArgumentError


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
    _shown: ShownNodes | None = attrs.field(default=None, repr=False)
    _ignored: bool = attrs.field(default=False, repr=False)

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

        Raises InvalidArgumentError when `since` is a snapshot in another mode.
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
            ShownNodes(
                document,
                refs,
                None if options.mode in AX_MODES else rendering.nodes,
                texts=not options.interactive,
                repeated=None if options.mode in AX_MODES else rendering.repeated,
            ),
            options.ignored,
        )

    def __str__(self) -> str:
        return self.text

    @property
    def nodes(self) -> tuple[SnapshotNode, ...]:
        """The lines as data, in order: role, name, value, states, text, ref, parent, frame; remarks left out.

        What was cut to size is not here either. In the modes aria and webarena, whose lines are Chrome's own
        nodes, these are the nodes that the mode role would show (see `to_json` for Chrome's).
        """
        return () if self._shown is None else self._shown.data

    def check_mode(self, mode: Mode) -> None:
        """Raise InvalidArgumentError when a snapshot in this mode cannot be compared with this one."""
        if self.mode != mode:
            raise InvalidArgumentError(
                what="since", given=f"a snapshot in mode {self.mode}", expected=f"one in mode {mode}"
            )

    def find(
        self,
        role: str | None = None,
        name: Words | None = None,
        nth: int = 0,
        *,
        text: Words | None = None,
        exact: bool = False,
    ) -> Ref:
        """Return the ref shown with this role, name and text; the first one by default, `nth` counts from 0.

        Matches as `find_all` does. Raises NodeNotFoundError when there are not that many, naming near candidates,
        refs that match but that the options left out, and parts of the page that could not be looked at; and
        InvalidArgumentError for a negative `nth`, and for what is no role.
        """
        if isinstance(nth, bool) or not isinstance(nth, int) or nth < 0:
            raise InvalidArgumentError(what="nth", given=repr(nth), expected="0 or more")
        wanted = self._wanted(role, name, text, exact)
        found = wanted.among(self.refs.values())
        if nth < len(found):
            return found[nth]
        raise not_found(list(self.refs.values()), found, wanted, nth, unshown=self.unshown, gaps=self.gaps)

    def find_all(
        self,
        role: str | None = None,
        name: Words | None = None,
        *,
        text: Words | None = None,
        exact: bool = False,
    ) -> list[Ref]:
        """Return the refs shown with this role, name and text, in the order of the page; without any, all.

        `name` is the whole name, white space collapsed: in the same case, or, where no name has the same case
        and `exact` is False, in any case. `text` is part of what is said by the name or inside, in any case; with
        `exact` all of it, in the same case; without role and name, the innermost refs that say it. A compiled
        pattern is searched for in either. A role is called as in the modes role, ai and numbered, or as Chrome
        calls it (modes aria and webarena).

        Raises InvalidArgumentError, which names the nearest ones, for what is no role.
        """
        return self._wanted(role, name, text, exact).among(self.refs.values())

    def _wanted(self, role: str | None, name: Words | None, text: Words | None, exact: bool) -> WantedRef:
        check_words("name", name, empty=True)
        check_words("text", text)
        saying: AbstractSet[str] = frozenset()
        if text is not None and self._shown is not None:
            saying = self._shown.saying(text, exact, innermost=role is None and name is None)
        known = wanted_role([*self.refs.values(), *self.unshown], role)
        return WantedRef(known, name, text, exact, saying)

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
        if self._shown is not None and self.mode == "aria":
            out["nodes"] = to_json(self._shown.document, self._shown.refs, ignored=self._ignored)
        return out
