"""The source `computed` on live pages: one round trip, the right document, stable ids, no leftovers."""

from __future__ import annotations

import json

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import one_in
from source_lines import request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.instruments import Traffic
from cdpengine._snapshot.node import Document, FrameRequest, Node, walk
from cdpengine._snapshot.sources.computed import read_computed
from cdpengine.errors import RemoteError
from cdpengine.testing import walk_cancellations

pytestmark = pytest.mark.chrome


def named(document: Document, name: str) -> Node:
    return next(node for node in walk(document.roots) if node.name == name)


async def backend_id(page: cdpengine.Page, expression: str) -> int:
    """Return Chrome's id for the node that the page's expression returns."""
    found = await page.session.call("Runtime.evaluate", expression=expression)
    described = await page.session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    number: int = described["node"]["backendNodeId"]
    return number


async def test_new_documents_already_have_the_walk(
    browser: cdpengine.Browser, new_tab: cdpengine.Page, httpserver: HTTPServer
) -> None:
    page = new_tab
    httpserver.expect_request("/inner").respond_with_data("<button>Inner</button>", content_type="text/html")
    frames = "<iframe src=/inner></iframe><iframe srcdoc='<button>Written</button>'></iframe>"
    httpserver.expect_request("/").respond_with_data(
        f"<button>Outer</button>{frames}", content_type="text/html"
    )
    sent: list[int] = []

    def watch(traffic: Traffic) -> None:
        if traffic.direction == "sent":
            command = json.loads(traffic.message)
            if command["method"] == "Runtime.callFunctionOn":
                sent.append(len(command["params"]["functionDeclaration"]))

    for number in range(5):
        await page.goto(httpserver.url_for("/"))
        sent.clear()
        with browser.instruments.attached(watch):
            snapshot = await page.snapshot()
        assert [ref.name for ref in snapshot.find_all("button")] == ["Outer", "Inner", "Written"]
        for ref in snapshot.find_all("button"):
            assert await page.evaluate("(button) => button.textContent", target=ref) == ref.name
        if number >= 2:
            assert max(sent) < 1000
    assert await page.evaluate("typeof cdpengineWalk") == "undefined"


@pytest.mark.parametrize("clickables", [False, True])
async def test_ids_equal_those_of_chrome(page: cdpengine.Page, clickables: bool) -> None:
    await page.set_content("<button id=a>A</button><p>text</p><button id=b>B</button>")
    worlds = IsolatedWorlds()
    first = await read_computed(request_of(page, worlds, clickables=clickables))
    assert named(first, "A").backend_node_id == await backend_id(page, "a")
    await page.evaluate("() => { const moved = a; a.remove(); b.after(moved); moved.id = 'c'; }")
    await page.evaluate(
        "() => { const made = document.createElement('button'); made.textContent = 'N'; made.id = 'n'; b.after(made); }"
    )
    second = await read_computed(request_of(page, worlds, clickables=clickables))
    assert named(second, "A").backend_node_id == named(first, "A").backend_node_id
    assert named(second, "B").backend_node_id == await backend_id(page, "b")
    assert named(second, "N").backend_node_id == await backend_id(page, "n")


async def test_new_document_is_never_mistaken_for_the_old_one(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    for path in ("/one", "/two"):
        httpserver.expect_request(path).respond_with_data(
            f"<title>{path}</title><button>{path}</button>", content_type="text/html"
        )
    worlds = IsolatedWorlds()
    await page.goto(httpserver.url_for("/one"))
    old = request_of(page, worlds)
    first = await read_computed(old)
    await page.goto(httpserver.url_for("/two"))
    for request in (old, request_of(page, worlds)):  # also when asked for the old document
        second = await read_computed(request)
        assert [node.name for node in second.roots] == ["/two"]
        assert second.title == "/two"
        assert second.loader_id == page.frames[0].loader_id != first.loader_id
        assert second.roots[0].backend_node_id == await backend_id(page, "document.querySelector('button')")
    await page.go_back()
    assert (await read_computed(request_of(page, worlds))).title == "/one"


async def test_navigating_all_the_time_never_mixes_documents(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/x").respond_with_data("<button>x</button>", content_type="text/html")
    worlds = IsolatedWorlds()
    seen = set()
    arrived = trio.Event()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:

            async def navigate() -> None:
                for number in range(8):
                    await page.goto(f"{httpserver.url_for('/x')}?{number}", wait_until="commit")
                arrived.set()

            nursery.start_soon(navigate)
            while not arrived.is_set():
                try:
                    document = await read_computed(request_of(page, worlds))
                except RemoteError:
                    await trio.lowlevel.checkpoint()
                    continue
                seen.add((document.url, document.loader_id))
    urls = [url for url, _ in seen if "?" in url]
    assert len(urls) == len(set(urls))  # one loader for each address


async def test_removed_frame_is_refused(page: cdpengine.Page) -> None:
    await page.set_content("<iframe srcdoc='<button>In</button>'></iframe>")
    worlds = IsolatedWorlds()
    frame = page.frames[1]
    request = FrameRequest(session=page.session, worlds=worlds, frame_id=frame.id, loader_id=frame.loader_id)
    document = await read_computed(request)
    assert [node.name for node in document.roots] == ["In"]
    assert document.frame_id == frame.id
    await page.evaluate("document.querySelector('iframe').remove()")
    with pytest.raises(RemoteError):
        await read_computed(request)


async def test_a_part_of_the_page(page: cdpengine.Page) -> None:
    await page.set_content("<button>Out</button><section id=s><button>In</button> text</section>")
    worlds = IsolatedWorlds()
    root = await backend_id(page, "s")
    document = await read_computed(request_of(page, worlds, root=root))
    assert [node.name for node in walk(document.roots)] == ["In", "text"]


async def test_boxes_and_pointers_on_request(page: cdpengine.Page) -> None:
    await page.set_content(
        "<body style='margin:0'><div style='height:30px;cursor:pointer' id=d>Div <b>bold</b></div>"
        "<button style='position:absolute;left:10px;top:40px;width:50px;height:20px'>B</button>"
    )
    worlds = IsolatedWorlds()
    plain = await read_computed(request_of(page, worlds))
    assert plain.viewport is None
    assert [node.kind for node in plain.roots] == ["text", "interactive"]
    document = await read_computed(request_of(page, worlds, boxes=True, pointer=True))
    clickable, button = document.roots
    assert (clickable.clickable, clickable.wants_ref, clickable.role) == (True, True, "generic")
    assert clickable.backend_node_id == await backend_id(page, "d")
    assert (clickable.name, clickable.children) == ("Div bold", [])
    assert button.box == (10.0, 40.0, 50.0, 20.0)
    assert not button.clickable
    assert document.viewport == tuple(await page.evaluate("[innerWidth, innerHeight]"))


async def test_walk_stops_at_its_time_limit(page: cdpengine.Page) -> None:
    await page.set_content("<p>first</p>" + "<div><button>x</button></div>" * 2000)
    worlds = IsolatedWorlds()
    whole = await read_computed(request_of(page, worlds))
    assert not whole.cut
    part = await read_computed(request_of(page, worlds, seconds=1e-6))
    assert part.cut
    assert 0 < part.nodes_seen < whole.nodes_seen


async def test_passwords_stay_in_the_page(page: cdpengine.Page) -> None:
    await page.set_content(
        "<input type=password aria-label=P value=secret-1>"
        "<input aria-label=M value=secret-2 style='-webkit-text-security: disc'>"
    )
    worlds = IsolatedWorlds()
    document = await read_computed(request_of(page, worlds))
    assert [(node.value, node.states) for node in document.roots] == [(None, (("value", "hidden"),))] * 2


CLOBBERED = (
    "shadowRoot", "firstChild", "childNodes", "nextSibling", "parentNode", "parentElement", "assignedSlot", "host",
    "localName", "nodeType", "tabIndex", "computedRole", "computedName", "getAttribute", "hasAttributes", "inert",
    "checkVisibility", "querySelectorAll", "getElementById", "activeElement", "styleSheets", "documentElement",
    "URL", "title", "hasFocus", "body", "adoptedStyleSheets", "matches", "isConnected", "getRootNode",
)  # fmt: skip
"""Names with which a page can replace properties of a form or of the document by its elements."""


@pytest.mark.parametrize("clickables", [False, True])
async def test_a_hostile_page_sees_and_changes_nothing(page: cdpengine.Page, clickables: bool) -> None:
    fields = "".join(f"<input name={name}>" for name in CLOBBERED)
    images = "".join(f"<img alt='' name={name}>" for name in CLOBBERED)
    await page.set_content(
        f"<div id=host></div><button id=b>Real</button><form aria-label=F>{fields}</form>{images}"
    )
    await page.evaluate(
        """() => {
          window.touched = [];
          const trap = (object, name) => Object.defineProperty(object, name, {
            configurable: true, get() { touched.push(name); return "forged"; } });
          for (const name of ["localName", "tabIndex", "shadowRoot", "firstChild", "computedRole", "computedName"])
            trap(b, name);
          for (const name of ["checkVisibility", "getAttribute", "matches", "computedName", "attributes"])
            trap(Element.prototype, name);
          window.getComputedStyle = () => { touched.push("style"); };
          JSON.stringify = () => { touched.push("json"); return "forged"; };
          Map.prototype.get = WeakMap.prototype.get = () => { touched.push("map"); };
          new MutationObserver(() => touched.push("mutation")).observe(document,
            { subtree: true, childList: true, attributes: true, characterData: true });
        }"""
    )
    before = await page.session.call("Runtime.evaluate", expression="Object.keys(window).length")
    worlds = IsolatedWorlds()
    document = await read_computed(request_of(page, worlds, clickables=clickables, boxes=True, pointer=True))
    assert [(node.role, node.name) for node in document.roots] == [("button", "Real"), ("form", "F")]
    assert [node.role for node in document.roots[1].children] == ["textbox"] * len(CLOBBERED)
    assert document.url == page.url
    after = await page.session.call("Runtime.evaluate", expression="Object.keys(window).length")
    assert after == before
    touched = await page.session.call("Runtime.evaluate", expression="touched.join()")
    assert touched["result"]["value"] == ""


@pytest.mark.parametrize("clickables", [False, True])
async def test_elements_are_not_kept_alive(page: cdpengine.Page, clickables: bool) -> None:
    await page.set_content("<button id=b>B</button><p>rest</p>")
    worlds = IsolatedWorlds()
    await read_computed(request_of(page, worlds, clickables=clickables))
    await page.evaluate("() => { window.weak = new WeakRef(b); b.remove(); }")
    await read_computed(request_of(page, worlds, clickables=clickables))
    with trio.fail_after(20):
        while True:
            await page.session.call("HeapProfiler.collectGarbage")
            if await page.evaluate("weak.deref() === undefined"):
                break


@pytest.mark.parametrize("clickables", [False, True])
async def test_concurrent_snapshots_agree(page: cdpengine.Page, clickables: bool) -> None:
    await page.set_content("".join(f"<button>B{number}</button>" for number in range(300)))
    worlds = IsolatedWorlds()
    documents: list[Document] = []

    async def read() -> None:
        documents.append(await read_computed(request_of(page, worlds, clickables=clickables)))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(read)
    ids = [[node.backend_node_id for node in document.roots] for document in documents]
    assert ids == [ids[0]] * 4
    assert None not in ids[0]
    assert len(set(ids[0])) == 300


async def listeners(page: cdpengine.Page) -> list[str]:
    """Return the types of all listeners of the page's document."""
    found = await page.session.call("Runtime.evaluate", expression="document")
    reply = await page.session.call(
        "DOMDebugger.getEventListeners", objectId=found["result"]["objectId"], depth=-1, pierce=True
    )
    return [each["type"] for each in reply["listeners"]]


async def test_no_mark_is_left(page: cdpengine.Page) -> None:
    await page.set_content("<form><input name=a></form><ul><li>One<li><button onclick=f()>Two</button></ul>")
    worlds = IsolatedWorlds()
    for _ in range(2):
        await read_computed(request_of(page, worlds, clickables=True))
        assert await listeners(page) == ["click"]
        await page.evaluate("document.querySelector('li').append(document.createElement('button'))")


async def test_ids_of_elements_that_come_and_go(page: cdpengine.Page) -> None:
    await page.set_content("<main></main><iframe srcdoc='<p>frame'></iframe>")
    await page.evaluate(
        """() => {
          const main = document.querySelector("main");
          const made = Array.from({length: 60}, (_, n) => Object.assign(document.createElement("button"),
            { textContent: "B" + n, id: "b" + n }));
          main.append(...made);
          const channel = new MessageChannel();
          let turn = 0;
          window.turns = () => turn;
          channel.port1.onmessage = () => {
            const one = made[(turn * 7) % made.length];
            const other = document.querySelector("iframe").contentDocument.body;
            if (++turn % 5 === 0) other.append(one);
            else if (one.isConnected && turn % 2) one.remove();
            else main.append(one);
            channel.port2.postMessage(0);
          };
          channel.port2.postMessage(0);
        }"""
    )
    worlds = IsolatedWorlds()
    seen = 0
    for _ in range(12):
        document = await read_computed(request_of(page, worlds, clickables=True))
        for node in walk(document.roots):
            if node.role != "button" or node.backend_node_id is None:
                continue
            reply = await page.session.call("DOM.describeNode", backendNodeId=node.backend_node_id)
            attributes = reply["node"]["attributes"]
            assert attributes[attributes.index("id") + 1] == node.name.lower()
            seen += 1
    assert seen > 100
    assert await page.evaluate("turns() > 100")


@pytest.mark.parametrize("tag", ["div", "h1", "x-host", "section"])
async def test_closed_shadow_roots_are_found_where_others_are_marked(page: cdpengine.Page, tag: str) -> None:
    text = "" if tag == "section" else "text"  # for HTML elements without a line, only empty ones are queried
    await page.set_content(f"<button>Before</button><{tag} id=host>{text}</{tag}><button>After</button>")
    await page.evaluate(
        "() => { host.attachShadow({mode: 'closed'}).innerHTML = '<button>Inside</button>'; }"
    )
    document = await read_computed(request_of(page, IsolatedWorlds(), clickables=True))
    buttons = [node.name for node in walk(document.roots) if node.role == "button"]
    assert buttons == ["Before", "Inside", "After"]


@pytest.mark.parametrize("clickables", [False, True])
async def test_cancelled_walk_leaves_mapping_correct(page: cdpengine.Page, clickables: bool) -> None:
    await page.set_content("<button>0</button>")
    worlds = IsolatedWorlds()
    made = 0

    async def read() -> None:
        await read_computed(request_of(page, worlds, clickables=clickables))

    async def check() -> None:
        nonlocal made
        document = await read_computed(request_of(page, worlds, clickables=clickables))
        assert document.roots[-1].name == str(made)
        assert document.roots[-1].backend_node_id == await backend_id(page, "document.body.lastElementChild")
        made += 1
        await page.evaluate(
            "(text) => { const b = document.createElement('button'); b.textContent = text; document.body.append(b); }",
            str(made),
        )

    assert await walk_cancellations(read, check, own_steps_only=True, every=one_in(8)) >= 3


async def test_elements_nested_thousands_deep(page: cdpengine.Page) -> None:
    await page.set_content("<main id=top></main>")
    await page.evaluate(
        """() => {
          let at = document.getElementById("top");
          document.body.prepend(Object.assign(document.createElement("button"), { textContent: "First" }));
          for (let depth = 0; depth < 2000; depth++) at = at.appendChild(document.createElement("div"));
          at.innerHTML = "<button>Deepest</button>";
        }"""
    )
    document = await read_computed(request_of(page, IsolatedWorlds()))
    assert [node.name for node in walk(document.roots)] == ["First"]
    assert document.cut


async def test_too_deep_document_is_marked(page: cdpengine.Page) -> None:
    await page.set_content("<p>top</p><div id=a></div>")
    await page.evaluate(
        "{ let at = a; for (let i = 0; i < 1100; i++) { const inner = document.createElement('div');"
        " at.append(inner); at = inner; } }"
    )
    snapshot = await page.snapshot()
    assert snapshot.gaps == ["the document was read only in part, because its elements are nested too deep"]
    assert "nested too deep" in snapshot.text
