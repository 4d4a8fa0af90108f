"""Probing: the targets of a step are looked for on the page itself, without a snapshot of it.

Rule: it says yes or nothing. An element is given only where a snapshot would give it as "exact", too: it is the
only one of its role and name that is drawn in the page's own document, it was the only one, and what is around it
does not speak against it. The rest (several, none, a frame, a part of a list) is left to a snapshot. What it
gives has a ref, as if a snapshot had shown it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import attrs
import msgspec

from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame, renderer_of
from cdpengine._page.navigation.documents import DocumentGone, document_error, open_document
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._page.scripts.page_functions import RemoteHandle, object_group
from cdpengine._protocol.session import Session
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.roles import chrome_roles, kind_of, role_name
from cdpengine._snapshot.sources.computed import role_and_name_source
from cdpengine.cache.changes import PageFeatures
from cdpengine.cache.entries import Target
from cdpengine.cache.replaying.names import collapse, is_for_one_of_many
from cdpengine.cache.replaying.page_index import DIALOGS
from cdpengine.cache.targets import ITEM_ROLES, LONGEST_NAME
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
"""Which elements can have a role, as CSS; all of them, or some that are alike would not be counted."""

COUNTED = (
    "form, button, summary, input, textarea, select, a, area, h1, h2, h3, h4, h5, h6, "
    "[contenteditable], [role]"
)
"""Which elements can have one of the roles that `PageFeatures` counts."""

_FIELDS = frozenset(
    {
        "checkbox", "color", "combobox", "date", "datetime", "listbox", "radio", "searchbox", "slider",
        "spinbutton", "switch", "textbox", "time-input",
    }
)  # fmt: skip


class _Found(msgspec.Struct):
    count: int = 0
    around: list[tuple[str, str]] = []
    before: str = ""
    after: str = ""


class _Message(msgspec.Struct):
    kind: Literal["alert", "status", "named"]
    text: str


class _Said(msgspec.Struct):
    messages: list[_Message] = []
    invalid: list[str] = []


class _Told(msgspec.Struct):
    elements: list[_Found] = []
    roles: dict[str, int] = {}
    said: _Said = msgspec.field(default_factory=_Said)
    status: int = 0


@attrs.frozen(kw_only=True)
class Probed:
    """What a probe saw: the ref of each element that is sure, by the name of its target; and counts of roles.

    `signs`: None where the document was not asked.
    """

    refs: Mapping[str, str]
    roles: Mapping[str, int]
    signs: Signs | None = None


@attrs.frozen(kw_only=True)
class Signs:
    """What a document shows about what was done in it.

    `messages` are its alerts, statuses and texts that are called an error, by their kind; `invalid` the names of
    the fields that are marked as invalid. `status` is that of the server's answer, 0 if it is not known.
    `document` is Chrome's id of the document.
    """

    messages: tuple[tuple[str, str], ...] = ()
    invalid: tuple[str, ...] = ()
    status: int = 0
    document: str = ""


@attrs.frozen(kw_only=True)
class WantedElement:
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
    page: Page, wanted: Mapping[str, WantedElement], *, counted: bool = False, signs: bool = False
) -> Probed | None:
    """Look for elements in the page's own document. None where the document went away meanwhile.

    Raises SessionGoneError, and as `Session.call`. It has no deadline of its own.
    """
    asked = {slot: each for slot, each in wanted.items() if each.can_be_probed}
    if not asked and not counted and not signs:
        return Probed(refs={}, roles={})
    frame = page._core.target.frames.main  # noqa: SLF001 - a part of the engine that is kept beside it
    loader_id = frame.loader_id
    request = [
        {
            "css": ELEMENTS[each.target.role],
            "roles": sorted(chrome_roles(each.target.role) | {each.target.role}),
            "name": collapse(each.name),
        }
        for each in asked.values()
    ]
    try:
        told, numbers = await _ask(page, frame, request, COUNTED if counted else None)
        renderer = await renderer_of(frame.session, frame)
    except DocumentGone:
        return None
    except EvaluationFailedError:
        return None  # a page of XML, or one that changed what the probe stands on: a snapshot is taken
    sure = {
        slot: number
        for (slot, each), found, number in zip(asked.items(), told.elements, numbers, strict=True)
        if number is not None and _is_sure(each, found)
    }
    if frame.loader_id != loader_id:
        return None
    return Probed(
        refs={slot: _give_ref(page, frame, asked[slot], number, renderer) for slot, number in sure.items()},
        roles=told.roles,
        signs=Signs(
            messages=tuple((each.kind, each.text) for each in told.said.messages),
            invalid=tuple(collapse(each) for each in told.said.invalid),
            status=told.status,
            document=loader_id,
        ),
    )


_GROUP = "cdpengine.probe"
"""The remote objects that live as long as a document is probed."""

_LOOK = own("function (wanted, counted) { return this.look(wanted, counted); }")
_DROP = own("function () { this.drop(); }")

_probes: WeakKeyDictionary[Session, dict[str, tuple[str, RemoteHandle]]] = WeakKeyDictionary()
"""The probe of each frame's document, with the document's loader id: made once, as a page is probed many times."""


async def _ask(
    page: Page, frame: Frame, request: list[dict[str, Any]], counted: str | None
) -> tuple[_Told, list[int | None]]:
    """Have the probe look. Raises DocumentGone, EvaluationFailedError, and as `Session.call`."""
    known = _probes.setdefault(frame.session, {})
    loader_id, handle = known.get(frame.id, ("", None))
    try:
        if handle is None or handle.lost or loader_id != frame.loader_id:
            document = await open_document(page._core.worlds, frame)  # noqa: SLF001
            made = await document.context.make(_probe(), group=_GROUP)
            if made is None:
                raise DocumentGone(frame.id)
            known[frame.id] = document.loader_id, made
            handle = made
        with object_group("probe") as group:
            call = handle.post(_LOOK, request, counted, how=SERIALIZED, group=group)
            told, nodes = await text_and_nodes(call, _Told)
    except RemoteError as error:
        known.pop(frame.id, None)
        raise document_error(error) from None
    return told, [None if node is None else node.backend_node_id for node in nodes]


def forget_page(page: Page) -> None:
    """Let go of what probes keep in the page's own document, and follow it no longer. Not waited for."""
    frame = page._core.target.frames.main  # noqa: SLF001
    loader_id, handle = _probes.get(frame.session, {}).get(frame.id, ("", None))
    if handle is not None and loader_id == frame.loader_id:
        handle.tell(_DROP)


@cache
def _probe() -> str:
    probe, candidates = script("cache/replaying/probe"), script("cache/replaying/candidates")
    read = script("cache/replaying/messages")
    look = (
        f"(wanted, counted) => ({probe})(wanted, counted, ({role_and_name_source()})(), candidates, ({read}))"
    )
    return own(
        f"function () {{ const candidates = ({candidates})(); return {{ look: {look}, drop: candidates.drop }}; }}"
    )


def has_counts(features: PageFeatures, roles: Mapping[str, int]) -> bool:
    """Say whether a page has as many forms, buttons, links, headings and fields as is remembered of it."""
    counts: Counter[str] = Counter()
    for role, count in roles.items():
        counts[role_name(role)] += count
    fields = sum(counts[role] for role in _FIELDS)
    return (counts["form"], counts["button"], counts["link"], counts["heading"], fields) == (
        features.forms,
        features.buttons,
        features.links,
        features.headings,
        features.fields,
    )


def _is_sure(wanted: WantedElement, found: _Found) -> bool:
    """Say whether what is around the only one of its role and name lets it be taken without more ado."""
    target = wanted.target
    around = [(role_name(role), name) for role, name in found.around]
    dialogs = [name for role, name in around if role in DIALOGS]
    was_in_dialog = any(step.role in DIALOGS for step in target.path)
    if was_in_dialog != bool(dialogs):
        return False
    if dialogs and dialogs[0] != next((each.name for each in target.within if each.role in DIALOGS), ""):
        return False
    general = is_for_one_of_many(wanted.name)
    if general and (wanted.item or any(role in ITEM_ROLES for role, _ in around)):
        return False
    within, before, after = next(iter(target.within), None), target.before, target.after
    if within is None and before is None and after is None:
        return not target.together
    return (
        (within is not None and (within.role, within.name) in around)
        or (before is not None and collapse(before.name) == found.before)
        or (after is not None and collapse(after.name) == found.after)
    )


def _give_ref(page: Page, frame: Frame, wanted: WantedElement, number: int, renderer: str | None) -> str:
    """Return the ref of an element: the one that it has, or a new one."""
    role = wanted.target.role
    node = Node(role, kind_of(role), wanted.name, backend_node_id=number)
    document = Document(
        [node],
        frame_id=frame.id,
        loader_id=frame.loader_id,
        session_id=frame.session.id,
        renderer_id=renderer,
    )
    table = page._core.refs  # noqa: SLF001
    ref = table.assign([document], partial=True)[node]
    table.give({ref.id: ref})  # it was looked for by its name
    return ref.id
