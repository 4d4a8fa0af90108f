"""Page content as exact Markdown of a corpus, frames, shadow trees, hostile pages, and pictures with refs."""

from __future__ import annotations

import io
import threading

import pytest
import trio
from PIL import Image
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine._protocol.instruments import Traffic

pytestmark = pytest.mark.chrome


CORPUS: dict[str, tuple[str, str]] = {
    "prose": (
        "<h1>A  title</h1><p>Some <b>bold </b>and <em>soft</em>\n words,<br>a <a href='/x'>link</a>.<p>More<hr>",
        "# A title\n\nSome **bold** and _soft_ words,\\\na [link](http://HOST/x).\n\nMore\n\n___",
    ),
    "lists": (
        "<ol start=3><li>a<ul><li>b<li>c</ul><li><p>d<p>e</ol>",
        "3. a\n\n   - b\n   - c\n\n4. d\n\n   e",
    ),
    "code": (
        "<p>Call <code>f(`x`)</code><pre><code class='language-py'>if a:\n    b\n</code></pre>",
        "Call ``f(`x`)``\n\n```py\nif a:\n    b\n```",
    ),
    "numbers": (
        (
            "<ol start=5><li>five<li hidden>no<li value=8>eight<li>nine<ul><li>dot</ul><div><li>ten</div></ol><p>and"
            "<ol reversed><li>gold<li>silver<li hidden>no</ol><p>and<ol reversed start=-1><li>a<li><ol><li>in</ol></ol>"
        ),
        (
            "5. five\n8. eight\n9. nine\n   - dot\n10. ten\n\nand\n\n2. gold\n1. silver\n\nand\n\n"
            "0. a\n\n0. 1. in"
        ),
    ),
    "tabs": ("<pre>all:\n\tcc\t-o\n</pre><p>a\tb", "```\nall:\n\tcc\t-o\n```\n\na b"),
    "tables": (
        (
            "<table><caption>C</caption><tr><th>A<th>B<tr><td>1|2<td><a href='/x'>y</a></table>"
            "<table role=presentation><tr><td>left<td>right</table>"
        ),
        "C\n\n| A | B |\n| --- | --- |\n| 1\\|2 | [y](http://HOST/x) |\n\nleft\n\nright",
    ),
    "hidden": (
        (
            "<p>seen <span hidden>no</span><span style='visibility:hidden'>no<i style='visibility:visible'>yes</i></span>"
            "<b style='display:none'>no</b><script>no</script><style>no{}</style><noscript>no</noscript>"
            "<template>no</template><span aria-hidden=true> drawn</span><div style='content-visibility:hidden'>no</div>"
            "<details><summary>Sum</summary>no</details><details open><summary>Open</summary>yes</details>"
        ),
        "seen _yes_ drawn\n\nSum\n\nOpen\n\nyes",
    ),
    "images": (
        (
            "<img alt='A [cat]' src='/cat.png'><img alt='' src=/no.png> <a href=/h aria-label=Home><svg></svg></a>"
            "<img alt=data src='data:image/gif;base64,R0lGODlhAQABAAAAACw='style='width:9px'>"
        ),
        "![A \\[cat\\]](http://HOST/cat.png) [Home](http://HOST/h)![data]()",
    ),
    "form": (
        (
            "<form><label>Name <input name=firstChild value=Ada></label><input type=password value=secret>"
            "<input autocomplete=current-password value=secret><input style='-webkit-text-security:disc' value=secret>"
            "<input type=hidden value=secret><input type=checkbox checked> <input type=radio> "
            "<select><option>A<option selected>B</select><textarea>x\ny</textarea><button>Go</button><button>No</button></form>"
        ),
        "Name Ada \\[x\\] ( ) B x\\\ny Go No",
    ),
    "shadow": (
        (
            "<div><template shadowrootmode=open><p>before <slot name=s>none</slot> after</p><slot></slot></template>"
            "rest<b slot=s>slotted</b></div>"
        ),
        "before **slotted** after\n\nrest",
    ),
    "quotes and definitions": (
        "<blockquote><p>q<ul><li>i</ul></blockquote><dl><dt>T<dd>D<dd>E<dt>U<dd>F</dl>",
        "> q\n>\n> - i\n\n**T**\n\n- D\n- E\n\n**U**\n\n- F",
    ),
    "hostile": (
        (
            "<p># no<p>- no<div>[a](javascript:x) &lt;script></div><a href='javascript:x'>js</a><p>![x](y) `c` |"
            "<p>[frame not responding]<pre>```\n# no</pre>\u202e"
        ),
        (
            "\\# no\n\n\\- no\n\n\\[a\\](javascript:x) \\<script>\n\njs\n\n!\\[x\\](y) \\`c\\` \\|\n\n"
            "\\[frame not responding\\]\n\n````\n```\n# no\n````"
        ),
    ),
    "kept white space": (
        "<div style='white-space:pre-wrap'>a  b\nc</div><div style='white-space:pre-line'>d   e\nf</div>",
        "a b\\\nc\n\nd e\\\nf",
    ),
    "roles": (
        "<div role=heading aria-level=3>H</div><div role=list><div role=listitem>a</div><div role=listitem>b</div></div>",
        "### H\n\n- a\n- b",
    ),
}


@pytest.fixture
async def site(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    httpserver.expect_request("/").respond_with_data("<!doctype html>", content_type="text/html")
    await used_page.goto(httpserver.url_for("/"))
    return used_page


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CORPUS)
async def test_markdown_of_a_page(site: cdpengine.Page, httpserver: HTTPServer, name: str) -> None:
    html, expected = CORPUS[name]
    await site.set_content(f"<!doctype html><meta charset=utf-8>{html}")
    host = f"{httpserver.host}:{httpserver.port}"
    assert await site.extract_markdown() == expected.replace("HOST", host)


async def test_text_main_target_and_size(site: cdpengine.Page) -> None:
    await site.set_content(
        "<header>Top</header><nav><a href=/>Home</a></nav><main><h1>T</h1><p>Words <a href=/x>here</a></p>"
        "<div>one</div><div>two</div><aside>ad</aside></main><footer>End</footer><button>Go <b>on</b></button>"
    )
    assert await site.extract_text() == "Top\n\nHome\n\nT\n\nWords here\n\none\ntwo\n\nad\n\nEnd\n\nGo on"
    assert await site.extract_text(main_only=True) == "T\n\nWords here\n\none\ntwo"
    assert await site.extract_markdown("aside") == "ad"
    button = (await site.snapshot()).find("button")
    assert await site.extract_markdown(button) == "Go **on**"
    assert await site.elements.outer_html(button) == "<button>Go <b>on</b></button>"
    cut = await site.extract_text(max_chars=100)
    assert len(cut) <= 100 or cut.startswith("[cut: ")
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await site.extract_text(max_chars=0)
    with pytest.raises(cdpengine.errors.NodeNotFoundError):
        await site.extract_text("#nothing")
    await site.set_content(
        f"<div><div id=menu>{'<a href=/>link</a> ' * 50}</div><div><p>{'long words ' * 50}</p><p>more</p></div></div>"
    )
    assert await site.extract_text(main_only=True) == ("long words " * 50).strip()
    assert await site.evaluate("Object.keys(window).filter(k => /cdp|readable/i.test(k))") == []


async def test_frames_in_their_places(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    here = httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    pages = {
        "main": f"<p>a</p><iframe srcdoc='<h2>near</h2>'></iframe><p>b</p><iframe src='{other}/far'></iframe><p>c</p>"
        f"<iframe src='{other}/far' style='display:none'></iframe><table><tr><th>x<iframe src='{here}/leaf'></iframe></table>",
        "far": f"<ul><li>far</ul><iframe src='{here}/leaf'></iframe>",
        "leaf": "<a href=/there>leaf</a>",
    }
    for name, html in pages.items():
        httpserver.expect_request(f"/{name}").respond_with_data(html, content_type="text/html")
    await page.goto(f"{here}/main")
    leaf = f"[leaf]({here}/there)"
    assert (
        await page.extract_markdown()
        == f"a\n\n## near\n\nb\n\n- far\n\n{leaf}\n\nc\n\n{leaf}\n\n| x |\n| --- |"
    )


async def test_hung_frame_is_marked_and_rest_is_read(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    here = httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    asked, held = threading.Event(), threading.Event()

    def hold(_request: Request) -> Response:
        asked.set()
        held.wait(60)
        return Response("")

    pages = {
        "main": f"<p>a</p><iframe srcdoc='<h2>near</h2>'></iframe><p>b</p><iframe src='{other}/far'></iframe>"
        f"<p>c</p><iframe src='{here}/leaf'></iframe><p>d</p>",
        # It hangs from before the request to the server until the server responds.
        "far": f"<p>far</p><iframe src='{here}/leaf'></iframe><script>onmessage = () => {{"
        "const ask = new XMLHttpRequest(); ask.open('GET', '/held', false); ask.send()}</script>",
        "leaf": "<p>leaf</p>",
    }
    for name, html in pages.items():
        httpserver.expect_request(f"/{name}").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/held").respond_with_handler(hold)
    await page.goto(f"{here}/main")
    whole = ["a", "near", "b", "far", "leaf", "c", "leaf", "d"]
    assert (await page.extract_text()).split("\n\n") == whole
    try:
        await page.evaluate("frames[1].postMessage('', '*')")
        assert await trio.to_thread.run_sync(asked.wait, 30)
        started = trio.current_time()
        text = await page.extract_text(timeout=12)
        assert (
            trio.current_time() - started < 12 / 2
        )  # a tenth of the timeout is for the frame, and no task waits longer
        assert text.split("\n\n") == ["a", "near", "b", "[frame not responding]", "c", "leaf", "d"]
    finally:
        held.set()
    assert (await page.extract_text()).split("\n\n") == whole


async def test_refs_on_a_picture(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    here = httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    square = "position:absolute;left:40px;top:30px;width:50px;height:40px;border:0;background:white"
    html = (
        f"<style>body{{margin:0;height:3000px}}</style><button style='{square}'></button>"
        f"<iframe src='{other}/far' style='position:absolute;left:150px;top:100px;border:6px solid white;padding:4px'></iframe>"
        f"<button style='{square};top:1500px'></button>"
    )
    httpserver.expect_request("/main").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/far").respond_with_data(
        f"<style>body{{margin:0}}</style><button style='{square}'></button>", content_type="text/html"
    )
    await page.goto(f"{here}/main")
    await page.emulation.set_viewport(500, 400, device_scale_factor=2)
    await page.evaluate("scrollTo(0, 20)")
    before = await page.content()
    shot = await page.pictures.labelled_screenshot()
    buttons = shot.snapshot.find_all("button")
    assert len(buttons) == 3
    with Image.open(io.BytesIO(shot.image)) as image:
        assert image.size == (1000, 800)
        assert framed(image, 40, 30 - 20, 50, 40)
        assert framed(image, 150 + 10 + 40, 100 - 20 + 10 + 30, 50, 40)
    whole = await page.screenshot(refs=True, full_page=True)
    with Image.open(io.BytesIO(whole)) as image:
        assert image.height == 6000
        assert framed(image, 40, 1500, 50, 40)
        assert framed(image, 40, 30, 50, 40)
    assert await page.content() == before
    with Image.open(io.BytesIO(await page.screenshot(refs=True, format="webp", quality=50))) as image:
        assert image.format == "WEBP"
    await page.click(buttons[0])


async def test_areas_of_an_image_map_are_framed_at_their_shapes(page: cdpengine.Page) -> None:
    gif = "data:image/gif;base64,R0lGODlhAQABAIAAAP///////yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
    await page.emulation.set_viewport(500, 400, device_scale_factor=2)
    await page.set_content(
        "<style>body{margin:0}</style>"
        f"<img src='{gif}' width=400 height=300 usemap=#m alt=Map style='position:absolute;left:20px;top:30px;padding:10px'>"
        "<map name=m><area coords=60,20,120,80 href=#a alt=Rect><area shape=circle coords=200,60,30 href=#b alt=Circle>"
        "<area shape=poly coords=60,150,140,150,100,220 href=#c alt=Poly></map>"
    )
    await page.settled(timeout=20)
    shot = await page.pictures.labelled_screenshot()
    assert len(shot.snapshot.find_all("link")) == 3
    with Image.open(io.BytesIO(shot.image)) as image:
        assert framed(image, 30 + 60, 40 + 20, 60, 60)
        assert framed(image, 30 + 170, 40 + 30, 60, 60)
        assert framed(image, 30 + 60, 40 + 150, 80, 70)


def framed(image: Image.Image, x: int, y: int, width: int, height: int) -> bool:
    """Whether the box's four corners, at scale 2, are coloured and white lies just inside them."""
    pixels = image.convert("RGB")
    edges = [(2 * x, 2 * y + 20), (2 * (x + width) - 1, 2 * y + 40), (2 * x + 40, 2 * (y + height) - 1)]
    return all(pixels.getpixel(at) != (255, 255, 255) for at in edges) and pixels.getpixel(
        (2 * x + 50, 2 * y + 40)
    ) == (255, 255, 255)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("scrolls", "pictures"), [(0, 1), (1, 2), (9, 2)])
async def test_picture_is_retaken_if_page_scrolled_meanwhile(
    site: cdpengine.Page, browser: cdpengine.Browser, scrolls: int, pictures: int
) -> None:
    square = "position:absolute;left:40px;top:330px;width:50px;height:40px;border:0;background:white"
    await site.set_content(f"<style>body{{margin:0;height:3000px}}</style><button style='{square}'></button>")
    await site.emulation.set_viewport(500, 400, device_scale_factor=2)
    sent = 0

    def scroll(traffic: Traffic) -> None:
        nonlocal sent
        if traffic.direction == "sent" and "Page.captureScreenshot" in str(traffic.message):
            sent += 1
            if sent <= scrolls:  # after the snapshot, and before the engine reads the scroll position
                site.session.post("Runtime.evaluate", expression="scrollBy(0, 100)")

    with browser.instruments.attached(scroll):
        shot = await site.pictures.labelled_screenshot()
    assert sent == pictures
    assert await site.evaluate("scrollY") == 100 * min(scrolls, pictures)
    if scrolls < pictures:
        with Image.open(io.BytesIO(shot.image)) as image:
            assert framed(image, 40, 330 - 100 * scrolls, 50, 40)


async def test_picture_and_its_refs_show_one_document(
    page: cdpengine.Page, browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    go, there = threading.Event(), threading.Event()

    def wait_to_go(_request: Request) -> Response:
        go.wait(60)
        return Response("")

    def arrived(_request: Request) -> Response:
        there.set()
        return Response("")

    pages = {
        "first": "<button>First</button><script>fetch('/go').then(() => location.replace('/second'))</script>",
        "second": "<button>Second</button><script>fetch('/there')</script>",
    }
    for name, html in pages.items():
        httpserver.expect_request(f"/{name}").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/go").respond_with_handler(wait_to_go)
    httpserver.expect_request("/there").respond_with_handler(arrived)
    await page.goto(httpserver.url_for("/first"))
    sent = 0

    def replace_document(traffic: Traffic) -> None:
        nonlocal sent
        if traffic.direction == "sent" and "Page.captureScreenshot" in str(traffic.message):
            sent += 1
            go.set()  # nothing else runs here until the new document is there
            there.wait(30)

    try:
        with browser.instruments.attached(replace_document):
            shot = await page.pictures.labelled_screenshot()
    finally:
        go.set()
    assert there.is_set()
    assert [ref.name for ref in shot.snapshot.refs.values()] == ["Second"]
    assert sent <= 4  # two pictures, and two repetitions while Chrome has none
    await page.click(shot.snapshot.find("button"))
