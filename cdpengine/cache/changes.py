"""Changes of a page: what of a snapshot is remembered, how two of them differ, and what that is worth. Pure.

Rule: the structure is roles in roles, without names, texts, values and states: what a page says today is not how
it is built. Where the same structure is repeated side by side it counts once, so a list that has grown is no new
design; how many there are is counted beside. The content is names and texts; what fields hold is in neither hash,
as it may be a secret. A figure of confidence is from 0 to 100, and says how sure it is that the page is another
one than before.
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
"""What a page is: the same for months; a form, whose fields matter; or one whose content is new each time."""

ChangeKind = Literal["none", "content", "structure"]

Verdict = Literal["keep", "soft", "hard"]
"""What a change means for an entry.

"keep": it is used as it is. "soft": it is used; if all its steps succeed, a new version remembers the page as it
is now, and the older versions stay. "hard": the replay stops before its first step.
"""

_FIELDS = frozenset(
    {
        "checkbox", "color", "combobox", "date", "datetime", "listbox", "radio", "searchbox", "slider",
        "spinbutton", "switch", "textbox", "time-input",
    }
)  # fmt: skip


@attrs.frozen(kw_only=True)
class PageFeatures:
    """What is remembered of a page: `read_features` makes it.

    Counts of forms, buttons, links and headings, and of fields. `scripts` is the number of scripts, which a
    snapshot does not show: None unless it was passed. `roles` counts all roles. `structure` and `content` are
    hashes. `partial` says that some part of the page could not be read.
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
    """How a page differs from what is remembered of it.

    `kind` says in what, `confidence` how sure it is that it is another page than before, from 0 to 100. `details`
    are the counts that differ: name, before, now.
    """

    kind: ChangeKind
    confidence: int
    details: tuple[tuple[str, int, int], ...] = ()


@attrs.frozen(kw_only=True)
class Thresholds:
    """The confidence from which a change is answered softly, and hard."""

    soft: int
    hard: int

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for figures that are out of order."""
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
"""By the type of the page. On a static one even a change of its words is worth a look; on a dynamic one a new
structure is common, and each step is checked anyway, so only another page altogether ends an entry."""

_CONTENT, _PARTIAL = 20, 40
"""The confidence of other words in the same structure; the most where a part of the page was not read."""

MOST_OF_SAME_COUNTS = 40
"""The most in a replay where the page has as many forms, buttons, links, headings and fields as before."""

_LEAST_STRUCTURE = 50
"""The confidence of another structure of the very same roles: as much as was moved cannot be told from hashes."""


def read_features(snapshot: Snapshot, *, scripts: int | None = None) -> PageFeatures:
    """Return what is remembered of a page. The snapshot is to be of the whole page: no `find`, nothing cut.

    Raises InvalidArgumentError for one that has no nodes though it has text, as one that was read from JSON.
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
        fields=sum(counted[role] for role in _FIELDS),
        scripts=scripts,
        roles=dict(sorted(roles.items())),
        structure=_hash_structure(nodes),
        content=_hash_content(nodes),
        partial=bool(snapshot.gaps),
    )


def _without_hidden(nodes: Sequence[SnapshotNode]) -> list[SnapshotNode]:
    """Return the nodes without those under `aria-hidden`: the probe of a page does not count them either."""
    hidden: list[bool] = []
    for node in nodes:
        hidden.append("aria-hidden" in node.states or (node.parent is not None and hidden[node.parent]))
    return [node for node, left_out in zip(nodes, hidden, strict=True) if not left_out]


def compare_features(before: PageFeatures, now: PageFeatures) -> PageChange:
    """Return how the page differs now."""
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
    """Return what a change means for an entry of a page of that type."""
    limits = thresholds[page_type]
    if change.kind == "none" or change.confidence < limits.soft:
        return "keep"
    return "hard" if change.confidence >= limits.hard else "soft"


def _similarity(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Return how much two counts have in common, from 0 to 1 (Ruzicka's similarity)."""
    names = one.keys() | other.keys()
    most = sum(max(one.get(name, 0), other.get(name, 0)) for name in names)
    least = sum(min(one.get(name, 0), other.get(name, 0)) for name in names)
    return least / most if most else 1.0


def _hash_structure(nodes: Sequence[SnapshotNode]) -> str:
    """Return the hash of roles in roles. Children come after their parents, so going backwards is going up."""
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
