"""The engine's scripts are marked as its own. Scripts and values of the user are not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from pytest_httpserver import HTTPServer
from refusals import refused

import cdpengine
from cdpengine._javascript import is_own, script
from cdpengine._protocol.instruments import Traffic

pytestmark = pytest.mark.chrome

SCRIPTS = {"Runtime.evaluate": "expression", "Runtime.callFunctionOn": "functionDeclaration"}

USERS = "/* the user's */"

PAGE = """<!doctype html><title>t</title><h1>Head</h1><input id=field><input id=date type=date>
<input id=range type=range><input id=color type=color><textarea id=area></textarea>
<select id=select><option>One<option>Two</select><select id=several multiple><option>A<option>B</select>
<input id=check type=checkbox><input id=files type=file><div id=edit contenteditable>e</div>
<div id=list role=listbox><div role=option onclick="this.ariaSelected = true">First</div></div>
<img usemap=#m alt=i width=50 height=50
  src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==">
<map name=m><area id=area1 href=#x shape=rect coords=0,0,20,20 alt=a></map>
<div id=from draggable=true>drag</div><div id=to>drop</div><div id=gone>gone</div><div id=shadowed></div>
<script>shadowed.attachShadow({mode: 'closed'}).innerHTML = '<button>Inner</button>';
for (const name of ['dragover', 'drop']) to.addEventListener(name, (event) => event.preventDefault());</script>
<iframe srcdoc="<button id=inner>In a frame</button>"></iframe>"""


class Ear:
    """Collects sent scripts that are not marked as the engine's own."""

    def __init__(self) -> None:
        self.others: list[str] = []
        self.own: set[str] = set()

    def __call__(self, traffic: Traffic) -> None:
        if traffic.direction != "sent":
            return
        message = json.loads(traffic.message)
        if (name := SCRIPTS.get(message["method"])) is not None:
            source = message["params"][name]
            if is_own(source):
                self.own.add(source)
            else:
                self.others.append(source)


@pytest.fixture
async def ear(page: cdpengine.Page, browser: cdpengine.Browser, httpserver: HTTPServer) -> AsyncIterator[Ear]:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    ear = Ear()
    with browser.instruments.attached(ear):
        await page.goto(httpserver.url_for("/"))
        yield ear


async def test_all_scripts_except_user_scripts_are_marked(
    page: cdpengine.Page, browser: cdpengine.Browser, ear: Ear, tmp_path: Path
) -> None:
    """Run each operation once, to detect a new script without a mark."""
    file = tmp_path / "file.txt"
    file.write_text("x")
    for source in ("computed", "dom", "ax", "hybrid"):
        await page.snapshot(source=source)
    await page.snapshot(root="#to")
    await page.extract_text()
    await page.extract_markdown(main_only=True)

    async def node(css: str) -> cdpengine.FoundNode:
        found = await page.find(css)
        assert found is not None
        return found

    await page.type(await node("#field"), "typed", submit=True)
    await page.press("End", await node("#field"))
    await page.elements.blur(await node("#field"))
    for css, value in {
        "#field": "filled",
        "#area": "filled",
        "#edit": "filled",
        "#date": "2031-05-06",
        "#range": 70,
        "#color": "#102030",
        "#check": True,
        "#select": "Two",
        "#list": "First",
    }.items():
        await page.fill(await node(css), value)  # type: ignore[arg-type]
    await page.select(await node("#several"), "A", "B")
    await page.select((await page.find_all("#select option"))[0])
    await page.upload(await node("#files"), file)
    await page.click(await node("h1"), position=(2, 2))
    await page.click(await node("#area1"))
    await page.hover(await node("#to"))
    await page.tap(await node("#to"))
    await page.drag(await node("#from"), await node("#to"))
    await page.scroll(0, 10, await node("#to"))
    await page.scroll_into_view(await node("#gone"))
    frame = next(each for each in page.frames if each.parent_id is not None)
    await page.click((await page.find_all("button", frame=frame))[0])
    await page.evaluate(f"{USERS} void (gone.style.cssText = 'position: relative; z-index: -1')")
    gone = await node("#gone")
    await refused(cdpengine.errors.CoveredError, lambda timeout: page.click(gone, timeout=timeout))
    async with page.elements.highlight(await node("#to")):
        await page.elements.bounding_box(await node("#to"))
    await page.find(text="Head")
    await page.find(role="heading", name="Head")
    await page.wait_for(text="Head", css="h1", load_state="load")
    await page.wait_for(expression=f"{USERS} true")
    await page.settled(quiet=0.01)
    ref = (await page.snapshot()).find(role="heading")
    await page.evaluate(f"{USERS} void document.querySelector('h1').remove()")
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(ref, timeout=5)
    await page.elements.outer_html(await node("#to"))
    await page.screenshot(full_page=True)
    await page.pictures.labelled_screenshot()
    await page.measure.unresponsive_for()
    await page.recover()
    # In addition to the user's scripts: those that fetch their results.
    bringing = (USERS, "(watch) => watch.next()", script("_evaluate/value"))
    assert [each for each in ear.others if not any(part in each for part in bringing)] == []
    assert len(ear.own) > 20


async def test_arguments_and_results_are_not_marked_as_own(page: cdpengine.Page, ear: Ear) -> None:
    """Values of the user and of the page are literals after a script's last line `)(`."""

    async def answer(given: dict[str, str]) -> str:
        return given["text"] + " and c4nary-answer"

    async def fail(_given: str) -> None:
        raise ValueError("c4nary-reason")

    field = await page.find("#field")
    assert field is not None
    async with page.scripts.expose("answer", answer), page.scripts.expose("fail", fail):
        ear.others.clear()
        assert await page.evaluate("answer({text: 'c4nary' + '-asked'})") == "c4nary-asked and c4nary-answer"
        with pytest.raises(cdpengine.errors.EvaluationFailedError, match="c4nary-reason"):
            await page.evaluate("fail('')")
    await page.evaluate("(field, text) => field.value = text", "c4nary-given", target=field)
    await page.evaluate("(text) => document.title = text", "c4nary-title")
    await page.content()
    await page.title()
    await page.set_content("<p>c4nary-markup</p>")
    assert script("_evaluate/value") in ear.others
    holding = [each for each in ear.others if "c4nary" in each.replace("'c4nary' + '-asked'", "")]
    assert len(holding) == 5, holding
    for each in holding:
        source, _, literals = each.rpartition("\n)(")
        assert "c4nary" not in source
        assert "c4nary" in literals


@pytest.mark.parametrize("world", ["main", "isolated"])
async def test_this_is_the_first_element(
    page: cdpengine.Page, ear: Ear, world: Literal["main", "isolated"]
) -> None:
    field = await page.find("#field")
    source = "function (node, text) { return this === node && text }"
    assert await page.evaluate(source, "x", target=field, world=world) == "x"
