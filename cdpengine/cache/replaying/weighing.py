"""Weighing: what speaks for it that an element of today is the one that was described once. Pure.

Rule: each sign is true, false, or None where nothing is known of it. What was described without a sign is not
found by it.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from cdpengine.cache.entries import Landmark
from cdpengine.cache.replaying.names import Relation, read_meaning, relate_names

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
"""What each piece of evidence for an element with another name is worth: how its name relates to the old one, the
same named part around it, the same neighbours, the same path, the only one of its role in that part, the same
item of a list, the same other controls in its form."""

ENOUGH = 60
"""Evidence from which an element with another name is taken: it says the same, and there is one more sign.

An element whose name does not say the same is never taken, wherever it stands: "Mute" becomes "Unmute", the next
question of a form stands where the last one did, and beside "Weekly summary" there is that "of our partners"."""


@attrs.frozen(kw_only=True)
class Evidence:
    """What speaks for one element; of each: True, False, or None where nothing is known of it."""

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
        """Whether anything around it is as it was."""
        return True in (self.within, self.before, self.after, self.item, self.together)

    @property
    def negative(self) -> bool:
        """Whether all that is known of its surroundings has changed."""
        signs = (self.within, self.before, self.after, self.together)
        known = [each for each in signs if each is not None]
        return bool(known) and not any(known) and not self.item and not self.some_together

    @property
    def same_place(self) -> bool:
        """Whether its surroundings set it apart from others of the same name."""
        return self.item is True or (self.before is True and self.after is True) or self.alone_within

    @property
    def alone_within(self) -> bool:
        """Whether it is the only one of its role in the named part that it was in."""
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
        """Whether an element of another name is taken for the old one by that."""
        # What more is said may be the difference: "Weekly summary", and that of our partners.
        return self.relation == "synonyms" and self.score >= ENOUGH and (self.positive or self.path)

    def words(self) -> str:
        """Return what is the same and what has changed, for a reason."""
        signs = {
            "the part around it": self.within,
            "what stands before": self.before,
            "what stands after": self.after,
            "the item": self.item,
            "what is in the form with it": self.together,
        }
        same = [name for name, sign in signs.items() if sign] + (["the path"] if self.path else [])
        other = [name for name, sign in signs.items() if sign is False]
        told = [f"same: {', '.join(same)}"] if same else []
        return "; ".join([*told, *([f"changed: {', '.join(other)}"] if other else [])]) or "nothing around it"


def count_together(wanted: Collection[Landmark], now: Collection[Landmark]) -> int:
    """Return how many of the controls that are known of a form are there, perhaps in other words."""
    return sum(
        each in now or any(same_landmark(each, other) for other in now if other.role == each.role)
        for each in wanted
    )


def judge_together(wanted: Collection[Landmark], count: int) -> bool | None:
    """Say whether a form has the controls that are known of it: at least half, and two, unless there was one.

    None where none was known, or fewer are there than that, but some.
    """
    if not wanted:
        return None
    if count >= max(len(wanted) / 2, min(2, len(wanted))):
        return True
    return None if count else False


PARTS = frozenset({"form", "region", "group", "main", "search", "article", "complementary", "dialog"})
"""Parts of a page that a redesign exchanges: by their names they are the same."""


def same_part(wanted: Landmark, now: Landmark) -> bool:
    """Say whether a named part of the page is the one that is known, perhaps in other words or of another role."""
    if {wanted.role, now.role} <= PARTS:
        now = Landmark(role=wanted.role, name=now.name)
    return bool(same_landmark(wanted, now))


def same_landmark(wanted: Landmark | None, now: Landmark | None) -> bool | None:
    """Say whether a landmark is the one that is known, perhaps in other words; None where none was."""
    if wanted is None:
        return None
    if now is None or wanted.role != now.role:
        return False
    if wanted.name == now.name:
        return True
    return relate_names(wanted.name, now.name) == "synonyms" and read_meaning(wanted.name).known
