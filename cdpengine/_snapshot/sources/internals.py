"""Custom elements: the states, values and descriptions that they set through `ElementInternals`.

Rule: no script outside of an element can read its internals, but Chrome's accessibility tree has them. So Chrome
is asked for the node of each custom element that has a line. It is also asked for each one without a line that
holds something to act on, which may be disabled with it. The questions go out with the walk; each takes Chrome
0.1 ms. The walk is told the answers, and says just that from then on. Where it said something else before, the
document is walked once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import attrs

from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.accessibility import AXNode, AXTree
from cdpengine._snapshot.node import FrameRequest, Node
from cdpengine._snapshot.sources.ax_nodes import node_of
from cdpengine._snapshot.sources.walk import CALL, Custom, Installed, Told
from cdpengine.errors import RemoteError

_MOST_ASKED = 2_000
"""Custom elements of one document that are asked for: a look takes 0.1 s for them."""

_NOT_TOLD = frozenset({"focused"})
"""States that the walk knows better: Chrome's answer may be older than the focus."""


@attrs.define(eq=False)
class CustomElements:
    """The custom elements of one document, while it is read once: each is asked for once."""

    request: FrameRequest
    installed: Installed
    refusal: str = ""
    _calls: dict[int, PendingCall] = attrs.field(factory=dict, init=False)
    _read: set[int] = attrs.field(factory=set, init=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._calls:
            self._calls.popitem()[1].abandon()

    def ask(self) -> None:
        """Ask for those that are known and were not asked for."""
        ids = self.installed.ids
        for number in self.installed.customs:
            if number in self._read or number in self._calls or number >= len(ids) or not ids[number]:
                continue
            if len(self._read) + len(self._calls) >= _MOST_ASKED:
                self.refusal = f"states of custom elements beyond the first {_MOST_ASKED} are not known"
                return
            self._calls[number] = self.request.session.post(
                "Accessibility.getPartialAXTree", backendNodeId=ids[number], fetchRelatives=False
            )

    async def have_changed(self, seen: Sequence[int], nodes: Mapping[int, Node | None]) -> bool:
        """Return whether the walk said something else of any of them; from now on it says what Chrome does.

        `seen` are the numbers that the walk reported, `nodes` are those that it made of them. Raises as
        `Session.call` does.
        """
        installed = self.installed
        if not seen and not installed.customs:
            return False
        for number in seen:
            known = installed.customs.get(number)
            installed.customs[number] = Custom(nodes.get(number), None if known is None else known.told)
        self.ask()
        changed: dict[int, Told] = {}
        wrong: list[int] = []
        for number, call in list(self._calls.items()):
            try:
                found = (await call.decoded(AXTree)).nodes
            except RemoteError:
                found = ()  # it is gone
            del self._calls[number]
            self._read.add(number)
            ax = next((each for each in found if each.backend_node_id == installed.ids[number]), None)
            custom = installed.customs.get(number)
            if ax is None or ax.ignored or custom is None:
                installed.customs.pop(number, None)
                continue
            node, before = custom.node, custom.told
            told = _told_of(ax, node, self.request.frame_id)
            if told == before:
                continue
            changed[number] = told
            installed.customs[number] = Custom(node, told)
            if before is not None or _differ(node, told):
                wrong.append(number)
        if changed:
            what = {
                "do": "internals",
                "numbers": list(changed),
                "told": list(changed.values()),
                "wrong": wrong,
            }
            await installed.function.post(CALL, what).raw()
        return bool(wrong)


def _told_of(ax: AXNode, shown: Node | None, frame_id: str) -> Told:
    """Return what the walk is told; of an element without a line, whether it is disabled."""
    if shown is None:
        disabled = any(item.name == "disabled" and item.value and item.value.value for item in ax.properties)
        return ("disabled", True) if disabled else ()
    clickables = {ax.backend_node_id} if shown.clickable and ax.backend_node_id is not None else frozenset()
    node = node_of(ax, frame_id=frame_id, clickables=clickables)
    return () if node is None else tuple(_pairs(node))


def _pairs(node: Node) -> Iterable[str | int | float | bool | None]:
    for state, value in node.states:
        if state == "value":
            yield from ("value", None)
        elif state not in _NOT_TOLD:
            yield from (state, value)
    if node.value is not None:
        yield from ("value", node.value)
    if node.description:
        yield from ("description", node.description)
    if node.placeholder:
        yield from ("placeholder", node.placeholder)


def _differ(node: Node | None, told: Told) -> bool:
    """Return whether the node says something else, in whatever order."""
    if node is None:
        return bool(told)
    pairs = tuple(_pairs(node))
    return set(zip(pairs[::2], pairs[1::2], strict=True)) != set(zip(told[::2], told[1::2], strict=True))
