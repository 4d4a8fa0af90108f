"""measure_browser: all cases against one browser, with a report of what they gave."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable
from urllib.parse import urlsplit

from cdpengine._api.browser import Browser
from cdpengine.bench.cases import Effort, cases
from cdpengine.bench.figures import BenchReport, Figure

CASE_LIMIT = 30.0
"""Seconds that one case may take."""

Progress = Callable[[int, int, str], None]
"""Is told how many cases are done, of how many, and the name of the next one ("" at the end)."""


async def measure_browser(
    browser: Browser,
    *,
    url: str | None = None,
    effort: Effort = Effort(),  # noqa: B008 - frozen
    case_limit: float = CASE_LIMIT,
    progress: Progress = lambda _done, _all, _next: None,
) -> BenchReport:
    """Measure a browser in tabs of our own, and return the report. `url` is a page to load and take snapshots of.

    `effort` is how much of each is measured, `case_limit` the seconds that one case may take. Other pages of the
    browser are left alone, but what they do is in the figures. Raises ConnectionLostError when the browser is gone
    at the end; what could not be measured otherwise is a figure that says why.
    """
    todo = cases(browser, url, effort)
    figures: list[Figure] = []
    load = _load()
    for number, case in enumerate(todo):
        progress(number, len(todo), case.names[0][0])
        figures.extend(await case.run(case_limit))
    progress(len(todo), len(todo), "")
    if error := browser.session.error():
        raise error
    place, local = _place(browser.endpoint), _local(browser.endpoint)
    return BenchReport(browser.version.product, place, local, load, tuple(figures))


def _load() -> float | None:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):  # Windows has none
        return None


def _place(endpoint: str | None) -> str:
    return "a pipe" if endpoint is None else urlsplit(endpoint).netloc.rpartition("@")[2]


def _local(endpoint: str | None) -> bool:
    host = urlsplit(endpoint or "").hostname
    if host is None or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
