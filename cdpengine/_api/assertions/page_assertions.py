"""Assertions about a page: its URL, its title and its snapshot."""

from __future__ import annotations

import os

import attrs
import msgspec

from cdpengine._api.assertions.matching import check_expected
from cdpengine._api.assertions.snapshots import check_snapshot
from cdpengine._api.assertions.waiting import Assertion, Look, Observation, name_negations
from cdpengine._api.page.core import PageCore
from cdpengine._budget import Budget
from cdpengine._page.navigation.documents import FrameWatches, open_document
from cdpengine._page.patterns import Words, collapse_space, describe_words
from cdpengine._pickling import not_picklable
from cdpengine._snapshot.text import quote, shorten
from cdpengine._urls.patterns import UrlPattern, join_pattern, url_test, url_words
from cdpengine.errors import shown_url

_TITLE = "function () { return { title: DOM.title(document) }; }"
_NO_URL = "about:blank"
_LONGEST_SHOWN = 120


class _Title(msgspec.Struct):
    title: str = ""


@name_negations
@not_picklable("values that you read")
@attrs.frozen
class PageAssertions:
    """Assertions about a page: `expect(page)`. Each waits until it holds, and raises AssertionFailedError.

    `not_` negates them. `timeout` is in seconds; None means the timeout of `expect`, and 0 looks only once.
    """

    _core: PageCore
    _timeout: float
    _negated: bool = False

    @property
    def not_(self) -> PageAssertions:
        """The same assertions, negated: each waits until it does not hold."""
        return attrs.evolve(self, negated=not self._negated)

    async def to_have_url(self, url: UrlPattern, *, timeout: float | None = None) -> None:
        """Expect the URL of the main frame to match a glob, a compiled pattern or a function.

        A relative glob is joined to the `base_url` of the context, as in `wait_for`.
        """
        whole = join_pattern(self._core.base_url, url)
        test, main = url_test(whole), self._core.target.frames.main

        async def look(_watches: FrameWatches | None, _budget: Budget) -> Observation:
            current = main.url or _NO_URL
            return Observation(
                test(current) is not self._negated, f"it was {shown_url(current)}", (), current
            )

        await self._check(f"to have the URL {url_words(whole)}", look, timeout)

    async def to_have_title(self, title: Words, *, timeout: float | None = None) -> None:
        """Expect the title of the main document to equal a string, or to match a compiled pattern."""
        check_expected("title", title)

        async def look(_watches: FrameWatches | None, _budget: Budget) -> Observation:
            document = await open_document(self._core.worlds, self._core.target.frames.main)
            try:
                found = collapse_space((await document.call(_TITLE, kind=_Title)).title)
            finally:
                document.release()
            holds = found == collapse_space(title) if isinstance(title, str) else bool(title.search(found))
            shown = quote(shorten(found, _LONGEST_SHOWN))
            return Observation(holds is not self._negated, f"it was {shown}", (), found)

        await self._check(f"to have the title {describe_words(title)}", look, timeout)

    async def to_match_snapshot(
        self, template: str | os.PathLike[str], *, timeout: float | None = None
    ) -> None:
        """Expect the page's accessibility snapshot to match a template, which is a string or the Path of a file.

        The template has lines of a snapshot in mode "role". It matches if removing lines from the snapshot gives
        the template. See docs/assertions.md for patterns, and for files that are written.
        """
        await check_snapshot(
            self._core, "the page", template, None, self._seconds(timeout), negated=self._negated
        )

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout

    async def _check(self, words: str, look: Look, timeout: float | None) -> None:
        subject = "the page not" if self._negated else "the page"
        main = self._core.target.frames.main
        await Assertion(self._core, f"{subject} {words}", look, lambda: [main]).check(self._seconds(timeout))
