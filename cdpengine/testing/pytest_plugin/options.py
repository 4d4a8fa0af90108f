"""The command-line options of the plugin.

Rule: an option that another plugin or a conftest.py has already defined is left to it. The values of
pytest-playwright and pytest-base-url count, because their options mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

RECORD_ANEW = "CDPENGINE_TEST_RECORD"

_MISSING = object()

_ADDED = pytest.StashKey[set[str]]()

_OWNERS: Mapping[str, Sequence[str]] = {
    "--headed": ("playwright",),
    "--device": ("playwright",),
    "--tracing": ("playwright",),
    "--screenshot": ("playwright",),
    "--output": ("playwright",),
    "--base-url": ("base_url", "playwright"),
}
"""Plugins whose option means the same."""

_TRACING = ("retain-on-failure", "on", "off")
_SCREENSHOT = ("only-on-failure", "on", "off")

_OPTIONS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("--headed", {"action": "store_true", "default": False, "help": "show the browser's windows"}),
    (
        "--slow-mo",
        {
            "type": float,
            "default": 0.0,
            "metavar": "SECONDS",
            "help": "pause before each action that sends input",
        },
    ),
    (
        "--browser-path",
        {
            "default": None,
            "metavar": "BROWSER",
            "help": 'the browser: a path, or "chrome", "chromium", "edge" or "brave"',
        },
    ),
    ("--device", {"default": None, "metavar": "NAME", "help": "emulate a device of `cdpengine.DEVICES`"}),
    ("--base-url", {"default": None, "metavar": "URL", "help": "complete relative URLs with this one"}),
    (
        "--tracing",
        {
            "choices": _TRACING,
            "default": _TRACING[0],
            "help": "write a step trace and a recording of the protocol of each test (default: %(default)s)",
        },
    ),
    (
        "--screenshot",
        {
            "choices": _SCREENSHOT,
            "default": _SCREENSHOT[0],
            "help": "take a screenshot at the end of each test (default: %(default)s)",
        },
    ),
    (
        "--output",
        {
            "default": "test-results",
            "metavar": "FOLDER",
            "help": "folder of the artifacts (default: %(default)s)",
        },
    ),
    (
        "--record-traffic",
        {
            "action": "store_true",
            "default": False,
            "help": f"record the tests of `recorded_browser` again, with a browser (like {RECORD_ANEW}=1)",
        },
    ),
    (
        "--update-snapshots",
        {
            "action": "store_true",
            "default": False,
            "help": "write the templates of `to_match_snapshot` that do not match (like "
            "CDPENGINE_UPDATE_SNAPSHOTS=1)",
        },
    ),
)


def add(parser: pytest.Parser, config: pytest.Config) -> None:
    """Add the options whose names are free."""
    group = parser.getgroup("cdpengine", "cdpengine: tests with a browser")
    added = config.stash.setdefault(_ADDED, set())
    for name, settings in _OPTIONS:
        dest = name.removeprefix("--").replace("-", "_")
        if all(config.getoption(each, default=_MISSING) is _MISSING for each in (name, dest)):
            group.addoption(name, dest=dest, **settings)
            added.add(name)


def has_flag(config: pytest.Config, name: str) -> bool:
    """Return whether a flag is set."""
    return _read(config, name) is True


def text(config: pytest.Config, name: str) -> str | None:
    """Return the string of an option, or None."""
    value = _read(config, name)
    return value if isinstance(value, str) and value else None


def seconds(config: pytest.Config, name: str) -> float:
    """Return the number of an option, or 0."""
    value = _read(config, name)
    return float(value) if isinstance(value, int | float) else 0.0


def tracing(config: pytest.Config) -> str:
    """Return when step traces and recordings of the protocol are kept."""
    return text(config, "--tracing") or _TRACING[0]


def screenshot(config: pytest.Config) -> str:
    """Return when screenshots are taken."""
    return text(config, "--screenshot") or _SCREENSHOT[0]


def output_folder(config: pytest.Config) -> Path:
    """Return the folder of the artifacts. It is relative to the folder in which pytest was started."""
    return config.invocation_params.dir / (text(config, "--output") or "test-results")


def _read(config: pytest.Config, name: str) -> object:
    """Return the value of an option of this plugin, or of another plugin where it means the same."""
    plugins = config.pluginmanager
    if name in config.stash.get(_ADDED, ()) or any(map(plugins.has_plugin, _OWNERS.get(name, ()))):
        value: object = config.getoption(name, default=None)
        return value
    return None
