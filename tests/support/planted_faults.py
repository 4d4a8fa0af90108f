"""Faults of the starter project's application, as a plugin of its test run: `-p planted_faults`.

Each fault fails one test of the project. Its step trace and its other artifacts contain the cause as text.
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
    """A fault of the application, and the test that it fails.

    `traced` is a pattern of the cause in the text of the step trace. `causes` maps names of the other artifacts to
    such patterns.
    """

    test: str
    plant: Plant
    traced: str
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
FRAME = '<iframe title="Shop" src="/shop"></iframe>'
POLICY = """<meta http-equiv="Content-Security-Policy" content="script-src 'none'">"""

FAULTS: Mapping[str, Fault] = {
    "wrong-text": Fault(
        "test_a_customer_logs_in",
        text("login.html", "Log in to the shop", "Log in to teh shop"),
        r"AssertionFailedError.*Log in to teh shop",
        {"snapshot.txt": r'heading "Log in to teh shop"'},
    ),
    "server-error": Fault(
        "test_an_order_gets_a_number",
        reply("/api/orders", 500, {"error": "no connection to the database"}),
        r"request 500 .*/api/orders.*no connection to the database",
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
        r"error TypeError: .*undefined.*'number'.*shop\.js:\d+",
        {"console.txt": r"uncaught rejection: TypeError: .*undefined.*'number'(?s:.*)shop\.js:\d+"},
    ),
    "covered": Fault(
        "test_an_order_gets_a_number",
        text("shop.html", "<h1>", f"{COVER}<h1>"),
        r"click .*CoveredError.*div 'Cookies' receives the events",
        {"snapshot.txt": 'dialog "Cookies"'},
    ),
    "slow": Fault(
        "test_items_have_prices",
        reply("/api/items", 200, [], delay=8),
        r"request pending .*/api/items",
        {"snapshot.txt": "Loading the items", "requests.har": r'api/items(?s:.*)"status": 0'},
    ),
    "wrong-url": Fault(
        "test_a_customer_logs_in",
        text("login.html", '"/shop"', '"/account"'),
        r"request 404 .*/account",
        {"snapshot.txt": r"^# http://\S+/account$", "requests.har": r'"status": 404'},
    ),
    "missing-script": Fault(
        "test_items_have_prices",
        text("shop.html", "/shop.js", "/shop-2.js"),
        r"request 404 .*/shop-2\.js",
        {"console.txt": r"error: .*404.*/shop-2\.js", "requests.har": r"/shop-2\.js"},
    ),
    "disabled": Fault(
        "test_an_order_can_be_undone",
        text("shop.js", "undo.disabled = false", "undo.disabled = true"),
        r'click .*button "Undo".*disabled',
        {"snapshot.txt": r'button "Undo" .*\[disabled\]'},
    ),
    "renamed-field": Fault(
        "test_items_have_prices",
        reply("/api/items", 200, [{"name": "Apples", "cost": 3}]),
        r"AssertionFailedError.*Apples: undefined euros",
        {"snapshot.txt": "undefined euros", "requests.har": r'\\"cost\\": 3'},
    ),
    "blocked-script": Fault(
        "test_items_have_prices",
        text("shop.html", "<title>", f"{POLICY}<title>"),
        r"(?i)console error .*content security policy.*script-src 'none'",
        {"console.txt": r"(?i)content security policy.*script-src 'none'"},
    ),
    "renamed-button": Fault(
        "test_an_order_gets_a_number",
        text("shop.js", "`Order ${name}`", "`Buy ${name}`"),
        r'click .*NodeNotFoundError.*near it: button "Buy Pears"',
        {"snapshot.txt": 'button "Buy Pears"'},
    ),
    "dialog": Fault(
        "test_an_order_gets_a_number",
        text("shop.js", "(item) {", '(item) { if (!confirm("Order now?")) return;'),
        r"click .*confirm: Order now\?",
        {"snapshot.txt": "No orders"},
    ),
    "popup": Fault(
        "test_a_customer_logs_in",
        text("login.html", 'location.href = "/shop"', 'open("/shop")'),
        r"step \d+ of page 2: .*/shop",
        {"page-2.snapshot.txt": "/shop"},
    ),
    "frame": Fault(
        "test_a_customer_logs_in",
        text("login.html", 'location.href = "/shop"', f"document.body.innerHTML = `{FRAME}`"),
        'iframe "Shop"',
        {"snapshot.txt": 'iframe "Shop"(?s:.*)heading "Shop"'},
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
