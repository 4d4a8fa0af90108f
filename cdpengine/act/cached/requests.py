"""Requests about an action cache: replay what is known, learn it, and see what there is.

See `act/requests.py`. They are done by the cache that the actor has (`Actor.cache`); without one they are refused.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.requests import LOADING, ActRequest

RUNNING = Timing(120_000, 600_000)


@attrs.frozen(kw_only=True)
class CacheRequest(ActRequest):
    """A request about the cache."""

    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False


@attrs.frozen(kw_only=True)
class ExecuteCached(CacheRequest):
    """Replay what is known of a scenario on the page. It stops where an element is not surely the same."""

    kind: ClassVar[str] = "executeCached"
    timing: ClassVar[Timing] = RUNNING
    scenario: str | None = field('The scenario, such as "login".', None)
    entry: str | None = field("The entry, by its id in cacheList or in `cached` of a response.", None)
    variables: dict[str, str] = field("Values by the names of variables.", attrs.Factory(dict), secret=True)
    from_index: int = field("The first step that is done, from 0.", 0, least=0)
    to_index: int | None = field("The step before which it ends; without, all are done.", None, least=0)
    dry_run: bool = field("Find the elements, and do nothing.", False)
    force: bool = field("Go on though the page has changed as a whole.", False)
    variant: str | None = field("Only this variant; without, the one that the page shows.", None)


@attrs.frozen(kw_only=True)
class CacheLookup(CacheRequest):
    """Say which scenario a sentence is about, and what is known of it for this page. Nothing is done."""

    kind: ClassVar[str] = "cacheLookup"
    goal: str = field('The sentence: "log in as ada".', secret=True)
    variant: str | None = field("Only this variant; without, the one that the page shows.", None)


@attrs.frozen(kw_only=True)
class StartLearning(CacheRequest):
    """Learn a scenario from what is done on the page from now on, until stopLearning."""

    kind: ClassVar[str] = "startLearning"
    scenario: str = field('What it is called: "login".')
    variables: dict[str, str] = field(
        "Values that will be entered, by names; they are kept as variables, never as values.",
        attrs.Factory(dict),
        secret=True,
    )
    description: str = field("What it does, in a sentence.", "")
    variant: str = field('Which of several designs of the page it is for, such as "b".', "")


@attrs.frozen(kw_only=True)
class StopLearning(CacheRequest):
    """End learning, and keep what was learned."""

    kind: ClassVar[str] = "stopLearning"
    keep: bool = field("Keep it; false throws it away.", True)


@attrs.frozen(kw_only=True)
class CacheList(CacheRequest):
    """List the entries of the cache."""

    kind: ClassVar[str] = "cacheList"
    scenario: str | None = field("Only those of this scenario.", None)
    limit: int = field("The most that is returned, the latest used ones.", 50, least=1, most=1_000)
    offset: int = field("How many of the latest used ones are passed over.", 0, least=0)


@attrs.frozen(kw_only=True)
class ScenarioList(CacheRequest):
    """List the scenarios that the cache knows, with their variables and how their runs ended."""

    kind: ClassVar[str] = "scenarioList"


@attrs.frozen(kw_only=True)
class CacheStats(CacheRequest):
    """Return what the cache is worth: hits, misses, runs, and estimates of what was saved."""

    kind: ClassVar[str] = "cacheStats"


@attrs.frozen(kw_only=True)
class CacheClear(CacheRequest):
    """Delete entries of the cache."""

    kind: ClassVar[str] = "cacheClear"
    scenario: str | None = field("Only those of this scenario; without, all.", None)


@attrs.frozen(kw_only=True)
class CacheDelete(CacheRequest):
    """Delete an entry of the cache with its versions, also one that cannot be read."""

    kind: ClassVar[str] = "cacheDelete"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheShow(CacheRequest):
    """Return an entry of the cache with its steps, how its runs ended, and the rule that ends its use."""

    kind: ClassVar[str] = "cacheShow"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheVersions(CacheRequest):
    """List an entry and its older versions, the newest first."""

    kind: ClassVar[str] = "cacheVersions"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheRestore(CacheRequest):
    """Make an older version of an entry its newest one."""

    kind: ClassVar[str] = "cacheRestore"
    entry: str = field("The entry, by its id.")
    version: int = field("The number of the version.", least=1)


@attrs.frozen(kw_only=True)
class ForceRefresh(CacheRequest):
    """Have an entry not be used any more, so that it is learned anew."""

    kind: ClassVar[str] = "forceRefresh"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class ReportError(CacheRequest):
    """Say that an entry did something wrong, though its replay said nothing of it."""

    kind: ClassVar[str] = "reportError"
    entry: str = field("The entry, by its id.")
