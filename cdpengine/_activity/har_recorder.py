"""HarRecorder: the requests of several pages with their bodies, as one HTTP Archive.

Rule: the pages are those of a scope, present and future. Their activity is collected as long as the recorder runs,
in addition to what the user collects, and bodies are kept as they arrive, so that closed pages are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import attrs

from cdpengine._activity import har
from cdpengine._activity.collector import Activities, Collector
from cdpengine._activity.har_bodies import fill_bodies
from cdpengine._activity.options import ActivityOptions, KeepBodies
from cdpengine._activity.request_state import RequestState
from cdpengine._page.page_scope import PageScope
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Posted
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, SessionGoneError

MOST_REQUESTS = 10_000
"""Maximum number of requests of each page in an archive. Beyond it the oldest are dropped."""

_TOTAL = 256 * 2**20
"""Maximum size of all kept bodies of a page, in bytes."""

_NOTHING = ActivityOptions(console=0, errors=0, requests=0)


@attrs.define(eq=False)
class _Recorded:
    """One page: its collector, the requests before the recording, and the options to restore."""

    collector: Collector
    earlier: frozenset[RequestState]
    options: ActivityOptions | None


class HarRecorder:
    """Records the pages of `scope`. `wants` selects URLs; bodies above `largest` bytes are not kept."""

    def __init__(
        self, activities: Activities, scope: PageScope, wants: Callable[[str], bool], largest: int
    ) -> None:
        self._activities = activities
        self._scope = scope
        self._wants = wants
        self._largest = largest
        self._pages: dict[PageTarget, _Recorded] = {}
        self._own: dict[int, ActivityOptions | None] = {}

    async def begin(self) -> None:
        """Start. The caller must call `end` afterwards, even if this raises."""
        self._scope.tabs.add_set_up(self._set_up)
        calls: list[SharedCall] = []
        for page in list(self._scope.tabs.pages.values()):
            if self._scope.covers(page):
                calls += self._join(page)
        for call in calls:
            with suppress(SessionGoneError):
                await call.wait()

    def end(self) -> None:
        """Stop, and restore the activity of the pages. The recorded requests stay readable."""
        self._scope.tabs.remove_set_up(self._set_up)
        for recorded in self._pages.values():
            with suppress(SessionGoneError, ConnectionLostError):
                recorded.collector.apply(recorded.options)

    async def archive(self, *, bodies: bool, cookies: bool, product: str, seconds: float) -> har.Json:
        """Return the archive. Reading of missing bodies takes at most `seconds`."""
        logs: list[dict[str, Any]] = []
        share = seconds / max(1, len(self._pages))
        for number, recorded in enumerate(self._pages.values()):
            states, dropped = self._states(recorded)
            if bodies:
                exchanges = await fill_bodies(states, self._largest, share)
            else:
                exchanges = [state.exchange for state in states]
            visits = {exchange.page for exchange in exchanges}
            archive = har.document(
                exchanges,
                [visit for visit in recorded.collector.requests.visits if visit.id in visits],
                cookies=cookies,
                product=product,
                comments=[f"{dropped} earlier requests were not kept"] if dropped else [],
            )
            logs.append(_renamed(archive["log"], number))
        return {"log": _merged(logs, product)}

    def _states(self, recorded: _Recorded) -> tuple[list[RequestState], int]:
        kept = recorded.collector.requests.kept
        states = [
            state for state in kept if state not in recorded.earlier and self._wants(state.exchange.url)
        ]
        dropped = kept.records.dropped if not recorded.earlier else 0
        return states, dropped

    def _set_up(self, page: PageTarget, session: Session) -> list[Posted]:
        if session is page.session and self._scope.covers(page):
            self._join(page)
        return []

    def _join(self, page: PageTarget) -> Sequence[SharedCall]:
        if page in self._pages:
            return ()
        collector = self._activities.of(page)
        options = collector.options
        if id(options) in self._own:  # a popup of a recorded page
            options = self._own[id(options)]
        base = options or _NOTHING
        bodies = base.bodies or KeepBodies(largest=max(1, self._largest), total=_TOTAL)
        own = attrs.evolve(base, requests=max(base.requests, MOST_REQUESTS), bodies=bodies)
        self._own[id(own)] = options
        self._pages[page] = _Recorded(collector, frozenset(collector.requests.kept), options)
        with suppress(SessionGoneError, ConnectionLostError):
            return collector.apply(own)
        return ()


def _renamed(log: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a log whose page ids are unique among several pages."""
    prefix = f"tab_{number + 1}_"
    for page in log["pages"]:
        page["id"] = prefix + page["id"]
    for entry in log["entries"]:
        if "pageref" in entry:
            entry["pageref"] = prefix + entry["pageref"]
    return log


def _merged(logs: Sequence[dict[str, Any]], product: str) -> dict[str, Any]:
    if not logs:
        empty: dict[str, Any] = har.document([], [], cookies=False, product=product)["log"]
        return empty
    whole = dict(logs[0])
    whole["pages"] = [page for log in logs for page in log["pages"]]
    entries = [entry for log in logs for entry in log["entries"]]
    whole["entries"] = sorted(entries, key=lambda entry: str(entry["startedDateTime"]))
    comments = [log["comment"] for log in logs if "comment" in log]
    if comments:
        whole["comment"] = "; ".join(comments)
    return whole
