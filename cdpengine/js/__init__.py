"""The engine's JavaScript: files of their own, each one function expression, run in an isolated world."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def script(name: str) -> str:
    """Return the source of `name` (without ".js"). Raises FileNotFoundError when there is no such file."""
    return resources.files(__name__).joinpath(f"{name}.js").read_text("utf-8")
