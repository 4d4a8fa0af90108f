"""Web search: the results on a search engine's page, as data.

Rule: an engine is data: the URL of a query and the selector of a result. Reading a result runs no script: this
module parses its HTML. The content of results is untrusted text.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote_plus, urljoin, urlsplit

import attrs


@attrs.frozen(kw_only=True)
class SearchEngine:
    """A search engine.

    `url` is the URL of a query, with "{query}" in its place. `result` is the CSS selector of one result; the
    first link with a text in it is the title. If links lead over the engine's server, `target_parameter` is
    their parameter with the result's URL.
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
"""The engines that are known by name. An Actor can have others."""


@attrs.frozen(kw_only=True)
class SearchResult:
    """One result: the text and the URL of its link, and the text around it."""

    title: str
    url: str
    snippet: str


def read_result(html: str, base: str, engine: SearchEngine) -> SearchResult | None:
    """Return the result in some HTML, or None without a link. `base` is the URL of its page."""
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
    """Parser for one result: the first link that has a text, and all other text."""

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
        """Add a space between two blocks of text."""
        if tag not in _INLINE and tag not in _SILENT:
            (self.beside if self._link is None else self._link[1]).append(" ")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        (self.beside if self._link is None else self._link[1]).append(data)
