"""Ten faults of the starter project's application, as a plugin of its test run: `-p planted_faults`.

Each fault fails one test of the project. `causes` are patterns that the artifacts of the failed test contain.
"""

from __future__ import annotations

import importlib
import inspect
import os
import time
from collections.abc import Callable, Mapping
from types import ModuleType

import attrs
import pytest

CHOSEN = "PLANTED_FAULTS"
"""Environment variable: the names of the faults to plant, with commas."""

Plant = Callable[[ModuleType, pytest.MonkeyPatch], None]


@attrs.frozen
class Fault:
    """A fault. `causes` maps names of artifacts to patterns of the cause."""

    test: str
    plant: Plant
    causes: Mapping[str, str]


def text(name: str, old: str, new: str) -> Plant:
    """Return a fault in a page or script: another string."""

    def plant(app: ModuleType, patch: pytest.MonkeyPatch) -> None:
        read = app.read_page

        def read_page(wanted: str) -> str:
            content: str = read(wanted)
            if wanted != name:
                return content
            assert old in content
            return content.replace(old, new)

        patch.setattr(app, "read_page", read_page)

    return plant


def reply(path: str, status: int, result: object, delay: float = 0) -> Plant:
    """Return a fault of the server: another result, or a late one."""

    def answer(_body: object) -> tuple[int, object]:
        time.sleep(delay)
        return status, result

    return lambda app, patch: patch.setitem(app.API, path, answer)


COVER = '<div role="dialog" aria-label="Cookies" style="position: fixed; inset: 0; background: #eee">We bake</div>'
POLICY = """<meta http-equiv="Content-Security-Policy" content="script-src 'none'">"""

FAULTS: Mapping[str, Fault] = {
    "wrong-text": Fault(
        "test_a_customer_logs_in",
        text("login.html", "Log in to the shop", "Log in to teh shop"),
        {"snapshot.txt": r'heading "Log in to teh shop"'},
    ),
    "server-error": Fault(
        "test_an_order_gets_a_number",
        reply("/api/orders", 500, {"error": "no connection to the database"}),
        {
            "requests.har": r'"status": 500',
            "console.txt": r"error: .*status of 500.*api/orders",
            "snapshot.txt": "The order failed",
            "traffic.jsonl": r'"status":500',
        },
    ),
    "script-error": Fault(
        "test_an_order_gets_a_number",
        text("shop.js", "made.number", "made.order.number"),
        {"console.txt": r"uncaught rejection: TypeError: .*undefined.*'number'(?s:.*)shop\.js:\d+"},
    ),
    "covered": Fault(
        "test_an_order_gets_a_number",
        text("shop.html", "<h1>", f"{COVER}<h1>"),
        {"snapshot.txt": 'dialog "Cookies"'},
    ),
    "slow": Fault(
        "test_items_have_prices",
        reply("/api/items", 200, [], delay=8),
        {"snapshot.txt": "Loading the items", "requests.har": r'api/items(?s:.*)"status": 0'},
    ),
    "wrong-url": Fault(
        "test_a_customer_logs_in",
        text("login.html", '"/shop"', '"/account"'),
        {"snapshot.txt": r"^# http://\S+/account$", "requests.har": r'"status": 404'},
    ),
    "missing-script": Fault(
        "test_items_have_prices",
        text("shop.html", "/shop.js", "/shop-2.js"),
        {"console.txt": r"error: .*404.*/shop-2\.js", "requests.har": r"/shop-2\.js"},
    ),
    "disabled": Fault(
        "test_an_order_can_be_undone",
        text("shop.js", "undo.disabled = false", "undo.disabled = true"),
        {"snapshot.txt": r'button "Undo" .*\[disabled\]'},
    ),
    "renamed-field": Fault(
        "test_items_have_prices",
        reply("/api/items", 200, [{"name": "Apples", "cost": 3}]),
        {"snapshot.txt": "undefined euros", "requests.har": r'\\"cost\\": 3'},
    ),
    "blocked-script": Fault(
        "test_items_have_prices",
        text("shop.html", "<title>", f"{POLICY}<title>"),
        {"console.txt": r"(?i)content security policy.*script-src 'none'"},
    ),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test once for each of its faults."""
    chosen = os.environ.get(CHOSEN, ",".join(FAULTS)).split(",")
    names = [name for name in chosen if FAULTS[name].test == metafunc.function.__name__]
    metafunc.parametrize("planted", names, indirect=True)


@pytest.fixture(autouse=True)
def planted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant the fault, and shorten the timeout of a click, which a covered element uses up."""
    from cdpengine import Locator

    FAULTS[request.param].plant(importlib.import_module("app"), monkeypatch)
    click = inspect.unwrap(Locator.click)
    monkeypatch.setattr(click, "__kwdefaults__", {**(click.__kwdefaults__ or {}), "timeout": 5})
