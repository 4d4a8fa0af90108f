"""A fast search for a step's targets in the page itself, without a snapshot.

Rule: the probe returns an element only if a search in a snapshot would also return it as "exact". The element
is the only drawn element of its role and name in the page's main document. It was unique before, and its
surroundings do not contradict the match. All other cases need a snapshot: several elements, no element, a
frame, a list item. Found elements get refs, just like the elements of a snapshot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import attrs
import msgspec

from cdpengine._api.page.targets import assign_found
from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame, renderer_of
from cdpengine._page.navigation.documents import DocumentGone, document_error, open_document
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._page.scripts.page_functions import RemoteHandle, object_group
from cdpengine._page.search.locator import FoundNode
from cdpengine._protocol.session import Session
from cdpengine._snapshot.roles import chrome_roles, role_name
from cdpengine._snapshot.sources.computed import kit_source
from cdpengine.cache.changes import FIELD_ROLES, PageFeatures
from cdpengine.cache.entries import Target
from cdpengine.cache.matching.names import collapse, is_for_one_of_many
from cdpengine.cache.targets import DIALOGS, ITEM_ROLES, LONGEST_NAME
from cdpengine.errors import EvaluationFailedError, RemoteError

if TYPE_CHECKING:
    from cdpengine import Page

ELEMENTS: Mapping[str, str] = {
    "button": "button, summary, input, [role]",
    "link": "a, area, [role]",
    "textbox": "input, textarea, [contenteditable], [role]",
    "searchbox": "input, [role]",
    "checkbox": "input, [role]",
    "radio": "input, [role]",
    "switch": "input, [role]",
    "combobox": "input, select, [role]",
    "listbox": "select, [role]",
    "spinbutton": "input, [role]",
    "slider": "input, [role]",
    "tab": "[role]",
    "menuitem": "[role]",
}
"""CSS selectors of all elements that can have a role. The probe counts elements, so none may be missing."""

COUNTED = (
    "form, button, summary, input, textarea, select, a, area, h1, h2, h3, h4, h5, h6, "
    "[contenteditable], [role]"
)
"""A CSS selector of the elements that can have one of the roles that `PageFeatures` counts."""


class _Found(msgspec.Struct):
    count: int = 0
    around: list[tuple[str, str]] = []
    before: str = ""
    after: str = ""


class _Message(msgspec.Struct):
    kind: Literal["alert", "status", "named"]
    text: str


class _Signs(msgspec.Struct):
    messages: list[_Message] = []
    invalid: list[str] = []


class _Reply(msgspec.Struct):
    elements: list[_Found] = []
    roles: dict[str, int] = {}
    signs: _Signs = msgspec.field(default_factory=_Signs)
    status: int = 0


@attrs.frozen(kw_only=True)
class Probed:
    """The result of a probe: refs of certain elements by the name of their target, and counts of roles.

    `signs` is None if the probe did not query the document.
    """

    refs: Mapping[str, str]
    roles: Mapping[str, int]
    signs: Signs | None = None


@attrs.frozen(kw_only=True)
class Signs:
    """The feedback that a document shows after a step.

    `messages` are alerts, statuses and error messages, with their kinds. `invalid` are the names of the
    fields that are marked as invalid. `status` is the HTTP status of the document, or 0 if it is unknown.
    `document` is Chrome's id of the document.
    """

    messages: tuple[tuple[str, str], ...] = ()
    invalid: tuple[str, ...] = ()
    status: int = 0
    document: str = ""


@attrs.frozen(kw_only=True)
class QueriedElement:
    """A target with its name and item filled in."""

    target: Target
    name: str
    item: str

    @property
    def can_be_probed(self) -> bool:
        """Whether a probe can be as sure as a snapshot."""
        target = self.target
        return (
            target.role in ELEMENTS
            and not target.frames
            and target.alike == 1
            and 0 < len(self.name) < LONGEST_NAME
        )


async def probe_page(
    page: Page, queried: Mapping[str, QueriedElement], *, counted: bool = False, signs: bool = False
) -> Probed | None:
    """Search the page's main document for elements. Return None if the document goes away meanwhile.

    The caller sets the deadline. Raises SessionGoneError and the errors of `Session.call`.
    """
    probed = {slot: each for slot, each in queried.items() if each.can_be_probed}
    if not probed and not counted and not signs:
        return Probed(refs={}, roles={})
    frame = page.internals.target.frames.main
    loader_id = frame.loader_id
    request = [
        {
            "css": ELEMENTS[each.target.role],
            "roles": sorted(chrome_roles(each.target.role) | {each.target.role}),
            "name": collapse(each.name),
        }
        for each in probed.values()
    ]
    try:
        reply, numbers = await _query(page, frame, request, COUNTED if counted else None)
        renderer = await renderer_of(frame.session, frame)
    except DocumentGone:
        return None
    except EvaluationFailedError:
        return None  # an XML page, or one that changed the built-in functions: the caller takes a snapshot
    sure = {
        slot: number
        for (slot, each), found, number in zip(probed.items(), reply.elements, numbers, strict=True)
        if number is not None and _is_sure(each, found)
    }
    if frame.loader_id != loader_id:
        return None
    return Probed(
        refs={slot: _give_ref(page, frame, probed[slot], number, renderer) for slot, number in sure.items()},
        roles=reply.roles,
        signs=Signs(
            messages=tuple((each.kind, each.text) for each in reply.signs.messages),
            invalid=tuple(collapse(each) for each in reply.signs.invalid),
            status=reply.status,
            document=loader_id,
        ),
    )


_GROUP = "cdpengine.probe"
"""The object group of the probes. Its objects live as long as the engine probes a document."""

_LOOK = own("function (queries, counted) { return this.look(queries, counted); }")
_DROP = own("function () { this.drop(); }")

_probes: WeakKeyDictionary[Session, dict[str, tuple[str, RemoteHandle]]] = WeakKeyDictionary()
"""The cached probe of each frame's document, with the document's loader id. Pages are probed many times."""


async def _query(
    page: Page, frame: Frame, request: list[dict[str, Any]], counted: str | None
) -> tuple[_Reply, list[int | None]]:
    """Run the probe. Raises DocumentGone, EvaluationFailedError and the errors of `Session.call`."""
    known = _probes.setdefault(frame.session, {})
    loader_id, handle = known.get(frame.id, ("", None))
    try:
        if handle is None or handle.lost or loader_id != frame.loader_id:
            document = await open_document(page.internals.worlds, frame)
            made = await document.context.make(_probe(), group=_GROUP)
            if made is None:
                raise DocumentGone(frame.id)
            known[frame.id] = document.loader_id, made
            handle = made
        with object_group("probe") as group:
            call = handle.post(_LOOK, request, counted, how=SERIALIZED, group=group)
            reply, nodes = await text_and_nodes(call, _Reply)
    except RemoteError as error:
        known.pop(frame.id, None)
        raise document_error(error) from None
    return reply, [None if node is None else node.backend_node_id for node in nodes]


def forget_page(page: Page) -> None:
    """Release the objects of probes in the page's main document, without waiting for the release."""
    frame = page.internals.target.frames.main
    loader_id, handle = _probes.get(frame.session, {}).get(frame.id, ("", None))
    if handle is not None and loader_id == frame.loader_id:
        handle.send(_DROP)


@cache
def _probe() -> str:
    probe, candidates = script("cache/matching/probe"), script("cache/matching/candidates")
    read = script("cache/matching/messages")
    look = f"(queries, counted) => ({probe})(queries, counted, ({kit_source()})(), candidates, ({read}))"
    return own(
        f"function () {{ const candidates = ({candidates})(); return {{ look: {look}, drop: candidates.drop }}; }}"
    )


def has_counts(features: PageFeatures, roles: Mapping[str, int]) -> bool:
    """Return whether the page has the learned numbers of forms, buttons, links, headings and fields."""
    counts: Counter[str] = Counter()
    for role, count in roles.items():
        counts[role_name(role)] += count
    fields = sum(counts[role] for role in FIELD_ROLES)
    return (counts["form"], counts["button"], counts["link"], counts["heading"], fields) == (
        features.forms,
        features.buttons,
        features.links,
        features.headings,
        features.fields,
    )


def _is_sure(queried: QueriedElement, found: _Found) -> bool:
    """Return whether the surroundings of a unique element confirm it without a snapshot."""
    target = queried.target
    around = [(role_name(role), name) for role, name in found.around]
    dialogs = [name for role, name in around if role in DIALOGS]
    was_in_dialog = any(step.role in DIALOGS for step in target.path)
    if was_in_dialog != bool(dialogs):
        return False
    if dialogs and dialogs[0] != next((each.name for each in target.within if each.role in DIALOGS), ""):
        return False
    general = is_for_one_of_many(queried.name)
    if general and (queried.item or any(role in ITEM_ROLES for role, _ in around)):
        return False
    within, before, after = next(iter(target.within), None), target.before, target.after
    if within is None and before is None and after is None:
        return not target.together
    return (
        (within is not None and (within.role, within.name) in around)
        or (before is not None and collapse(before.name) == found.before)
        or (after is not None and collapse(after.name) == found.after)
    )


def _give_ref(page: Page, frame: Frame, queried: QueriedElement, number: int, renderer: str | None) -> str:
    """Return the existing ref of an element, or a new one."""
    core, role = page.internals, queried.target.role
    found = FoundNode(number, frame.id, frame.session.id, frame.loader_id, role)
    ref = assign_found(core.refs, found, role, queried.name, renderer)
    core.give({ref.id: ref})  # the search was by name
    return ref.id
