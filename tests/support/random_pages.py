"""Random documents whose elements get names from every source: text, attributes, labels, other elements.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_WORDS = (
    "alder",
    "birch",
    "cedar",
    "elm",
    "fir",
    "hazel",
    "ivy",
    "larch",
    "maple",
    "oak",
    "pine",
    "rowan",
    "yew",
)
_INLINE = ("b", "i", "em", "strong", "span", "code", "mark", "small", "abbr", "u", "sub", "time")
_BLOCKS = (
    "div",
    "p",
    "section",
    "article",
    "nav",
    "aside",
    "header",
    "footer",
    "main",
    "blockquote",
    "pre",
    "address",
)
_ROLES = (
    "alert", "alertdialog", "article", "banner", "button", "checkbox", "complementary", "dialog", "document", "feed",
    "figure", "form", "group", "heading", "img", "link", "log", "main", "menuitem", "meter", "navigation", "none", "note",
    "option", "paragraph", "presentation", "progressbar", "radio", "region", "search", "slider", "spinbutton", "status",
    "switch", "tab", "term", "textbox", "toolbar", "tooltip", "treeitem",
)  # fmt: skip
_FIELDS = (
    "text",
    "search",
    "checkbox",
    "radio",
    "range",
    "number",
    "submit",
    "button",
    "file",
    "color",
    "email",
)


class _Page:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.ids: list[str] = []

    def word(self) -> str:
        """Return a word that is unique on the page."""
        self.count += 1
        return f"{self.random.choice(_WORDS)}{self.count}"

    def words(self) -> str:
        return " ".join(self.word() for _ in range(self.random.choice((1, 1, 1, 2, 3))))

    def attributes(self, *, role: float = 0.12) -> str:
        """Return random attributes that name, describe, hide or make focusable."""
        given = []
        makers: tuple[tuple[float, Callable[[], str]], ...] = (
            (0.10, lambda: f'title="{self.words()}"'),
            (0.10, lambda: f'aria-label="{self.words()}"'),
            (0.06, lambda: f'aria-labelledby="{self.reference()}"'),
            (0.05, lambda: f'aria-describedby="{self.reference()}"'),
            (0.12, lambda: f"tabindex={self.random.choice((0, 0, -1))}"),
            (role, lambda: f"role={self.random.choice(_ROLES)}"),
            (0.02, lambda: "aria-hidden=true"),
            (0.02, lambda: "hidden"),
        )
        for chance, make in makers:
            if self.random.random() < chance:
                given.append(make())
        if self.random.random() < 0.2:
            self.ids.append(f"id{len(self.ids)}")
            given.append(f"id={self.ids[-1]}")
        return "".join(f" {each}" for each in given)

    def reference(self) -> str:
        return self.random.choice(self.ids) if self.ids else "nowhere"

    def inline(self, depth: int) -> str:
        choice = self.random.random()
        if depth <= 0 or choice < 0.35:
            return self.words()
        if choice < 0.5:
            tag = self.random.choice(_INLINE)
            return f"<{tag}{self.attributes()}>{self.inlines(depth - 1)}</{tag}>"
        if choice < 0.62:
            return f'<a href="#{self.count}"{self.attributes(role=0.05)}>{self.inlines(depth - 1)}</a>'
        if choice < 0.74:
            return f"<button{self.attributes(role=0.05)}>{self.inlines(depth - 1)}</button>"
        if choice < 0.84:
            alt = self.random.choice(("", 'alt=""', f'alt="{self.words()}"'))
            return f"<img {alt}{self.attributes(role=0.05)}>"
        if choice < 0.9:
            return f"<input type={self.random.choice(_FIELDS)}{self.attributes(role=0)}>"
        return self.random.choice((self.labelled, self.select, self.drawing))(depth)

    def labelled(self, _depth: int) -> str:
        field = f"<input type={self.random.choice(_FIELDS)}{self.attributes(role=0)}>"
        return f"<label>{self.words()} {field} {self.words() if self.random.random() < 0.3 else ''}</label>"

    def select(self, _depth: int) -> str:
        options = "".join(f"<option>{self.words()}</option>" for _ in range(self.random.randint(1, 3)))
        return f"<select{self.attributes(role=0)}>{options}</select>"

    def drawing(self, _depth: int) -> str:
        title = f"<title>{self.words()}</title>" if self.random.random() < 0.4 else ""
        return f"<svg width=9 height=9{self.attributes(role=0)}>{title}<rect width=9 height=9 /></svg>"

    def inlines(self, depth: int) -> str:
        return " ".join(self.inline(depth) for _ in range(self.random.choice((0, 1, 1, 1, 2, 3))))

    def block(self, depth: int) -> str:
        if depth <= 0:
            return f"<p>{self.inlines(1)}</p>"
        makers: list[Callable[[int], str]] = [self.plain] * 5 + [
            self.heading, self.list, self.terms, self.table, self.details, self.fieldset, self.figure,
        ]  # fmt: skip
        return self.random.choice(makers)(depth)

    def plain(self, depth: int) -> str:
        tag = self.random.choice(_BLOCKS)
        inside = (
            self.inlines(depth)
            if tag in ("p", "pre") or self.random.random() < 0.5
            else self.blocks(depth - 1)
        )
        return f"<{tag}{self.attributes()}>{inside}</{tag}>"

    def heading(self, depth: int) -> str:
        level = self.random.randint(1, 6)
        return f"<h{level}{self.attributes(role=0.03)}>{self.inlines(depth)}</h{level}>"

    def list(self, depth: int) -> str:
        items = (
            f"<li{self.attributes(role=0.03)}>{self.random.choice((self.inlines, self.blocks))(depth - 1)}</li>"
            for _ in range(self.random.randint(1, 3))
        )
        return f"<ul{self.attributes(role=0.05)}>{''.join(items)}</ul>"

    def terms(self, _depth: int) -> str:
        return f"<dl><dt{self.attributes()}>{self.inlines(1)}</dt><dd{self.attributes()}>{self.inlines(1)}</dd></dl>"

    def table(self, _depth: int) -> str:
        head = f"<tr><th{self.attributes(role=0)}>{self.inlines(1)}</th><th>{self.words()}</th></tr>"
        rows = "".join(
            f"<tr{self.attributes(role=0)}><td>{self.inlines(1)}</td><td{self.attributes(role=0)}>{self.inlines(1)}</td></tr>"
            for _ in range(self.random.randint(1, 2))
        )
        caption = f"<caption>{self.words()}</caption>" if self.random.random() < 0.3 else ""
        return f"<table{self.attributes(role=0)}>{caption}<thead>{head}</thead>{rows}</table>"

    def details(self, depth: int) -> str:
        opened = self.random.choice(("", " open"))
        return f"<details{opened}><summary>{self.inlines(1)}</summary>{self.blocks(depth - 1)}</details>"

    def fieldset(self, depth: int) -> str:
        return f"<fieldset{self.attributes(role=0)}><legend>{self.words()}</legend>{self.inlines(depth)}</fieldset>"

    def figure(self, _depth: int) -> str:
        return f"<figure{self.attributes(role=0)}>{self.inlines(1)}<figcaption>{self.words()}</figcaption></figure>"

    def blocks(self, depth: int) -> str:
        return "".join(self.block(depth) for _ in range(self.random.choice((1, 1, 2, 3))))


def random_page(random: Random) -> str:
    """Return the body of a document that depends only on the state of `random`."""
    page = _Page(random)
    return "".join(page.block(3) for _ in range(random.randint(2, 5)))
