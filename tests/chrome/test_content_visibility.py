"""Content far off the screen that `content-visibility: auto` skips is shown, or counted with a hint how to
get it.
"""

from __future__ import annotations

import attrs
import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._snapshot.node import Source
from cdpengine._snapshot.render.lines import Mode

pytestmark = pytest.mark.chrome

COUNT = 31

ROWS = "".join(
    f"<section class=far><h2>Part {n}</h2><button aria-pressed=true>Buy {n}</button> <span onclick='clicked={n}'>Open {n}</span>"
    f" <label><input type=checkbox> Mark {n}</label> text {n}<form><button>Send {n}</button></form></section>"
    for n in range(COUNT)
)
HEAD = "<!doctype html><style>.far { content-visibility: auto; contain-intrinsic-size: auto 300px; height: 300px }</style>"
PAGE = f"<h1>Parts</h1>{ROWS}<div style='content-visibility: hidden'><button>Never</button></div>"


SHOWING: tuple[Source | None, ...] = (None, "computed", "dom", "hybrid")
"""The sources that show skipped content."""

FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Chrome skips far content from the second frame on."""

NEAR = "() => { document.styleSheets[0].cssRules[0].style.contentVisibility = 'visible' }"


async def arrived(page: cdpengine.Page, body: str) -> None:
    await page.set_content(HEAD + body)
    await page.evaluate(FRAMES)


@pytest.fixture
async def page(kept_page: cdpengine.Page) -> cdpengine.Page:
    await arrived(kept_page, PAGE)
    return kept_page


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", SHOWING)
async def test_skipped_content_is_shown(page: cdpengine.Page, source: Source | None) -> None:
    snapshot = await page.snapshot(source=source)
    for n in range(COUNT):
        for role, name in (
            ("button", "Buy"),
            ("generic", "Open"),
            ("checkbox", "Mark"),
            ("heading", "Part"),
            ("button", "Send"),
        ):
            assert snapshot.find_all(role, f"{name} {n}"), f"{role} {name} {n}\n{snapshot}"
        assert f"text {n}" in snapshot.text
    assert "Never" not in snapshot.text
    assert "content-visibility" not in snapshot.text
    assert str(await page.snapshot(source=source)) == str(snapshot)


async def test_far_content_reads_the_same_when_near(page: cdpengine.Page) -> None:
    far = await page.snapshot()
    await page.evaluate(NEAR)
    assert str(await page.snapshot()) == str(far)


async def test_click_on_far_content_arrives(page: cdpengine.Page) -> None:
    snapshot = await page.snapshot()
    last = COUNT - 1
    await page.click(snapshot.find("generic", f"Open {last}"), timeout=20)
    assert await page.evaluate("clicked") == last


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("mode", "source"), [("role", "ax"), ("ai", "ax"), ("aria", None), ("webarena", None)]
)
async def test_accessibility_tree_counts_skipped_content(
    page: cdpengine.Page, mode: Mode, source: Source | None
) -> None:
    snapshot = await page.snapshot(mode=mode, source=source)
    away = COUNT - sum(f"Buy {n}" in snapshot.text for n in range(COUNT))
    assert away > 0
    last = snapshot.text.splitlines()[-1]
    assert last.startswith(f"# {7 * away} elements ({4 * away} to act on) far off the screen left out: ")
    assert "with the source dom" in last or "use the source dom" in last


async def test_texts_alone_are_counted_too(page: cdpengine.Page) -> None:
    await arrived(
        page, "<p style='height:9000px'>Near</p><div class=far>Far</div><div class=far><p>Far</div>"
    )
    assert (
        (await page.snapshot(source="ax"))
        .text.splitlines()[-1]
        .startswith("# 2 elements (0 to act on) far off")
    )
    for source in SHOWING:
        assert (await page.snapshot(source=source)).text.count("Far") == 2


INNER = "<h3>Inner</h3><button>In frame</button><p>Words in a frame"
ODD = {
    "frame": f"<section class=far><iframe srcdoc='{INNER}'></iframe><button>After</button></section>",
    "auto in a frame": (
        '<iframe height=200 srcdoc="<style>.f{content-visibility:auto;height:300px}</style><p>Near'
        f'<div style=height:9000px></div><div class=f>{INNER}</div>"></iframe>'
    ),
    "open shadow root": (
        "<section class=far><div><template shadowrootmode=open><button>In shadow</button><slot></slot></template>"
        "<b onclick=1>Slotted</b> words</div></section>"
    ),
    "closed shadow root": (
        "<section class=far><div><template shadowrootmode=closed><button>In shadow</button><slot></slot></template>"
        "<b onclick=1>Slotted</b> words</div></section>"
    ),
    "auto in a shadow root": (
        "<div><template shadowrootmode=open><style>.f{content-visibility:auto;height:300px}</style><div class=f>"
        "<button>In shadow</button><slot></slot></div></template><button>Slotted</button> words</div>"
    ),
    "nested": "<section class=far><div class=far><div class=far><a href=/x>Deep</a> words</div></div></section>",
    "hidden": (
        "<section class=far><button style='display:none'>A</button><button style='visibility:hidden'>B</button>"
        "<div style='content-visibility:hidden'><button>C</button>D</div><div aria-hidden=true><button>E</button></div>"
        "<div hidden>F</div><div hidden=until-found>G<button>H</button></div><div inert><button>I</button></div>"
        "<details><summary>More</summary><button>J</button></details><div style='visibility:hidden'>K"
        "<button style='visibility:visible'>Shown</button></div></section>"
    ),
    "without boxes": (
        "<section class=far><button style='display:contents'>Own</button><div style='display:contents'>"
        "<a href=/y>In</a> words<h4 style='display:contents'>Head</h4></div>"
        "<select aria-label=List><option>One<option selected>Two</select><canvas><button>Fall back</button></canvas>"
        "</section>"
    ),
    "forms": (
        "<section class=far><form aria-label=Order><input name=checkVisibility aria-label=Amount value=3>"
        "<label>Kind <select><option>A<option>B</select></label><label><input type=radio checked> R</label>"
        "<textarea aria-label=Note>words</textarea><input type=password aria-label=Secret value=hush></form></section>"
    ),
    "named across": (
        "<section class=far><span id=name>Far name</span><input aria-labelledby=near></section>"
        "<button aria-labelledby=name></button><p id=near>Near name</p><button aria-describedby=name>Told</button>"
    ),
    "named by what it skips": (
        "<a class=far href=/z>Words</a><a class=far href=/y><b>More</b> words</a><button class=far>Push</button>"
        "<h2 class=far>Head</h2><div class=far onclick=1>Click</div><a href=/x><span class=far>Inner <b>words</b></span></a>"
        "<section class=far><label for=field>Label</label></section><input id=field>"
    ),
    "lists and tables": (
        "<section class=far><ul><li>One<li>Two</ul><table><tr><th>H<td>C</table><p>Some <em>words</em> <code>x</code>"
        "<img alt=Cat src=data:,><nav>Go</nav><pre>a\nb</pre></section>"
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("source", [None, "dom"])
@pytest.mark.parametrize("name", ODD)
async def test_unusual_content_reads_the_same_far_and_near(
    page: cdpengine.Page, name: str, source: Source | None
) -> None:
    await arrived(page, f"<p>Top<div style='height:9000px'></div>{ODD[name]}")
    far = await page.snapshot(source=source)
    await page.evaluate(NEAR)
    near = await page.snapshot(source=source)
    assert far.text == near.text
    assert far.refs == {
        key: attrs.evolve(ref, snapshot=far.refs[key].snapshot) for key, ref in near.refs.items()
    }
    assert "Never" not in far.text
    assert "hush" not in far.text


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", [None, "dom"])
async def test_a_frame_of_another_process(
    kept_page: cdpengine.Page, httpserver: HTTPServer, source: Source | None
) -> None:
    page, url = kept_page, httpserver.url_for("/in").replace("127.0.0.1", "localhost")
    outer = f"{HEAD}<div style='height:9000px'></div><section class=far><p>x</p><iframe src='{url}'></iframe></section>"
    httpserver.expect_request("/").respond_with_data(outer, content_type="text/html")
    httpserver.expect_request("/in").respond_with_data(INNER, content_type="text/html")
    for _ in range(4):  # sometimes it has no layout at first
        await page.goto(httpserver.url_for("/").replace("localhost", "127.0.0.1"))
        await page.evaluate(FRAMES)
        snapshot = await page.snapshot(source=source)
        assert snapshot.find("button", "In frame")
        assert "Words in a frame" in snapshot.text


async def test_scrolling_changes_nothing(page: cdpengine.Page) -> None:
    first = await page.snapshot()
    for _ in range(2):
        for place in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
            await page.evaluate(f"scrollTo(0, {place})")
            await page.evaluate(FRAMES)
            further = await page.snapshot()
            assert further.text == first.text
            assert {key: ref.backend_node_id for key, ref in further.refs.items()} == {
                key: ref.backend_node_id for key, ref in first.refs.items()
            }
            assert (await page.snapshot(fresh=True)).text == first.text


async def test_changes_far_away_are_seen(page: cdpengine.Page) -> None:
    await page.snapshot()
    last = COUNT - 1
    await page.evaluate(
        "n => { const all = document.querySelectorAll('.far'); const at = all[n]; at.querySelector('h2').textContent = 'New';"
        "at.querySelector('input').checked = true; at.append('more words'); all[n - 1].remove() }",
        last,
    )
    snapshot = await page.snapshot()
    assert snapshot.find("heading", "New")
    [mark] = [node for node in snapshot.nodes if node.role == "checkbox" and node.name == f"Mark {last}"]
    assert mark.states["checked"] is True
    assert "more words" in snapshot.text
    assert f"Buy {last - 1}" not in snapshot.text
    assert (await page.snapshot(fresh=True)).text == snapshot.text


async def test_text_and_markdown_include_far_content(page: cdpengine.Page) -> None:
    far = await page.extract_text(), await page.extract_markdown()
    assert all(f"Part {n}" in text and f"Send {n}" in text for n in range(COUNT) for text in far)
    assert "Never" not in far[0] + far[1]
    await page.evaluate(NEAR)
    assert (await page.extract_text(), await page.extract_markdown()) == far
    assert "Buy 30" in await page.content()
