"""Whether a page shows a text is asked without putting all of its text together: the answer is the same.

Rule: both ways are asked in the same documents, for texts that are there, and for texts that are nearly there.
"""

from __future__ import annotations

import random

import pytest
from rounds import rounds

import cdpengine
from cdpengine._javascript import script

pytestmark = pytest.mark.chrome

COMPARE = """(wanted) => {
  const search = (%s)();
  const { text } = search.visibleText();
  return wanted.filter((each) => search.hasText(each) !== text.includes(search.wanted(each)));
}"""

WORDS = [
    "Applied",
    "to",
    "item",
    "Buy 50",
    "a",
    "ab",
    "aba",
    "é ß",
    "In stock:",
    "50",
    "pieces\u200b now",
    "İ",
    "x\u00ady",
]

OPENED = (
    "<div>", "<p>", "<span>", "<b>", "<i style='display:contents'>", "<p hidden>", "<span style='visibility:hidden'>",
    "<b style='visibility:visible'>", "<div style='-webkit-text-security:disc'>", "<details>", "<details><summary>",
    "<table><tr><td>", "<ul><li>", "<label>", "<a href='/'>", "<noscript>", "<template>", "<div style='content-visibility:hidden'>",
    "<form><input name=closest><input name=parentElement>", "<svg><text>", "<button>", "<ruby>",
)  # fmt: skip

ALONE = (
    "<br>", "<input value=shown>", "<textarea>written</textarea>", "<select><option>one<option>two</select>",
    "<script>var said = 'nothing'</script>", "<wbr>", "<!-- said -->", "<img alt=drawn>",
)  # fmt: skip

RARE = (
    "<input type=submit value='Send it'>",
    "<div><template shadowrootmode=open>inner <slot></slot></template>outer</div>",
)


def html_of(chosen: random.Random, depth: int = 4) -> str:
    """Return a piece of a document."""
    pieces = []
    for _ in range(chosen.randint(1, 4)):
        kind = chosen.random()
        if kind < 0.55 or not depth:
            pieces.append(chosen.choice(("", " ", "\n")) + chosen.choice(WORDS) + chosen.choice(("", " ")))
        elif kind < 0.65:
            pieces.append(chosen.choice(ALONE))
        else:
            opened = chosen.choice(OPENED)
            closed = "".join(f"</{tag.split()[0].strip('>')}>" for tag in reversed(opened.split("<")[1:]))
            pieces.append(opened + html_of(chosen, depth - 1) + closed)
    return "".join(pieces)


def asked_for(chosen: random.Random, text: str) -> list[str]:
    """Return texts that may be in a document: parts of what it says, with or without a blank, and others."""
    asked = [*WORDS, "", " ", "abab", "shown", "written", "one", "Send it", "inner outer", "drawn"]
    for _ in range(60):
        start = chosen.randrange(max(1, len(text)))
        part = text[start : start + chosen.randint(1, 12)]
        asked += [part, part.replace(" ", ""), part.upper(), part[:-1] + "z", " ".join(part)]
    return asked


@pytest.mark.parametrize("seed", range(rounds(1, 6)))
async def test_both_ways_say_the_same(page: cdpengine.Page, seed: int) -> None:
    chosen = random.Random(seed)
    compare = COMPARE % script("_page/navigation/node_search")
    for number in range(60):
        html = "".join(html_of(chosen) for _ in range(3))
        if number % 6 == 0:
            html += chosen.choice(RARE)
        await page.set_content(f"<!doctype html><body>{html}")
        text = await page.evaluate("document.body.textContent")
        assert await page.evaluate(compare, asked_for(chosen, text)) == [], html


async def test_a_text_of_many_hidden_pieces_is_found(page: cdpengine.Page) -> None:
    """So many that it is not asked of each of them whether it is shown."""
    await page.set_content(
        "<!doctype html><body>" + "<i hidden>a</i>" * 3_000 + "<p>a<i hidden>x</i>b<b>c</b> and more"
    )
    compare = COMPARE % script("_page/navigation/node_search")
    assert await page.evaluate(compare, ["abc", "abc and", "abcand", "ax", "aab", "c a"]) == []
