"""The quick search by role in the page, against Chrome's accessibility tree."""

from __future__ import annotations

from collections import Counter

import pytest
from rounds import every_nth

from cdpengine import Page
from cdpengine._api.page.finding import make_query
from cdpengine._page.search.nodes import Extent, find_in_frame, find_nodes

pytestmark = pytest.mark.chrome

AROUND = [
    "<div>", "<span role=img aria-label=x>", "<a href=x>", "<label>", "<h1>", "<ul role=none><li>", "<table><td>", "<p role=button>",
    "<div role=tab>", "<div role=switch>", "<div role=math>", "<summary>", "<div role=progressbar>", "<div aria-hidden=true>",
    "<div aria-hidden=TRUE>", "<div aria-hidden>", "<div inert>", "<div hidden>", "<div style='display: contents'>",
    "<div style='visibility: hidden'>", "<div style='content-visibility: hidden'>", "<details>", "<details open>",
    "<fieldset disabled>", "<dialog open>", "<dialog>", "<div role=presentation>", "<canvas>", "<svg><foreignObject>",
    "<div style='interactivity: inert'>", "<div style='opacity: 0'>", "<div role=listbox>", "<div role=listbox><div role=option>",
    "<div role=textbox>", "<div contenteditable>", "<div role='none button'>", "<div role=grid>", "<ruby><rt>", "<noscript>",
    "<template>", "<x-open>", "<x-hiding>", "<div style='height: 0; overflow: hidden'>", "<p style='content-visibility: auto'>",
    "<div role=meter>", "<div role=menuitem>", "<div role=separator>", "<marquee>", "<x-open><div slot=none>",
    "<div role=application>", "<div role=radio>", "<form role=search>", "<legend>", "<nav>", "<search>",
]  # fmt: skip

INNER = """<button>Go {0}</button><a href=x>To {0}</a><input aria-label="Name {0}"><div role=slider aria-label="Size {0}"></div>
<button aria-hidden=true>Off {0}</button><button inert>Off {0}</button><label><input type=checkbox>Check {0}</label>
<label>Hidden {0}<input type=checkbox hidden></label><h2>Head {0}</h2><i role=link>To {0}</i><input type=submit value="Go {0}">
<select aria-label="Name {0}"><option>Go {0}</select><a href=x>To {0}<button>Go {0}</button></a>
<x-button>Go {0}</x-button><map name=m{0}><area href=x alt="To {0}" shape=default></map><img usemap=#m{0} width=9 height=9 src=x>"""

NAMED = [
    ("button", "Go"), ("button", "Off"), ("link", "To"), ("textbox", "Name"), ("slider", "Size"),
    ("checkbox", "Check"), ("checkbox", "Hidden"), ("heading", "Head"), ("combobox", "Name"),
]  # fmt: skip

ARRANGED = ["", "<dialog id=top><button>Top</button></dialog><script>top.showModal?.(); document.getElementById('top').showModal()</script>",
    "<div aria-owns=b3></div>", "<div role=dialog aria-modal=true><button>Top</button></div>"]  # fmt: skip

DEFINITIONS = """<script>
  class Open extends HTMLElement {
    constructor() { super(); this.attachShadow({mode: "open"}).innerHTML = "<section><slot></slot></section>"; this.own = this.attachInternals(); }
  }
  customElements.define("x-open", class extends Open {});
  customElements.define("x-button", class extends Open { connectedCallback() { this.own.role = "button"; } });
  customElements.define("x-hiding", class extends Open { connectedCallback() { this.own.ariaHidden = "true"; } });
</script>"""


@pytest.mark.parametrize("arranged", ARRANGED, ids=["plain", "modal", "owned", "aria-modal"])
async def test_a_quick_search_finds_what_the_tree_has(page: Page, arranged: str) -> None:
    """A quick search by role and name finds the same elements in any surrounding."""
    parts = [f"<div id=b{place}>{around}{INNER.format(place)}</div>" for place, around in enumerate(AROUND)]
    await page.set_content(DEFINITIONS + arranged)
    await page.evaluate(
        "(parts) => { for (const part of parts) document.body.insertAdjacentHTML('beforeend', part) }", parts
    )
    core, frame, quick = page.internals, page.internals.target.frames.main, Counter[bool]()
    exposed = {
        role: await find_nodes(core.target, core.worlds, make_query(role=role))
        for role in dict.fromkeys(role for role, _ in NAMED)
    }
    for place, around in every_nth(3, [*enumerate(AROUND)], start=ARRANGED.index(arranged)):
        for role, name in NAMED:
            query, extent = make_query(role=role, name=f"{name} {place}"), Extent(quick=True)
            found = await find_in_frame(core.target, core.worlds, query, frame, extent=extent, raises=True)
            quick[extent.was_quick] += 1
            if extent.was_quick and found:  # a search without a match is repeated in the tree
                wanted = f'{role} "{name} {place}"'
                assert found == [each for each in exposed[role] if each.description == wanted], around
    assert quick[True] > 5 * quick[False]
