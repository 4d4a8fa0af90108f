"""The engine's JavaScript: files of their own, each one function expression, run in an isolated world."""

from __future__ import annotations

from functools import cache, partial
from importlib import resources

from cdpengine.errors import exhausted, shortages_named


@cache
@shortages_named(partial(exhausted, "read a script of the engine's own"))
def script(name: str) -> str:
    """Return the source of `name` (without ".js"). Raises FileNotFoundError when there is no such file."""
    return resources.files(__name__).joinpath(f"{name}.js").read_text("utf-8")
