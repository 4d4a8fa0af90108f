"""Custom elements: the roles, names, states and aria-hidden that they set through `ElementInternals`.

Rule: no script outside of an element can read its internals, but Chrome's accessibility tree has them. So
Chrome is asked for the node of each custom element that has a line. It is also asked for each one without a
line that holds something to act on, which may be disabled with it. The source `dom` needs every one: it knows
roles and names by internals from the tree alone. The questions go out with the walk; each takes Chrome 0.1 ms.
The walk is told the answers, and says just that from then on. Where it said something else before, the document
is walked once more.

Chrome's answer for a hidden element names the nearest element around it that hides it. So an element without a
line is asked for only if no other one in it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import attrs
import trio

from cdpengine import _json
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.accessibility import AXName, AXNameSource, AXNode, AXProperty, AXTree
from cdpengine._snapshot.node import FrameRequest, Node
from cdpengine._snapshot.roles import role_and_kind
from cdpengine._snapshot.sources.ax_nodes import node_of
from cdpengine._snapshot.sources.ax_tree import keep_warm
from cdpengine._snapshot.sources.columns import NOTHING_KNOWN, Custom, Pairs, Told, Walk
from cdpengine._snapshot.sources.walk import CALL, Installed
from cdpengine._snapshot.text import collapse_space
from cdpengine.errors import RemoteError

_MOST_ASKED = 2_000
"""Custom elements of one document that are asked for: a look takes 0.1 s for them."""

_MOST_LEAVES = 200
"""Leaves (see `Custom`) that are asked for once more in one look, those first that were asked longest ago."""

_LONGEST = 5.0
"""Seconds in which Chrome has to answer, at most a quarter of the frame's time."""

_NOT_TOLD = frozenset({"focused"})
"""States that the walk knows better: Chrome's answer may be older than the focus."""


@attrs.define(eq=False)
class CustomElements:
    """The custom elements of one document, while it is read once: each is asked for once.

    With `with_names` the walk is told roles and names, too, as it cannot ask Chrome itself.
    """

    request: FrameRequest
    installed: Installed
    with_names: bool
    refusal: str = ""
    _calls: dict[int, PendingCall] = attrs.field(factory=dict, init=False)
    _read: set[int] = attrs.field(factory=set, init=False)
    _later: frozenset[int] | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.installed.looks += 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._calls:
            self._calls.popitem()[1].abandon()

    def ask(self) -> None:
        """Ask for those that are known and were not asked for."""
        customs = self.installed.customs
        if self._later is None:
            leaves = [number for number, custom in customs.items() if custom.leaf]
            leaves.sort(key=lambda number: customs[number].look)
            self._later = frozenset(leaves[_MOST_LEAVES:])
        self._ask([number for number in customs if number not in self._later or not customs[number].leaf])

    def _ask(self, numbers: Iterable[int]) -> None:
        ids = self.installed.ids
        for number in numbers:
            if number in self._read or number in self._calls or number >= len(ids) or not ids[number]:
                continue
            if self.refusal:
                return
            if len(self._read) + len(self._calls) >= _MOST_ASKED:
                self.refusal = f"states of custom elements beyond the first {_MOST_ASKED} are not known"
                return
            if self.with_names:
                keep_warm(self.request.session)  # or Chrome makes a tree for each of them
            self._calls[number] = self.request.session.post(
                "Accessibility.getPartialAXTree", backendNodeId=ids[number], fetchRelatives=False
            )

    async def have_changed(self, walk: Walk, nodes: Mapping[int, Node | None]) -> bool:
        """Return whether the walk said something else of any of them; from now on it says what Chrome does.

        `nodes` are those that the walk made of them. An answer that is late is not waited for. Raises as
        `Session.call` does.
        """
        installed = self.installed
        if not (walk.customs or walk.leaves or installed.customs):
            return False
        installed.around.update(walk.around)
        for numbers, leaf in ((walk.leaves, True), (walk.customs, False)):
            for number in numbers:
                known = installed.customs.get(number, Custom())
                installed.customs[number] = attrs.evolve(known, node=nodes.get(number), leaf=leaf)
        self.ask()
        return await self._tell(await self._answers(), only_hidden=False)

    async def find_hidden(self, numbers: Sequence[int], around: Sequence[int]) -> bool:
        """Return whether others of these are hidden than the walk knew of, which knows them from now on.

        `around` are the numbers of the custom elements around them. Otherwise as `have_changed`.
        """
        self.installed.around.update(around)
        for number in numbers:
            self.installed.customs.setdefault(number, Custom())
        self._ask(numbers)
        return await self._tell(await self._answers(), only_hidden=True)

    async def _answers(self) -> dict[int, Told]:
        """Return what Chrome says of those that it was asked for."""
        told: dict[int, Told] = {}
        with trio.move_on_after(min(_LONGEST, self.request.seconds / 4)) as time_left:
            while self._calls:
                number = next(iter(self._calls))
                told.update(await self._answer(number, self._calls[number]))
                del self._calls[number]
                self._read.add(number)
        if time_left.cancelled_caught:
            self.refusal = "states of custom elements are not known: Chrome's accessibility tree was late"
            await self.__aexit__()
        return told

    async def _answer(self, number: int, call: PendingCall) -> dict[int, Told]:
        """Return what Chrome's tree says of an element; of the one around it as well that hides it."""
        installed = self.installed
        try:
            found = (await call.decoded(AXTree)).nodes
        except RemoteError:
            found = ()  # it is gone
        ax = next((each for each in found if each.backend_node_id == installed.ids[number]), None)
        custom = installed.customs.get(number)
        if ax is None or custom is None:
            installed.customs.pop(number, None)
            return {}
        custom = installed.customs[number] = attrs.evolve(custom, look=installed.looks)
        if not ax.ignored:
            return {number: self._told_of(ax, custom.node)}
        by, hider = _hidden_by(ax)
        told = {number: Told(hidden=by == "ariaHiddenElement")}
        if by == "notRendered":
            installed.customs.pop(number)
        elif by == "ariaHiddenSubtree":
            outer = next((each for each in installed.around if installed.ids[each] == hider), None)
            if outer is not None:
                installed.customs.setdefault(outer, Custom())
                told[outer] = Told(hidden=True)
        return told

    async def _tell(self, told: Mapping[int, Told], *, only_hidden: bool) -> bool:
        """Tell the walk what it does not know; return whether that is something else than what it said."""
        installed = self.installed
        changed: dict[int, Told] = {}
        wrong: list[int] = []
        for number, new in told.items():
            custom = installed.customs.get(number, Custom())
            if new == custom.told:
                continue
            changed[number] = new
            if number in installed.customs:
                installed.customs[number] = attrs.evolve(
                    custom, told=new, leaf=custom.leaf and not new.hidden
                )
            if only_hidden:
                other = new.hidden != custom.told.hidden
            else:
                other = custom.told != NOTHING_KNOWN or _differ(custom.node, new)
            if other:
                wrong.append(number)
        if changed:
            what = {
                "do": "internals",
                "numbers": list(changed),
                "told": [each.listed() for each in changed.values()],
                "wrong": wrong,
            }
            await installed.function.post(CALL, what).raw()
        return bool(wrong)

    def _told_of(self, ax: AXNode, shown: Node | None) -> Told:
        """Return what the walk is told; of an element without a line, whether it is disabled."""
        clickables = (
            {ax.backend_node_id}
            if shown is not None and shown.clickable and ax.backend_node_id is not None
            else frozenset[int]()
        )
        node = None
        if shown is not None or self.with_names:
            node = node_of(ax, frame_id=self.request.frame_id, clickables=clickables)
        if node is not None:
            pairs: Pairs = tuple(_pairs_of(node))
        else:
            disabled = any(
                item.name == "disabled" and item.value and item.value.value for item in ax.properties
            )
            pairs = ("disabled", True) if disabled and shown is None else ()
        if not self.with_names:
            return Told(pairs)
        role = "" if ax.role is None else str(ax.role.value)
        name = "" if ax.name is None else str(ax.name.value or "")
        return Told(pairs, role=role, name=name, by="" if ax.name is None else _named_by(ax.name))


def _differ(node: Node | None, told: Told) -> bool:
    """Return whether the node says something else, in whatever order."""
    if told.hidden:
        return True
    if node is None:
        return bool(told.pairs) or told.role not in ("", "generic", "none") or bool(told.name)
    if told.pairs is None:
        return False
    if told.role and (role_and_kind(told.role)[0], collapse_space(told.name)) != (node.role, node.name):
        return True
    pairs = tuple(_pairs_of(node))
    return set(zip(pairs[::2], pairs[1::2], strict=True)) != set(
        zip(told.pairs[::2], told.pairs[1::2], strict=True)
    )


_decode_reasons = _json.Decoder(list[AXProperty]).decode


def _hidden_by(ax: AXNode) -> tuple[str, int | None]:
    """Return why Chrome ignores a node, and the element that is the reason, if it names one."""
    raw = bytes(ax.ignored_reasons)
    for reason in _decode_reasons(raw) if raw else ():
        related = reason.value.related_nodes if reason.value is not None else None
        return reason.name, related[0].backend_node_id if related else None
    return "", None


_decode_sources = _json.Decoder(list[AXNameSource]).decode


def _named_by(name: AXName) -> str:
    """Return the attribute that a name stands for, if it is a label."""
    raw = bytes(name.sources)
    used = next((each for each in _decode_sources(raw) if each.value is not None), None) if raw else None
    return used.attribute if used is not None and used.attribute in ("aria-label", "aria-labelledby") else ""


def _pairs_of(node: Node) -> Iterable[str | int | float | bool | None]:
    """Yield the keys and values of a node."""
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
