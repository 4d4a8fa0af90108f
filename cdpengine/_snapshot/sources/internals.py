"""Facts that only Chrome's tree has: internals of custom elements, and the owners of contested elements.

Rule: no script outside an element can read its internals, but Chrome's accessibility tree has them. So Chrome is
asked for the node of each custom element with a line. It is also asked for each one without a line that contains
interactive elements, which it may disable. The source `dom` asks for every custom element, because only the tree
has roles and names set by internals. The queries are sent with the walk; each takes Chrome 0.1 ms. The walk
receives the answers and reports them from then on. If its result differed from them, the document is walked again.

Chrome's answer for a hidden element names the nearest ancestor that hides it. So an element without a line is
queried only if no other queried element is inside it.

An element that several others claim by `aria-owns`, or whose claims form a circle, belongs to the owner that
comes first in a hash table of Chrome. The walk takes the first one in the document
(_snapshot/sources/walk_owners.js) and reports such elements. Chrome is asked for their parents. If the walk chose
another owner, the document is walked again. Documents without such elements pay nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Self

import attrs
import trio

from cdpengine._page.accessibility import keep_warm
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.accessibility import AXName, AXNode, AXTree
from cdpengine._snapshot.node import FrameRequest, Node
from cdpengine._snapshot.roles import role_and_kind
from cdpengine._snapshot.sources.ax_nodes import SingleNodes
from cdpengine._snapshot.sources.ax_tree import ignored_reasons, name_sources, value_text
from cdpengine._snapshot.sources.columns import NO_INTERNALS, Custom, Internals, Pairs, Walk
from cdpengine._snapshot.sources.walk import CALL, Installed
from cdpengine._snapshot.text import collapse_space
from cdpengine.errors import RemoteError

_MOST_READ = 2_000
"""Maximum number of custom elements of one document that are queried. So many take 0.1 s per snapshot."""

_MOST_LEAVES = 200
"""Maximum number of leaves (see `Custom`) that are queried again per snapshot, least recently queried first."""

_MOST_CONTESTED = 200
"""Maximum number of contested elements of one document that are queried. Each takes 0.1 ms."""

_LONGEST = 5.0
"""Maximum time for Chrome's answers, in seconds; also limited to a quarter of the frame's time."""

_BATCH = 200
"""Number of answers that are read at once."""

_SILENT_ROLES = frozenset({"", "generic", "none"})

_OMITTED_STATES = frozenset({"focused"})
"""States that the walk reads itself. Chrome's answer may be older than the focus."""


@attrs.define(eq=False)
class CustomElements:
    """The custom elements of one document during one read. Each is queried once.

    With `with_names` the walk also receives roles and names, as it cannot ask Chrome itself.
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
        """Query the known custom elements that were not queried yet."""
        customs = self.installed.customs
        if self._later is None:
            leaves = [number for number, custom in customs.items() if self._is_leaf(custom)]
            leaves.sort(key=lambda number: customs[number].look)
            self._later = frozenset(leaves[_MOST_LEAVES:])
        self._ask([number for number in customs if number not in self._later])

    def _is_leaf(self, custom: Custom) -> bool:
        """Return whether the element is queried by turns: one without a line, a role and a name."""
        silent = custom.look > 0 and custom.node is None and not custom.internals.name
        return custom.leaf or (self.with_names and silent and custom.internals.role in _SILENT_ROLES)

    def _ask(self, numbers: Iterable[int]) -> None:
        ids = self.installed.ids
        for number in numbers:
            if number in self._read or number in self._calls or number >= len(ids) or not ids[number]:
                continue
            if self.refusal:
                return
            if len(self._read) + len(self._calls) >= _MOST_READ:
                self.refusal = f"states of custom elements beyond the first {_MOST_READ} are unknown"
                return
            if self.with_names:
                keep_warm(self.request.session)  # otherwise Chrome builds a tree for each query
            self._calls[number] = self.request.session.post(
                "Accessibility.getPartialAXTree", backendNodeId=ids[number], fetchRelatives=False
            )

    async def have_changed(self, walk: Walk, nodes: Mapping[int, Node | None]) -> bool:
        """Return whether the walk was wrong about any custom element, and pass it the facts.

        `nodes` are the walk's nodes of custom elements. Late answers are dropped. Raises the errors of
        `Session.call`.
        """
        installed = self.installed
        if not (walk.customs or walk.leaves or installed.customs):
            return False
        installed.around.update(walk.around)
        for numbers, leaf in ((walk.leaves, True), (walk.customs, False)):
            for number in numbers:
                known = installed.customs.setdefault(number, Custom())
                node = nodes.get(number)
                if (node is None) != (known.node is None) or (
                    node and known.node and node.clickable != known.node.clickable
                ):
                    known.answer = None
                known.node, known.leaf = node, leaf
        self.ask()
        return await self._send_internals(await self._answers(), only_hidden=False)

    async def find_hidden(self, numbers: Sequence[int], around: Sequence[int]) -> bool:
        """Return whether the walk was wrong about which of these are hidden, and pass it the facts.

        `around` are the numbers of the custom elements around them. Otherwise like `have_changed`.
        """
        self.installed.around.update(around)
        for number in numbers:
            self.installed.customs.setdefault(number, Custom())
        self._ask(numbers)
        return await self._send_internals(await self._answers(), only_hidden=True)

    async def _answers(self) -> dict[int, Internals]:
        """Return Chrome's answers for the queried elements."""
        answers: dict[int, Internals] = {}
        with trio.move_on_after(min(_LONGEST, self.request.seconds / 4)) as time_left:
            while self._calls:
                # Chrome answers in order, so one wait is enough for a batch.
                batch = list(islice(self._calls.items(), _BATCH))
                await batch[-1][1].wait()
                for number, call in batch:
                    if not call.done:
                        await call.wait()
                    answers.update(self._answer(number, call))
                    del self._calls[number]
                    self._read.add(number)
        if time_left.cancelled_caught:
            self.refusal = "states of custom elements are unknown: Chrome's accessibility tree was late"
            await self.__aexit__()
        return answers

    def _answer(self, number: int, call: PendingCall) -> dict[int, Internals]:
        """Return the facts of Chrome's tree about an element, and about the ancestor that hides it, if any.

        Nothing if the answer is the same as the last one. Most are.
        """
        installed = self.installed
        custom = installed.customs.get(number)
        try:
            raw = bytes(call.raw_nowait())
        except RemoteError:
            raw = b""  # the element is gone
        if custom is not None and custom.answer is not None and custom.answer == hash(raw):
            custom.look = installed.looks
            return {}
        found = call.decode(raw, AXTree).nodes if raw else ()
        ax = next((each for each in found if each.backend_node_id == installed.ids[number]), None)
        if ax is None or custom is None:
            installed.customs.pop(number, None)
            return {}
        custom.look, custom.answer = installed.looks, None
        if not ax.ignored:
            custom.answer = hash(raw)
            return {number: self._make_internals(ax, custom.node)}
        by, hider = _hidden_by(ax)
        answers = {number: Internals(hidden=by == "ariaHiddenElement")}
        if by == "notRendered":
            installed.customs.pop(number)
        elif by == "ariaHiddenSubtree":
            outer = next((each for each in installed.around if installed.ids[each] == hider), None)
            if outer is not None:
                installed.customs.setdefault(outer, Custom())
                answers[outer] = Internals(hidden=True)
        return answers

    async def _send_internals(self, internals: Mapping[int, Internals], *, only_hidden: bool) -> bool:
        """Pass new facts to the walk. Return whether they contradict its result."""
        installed = self.installed
        changed: dict[int, Internals] = {}
        wrong: list[int] = []
        for number, new in internals.items():
            custom = installed.customs.get(number, Custom())
            if new == custom.internals:
                continue
            changed[number] = new
            if number in installed.customs:
                installed.customs[number].leaf = custom.leaf and not new.hidden
            if only_hidden:
                other = new.hidden != custom.internals.hidden
            else:
                other = custom.internals != NO_INTERNALS or _differ(custom.node, new)
            custom.internals = new
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

    def _make_internals(self, ax: AXNode, listed: Node | None) -> Internals:
        """Return the facts for the walk; for an element without a line, whether it is disabled."""
        node = None
        if listed is not None or self.with_names:
            number = ax.backend_node_id
            is_clickable = listed is not None and listed.clickable
            clickables = {number} if is_clickable and number is not None else frozenset[int]()
            single = SingleNodes(self.request.frame_id, clickables=clickables)
            node = single.convert(ax, value_text(ax.role))
        if node is not None:
            pairs: Pairs = tuple(_pairs_of(node))
        else:
            disabled = any(
                item.name == "disabled" and item.value and item.value.value for item in ax.properties
            )
            pairs = ("disabled", True) if disabled and listed is None else ()
        if not self.with_names:
            return Internals(pairs)
        role = "" if ax.role is None else str(ax.role.value)
        name = "" if ax.name is None else str(ax.name.value or "")
        return Internals(pairs, role=role, name=name, by="" if ax.name is None else _named_by(ax.name))


def _differ(node: Node | None, internals: Internals) -> bool:
    """Return whether the node differs from the facts, ignoring their order."""
    if internals.hidden:
        return True
    if node is None:
        return bool(internals.pairs) or internals.role not in ("", "generic", "none") or bool(internals.name)
    if internals.pairs is None:
        return False
    if internals.role and (role_and_kind(internals.role)[0], collapse_space(internals.name)) != (
        node.role,
        node.name,
    ):
        return True
    pairs = tuple(_pairs_of(node))
    return set(zip(pairs[::2], pairs[1::2], strict=True)) != set(
        zip(internals.pairs[::2], internals.pairs[1::2], strict=True)
    )


def _hidden_by(ax: AXNode) -> tuple[str, int | None]:
    """Return Chrome's reason for ignoring a node, and the responsible element, if the answer names one."""
    for reason in ignored_reasons(ax):
        related = reason.value.related_nodes if reason.value is not None else None
        return reason.name, related[0].backend_node_id if related else None
    return "", None


def _named_by(name: AXName) -> str:
    """Return the attribute that provides the name, if it is a label."""
    used = next((each for each in name_sources(name) if each.value is not None), None)
    return used.attribute if used is not None and used.attribute in ("aria-label", "aria-labelledby") else ""


def _pairs_of(node: Node) -> Iterable[str | int | float | bool | None]:
    """Yield alternating keys and values of a node's details."""
    for state, value in node.states:
        if state == "value":
            yield from ("value", None)
        elif state not in _OMITTED_STATES:
            yield from (state, value)
    if node.value is not None:
        yield from ("value", node.value)
    if node.description:
        yield from ("description", node.description)
    if node.placeholder:
        yield from ("placeholder", node.placeholder)


# --- owners -----------------------------------------------------------------------------------------------------


async def have_other_owners(request: FrameRequest, installed: Installed, walk: Walk) -> bool:
    """Return whether the walk chose other owners than Chrome, and pass Chrome's owners to it.

    Late answers are dropped. Raises the errors of `Session.call`.
    """
    pairs = list(zip(walk.contested[::2], walk.contested[1::2], strict=True))[:_MOST_CONTESTED]
    if not pairs:
        return False
    ids = installed.ids
    claimants = {str(ids[number]): number for number in walk.claimants if number < len(ids) and ids[number]}
    owners: dict[int, int] = {}
    with pending_group() as post, trio.move_on_after(min(_LONGEST, request.seconds / 4)):
        calls = {
            number: post(
                request.session.post(
                    "Accessibility.getPartialAXTree", backendNodeId=ids[number], fetchRelatives=False
                )
            )
            for number, _ in pairs
            if number < len(ids) and ids[number]
        }
        for number, call in calls.items():
            parent = await _parent(call, ids[number])
            if parent is not None:
                owners[number] = claimants.get(parent, 0)
    wrong = {number: owners[number] for number, owner in pairs if owners.get(number, owner) != owner}
    if wrong:
        what = {"do": "owners", "numbers": list(wrong), "owners": list(wrong.values())}
        await installed.function.post(CALL, what).raw()
    return bool(wrong)


async def _parent(call: PendingCall, backend_node_id: int) -> str | None:
    """Return the id of the parent in Chrome's tree, "" for none; None if the element is gone.

    Chrome uses the backend node id of an element as its id in the tree.
    """
    try:
        nodes = (await call.decoded(AXTree)).nodes
    except RemoteError:
        return None
    found = next((node for node in nodes if node.backend_node_id == backend_node_id), None)
    return None if found is None else found.parent_id or ""
