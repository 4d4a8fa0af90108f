"""Parts of a document that say the same as when they were last read: their nodes are used once more.

Rule: pure. The page decides which parts it only names; here is checked what the page cannot see: that what is
around a part makes the same of it. The nodes of a part then belong to several documents, and nobody may change
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._snapshot.finish import Child, unwrapped
from cdpengine._snapshot.node import Node


class PartChanged(Exception):
    """A part that the walk only named is not known, or what is around it makes something else of it now."""


@attrs.frozen(eq=False)
class Part:
    """What stands right inside of the part's place. `said` is what is said above it, which its texts may repeat.

    `captions` are the captions in it, with what each one gave its name to, if anything.
    """

    top: tuple[Child, ...]
    said: str | None
    captions: tuple[tuple[int, str | None], ...]


@attrs.define(eq=False)
class _Opened:
    number: int
    children: list[Child]
    start: int
    said: str | None
    captions: list[int] = attrs.field(factory=list)
    end: int = 0


class Parts:
    """The parts of one walk, while its nodes are made: `kept` are of the walk before, `found` of this one."""

    def __init__(self, kept: Mapping[int, Part] | None = None) -> None:
        self._kept: Mapping[int, Part] = {} if kept is None else kept
        self.found: dict[int, Part] = {}
        self.reused = 0
        self._opened: list[_Opened] = []
        self._current: _Opened | None = None

    def reuse(self, number: int, said: str | None, labels: Mapping[int, str]) -> Sequence[Child]:
        """Return what stands in the part's place. Raises PartChanged."""
        part = self._kept.get(number)
        if part is None or part.said != said:
            raise PartChanged
        for caption, name in part.captions:
            if labels.get(caption) != name:
                raise PartChanged
        self.found[number] = part
        self.reused += 1
        return part.top

    def open(self, number: int, children: list[Child], said: str | None) -> None:
        """Begin a part, at the end of the `children` so far."""
        self._current = _Opened(number, children, len(children), said)

    def caption(self, number: int) -> None:
        """Take note of a caption."""
        if self._current is not None:
            self._current.captions.append(number)

    def close(self, number: int) -> None:
        """End the part that was begun last."""
        opened, self._current = self._current, None
        if opened is not None and opened.number == number:
            opened.end = len(opened.children)
            self._opened.append(opened)

    def finish(
        self, gone: AbstractSet[Node], labels: Mapping[int, str], wrappers: AbstractSet[Node] = frozenset()
    ) -> None:
        """Keep the parts that were read, now that their nodes are whole, but for the nodes that are `gone`.

        In the place of one of the `wrappers` stand its children.
        """
        for opened in self._opened:
            top = tuple(
                each
                for child in opened.children[opened.start : opened.end]
                if child not in gone
                for each in (unwrapped(child, wrappers) if isinstance(child, Node) else (child,))
            )
            captions = tuple((number, labels.get(number)) for number in set(opened.captions) if number)
            self.found[opened.number] = Part(top, opened.said, captions)
