"""Verbs about an action cache: replaying, learning, and managing its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import LONG, CacheRequest
from cdpengine.errors import EngineError, InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


VALUES = {"--values FILE": "A file with the values of variables, as JSON; - is standard input."}
"""Options of the shell for commands with variables."""


@attrs.frozen(kw_only=True)
class _CacheVerb(CacheRequest):
    """A request that the actor's cache performs."""

    async def run(self, performance: Performance) -> Any:
        """Let the actor's cache perform the request.

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
            return await cache.perform(
                self, actor=performance.actor, page=performance.page_or_none, timeout=performance.left
            )
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
class ExecuteCached(_CacheVerb):
    """Replay a known scenario on the page. It stops at an element that is not surely the same."""

    kind = "executeCached"
    timing = LONG
    needs_page = True
    tool = ToolForm(
        name="cache_replay",
        meaning="Replay a known scenario; stops at an element that is not surely the same.",
        fields=("scenario", "entry", "variables", "fromIndex", "toIndex", "dryRun", "force", "variant"),
        capability="cache",
    )
    commands = (
        CommandForm(
            name="cache-replay",
            meaning="Replay a scenario from the action cache; stops at an element that is not surely the same.",
            places=(Place("SCENARIO", "scenario", needed=False),),
            options=VALUES,
            example="cache-replay login --values login.json",
            console=False,
        ),
    )

    scenario: str | None = field('The scenario, such as "login".', None)
    entry: str | None = field("The entry, by its id in cacheList or in `cached` of a response.", None)
    variables: dict[str, str] = field("Values by the names of variables.", attrs.Factory(dict), secret=True)
    from_index: int = field("The first step to run, from 0.", 0, least=0)
    to_index: int | None = field("The step to stop before; without, all steps run.", None, least=0)
    dry_run: bool = field("Only find the elements.", False)
    force: bool = field("Continue even if the page has changed as a whole.", False)
    variant: str | None = field("Only this variant; without, the one on the page.", None)


@attrs.frozen(kw_only=True)
class CacheLookup(_CacheVerb):
    """Find the scenario that a sentence is about, and its entries for this page. Nothing is replayed."""

    kind = "cacheLookup"
    needs_page = True
    tool = ToolForm(
        meaning="Find the scenario that a sentence is about, and its entries for this page.",
        fields=("variant",),
        capability="cache",
    )
    commands = (
        CommandForm(
            meaning=(
                "Print the scenario that a sentence is about, and its entries in the action cache for this page."
            ),
            places=(Place("SENTENCE", "goal"),),
            example='cache-lookup "log in as ada"',
            console=False,
        ),
    )

    goal: str = field('The sentence: "log in as ada".', secret=True)
    variant: str | None = field("Only this variant; without, the one on the page.", None)


@attrs.frozen(kw_only=True)
class StartLearning(_CacheVerb):
    """Learn a scenario from the following actions on the page, until stopLearning."""

    kind = "startLearning"
    needs_page = True
    tool = ToolForm(
        name="learn",
        meaning="Learn a scenario from the actions between start and stop; values become variables.",
        action="start",
        fields=("variables", "variant"),
        capability="cache",
    )
    commands = (
        CommandForm(
            meaning="Learn a scenario from the following actions on the page.",
            places=(Place("SCENARIO", "scenario"),),
            options=VALUES,
            example="start-learning login --values login.json",
            console=False,
        ),
    )

    scenario: str = field('Its name: "login".')
    variables: dict[str, str] = field(
        "Values that will be entered, by name. The cache stores variables, never the values.",
        attrs.Factory(dict),
        secret=True,
    )
    description: str = field("Its purpose, in a sentence.", "")
    variant: str = field('The design of the page, if there are several, such as "b".', "")


@attrs.frozen(kw_only=True)
class StopLearning(_CacheVerb):
    """End learning, and store the scenario."""

    kind = "stopLearning"
    needs_page = True
    tool = ToolForm(name="learn", action="stop", fields=("keep",), capability="cache")
    commands = (CommandForm(console=False),)

    keep: bool = field("Store it; false discards it.", True)


@attrs.frozen(kw_only=True)
class CacheList(_CacheVerb):
    """List the entries of the cache."""

    kind = "cacheList"
    tool = ToolForm(
        meaning="List the entries of known scenarios.",
        fields=("scenario", "limit", "offset"),
        capability="cache",
    )
    commands = (
        CommandForm(
            meaning="List the entries of the action cache.",
            places=(Place("SCENARIO", "scenario", needed=False),),
        ),
    )

    scenario: str | None = field("Only entries of this scenario.", None)
    limit: int = field("Maximum number of entries, the latest used ones.", 50, least=1, most=1_000)
    offset: int = field("Number of the latest used entries to skip.", 0, least=0)


@attrs.frozen(kw_only=True)
class ScenarioList(_CacheVerb):
    """List the known scenarios, with their variables and the outcomes of their runs."""

    kind = "scenarioList"
    tool = ToolForm(
        name="cache_scenarios", meaning="List known scenarios with their variables.", capability="cache"
    )
    commands = (
        CommandForm(name="cache-scenarios", meaning="List the scenarios that the action cache knows."),
    )


@attrs.frozen(kw_only=True)
class CacheStats(_CacheVerb):
    """Return statistics of the cache: hits, misses, runs, and estimated savings."""

    kind = "cacheStats"
    tool = ToolForm(meaning="What was saved.", capability="cache")
    commands = (CommandForm(meaning="Print statistics of the action cache."),)


@attrs.frozen(kw_only=True)
class CacheClear(_CacheVerb):
    """Delete entries of the cache."""

    kind = "cacheClear"
    tool = ToolForm(
        meaning="Forget all entries, or those of a scenario.", fields=("scenario",), capability="cache"
    )
    commands = (
        CommandForm(
            meaning="Delete the entries of a scenario in the action cache, or with --all those of all scenarios.",
            places=(Place("SCENARIO", "scenario", needed=False),),
            options={"--all": "Delete the entries of all scenarios."},
        ),
    )

    scenario: str | None = field("Only entries of this scenario; without, all.", None)


@attrs.frozen(kw_only=True)
class CacheDelete(_CacheVerb):
    """Delete an entry of the cache with its versions, even if it is unreadable."""

    kind = "cacheDelete"
    tool = ToolForm(meaning="Forget one entry.", capability="cache")
    commands = (
        CommandForm(
            meaning="Delete an entry of the action cache with its versions.",
            places=(Place("ENTRY", "entry"),),
        ),
    )

    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheShow(_CacheVerb):
    """Return an entry of the cache with its steps, how its runs ended, and the rule that ends its use."""

    kind = "cacheShow"
    tool = ToolForm(
        meaning="Show an entry, how its runs ended, and when it is not used any more.", capability="cache"
    )
    commands = (
        CommandForm(
            meaning="Print an entry of the action cache, how its runs ended, and when it is not used any more.",
            places=(Place("ENTRY", "entry"),),
        ),
    )

    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheVersions(_CacheVerb):
    """List an entry and its older versions, newest first."""

    kind = "cacheVersions"
    tool = ToolForm(meaning="List the versions of an entry.", capability="cache")
    commands = (
        CommandForm(
            meaning="List an entry of the action cache and its older versions.",
            places=(Place("ENTRY", "entry"),),
        ),
    )

    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class CacheRestore(_CacheVerb):
    """Make an older version of an entry the current one."""

    kind = "cacheRestore"
    tool = ToolForm(meaning="Restore an older version of an entry.", capability="cache")
    commands = (
        CommandForm(
            meaning="Restore an older version of an entry.",
            places=(Place("ENTRY", "entry"), Place("VERSION", "version")),
        ),
    )

    entry: str = field("The entry, by its id.")
    version: int = field("The number of the version.", least=1)


@attrs.frozen(kw_only=True)
class ForceRefresh(_CacheVerb):
    """Stop using an entry, so that it is learned again."""

    kind = "forceRefresh"
    tool = ToolForm(name="cache_refresh", meaning="Have an entry learned again.", capability="cache")
    commands = (
        CommandForm(
            name="cache-refresh",
            meaning="Have an entry of the action cache learned again.",
            places=(Place("ENTRY", "entry"),),
        ),
    )

    entry: str = field("The entry, by its id.")


@attrs.frozen(kw_only=True)
class ReportError(_CacheVerb):
    """Report that an entry did something wrong, although its replay reported success."""

    kind = "reportError"
    tool = ToolForm(
        name="cache_report", meaning="Report that a replay did something wrong.", capability="cache"
    )
    commands = (
        CommandForm(
            name="cache-report",
            meaning="Report that an entry of the action cache did something wrong.",
            places=(Place("ENTRY", "entry"),),
        ),
    )

    entry: str = field("The entry, by its id.")
