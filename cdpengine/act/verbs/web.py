"""The verb that searches the web."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._checks import invalid
from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, ActRequest
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance
    from cdpengine.act.searching import SearchResult

_ARRIVING = 2.0
"""Timeout for the first result of a search, in seconds, on pages that add results by script."""


@attrs.frozen(kw_only=True)
class Search(ActRequest):
    """Search the web in a new tab, and return the results: title, URL and snippet."""

    kind = "search"
    listed = ("", "nothing was found")
    timing = LOADING
    in_order = False
    needs_page = False
    tool = ToolForm(meaning="Search the web.")
    commands = (
        CommandForm(meaning="Search the web, and print the results.", places=(Place("QUERY", "query"),)),
    )

    query: str = field("The search terms.")
    engine: str = field("The search engine, by its name.", "duckduckgo")
    limit: int = field("Maximum number of results.", 10, least=1, most=100)

    async def run(self, performance: Performance) -> list[dict[str, str]]:
        from cdpengine.act.searching import read_result

        engine = performance.actor.search_engines.get(self.engine)
        if engine is None:
            known = ", ".join(map(repr, performance.actor.search_engines))
            raise invalid("search.engine", self.engine, f"one of {known}")
        page = await performance.actor.browser.new_page(
            context=performance.actor.context, timeout=performance.left
        )
        try:
            await page.goto(
                engine.url_of(self.query), wait_until="domcontentloaded", timeout=performance.left
            )
            results: list[SearchResult] = []
            for node in await page.find_all(engine.result, timeout=min(performance.left, _ARRIVING)):
                if len(results) == self.limit:
                    break
                html = await page.elements.outer_html(node, timeout=performance.left)
                if (result := read_result(html, page.url, engine)) is not None:
                    results.append(result)
            return [attrs.asdict(result) for result in results]
        finally:
            await performance.actor.discard(page)

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result:
            yield from (escape_line(each["title"]), f"  {escape_line(each['url'])}")
            if each["snippet"]:
                yield f"  {escape_line(each['snippet'])}"
