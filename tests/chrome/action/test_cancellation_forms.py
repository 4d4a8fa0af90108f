"""Keyboard and form actions cancelled at each of their steps: no key stays down and no setting stays on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from form_page import FormPage
from rounds import one_in

import cdpengine
from cdpengine._input.forms.form import FieldValue
from cdpengine._input.forms.listbox import Option
from cdpengine.testing import walk_cancellations

pytestmark = pytest.mark.chrome


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    """A new page for each test, which must find leftovers of a cancelled chooser or composition."""
    return new_tab


BODY = """<input id=text value=old><input id=day type=date><div id=rich contenteditable>old</div>
<input id=box type=checkbox><input id=hidden type=checkbox hidden><label for=hidden>hidden</label>
<select id=one><option>a<option>b<option>c</select><select id=several multiple><option>a<option>b</select>
<ul id=list role=listbox><li role=option id=first>a</li><li role=option>b</li></ul>
<input id=slide type=range><input id=file type=file style='width:100px'><input id=probe>
<script>
  held = new Set();
  composing = false;
  addEventListener("keydown", (event) => held.add(event.code), true);
  addEventListener("keyup", (event) => held.delete(event.code), true);
  addEventListener("mousedown", (event) => held.add("mouse" + event.button), true);
  addEventListener("mouseup", (event) => held.delete("mouse" + event.button), true);
  addEventListener("compositionstart", () => composing = true);
  addEventListener("compositionend", () => composing = false);
  for (const each of list.children) {
    each.onclick = () => { for (const one of list.children) one.setAttribute("aria-selected", one === each); };
  }
</script>"""

RESET = """() => {
  text.value = "old"; day.value = ""; slide.value = 50; rich.textContent = "old"; box.checked = hidden.checked = false;
  one.selectedIndex = 0; several.selectedIndex = -1; file.value = ""; probe.value = "";
  for (const each of list.children) each.removeAttribute("aria-selected");
  getSelection().empty();
}"""


class Scene:
    """A page, its nodes and a file."""

    def __init__(self, form: FormPage, nodes: dict[str, cdpengine.BackendNode], path: Path) -> None:
        self.page = form.page
        self.form = form
        self.nodes = nodes
        self.path = path
        self.tasks = trio.lowlevel.current_statistics().tasks_living

    async def check(self) -> None:
        page = self.page
        assert page.keyboard.modifiers == 0
        assert page.mouse.buttons == 0
        with trio.fail_after(20):
            while await page.evaluate("[...held]") != []:
                pass
        assert await page.evaluate("[composing, document.querySelector('select:open') === null]") == [
            False,
            True,
        ]
        await page.evaluate(RESET)
        await page.type(self.nodes["probe"], "ab", timeout=20)
        assert await page.evaluate("probe.value") == "ab"
        # Chrome must cancel an unexpected chooser again.
        before = len(await self.form.events("cancel"))
        await page.click(self.nodes["file"], timeout=20)
        with trio.fail_after(20):
            while len(await self.form.events("cancel")) == before:
                pass
        with trio.fail_after(20):
            while self.left():
                await page.browser.session.call("Browser.getVersion")

    def left(self) -> list[str]:
        statistics = [connection.statistics() for connection in self.page.browser.connections]
        found = [f"{each.in_flight} calls" for each in statistics if each.in_flight or each.queued]
        if trio.lowlevel.current_statistics().tasks_living != self.tasks:
            found.append("tasks")
        return found


async def choose(scene: Scene) -> None:
    async with scene.page.expect_file_chooser() as chooser:
        await scene.page.click(scene.nodes["file"])
        await chooser.set_files(scene.path)


async def fill_form(scene: Scene) -> None:
    values: dict[str, FieldValue] = {"text": "x", "box": True}
    await scene.page.fill_form({scene.nodes[name]: value for name, value in values.items()})


OPERATIONS: dict[str, Callable[[Scene], Awaitable[object]]] = {
    "type": lambda scene: scene.page.type(scene.nodes["text"], "A\u00e9\u4f60!", submit=True),
    "type slowly": lambda scene: scene.page.type(scene.nodes["text"], "AB", delay=0.001),
    "press": lambda scene: scene.page.press("Control+Shift+ArrowLeft", scene.nodes["text"]),
    "compose": lambda scene: scene.page.keyboard.compose("\u4f60", "n", delay=0.001),
    "focus and blur": lambda scene: scene.page.elements.blur(scene.nodes["text"]),
    "fill": lambda scene: scene.page.fill(scene.nodes["text"], "new"),
    "fill with nothing": lambda scene: scene.page.fill(scene.nodes["text"], ""),
    "fill a date": lambda scene: scene.page.fill(scene.nodes["day"], "2026-01-01"),
    "fill a range": lambda scene: scene.page.fill(scene.nodes["slide"], 53),
    "fill what is editable": lambda scene: scene.page.fill(scene.nodes["rich"], "new"),
    "check": lambda scene: scene.page.check(scene.nodes["box"]),
    "check by its label": lambda scene: scene.page.check(scene.nodes["hidden"]),
    "select": lambda scene: scene.page.select(scene.nodes["one"], Option(index=2)),
    "select several": lambda scene: scene.page.select(scene.nodes["several"], "a", "b"),
    "select from a listbox": lambda scene: scene.page.select(scene.nodes["list"], "b"),
    "upload": lambda scene: scene.page.upload(scene.nodes["file"], scene.path),
    "expect_file_chooser": choose,
    "fill_form": fill_form,
    "fill_form with a locator": lambda scene: scene.page.fill_form({scene.page.locate("#text"): "x"}),
}


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(page: cdpengine.Page, name: str, tmp_path: Path) -> None:
    form = FormPage(page)
    await form.show(BODY)
    path = tmp_path / "a.txt"
    path.write_text("x")
    ids = ("text", "day", "slide", "rich", "box", "hidden", "one", "several", "list", "file", "probe")
    scene = Scene(form, {name: await form.node(f"#{name}") for name in ids}, path)
    await page.focus(scene.nodes["text"])

    with trio.fail_after(60):
        assert (
            await walk_cancellations(
                lambda: OPERATIONS[name](scene), scene.check, own_steps_only=True, every=one_in(8)
            )
            >= 2
        )
