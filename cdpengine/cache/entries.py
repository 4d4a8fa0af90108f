"""Cache entries: the learned steps of one scenario on one page, as data. Pure.

Rule: an entry outlives its page. It describes elements (`Target`) and contains no refs, selectors or page
ids. In a request, the name of one of the step's targets ("t1") replaces the ref. An entry contains names of
variables but no values, and it runs no script. `check_entry` enforces this for entries of every source. Times
are in seconds since 1970, as in `time.time`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

import attrs

from cdpengine import _json
from cdpengine.act import ActRequest, Drag, Fill, Navigate, NewTab, Resize, Wait
from cdpengine.act.parsing import parse_request
from cdpengine.act.requests import LoadStateName
from cdpengine.cache.addresses import UrlPattern, normalize_url
from cdpengine.cache.changes import PageFeatures, PageType
from cdpengine.cache.templates import (
    check_name,
    find_variables,
    holds_typed_text,
    request_variables,
    shown_variables,
)
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import hide_secrets

Level = Literal["L3", "L2", "L1"]
"""Scope of an entry. L3: a whole scenario. L2: a flow that several scenarios share. L1: one action."""

Source = Literal["learned", "planned", "written", "imported"]
"""Source of an entry: actions on a page, a planner, a person, or another store."""

LIFETIMES: Mapping[Level, float] = MappingProxyType({"L3": 7 * 86_400.0, "L2": 3 * 86_400.0, "L1": 1_800.0})
"""Lifetime of an entry by level, in seconds: 7 days, 3 days, 30 minutes."""

VERSIONS_KEPT = 3
"""Number of versions of one entry that a store keeps, including the current one."""

MOST_STEPS = 500

CACHED_KINDS = frozenset(
    {
        "click", "type", "press", "hover", "scrollIntoView", "scroll", "drag", "select", "fill", "check", "upload",
        "resize", "wait", "navigate", "back", "forward", "reload", "dialog", "fileChooser", "download", "newTab",
    }
)  # fmt: skip
"""Kinds of requests that an entry can contain. None runs a script or sets cookies or storage items."""

_SCENARIO = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_SLOT = re.compile(r"t[1-9][0-9]{0,3}", re.ASCII)
_TAG = re.compile(r"[^\s|]{1,64}")


@attrs.frozen(kw_only=True)
class Viewport:
    """The size of the page's viewport, in CSS pixels."""

    width: int
    height: int


@attrs.frozen(kw_only=True)
class CacheKey:
    """The key of an entry, made by `make_key`.

    `address` is a normalized URL or a pattern. `variables` are sorted names. `variant` distinguishes
    alternating designs of a page, such as those of an A/B test.
    """

    scenario: str
    address: str
    viewport: Viewport
    variables: tuple[str, ...] = ()
    variant: str = ""

    @property
    def pattern(self) -> UrlPattern:
        """The address as a pattern."""
        return UrlPattern(self.address)

    @property
    def id(self) -> str:
        """The id of the key: 32 hexadecimal digits. Equal keys have equal ids."""
        parts = [
            self.scenario,
            self.address,
            self.viewport.width,
            self.viewport.height,
            self.variables,
            self.variant,
        ]
        return hashlib.sha256(_json.encode(parts)).hexdigest()[:32]

    def __str__(self) -> str:
        size = f"{self.viewport.width}x{self.viewport.height}"
        return "|".join([self.scenario, self.address, size, ",".join(self.variables), self.variant]).rstrip(
            "|"
        )


def make_key(
    scenario: str,
    url: str | UrlPattern,
    viewport: Viewport,
    variables: Iterable[str] = (),
    *,
    variant: str = "",
) -> CacheKey:
    """Return the key for a scenario, a URL or URL pattern, and names of variables.

    `variables` can also be a mapping from names to values. The values are ignored.

    Raises InvalidArgumentError for a scenario that is not a lowercase word, an invalid URL or an invalid
    name.
    """
    address = url.text if isinstance(url, UrlPattern) else normalize_url(url)
    key = CacheKey(
        scenario=scenario,
        address=address,
        viewport=viewport,
        variables=tuple(sorted(set(variables))),
        variant=variant,
    )
    check_key(key)
    return key


# --- elements ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Landmark:
    """A point of orientation on a page: a role and a name."""

    role: str
    name: str = ""


@attrs.frozen(kw_only=True)
class PathStep:
    """A step down the structure. `nth` counts the elements of this role below the previous step, from 0."""

    role: str
    nth: int = 0


@attrs.frozen(kw_only=True)
class FramePlace:
    """A frame in its parent document.

    `name` is the name of its element. `nth` is its position among all frames, from 0. `alike` is the number
    of frames with that name and address.
    """

    name: str = ""
    address: str = ""
    nth: int = 0
    alike: int = 1


@attrs.frozen(kw_only=True)
class Target:
    """A description of an element, made by `describe_target`.

    role, name: the role and name as in a snapshot. `name` can be a template.
    nth, alike: the position among the elements of the same role and name in the frame, from 0, and their
        number.
    frames: the chain of frames, outermost first; () for the page itself.
    within: the named parts of the page around the element, innermost first.
    before, after: the neighbours of the element.
    path: the steps through the structure of the document, outermost first.
    item: the words of the surrounding list item or table row, without the element. It can be a template.
    twins: the number of equal elements with the same item, or, without an item, in the same named part.
    together: the nearest other controls in the same form, dialog or section.
    """

    role: str
    name: str = ""
    nth: int = 0
    alike: int = 1
    frames: tuple[FramePlace, ...] = ()
    within: tuple[Landmark, ...] = ()
    before: Landmark | None = None
    after: Landmark | None = None
    path: tuple[PathStep, ...] = ()
    item: str = ""
    twins: int = 1
    together: tuple[Landmark, ...] = ()


# --- steps ---------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PostCondition:
    """The condition after a step: all fields that are set must hold. At least one field is set.

    `url` is a URL pattern. `text` is visible text and `text_gone` is absent text; both can be templates.
    `shown` and `gone` are elements. `load_state` is the required load state of the document.
    """

    url: str | None = None
    text: str | None = None
    text_gone: str | None = None
    shown: Target | None = None
    gone: Target | None = None
    load_state: LoadStateName | None = None


@attrs.frozen(kw_only=True)
class Step:
    """One action. Strings of `request` can be templates. Its refs are names in `targets`, such as "t1".

    `after` is the condition that the step leads to. `label` is the purpose in words. `origins` are the
    permitted origins of the step's values; if empty, the origin of the entry.
    """

    request: ActRequest
    targets: dict[str, Target] = attrs.field(factory=dict, hash=False)
    after: PostCondition | None = None
    label: str = ""
    origins: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StepGroup:
    """A group of steps.

    `atomic`: if a step fails, the engine performs the steps of `rollback`. `label` is the purpose of the
    group.
    """

    steps: tuple[Step, ...]
    atomic: bool = False
    rollback: tuple[Step, ...] = ()
    label: str = ""


# --- entries -------------------------------------------------------------------------------------------------


Excuse = Literal["mistake", "cancelled"]
"""Reason why an unsuccessful run is no failure of its entry: a mistake of the caller, or a cancellation."""


@attrs.frozen(kw_only=True)
class EntryStatistics:
    """The numbers of an entry's runs, by outcome.

    `mistakes` counts runs that ended with a mistake of the caller, such as a wrong password. `cancelled`
    counts cancelled runs. Neither kind is a success or a failure. `failed_in_row` counts the failures since
    the last success. `total_ms` is the duration of the successful runs, in milliseconds.
    """

    successes: int = 0
    failures: int = 0
    mistakes: int = 0
    cancelled: int = 0
    failed_in_row: int = 0
    total_ms: float = 0.0
    last_used_at: float = 0.0

    @property
    def uses(self) -> int:
        """The number of runs."""
        return self.successes + self.failures + self.mistakes + self.cancelled

    @property
    def success_rate(self) -> float | None:
        """The share of successes among successes and failures, from 0 to 1, or None before the first."""
        judged = self.successes + self.failures
        return self.successes / judged if judged else None

    @property
    def mean_ms(self) -> float | None:
        """The mean duration of a successful run, in milliseconds, or None before the first."""
        return self.total_ms / self.successes if self.successes else None

    def add_run(
        self, *, succeeded: bool, milliseconds: float, at: float, excuse: Excuse | None = None
    ) -> EntryStatistics:
        """Return the statistics with one more run. An excused run does not change `failed_in_row`."""
        failed = not succeeded and excuse is None
        return EntryStatistics(
            successes=self.successes + succeeded,
            failures=self.failures + failed,
            mistakes=self.mistakes + (not succeeded and excuse == "mistake"),
            cancelled=self.cancelled + (not succeeded and excuse == "cancelled"),
            failed_in_row=0 if succeeded else self.failed_in_row + failed,
            total_ms=self.total_ms + (milliseconds if succeeded else 0.0),
            last_used_at=max(at, self.last_used_at),
        )


@attrs.frozen(kw_only=True)
class LearningCost:
    """The cost of learning an entry, which a replay saves.

    `tokens` is the size of the snapshots that a caller reads to perform the steps. The engine measures it
    during learning. It counts one snapshot before the first step, and one before each step whose page
    changed in structure or words since the last snapshot. A changed field value does not count. If a planner
    performed the steps, the engine counts the planner's snapshots. `milliseconds` is the total time.
    """

    tokens: int = 0
    milliseconds: float = 0.0


@attrs.frozen(kw_only=True)
class CacheEntry:
    """The learned steps of a scenario on a page.

    sensitive: the variables whose values are never shown.
    environment: the variables whose values came from the environment during learning.
    version: increases with each change of the steps. A store keeps the last 3 versions.
    page_type: selects the thresholds for changes of the page.
    features: the features of the page where the steps begin.
    expires_at: the end of the entry's lifetime.
    cost: the cost of learning the entry.
    """

    key: CacheKey
    steps: tuple[Step | StepGroup, ...]
    level: Level = "L3"
    description: str = ""
    sensitive: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    source: Source = "learned"
    tags: tuple[str, ...] = ()
    version: int = 1
    page_type: PageType = "dynamic"
    features: PageFeatures | None = None
    created_at: float = 0.0
    expires_at: float = 0.0
    statistics: EntryStatistics = EntryStatistics()
    cost: LearningCost = LearningCost()

    def all_steps(self) -> Iterator[Step]:
        """Return all steps in order, including the steps of groups and rollbacks."""
        return all_steps(self.steps)

    @property
    def holds_typed_text(self) -> bool:
        """Whether a step contains typed text directly instead of as a variable."""
        return any(holds_typed_text(step.request) for step in self.all_steps())


def all_steps(steps: Iterable[Step | StepGroup]) -> Iterator[Step]:
    """Yield the steps in order, including the steps of groups and rollbacks."""
    for each in steps:
        if isinstance(each, StepGroup):
            yield from each.steps
            yield from each.rollback
        else:
            yield each


def begins_with(steps: Iterable[Step | StepGroup]) -> ActRequest | None:
    """Return the first request that is no resize of the viewport, or None."""
    for each in steps:
        for step in each.steps if isinstance(each, StepGroup) else (each,):
            if not isinstance(step.request, Resize):
                return step.request
    return None


def begins_anywhere(entry: CacheEntry) -> bool:
    """Return whether an entry begins by navigating to its page, so that it can start on any page."""
    return isinstance(begins_with(entry.steps), Navigate)


def make_entry(
    key: CacheKey, steps: Iterable[Step | StepGroup], *, now: float, level: Level = "L3", **more: Any
) -> CacheEntry:
    """Return a new entry with the creation time `now` and the lifetime of its level.

    `more` are further fields of CacheEntry. Raises the errors of `check_entry`.
    """
    more = {"created_at": now, "expires_at": now + LIFETIMES[level]} | more
    entry = CacheEntry(key=key, steps=tuple(steps), level=level, **more)
    check_entry(entry)
    return entry


# --- checks --------------------------------------------------------------------------------------------------


def check_key(key: CacheKey) -> None:
    """Raise InvalidArgumentError for an invalid key."""
    if not isinstance(key.scenario, str) or _SCENARIO.fullmatch(key.scenario) is None:
        raise InvalidArgumentError(
            "scenario", "another text", "a word such as login or form_fill, in small letters"
        )
    if min(key.viewport.width, key.viewport.height) < 1:
        raise InvalidArgumentError("viewport", "a side below 1", "1 CSS pixel or more")
    for name in key.variables:
        check_name(name)
    if list(key.variables) != sorted(set(key.variables)):
        raise InvalidArgumentError(
            "variables of the key", "another order", "each once, in alphabetical order"
        )
    if key.variant and _TAG.fullmatch(key.variant) is None:
        raise InvalidArgumentError(
            "variant", f"{len(key.variant)} characters", "a word of at most 64 characters"
        )
    if "*" not in key.address and normalize_url(key.address) != key.address:
        raise InvalidArgumentError(
            "address of the key", "another form of the URL", "what normalize_url returns"
        )
    _ = key.pattern


def check_entry(entry: CacheEntry) -> None:
    """Raise InvalidArgumentError with the place of the fault if an entry breaks the rule of this module."""
    check_key(entry.key)
    steps = list(entry.all_steps())
    if not 0 < len(steps) <= MOST_STEPS:
        raise InvalidArgumentError("steps", f"{len(steps)} steps", f"1 to {MOST_STEPS}")
    used: set[str] = set()
    for number, step in enumerate(steps, 1):
        place = f"step {number}"
        _check_request(step, place)
        _check_shown(step, entry.sensitive, place)
        used.update(step_variables(step))
    known = set(entry.key.variables)
    if not used <= known:
        extra = ", ".join(sorted(used - known)[:5])
        raise InvalidArgumentError("variables of the steps", extra, "only those of the key")
    if not set(entry.sensitive) <= known:
        raise InvalidArgumentError(
            "sensitive variables", "names that the key does not have", "only those of the key"
        )
    if any(_TAG.fullmatch(tag) is None for tag in entry.tags):
        raise InvalidArgumentError("tags", "another text", "words of at most 64 characters, without |")
    if entry.version < 1:
        raise InvalidArgumentError("version", str(entry.version), "1 or more")


def step_variables(step: Step) -> tuple[str, ...]:
    """Return the distinct names of the variables that a step needs."""
    names = list(request_variables(step.request))
    for text in _templates(step):
        names += find_variables(text)
    return tuple(dict.fromkeys(names))


def _check_request(step: Step, place: str) -> None:
    request = step.request
    if request.kind not in CACHED_KINDS:
        raise InvalidArgumentError(
            place, f"a request of kind {request.kind!r}", "one that acts, and runs no script"
        )
    parse_request(request)
    if isinstance(request, Wait) and request.function is not None:
        raise InvalidArgumentError(
            place, "a function to wait for", "another condition: an entry runs no script"
        )
    if isinstance(request, (Navigate, NewTab)) and request.url and hide_secrets(request.url) != request.url:
        raise InvalidArgumentError(
            place, "a URL with a secret in it", "one without: a URL is shown in messages"
        )
    if request.target_id is not None:
        raise InvalidArgumentError(place, "a targetId", "none: the id of a page ends with it")
    refs = set()
    for part in (request, *(request.fields if isinstance(request, Fill) else ())):
        selectors = [getattr(part, name, None) for name in ("selector", "start_selector", "end_selector")]
        if any(each is not None for each in selectors) and not isinstance(request, Wait):
            raise InvalidArgumentError(place, "a selector", "a target: the name of one in place of a ref")
        names = ("start_ref", "end_ref") if isinstance(part, Drag) else ("ref",)
        refs |= {ref for name in names if (ref := getattr(part, name, None)) is not None}
    for ref in refs:
        if _SLOT.fullmatch(ref) is None:
            raise InvalidArgumentError(place, "a ref of a snapshot", 'the name of a target, such as "t1"')
    if refs != set(step.targets):
        targets = f"targets {sorted(step.targets)}"
        raise InvalidArgumentError(place, targets, f"those that its request names: {sorted(refs)}")
    after = step.after
    if after is not None:
        if after == PostCondition():
            raise InvalidArgumentError(f"{place}, after", "no condition", "at least one")
        if after.url is not None:
            UrlPattern(after.url)


def _check_shown(step: Step, sensitive: Iterable[str], place: str) -> None:
    shown = set(shown_variables(step.request))
    for text in _templates(step):
        shown.update(find_variables(text))
    if found := sorted(shown.intersection(sensitive)):
        expected = "it only where text is entered: other fields are shown in messages and logs"
        raise InvalidArgumentError(place, f"the sensitive variable {found[0]}", expected)


def _templates(step: Step) -> Iterator[str]:
    """Yield the templates of a step outside its request."""
    targets = list(step.targets.values())
    if step.after is not None:
        yield from (text for text in (step.after.text, step.after.text_gone) if text is not None)
        targets += [target for target in (step.after.shown, step.after.gone) if target is not None]
    for target in targets:
        yield target.name
        yield target.item
