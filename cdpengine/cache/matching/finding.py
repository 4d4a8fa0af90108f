"""The search for a learned target in a current snapshot. Pure.

Rule: the search never returns a different element. A match has the target's role and frame. Its name is the
target's name or a synonym from the tables. Its surroundings may have changed, but must not contradict the
match. Another dialog, another table row and a control of another kind are contradictions. If several
candidates are about equally good, or the best is too weak, the search returns no element and a reason.

Conditions of a match:

- "exact": the name is the same and unique, as before. Or the element has the same `nth` among as many
  elements as before, and the same surroundings.
- "healed": the name is the same, and only one of several elements has the same surroundings. Or the name
  differs, the evidence reaches `ENOUGH` (`WEIGHTS`), and it exceeds the evidence for any other element by
  `CLEARLY`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.cache.entries import FramePlace, Target
from cdpengine.cache.matching.names import (
    Relation,
    is_for_one_of_many,
    relate_names,
    same_words,
)
from cdpengine.cache.matching.weighing import (
    Evidence,
    count_together,
    judge_together,
    same_landmark,
    same_part,
)
from cdpengine.cache.targets import DIALOGS, LONGEST_NAME, PageIndex
from cdpengine.cache.templates import find_variables
from cdpengine.cache.variables import Values

MatchLevel = Literal["exact", "healed", "ambiguous", "missing"]
"""Quality of a match.

"exact": the unchanged element. "healed": the element with a new name or place. "ambiguous": several
candidates, or an uncertain one. "missing": no candidate.
"""

CLEARLY = 20
"""Minimum lead of the best candidate's score over the second best."""

_LIKE_ROLES = (frozenset({"textbox", "searchbox"}),)
"""Interchangeable roles: a redesign can replace one by the other, and both accept the same actions."""

_MOST_CANDIDATES = 5
_MANY = 3
_INTERACTIVE = frozenset(
    {"button", "link", "menuitem", "tab", "checkbox", "switch", "radio", "option", "combobox"}
)


@attrs.frozen(kw_only=True)
class Candidate:
    """A candidate element. `score` is from 0 to 100, and `reason` is the evidence for it."""

    ref: str
    role: str
    name: str
    score: int
    reason: str


@attrs.frozen(kw_only=True)
class TargetMatch:
    """The result of a search for a target.

    `ref` is the element's ref if `level` is "exact" or "healed", otherwise None. `score` is the confidence,
    from 0 to 100. `candidates` are the other possible elements, best first. `found` describes the current
    element for a new version of the entry, and keeps the target's templates.
    """

    level: MatchLevel
    reason: str
    ref: str | None = None
    score: int = 0
    candidates: tuple[Candidate, ...] = ()
    found: Target | None = attrs.field(default=None, repr=False)


def find_target(snapshot: Snapshot, target: Target, values: Values) -> TargetMatch:
    """Find a target in a snapshot of the whole page.

    Raises VariablesError if a template of the target has no value.
    """
    search = _Search(snapshot, target, values)
    match = search.run()
    if match.ref is not None:
        match = attrs.evolve(match, found=search.describe_found(match.ref))
    if snapshot.gaps and match.ref is None:
        match = attrs.evolve(
            match, reason=f"{match.reason}; {len(snapshot.gaps)} parts of the page were not read"
        )
    return _hide(match, values)


def is_shown(snapshot: Snapshot, target: Target, values: Values) -> bool:
    """Return whether the target's frame contains an element with the target's role, name and item."""
    return _Search(snapshot, target, values).has_any()


def _hide(match: TargetMatch, values: Values) -> TargetMatch:
    candidates = tuple(
        attrs.evolve(each, name=values.hide(each.name), reason=values.hide(each.reason))
        for each in match.candidates
    )
    return attrs.evolve(match, reason=values.hide(match.reason), candidates=candidates)


class _Search:
    """The search for one target in one snapshot."""

    def __init__(self, snapshot: Snapshot, target: Target, values: Values) -> None:
        self.page = PageIndex(snapshot)
        self.target = target
        self.name = values.fill(target.name)[:LONGEST_NAME]
        self.item = values.fill(target.item)[:LONGEST_NAME]
        self.fixed = bool(find_variables(target.name))
        self.what = f"{target.role} {self.name[:80]!r}" if self.name else f"{target.role} without a name"

    def run(self) -> TargetMatch:
        """Return the match."""
        nodes = self.page.nodes
        framed, doubt = self._in_frame(
            [place for place, node in enumerate(nodes) if node.ref is not None and self._can_be(node)]
        )
        if doubt:
            return TargetMatch(level="missing", reason=doubt)
        same_role = [place for place in framed if nodes[place].role == self.target.role]
        named = [place for place in same_role if nodes[place].name[:LONGEST_NAME] == self.name]
        if len(self._frames_of(named)) > 1:
            return self._stop("ambiguous", f"{self.what} is in several frames that may be meant", named)
        if named and self.name:
            return self._of_the_same_name(named)
        if named:
            return self._without_name(named)
        return self._of_another_name(framed, same_role)

    def describe_found(self, ref: str) -> Target:
        """Describe the current element. The target's templates replace values, so that no value is stored."""
        nodes = self.page.nodes
        place = next(place for place, node in enumerate(nodes) if node.ref is not None and node.ref.id == ref)
        found = self.page.describe(place)
        if find_variables(self.target.name):
            found = attrs.evolve(found, name=self.target.name)
        if find_variables(self.target.item):
            found = attrs.evolve(found, item=self.target.item)
        return found

    def has_any(self) -> bool:
        """Return whether an element has the role, the name and the item."""
        nodes = self.page.nodes
        framed, _ = self._in_frame(
            [
                place
                for place, node in enumerate(nodes)
                if node.ref is not None and node.role == self.target.role
            ]
        )
        named = [place for place in framed if nodes[place].name[:LONGEST_NAME] == self.name]
        return any(not self.item or same_words(self.item, self.page.item(place)) for place in named)

    def _can_be(self, node: SnapshotNode) -> bool:
        learned = self.target.role
        return (
            node.role == learned
            or any({node.role, learned} <= like for like in _LIKE_ROLES)
            or (node.role in _INTERACTIVE and node.name[:LONGEST_NAME] == self.name)
        )

    # --- frames --------------------------------------------------------------------------------------------

    def _in_frame(self, places: Sequence[int]) -> tuple[list[int], str]:
        """Return the elements in the target's frame, or the reason why the frame is unknown."""
        frames = self.page.frames
        like = {frame for frame, chain in frames.items() if self._is_frame(chain)}
        if len(like) > 1:
            # A frame with a new name or address counts only if no frame is unchanged.
            unchanged = {each for each in like if _keys(frames[each]) == _keys(self.target.frames)}
            like = unchanged or like
        found = [place for place in places if self.page.nodes[place].frame in like]
        if not found and self.target.frames:
            return [], f"{self.what} is not in its frame, or its frame is not there"
        return found, ""

    def _is_frame(self, chain: tuple[FramePlace, ...]) -> bool:
        learned = self.target.frames
        return len(chain) == len(learned) and all(map(_same_frame, learned, chain))

    def _frames_of(self, places: Iterable[int]) -> set[str | None]:
        return {self.page.nodes[place].frame for place in places}

    # --- the three cases -----------------------------------------------------------------------------------

    def _of_the_same_name(self, named: Sequence[int]) -> TargetMatch:
        found = [self._weigh(place, "same") for place in named]
        possible = [each for each in found if not each.against]
        if not possible:
            if (renamed := self._renamed_in_its_part(named)) is not None:
                return renamed
            return self._stop("ambiguous", f"{self.what} exists, but {found[0].against}", named)
        alike = self.target.alike
        if len(named) == 1 and alike == 1:
            if possible[0].negative and not self.fixed:
                return self._all_around_is_new(named)
            return self._take("exact", possible[0], 100, "the only one of its role and name, as before")
        if alike == len(possible) == 1 and possible[0].within:
            reason = f"there are {len(named)} of these, was 1, and only this one is in its part of the page"
            return self._take("healed", possible[0], 80, reason)
        same = self._of_the_same_place(possible, named)
        in_place = len(named) == alike and named[self.target.nth]
        if len(same) > 1:
            same = [each for each in same if each.path] or same
        if len(same) > 1 or self.target.twins > 1:
            # Only the number distinguishes the element. The number counts if the total is the same as before.
            same = [each for each in same if len(named) == alike and each.place == in_place and each.path]
        if len(same) == 1:
            if len(named) == alike and same[0].place == in_place:
                return self._take("exact", same[0], 100, f"the same one of {alike}; {same[0].words()}")
            return self._take(
                "healed", same[0], 80, f"there are {len(named)} of these, were {alike}; {same[0].words()}"
            )
        reason = f"{len(named)} of {self.what}, were {alike}"
        return self._stop("ambiguous", f"{reason}; none has surely the surroundings that it had", named)

    def _all_around_is_new(self, named: Sequence[int]) -> TargetMatch:
        """Judge a unique name with entirely new surroundings: the element can be a different one."""
        if (renamed := self._renamed_in_its_part(named)) is not None:
            return renamed
        if instead := self._of_its_meaning(named[0]):
            reason = f"{self.what} is elsewhere now, and there is another one of that meaning"
            return self._stop("ambiguous", reason, [*named, *instead])
        return self._stop(
            "ambiguous", f"{self.what} exists, but all of its surroundings are different", named
        )

    def _renamed_in_its_part(self, named: Sequence[int]) -> TargetMatch | None:
        """Return the renamed element in the target's part of the page.

        The elements in `named` have the target's name but are known to be different elements.
        """
        role = self.target.role
        framed, _ = self._in_frame(
            [place for place, node in enumerate(self.page.nodes) if node.ref is not None]
        )
        same_role = [place for place in framed if self.page.nodes[place].role == role and place not in named]
        match = self._of_another_name(same_role, same_role)
        if match.ref is None:
            return None
        place = next(each for each in same_role if (ref := self.page.nodes[each].ref) and ref.id == match.ref)
        together = self._weigh(place, "synonyms").together and len(self.target.together) >= _MANY
        return match if together or self._same_within(self.page.within(place)) else None

    def _of_its_meaning(self, named: int) -> list[int]:
        """Return the elements whose name is a synonym of the target's name."""
        node = self.page.nodes[named]
        others = [
            place
            for place, other in enumerate(self.page.nodes)
            if (other.role, other.frame) == (node.role, node.frame) and other.ref is not None
        ]
        return [
            each.place
            for each in self._related(others)
            if not each.against and (each.relation == "synonyms" or each.is_enough)
        ]

    def _related(self, places: Iterable[int]) -> list[Evidence]:
        """Return the evidence for elements whose name is a synonym of the target's name or overlaps it."""
        names = [(place, self.page.nodes[place].name[:LONGEST_NAME]) for place in places]
        relations = [(place, relate_names(self.name, name)) for place, name in names]
        return [
            self._weigh(place, relation)
            for place, relation in relations
            if relation in ("synonyms", "overlap")
        ]

    def _of_the_same_place(self, possible: Sequence[Evidence], named: Sequence[int]) -> list[Evidence]:
        """Return the elements of the same name that the learned surroundings still distinguish."""
        if self.item:
            return [each for each in possible if each.item]
        if len(named) < self.target.alike:
            # Some elements are gone. The remaining ones moved up and can have the target's former neighbours.
            alone = [each for each in possible if each.alone_within and self.target.twins == 1]
            return [each for each in alone if each.before or each.after or each.together]
        return [each for each in possible if each.between or (each.alone_within and self.target.twins == 1)]

    def _without_name(self, named: Sequence[int]) -> TargetMatch:
        found = [self._weigh(place, "same") for place in named]
        sure = [
            each
            for each in found
            if not each.against
            and each.path
            and each.before is not False
            and each.after is not False
            and (each.before or each.after)
            and (each.item is not False)
        ]
        if (
            len(sure) == 1
            and len(named) == self.target.alike
            and named.index(sure[0].place) == self.target.nth
        ):
            return self._take("exact", sure[0], 90, f"it has no name; {sure[0].words()}")
        both = [each for each in found if not each.against and each.before and each.after]
        if len(both) == 1 and len(named) >= self.target.alike and both[0].path:
            return self._take("healed", both[0], 70, f"it has no name; {both[0].words()}")
        return self._stop("ambiguous", f"{len(named)} of {self.what}: none is surely the one", named)

    def _of_another_name(self, framed: Sequence[int], same_role: Sequence[int]) -> TargetMatch:
        nodes = self.page.nodes
        other_role = [
            place for place in framed if place not in set(same_role) and nodes[place].name == self.name
        ]
        exchanged = [
            place
            for place in other_role
            if any({nodes[place].role, self.target.role} <= like for like in _LIKE_ROLES)
        ]
        if self.name and len(other_role) == len(exchanged) == self.target.alike == 1:
            evidence = self._weigh(exchanged[0], "same")
            if not evidence.against:
                return self._take("healed", evidence, 85, f"it is a {nodes[exchanged[0]].role} now")
        if other_role and self.name:
            role = nodes[other_role[0]].role
            return self._stop(
                "ambiguous", f"{self.what} is not there, but a {role} of this name is", other_role
            )
        related = self._related(same_role)
        possible = sorted((each for each in related if not each.against), key=lambda each: -each.score)
        enough = [each for each in possible if each.is_enough]
        if self.fixed:
            # The name comes from a variable: a different name is a different object.
            return self._stop("missing", f"{self.what} is not there", [each.place for each in related])
        if enough and enough[0] is possible[0] and not self._has_rival(possible[0], possible[1:], related):
            best = enough[0]
            name = nodes[best.place].name[:80]
            return self._take(
                "healed", best, min(best.score, 99), f"its name is {name!r} now; {best.words()}"
            )
        if places := [each.place for each in possible]:
            return self._stop(
                "ambiguous",
                f"{self.what} is missing; similar elements exist, but none is certainly the same",
                places,
            )
        against = f": {related[0].against}" if related else ""
        return self._stop("missing", f"{self.what} is not there{against}", [each.place for each in related])

    def _has_rival(self, best: Evidence, others: Sequence[Evidence], related: Sequence[Evidence]) -> bool:
        near = [each for each in others if best.score - each.score < CLEARLY]
        # A second synonym is a rival unless the surroundings identify the first.
        synonyms = [each for each in related if each is not best and each.relation == "synonyms"]
        return bool(near) or (bool(synonyms) and not best.same_place)

    # --- evidence ------------------------------------------------------------------------------------------

    def _weigh(self, place: int, relation: Relation) -> Evidence:
        page, target = self.page, self.target
        within = page.within(place)
        item = page.item(place)
        before, after = page.before(place), page.after(place)
        together = frozenset(landmark for _, landmark in page.together(place))
        count = count_together(target.together, together)
        signs = [same_landmark(target.before, before), same_landmark(target.after, after)]
        # The end of the page counts as a neighbour in addition to a real one.
        ends = [target.before is None and before is None, target.after is None and after is None]
        evidence = Evidence(
            place=place,
            relation=relation,
            within=self._same_within(within),
            before=signs[0],
            after=signs[1],
            together=judge_together(target.together, count),
            some_together=count > 0,
            between=any(signs) and all(sign or end for sign, end in zip(signs, ends, strict=True)),
            path=bool(target.path) and page.path(place) == target.path,
            only=page.is_only_one(place),
            item=same_words(self.item, item) if self.item else None,
        )
        return attrs.evolve(evidence, against=self._against(evidence))

    def _same_within(self, within: Sequence[int]) -> bool | None:
        learned = [each for each in self.target.within if each.name]
        if not learned:
            return None
        return any(same_part(learned[0], self.page.landmark(place)) for place in within)

    def _against(self, evidence: Evidence) -> str:
        """Return the contradiction of an element, or "" if none exists."""
        generic = is_for_one_of_many(self.name)
        if dialog := self._other_dialog(evidence, generic):
            return dialog
        if generic and not self.item and self.page.item(evidence.place):
            return "it is in a row or an item now, and its name does not say that it is for all of them"
        if evidence.item is False and (generic or self.target.alike > 1):
            return "what it is for, by the words of its row or item, is another thing now"
        if generic and evidence.negative and self.target.alike == 1:
            return "its name does not say what it is for, and all around it has changed"
        if self._is_in_another_part(evidence):
            return "it is in another part of the page, and its former neighbours are missing"
        return ""

    def _is_in_another_part(self, evidence: Evidence) -> bool:
        """Return whether the element is in a different named part, without its former neighbours."""
        part = self.page.part(evidence.place)
        learned = [each for each in (self.target.before, self.target.after) if each is not None]
        if part is None or not learned or evidence.positive:
            return False
        inside = list(self.page.landmarks_in(part, evidence.place))
        return not any(same_landmark(beside, each) for beside in learned for each in inside)

    def _other_dialog(self, evidence: Evidence, generic: bool) -> str:
        place = self.page.dialog(evidence.place)
        was_in_dialog = any(step.role in DIALOGS for step in self.target.path)
        if was_in_dialog != (place is not None):
            if generic:
                return "it was in a dialog, and is not now" if was_in_dialog else "it is in a dialog now"
            return ""
        if place is None:
            return ""
        name = next((each.name for each in self.target.within if each.role in DIALOGS), "")
        now = self.page.nodes[place].name[:LONGEST_NAME]
        if name and now and relate_names(name, now) not in ("same", "synonyms", "overlap"):
            return "it is in another dialog now"
        if bool(name) != bool(now) and generic and not evidence.positive:
            return "it is in another dialog now"
        return ""

    # --- results -------------------------------------------------------------------------------------------

    def _take(self, level: MatchLevel, evidence: Evidence, score: int, reason: str) -> TargetMatch:
        ref = self.page.nodes[evidence.place].ref
        assert ref is not None, "only nodes with refs are weighed"
        return TargetMatch(level=level, ref=ref.id, score=score, reason=reason)

    def _stop(self, level: MatchLevel, reason: str, places: Iterable[int]) -> TargetMatch:
        candidates = []
        for place in places:
            node = self.page.nodes[place]
            relation = relate_names(self.name, node.name[:LONGEST_NAME])
            evidence = self._weigh(place, relation)
            if node.ref is not None:
                candidates.append(
                    Candidate(
                        ref=node.ref.id,
                        role=node.role,
                        name=node.name[:LONGEST_NAME],
                        score=min(evidence.score, 99),
                        reason=evidence.against or evidence.words(),
                    )
                )
            if len(candidates) == _MOST_CANDIDATES * 4:
                break
        candidates.sort(key=lambda each: -each.score)
        return TargetMatch(level=level, reason=reason, candidates=tuple(candidates[:_MOST_CANDIDATES]))


def _same_frame(learned: FramePlace, now: FramePlace) -> bool:
    """Return whether a frame can be the learned one, by its address, or by its name on the same server."""
    if learned.alike != now.alike:
        return False
    if learned.alike > 1 or not (learned.address or learned.name):
        return learned == now
    if learned.address == now.address:
        return learned.name == now.name or not (learned.name and now.name and not learned.address)
    return (
        bool(learned.name) and learned.name == now.name and _server(learned.address) == _server(now.address)
    )


def _server(address: str) -> str:
    return "/".join(address.split("/")[:3])


def _keys(chain: tuple[FramePlace, ...]) -> list[tuple[str, str]]:
    return [(place.name, place.address) for place in chain]
