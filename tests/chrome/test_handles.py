"""Handles to values of the page, against what the page itself says."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, StaleRefError

PAGE = """<!doctype html><title>Handles</title><button id=go onclick="this.dataset.done = 1">Go</button>
<input id=name><ul><li>a<li>b<li>c</ul><div id=drop></div>"""


@pytest.fixture
async def site(page: cdpengine.Page, serve: Callable[..., str]) -> cdpengine.Page:
    await page.goto(serve(PAGE))
    return page


@pytest.mark.parametrize(
    ("source", "value", "kind"),
    [
        ("1", 1, "number"), ("-0", -0.0, "number"), ("NaN", math.nan, "number"), ("Infinity", math.inf, "number"),
        ("1e20", 1e20, "number"), ("9007199254740991", 9007199254740991, "number"), ("1n", 1, "bigint"),
        ("2n ** 70n", 2**70, "bigint"), ("'a\\u2028\"`b'", "a\u2028\"`b", "string"), ("true", True, "boolean"),
        ("null", None, "object"), ("undefined", None, "undefined"), ("[1, {a: 2}]", [1, {"a": 2}], "object"),
        ("new Date(0)", None, "object"), ("() => 1", None, "function"), ("Symbol('s')", None, "symbol"),
    ],
)  # fmt: skip
async def test_every_value_can_be_held(site: cdpengine.Page, source: str, value: object, kind: str) -> None:
    async with site.evaluate_handle(f"() => ({source})") as handle:
        assert await site.evaluate("(held) => typeof held", handle) == kind
        assert await site.evaluate("({in: [held]}) => typeof held", {"in": [handle]}) == kind
        read = await handle.json_value()
        assert repr(read) == repr(await site.evaluate(f"() => ({source})"))
        if value is not None:
            assert repr(read) == repr(value)
        assert handle.description


async def test_errors_of_handles_name_the_cause_and_the_remedy(site: cdpengine.Page) -> None:
    async with site.evaluate_handle("document.body") as body, site.evaluate_handle("[1]") as numbers:
        assert repr(await numbers.properties()) == "{'0': JSHandle(description='1')}"
        await site.goto("about:blank")
        with pytest.raises(StaleRefError, match="left its document.*Make a new handle"):
            await body.get_property("tagName")


async def test_handles_inside_of_arguments_are_the_same_objects(site: cdpengine.Page) -> None:
    async with site.evaluate_handle("window.kept = {n: 1}") as kept, site.evaluate_handle("[1, 2]") as array:
        same = (
            "({a, list}) => a === kept && list[0] === kept && list[1].deep === kept && list[2].length === 2"
        )
        assert await site.evaluate(same, {"a": kept, "list": [kept, {"deep": kept}, array]})
        assert await site.evaluate("(...all) => all[2] === all[0] && all[1]", kept, "text", kept) == "text"


async def test_elements_inside_of_arguments(site: cdpengine.Page) -> None:
    items = await site.find_all("li")
    assert await site.evaluate("(items) => items.map(item => item.textContent.trim())", items) == [
        "a",
        "b",
        "c",
    ]
    go = site.locate("#go")
    ids = "({one, more}) => [one.id, more[0].id, more[1].id]"
    ref = (await site.snapshot()).find(role="textbox")
    assert await site.evaluate(ids, {"one": go, "more": [ref, await site.find("#drop")]}) == [
        "go",
        "name",
        "drop",
    ]
    with pytest.raises(InvalidArgumentError, match="list or dict, a handle or an element"):
        await site.evaluate("(value) => value", [object()])


async def test_properties_and_items(site: cdpengine.Page) -> None:
    made = "({a: 1, nested: {b: 2}, get computed() { window.ran = true; return 3 }, [Symbol('s')]: 4})"
    async with site.evaluate_handle(f"() => {made}") as handle:
        found = await handle.properties()
        assert sorted(found) == ["a", "nested"]
        assert await found["a"].json_value() == 1
        assert await site.evaluate("(nested) => nested.b", found["nested"]) == 2
        assert not await site.evaluate("window.ran === true")
        assert await (await handle.get_property("computed")).json_value() == 3
        missing = await handle.get_property("missing")
        assert await site.evaluate("(value) => value === undefined", missing)
    async with site.evaluate_handle("'text'") as text:
        assert await text.properties() == {}
        assert await (await text.get_property("length")).json_value() == 4
    async with site.evaluate_handle("document.querySelectorAll('li')") as list_handle:
        items = await list_handle.items()
        assert [await site.elements.inner_text(item) for item in items] == ["a", "b", "c"]


async def test_a_handle_to_an_element_is_a_target(site: cdpengine.Page) -> None:
    async with (
        site.evaluate_handle("document.querySelector('#go')") as go,
        site.evaluate_handle("document.querySelector('#name')") as name,
    ):
        assert (await site.click(go)).delivered
        assert await site.evaluate("go.dataset.done") == "1"
        await site.fill(name, "Ada")
        await site.fill_form({name: "Ada L"})
        assert await site.elements.input_value(name) == "Ada L"
        await site.wait_for(ref=name, state="visible", timeout=5)
        assert "Go" in (await site.snapshot(root=go)).text
        assert len(await site.screenshot(target=go)) > 0
        assert await site.evaluate("(element) => element.id", target=go) == "go"
    with pytest.raises(InvalidArgumentError, match="a handle to an element"):
        async with site.evaluate_handle("[1]") as array:
            await site.click(array)
    with pytest.raises(InvalidArgumentError, match="a handle to an element"):
        async with site.evaluate_handle("'e1'") as text:
            await site.click(text)


async def test_a_released_handle_is_refused_by_name(site: cdpengine.Page) -> None:
    async with site.evaluate_handle("document.querySelector('#go')") as go:
        inner = await go.get_property("dataset")
        early = await go.get_property("attributes")
        early.release()
        with pytest.raises(StaleRefError, match="it was released"):
            await early.json_value()
        assert await inner.properties() == {}
    for handle in (go, inner):
        with pytest.raises(StaleRefError, match="it was released"):
            await site.evaluate("(value) => value", [handle])
        with pytest.raises(StaleRefError, match="it was released"):
            await handle.properties()
    with pytest.raises(StaleRefError, match="it was released"):
        await site.click(go)


async def test_a_navigation_ends_handles_of_its_document(site: cdpengine.Page) -> None:
    async with (
        site.evaluate_handle("document.querySelector('#go')") as go,
        site.evaluate_handle("7") as seven,
    ):
        await site.click(go)
        await site.goto(f"{site.url}?next")
        for use in (lambda: site.click(go), go.json_value, go.properties):
            with pytest.raises(StaleRefError):
                await use()
        assert await site.evaluate("(value) => value + 1", seven) == 8


async def test_a_handle_to_a_redrawn_element_never_hits_another_one(site: cdpengine.Page) -> None:
    async with site.evaluate_handle("document.querySelector('#go')") as go:
        await site.evaluate("document.querySelector('#go').outerHTML = '<button id=go>Go</button>'")
        with pytest.raises(StaleRefError):
            await site.click(go, timeout=5)
        assert await site.evaluate("(old) => old.isConnected", go) is False
    async with site.evaluate_handle("document.createElement('p')") as loose:
        with pytest.raises(StaleRefError):
            await site.click(loose, timeout=5)


async def test_dispatched_events_carry_objects_of_the_page(site: cdpengine.Page) -> None:
    await site.evaluate("""() => drop.addEventListener('drop', (event) => {
        drop.textContent = event.dataTransfer.getData('text/plain') + event.relatedTarget.id;
    })""")
    make = "() => { const data = new DataTransfer(); data.setData('text/plain', 'dropped '); return data; }"
    async with site.evaluate_handle(make) as data:
        properties = {"dataTransfer": data, "relatedTarget": site.locate("#go")}
        await site.locate("#drop").dispatch_event("drop", properties)
    assert await site.locate("#drop").inner_text() == "dropped go"


async def test_handles_of_frames(
    page: cdpengine.Page, serve: Callable[..., str], httpserver: HTTPServer
) -> None:
    url = serve("<iframe id=near src=/frame></iframe><iframe id=far></iframe>")
    httpserver.expect_request("/frame").respond_with_data("<button id=b>B</button>", content_type="text/html")
    await page.goto(url)
    far = (
        url.replace("localhost", "127.0.0.1") if "localhost" in url else url.replace("127.0.0.1", "localhost")
    )
    load = "(url) => new Promise(done => { far.onload = done; far.src = url })"
    await page.evaluate(load, far.replace("/login", "/frame"))
    near, other = page.frames[1:]
    assert await page.content_frame(page.locate("#near")) is near
    async with page.evaluate_handle("far") as owner:
        assert await page.content_frame(owner) is other
        with pytest.raises(NodeNotFoundError, match="owns no frame"):
            await page.content_frame(page.locate("body", frame=near))
        found = await page.find("#b", frame=owner)
        assert found.frame_id == other.id
    for frame in (near, other):
        async with page.evaluate_handle("document.querySelector('#b')", frame=frame) as b:
            assert (await page.click(b)).delivered
            assert await page.elements.inner_text(b) == "B"
            assert await page.evaluate("(b) => [b.id, location.pathname]", b, frame=frame) == ["b", "/frame"]
    async with page.evaluate_handle("near.contentDocument.querySelector('#b')") as b:
        assert (await page.click(b)).delivered
    async with (
        page.evaluate_handle("document.body", frame=other) as body,
        page.evaluate_handle("[]") as array,
    ):
        with pytest.raises(InvalidArgumentError, match="elements of one document"):
            await page.evaluate("(...both) => both", body, array)


async def test_console_arguments_as_handles(site: cdpengine.Page) -> None:
    await site.activity.start()
    await site.evaluate("console.log('go', go, {deep: [1, {x: 2n}]}, undefined)")
    message = next(each for each in site.activity.console if each.source == "console")
    text, element, value, nothing = site.console_handles(message)
    assert await text.json_value() == "go"
    assert (await site.click(element)).delivered
    assert await site.evaluate("go.dataset.done") == "1"
    assert await value.json_value() == {"deep": [1, {"x": 2}]}
    assert await site.evaluate("(value) => typeof value", nothing) == "undefined"
    assert await site.evaluate("({all}) => all[1] === go", {"all": [text, element]})
    assert await (await value.properties())["deep"].json_value() == [1, {"x": 2}]
    assert (await message.values())[2] == {"deep": [1, {"x": 2}]}
    await site.goto(f"{site.url}?next")
    with pytest.raises(StaleRefError, match="left its document"):
        site.console_handles(message)
    with pytest.raises(StaleRefError):
        await value.json_value()


async def test_handle_of_another_page_is_refused(site: cdpengine.Page, browser: cdpengine.Browser) -> None:
    other = await browser.new_page("data:text/html,<p>other</p>")
    async with site.evaluate_handle("document.body") as body:
        with pytest.raises(InvalidArgumentError, match="a handle of another page"):
            await other.evaluate("(body) => body.tagName", body)
        with pytest.raises(StaleRefError):
            await other.click(body)
    await other.close()
