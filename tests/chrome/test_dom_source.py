"""The source `dom` compared with `computed` and `ax` on every page of the corpus, and on pages without a tree
in time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs
import pytest
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.node import Document, FrameRequest, Node, walk
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom
from cdpengine._snapshot.sources.source_choice import Probe, forecast_ax, probe

pytestmark = pytest.mark.chrome


CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.html"))

TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
"""Chrome knows the off-screen parts only after the page was drawn."""

UNLIKE_AX = {
    "disclosure": {"button 'Details'"},  # the browser's own summary, which scripts cannot see
}
"""Differences between `dom` and `ax` in elements with refs, by page."""


async def request_for(page: cdpengine.Page) -> FrameRequest:
    frame = (await page.session.call("Page.getFrameTree"))["frameTree"]["frame"]
    return FrameRequest(
        session=page.session, worlds=IsolatedWorlds(), frame_id=frame["id"], loader_id=frame["loaderId"]
    )


def line(node: Node) -> str:
    said = (sorted(map(str, node.states)), node.value, node.url, node.description, node.placeholder)
    return f"{node.role} {node.name!r} {node.kind} {node.backend_node_id} {said}"


def lines(document: Document) -> list[str]:
    out: list[str] = []
    stack = [(node, 0) for node in reversed(document.roots)]
    while stack:
        node, depth = stack.pop()
        out.append("  " * depth + line(node))
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return out


def unlike(one: list[str], other: list[str]) -> set[str]:
    """Return the roles and names of the lines that only one of the two has."""
    found = set(one) ^ set(other)
    return {" ".join(text.split()[:2]) for text in found}


async def test_dom_agrees_with_computed_and_ax() -> None:
    args = ["--enable-blink-features=ComputedAccessibilityInfo"]
    differences: dict[str, tuple[set[str], set[str]]] = {}
    assert len(CORPUS) >= 40
    pages = [file for place, file in enumerate(CORPUS) if place % rounds(8, 1) == 0 or file.stem in UNLIKE_AX]
    async with cdpengine.launch(args=args) as browser:
        page = await browser.new_page()
        for file in pages:
            await page.goto("about:blank", timeout=10)  # each in a separate document
            # The tree lacks content that content-visibility: auto skips. See test_content_visibility.py.
            await page.set_content(file.read_text("utf-8").replace("content-visibility:auto", ""), timeout=10)
            await page.evaluate(TWO_FRAMES, timeout=10)
            request = await request_for(page)
            dom = await read_dom(request)
            computed = await read_computed(request)
            beyond = file.stem in (
                "hidden_attributes",
                "without_tree",
            )  # Chrome's tree lacks the visible parts of these
            ax = await read_ax(attrs.evolve(request, clickables=beyond))
            assert dom.source == "dom"
            refs = [[line(node) for node in walk(document.roots) if node.wants_ref] for document in (dom, ax)]
            differences[file.stem] = unlike(lines(dom), lines(computed)), unlike(*refs)
    assert {name: each for name, (each, _) in differences.items() if each} == {}
    assert {name: each for name, (_, each) in differences.items() if each} == UNLIKE_AX


CLOBBERING = [
    "getAttribute",
    "localName",
    "parentNode",
    "matches",
    "tabIndex",
    "hasAttribute",
    "firstElementChild",
    "childNodes",
    "hasAttributes",
    "checkVisibility",
    "shadowRoot",
    "firstChild",
    "nextSibling",
    "nodeType",
    "isConnected",
    "inert",
    "closest",
    "parentElement",
    "assignedSlot",
    "isContentEditable",
    "namespaceURI",
    "querySelectorAll",
    "disabled",
    "id",
    "children",
    "contains",
    "ariaHidden",
    "getRootNode",
    "labels",
]


async def test_page_with_fields_named_like_properties_is_read(page: cdpengine.Page) -> None:
    fields = "".join(f"<input name={name}>" for name in CLOBBERING)
    images = "".join(f"<img name={name}>" for name in ("links", "URL", "getElementById", "querySelectorAll"))
    await page.set_content(
        f"<form>{fields}<b role=option id=o>o</b><li>item</li></form>{images}<p aria-owns=o></p>"
        "<div role=listbox aria-labelledby=o></div><a href='#x'>a</a><button>After</button>"
    )
    request = await request_for(page)
    assert (await probe(request)).fragments == 1
    roles = [node.role for node in walk((await read_dom(request)).roots)]
    assert roles.count("textbox") == len(CLOBBERING)
    assert {"form", "listitem", "listbox", "button"} <= set(roles)


async def test_dom_labels_equal_those_of_the_tree(page: cdpengine.Page) -> None:
    await page.set_content(
        "<label for=a>First</label><input id=a><label for=a>Second</label><label>Around <select></select></label>"
        "<label for=none>None</label><label>Two <input><textarea></textarea></label><label for=h>H</label>"
        "<input id=h type=hidden><input id=b aria-label=Own><label for=b>Not</label><progress id=p></progress>"
        "<div><template shadowrootmode=open><label for=a>Inside</label><input id=a><button id=c>C</button>"
        "<label for=c>Push</label></template></div><label for=p>Load</label><label><button>In</button> it</label>"
    )
    request = await request_for(page)
    controls = ("textbox", "combobox", "button", "progressbar")

    async def named(read: Callable[[FrameRequest], Awaitable[Document]]) -> list[tuple[str, str]]:
        nodes = walk((await read(request)).roots)
        return [(node.role, node.name) for node in nodes if node.role in controls]

    assert await named(read_dom) == await named(read_ax)
    await page.evaluate("document.querySelector('label').htmlFor = 'p'")
    assert await named(read_dom) == await named(read_ax)
    assert ("textbox", "Second") in await named(read_dom)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>x</p>", Probe(elements=4)),
        ('<a href="/x">a</a><a name=n>b</a><p id=here></p>', Probe(elements=6, links=1)),
        ('<a href="#">top</a><a href="#here">a</a><p id=here></p>', Probe(elements=6, links=2)),
        ('<a href="#x">a</a><a href="/y#x">b</a>', Probe(elements=5, links=2, fragments=1)),
        ('<a href="?page#x">a</a><a href="#%zz">b</a>', Probe(elements=5, links=2, fragments=2)),
        ('<a href="#%C3%A4">a</a><p id=\u00e4></p>', Probe(elements=5, links=1)),
    ],
)
async def test_probe_counts(page: cdpengine.Page, httpserver: HTTPServer, html: str, expected: Probe) -> None:
    document = f"<!doctype html><meta charset=utf-8><title>t</title>{html}"
    httpserver.expect_request("/").respond_with_data(document, content_type="text/html")
    await page.goto(httpserver.url_for("/?page"), timeout=10)
    found = await probe(await request_for(page))
    # Every page has a head, its meta and its title.
    assert (found.elements, found.links, found.fragments) == (
        expected.elements + 2,
        expected.links,
        expected.fragments,
    )
    assert forecast_ax(found) < 1
