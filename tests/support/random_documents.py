"""Random documents of every kind, for tests that compare two ways to read a document. Pure."""

from __future__ import annotations

import json
from random import Random

from random_aria import aria_document
from random_pages import random_page
from random_plain import Writer

_GENERATED = (
    ".c0::before { content: 'gen ' }", ".c1::after { content: attr(data-x) }", ".c2::before { content: url(data:,) }",
    ".c3 { text-transform: uppercase }", ".c4 { white-space: pre-line }", ".c5 { display: table }",
    ".c6 { display: contents }", ".c7 { visibility: hidden }", ".c0 { content-visibility: hidden }",
    ".c1 { float: right }", ".c2 { display: inline-block }", ".c3 { display: none }", ".c4 { list-style: none }",
    "b { display: block }", "li { display: block }", "label { display: flex }", "q { quotes: none }",
    "button { text-transform: capitalize }", "a::after { content: ' >' }", "h2 { -webkit-text-security: disc }",
)  # fmt: skip
_ROLES = (
    "button",
    "none",
    "img",
    "listitem",
    "group",
    "heading",
    "checkbox",
    "cell",
    "row",
    "list",
    "bogus",
    "",
)


_ATTACH = """<script>for (const [id, mode, html] of ROOTS) {
  const host = document.getElementById(id);
  if (host) host.attachShadow({ mode }).innerHTML = html;
}</script>"""


class Mixed(Writer):
    """Writes documents with tables, images, shadow trees, slots, frames, references and generated content.

    `odd` is the rate of such parts.
    """

    def __init__(self, random: Random, odd: float) -> None:
        super().__init__(random, odd)
        self.named: list[str] = []
        self.roots: list[tuple[str, str, str]] = []
        self.framed = 0

    def attributes(self) -> str:
        given = super().attributes()
        if not self.chance(self.odd / 3):
            return given
        pick = self.random.choice
        name = f"n{len(self.named)}"
        self.named.append(name)
        target = pick(self.named)
        return given + pick(
            (
                f" id={name}",
                f" id={name}",
                f" aria-labelledby={target}",
                f" aria-describedby={target}",
                f" aria-owns={target}",
                f" role='{pick(_ROLES)}'",
                f" role={pick(_ROLES) or 'x'} tabindex=0",
                f" aria-label='{pick(('Name', 'Two words', ' '))}'",
                " title='Some title'",
                " aria-hidden=true",
                " aria-hidden=false",
                " hidden",
                " inert",
                " contenteditable",
                " draggable=true",
                " tabindex=-1",
                f" aria-expanded={pick(('true', 'false', 'x'))}",
                f" aria-checked={pick(('true', 'mixed'))} role=checkbox",
                " aria-disabled=true",
                " aria-roledescription=odd",
                " slot=a",
                " style='display:none'",
                " style='visibility:hidden'",
            )
        )

    def block(self, depth: int = 0) -> str:
        if not self.chance(self.odd):
            return super().block(depth)
        kinds = (
            self.table, self.table, self.image, self.shadow, self.frame, self.details, self.fields, self.terms,
            self.media, self.custom, self.odd_list,
        )  # fmt: skip
        return self.random.choice(kinds)(depth)

    def table(self, depth: int) -> str:
        head = f"<caption>{self.text()}</caption>" if self.chance(0.3) else ""
        if self.chance(0.6):
            head += f"<thead><tr{self.attributes()}><th{self.attributes()}>{self.text(1)}<th scope=col>{self.text(1)}</thead>"
        rows = "".join(
            f"<tr{self.attributes()}>"
            + "".join(
                f"<td{self.attributes()}>{self.inside(depth + 2)}" for _ in range(self.random.randint(1, 3))
            )
            for _ in range(self.random.randint(1, 3))
        )
        return f"<table{self.attributes()}{' border' * self.chance(0.3)}>{head}<tbody>{rows}</table>"

    def image(self, _depth: int) -> str:
        alt = self.random.choice(("", " alt=''", " alt=picture", " alt='a  b' title=t"))
        image = f"<img src='data:,'{alt}{self.attributes()}>"
        ways = (
            image, f"<a href=/i>{image}</a>", f"<button>{image} {self.text()}</button>",
            f"<figure{self.attributes()}>{image}<figcaption>{self.text(1)}</figcaption></figure>",
            f"<svg width=9 height=9{self.attributes()}><title>{self.text(1)}</title><g></g></svg>",
            "<img usemap=#m src='data:,'><map name=m><area href=/area alt=area shape=default></map>",
        )  # fmt: skip
        return self.random.choice(ways)

    def shadow(self, depth: int) -> str:
        host = f"h{len(self.roots)}"
        mode = self.random.choice(("open", "open", "closed"))
        tag = self.random.choice(("div", "span", "section", "x-host"))
        parts = [
            self.text(1), "<slot></slot>", "<slot name=a>fallback</slot>", f"<button>{self.text(1)}</button>",
            "<style>b { display: none }</style>", f"<p{self.attributes()}>{self.phrase()}</p>",
        ]  # fmt: skip
        inside = "".join(self.random.sample(parts, self.random.randint(1, 4)))
        self.roots.append((host, mode, inside))
        return f"<{tag} id={host}>{self.inside(depth + 1)}<b slot=a>{self.text(1)}</b></{tag}>"

    def frame(self, _depth: int) -> str:
        self.framed += 1
        if self.framed > 2:
            return "<iframe></iframe>"
        inside = Writer(self.random, self.odd / 2).page().replace("&", "&amp;").replace("'", "&#39;")
        return f"<iframe{self.attributes()} srcdoc='{inside}'></iframe>"

    def details(self, depth: int) -> str:
        opened = " open" * self.chance(0.5)
        if self.chance(0.3):
            return f"<dialog{opened}{self.attributes()}>{self.inside(depth + 1)}</dialog>"
        summary = f"<summary{self.attributes()}>{self.phrase()}</summary>" if self.chance(0.8) else ""
        return f"<details{opened}>{summary}{self.inside(depth + 1)}</details>"

    def fields(self, depth: int) -> str:
        kinds = (
            "submit",
            "button",
            "reset",
            "image",
            "file",
            "range",
            "number",
            "date",
            "color",
            "hidden",
            "text",
        )
        pick = self.random.choice
        field = f"<input type={pick(kinds)}{self.attributes()}{pick(('', ' value=3', ' list=l', ' max=9'))}>"
        ways = (
            field,
            f"<fieldset{self.attributes()}><legend>{self.phrase()}</legend>{field}{self.control()}</fieldset>",
            f"<label{self.attributes()}>{self.phrase()}{field}</label>",
            f"<meter value=.5{self.attributes()}>half</meter><progress max=4 value=1></progress>",
            f"<select multiple{self.attributes()}><optgroup label=G><option>1<option selected>2</optgroup></select>",
            f"<output{self.attributes()}>{self.text()}</output><datalist id=l><option>d</datalist>",
            f"<form{self.attributes()}><input name=firstChild><input name=tabIndex>{self.inside(depth + 1)}</form>",
        )  # fmt: skip
        return pick(ways)

    def terms(self, depth: int) -> str:
        return (
            f"<dl{self.attributes()}><dt{self.attributes()}>{self.phrase()}<dd>{self.inside(depth + 2)}</dl>"
        )

    def media(self, _depth: int) -> str:
        return self.random.choice(
            (
                "<video controls></video>", "<audio></audio>", "<canvas>canvas <b>text</b></canvas>", "<object>o</object>",
                "<q>quoted</q>", "<ruby>a<rt>b</rt></ruby>", "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "<hr>",
                "<address>a</address>", "<time>t</time> <mark>m</mark> <del>d</del> <sub>s</sub> <abbr title=A>a</abbr>",
                "<section aria-label=S>s</section><aside>a</aside><header>h</header><footer>f</footer><search>s</search>",
            )
        )  # fmt: skip

    def custom(self, depth: int) -> str:
        return f"<x-a{self.attributes()}>{self.inside(depth + 1)}</x-a>"

    def odd_list(self, depth: int) -> str:
        items = "".join(
            f"<{self.random.choice(('li', 'li', 'div'))}{self.attributes()}>{self.inside(depth + 2)}"
            for _ in range(2)
        )
        tag = self.random.choice(("ul", "ol reversed", "menu", "div"))
        return f"<{tag}{self.attributes()}>{items}</{tag.split()[0]}>"

    def page(self) -> str:
        rules = [rule for rule in _GENERATED if self.chance(self.odd / 6)]
        body = super().page()
        script = _ATTACH.replace("ROOTS", json.dumps(self.roots).replace("</", r"<\/")) if self.roots else ""
        return f"{body}<style>{' '.join(rules)}</style>{script}"


def random_document(seed: int) -> str:
    """Return a document that depends only on `seed`: plain, mixed, with many names, or with ARIA's states."""
    random = Random(seed)
    kind = random.randrange(10)
    if kind < 4:
        return Writer(random, random.choice((0.0, 0.0, 0.2, 0.5))).page()
    if kind < 8:
        return Mixed(random, random.choice((0.05, 0.1, 0.3, 0.6))).page()
    if kind == 8:
        return f"<!doctype html><title>t</title>{random_page(random)}"
    return aria_document(random, owners=random.choice((0.0, 0.1)), hiding=random.choice((0.0, 0.06)))
