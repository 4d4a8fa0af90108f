"""Code editors that keep their content out of the document. Fill replaces all of it and checks the result."""

from __future__ import annotations

import pytest

import cdpengine
from cdpengine.errors import FocusMovedError, ValueRefusedError

pytestmark = pytest.mark.chrome

# A model with a selection. The page draws 20 of its lines; keys and clipboard events change it.
EDITOR = """<style>.root { width: 400px; height: 200px; overflow: hidden; position: relative } .lines { white-space: pre }</style>
<div class="root EDITOR"><div class=holder style="OVERFLOW">INPUT</div><div class=lines></div></div><input id=other>
<script>{
  const input = document.querySelector(".input"), lines = document.querySelector(".lines");
  let text = Array.from({ length: 2000 }, (_, n) => "old line " + n).join("\\n"), all = false, frozen = false;
  const draw = () => { lines.textContent = text.split("\\n").slice(0, 20).join("\\n") };
  const put = added => { if (!frozen) { text = all ? added : text + added; all = false; draw() } };
  input.addEventListener("keydown", event => {
    if (event.ctrlKey && event.key === "a") { event.preventDefault(); all = true }
    if (event.key === "Delete" && all) put("");
    if (event.key === "ArrowRight") all = false;
  });
  input.addEventListener("keypress", event => { event.preventDefault(); put(event.key) });
  input.addEventListener("paste", event => {
    event.preventDefault();
    const added = event.clipboardData.getData("text/plain");
    LATER(() => put(added));
  });
  input.addEventListener("copy", event => {
    event.preventDefault();
    event.clipboardData.setData("text/plain", all ? text : "");
  });
  draw();
  window.model = () => text;
  window.freeze = () => { frozen = true };
}</script>"""

KINDS = {
    "Ace": (
        "ace_editor",
        "<textarea class='input ace_text-input' style='width:2px;height:2px'></textarea>",
        "(f => f())",
    ),
    "CodeMirror 6": (
        "cm-editor",
        "<div class='input cm-content' contenteditable role=textbox></div>",
        "(f => f())",
    ),
    "Monaco": (
        "monaco-editor",
        "<div class='input native-edit-context' tabindex=0 role=textbox style='width:0;height:19px'></div>",
        "setTimeout",
    ),
}


async def show(page: cdpengine.Page, kind: str) -> None:
    name, markup, later = KINDS[kind]
    html = EDITOR.replace("EDITOR", name).replace("INPUT", markup).replace("LATER", later)
    if kind == "Ace":
        html = html.replace('<div class=holder style="OVERFLOW">', "").replace(
            "</textarea></div>", "</textarea>"
        )
    await page.set_content(html.replace("OVERFLOW", "overflow:hidden"))
    if kind == "Monaco":
        await page.evaluate("document.querySelector('.input').editContext = new EditContext()")


@pytest.mark.parametrize("kind", KINDS)
async def test_fill_replaces_all_lines(page: cdpengine.Page, kind: str) -> None:
    await show(page, kind)
    text = "\n".join(f"  if (x{number}) {{ call({number}) }}" for number in range(2000))
    for target in (page.locate(css=".input"), page.locate(css=".root")):
        for wanted in (text, "", "one\n  two\n"):
            outcome = await page.fill(target, wanted, timeout=10)
            assert await page.evaluate("model()") == wanted
            assert outcome.set_by_script is bool(wanted)
    await page.type(page.locate(css=".input"), "XY", timeout=5)
    assert await page.evaluate("model()") == "one\n  two\nXY"


async def test_editor_that_ignores_input_raises(page: cdpengine.Page) -> None:
    await show(page, "Ace")
    await page.evaluate("freeze()")
    with pytest.raises(ValueRefusedError, match="code editor"):
        await page.fill(page.locate(css=".input"), "new", timeout=10)
    await page.evaluate(
        "document.querySelector('.input').onfocus = () => Promise.resolve().then(() => other.focus())"
    )
    await page.focus(page.locate(css="#other"))
    with pytest.raises(FocusMovedError, match="typed 0 of 3 characters"):
        await page.fill(page.locate(css=".input"), "new", timeout=10)
    assert await page.evaluate("other.value + model().slice(0, 10)") == "old line 0"
