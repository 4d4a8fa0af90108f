"""dom_roles.js and dom_names.js of _snapshot/sources compared with Chrome's computedRole and computedName."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

import cdpengine
from cdpengine._javascript import with_dom
from cdpengine._protocol.session import Session
from cdpengine._snapshot.sources.computed import kit_source

pytestmark = pytest.mark.chrome

CASES = [
    line
    for line in (Path(__file__).parent / "data" / "roles_and_names.txt").read_text("utf-8").splitlines()
    if line
]
"""One page a line. Both sources agree on every visible element of it."""

ELEMENTS = 2700
"""Minimum number of elements in these pages, to detect skipped ones."""

COMPARE = """(kit) => {
  const { roleOf, nameOf } = kit();
  const tidy = (text) => text.replace(/\\s+/g, " ").trim();
  const out = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) visit(element.shadowRoot);
      if (/^(style|script|template)$/.test(element.localName)) continue;
      if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
      if (element.closest("[aria-hidden=true]")) continue;
      const chrome = [element.computedRole, tidy(element.computedName)];
      out.push([element.outerHTML.slice(0, 100), chrome, [roleOf(element), tidy(nameOf(element))]]);
    }
  };
  visit(document.body);
  return out;
}"""


@attrs.frozen
class Difference:
    """The results of both for the element with id=it, and the reason for their difference."""

    html: str
    chrome: tuple[str, str]
    dom: tuple[str, str]
    reason: str


DIFFERENCES = [
    Difference(
        "<div style='display:table'><div style='display:table-row'>"
        "<div id=it style='display:table-cell'>css</div></div></div>",
        ("", "css"),
        ("generic", ""),
        "CSS tables are blocks, whose role no line shows",
    ),
    Difference(
        "<table role=list><tr id=it role=listitem><td>x</td></tr></table>",
        ("generic", ""),
        ("listitem", ""),
        "Chrome has no role for the rows of a table with another role",
    ),
    Difference(
        "<script>customElements.define('x-b', class extends HTMLElement {"
        "constructor() { super(); this.attachInternals().role = 'button'; } })</script><x-b id=it>x</x-b>",
        ("button", "x"),
        ("generic", ""),
        "only Chrome's tree has the internals of custom elements",
    ),
    Difference(
        "<button id=it>x<details><p>inside</p></details></button>",
        ("button", "x Details"),
        ("button", "x"),
        "the browser's own summary of a details element without one",
    ),
    Difference(
        "<fieldset id=it role=none><legend>l</legend></fieldset>", ("none", "l"), ("none", ""), "never shown"
    ),
    Difference(
        "<button id=it>x<span style='content: url(data:,) / \"alt\"'>y</span></button>",
        ("button", "x alt"),
        ("button", "xy"),
        "elements whose content CSS replaces",
    ),
    Difference(
        "<button id=it><q>a<q>b</q></q></button>",
        ("button", "\u201ca\u2018b\u2019\u201d"),
        ("button", "\u201ca\u201cb\u201d\u201d"),
        "nested quotes, and quotes of other languages",
    ),
    Difference(
        "<div inert><button id=it>x</button></div>",
        ("button", ""),
        ("button", "x"),
        "never shown: the walk omits inert elements",
    ),
    Difference(
        "<h2 id=it><span><template shadowrootmode=closed>shadow</template></span></h2>",
        ("heading", "shadow"),
        ("heading", ""),
        "scripts cannot read closed shadow roots",
    ),
]


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """The results of both for all cases, from one browser."""

    async def ask() -> list[Any]:
        async with cdpengine.launch(args=["--enable-blink-features=ComputedAccessibilityInfo"]) as browser:
            page = await browser.new_page()
            await page.session.call("Accessibility.enable")
            pages = [*CASES, *[difference.html for difference in DIFFERENCES]]
            return [await both(page.session, html) for html in pages]

    return trio.run(ask)


async def both(session: Session, html: str) -> Any:
    frame = (await session.call("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    document = f"<!doctype html><meta charset=utf-8><title>t</title><body>{html}"
    await session.call("Page.setDocumentContent", frameId=frame, html=document)
    await session.call("Accessibility.getRootAXNode")
    reply = await session.call(
        "Runtime.evaluate", expression=with_dom(f"({COMPARE})({kit_source()})"), returnByValue=True
    )
    assert "exceptionDetails" not in reply, reply
    return reply["result"]["value"]


def test_both_agree_on_every_element(told: list[Any]) -> None:
    seen = 0
    different = []
    for page in told[: len(CASES)]:
        seen += len(page)
        different += [
            f"{html}: Chrome says {chrome}, we {dom}" for html, chrome, dom in page if chrome != dom
        ]
    assert different == []
    assert seen >= ELEMENTS


@pytest.mark.parametrize("number", range(len(DIFFERENCES)), ids=lambda number: DIFFERENCES[number].html[:40])
def test_known_differences_are_exact(told: list[Any], number: int) -> None:
    difference = DIFFERENCES[number]
    (found,) = [each for each in told[len(CASES) + number] if 'id="it"' in each[0].split(">")[0]]
    assert (tuple(found[1]), tuple(found[2])) == (difference.chrome, difference.dom)
    assert difference.chrome != difference.dom
