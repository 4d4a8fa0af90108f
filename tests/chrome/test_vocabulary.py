"""One vocabulary: every way to find knows every role that any mode shows, from any source."""

from __future__ import annotations

import re
from typing import get_args

import pytest

import cdpengine
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import AX_MODES, Mode
from cdpengine._snapshot.roles import ARIA_ROLES, known_roles

pytestmark = pytest.mark.chrome


SOURCES: tuple[Source, ...] = ("ax", "computed", "dom", "hybrid")

# Required surroundings of an element with the role, if it has no meaning alone.
AROUND = {
    "option": "<div role=listbox aria-label=l>{}</div>",
    "treeitem": "<div role=tree aria-label=t>{}</div>",
    "listitem": "<div role=list>{}</div>",
    "row": "<div role=table>{}</div>",
    "rowgroup": "<div role=table>{}</div>",
    "cell": "<div role=table><div role=row>{}</div></div>",
    "gridcell": "<div role=grid aria-label=g><div role=row>{}</div></div>",
    "columnheader": "<div role=table><div role=row>{}</div></div>",
    "rowheader": "<div role=table><div role=row>{}</div></div>",
}
NATIVE = """
<details open tabindex=0><summary>Summary</summary>x</details><details name=g><summary>Grouped</summary>y</details>
<input type=color><input type=date><input type=time><input type=month><input type=week><input type=datetime-local>
<input type=file><input type=search><input type=number><input type=range><input list=l><datalist id=l></datalist>
<canvas aria-label=Chart></canvas><canvas width=20 height=20></canvas><iframe title=Frame></iframe>
<iframe role=presentation srcdoc="x"></iframe>
<select><option>o</select><select multiple><option>m</select><svg aria-label=Drawing><rect width=9 height=9 /></svg>
<svg width=9 height=9><circle r=3 aria-label=Dot tabindex=0 /></svg><abbr title=x tabindex=0>X</abbr>
<video controls></video><audio controls></audio><math tabindex=0><mi>x</mi></math>
<dl tabindex=0><dt tabindex=0>a<dd tabindex=0>b</dl><object></object><pre tabindex=0>z</pre>
<label tabindex=0>Label</label><fieldset tabindex=0><legend tabindex=0>Legend</legend></fieldset>
<figure tabindex=0><figcaption tabindex=0>Caption</figcaption></figure><ruby tabindex=0>a<rt tabindex=0>b</rt></ruby>
<section tabindex=0 aria-label=Region>x</section><table tabindex=0><tr tabindex=0><td tabindex=0>Layout</table>
<table><caption tabindex=0>Table</caption><tr><th tabindex=0>H<td tabindex=0>D</table><div tabindex=0>Plain</div>
<article><header tabindex=0>h</header><footer tabindex=0>f</footer></article><button aria-haspopup=menu>Pop</button>
<button aria-pressed=true>Toggle</button><div onclick=0 style="cursor:pointer">Clickable</div>
<math><mfrac tabindex=0><mi tabindex=0>a</mi><mn tabindex=0>2</mn></mfrac><mrow tabindex=0><mo tabindex=0>+</mo>
<mtext tabindex=0>t</mtext></mrow><msup tabindex=0><mi>b</mi><mn>3</mn></msup><msqrt tabindex=0><mn>4</mn></msqrt>
<msub tabindex=0><mi>c</mi><mn>3</mn></msub><mover tabindex=0><mi>d</mi><mo>-</mo></mover>
<mroot tabindex=0><mi>e</mi><mn>3</mn></mroot><munder tabindex=0><mi>f</mi><mo>-</mo></munder>
<mtable tabindex=0><mtr tabindex=0><mtd tabindex=0><mn>5</mn></mtd></mtr></mtable></math>
"""
HTML = (
    "<!doctype html><title>Roles</title>"
    + "".join(
        AROUND.get(role, "{}").format(f'<div role={role} aria-label="the {role}" tabindex=0>in it</div>\n')
        for role in sorted(ARIA_ROLES)
    )
    + NATIVE
)

# The form of role and ref in each mode's lines.
LINES: dict[Mode, str] = {
    "role": r"^ *- (?P<role>[\w-]+).*? \[ref=(?P<ref>e\d+)\]",
    "ai": r"^ *- '?(?P<role>[\w-]+).*? \[ref=(?P<ref>e\d+)\]",
    "aria": r"^ *- (?P<role>[\w-]+).*? \[ref=(?P<ref>e\d+)\]",
    "numbered": r"^ *\[(?P<ref>\d+)\] (?P<role>[\w-]+)",
    "webarena": r"^\t*\[(?P<ref>\d+)\] (?P<role>[\w-]+)",
}


def roles_and_refs(snapshot: cdpengine.Snapshot) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in re.finditer(LINES[snapshot.mode], snapshot.text, re.MULTILINE):
        found.setdefault(line["role"], []).append("e" + line["ref"].removeprefix("e"))
    return found


@pytest.mark.slow
async def test_every_shown_role_is_found(page: cdpengine.Page) -> None:
    await page.set_content(HTML)
    by_page: dict[str, set[int]] = {}
    shown: set[str] = set()
    by_chrome: set[str] = set()
    for mode in get_args(Mode):
        for source in ("ax",) if mode in AX_MODES else SOURCES:
            snapshot = await page.snapshot(mode=mode, source=source)
            found = roles_and_refs(snapshot)
            assert sum(map(len, found.values())) == len(snapshot.refs)
            for role, ids in found.items():
                if role not in by_page:
                    nodes = await page.find_all(role=role, frame=page.frames[0])
                    by_page[role] = {node.backend_node_id for node in nodes}
                for ref in (snapshot.refs[ref_id] for ref_id in ids):
                    where = f"{ref} as {role} in {mode}, {source}"
                    assert ref in snapshot.find_all(role=role), where
                    assert ref in snapshot.find_all(role=ref.role, name=ref.name, exact=True), where
                    if source == "hybrid" and ref.id not in by_chrome:
                        assert role in ("generic", "image"), (
                            where
                        )  # made clickable: Chrome has no node for it
                    else:
                        by_chrome.add(ref.id)
                        assert ref.backend_node_id in by_page[role], where
                if mode not in AX_MODES:
                    shown.add(role)
    # Roles that this page cannot have: those of old browsers, and those that only Chrome creates.
    assert known_roles() - shown <= {
        "imagemap", "layouttable", "layouttablecell", "layouttablerow", "mathmlmultiscripts", "mathmlnonescript",
        "mathmlprescriptdelimiter", "mathmlstringliteral", "pre", "rubyannotation", "mathmlsubsup", "mathmlunderover", "menulistpopup",
        "section",
    }  # fmt: skip


@pytest.mark.sample(4, start=3)
@pytest.mark.parametrize("source", get_args(Source))
async def test_shown_names_are_found(page: cdpengine.Page, source: Source) -> None:
    """By role and name together, for common searches."""
    await page.set_content(HTML)
    snapshot = await page.snapshot(source=source)
    for role in (
        "button",
        "link",
        "checkbox",
        "textbox",
        "combobox",
        "heading",
        "image",
        "iframe",
        "color",
        "date",
    ):
        for ref in snapshot.find_all(role=role):
            named = await page.find_all(role=role, name=ref.name, exact=True, frame=page.frames[0])
            assert ref.backend_node_id in [node.backend_node_id for node in named], ref
