"""Stores of the action cache for tests: keys and entries numbered for tests, and a clock that the test
controls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cdpengine.act import Click, Type
from cdpengine.cache import CacheEntry, CacheKey, CacheStore, Step, Target, Viewport, make_entry, make_key

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
VIEWPORT = Viewport(width=800, height=600)
BUTTON = Target(role="button", name="Go")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def key(number: int = 0, **more: Any) -> CacheKey:
    made: dict[str, Any] = {"scenario": "login", "url": f"https://a.example/{number}", "viewport": VIEWPORT}
    return make_key(**made | more)


def entry(number: int = 0, text: str = "", **more: Any) -> CacheEntry:
    steps = [Step(request=Click(ref="t1"), targets={"t1": BUTTON})]
    if text:
        steps.append(Step(request=Type(ref="t1", text=text), targets={"t1": BUTTON}))
    options: dict[str, Any] = {"key": key(number), "steps": steps, "now": 1_000.0}
    return make_entry(**options | more)


def opened(path: Path, **more: Any) -> Any:
    options: dict[str, Any] = {"keyring": False, "now": Clock()}
    return CacheStore.open(path, **options | more)
