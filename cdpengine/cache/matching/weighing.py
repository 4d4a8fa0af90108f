"""Evidence that a current element is the learned one. Pure.

Rule: each sign is True, False, or None if unknown. A sign that is missing from the description has no effect.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from cdpengine.cache.entries import Landmark
from cdpengine.cache.matching.names import Relation, read_meaning, relate_names

WEIGHTS = {
    "synonyms": 50,
    "overlap": 30,
    "within": 20,
    "before": 15,
    "after": 15,
    "path": 15,
    "only": 10,
    "item": 30,
    "together": 25,
}
"""Weights of the evidence for a renamed element: the relation of the names, the same named part, the same
neighbours, the same path, the only element of its role in the part, the same list item, the same controls in
the form."""

ENOUGH = 60
"""Minimum evidence for a renamed element: a synonym and one more sign.

An element whose name is no synonym never matches, whatever its position. "Mute" becomes "Unmute", the next
question of a form replaces the last one, and "Weekly summary" is next to "Weekly summary of our partners"."""


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence for one element. Each sign is True, False, or None if unknown."""

    place: int
    relation: Relation
    within: bool | None
    before: bool | None
    after: bool | None
    path: bool
    only: bool
    item: bool | None
    between: bool
    together: bool | None
    some_together: bool
    against: str = ""

    @property
    def positive(self) -> bool:
        """Whether any of the surroundings is unchanged."""
        return True in (self.within, self.before, self.after, self.item, self.together)

    @property
    def negative(self) -> bool:
        """Whether all known surroundings have changed."""
        signs = (self.within, self.before, self.after, self.together)
        known = [each for each in signs if each is not None]
        return bool(known) and not any(known) and not self.item and not self.some_together

    @property
    def same_place(self) -> bool:
        """Whether the surroundings distinguish the element from others of the same name."""
        return self.item is True or (self.before is True and self.after is True) or self.alone_within

    @property
    def alone_within(self) -> bool:
        """Whether the element is the only one of its role in its former named part."""
        return self.within is True and self.only

    @property
    def score(self) -> int:
        """The sum of `WEIGHTS`."""
        score = WEIGHTS.get(self.relation, 0) + (WEIGHTS["path"] if self.path else 0)
        for sign in ("within", "before", "after", "item", "together"):
            score += WEIGHTS[sign] if getattr(self, sign) else 0
        return score + (WEIGHTS["only"] if self.alone_within else 0)

    @property
    def is_enough(self) -> bool:
        """Whether the evidence is enough for a renamed element."""
        # An overlap is not enough: additional words can be the difference.
        return self.relation == "synonyms" and self.score >= ENOUGH and (self.positive or self.path)

    def words(self) -> str:
        """Return the unchanged and the changed signs in words, for a reason."""
        signs = {
            "the part around it": self.within,
            "the text before it": self.before,
            "the text after it": self.after,
            "the item": self.item,
            "the other controls of its form": self.together,
        }
        same = [name for name, sign in signs.items() if sign] + (["the path"] if self.path else [])
        other = [name for name, sign in signs.items() if sign is False]
        parts = [f"same: {', '.join(same)}"] if same else []
        return (
            "; ".join([*parts, *([f"changed: {', '.join(other)}"] if other else [])]) or "nothing around it"
        )


def count_together(learned: Collection[Landmark], now: Collection[Landmark]) -> int:
    """Return the number of known controls that are still in a form, possibly under a synonym."""
    return sum(
        each in now or any(same_landmark(each, other) for other in now if other.role == each.role)
        for each in learned
    )


def judge_together(learned: Collection[Landmark], count: int) -> bool | None:
    """Return whether a form has at least half of its known controls, and at least 2 unless only 1 is known.

    Return None if no control is known, or if some controls remain but too few.
    """
    if not learned:
        return None
    if count >= max(len(learned) / 2, min(2, len(learned))):
        return True
    return None if count else False


PARTS = frozenset({"form", "region", "group", "main", "search", "article", "complementary", "dialog"})
"""Interchangeable parts of a page: a redesign can replace one role by another and keep the name."""


def same_part(learned: Landmark, now: Landmark) -> bool:
    """Return whether a named part of the page is the known one, possibly under a synonym or another role."""
    if {learned.role, now.role} <= PARTS:
        now = Landmark(role=learned.role, name=now.name)
    return bool(same_landmark(learned, now))


def same_landmark(learned: Landmark | None, now: Landmark | None) -> bool | None:
    """Return whether a landmark is the known one, possibly under a synonym, or None if none is known."""
    if learned is None:
        return None
    if now is None or learned.role != now.role:
        return False
    if learned.name == now.name:
        return True
    return relate_names(learned.name, now.name) == "synonyms" and read_meaning(learned.name).known
