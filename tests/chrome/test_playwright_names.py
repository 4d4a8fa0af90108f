"""The page "Coming from Playwright" has a row for each public name of Playwright's asynchronous API."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from typing import Any

import pytest
from comparison import PLAYWRIGHT, rows
from peer_programs import CLIENTS, PYTHON_PEERS

SAME_CLASS = {"ChromiumBrowserContext": "BrowserContext"}
IN_EVERY_CLASS = {"on", "once", "remove_listener"}


@pytest.fixture(scope="module")
def playwright() -> Any:
    """Return the names of the installed Playwright: see the client."""
    if not any((PYTHON_PEERS / "lib").glob("python3*/site-packages/playwright")):
        pytest.skip("Playwright is not installed: make test-peers")
    program = [str(PYTHON_PEERS / "bin/python"), str(CLIENTS / "playwright_names.py")]
    return json.loads(subprocess.run(program, capture_output=True, check=True, timeout=60).stdout)


@pytest.fixture(scope="module")
def listed() -> dict[str, set[str]]:
    """Return the names in the tables, by section."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows(PLAYWRIGHT):
        found[row.section] |= set(row.names)
    return found


@pytest.mark.peers
def test_every_member_of_every_class_has_a_row(playwright: Any, listed: dict[str, set[str]]) -> None:
    missing = {}
    for name, members in playwright["classes"].items():
        inherited = set(playwright["classes"]["JSHandle"]) if name == "ElementHandle" else set()
        rest = set(members) - IN_EVERY_CLASS - inherited - listed[SAME_CLASS.get(name, name)]
        if rest:
            missing[name] = sorted(rest)
    assert missing == {}
    assert listed["Every class"] >= IN_EVERY_CLASS


@pytest.mark.peers
def test_every_event_has_a_row(playwright: Any, listed: dict[str, set[str]]) -> None:
    missing = {}
    for name, events in playwright["events"].items():
        own = listed[f"Events of {SAME_CLASS.get(name, name)}"]
        rest = [event for event in events if event not in own]
        rest = [event for event in rest if f"{name}.{event}" not in listed["Events of other classes"]]
        if rest:
            missing[name] = rest
    assert missing == {}


@pytest.mark.peers
def test_every_function_structure_and_option_has_a_row(playwright: Any, listed: dict[str, set[str]]) -> None:
    assert set(playwright["functions"]) - listed["playwright.async_api"] == set()
    assert set(playwright["structures"]) - listed["Types"] == set()
    for method, options in playwright["options"].items():
        assert set(options) - listed[f"Options of {method}"] == set()


@pytest.mark.peers
def test_rows_have_names_that_playwright_still_has(playwright: Any, listed: dict[str, set[str]]) -> None:
    for name, members in playwright["classes"].items():
        assert listed.get(name, set()) - set(members) == set(), name
