"""Page features from a snapshot, differences between two sets of features, and verdicts on them. Pure.

Rule: the structure consists of nested roles, without names, strings, values and states. Equal adjacent
structures count once, so a longer list is no new design. Separate counts hold the number of elements. The
content consists of names and page text. Neither hash includes field values, because they can be secret.
Confidence is from 0 to 100: the certainty that the page is a different page.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import attrs

from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.errors import InvalidArgumentError

PageType = Literal["static", "form", "dynamic"]
"""The kind of a page: unchanged for months; a form, whose fields matter; or new content on each visit."""

ChangeKind = Literal["none", "content", "structure"]

Verdict = Literal["keep", "soft", "hard"]
"""The effect of a page change on an entry.

"keep": the engine uses the entry unchanged. "soft": the engine uses the entry. If all steps succeed, it
stores a new version with the current features and keeps the older versions. "hard": the replay stops before
its first step.
"""

FIELD_ROLES = frozenset(
    {
        "checkbox", "color", "combobox", "date", "datetime", "listbox", "radio", "searchbox", "slider",
        "spinbutton", "switch", "textbox", "time-input",
    }
)  # fmt: skip
"""The roles of fields."""


@attrs.frozen(kw_only=True)
class PageFeatures:
    """The features of a page, made by `read_features`.

    `forms` to `fields` are numbers of elements. `scripts` is the number of scripts, or None if the caller did
    not pass it: a snapshot has no scripts. `roles` counts all roles. `structure` and `content` are hashes.
    `partial` is whether a part of the page was unreadable.
    """

    forms: int
    buttons: int
    links: int
    headings: int
    fields: int
    scripts: int | None = None
    roles: dict[str, int] = attrs.field(factory=dict, hash=False)
    structure: str
    content: str
    partial: bool = False


@attrs.frozen(kw_only=True)
class PageChange:
    """The difference between a page and its learned features.

    `confidence` is the certainty that the page is a different page, from 0 to 100. `details` are the changed
    counts as (name, before, now).
    """

    kind: ChangeKind
    confidence: int
    details: tuple[tuple[str, int, int], ...] = ()


@attrs.frozen(kw_only=True)
class Thresholds:
    """The minimum confidence of a soft and of a hard verdict."""

    soft: int
    hard: int

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError unless 0 < soft <= hard <= 100."""
        if not 0 < self.soft <= self.hard <= 100:
            raise InvalidArgumentError(
                "thresholds", f"soft {self.soft}, hard {self.hard}", "0 < soft <= hard <= 100"
            )


THRESHOLDS: Mapping[PageType, Thresholds] = MappingProxyType(
    {
        "static": Thresholds(soft=20, hard=80),
        "form": Thresholds(soft=50, hard=85),
        "dynamic": Thresholds(soft=60, hard=95),
    }
)
"""Thresholds by page type. On a static page even changed words matter. On a dynamic page a new structure is
common, and the replay checks each step, so only an entirely different page ends an entry."""

_CONTENT, _PARTIAL = 20, 40
"""Confidence of changed content in the same structure; maximum confidence for a partly unreadable page."""

MOST_OF_SAME_COUNTS = 40
"""Maximum confidence in a replay if the numbers of forms, buttons, links, headings and fields are equal."""

_LEAST_STRUCTURE = 50
"""Confidence of a changed structure with the same roles. Hashes do not show how many elements moved."""


def read_features(snapshot: Snapshot, *, scripts: int | None = None) -> PageFeatures:
    """Return the features of a page. The snapshot must cover the whole page, without `find` and without cuts.

    Raises InvalidArgumentError for a snapshot with text but without nodes, such as one read from JSON.
    """
    nodes = snapshot.nodes
    if not nodes and any(not line.startswith("#") for line in snapshot.text.splitlines()):
        raise InvalidArgumentError("snapshot", "one without nodes", "one that page.snapshot() made")
    roles = Counter(node.role for node in nodes if node.role != "text")
    counted = Counter(node.role for node in _without_hidden(nodes))
    return PageFeatures(
        forms=counted["form"],
        buttons=counted["button"],
        links=counted["link"],
        headings=counted["heading"],
        fields=sum(counted[role] for role in FIELD_ROLES),
        scripts=scripts,
        roles=dict(sorted(roles.items())),
        structure=_hash_structure(nodes),
        content=_hash_content(nodes),
        partial=bool(snapshot.gaps),
    )


def _without_hidden(nodes: Sequence[SnapshotNode]) -> list[SnapshotNode]:
    """Return the nodes outside `aria-hidden` elements. The probe of a page counts the same nodes."""
    hidden: list[bool] = []
    for node in nodes:
        hidden.append("aria-hidden" in node.states or (node.parent is not None and hidden[node.parent]))
    return [node for node, left_out in zip(nodes, hidden, strict=True) if not left_out]


def compare_features(before: PageFeatures, now: PageFeatures) -> PageChange:
    """Return the change from `before` to `now`."""
    details = tuple(
        (name, old, new)
        for name in ("forms", "buttons", "links", "headings", "fields", "scripts")
        if (old := getattr(before, name)) is not None
        and (new := getattr(now, name)) is not None
        and old != new
    )
    if before.structure != now.structure:
        different = 1 - _similarity(before.roles, now.roles)
        confidence = round(_LEAST_STRUCTURE + (100 - _LEAST_STRUCTURE) * different)
        kind: ChangeKind = "structure"
    elif before.content != now.content or details:
        kind, confidence = "content", _CONTENT
    else:
        kind, confidence = "none", 0
    if before.partial or now.partial:
        confidence = min(confidence, _PARTIAL)
    return PageChange(kind=kind, confidence=confidence, details=details)


def judge_change(
    change: PageChange, page_type: PageType, *, thresholds: Mapping[PageType, Thresholds] = THRESHOLDS
) -> Verdict:
    """Return the effect of a change on an entry for a page of this type."""
    limits = thresholds[page_type]
    if change.kind == "none" or change.confidence < limits.soft:
        return "keep"
    return "hard" if change.confidence >= limits.hard else "soft"


def _similarity(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return the similarity of two counts, from 0 to 1 (Ruzicka similarity)."""
    names = one.keys() | other.keys()
    most = sum(max(one.get(name, 0), other.get(name, 0)) for name in names)
    least = sum(min(one.get(name, 0), other.get(name, 0)) for name in names)
    return least / most if most else 1.0


def _hash_structure(nodes: Sequence[SnapshotNode]) -> str:
    """Return the hash of the nested roles. Children follow their parents, so the loop runs backwards."""
    below: dict[int | None, list[bytes]] = {}
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        if node.role == "text":
            continue
        digest = _digest(node.role, below.pop(place, []))
        siblings = below.setdefault(node.parent, [])
        if not siblings or siblings[-1] != digest:
            siblings.append(digest)
    return _digest("", below.get(None, [])).hex()


def _digest(role: str, children: list[bytes]) -> bytes:
    made = hashlib.blake2b(role.encode() + b"\0", digest_size=16)
    for child in reversed(children):
        made.update(child)
    return made.digest()


def _hash_content(nodes: Sequence[SnapshotNode]) -> str:
    made = hashlib.blake2b(digest_size=16)
    for node in nodes:
        if words := " ".join(f"{node.name} {node.text}".split()):
            made.update(words.encode("utf-8", "replace") + b"\0")
    return made.hexdigest()
