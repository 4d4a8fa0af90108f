"""`expect`: the assertions about a page or an element."""

from __future__ import annotations

from cdpengine._api.assertions.page_assertions import PageAssertions
from cdpengine._api.browser import Page
from cdpengine._budget import check_timeout
from cdpengine._checks import wrong_type


def expect(subject: Page, *, timeout: float = 5) -> PageAssertions:
    """Return the assertions about a page.

    Each assertion waits until it holds, `timeout` seconds by default, and raises AssertionFailedError at the end.
    """
    check_timeout(timeout)
    if isinstance(subject, Page):
        return PageAssertions(subject.internals, timeout)
    raise wrong_type("subject", subject, "a page")
