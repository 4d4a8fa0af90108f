"""Entries of the cache: what was learned of one scenario on one page, as data. Pure.

Rule: an entry outlives its page. It names elements by what they are (`Target`), never by a ref, a selector or an
id of a page: where a request has a ref, there stands the name of one of the step's targets ("t1"). It names
variables, never their values, and it runs no script. `check_entry` refuses everything else, wherever an entry
comes from. Times are seconds since 1970, as `time.time` has them.
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
"""What an entry covers: L3 a whole scenario, L2 a flow that scenarios have in common, L1 one action."""

Source = Literal["recorded", "planned", "written", "imported"]
"""Where an entry comes from: watched on a page, asked of a planner, written by a person, or another store's."""

LIFETIMES: Mapping[Level, float] = MappingProxyType({"L3": 7 * 86_400.0, "L2": 3 * 86_400.0, "L1": 1_800.0})
"""How long an entry of each level is taken as it is, in seconds: a week, three days, half an hour."""

VERSIONS_KEPT = 3
"""How many versions of one entry a store keeps, the current one included."""

MOST_STEPS = 500

CACHED_KINDS = frozenset(
    {
        "click", "type", "press", "hover", "scrollIntoView", "scroll", "drag", "select", "fill", "check", "upload",
        "resize", "wait", "navigate", "back", "forward", "reload", "dialog", "fileChooser", "download", "newTab",
    }
)  # fmt: skip
"""Kinds of requests that an entry may have: those that act. None runs a script, or sets cookies and storages."""

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
    """What an entry is for: see `make_key`.

    `address` is a URL's one form, or a pattern. `variables` are names, in order. `variant` tells designs of one
    page apart that are shown by turns, as in a test of two designs.
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
        """The key as 32 hexadecimal digits: equal keys have equal ones."""
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
    """Return the key of what is done for a scenario, at a URL or a pattern of URLs, with variables of these names.

    A mapping of variables to their values may be passed too: the values are not looked at. Raises
    InvalidArgumentError for a scenario that is not a word in small letters, for a URL that cannot be read, and for
    a wrong name.
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
    """Something by which a person finds a place: its role and its name."""

    role: str
    name: str = ""


@attrs.frozen(kw_only=True)
class PathStep:
    """A step down the structure: the element of this role; `nth` counts those below the step before, from 0."""

    role: str
    nth: int = 0


@attrs.frozen(kw_only=True)
class FramePlace:
    """A frame in the document around it: the name of its element, its address, and the `nth` of all, from 0.

    `alike` is how many there were of that name and address.
    """

    name: str = ""
    address: str = ""
    nth: int = 0
    alike: int = 1


@attrs.frozen(kw_only=True)
class Target:
    """An element, by what a person would say of it. `describe_target` makes one.

    `role` and `name` are those of a snapshot; `nth` counts those of the same role and name in the frame, from 0,
    and `alike` says how many there were. `frames` leads to the frame, outermost first; () is the page itself.
    `within` are the named parts around it, innermost first, `before` and `after` what stands beside it. `path`
    leads through the structure of its document, outermost first. `item` is what the part of a list or a table says
    that it is in, without itself: which of many it is. `twins` says how many of those alike have the same item;
    without one, the same named part around them. `together` are the nearest other controls of the form, the dialog
    or the section that it is in. `name` and `item` may be templates.
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
    """What is to be so after a step: all that is given. At least one thing is.

    `url` is a pattern of URLs, `text` and `text_gone` are visible texts, `shown` and `gone` are elements,
    `load_state` says how far the document has to be. Texts may be templates.
    """

    url: str | None = None
    text: str | None = None
    text_gone: str | None = None
    shown: Target | None = None
    gone: Target | None = None
    load_state: LoadStateName | None = None


@attrs.frozen(kw_only=True)
class Step:
    """One action. `request` is what is asked of the page; its texts may be templates.

    Where the request has a ref, it is a name in `targets`, such as "t1". `after` is what the step led to. `label`
    says in words what it is for. `origins` are those that the values in it are for; without, that of the entry.
    """

    request: ActRequest
    targets: dict[str, Target] = attrs.field(factory=dict, hash=False)
    after: PostCondition | None = None
    label: str = ""
    origins: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StepGroup:
    """Several steps that belong together.

    `atomic`: all of them or none: when one fails, the steps of `rollback` are done. `label` says what they are
    for.
    """

    steps: tuple[Step, ...]
    atomic: bool = False
    rollback: tuple[Step, ...] = ()
    label: str = ""


# --- entries -------------------------------------------------------------------------------------------------


Excuse = Literal["mistake", "cancelled"]
"""Why a run that did not succeed is no failure of its entry: the caller's mistake, or a cancellation."""


@attrs.frozen(kw_only=True)
class EntryStatistics:
    """The runs of an entry: how many succeeded and failed, and the milliseconds of those that succeeded.

    `mistakes` are runs that ended with a mistake of the caller, such as a wrong password, and `cancelled` those
    that were cancelled: neither is a success or a failure. `failed_in_row` counts the failures since the last
    success.
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
        """The share of successes among successes and failures, from 0 to 1; None before the first."""
        judged = self.successes + self.failures
        return self.successes / judged if judged else None

    @property
    def mean_ms(self) -> float | None:
        """The mean duration of a successful run, in milliseconds; None before the first."""
        return self.total_ms / self.successes if self.successes else None

    def add_run(
        self, *, succeeded: bool, milliseconds: float, at: float, excuse: Excuse | None = None
    ) -> EntryStatistics:
        """Return the statistics with one more run. An excused run leaves `failed_in_row` as it is."""
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

    `tokens` are those of the snapshots that a caller reads to do the steps, as the engine measured them while
    it recorded: one before the first step, and one before each step whose page had changed in structure or words
    since the snapshot before. What a field holds is no change. If a planner did the steps, they are the snapshots
    that it got. `milliseconds` is the time from the beginning to the end.
    """

    tokens: int = 0
    milliseconds: float = 0.0


@attrs.frozen(kw_only=True)
class CacheEntry:
    """What was learned: the steps of a scenario on a page.

    `sensitive` names those variables whose values are shown nowhere. `features` are those of the page where the
    steps begin, `page_type` says how soon a change of it counts. `version` counts up with each change of the
    steps; a store keeps the last three. It is taken as it is until `expires_at`. `cost` is what learning it took.
    `environment` names those variables whose values were the environment's when it was recorded.
    """

    key: CacheKey
    steps: tuple[Step | StepGroup, ...]
    level: Level = "L3"
    description: str = ""
    sensitive: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    source: Source = "recorded"
    tags: tuple[str, ...] = ()
    version: int = 1
    page_type: PageType = "dynamic"
    features: PageFeatures | None = None
    created_at: float = 0.0
    expires_at: float = 0.0
    statistics: EntryStatistics = EntryStatistics()
    cost: LearningCost = LearningCost()

    def all_steps(self) -> Iterator[Step]:
        """Go through all steps, those of groups and of their rollbacks included, in order."""
        for step in self.steps:
            if isinstance(step, StepGroup):
                yield from step.steps
                yield from step.rollback
            else:
                yield step

    @property
    def holds_typed_text(self) -> bool:
        """Whether a text that is entered stands in a step itself, and not as a variable."""
        return any(holds_typed_text(step.request) for step in self.all_steps())


def begins_with(steps: Iterable[Step | StepGroup]) -> ActRequest | None:
    """Return the first request of steps that does more than resize the viewport; None without one."""
    for each in steps:
        for step in each.steps if isinstance(each, StepGroup) else (each,):
            if not isinstance(step.request, Resize):
                return step.request
    return None


def make_entry(
    key: CacheKey, steps: Iterable[Step | StepGroup], *, now: float, level: Level = "L3", **more: Any
) -> CacheEntry:
    """Return a new entry, made `now` and with its level's lifetime; `more` are further fields of CacheEntry.

    Raises InvalidArgumentError for what `check_entry` refuses.
    """
    more = {"created_at": now, "expires_at": now + LIFETIMES[level]} | more
    entry = CacheEntry(key=key, steps=tuple(steps), level=level, **more)
    check_entry(entry)
    return entry


# --- checks --------------------------------------------------------------------------------------------------


def check_key(key: CacheKey) -> None:
    """Raise InvalidArgumentError for a key that no entry can have."""
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
    """Raise InvalidArgumentError for an entry that breaks the rule of this module; the message says where."""
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
    """Return the names of the variables that a step needs, each once."""
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
    wanted = set()
    for part in (request, *(request.fields if isinstance(request, Fill) else ())):
        selectors = [getattr(part, name, None) for name in ("selector", "start_selector", "end_selector")]
        if any(each is not None for each in selectors) and not isinstance(request, Wait):
            raise InvalidArgumentError(place, "a selector", "a target: the name of one in place of a ref")
        names = ("start_ref", "end_ref") if isinstance(part, Drag) else ("ref",)
        wanted |= {ref for name in names if (ref := getattr(part, name, None)) is not None}
    for ref in wanted:
        if _SLOT.fullmatch(ref) is None:
            raise InvalidArgumentError(place, "a ref of a snapshot", 'the name of a target, such as "t1"')
    if wanted != set(step.targets):
        given = f"targets {sorted(step.targets)}"
        raise InvalidArgumentError(place, given, f"those that its request names: {sorted(wanted)}")
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
    """Yield the templates of a step beside those of its request."""
    targets = list(step.targets.values())
    if step.after is not None:
        yield from (text for text in (step.after.text, step.after.text_gone) if text is not None)
        targets += [target for target in (step.after.shown, step.after.gone) if target is not None]
    for target in targets:
        yield target.name
        yield target.item
