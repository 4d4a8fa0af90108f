"""Content that a style sheet changes: replaced by a picture, locked, or in closed details."""

from __future__ import annotations

import cdpengine

PICTURE = "url(data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20width=%2220%22%20height=%2220%22/%3E)"
PAGE = f"""<!doctype html><style>
.picture {{ content: {PICTURE} }} .named {{ content: {PICTURE} / "Spoken" }}
.gradient {{ content: linear-gradient(red, blue); width: 9px; height: 9px }}
.locked {{ content-visibility: hidden }} .open::details-content {{ content-visibility: visible }}
</style>
<div class=picture>lost</div><p>a <span class=picture aria-label=Logo>lost</span> b</p><div class=named>lost</div>
<h1 class=picture>Heading</h1><a class=picture href=/x>Link</a><div class=picture>lost <button>lost</button></div>
<div class=gradient>lost</div><ul><li class=picture>lost</li></ul><div style='content: "str"'>kept</div>
<div class=locked><i style="display: contents">lost</i></div>
<div><template shadowrootmode=open><div class=locked style="content-visibility: hidden"><slot></slot></div></template>lost</div>
<details class=open><summary>More</summary>shown<p>paragraph</p></details>"""


async def test_sources_agree_on_content_changed_by_style_sheets(page: cdpengine.Page) -> None:
    await page.set_content(PAGE)
    ax, computed, dom = [(await page.snapshot(source=source)).text for source in ("ax", "computed", "dom")]
    assert computed == ax
    assert 'image "Spoken"' in computed
    for text in (ax, computed, dom):
        assert "lost" not in text
        assert 'image "Logo"' in text
        assert 'heading "Heading"' in text
        assert "kept" in text
        assert "shown" in text
