"""Finding nodes by CSS, by role and name, and by text, in all frames, and acting on them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from refusals import refused

import cdpengine
from cdpengine._page.search import by_role
from cdpengine._protocol.instruments import Traffic

PAGE = """<!doctype html><title>t</title>
<h1 id=title>Hello   <b>big</b> world</h1>
<button class=save>Save</button> <button class=save>Save as</button>
<button aria-hidden=true>Ghost</button> <button hidden>Unseen</button>
<div id=host></div><div id=slotted><span id=light>from the light</span></div>
<p style="text-transform: uppercase">Loud words</p><p>one<i hidden>x</i> two</p>
<details><summary>More</summary><p>folded away</p></details>
<input type=submit value="Send it"><input value="typed secret">
<label>Name <input id=name></label> <a href="#a">link</a> <a href="#b">link</a>
<iframe srcdoc="<button>Inner</button><p class=deep>in the frame</p>"></iframe>
<script>
  host.attachShadow({mode: "open"}).innerHTML =
    "<button class=s>Shadow</button><div id=deeper></div>";
  host.shadowRoot.querySelector("#deeper").attachShadow({mode: "open"}).innerHTML = "<em class=s>deep down</em>";
  slotted.attachShadow({mode: "open"}).innerHTML = "<b>before </b><slot></slot>";
  log = [];
  document.addEventListener("click", e => log.push([e.composedPath()[0].id || e.composedPath()[0].className, e.isTrusted]));
</script>"""

FOUND: dict[str, tuple[dict[str, Any], list[str]]] = {
    "css": ({"css": "button.save"}, ["button.save 'Save'", "button.save 'Save as'"]),
    "css in shadow roots, in order": ({"css": ".s"}, ["button.s 'Shadow'", "em.s 'deep down'"]),
    "css in a frame": ({"css": "p.deep"}, ["p.deep 'in the frame'"]),
    "css in document, shadow root and frame": (
        {"css": "button:not([hidden], [aria-hidden])"},
        ["button.save 'Save'", "button.save 'Save as'", "button.s 'Shadow'", "button 'Inner'"],
    ),
    "css without a match": ({"css": "video"}, []),
    "role": ({"role": "heading"}, ['heading "Hello big world"']),
    "role and name": ({"role": "button", "name": "Save"}, ['button "Save"']),
    "name in another case": ({"role": "button", "name": "save  AS"}, ['button "Save as"']),
    "name by pattern": (
        {"role": "button", "name": re.compile("^Sa")},
        ['button "Save"', 'button "Save as"'],
    ),
    "name without a role": ({"name": "Inner"}, ['button "Inner"']),
    "name of a label": ({"role": "textbox", "name": "Name"}, ['textbox "Name"']),
    "role in a shadow root": ({"role": "button", "name": "Shadow"}, ['button "Shadow"']),
    "visible under aria-hidden": ({"role": "button", "name": "Ghost"}, ['button "Ghost"']),
    "hidden elements have no role": ({"role": "button", "name": "Unseen"}, []),
    "text": ({"text": "big world"}, ["h1#title 'Hello big world'"]),
    "text across elements": ({"text": "Hello big world"}, ["h1#title 'Hello big world'"]),
    "text of the smallest element": ({"text": "big"}, ["b 'big'"]),
    "text as rendered": ({"text": "LOUD WORDS"}, ["p 'Loud words'"]),
    "text around a hidden part": ({"text": "one two"}, ["p 'onex two'"]),
    "hidden text": ({"text": "Unseen"}, []),
    "text in closed details": ({"text": "folded away"}, []),
    "text on a button": ({"text": "send it"}, ["input"]),
    "entered text does not count": ({"text": "typed secret"}, []),
    "text in a shadow root": ({"text": "deep down"}, ["em.s 'deep down'"]),
    "text through a slot": ({"text": "before from the light"}, ["div#slotted 'from the light'"]),
    "text in a frame": ({"text": "in the frame"}, ["p.deep 'in the frame'"]),
    "text of several elements": ({"text": "link"}, ["a 'link'", "a 'link'"]),
    "text by pattern": ({"text": re.compile("^H.*world$")}, ["h1#title 'Hello big world'"]),
    "text by pattern, as rendered": ({"text": re.compile("LOUD")}, ["p 'Loud words'"]),
    "text by pattern, in its case": ({"text": re.compile("loud|UNSEEN|typed")}, []),
    "text by pattern, smallest element": ({"text": re.compile("^(big|Hello big world)$")}, ["b 'big'"]),
    "text by pattern, in shadow root and frame": (
        {"text": re.compile("deep down|in the frame")},
        ["em.s 'deep down'", "p.deep 'in the frame'"],
    ),
    "css and text by pattern": (
        {"css": "button, h1", "text": re.compile("^Save$|world")},
        ["h1#title 'Hello big world'", "button.save 'Save'"],
    ),
    "exact text": ({"text": "Hello  big world", "exact": True}, ["h1#title 'Hello big world'"]),
    "exact text is the whole text": ({"text": "Hello big", "exact": True}, []),
    "exact text in its case": ({"text": "hello big world", "exact": True}, []),
    "exact text as rendered": ({"text": "LOUD WORDS", "exact": True}, ["p 'Loud words'"]),
    "exact text, smallest element": (
        {"text": "before from the light", "exact": True},
        ["div#slotted 'from the light'"],
    ),
    "css and exact text": ({"css": "button", "text": "Save", "exact": True}, ["button.save 'Save'"]),
    "exact name in another case": ({"role": "button", "name": "save  AS", "exact": True}, []),
    "exact name": ({"role": "button", "name": "Save  as", "exact": True}, ['button "Save as"']),
    "role and text inside of a child": ({"role": "heading", "text": "big"}, ['heading "Hello big world"']),
    "role and text": ({"role": "button", "text": "as"}, ['button "Save as"']),
    "role and exact text": ({"role": "button", "text": "Save", "exact": True}, ['button "Save"']),
    "role and text by pattern": ({"role": "link", "text": re.compile("^li")}, ['link "link"', 'link "link"']),
    "name and text": ({"name": re.compile("^S"), "text": "shadow"}, ['button "Shadow"']),
    "a role with several Chrome roles, in order": (
        {"role": "button", "name": re.compile("More|^Save$|Send")},
        ['button "Save"', 'button "More"', 'button "Send it"'],
    ),
    "Chrome's name of a role": ({"role": "DisclosureTriangle", "name": "More"}, ['button "More"']),
    "css and text": ({"css": "button", "text": "as"}, ["button.save 'Save as'"]),
    "css and role": ({"css": ".save", "role": "button", "name": "Save"}, ['button "Save"']),
    "css and role of different nodes": ({"css": "h1", "role": "button"}, []),
}


@pytest.fixture
async def shown(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    await used_page.goto(httpserver.url_for("/"))
    return used_page


async def test_finds_the_expected_nodes(shown: cdpengine.Page) -> None:
    for name, (wanted, expected) in FOUND.items():
        found = await shown.find_all(**wanted)
        assert [node.description for node in found] == expected, name
        if len(found) == 1:
            assert await shown.find(**wanted) == found[0], name


async def test_one_of_several(shown: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.AmbiguousNodeError, match="2 nodes match") as caught:
        await shown.find("button.save")
    refs = (await shown.snapshot()).refs.values()
    texts = ["Save", "Save as"]
    ids = [next(ref.id for ref in refs if ref.role == "button" and ref.name == name) for name in texts]
    wanted = [f"{ref} button.save {text!r}" for ref, text in zip(ids, texts, strict=True)]
    assert caught.value.candidates == tuple(wanted)
    assert (await shown.find("button.save", nth=1)).description == "button.save 'Save as'"
    with pytest.raises(cdpengine.errors.NodeNotFoundError, match="only 2 match"):
        await shown.find("button.save", nth=2)
    with pytest.raises(cdpengine.errors.NodeNotFoundError, match="no node matches, in 2 frames"):
        await shown.find("video")
    frame = shown.frames[1]
    assert [node.frame_id for node in await shown.find_all("button", frame=frame)] == [frame.id]
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="selector"):
        await shown.find("a[[")
    assert (await shown.find("button.save", nth=-1)).description == "button.save 'Save as'"
    for wrong in (1.5, True, "0"):
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="nth"):
            await shown.find("a", nth=wrong)  # type: ignore[arg-type]


async def test_a_search_by_role_and_name_without_a_match_names_similar_nodes(shown: cdpengine.Page) -> None:
    await shown.set_content(
        "<button>Cancel</button><button>Save changes</button><dialog open><button>Shut</button></dialog>"
        "<iframe srcdoc='<button>Save all of them</button>'></iframe>"
    )
    buttons = 'near it: button "Save changes", button "Save all of them", button "Cancel", button "Shut"'

    async def fail(call: Awaitable[object]) -> str:
        with pytest.raises(cdpengine.errors.NodeNotFoundError) as caught:
            await call
        return str(caught.value)

    assert (await fail(shown.find(role="button", name="Save"))).endswith(
        f"no node matches, in 2 frames; {buttons}"
    )
    assert (await fail(shown.locate(role="button", name="Save").click(timeout=4))).endswith(buttons)
    pattern = await fail(shown.find(role="button", name=re.compile("^Sav$")))
    assert 'near it: button "Cancel", button "Save changes"' in pattern
    inside = await fail(shown.locate("dialog").locate(role="button", name="Close").click(timeout=4))
    assert inside.endswith('near it: button "Shut"')
    for lacking in (
        shown.locate("form").locate(role="button", name="Shut"),
        shown.locate("dialog").locate("form").nth(1).locate("button"),
        shown.locate("form").filter(has_text="x").locate("button"),
    ):
        assert re.search("; nothing matches .*'form'", await fail(lacking.click(timeout=4)))
    everywhere = (
        shown.frames[1].locate(role="button", name="Save"),
        shown.frame_locator("iframe").locate(role="button", name="Save"),
    )
    for locator in everywhere:
        assert (await fail(locator.click(timeout=4))).endswith('near it: button "Save all of them"')
    for frame in (shown.frames[1], "about:srcdoc"):
        in_frame = await fail(shown.find(role="button", name="Save", frame=frame))
        assert in_frame.endswith('in the frame; near it: button "Save all of them"')
    lacking = shown.locate("form").locate("p").locate("button")
    assert (await fail(lacking.click(timeout=4))).endswith("; nothing matches css 'form'")
    for call in (
        shown.find(role="slider", name="Save"),
        shown.find(role="slider"),
        shown.find("button.none"),
    ):
        assert "near it" not in await fail(call)
    await shown.set_content("".join(f"<button>{number} {'long name ' * 20}</button>" for number in range(50)))
    assert len(await fail(shown.find(role="button", name="x" * 300))) <= 400


async def test_ambiguous_matches_are_named_with_refs_and_frames(shown: cdpengine.Page) -> None:
    await shown.set_content(
        "<button>Go</button><div>go</div><iframe name=pay srcdoc='<button>Go</button>'></iframe>"
    )
    with pytest.raises(cdpengine.errors.AmbiguousNodeError) as caught:
        await shown.find(text="go", timeout=5)
    first, second, third = caught.value.candidates
    assert second.endswith(" div 'go'")  # snapshots give it no ref, but the error does
    assert third.endswith("button 'Go' in the frame \"pay\" about:srcdoc")
    assert all(each in str(caught.value) for each in (first, second, third))
    await shown.evaluate(
        "() => { onclick = () => { window.at = 'page' }; frames[0].onclick = () => { window.at = 'frame' } }"
    )
    for candidate, place in ((first, "page"), (second, "page"), (third, "frame")):
        await shown.click(candidate.partition(" ")[0])
        assert await shown.evaluate("at") == place


async def test_a_frame_can_be_named_by_its_element_name_or_url(shown: cdpengine.Page) -> None:
    await shown.set_content(
        "<title>t</title><button>Out</button><iframe id=one name=pay srcdoc='<button>In</button>'></iframe>"
    )
    element = next(ref for ref in (await shown.snapshot(refs="all")).refs.values() if ref.role == "iframe")
    frame = shown.frames[1]
    found = await shown.find("#one")
    for given in (frame, element, element.id, found, shown.locate("#one"), "pay", "about:src*", frame.id):
        assert [each.frame_id for each in await shown.find_all("button", frame=given)] == [frame.id]
        assert (await shown.find(role="button", frame=given)).frame_id == frame.id
        assert await shown.evaluate("document.querySelector('button').textContent", frame=given) == "In"
        assert "In" in (await shown.snapshot(frame=given)).text
    await shown.click(shown.locate("button", frame=element))
    button = (await shown.snapshot()).find(name="Out")
    for wrong, message in (
        (button, "owns no frame; the page's frames are"),
        ("none", "the page's frames are"),
    ):
        for call in (shown.find_all("button", frame=wrong), shown.evaluate("1", frame=wrong)):
            with pytest.raises(cdpengine.errors.NodeNotFoundError, match=message):
                await call
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="frame: got an int"):
        await shown.find("button", frame=1)  # type: ignore[arg-type]


async def test_a_search_waits_for_its_frame(shown: cdpengine.Page) -> None:
    await shown.set_content("<body></body>")
    async with trio.open_nursery() as nursery:
        found: list[cdpengine.FoundNode] = []

        async def search() -> None:
            found.append(await shown.find("button", frame="late", timeout=20))

        nursery.start_soon(search)
        await trio.testing.wait_all_tasks_blocked(0.01)
        await shown.evaluate(
            "() => { document.body.innerHTML = '<iframe name=late srcdoc=\"<button>In</button>\"></iframe>' }"
        )
    assert found[0].frame_id == shown.frames[1].id
    with pytest.raises(cdpengine.errors.NodeNotFoundError, match="the page's frames are"):
        await shown.find("button", frame="never", timeout=0.3)


async def test_found_node_can_be_acted_on(shown: cdpengine.Page) -> None:
    await shown.click(await shown.find(role="button", name="Shadow"))
    await shown.click(await shown.find(text="hello big world"))
    name = await shown.find(role="textbox", name="Name")
    await shown.type(name, "Ada")
    assert await shown.evaluate("log") == [["s", True], ["title", True]]
    assert await shown.evaluate("(element) => element.value", target=name) == "Ada"
    assert await shown.evaluate("(a, b) => a === b", name, name) is True
    inner = await shown.find(role="button", name="Inner")
    assert (await shown.click(inner)).target == 'button "Inner"'


async def test_found_node_is_stale_once_removed_or_replaced(shown: cdpengine.Page) -> None:
    main, inner = await shown.find("h1"), await shown.find(".deep")
    await shown.evaluate("document.querySelector('h1').remove()")
    with pytest.raises(cdpengine.errors.StaleRefError):
        await shown.click(main, timeout=20)
    await shown.evaluate(
        "new Promise(r => { const f = frames[0].frameElement; f.onload = r; f.srcdoc = '<p class=deep>' })"
    )
    with pytest.raises(cdpengine.errors.StaleRefError, match="replaced"):
        await shown.click(inner, timeout=20)
    main = await shown.find("#name")
    await shown.reload()
    with pytest.raises(cdpengine.errors.StaleRefError, match="replaced"):
        await shown.click(main, timeout=20)


LATER: dict[str, tuple[str, dict[str, Any]]] = {
    "added": ("document.body.append(Object.assign(document.createElement('u'), {id: 'u'}))", {"css": "#u"}),
    "named": ("document.querySelector('h1').setAttribute('aria-label', 'Late')", {"name": "Late"}),
    "given a text": ("document.querySelector('a').firstChild.data = 'late'", {"text": "late"}),
    "made visible": (
        "document.querySelector('[hidden]').hidden = false",
        {"role": "button", "name": "Unseen"},
    ),
    "in a shadow root": ("host.shadowRoot.append(document.createElement('u'))", {"css": "u"}),
    "in a new shadow root": (
        "document.body.appendChild(document.createElement('div')).attachShadow({mode: 'open'}).innerHTML = '<u>'",
        {"css": "u"},
    ),
    "in a frame": ("frames[0].document.body.innerHTML = '<u>'", {"css": "u"}),
    "in a new frame": (
        "document.body.append(Object.assign(document.createElement('iframe'), {srcdoc: '<u>'}))",
        {"css": "u"},
    ),
    "in another document": ("location = '/other'", {"css": "u"}),
    "shown by a style sheet": (
        "document.body.append(document.createElement('s')), document.querySelector('s').append('late'), document.styleSheets[0].deleteRule(0)",
        {"text": "late"},
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", LATER)
async def test_waiting_for_a_node(shown: cdpengine.Page, way: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/other").respond_with_data("<!doctype html><u>x</u>", content_type="text/html")
    script, wanted = LATER[way]
    if way == "shown by a style sheet":
        await shown.evaluate(
            "document.head.append(Object.assign(document.createElement('style'), {textContent: 's {display: none}'}))"
        )
    async with trio.open_nursery() as nursery:
        found: list[cdpengine.FoundNode] = []

        async def find() -> None:
            found.append(await shown.find(**wanted, timeout=20))

        nursery.start_soon(find)
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert not found
        await shown.evaluate(f"void ({script})")
    assert found


async def test_missing_node_raises_at_the_deadline(shown: cdpengine.Page) -> None:
    assert await shown.find("h1")  # the first look takes longer than the others
    await refused(
        cdpengine.errors.NodeNotFoundError,
        lambda timeout: shown.find("video", timeout=timeout),
        match=r"within \S+ s",
    )
    assert await shown.find_all("video", timeout=0.5) == []


async def test_missing_node_raises_when_outer_deadline_passes_first(
    shown: cdpengine.Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine, where the deadline passes before the error is ready."""
    monkeypatch.setattr("cdpengine._api.page.finding._MARGIN", 0.0)
    await refused(
        cdpengine.errors.NodeNotFoundError,
        lambda timeout: shown.find("video", timeout=timeout),
        match=r"within \S+ s",
    )


async def test_find_on_unresponsive_page(shown: cdpengine.Page) -> None:
    await shown.evaluate("void setTimeout(() => { for (;;); }, 0)")
    with trio.fail_after(20):
        while await shown.measure.unresponsive_for() == 0:  # until the script runs
            pass
    with trio.fail_after(20), pytest.raises(cdpengine.errors.PageUnresponsiveError):
        await shown.find("h1", timeout=0.6)
    await shown.recover()
    assert await shown.find("h1")


async def test_found_elements_are_released(used_page: cdpengine.Page, httpserver: HTTPServer) -> None:
    """The engine does not keep found elements alive in the page."""
    httpserver.expect_request("/rows").respond_with_data("<p>one</p><p>two</p>", content_type="text/html")
    await used_page.goto(httpserver.url_for("/rows"))
    assert len(await used_page.find_all("p")) == 2
    await used_page.evaluate("void (kept = new WeakRef(document.querySelector('p')), kept.deref().remove())")
    with trio.fail_after(20):
        while await used_page.evaluate("kept.deref() !== undefined"):
            await used_page.session.call("HeapProfiler.collectGarbage")


@pytest.fixture
async def apart(httpserver: HTTPServer) -> AsyncIterator[cdpengine.Page]:
    """A page with a frame of another site, in its own process."""
    port = urlsplit(httpserver.url_for("/")).port
    inner = "<button onclick='parent.postMessage(event.isTrusted, \"*\")'>Apart</button><p>text apart</p>"
    outer = f"<button>Here</button><iframe src='http://localhost:{port}/inner'></iframe>"
    script = "<script>got = []; onmessage = e => got.push(e.data)</script>"
    httpserver.expect_request("/outer").respond_with_data(outer + script, content_type="text/html")
    httpserver.expect_request("/inner").respond_with_data(inner, content_type="text/html")
    async with cdpengine.launch(args=["--site-per-process"]) as browser:
        page = await browser.new_page(httpserver.url_for("/outer"))
        with trio.fail_after(10):
            await page.wait_for(text="apart")
        yield page


async def test_roles_in_frames_that_were_never_drawn(
    used_page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    port = urlsplit(httpserver.url_for("/")).port
    inner = "<button onclick='parent.postMessage(event.isTrusted, \"*\")'>Apart</button><h2>Other</h2>"
    outer = (
        f"<iframe style=display:none src='http://localhost:{port}/unseen'></iframe><div style=height:3000px></div>"
        f"<iframe src='http://localhost:{port}/inner'></iframe>"
        "<script>got = []; onmessage = e => got.push(e.data)</script>"
    )
    httpserver.expect_request("/outer").respond_with_data(outer, content_type="text/html")
    httpserver.expect_request("/inner").respond_with_data(inner, content_type="text/html")
    httpserver.expect_request("/unseen").respond_with_data(
        "<button>Unseen</button>", content_type="text/html"
    )
    page = used_page
    await page.goto(httpserver.url_for("/outer"))
    assert [str(node) for node in await page.find_all(role="button")] == ['button "Apart"']
    assert str(await page.find(name="Other")) == 'heading "Other"'
    await page.click(page.locate(role="button", name="Apart"))
    await page.wait_for(expression="got.length")
    assert await page.evaluate("got") == [True]


async def test_undrawn_frames_are_awaited_in_parallel(
    used_page: cdpengine.Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_role, "_LONGEST_QUERY", 2.0)  # in sequence, they would exceed the timeout
    port = urlsplit(httpserver.url_for("/")).port
    frames = [f"<iframe style=display:none src='http://localhost:{port}/unseen'></iframe>"] * 8
    outer = f"<button>First</button><div style=height:3000px></div>{''.join(frames)}"
    outer += f"<iframe src='http://localhost:{port}/inner'></iframe><button>Last</button>"
    httpserver.expect_request("/outer").respond_with_data(outer, content_type="text/html")
    httpserver.expect_request("/inner").respond_with_data("<button>In</button>", content_type="text/html")
    httpserver.expect_request("/unseen").respond_with_data("<button>x</button>", content_type="text/html")
    page = used_page
    await page.goto(httpserver.url_for("/outer"))
    found = await page.find_all(role="button", timeout=12)
    assert [str(node) for node in found] == ['button "First"', 'button "Last"', 'button "In"']


async def test_frames_of_other_processes(apart: cdpengine.Page) -> None:
    page = apart
    assert page.frames[1].session_id != page.frames[0].session_id
    found = await page.find_all("button")
    assert [node.description for node in found] == ["button 'Here'", "button 'Apart'"]
    assert await page.find(role="button", name="Apart")
    assert (await page.find(text="text apart")).session_id == page.frames[1].session_id
    await page.click(found[1])
    await page.wait_for(expression="got.length")
    assert await page.evaluate("got") == [True]
    await page.settled(timeout=20)
    await page.evaluate("document.querySelector('iframe').remove()")
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(found[1], timeout=20)
    await page.wait_for(text_gone="apart", css_gone="iframe", timeout=20)


HIDDEN = """<div aria-hidden=true><h1>Title</h1><button onclick="pressed = true">Pay <i>now</i></button>
  <label>Mail <input></label><a href=x><svg aria-hidden=true></svg>Help</a><button style="display: none">Gone</button></div>
  <button><span aria-hidden=true>x</span>Shown</button><i aria-hidden=true><svg></svg></i>"""


async def test_roles_under_a_forgotten_aria_hidden_are_found(page: cdpengine.Page) -> None:
    wanted = [
        ("heading", "Title"),
        ("button", "Pay now"),
        ("textbox", "Mail"),
        ("link", "Help"),
        (None, "Mail"),
    ]

    async def look() -> list[int]:
        return [len(await page.find_all(role=role, name=name)) for role, name in wanted]

    await page.set_content(f"<!doctype html>{HIDDEN}")
    assert await look() == [1] * 5
    assert [str(node) for node in await page.find_all(role="button")] == ['button "Shown"']
    assert await page.find_all(role="button", name="Gone") == []
    assert len(await page.find_all(role="button", text="Pay now", css="div > *")) == 1
    await page.click(page.locate(role="button", name="Pay now"))
    assert await page.evaluate("pressed")
    await page.set_content(
        f"<!doctype html><div id=host><template shadowrootmode=open>{HIDDEN}</template></div>"
    )
    assert await look() == [1] * 5
    await page.set_content(f"<!doctype html><iframe width=600 height=300 srcdoc='{HIDDEN}'></iframe>")
    assert await look() == [1] * 5
    behind = f"<div aria-hidden=true>{HIDDEN}</div><div role=dialog style='position: fixed; inset: 0; background: red'></div>"
    await page.set_content(f"<!doctype html>{behind}")
    assert await look() == [0] * 5


async def test_a_waiting_search_asks_again_for_a_few_custom_elements(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    searches: list[int] = []  # the number of queried custom elements of each search
    repeated = trio.Event()

    def hear(traffic: Traffic) -> None:
        if traffic.direction != "sent":
            return
        method = json.loads(traffic.message)["method"]
        if method == "Accessibility.queryAXTree":
            searches.append(0)
            if len(searches) > 3:
                repeated.set()
        elif method == "Accessibility.getPartialAXTree":
            searches[-1] += 1

    await page.set_content(
        "<!doctype html><script>customElements.get('x-hider') || customElements.define('x-hider', class extends"
        " HTMLElement { constructor() { super(); this.internals = this.attachInternals(); } })</script>"
        + "<x-hider>shown <a href=x>Seen</a></x-hider>"
        * 60
    )
    with browser.instruments.attached(hear):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(page.find, role="link", name="Late", timeout=20))
            while not repeated.is_set():
                await page.evaluate("document.body.append('more')")
            await page.evaluate(
                "{ const at = document.querySelectorAll('x-hider')[45];"
                " at.innerHTML = '<a href=x>Late</a>'; at.internals.ariaHidden = 'true'; }"
            )
    assert searches[0] == 60
    assert max(searches[1:]) == 20
