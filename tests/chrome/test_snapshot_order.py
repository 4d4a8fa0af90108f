"""A snapshot has the page's order, in every mode and from every source, on random pages.

Each word of a page is unique. The snapshot must contain these words and the actionable elements once each, in
the order of the flat tree. Each ref must mean the element that the page knows by that id. Every fourth page
has sections that content-visibility: auto skips; the accessibility tree may lack them and must then report
that. With refs="all", each line of an element has its own ref. `--run-slow` reads more pages;
CDPENGINE_ORDER_PAGES sets their number.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator, Sequence

import attrs
import pytest
from pytest_httpserver import HTTPServer
from rounds import rounds
from snapshot_trees import element_lines
from werkzeug import Request, Response

import cdpengine
from cdpengine._snapshot.render.lines import AX_MODES, Mode

pytestmark = pytest.mark.chrome

PAGES = int(os.environ.get("CDPENGINE_ORDER_PAGES", rounds(3, 200)))
"""The first eight cover every mode with refs="all", and skipped sections twice."""
AT_ONCE = 8
FRAMES = (641, 940)[: rounds(1, 2)]
"""Pages with many frames in one process, which are read in parallel."""
DEEPEST = 4

Token = str
"""A word, or "#" with the id of an element that has a ref."""


@attrs.define
class Made:
    """HTML with its expected tokens in page order. `roots` are its shadow roots: host, mode, HTML.

    `far` are the tokens in sections that may be skipped.
    """

    html: str = ""
    tokens: list[Token] = attrs.field(factory=list)
    roots: list[tuple[str, str, str]] = attrs.field(factory=list)
    far: frozenset[Token] = frozenset()

    def __add__(self, other: Made) -> Made:
        far = self.far | other.far
        return Made(self.html + other.html, self.tokens + other.tokens, self.roots + other.roots, far)

    def within(self, before: str, after: str, *tokens: Token) -> Made:
        return Made(before + self.html + after, [*tokens, *self.tokens], self.roots, self.far)


SCRIPT = """<script>
function listen(root) { for (const e of root.querySelectorAll("[data-listens]")) e.addEventListener("click", () => 0); }
const all = [document];
for (const [host, mode, html] of ROOTS) {
  const root = all.map((each) => each.getElementById(host)).find(Boolean).attachShadow({ mode });
  all.push(root);
  root.innerHTML = html;
  listen(root);
}
listen(document);
</script>"""


class Maker:
    """Makes one page. `documents` are those of its cross-site frames, by name."""

    def __init__(self, seed: int, other: str) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.other = other
        self.count = 0
        self.skipping = seed % 4 == 3
        self.documents: dict[str, str] = {}

    def number(self) -> int:
        self.count += 1
        return self.count

    def words(self) -> Made:
        words = [f"w{self.number()}" for _ in range(self.random.randint(1, 3))]
        return Made(f" {' '.join(words)} ", words)

    def leaf(self) -> Made:
        """Return a clickable element inside text, made clickable in any way, or an HTML control."""
        own, words = f"c{self.number()}", self.words()
        way = self.random.randrange(8)
        tag = self.random.choice(["span", "b", "i", "em", "u", "code", "font", "x-y"])
        if way == 0:
            return words.within(f"<button id={own}>", "</button>", f"#{own}")
        if way == 1:
            return words.within(f"<a id={own} href='#x'>", "</a>", f"#{own}")
        if way == 2:
            return words.within(f"<{tag} id={own} role=presentation onclick='1'>", f"</{tag}>", f"#{own}")
        if way == 3:
            size = "display:inline-block;width:9px;height:9px"
            return Made(f"<i id={own} onclick='1' style='{size}'></i>", [f"#{own}"])
        if way == 4:
            name = f"w{self.number()}"
            return Made(f"<i id={own} data-listens title='{name}'></i>", [f"#{own}", name])
        sign = self.random.choice(["onclick='1'", "data-listens", "style='cursor:pointer'"])
        return words.within(f"<{tag} id={own} {sign}>", f"</{tag}>", f"#{own}")

    def content(self, depth: int) -> Made:
        made = Made()
        for _ in range(self.random.randint(1, 5)):
            made += self.piece(depth)
        return made

    def piece(self, depth: int) -> Made:
        if self.skipping and depth < DEEPEST and self.random.random() < 0.15:
            return self.skipped(depth)
        kind = self.random.random()
        if depth >= DEEPEST or kind < 0.3:
            return self.words()
        if kind < 0.55:
            return self.leaf()
        if kind < 0.75:
            tag = self.random.choice(["div", "section", "span", "b", "ul", "blockquote", "pre"])
            return self.content(depth + 1).within(f"<{tag}>", f"</{tag}>")
        if kind < 0.85:
            own = f"c{self.number()}"
            # An element that only wraps controls would have no line.
            content = self.words() + self.content(depth + 1)
            return content.within(f"<div id={own} onclick='1'>", "</div>", f"#{own}")
        if kind < 0.95:
            return self.host(depth)
        return self.frame(depth)

    def skipped(self, depth: int) -> Made:
        """Return a section far from the viewport, which Chrome skips."""
        tag = self.random.choice(["div", "section", "ul"])
        made = self.content(depth + 1).within(
            f"<div style='height:9000px'></div><{tag} style='content-visibility:auto;height:300px'>",
            f"</{tag}>",
        )
        return attrs.evolve(made, far=frozenset(made.tokens))

    def host(self, depth: int) -> Made:
        """Return an element with a shadow tree: content before and after its slot, or no slot at all."""
        own = f"h{self.number()}"
        before, after = self.content(depth + 2), self.content(depth + 2)
        light = self.words() + self.content(depth + 1)
        slotted = self.random.random() < 0.7
        slot = f"<span onclick='1' id=s{own}><slot></slot></span>" if slotted else ""
        mode = self.random.choice(["open", "closed"])
        tokens = [*before.tokens, *([f"#s{own}", *light.tokens] if slotted else []), *after.tokens]
        root = (own, mode, before.html + slot + after.html)
        roots = [root, *before.roots, *after.roots, *light.roots]
        return Made(f"<div id={own}>{light.html}</div>", tokens, roots, before.far | light.far | after.far)

    def frame(self, depth: int) -> Made:
        own = f"f{self.number()}"
        inner = self.document(depth + 1)
        if self.random.random() < 0.5:
            html = inner.html.replace("&", "&amp;").replace('"', "&quot;")
            return Made(
                f'<iframe id={own} srcdoc="{html}"></iframe>', [f"#{own}", *inner.tokens], far=inner.far
            )
        name = f"{self.seed}-{own}"
        self.documents[name] = inner.html
        html = f"<iframe id={own} src='{self.other}/{name}'></iframe>"
        return Made(html, [f"#{own}", *inner.tokens], far=inner.far)

    def document(self, depth: int = 0) -> Made:
        made = self.content(depth)
        script = SCRIPT.replace("ROOTS", json.dumps(made.roots).replace("</", "<\\/"))
        return Made(f"<!doctype html>{made.html}{script}", made.tokens, far=made.far)


NUMBERED = re.compile(r"^\s*\[(\d+)\]")
MARKED = re.compile(r"\[ref=e(\d+)\]")
TOKEN = re.compile(r"\bw\d+\b")
JOINED_TOKEN = re.compile(r"w\d+")
"""The accessibility tree has no white space between texts if the content between them is skipped."""


def tokens_of(text: str, mode: Mode, ids: dict[str, str], token: re.Pattern[str] = TOKEN) -> Iterator[Token]:
    """Return the visible tokens in order. A word that the accessibility tree repeats below a name counts
    once.
    """
    seen: set[str] = set()
    pattern = NUMBERED if mode in ("numbered", "webarena") else MARKED
    for line in text.splitlines():
        if found := pattern.search(line):
            yield f"#{ids[f'e{found[1]}']}"
        for word in token.findall(line):
            if mode not in ("aria", "webarena") or word not in seen:
                yield word
            seen.add(word)


async def ids_of(page: cdpengine.Page, snapshot: cdpengine.Snapshot) -> dict[str, str]:
    """Return the page's own id for the element of each ref."""
    return {
        ref: await page.evaluate("element => element.id", target=ref, timeout=20) for ref in snapshot.refs
    }


FRAMES_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def check_left_out(made: Made, text: str, mode: Mode, ids: dict[str, str]) -> None:
    """Check that the accessibility tree lacks only skipped content, and reports it."""
    shown = list(tokens_of(text, mode, ids, JOINED_TOKEN if made.far else TOKEN))
    there = set(shown)
    where = f"{mode}\n{made.html}\n{text}"
    assert shown == [token for token in made.tokens if token in there or token not in made.far], where
    if len(shown) < len(made.tokens):
        assert "content-visibility: auto keeps them out of the accessibility tree" in text.splitlines()[-1]


async def check_refs_for_all(page: cdpengine.Page, mode: Mode, usual: cdpengine.Snapshot) -> None:
    snapshot = await page.snapshot(mode=mode, refs="all")
    assert [ref for _, ref in element_lines(snapshot.text, mode)] == list(snapshot.refs)
    elements = {(ref.session_id, ref.backend_node_id) for ref in snapshot.refs.values()}
    assert len(elements) == len(snapshot.refs)
    assert usual.refs.keys() <= snapshot.refs.keys()
    assert all(snapshot.refs[key].backend_node_id == ref.backend_node_id for key, ref in usual.refs.items())
    assert all(node.ref is not None for node in snapshot.nodes if node.role != "text")


SEEDS = [range(first, min(first + AT_ONCE, PAGES)) for first in range(0, PAGES, AT_ONCE)]


@pytest.mark.parametrize("seeds", [*SEEDS, FRAMES], ids=lambda seeds: f"from {seeds[0]}")
async def test_snapshot_has_the_order_of_the_page(
    page: cdpengine.Page, httpserver: HTTPServer, seeds: Sequence[int]
) -> None:
    documents: dict[str, str] = {}

    def answer(request: Request) -> Response:
        return Response(documents.get(request.path.strip("/"), ""), content_type="text/html")

    httpserver.expect_request(re.compile("/.*")).respond_with_handler(answer)
    here = httpserver.url_for("").replace("localhost", "127.0.0.1").rstrip("/")
    for seed in seeds:
        maker = Maker(seed, here.replace("127.0.0.1", "localhost"))
        made = maker.document()
        documents |= {**maker.documents, f"{seed}": made.html}
        await page.goto(f"{here}/{seed}")
        if made.far:
            await page.evaluate(FRAMES_DRAWN)
        snapshot = await page.snapshot()
        ids = await ids_of(page, snapshot)
        shown = list(tokens_of(snapshot.text, "role", ids))
        assert shown == made.tokens, f"seed {seed}\n{made.html}\n{snapshot}\n{snapshot.stats}"
        for source in ("ax", "dom", "hybrid"):
            other = await page.snapshot(source=source)
            if source == "ax":
                check_left_out(made, other.text, "role", ids)
            else:
                shown = list(tokens_of(other.text, "role", ids))
                assert shown == made.tokens, f"seed {seed}, {source}\n{made.html}\n{other}"
        modes: tuple[Mode, ...] = ("ai", "numbered", "aria", "webarena", "role")
        for mode in modes:
            other = await page.snapshot(mode=mode)
            if mode in AX_MODES:
                check_left_out(made, other.text, mode, ids)
            else:
                shown = list(tokens_of(other.text, mode, ids))
                assert shown == made.tokens, f"seed {seed}, {mode}\n{made.html}\n{other}"
            if mode == modes[seed % len(modes)]:
                await check_refs_for_all(page, mode, other)
