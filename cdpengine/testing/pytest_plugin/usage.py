"""Which tests use the fixtures with pages, and whether a plugin can run them.

Rule: a fixture of the project with the same name replaces the plugin's. Its tests count only if it requests the
replaced fixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import iscoroutinefunction

import pytest

WITH_PAGES = ("browser", "context", "page")
OTHERS = ("recorded_browser", "cdp_peer", "cdp_connection")
_PACKAGE = "cdpengine.testing."


def uses_fixtures(item: pytest.Item, among: Sequence[str] = (*WITH_PAGES, *OTHERS)) -> bool:
    """Return whether a test uses one of these coroutine fixtures of the plugin."""
    if not isinstance(item, pytest.Function):
        return False
    names = item.fixturenames
    return any(name in names and _is_used(item, name) for name in among)


def _is_used(item: pytest.Function, name: str) -> bool:
    definitions = item._fixtureinfo.name2fixturedefs.get(name, ())  # noqa: SLF001 - pytest has no public way
    for definition in reversed(definitions):
        if definition.func.__module__.startswith(_PACKAGE):
            return True
        if name not in definition.argnames:
            return False
    return False


def is_coroutine_test(item: pytest.Item) -> bool:
    """Return whether a test is a coroutine function."""
    if not isinstance(item, pytest.Function):
        return False
    hypothesis = getattr(item.obj, "hypothesis", None)
    return iscoroutinefunction(item.obj if hypothesis is None else hypothesis.inner_test)


def check_runner(item: pytest.Item) -> None:
    """Fail a test that no plugin can run on trio."""
    if not is_coroutine_test(item):
        reason = "is no coroutine function: write `async def`"
    elif item.get_closest_marker("trio") is None and item.get_closest_marker("anyio") is None:
        reason = (
            "has no runner: install pytest-trio, or mark it with anyio and define a fixture anyio_backend that "
            "returns 'trio'"
        )
    else:
        return
    pytest.fail(f"the test uses a fixture of cdpengine and {reason}", pytrace=False)
