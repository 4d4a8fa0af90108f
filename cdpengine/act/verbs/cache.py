"""Verbs about an action cache: replaying, learning, and managing its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.requests import (
    LOADING,
    LONG,
    ActRequest,
)
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
)

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class CacheRequest(ActRequest):
    """A request about the cache."""

    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    needs_page: ClassVar[bool] = False

    async def run(self, performance: Performance) -> Any:
        """Let the actor's cache perform it.

        Raises InvalidArgumentError if the actor has no cache or the cache fails.
        """
        cache = performance.actor.cache
        if cache is None:
            raise InvalidArgumentError(
                what=self.kind,
                given="a request about a cache",
                expected="another kind: no cache is open here",
            )
        try:
            return await cache.perform(performance, self)
        except EngineError:
            raise
        except Exception as error:
            # The message of another exception may contain a value of the request: a KeyError has its key.
            raise InvalidArgumentError(
                what="Actor.cache",
                given=f"a cache that raised {type(error).__name__}",
                expected="one that raises EngineErrors",
            ) from error


@attrs.frozen(kw_only=True)
class ExecuteCached(CacheRequest):
    """Replay a known scenario on the page. It stops at an element that is not surely the same."""

    kind: ClassVar[str] = "executeCached"
    timing: ClassVar[Timing] = LONG
    needs_page: ClassVar[bool] = True
    scenario: str | None = field('The scenario, such as "login".', None)
    entry: str | None = field("The entry, by its id in cacheList or in `cached` of a response.", None)
    variables: dict[str, str] = field("Values by the names of variables.", attrs.Factory(dict), secret=True)
    from_index: int = field("The first step to run, from 0.", 0, least=0)
    to_index: int | None = field("The step to stop before; without, all steps run.", None, least=0)
    dry_run: bool = field("Only find the elements.", False)
    force: bool = field("Continue even if the page has changed as a whole.", False)
    variant: str | None = field("Only this variant; without, the one on the page.", None)


@attrs.frozen(kw_only=True)
class CacheLookup(CacheRequest):
    """Find the scenario that a sentence is about, and its entries for this page. Nothing is replayed."""

    kind: ClassVar[str] = "cacheLookup"
    needs_page: ClassVar[bool] = True
    goal: str = field('The sentence: "log in as ada".', secret=True)
    variant: str | None = field("Only this variant; without, the one on the page.", None)


@attrs.frozen(kw_only=True)
class StartLearning(CacheRequest):
    """Learn a scenario from the following actions on the page, until stopLearning."""

    kind: ClassVar[str] = "startLearning"
    needs_page: ClassVar[bool] = True
    scenario: str = field('Its name: "login".')
    variables: dict[str, str] = field(
        "Values that will be entered, by name. The cache stores variables, never the values.",
        attrs.Factory(dict),
        secret=True,
    )
    description: str = field("Its purpose, in a sentence.", "")
    variant: str = field('The design of the page, if there are several, such as "b".', "")


@attrs.frozen(kw_only=True)
class StopLearning(CacheRequest):
    """End learning, and store the scenario."""

    kind: ClassVar[str] = "stopLearning"
    needs_page: ClassVar[bool] = True
    keep: bool = field("Store it; false discards it.", True)


@attrs.frozen(kw_only=True)
class CacheList(CacheRequest):
    """List the entries of the cache."""

    kind: ClassVar[str] = "cacheList"
    scenario: str | None = field("Only entries of this scenario.", None)
    limit: int = field("Maximum number of entries, the latest used ones.", 50, least=1, most=1_000)
    offset: int = field("Number of the latest used entries to skip.", 0, least=0)


@attrs.frozen(kw_only=True)
class ScenarioList(CacheRequest):
    """List the known scenarios, with their variables and the outcomes of their runs."""

    kind: ClassVar[str] = "scenarioList"


@attrs.frozen(kw_only=True)
class CacheStats(CacheRequest):
    """Return statistics of the cache: hits, misses, runs, and estimated savings."""

    kind: ClassVar[str] = "cacheStats"


@attrs.frozen(kw_only=True)
class CacheClear(CacheRequest):
    """Delete entries of the cache."""

    kind: ClassVar[str] = "cacheClear"
    scenario: str | None = field("Only entries of this scenario; without, all.", None)


@attrs.frozen(kw_only=True)
class CacheDelete(CacheRequest):
    """Delete an entry of the cache with its versions, even if it is unreadable."""

    kind: ClassVar[str] = "cacheDelete"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheShow(CacheRequest):
    """Return an entry of the cache with its steps, how its runs ended, and the rule that ends its use."""

    kind: ClassVar[str] = "cacheShow"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheVersions(CacheRequest):
    """List an entry and its older versions, newest first."""

    kind: ClassVar[str] = "cacheVersions"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheRestore(CacheRequest):
    """Make an older version of an entry the current one."""

    kind: ClassVar[str] = "cacheRestore"
    entry: str = field("The entry, by its id.")
    version: int = field("The number of the version.", least=1)


@attrs.frozen(kw_only=True)
class ForceRefresh(CacheRequest):
    """Stop using an entry, so that it is learned again."""

    kind: ClassVar[str] = "forceRefresh"
    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class ReportError(CacheRequest):
    """Report that an entry did something wrong, although its replay reported success."""

    kind: ClassVar[str] = "reportError"
    entry: str = field("The entry, by its id.")
