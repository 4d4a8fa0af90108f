"""The life of refs: the element that an action hits, StaleRefError's reasons, healing, and sharing of refs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from pytest_httpserver import HTTPServer
from ref_oracle import frame_with, serve

import cdpengine
from cdpengine._snapshot.node import Document, Node
from cdpengine.errors import StaleRefError


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    return new_tab


BUTTONS = """<title>shop</title><button id=a>Buy</button><button id=b>Buy</button><button id=c>Other</button>
<script>
window.clicked = [];
addEventListener("click", event => clicked.push(event.target.id || event.target.textContent));
</script>"""


async def shown(page: cdpengine.Page, html: str = BUTTONS) -> cdpengine.Snapshot:
    await page.set_content(html)
    return await page.snapshot()


async def clicked(page: cdpengine.Page) -> object:
    return await page.evaluate("clicked")


@pytest.mark.parametrize(
    ("change", "became", "words"),
    [
        ("keep = a; a.remove()", "detached", "detached from the document"),
        ("keep = document.createElement('p'); keep.append(a)", "detached", "detached from"),
    ],
)
async def test_detached_but_live_node(page: cdpengine.Page, change: str, became: str, words: str) -> None:
    snapshot = await shown(page)
    await page.evaluate(f"() => {{ const a = document.querySelector('#a'); window.keep = null; {change} }}")
    with pytest.raises(StaleRefError, match=words) as caught:
        await page.click(snapshot.find("button", "Buy"))
    error = caught.value
    assert (error.ref, error.description, error.became) == ("e1", 'button "Buy"', became)
    assert [ref.id for ref in error.alternatives] == ["e2"]
    assert 'the page has e2 button "Buy". Take' in str(error)
    assert await clicked(page) == []
    await page.evaluate("document.body.append(document.querySelector('#a') || keep)")
    assert (await page.click("e1")).healed is None, "back in the document it is the same element"
    assert await clicked(page) == ["a"]


async def test_a_node_that_was_collected(page: cdpengine.Page) -> None:
    ref = (await shown(page)).refs["e1"]
    # Chrome decides when it collects a node. It gives the same error for a number that it never assigned.
    gone = Node("button", "interactive", "Buy", backend_node_id=10**8)
    gone_document = Document([gone], frame_id=ref.frame_id, loader_id=ref.loader_id, cut=True)
    (lost,) = page.internals.refs.assign([gone_document]).values()
    with pytest.raises(StaleRefError, match="removed from the document, and is gone") as caught:
        await page.hover(lost)
    assert (caught.value.became, caught.value.ref) == ("removed", "e4")
    assert [each.id for each in caught.value.alternatives] == ["e1", "e2"]


async def test_refs_of_replaced_and_of_restored_document(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    own, other = serve(httpserver)
    await page.goto(f"{own}/inner?1")
    ref = (await page.snapshot()).find("button", "a")
    await page.reload()
    await page.snapshot()
    with pytest.raises(StaleRefError, match="replaced by another one") as caught:
        await page.click(ref)
    assert caught.value.became == "replaced"
    assert [each.name for each in caught.value.alternatives] == ["a"]
    await page.goto(f"{other}/inner?2")
    with pytest.raises(StaleRefError, match="in another process") as caught:
        await page.click(ref)
    assert caught.value.became == "swapped"


@pytest.mark.slow
async def test_frames_that_swap_processes_move_and_go(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    own, other = serve(httpserver)
    await page.goto(f"{own}/")
    await frame_with(page, "?C")
    frames = {frame.url[-1]: frame for frame in page.frames}
    refs = {
        name: next(ref for ref in (await page.snapshot()).refs.values() if ref.frame_id == frame.id)
        for name, frame in frames.items()
        if name in "ABC"
    }
    move = "parent.document.body.append(document.querySelector('.item'))"
    await page.evaluate(move, frame=frames["A"])
    with pytest.raises(StaleRefError, match="another frame's document") as caught:
        await page.click(refs["A"])
    assert caught.value.became == "moved"
    await page.snapshot()
    assert (await page.click(refs["A"], timeout=20)).target.startswith(refs["A"].id), (
        "a new snapshot finds its new place"
    )
    await page.evaluate("(url) => { document.querySelectorAll('iframe')[1].src = url }", f"{other}/inner?9")
    await frame_with(page, "?9")
    with pytest.raises(StaleRefError) as caught:
        await page.click(refs["B"])
    assert caught.value.became == "swapped"
    await page.evaluate("document.querySelectorAll('iframe')[2].remove()")
    await page.internals.target.changes.wait_for(
        lambda: frames["C"].id not in [each.id for each in page.frames]
    )
    with pytest.raises(StaleRefError, match="its frame is gone") as caught:
        await page.click(refs["C"])
    assert caught.value.became == "frame gone"


async def test_a_ref_of_another_page_and_a_dropped_one(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    snapshot = await shown(page)
    other = await browser.new_page()
    await shown(other)
    with pytest.raises(StaleRefError, match="another page") as caught:
        await other.click(snapshot.find("button", "Buy"))
    assert caught.value.became == "foreign"
    assert await clicked(other) == []
    page.internals.refs.shrink(0, "to bound memory")
    with pytest.raises(StaleRefError, match="to bound memory") as caught:
        await page.click("e1", heal=True)
    assert caught.value.became == "dropped"
    await other.close()


# --- healing -----------------------------------------------------------------------------------------------

AGAIN = "() => { for (const each of document.querySelectorAll('button')) each.outerHTML = each.outerHTML }"


async def test_heal_uses_the_replacement_and_reports_it(page: cdpengine.Page) -> None:
    await shown(page)
    assert (await page.click("e2", heal=True)).healed is None
    await page.evaluate(AGAIN)
    outcome = await page.click("e2", heal=True)
    healed = outcome.healed
    assert isinstance(healed, cdpengine.Ref)
    assert (healed.id, healed.name, healed.nth) == ("e5", "Buy", 1)
    assert outcome.target.startswith("e5 ")
    assert await clicked(page) == ["b", "b"]
    assert (await page.click(healed)).healed is None
    for action in (page.double_click, page.hover, page.focus):
        assert (await action("e1", heal=True)).healed.id == "e4"
    assert (await page.press("Enter", "e3", heal=True)).healed.id == "e6"


async def test_heal_of_both_ends_of_drag_and_of_scroll_target(page: cdpengine.Page) -> None:
    await shown(page, "<button>From</button><p style='height:3000px'></p><button>To</button>")
    record = """() => { window.seen = []; for (const type of ['mousedown', 'mouseup'])
      addEventListener(type, event => seen.push([type, event.target.textContent])) }"""
    await page.evaluate(record)
    await page.evaluate(AGAIN)
    with pytest.raises(StaleRefError):
        await page.drag("e1", "e2")
    outcome = await page.drag("e1", "e2", heal=True)
    assert [outcome.healed.name, outcome.healed_destination.name] == ["From", "To"]
    assert await page.evaluate("seen") == [["mousedown", "From"], ["mouseup", "To"]]
    outcome = await page.drag(outcome.healed, outcome.healed_destination, heal=True)
    assert (outcome.healed, outcome.healed_destination) == (None, None)
    await page.evaluate("scrollTo(0, 0)")
    await page.evaluate(AGAIN)
    there = await page.scroll_into_view("e2", heal=True)
    assert there.healed.name == "To"
    assert await page.evaluate("scrollY") > 1000
    assert (await page.scroll(0, -500, there.healed, heal=True)).healed is None


async def test_heal_types_into_the_replacement_field(page: cdpengine.Page) -> None:
    await shown(page, "<input aria-label=Name>")
    await page.evaluate("document.querySelector('input').outerHTML = '<input aria-label=Name>'")
    assert (await page.type("e1", "Ada", heal=True)).healed.id == "e2"
    assert await page.evaluate("document.querySelector('input').value") == "Ada"


async def test_heal_after_a_reload(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    own, _other = serve(httpserver)
    await page.goto(f"{own}/inner")
    ref = (await page.snapshot()).find("button", "a")
    await page.reload()
    healed = (await page.hover(ref, heal=True)).healed
    assert (healed.role, healed.name, healed.nth) == ("button", "a", 0)
    assert healed.id != ref.id


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("a.remove()", ["e2"]),
        ("a.remove(); document.body.append(b.cloneNode(true))", ["e2", "e4"]),
        ("a.remove(); b.before(b.cloneNode(true), b.cloneNode(true))", ["e4", "e5", "e2"]),
        ("a.remove(); b.remove()", []),
    ],
)
async def test_heal_refuses_unsure_matches(page: cdpengine.Page, change: str, names: list[str]) -> None:
    await shown(page)
    await page.evaluate(
        f"() => {{ const [a, b] = document.querySelectorAll('button'); window.keep = a; {change} }}"
    )
    with pytest.raises(StaleRefError, match="No replacement was certain") as caught:
        await page.click("e1", heal=True)
    assert caught.value.candidates
    assert caught.value.became == "detached"
    assert [ref.id for ref in caught.value.alternatives] == names
    assert await clicked(page) == []


async def test_heal_respects_its_deadline(page: cdpengine.Page) -> None:
    await shown(page)
    async with trio.open_nursery() as nursery:

        async def hang() -> None:
            await page.evaluate("() => { for (;;); }", timeout=60)

        nursery.start_soon(hang)
        with trio.fail_after(20):
            while await page.measure.unresponsive_for() == 0:  # until the script runs
                pass
        with trio.fail_after(10), pytest.raises(cdpengine.errors.PageUnresponsiveError):
            await page.hover("e1", heal=True, timeout=0.7)
        nursery.cancel_scope.cancel()


# --- sharing of refs ---------------------------------------------------------------------------------------


@asynccontextmanager
async def second_engine(endpoint: str, page: cdpengine.Page) -> AsyncIterator[cdpengine.Page]:
    async with cdpengine.connect(endpoint) as browser:
        while (other := browser.page(page.target_id)) is None:
            await browser.wait_for_page(where=lambda each: each.target_id == page.target_id)
        yield other


async def test_another_connection_finds_the_refs_and_shares_their_numbers(
    page: cdpengine.Page, shared_endpoint: str
) -> None:
    snapshot = await shown(page)
    async with second_engine(shared_endpoint, page) as other:
        assert other is not page
        assert other.session.id != page.session.id
        await other.click("e1")
        await other.click(snapshot.find("button", "Other"))
        await page.evaluate("document.body.append(document.createElement('button'))")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.snapshot)
            nursery.start_soon(other.snapshot)
        assert (
            list((await other.snapshot()).refs)
            == list((await page.snapshot()).refs)
            == ["e1", "e2", "e3", "e4"]
        )
        await other.evaluate("document.querySelector('#a').remove()")
        with pytest.raises(StaleRefError):
            await page.click("e1")
    assert await clicked(page) == ["a", "c"]
    async with second_engine(shared_endpoint, page) as again:
        await again.click("e2")
        assert list((await again.snapshot()).refs) == ["e2", "e3", "e4"]
    assert await clicked(page) == ["a", "c", "b"]


async def test_action_during_unreported_navigation_hits_nothing(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    """The other process numbers its nodes from 1 too. The query reaches it before the engine knows its
    document.
    """
    own, other = serve(httpserver)
    listen = "<script>window.clicked = []; addEventListener('click', e => clicked.push(e.target.textContent))</script>"
    for path in ("/one", "/two"):
        httpserver.expect_request(path).respond_with_data(
            f"<!doctype html><button>{path}</button>{listen}", content_type="text/html"
        )
    for number, (site, path) in enumerate(((own, "/one"), (other, "/two")) * 3):
        await page.goto(f"{site}{path}")
        ref = (await page.snapshot()).find("button")
        away = f"/two?{number}"
        await page.session.call("Page.navigate", url=f"{other if site == own else own}{away}")
        with pytest.raises(StaleRefError):
            while True:  # the first ones may come before the other document
                await page.click(ref, timeout=20)
        await frame_with(page, away)
        assert await clicked(page) == []
