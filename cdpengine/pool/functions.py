"""Ready functions for jobs: a page goes to an item's address, and one thing is read there.

Rule: an item is an address, or an object with one as its "url". A document that comes with an HTTP status of 400
or more is a failure, but for `har`, which archives what came. All work with `pool.map`; `har` needs pages whose
activity is kept: `pool.map(har, urls, context_options={"activity": True})`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._javascript import script, with_dom
from cdpengine.errors import DeadlineExceededError, InvalidArgumentError, NavigationFailedError
from cdpengine.pool.jobs import JobFunction, JobOptions

if TYPE_CHECKING:
    from cdpengine._api.page.page import Page

_RESTING = 10.0
"""Seconds that a page gets to come to rest before it is archived; one that never does is archived then."""


async def markdown(page: Page, item: object) -> str:
    """Return what a reader sees of the page, as Markdown."""
    await _visit(page, item)
    return await page.extract_markdown()


async def snapshot(page: Page, item: object) -> str:
    """Return the page's role snapshot: what a screen reader would be told, with a ref for each element."""
    await _visit(page, item)
    return (await page.snapshot()).text


async def screenshot(page: Page, item: object) -> bytes:
    """Return a picture of the page's first screen, as PNG."""
    await _visit(page, item)
    return await page.screenshot()


async def links(page: Page, item: object) -> list[str]:
    """Return where the links of the page's main document lead: whole http and https addresses, each once."""
    await _visit(page, item)
    found: list[str] = await page.evaluate(f"({with_dom(script('pool/links'))})()", world="isolated")
    return found


async def har(page: Page, item: object) -> dict[str, Any]:
    """Return the page's requests as an HTTP archive (HAR 1.2), secrets redacted; bodies of up to 1 MiB in it."""
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
        raise InvalidArgumentError(
            what="item", given=repr(item)[:80], expected='an address, or an object with one as its "url"'
        )
    return url


@attrs.frozen
class ReadyFunction:
    """A ready function, and the options of jobs that it needs. `suffix`: of files that its values may go to."""

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
"""The ready functions by their names."""
