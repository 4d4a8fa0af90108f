"""Masking of variable values in the input of a model: "log in as ${username}". Pure.

Rule: the input of a planner or a classifier contains no value of a variable. This applies to the sentence,
the address and the snapshot, which shows earlier input. The names are the variables of a plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

import attrs

from cdpengine import Snapshot
from cdpengine._page.patterns import Words
from cdpengine._secrets import is_sensitive_name
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.snapshot import ListedNodes, SnapshotNode
from cdpengine.cache.recognizing.sentences import (
    LONGEST_SENTENCE,
    extract_variables,
    find_unnamed_values,
    find_values,
)
from cdpengine.cache.recognizing.variable_rules import QUOTED, VARIABLE_RULES, forms_in_quotes
from cdpengine.cache.variables import forms_of

SHORTEST = 3
"""Minimum length of a value that is masked within a snapshot's strings, in characters.

A field whose whole value is shorter is masked as well.
"""

UNNAMED = "..."
"""Replacement for a masked string without a variable name."""

_KEPT_IN_LINES = re.compile(r"^\s*- [\w-]+|\[ref=e\d+\]", re.MULTILINE)
"""The engine's own parts of a snapshot's text: roles and refs."""

_MASKED = re.compile(r"\$\{\w+\}")


def mask_goal(goal: str, scenario: str, known: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a masked goal for a planner, and the values of its variables.

    The values are the known ones, and the secrets that the rules of any scenario find in the goal.
    """
    extracted, wrong = _find_values(goal, scenario)
    secret = {name: value for name, value in extracted.items() if is_sensitive_name(name)}
    of_scenario = extract_variables(goal, scenario).values
    return _mask(goal, [secret, of_scenario, known], wrong), {**secret, **known}


def mask_for_classifier(sentence: str, known: Mapping[str, str], *, searches: bool) -> str:
    """Return a masked sentence for a classifier, without quoted strings.

    `searches`: whether the sentence requests a search.
    """
    extracted, wrong = _find_values(sentence, "search" if searches else None)
    wrong += () if searches else find_unnamed_values(sentence)
    masked = _mask(sentence, [extracted, known], wrong)

    def drop(found: re.Match[str]) -> str:
        return found[0] if _MASKED.fullmatch(found[0][1:-1].strip()) else UNNAMED

    return re.sub(rf"(?<![A-Za-z0-9])(?:{QUOTED})", drop, masked)


def mask_address(url: str, known: Mapping[str, str]) -> str:
    """Return a URL with `*` in place of each value."""
    values = [value for value in known.values() if len(value) >= SHORTEST]
    return _Masks({form: "*" for value in values for form in forms_of(value)}).mask(url)


def _find_values(sentence: str, scenario: str | None) -> tuple[dict[str, str], list[str]]:
    """Return the values in a sentence by variable name, and the invalid values. All rules apply.

    The rules of the scenario come first. A search term is a value only in the scenario "search".
    """
    values: dict[str, str] = {}
    wrong: list[str] = []
    order = [each for each in VARIABLE_RULES if each not in (scenario, "search")]
    for each in order if scenario is None else [scenario, *order]:
        for rule, value in find_values(sentence, each):
            if rule.check(value) and values.setdefault(rule.name, value) == value:
                continue
            wrong.append(value)
    return values, [each for each in wrong if each not in values.values()]


def _mask(sentence: str, known: Iterable[Mapping[str, str]], wrong: Iterable[str]) -> str:
    marks = {form: UNNAMED for text in wrong if text.strip() for form in forms_in_quotes(text)}
    for values in known:
        marks |= {form: mark for text, mark in _names_of(values).items() for form in forms_in_quotes(text)}
    return _Masks(marks).mask(sentence[:LONGEST_SENTENCE])


def _names_of(values: Mapping[str, str]) -> dict[str, str]:
    """Return the mark of each value. If two variables share a value, the sensitive one's mark wins."""
    ordered = sorted(values, key=is_sensitive_name)
    return {values[name]: f"${{{name}}}" for name in ordered if values[name].strip()}


class _Masks:
    """A replacement of strings by marks, longest first and case-insensitive. Only whole words match."""

    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = {text.casefold(): mark for text, mark in marks.items()}
        pieces = [_expression(text) for text in sorted(marks, key=len, reverse=True)]
        self._pattern = re.compile("|".join(pieces) or r"(?!)", re.IGNORECASE)

    def mask(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._marks.get(found[0].casefold(), UNNAMED), text)

    def is_whole(self, text: str | None) -> bool:
        return text is not None and self._pattern.fullmatch(text) is not None


def _expression(text: str) -> str:
    before = r"(?<![A-Za-z0-9_])" if re.match("[A-Za-z0-9_]", text) else ""
    after = r"(?![A-Za-z0-9_])" if re.search("[A-Za-z0-9_]$", text) else ""
    return before + re.escape(text) + after


# --- snapshots -----------------------------------------------------------------------------------------------


def mask_snapshot(snapshot: Snapshot, values: Mapping[str, str]) -> Snapshot:
    """Return a copy of the snapshot with `${name}` for each value. Refs stay the same."""
    names = _names_of(values)
    if not names:
        return snapshot
    long = {form: mark for text, mark in names.items() if len(text) >= SHORTEST for form in forms_of(text)}
    return _SnapshotMasks(_Masks(long), _Masks(names)).mask(snapshot)


@attrs.frozen
class _SnapshotMasks:
    _anywhere: _Masks
    _whole: _Masks

    def mask(self, snapshot: Snapshot) -> Snapshot:
        shown = snapshot.internals
        return attrs.evolve(
            snapshot,
            text=self._mask_lines(snapshot.text),
            url=self._anywhere.mask(snapshot.url),
            title=self._anywhere.mask(snapshot.title),
            refs={name: self._mask_ref(ref) for name, ref in snapshot.refs.items()},
            unshown=tuple(map(self._mask_ref, snapshot.unshown)),
            gaps=tuple(map(self._anywhere.mask, snapshot.gaps)),
            diff=None,
            stats=attrs.evolve(
                snapshot.stats,
                sources={
                    key: attrs.evolve(source, url=self._anywhere.mask(source.url))
                    for key, source in snapshot.stats.sources.items()
                },
            ),
            internals=None
            if shown is None
            else _MaskedNodes(shown.document, shown.refs, shown.lines, unmasked=shown, masks=self),
        )

    def _mask_lines(self, text: str) -> str:
        """Mask the values in a snapshot's text, except in roles and refs."""
        pieces, done = [], 0
        for kept in _KEPT_IN_LINES.finditer(text):
            pieces += [self._anywhere.mask(text[done : kept.start()]), kept[0]]
            done = kept.end()
        return "".join([*pieces, self._anywhere.mask(text[done:])])

    def _mask_ref(self, ref: Ref) -> Ref:
        return attrs.evolve(ref, name=self._anywhere.mask(ref.name))

    def mask_node(self, node: SnapshotNode) -> SnapshotNode:
        value = node.value
        if value is not None:
            value = self._whole.mask(value) if self._whole.is_whole(value) else self._anywhere.mask(value)
        return attrs.evolve(
            node,
            name=self._anywhere.mask(node.name),
            value=value,
            text=self._anywhere.mask(node.text),
            url=self._anywhere.mask(node.url),
            description=self._anywhere.mask(node.description),
            placeholder=self._anywhere.mask(node.placeholder),
            states=MappingProxyType(
                {
                    key: self._anywhere.mask(state) if isinstance(state, str) else state
                    for key, state in node.states.items()
                }
            ),
            ref=None if node.ref is None else self._mask_ref(node.ref),
        )


@attrs.define(eq=False, slots=False)
class _MaskedNodes(ListedNodes):
    """The masked nodes of a snapshot."""

    _unmasked: ListedNodes = attrs.field(kw_only=True)
    _masks: _SnapshotMasks = attrs.field(kw_only=True)

    @cached_property
    def data(self) -> tuple[SnapshotNode, ...]:
        """The nodes as data, in the order of the lines."""
        return tuple(map(self._masks.mask_node, self._unmasked.data))

    def find_with_text(self, wanted: Words, exact: bool, *, innermost: bool) -> set[str]:
        """Return the ids of the refs with this text, like `ListedNodes`. The search uses the unmasked text."""
        return self._unmasked.find_with_text(wanted, exact, innermost=innermost)
