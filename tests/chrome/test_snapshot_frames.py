"""All frames of a page in one snapshot: same-process and cross-process, nested, hidden, hung, reloading."""

from __future__ import annotations

import re
import threading
from typing import get_args

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds
from werkzeug import Request, Response

import cdpengine
from cdpengine._snapshot.node import Source

COUNT = "<script>clicks = 0; addEventListener('click', () => clicks++, true)</script>"


def button(name: str) -> str:
    """Three buttons, in a page that counts its clicks."""
    return "".join(f"<button>{name} {number}</button>" for number in "abc") + COUNT


def serve(server: HTTPServer, **pages: str) -> str:
    """Serve the pages, with another site on the same server for OTHER. Return the address of `main`."""
    here = server.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    for name, body in pages.items():
        html = "<!doctype html>" + body.replace("OTHER", other).replace("HERE", here)
        server.expect_request(f"/{name}").respond_with_data(html, content_type="text/html")
    return f"{here}/main"


def outline(snapshot: cdpengine.Snapshot) -> list[str]:
    """Return the lines without refs, states and addresses."""
    return [re.sub(r" \[.*", "", line) for line in snapshot.text.splitlines()]


NESTED = {
    "main": f"""<title>Main</title>{button("Main")}
        <iframe srcdoc="<h2>Srcdoc</h2>{button("Srcdoc").replace('"', "'")}"></iframe>
        <iframe src="OTHER/far"></iframe>
        <iframe src="OTHER/far?hidden" style="display: none"></iframe>
        <div aria-hidden="true" style="opacity: 0"><iframe src="HERE/near"></iframe></div>
        <div id="host"><template shadowrootmode="open"><iframe class="in" src="HERE/near"></iframe></template></div>""",
    "far": f"""<title>Far</title>{button("Far")}<iframe src="OTHER/near"></iframe>
        <iframe src="HERE/back" width=300 height=100></iframe>""",
    "near": button("Near"),
    "back": button("Back") + "<iframe srcdoc='<h3>Innermost</h3>'></iframe>",
}

LINES = [
    '- button "Main a"',
    '- button "Main b"',
    '- button "Main c"',
    "- iframe",
    '  - heading "Srcdoc"',
    '  - button "Srcdoc a"',
    '  - button "Srcdoc b"',
    '  - button "Srcdoc c"',
    "- iframe",
    '  - button "Far a"',
    '  - button "Far b"',
    '  - button "Far c"',
    "  - iframe",
    '    - button "Near a"',
    '    - button "Near b"',
    '    - button "Near c"',
    "  - iframe",
    '    - button "Back a"',
    '    - button "Back b"',
    '    - button "Back c"',
    "    - iframe",
    '      - heading "Innermost"',
    "- iframe",
    '  - button "Near a"',
    '  - button "Near b"',
    '  - button "Near c"',
]


@pytest.fixture
async def nested(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    await used_page.goto(serve(httpserver, **NESTED))
    return used_page


async def test_frames_of_all_kinds_in_one_tree_from_every_source(nested: cdpengine.Page) -> None:
    first = await nested.snapshot()
    assert outline(first) == LINES
    assert first.title == "Main"
    assert first.stats.frames == 7
    assert len({ref.session_id for ref in first.refs.values()}) == 3, (
        "this site, the other one, and this one again"
    )
    for source in get_args(Source):
        snapshot = await nested.snapshot(source=source)
        assert outline(snapshot) == LINES, source
        assert snapshot.stats.source == source
        assert list(snapshot.refs) == list(first.refs), "the same elements keep their refs in each source"
    assert {ref.frame_id for ref in first.refs.values()} == set(first.stats.sources) - {
        frame.id for frame in nested.frames if frame.url.endswith("?hidden")
    }


async def test_a_ref_of_any_frame_is_clicked_there(nested: cdpengine.Page) -> None:
    snapshot = await nested.snapshot()
    for name in ("Main b", "Srcdoc b", "Far b", "Back b"):
        ref = snapshot.find("button", name)
        await nested.click(ref, timeout=10)
        frame = next(frame for frame in nested.frames if frame.id == ref.frame_id)
        assert await nested.evaluate("clicks", frame=frame) == 1, name


async def test_a_frame_alone(nested: cdpengine.Page) -> None:
    whole = await nested.snapshot()
    far = next(frame for frame in nested.frames if frame.url.endswith("/far"))
    owner = whole.find_all("iframe")[1]
    expected = [line[2:] for line in LINES[9:22]]
    for target in (far, far.id, "http://localhost:*/far", owner, owner.id):
        taken = await nested.snapshot(frame=target)
        assert outline(taken) == expected, target
        assert taken.title == "Far"
        assert set(taken.refs) < set(whole.refs)
    await nested.evaluate("document.querySelectorAll('iframe')[1].name = 'given'")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="matches 2 frames"):
        await nested.snapshot(frame="http://localhost:*/far*")
    with pytest.raises(cdpengine.errors.NodeNotFoundError, match="the page's frames are"):
        await nested.snapshot(frame="http://nowhere.test/*")
    with pytest.raises(cdpengine.errors.NodeNotFoundError, match="owns no frame"):
        await nested.snapshot(frame=whole.find("button", "Main a"))


@pytest.mark.sample(5, start=3)
@pytest.mark.parametrize("source", [None, *get_args(Source)])
async def test_snapshot_of_one_element(nested: cdpengine.Page, source: Source | None) -> None:
    whole = await nested.snapshot()
    taken = await nested.snapshot(root="#host", source=source)
    assert outline(taken) == LINES[22:]
    assert set(taken.refs) < set(whole.refs)
    taken = await nested.snapshot(root="button", frame="http://localhost:*/far", source=source)
    assert outline(taken) == ['- button "Far a"']
    assert taken.find("button") == whole.find("button", "Far a")
    ref = whole.find("button", "Back c")
    for target in (ref, ref.id):
        assert outline(await nested.snapshot(root=target, source=source)) == ['- button "Back c"']
    # CSS selectors match in open shadow roots.
    assert outline(await nested.snapshot(root="iframe.in", source=source)) == LINES[22:]


@pytest.mark.sample(4)
@pytest.mark.parametrize("mode", ["ai", "aria", "numbered", "webarena"])
async def test_every_mode_has_all_frames(nested: cdpengine.Page, mode: str) -> None:
    text = (await nested.snapshot(mode=mode)).text  # type: ignore[arg-type]
    for name in ("Main a", "Srcdoc b", "Far c", "Near a", "Back b", "Innermost"):
        assert name in text


HUNG = "<button>Never</button><script>onload = () => {parent.postMessage('on', '*'); setTimeout(() => {for (;;);})}</script>"


@pytest.mark.sample(3)
@pytest.mark.parametrize("source", [None, "ax"])
async def test_a_hung_frame_in_another_process_is_marked(
    new_tab: cdpengine.Page, httpserver: HTTPServer, source: Source | None
) -> None:
    page = new_tab  # the hung process ends with it
    body = f"""<script>told = new Promise((done) => addEventListener("message", done, {{once: true}}))</script>
        {button("Main")}<iframe src="OTHER/hung"></iframe><iframe src="HERE/near"></iframe>"""
    await page.goto(
        serve(httpserver, main=body, hung=HUNG, near=button("Near")), wait_until="domcontentloaded"
    )
    await page.evaluate("told.then(() => 1)", timeout=10)
    with trio.fail_after(10):
        snapshot = await page.snapshot(source=source, timeout=5)
    lines = snapshot.text.splitlines()
    assert outline(snapshot) == [*LINES[:3], "- iframe", "- iframe", *LINES[23:]]
    assert "[frame not responding]" in lines[3]
    assert "[frame not responding]" not in lines[4]
    hung = next(frame for frame in page.frames if frame.url.endswith("/hung"))
    assert snapshot.stats.sources[hung.id].source == "none"
    assert snapshot.stats.milliseconds["total"] < 4_000


@pytest.mark.slow
async def test_a_frame_without_a_response_is_read_as_empty(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    requested, over = threading.Event(), threading.Event()

    def respond(_request: Request) -> Response:
        requested.set()
        over.wait(20)
        return Response("late", content_type="text/html")

    httpserver.expect_request("/silent").respond_with_handler(respond)
    add = "const f = document.createElement('iframe'); f.src = '/silent'; document.body.append(f)"
    try:
        await page.set_content("<button>Here</button>")
        await page.evaluate(add)
        await trio.to_thread.run_sync(requested.wait, 10)
        snapshot = await page.snapshot(timeout=10)
    finally:
        over.set()
    assert outline(snapshot) == ['- button "Here"', "- iframe"]
    assert [source.source for source in snapshot.stats.sources.values()] == ["computed", "computed"]


async def test_many_frames(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    number = rounds(8, 30)
    frames = "".join(
        f"<iframe src='{'OTHER' if n % 2 else 'HERE'}/near?{n}'></iframe>" for n in range(number)
    )
    await page.goto(serve(httpserver, main=frames, near=button("Near")))
    for _ in range(2):
        snapshot = await page.snapshot()
        assert outline(snapshot) == (["- iframe", *LINES[23:]]) * number
        assert snapshot.stats.frames == number + 1
        assert len(snapshot.refs) == number * 4


async def test_an_object_and_a_frame_with_another_role(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    main = button("Main") + "<object data='HERE/near'></object><iframe role=none src='HERE/near'></iframe>"
    main += "<iframe role=application src='HERE/near'></iframe>"
    await page.goto(serve(httpserver, main=main, near=button("Near")))
    near = LINES[23:]
    for source in (None, "ax", "dom"):
        snapshot = await page.snapshot(source=source)
        assert outline(snapshot) == [
            *LINES[:3],
            "- object",
            *near,
            "- iframe",
            *near,
            "- application",
            *near,
        ], source


@pytest.mark.slow
async def test_page_without_computed_roles(httpserver: HTTPServer) -> None:
    url = serve(httpserver, main=button("Main"))
    async with cdpengine.launch(
        computed_accessibility=False, args=["--enable-blink-features=ComputedAccessibilityInfoOther"]
    ) as browser:
        page = await browser.new_page(url)
        assert await page.evaluate("'computedRole' in Element.prototype") is False
        snapshot = await page.snapshot()
        assert (snapshot.stats.source, outline(snapshot)) == ("ax", LINES[:3])
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="computed_accessibility=True"):
            await page.snapshot(source="computed")
    async with cdpengine.launch() as browser:
        page = await browser.new_page(url)
        assert await page.evaluate("'computedRole' in Element.prototype") is True
        assert (await page.snapshot()).stats.source == "computed"


async def test_a_cut_snapshot_keeps_what_is_in_the_viewport_from_every_source(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    main = "".join(f"<p style='height: 300px'><button>Number {n}</button></p>" for n in range(60))
    await page.goto(serve(httpserver, main=main))
    await page.evaluate("scrollTo(0, document.body.scrollHeight)")
    for source in get_args(Source):
        text = (await page.snapshot(source=source, max_chars=500)).text
        assert "Number 59" in text, source
        assert "Number 20" not in text, source


DEEP = """<p>x</p><script>
  let at = document.body;
  for (let i = 0; i < 1100; i++) at = at.appendChild(document.createElement("div"));
</script>"""


async def test_partial_document_has_the_reason(
    used_page: cdpengine.Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = "<p>x</p>" * 100
    frames = "<iframe title=Near src=HERE/near></iframe><iframe title=Far src=OTHER/far></iframe>"
    url = serve(httpserver, main=frames + DEEP, near=DEEP, far=DEEP)
    await used_page.goto(url)

    async def read(short: str, long: str, inner: str = "") -> None:
        for source in ("computed", "dom"):
            snapshot = await used_page.snapshot(source=source)
            assert [gap.partition("in part, ")[2] for gap in snapshot.gaps] == [long] + [inner or long] * 2
            marks = [line for line in snapshot.text.splitlines() if line.startswith("- iframe")]
            assert len(marks) == 2
            assert all(line.endswith(f"[partly read, {short}]") for line in marks)
            assert f"# this document was read only in part, {long};" in snapshot.text

    await read("too deep", "because its elements are nested too deep")
    url = serve(
        httpserver,
        main2=frames.replace("/near", "/near2").replace("/far", "/far2") + many,
        near2=many,
        far2=many,
    )
    await used_page.goto(url + "2")
    monkeypatch.setattr("cdpengine._snapshot.sources.walk._LONGEST", 0.0)
    late = "because it was read too late (64 elements in time, {} not)"
    await read("too late", late.format(41), late.format(39))
    monkeypatch.setattr("cdpengine._snapshot.node.LARGE", 64)
    large = "because it is too large (64 elements in time, {} not)"
    await read("too large", large.format(41), large.format(39))


async def test_a_walk_leaves_time_to_number_what_is_new(
    page: cdpengine.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 4_000
    await page.set_content("<!doctype html><title>t</title>" + "<p><button>x</button></p>" * count)
    for source in ("computed", "dom"):
        monkeypatch.setattr("cdpengine._snapshot.sources.walk._AFTER_READING", 1e9)
        some = await page.snapshot(source=source)
        shown = len(some.refs)
        assert 0 < shown < count
        [gap] = some.gaps
        read, unread = map(int, re.findall(r"\d+", gap))
        assert read + unread == 2 * count + 4  # html, head, title and body
        monkeypatch.undo()
        whole = await page.snapshot(source=source)
        assert not whole.gaps
        assert len(whole.refs) == count


async def test_a_part_of_a_frame_that_was_never_drawn(
    used_page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    unseen = "<div id=part role=group aria-label=Part><button>In</button></div><button>Out</button>"
    far = "<div style='height: 3000px'></div><iframe src='OTHER/unseen'></iframe>"
    await used_page.goto(serve(httpserver, main=f"<button>Top</button>{far}", unseen=unseen))
    snapshot = await used_page.snapshot(root=await used_page.find("#part"), source="ax")
    assert outline(snapshot) == ['- group "Part"', '  - button "In"']
    hidden = "<iframe style='display: none' src='OTHER/unseen'></iframe>"
    await used_page.goto(serve(httpserver, main2=hidden) + "2")
    snapshot = await used_page.snapshot(root=await used_page.find("#part"), source="ax")
    assert outline(snapshot) == ["# nothing to show in the accessibility tree of this document"]
