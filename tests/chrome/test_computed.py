"""The source `computed` on live pages: one round trip, the right document, ids that hold, nothing left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import one_in

import cdpengine
from cdpengine._page.scripts.page_functions import IsolatedWorlds
from cdpengine._protocol.instruments import Traffic
from cdpengine._snapshot.node import Document, FrameRequest, Node, walk
from cdpengine._snapshot.sources.computed import is_supported, read_computed
from cdpengine.errors import RemoteError
from cdpengine.testing import walk_cancellations

pytestmark = pytest.mark.chrome


def request_of(page: cdpengine.Page, worlds: IsolatedWorlds, **more: Any) -> FrameRequest:
    frame = page.frames[0]
    return FrameRequest(
        session=page.session, worlds=worlds, frame_id=frame.id, loader_id=frame.loader_id, **more
    )


def named(document: Document, name: str) -> Node:
    return next(node for node in walk(document.roots) if node.name == name)


async def backend_id(page: cdpengine.Page, expression: str) -> int:
    """Return the id that Chrome itself gives to what the page's expression means."""
    found = await page.session.call("Runtime.evaluate", expression=expression)
    described = await page.session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    number: int = described["node"]["backendNodeId"]
    return number


async def test_a_page_seen_before_costs_one_round_trip(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    await page.set_content("<button>One</button><input aria-label=Two>")
    worlds = IsolatedWorlds()
    await read_computed(request_of(page, worlds))
    await page.session.call("Runtime.evaluate", expression="0")  # all that was sent before has arrived
    sent: list[str] = []

    def watch(traffic: Traffic) -> None:
        if traffic.direction == "sent":
            sent.append(json.loads(traffic.message)["method"])

    with browser.instruments.attached(watch):
        document = await read_computed(request_of(page, worlds))
    assert sent == ["Runtime.callFunctionOn"]
    assert [node.name for node in document.roots] == ["One", "Two"]
    assert document.source == "computed"


async def test_ids_are_those_that_chrome_gives(page: cdpengine.Page) -> None:
    await page.set_content("<button id=a>A</button><p>text</p><button id=b>B</button>")
    worlds = IsolatedWorlds()
    first = await read_computed(request_of(page, worlds))
    assert named(first, "A").backend_node_id == await backend_id(page, "a")
    await page.evaluate("() => { const moved = a; a.remove(); b.after(moved); moved.id = 'c'; }")
    await page.evaluate(
        "() => { const made = document.createElement('button'); made.textContent = 'N'; made.id = 'n'; b.after(made); }"
    )
    second = await read_computed(request_of(page, worlds))
    assert named(second, "A").backend_node_id == named(first, "A").backend_node_id
    assert named(second, "B").backend_node_id == await backend_id(page, "b")
    assert named(second, "N").backend_node_id == await backend_id(page, "n")


async def test_a_new_document_is_never_taken_for_the_old_one(
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
    for request in (old, request_of(page, worlds)):  # also when asked for the document that is gone
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


async def test_a_frame_that_is_gone_is_refused(page: cdpengine.Page) -> None:
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


async def test_the_walk_stops_by_itself(page: cdpengine.Page) -> None:
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
"""Names by which a page can put its own elements in the place of a form's, or the document's, own properties."""


async def test_a_hostile_page_sees_and_changes_nothing(page: cdpengine.Page) -> None:
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
    document = await read_computed(request_of(page, worlds, boxes=True, pointer=True))
    assert [(node.role, node.name) for node in document.roots] == [("button", "Real"), ("form", "F")]
    assert [node.role for node in document.roots[1].children] == ["textbox"] * len(CLOBBERED)
    assert document.url == page.url
    after = await page.session.call("Runtime.evaluate", expression="Object.keys(window).length")
    assert after == before
    touched = await page.session.call("Runtime.evaluate", expression="touched.join()")
    assert touched["result"]["value"] == ""


async def test_elements_are_not_kept_alive(page: cdpengine.Page) -> None:
    await page.set_content("<button id=b>B</button><p>rest</p>")
    worlds = IsolatedWorlds()
    await read_computed(request_of(page, worlds))
    await page.evaluate("() => { window.weak = new WeakRef(b); b.remove(); }")
    await read_computed(request_of(page, worlds))
    with trio.fail_after(20):
        while True:
            await page.session.call("HeapProfiler.collectGarbage")
            if await page.evaluate("weak.deref() === undefined"):
                break


async def test_two_snapshots_at_once_agree(page: cdpengine.Page) -> None:
    await page.set_content("".join(f"<button>B{number}</button>" for number in range(300)))
    worlds = IsolatedWorlds()
    documents: list[Document] = []

    async def read() -> None:
        documents.append(await read_computed(request_of(page, worlds)))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(read)
    ids = [[node.backend_node_id for node in document.roots] for document in documents]
    assert ids == [ids[0]] * 4
    assert None not in ids[0]
    assert len(set(ids[0])) == 300


async def test_cancelled_anywhere_it_leaves_the_mapping_right(page: cdpengine.Page) -> None:
    await page.set_content("<button>0</button>")
    worlds = IsolatedWorlds()
    made = 0

    async def read() -> None:
        await read_computed(request_of(page, worlds))

    async def check() -> None:
        nonlocal made
        document = await read_computed(request_of(page, worlds))
        assert document.roots[-1].name == str(made)
        assert document.roots[-1].backend_node_id == await backend_id(page, "document.body.lastElementChild")
        made += 1
        await page.evaluate(
            "(text) => { const b = document.createElement('button'); b.textContent = text; document.body.append(b); }",
            str(made),
        )

    assert await walk_cancellations(read, check, own_steps_only=True, every=one_in(8)) >= 3


async def test_a_browser_says_whether_it_offers_it(page: cdpengine.Page) -> None:
    assert await is_supported(request_of(page, IsolatedWorlds()))


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
