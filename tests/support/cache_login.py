"""Shared parts of ActionCache tests: the demo site's login, as an entry and as a planner's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cache_flows import LOGIN
from cache_site.server import CacheSite

from cdpengine import Page, Snapshot
from cdpengine.act import Check, Click, Fill, FormField
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    CacheConfig,
    CacheEntry,
    LearningCost,
    PostCondition,
    Step,
    Viewport,
    describe_target,
    make_entry,
    make_key,
)

VALUES = LOGIN.examples[0]
PASSWORD = VALUES["password"]
GOAL = f"log in as {VALUES['username']}"
CONFIG = CacheConfig(keyring=False)


async def begin(page: Page, site: CacheSite, design: Any = "a") -> None:
    LOGIN.reset(site, design)
    await page.goto(site.url + LOGIN.start)


async def make_login(page: Page, site: CacheSite) -> CacheEntry:
    """Return the login entry, with elements described on the current page."""
    snapshot = await page.snapshot()

    def step(request: ActRequest, role: str, name: str, after: PostCondition | None = None) -> Step:
        found = snapshot.find_all(role=role, name=name, exact=True)[0]
        return Step(request=request, targets={"t1": describe_target(snapshot, found.id)}, after=after)

    fields = (FormField(ref="t1", value="${username}"),), (FormField(ref="t1", value="${password}"),)
    steps = [
        step(Fill(fields=fields[0]), "textbox", "User name"),
        step(Fill(fields=fields[1]), "textbox", "Password"),
        step(Check(ref="t1"), "checkbox", "Remember me"),
        step(Click(ref="t1"), "button", "Sign in", PostCondition(url=f"{site.url}/account")),
    ]
    key = make_key("login", page.url, Viewport(width=780, height=493), ["username", "password"])
    cost = LearningCost(tokens=1_000, milliseconds=60_000)
    return make_entry(key, steps, now=1.0, expires_at=1e12, cost=cost, sensitive=("password",))


def single(entry: CacheEntry, place: int) -> Step:
    step = entry.steps[place]
    assert isinstance(step, Step)
    return step


def is_logged_in(site: CacheSite) -> bool:
    return site.submitted == LOGIN.submitted(VALUES)


def requests_of(snapshot: Snapshot, numbers: Sequence[int]) -> list[Any]:
    def ref(role: str, *names: str) -> str:
        return next(
            found.id for name in names for found in snapshot.find_all(role=role, name=name, exact=True)
        )

    made: dict[int, Any] = {}
    for number in numbers:
        match number:
            case 0:
                made[0] = {"kind": "type", "ref": ref("textbox", "User name"), "text": "${username}"}
            case 1:
                made[1] = {"kind": "type", "ref": ref("textbox", "Password"), "text": "${password}"}
            case 2:
                made[2] = Check(ref=ref("checkbox", "Remember me"))
            case 3:
                made[3] = Click(ref=ref("button", "Sign in", "Log in"))
            case _:
                made[number] = Click(ref="e99999")
    return list(made.values())
