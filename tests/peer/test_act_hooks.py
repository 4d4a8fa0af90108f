"""Hooks around requests: they see each request that passes the gate, and cannot change its outcome."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from cdpengine.act import Actor, ActRequest, ActResponse, DispatchHook, dispatch
from cdpengine.act.response import CachedActions
from cdpengine.errors import CacheUnavailableError


class NoBrowser:
    """A browser without pages, which is all that the requests below need."""

    pages: tuple[Any, ...] = ()
    internals = SimpleNamespace(tabs=SimpleNamespace(feed_dialogs=lambda _feed: None))

    def page(self, _target_id: str) -> None:
        return None


@attrs.define(eq=False)
class Hook:
    """Records its calls. `does` is its behaviour."""

    seen: list[str] = attrs.field(factory=list)
    does: str = ""

    async def before(self, actor: Actor, request: ActRequest) -> None:
        assert isinstance(actor, Actor)
        self.seen.append(f"before {request.kind}")
        await self._do()

    async def after(self, actor: Actor, request: ActRequest, response: ActResponse) -> ActResponse:
        assert isinstance(actor, Actor)
        self.seen.append(f"after {request.kind} {response.ok}")
        await self._do()
        known = CachedActions(entry="a", scenario="login", level="L3", steps=2)
        return attrs.evolve(response, cached=(known,))

    async def _do(self) -> None:
        if self.does == "fail":
            raise CacheUnavailableError("a file", "read", "the disk is full")
        if self.does == "raise":
            raise KeyError("hunter2")
        if self.does == "raise a group":
            raise ExceptionGroup("tasks", [ValueError("hunter2")])
        if self.does == "hang":
            await trio.sleep_forever()


def actor(*hooks: Hook, **more: Any) -> Actor:
    made = tuple(DispatchHook(hook.before, hook.after) for hook in hooks)
    return Actor(NoBrowser(), hooks=made, **more)  # type: ignore[arg-type]


async def test_hooks_see_the_request_and_may_add_to_the_response() -> None:
    first, second = Hook(), Hook()
    response = await dispatch(actor(first, second), {"kind": "tabs"})
    assert first.seen == second.seen == ["before tabs", "after tabs True"]
    assert response.to_json()["cached"] == [{"entry": "a", "scenario": "login", "level": "L3", "steps": 2}]


@pytest.mark.parametrize(
    ("request_", "seen"),
    [
        (
            {"kind": "click", "ref": "e1"},
            ["before click", "after click False"],
        ),  # no page: refused during execution
        ({"kind": "clikc"}, []),
        ({"kind": "evaluate", "function": "1"}, []),
    ],
)
async def test_a_refused_request_calls_no_hook(request_: dict[str, Any], seen: list[str]) -> None:
    hook = Hook()
    response = await dispatch(actor(hook, evaluate_enabled=False), request_)
    assert not response.ok
    assert hook.seen == seen


@pytest.mark.parametrize("does", ["fail", "raise", "raise a group", "hang"])
async def test_a_hook_that_fails_or_hangs_changes_nothing(
    does: str, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    hook, other = Hook(does=does), Hook()
    response = await dispatch(actor(hook, other), {"kind": "tabs"})
    assert response.ok
    assert len(response.cached) == 1
    assert other.seen == ["before tabs", "after tabs True"]
    assert [record.getMessage().partition(":")[0][:30] for record in caplog.records] == [
        "a hook of tabs took more than " if does == "hang" else "a hook of tabs failed"
    ] * 2
    assert "hunter2" not in caplog.text


async def test_a_hook_that_returns_no_response_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def forget(_actor: Actor, _request: ActRequest, _response: ActResponse) -> Any:
        return None

    made = Actor(NoBrowser(), hooks=(DispatchHook(after=forget),))  # type: ignore[arg-type]
    assert (await dispatch(made, {"kind": "tabs"})).ok
    assert "expected an ActResponse" in caplog.text


@pytest.mark.parametrize("error", [KeyError("hunter2"), ExceptionGroup("tasks", [ValueError("hunter2")])])
async def test_an_exception_in_the_cache_becomes_an_error_of_the_request(error: Exception) -> None:
    class Broken:
        async def perform(self, _request: object, **_context: object) -> Any:
            raise error

    response = await dispatch(actor(cache=Broken()), {"kind": "cacheList"})
    assert response.error is not None
    assert response.error.kind == "invalidArgument"
    assert type(error).__name__ in response.error.message
    assert "hunter2" not in str(response)


async def test_cancelling_a_request_also_cancels_its_hook() -> None:
    with trio.move_on_after(0.05) as scope:
        await dispatch(actor(Hook(does="hang")), {"kind": "tabs"})
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    "request_",
    [
        {"kind": "cacheList"},
        {"kind": "cacheStats"},
        {"kind": "scenarioList"},
        {"kind": "cacheClear"},
        {"kind": "forceRefresh", "entry": "a"},
        {"kind": "cacheDelete", "entry": "a"},
        {"kind": "cacheShow", "entry": "a"},
        {"kind": "cacheVersions", "entry": "a"},
        {"kind": "cacheRestore", "entry": "a", "version": 1},
        {"kind": "reportError", "entry": "a"},
    ],
)
async def test_without_a_cache_requests_about_it_are_refused(request_: dict[str, Any]) -> None:
    response = await dispatch(actor(), request_)
    assert response.error is not None
    assert response.error.kind == "invalidArgument"
    assert "no cache is open here" in response.error.message


async def test_a_hook_may_implement_one_half_only() -> None:
    whole = Hook()
    made = Actor(NoBrowser(), hooks=(DispatchHook(), DispatchHook(before=whole.before)))  # type: ignore[arg-type]
    assert (await dispatch(made, {"kind": "tabs"})).cached == ()
    assert whole.seen == ["before tabs"]
