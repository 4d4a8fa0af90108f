"""Plugin of pytest: fixtures with a browser, their options, and artifacts of failed tests.

Rule: a test that uses none of the fixtures pays nothing. This module imports neither trio nor the engine, and
its hooks return at the first check for other tests.

pytest loads the plugin from the package's metadata. `pytest_plugins = ["cdpengine.testing.pytest_plugin"]` in a
conftest.py, or `-p cdpengine.testing.pytest_plugin`, loads it where that is disabled.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence

import pytest

from cdpengine.testing.pytest_plugin import options
from cdpengine.testing.pytest_plugin.usage import WITH_PAGES, check_runner, is_coroutine_test, uses_fixtures

UPDATE_SNAPSHOTS = "CDPENGINE_UPDATE_SNAPSHOTS"

OTHERS_WITH_PAGES = ("playwright", "playwright-asyncio")
"""Names of plugins with their own `browser`, `context` and `page`, which existing tests use."""


# --- options -----------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, if a conftest.py loads the plugin. Otherwise `pytest_load_initial_conftests` adds them."""
    names = [name for name, _plugin in pluginmanager.list_name_plugin()]
    if any(name.endswith("conftest.py") for name in names):
        config = pluginmanager.get_plugin("pytestconfig")
        assert isinstance(config, pytest.Config)
        options.add(parser, config)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser
) -> Generator[None, object, object]:
    """Add the options after those of all other plugins and conftest.py files, so that none conflicts.

    Some plugins add options after the conftest.py files too, so this wraps their wrappers.
    """
    result = yield
    options.add(parser, early_config)
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixtures and markers, and apply --update-snapshots to this process and its workers."""
    from cdpengine.testing.pytest_plugin import fixtures, pages

    plugins = config.pluginmanager
    if config.getoption("--update-snapshots", default=False):
        os.environ[UPDATE_SNAPSHOTS] = "1"
    for marker in (
        "cassette(keep_arguments=False): how the cassette of `recorded_browser` is recorded",
        'browser_version(">=130", ...): skip the test in browsers of other versions',
    ):
        config.addinivalue_line("markers", marker)
    plugins.register(fixtures, fixtures.__name__)
    if not any(map(plugins.has_plugin, OTHERS_WITH_PAGES)):
        plugins.register(pages, pages.__name__)


# --- tests -------------------------------------------------------------------------------------------------------


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Let pytest-trio run the coroutine tests that use the fixtures and have no other runner."""
    if not config.pluginmanager.has_plugin("trio"):
        return
    for item in items:
        if uses_fixtures(item) and is_coroutine_test(item) and not _has_runner(item):
            item.add_marker("trio")


def _has_runner(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("trio", "anyio", "asyncio"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin an attempt of a test with pages. pytest-rerunfailures makes several."""
    if not uses_fixtures(item):
        return
    check_runner(item)
    if uses_fixtures(item, WITH_PAGES):
        from cdpengine.testing.pytest_plugin import attempt

        if not item.config.pluginmanager.is_registered(attempt):
            item.config.pluginmanager.register(attempt, attempt.__name__)  # its hooks watch this test, too
        attempt.begin(item)
