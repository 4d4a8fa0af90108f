"""Random documents of HTML's common elements, most of them plain (docs/snapshot-sources.md). Pure."""

from __future__ import annotations

from random import Random

WORDS = (
    "alpha",
    "Beta",
    "gamma-delta",
    "5 %",
    "“q”",
    "naïve",
    "a",
    "—",
    "Ωmega",
    "да",
    "東京",
    "x's",
    "&lt;b&gt;",
    "(i)",
)
ODD_WORDS = ("a\u00adb", "n&nbsp;b", "🙂", "e\u0301", "\u200b", "ﬁ", "שלום", "\u2028", "a\u0007b")
SPACES = (" ", "  ", "\n", "\t ", "")
RULES = (
    ".c0 { display: inline-block }", ".c1 { color: red }", ".c2 { font-weight: bold }", ".c3 { cursor: pointer }",
    ".c4 { float: left }", ".c5 { position: absolute }", ".c6 { display: flex }", ".c7 { opacity: 0 }",
)  # fmt: skip
ODD_RULES = (
    ".c0 { text-transform: uppercase }", ".c1 { white-space: pre }", ".c2::before { content: 'gen ' }",
    ".c3 { visibility: hidden }", ".c4 { display: contents }", ".c5 { display: none }", ".c6 { display: table-cell }",
    ".c7 { content-visibility: auto }", ".c1 { content-visibility: hidden }", ".c2 { -webkit-text-security: disc }",
    ".c3::after { content: '' }", ".c4::first-letter { text-transform: uppercase }", ".c5 { display: list-item }",
    ".c6 { visibility: collapse }", ".c0 { font-size: 0 }", ".c1 { text-indent: -9999px }", ".c2 { display: block }",
)  # fmt: skip
INSIDE = ("span", "b", "i", "em", "strong", "small", "u", "code")
TYPES = ("text", "email", "checkbox", "radio", "password", "search", "tel", "url")


class Writer:
    """Writes a random document. `odd` is the rate of parts that may not be plain."""

    def __init__(self, random: Random, odd: float) -> None:
        self.random, self.odd, self.ids = random, odd, 0

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def text(self, least: int = 0) -> str:
        pick = self.random.choice
        words = [
            pick(ODD_WORDS if self.chance(self.odd / 4) else WORDS)
            for _ in range(self.random.randint(least, 4))
        ]
        return pick(SPACES) + "".join(word + pick(SPACES) for word in words)

    def attributes(self) -> str:
        said = ""
        if self.chance(0.3):
            said += f" class=c{self.random.randrange(8)}"
        if self.chance(0.1):
            said += f" data-x={self.random.randrange(9)}"
        if self.chance(0.05):
            said += " onclick=f()"
        if self.chance(self.odd / 8):
            said += self.random.choice(
                (
                    " title=T",
                    " aria-label=L",
                    " role=note",
                    " tabindex=0",
                    " aria-hidden=true",
                    " hidden",
                    " lang=de",
                )
            )
        return said

    def phrase(self, depth: int = 0) -> str:
        pieces = []
        for _ in range(self.random.randint(1, 3)):
            if depth < 2 and self.chance(0.3):
                tag = self.random.choice(INSIDE)
                pieces.append(f"<{tag}{self.attributes()}>{self.phrase(depth + 1)}</{tag}>")
            elif self.chance(self.odd / 6):
                pieces.append(
                    self.random.choice(("<br>", "<img alt=pic>", "<svg></svg>", "<wbr>", "<a href=#>in</a>"))
                )
            else:
                pieces.append(self.text(1))
        return "".join(pieces)

    def control(self) -> str:
        self.ids += 1
        name = f"i{self.ids}"
        kind = self.random.randrange(4)
        more = self.attributes()
        if self.chance(0.3):
            more += " placeholder='Type  here'"
        if self.chance(0.2):
            more += self.random.choice((" disabled", " required", " readonly", " checked", " value=v"))
        if kind == 0:
            control = f"<textarea id={name}{more}>{self.text()}</textarea>"
        elif kind == 1:
            options = "".join(f"<option>{self.text(1)}" for _ in range(self.random.randint(1, 3)))
            control = f"<select id={name}{more}>{options}</select>"
        else:
            control = f"<input id={name} type={self.random.choice(TYPES)}{more}>"
        way = self.random.randrange(5)
        label = self.attributes()
        if way == 0:
            return f"<label{label}>{control} {self.phrase(1)}</label>"
        if way == 1:
            return f"<label{label}>{self.phrase(1)} {control}</label>"
        if way == 2:
            return f"<label for={name}{label}>{self.phrase(1)}</label> {control}"
        if way == 3 and self.chance(0.2):
            return f"<label{label}>{self.text(1)}<button>{self.text(1)}</button></label>{control}"
        if way == 3 and self.chance(self.odd):
            return (
                f"<label{label}>{self.text(1)}{control}{self.text(1)}</label><label for={name}>more</label>"
            )
        return control

    def block(self, depth: int = 0) -> str:
        kind = self.random.randrange(12)
        more = self.attributes()
        if kind == 0:
            return f"<h{self.random.randint(1, 6)}{more}>{self.phrase()}</h1>"
        if kind == 1:
            return f"<p{more}>{self.phrase()} <a href=/x{self.attributes()}>{self.phrase()}</a> {self.text()}</p>"
        if kind == 2:
            return f"<button{more}>{self.phrase()}</button>"
        if kind in (3, 4):
            return self.control()
        if kind == 5:
            items = "".join(
                f"<li{self.attributes()}>{self.inside(depth)}</li>" for _ in range(self.random.randint(1, 3))
            )
            return f"<ul{more}>{items}</ul>"
        if kind == 6:
            tag = self.random.choice(("main", "nav", "article", "blockquote", "form"))
            return f"<{tag}{more}>{self.inside(depth)}</{tag}>"
        if kind == 7:
            return f"<pre{more}>{self.text()}\n{self.text()}</pre>" + self.random.choice(("", "<hr>", "<br>"))
        if kind == 8 and self.chance(self.odd / 3):
            return self.random.choice(
                ("<table><tr><td>1<td>2</table>", "<details><summary>S</summary>d</details>", "<x-a>custom</x-a>",
                 "<section>s</section>", "<header>h</header>", "<iframe srcdoc=f></iframe>", "<li>stray</li>",
                 "<fieldset><legend>L</legend></fieldset>", "<input type=submit>", "<a>no link</a>")
            )  # fmt: skip
        return f"<div{more}>{self.inside(depth)}</div>"

    def inside(self, depth: int) -> str:
        if depth > 2:
            return self.phrase()
        return "".join(
            self.block(depth + 1) if self.chance(0.6) else self.phrase()
            for _ in range(self.random.randint(1, 3))
        )

    def page(self) -> str:
        rules = [rule for rule in RULES if self.chance(0.3)]
        rules += [rule for rule in ODD_RULES if self.chance(self.odd / 4)]
        return f"<!doctype html><style>{' '.join(rules)}</style>" + "".join(
            self.block() for _ in range(self.random.randint(2, 6))
        )
