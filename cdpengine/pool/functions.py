"""Ready functions for jobs, each of which navigates to an item's address and reads one thing.

Rule: an item is an address, or an object with its address as "url". An HTTP status of 400 or more is a failure,
except for `har`, which archives it. All functions work with `pool.map`. `har` needs pages with activity:
`pool.map(har, urls, context_options={"activity": True})`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._checks import invalid
from cdpengine._javascript import script, with_dom
from cdpengine.errors import DeadlineExceededError, NavigationFailedError
from cdpengine.pool.jobs import JobFunction, JobOptions

if TYPE_CHECKING:
    from cdpengine._api.browser import Page

_RESTING = 10.0
"""Maximum time for a page to settle before it is archived, in seconds."""


async def markdown(page: Page, item: object) -> str:
    """Return the visible content of the page as Markdown."""
    await _visit(page, item)
    return await page.extract_markdown()


async def snapshot(page: Page, item: object) -> str:
    """Return the page's role snapshot: the content for a screen reader, with a ref for each element."""
    await _visit(page, item)
    return (await page.snapshot()).text


async def screenshot(page: Page, item: object) -> bytes:
    """Return a PNG image of the page's viewport."""
    await _visit(page, item)
    return await page.screenshot()


async def links(page: Page, item: object) -> list[str]:
    """Return the distinct absolute http and https addresses of the main document's links."""
    await _visit(page, item)
    found: list[str] = await page.evaluate(f"({with_dom(script('pool/links'))})()", world="isolated")
    return found


async def har(page: Page, item: object) -> dict[str, Any]:
    """Return the page's requests as an HTTP archive (HAR 1.2), redacted, with bodies of up to 1 MiB."""
    url = _address(item)
    await page.goto(url)
    with contextlib.suppress(DeadlineExceededError):
        await page.settled(timeout=_RESTING)
    return await page.activity.har()


async def _visit(page: Page, item: object) -> None:
    url = _address(item)
    status = (await page.goto(url)).status
    if status is not None and status >= _FAILED:
        raise NavigationFailedError(url, f"the server answered with HTTP status {status}")


_FAILED = 400


def _address(item: object) -> str:
    url = item.get("url") if isinstance(item, Mapping) else item
    if not isinstance(url, str):
        raise invalid("item", item, 'an address, or an object with one as its "url"')
    return url


@attrs.frozen
class ReadyFunction:
    """A ready function with its job options. `suffix` is for files with its values."""

    function: JobFunction[Any, Any]
    options: JobOptions = attrs.field(factory=JobOptions)
    suffix: str | None = None


READY = {
    "markdown": ReadyFunction(markdown),
    "snapshot": ReadyFunction(snapshot),
    "screenshot": ReadyFunction(screenshot),
    "har": ReadyFunction(har, JobOptions(context_options={"activity": True}), suffix=".har"),
    "links": ReadyFunction(links),
}
"""The ready functions by name."""
