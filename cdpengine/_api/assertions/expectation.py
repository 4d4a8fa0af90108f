"""`expect`: the assertions about a page or the elements of a locator."""

from __future__ import annotations

from typing import overload

from cdpengine._api.assertions.locator_assertions import LocatorAssertions
from cdpengine._api.assertions.page_assertions import PageAssertions
from cdpengine._api.browser import Page
from cdpengine._api.page.locators import Locator
from cdpengine._budget import check_timeout
from cdpengine._checks import wrong_type


@overload
def expect(subject: Locator, *, timeout: float = 5) -> LocatorAssertions: ...


@overload
def expect(subject: Page, *, timeout: float = 5) -> PageAssertions: ...


def expect(subject: Locator | Page, *, timeout: float = 5) -> LocatorAssertions | PageAssertions:
    """Return the assertions about a page, or about the elements of a locator.

    Each assertion waits until it holds, `timeout` seconds by default, and raises AssertionFailedError at the end.
    For a ref, pass `page.locate(ref="e5")`.
    """
    check_timeout(timeout)
    if isinstance(subject, Locator):
        return LocatorAssertions(subject, timeout)
    if isinstance(subject, Page):
        return PageAssertions(subject.internals, timeout)
    raise wrong_type("subject", subject, 'a page or a locator, such as page.locate(ref="e5")')
