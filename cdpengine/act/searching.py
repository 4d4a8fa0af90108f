"""Searching the web: the results of a search engine's page, as data.

Rule: an engine is data: where a query goes, and what a result is there. Reading a result runs no script: its HTML
is taken apart here. What it says is foreign text.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote_plus, urljoin, urlsplit

import attrs


@attrs.frozen(kw_only=True)
class SearchEngine:
    """A search engine.

    `url` is where a query goes; "{query}" in it stands for the query. `result` is the CSS selector of one result,
    in which the first link with a text is the title. Where links lead over the engine's server,
    `target_parameter` is the parameter of such a link that holds the result's own URL.
    """

    url: str
    result: str
    target_parameter: str = ""

    def url_of(self, query: str) -> str:
        """Return the URL of the results for a query."""
        return self.url.replace("{query}", quote_plus(query, errors="replace"))


ENGINES: Mapping[str, SearchEngine] = {
    "duckduckgo": SearchEngine(
        url="https://html.duckduckgo.com/html/?q={query}", result=".result", target_parameter="uddg"
    ),
    "bing": SearchEngine(url="https://www.bing.com/search?q={query}", result="#b_results > .b_algo"),
}
"""The engines that are known by name. An Actor can be given others."""


@attrs.frozen(kw_only=True)
class SearchResult:
    """One result: what its link says, where it leads, and what stands beside it."""

    title: str
    url: str
    snippet: str


def read_result(html: str, base: str, engine: SearchEngine) -> SearchResult | None:
    """Return what the HTML of one result says, None where it has no link. `base` is the URL of its page."""
    reader = _ResultReader()
    reader.feed(html)
    reader.close()
    if reader.title is None:
        return None
    url = urljoin(base, reader.href)
    targets = (
        parse_qs(urlsplit(url).query).get(engine.target_parameter, []) if engine.target_parameter else []
    )
    snippet = _collapse("".join(reader.beside))
    return SearchResult(title=_collapse(reader.title), url=targets[0] if targets else url, snippet=snippet)


def _collapse(text: str) -> str:
    return " ".join(text.split())


_SILENT = {"script", "style", "template", "noscript"}
_INLINE = {
    "a", "abbr", "b", "cite", "code", "em", "font", "i", "mark", "q", "s", "small", "span", "strong", "sub", "sup",
    "u", "wbr",
}  # fmt: skip


class _ResultReader(HTMLParser):
    """Takes one result apart: the first link that says something, and all other text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: str | None = None
        self.href = ""
        self.beside: list[str] = []
        self._silent = 0
        self._link: tuple[str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        if tag in _SILENT:
            self._silent += 1
        elif tag == "a" and self.title is None:
            self._link = (dict(attrs).get("href") or "", [])

    def handle_endtag(self, tag: str) -> None:
        self._separate(tag)
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        elif tag == "a" and self._link is not None:
            href, words = self._link
            self._link = None
            if href and "".join(words).strip():
                self.href, self.title = href, "".join(words)
            else:
                self.beside += words

    def _separate(self, tag: str) -> None:
        """Part what stands in two blocks."""
        if tag not in _INLINE and tag not in _SILENT:
            (self.beside if self._link is None else self._link[1]).append(" ")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        (self.beside if self._link is None else self._link[1]).append(data)
