"""Fields and images named like DOM properties hide nothing from the engine's scripts.

`<input name=parentNode>` makes `form.parentNode` the input, also in isolated worlds. `<img name=body>` makes
`document.body` the image. The engine reads and uses a form and a document with every possible name like ones
without.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

import cdpengine

pytestmark = pytest.mark.chrome

NAMES = """() => {
  const names = { form: new Set(), document: new Set() };
  const from = (which, from) => {
    for (let at = from; at !== null; at = Object.getPrototypeOf(at)) {
      for (const name of Object.getOwnPropertyNames(at)) names[which].add(name);
    }
  };
  for (const each of [HTMLFormElement, HTMLInputElement, HTMLSelectElement, ShadowRoot]) from('form', each.prototype);
  from('document', HTMLDocument.prototype);
  return { form: [...names.form], document: [...names.document] };
}"""

OWN = ["cdpengineDOM", "cdpengineWalk", "cdpengineSecretFields", "cdpengineObservers", "then", "toJSON"]
"""Names that the engine's scripts use or may use."""

GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="

PAGE = """<!doctype html><title>Checkout</title><script>
const log = [];
const add = document.addEventListener.bind(document);
const attribute = Element.prototype.getAttribute;
for (const type of ['click', 'dblclick', 'input', 'change', 'submit', 'keydown', 'focusin', 'drop']) {
  add(type, (event) => {
    log.push(type + ' ' + attribute.call(event.target, 'id'));
    if (type === 'submit') event.preventDefault();
  }, true);
}
add('dragover', (event) => event.preventDefault());
</script>{images}
<form id=f tabindex=0 title="To pay" aria-label="Payment">{fields}<p id=p>Some words <b>in bold</b></p>
<label>Name <input id=name></label><input type=checkbox id=agree aria-label=Agree>
<select id=size aria-label=Size><option>Small<option>Large</select><textarea id=notes aria-label=Notes></textarea>
<input type=date id=day aria-label=Day><input type=file id=file aria-label=File>
<div id=rich contenteditable role=textbox aria-label=Rich>e</div>
<div role=listbox id=list aria-label=List><div role=option onclick="this.setAttribute('aria-selected', true)">First</div></div>
<ul><li>One<li id=to>Two</ul><table><tr><th>Head<td>Cell</table><i id=from draggable=true>Drag</i>
<button id=send>Send it</button><a id=link href="#there">There</a></form>
<form style="display: none">{fields}<button>Hidden</button></form><p>After</p>"""


def page_with(form: list[str], document: list[str]) -> str:
    fields = "".join(f"<input type=hidden name={name}>" for name in form)
    images = "".join(f"<img name={name} alt='' width=1 height=1 src='{GIF}'>" for name in document)
    return PAGE.replace("{fields}", fields).replace("{images}", images)


async def use(page: cdpengine.Page, html: str) -> dict[str, object]:
    """Read and use everything on the page, and return the results."""
    seen: dict[str, object] = {}

    async def note(what: str, ask: Callable[[], Awaitable[object]]) -> None:
        try:
            seen[what] = await ask()
        except cdpengine.errors.EngineError as error:
            seen[what] = f"{type(error).__name__}: {error}"

    async def act(what: str, css: str, do: Callable[[cdpengine.FoundNode], Awaitable[object]]) -> None:
        async def found_and_done() -> str:
            await do(await page.find(css=css, timeout=5))
            return "done"

        await note(what, found_and_done)

    await page.set_content(html)
    await note("title", page.title)
    for source in ("computed", "dom", "ax", "hybrid"):
        seen[source] = str(await page.snapshot(source=source))
    await note("text", page.extract_text)
    await note("markdown", page.extract_markdown)
    await note("content", lambda: contains(page, "Some words"))
    await note("by text", lambda: exists(page.find(text="Send it", timeout=5)))
    await note("by role", lambda: exists(page.find(role="button", name="Send it", timeout=5)))
    await act("click", "#send", page.click)
    await act("click the form", "#f", page.click)
    await act("double click", "#p", page.double_click)
    await act("hover", "#link", page.hover)
    await act("tap", "#send", page.tap)
    await act("focus the form", "#f", page.focus)
    await act("press in the form", "#f", lambda node: page.press("x", node))
    await act("fill", "#name", lambda node: page.fill(node, "Ann"))
    await act("fill a date", "#day", lambda node: page.fill(node, "2020-01-02"))
    await act("fill an area", "#notes", lambda node: page.fill(node, "some"))
    await act("fill an editor", "#rich", lambda node: page.fill(node, "other"))
    await act("fill the form", "#f", lambda node: page.fill(node, "x", timeout=0.5))
    await act("type", "#name", lambda node: page.type(node, "a"))
    await act("check", "#agree", page.check)
    await act("uncheck", "#agree", page.uncheck)
    await act("check the form", "#f", lambda node: page.check(node, timeout=0.5))
    await act("select", "#size", lambda node: page.select(node, "Large"))
    await act("select in a list", "#list", lambda node: page.select(node, "First"))
    await act("select in the form", "#f", lambda node: page.select(node, "Large", timeout=0.5))
    await act("upload", "#file", lambda node: page.upload(node, cdpengine.FileContent("a.txt", b"a")))
    await act("drag", "#from", lambda node: drag(page, node))
    await act("scroll into view", "#link", page.scroll_into_view)
    await act("picture", "#f", lambda node: page.screenshot(target=node))
    await act("wait for the form", "#f", lambda node: page.wait_for(ref=node, state="enabled", timeout=5))
    await note("wait", lambda: page.wait_for(text="Some words", css="#send", text_gone="Nobody", timeout=5))
    await note("wait until", lambda: page.wait_for(expression="1 < 2", timeout=5))
    await note("settled", lambda: page.settled(timeout=5))
    await act("evaluate", "#f", lambda node: page.evaluate("(form) => attribute.call(form, 'id')", node))
    seen["log"] = await page.evaluate("log")
    seen["last"] = str(await page.snapshot())
    seen["fields"] = await page.evaluate(
        "['name', 'day', 'notes', 'rich', 'size'].map((id) => globalThis[id].value ?? globalThis[id].textContent)"
    )
    return seen


async def contains(page: cdpengine.Page, words: str) -> bool:
    return words in await page.content()


async def exists(found: Awaitable[object]) -> bool:
    return await found is not None


async def drag(page: cdpengine.Page, node: cdpengine.FoundNode) -> None:
    await page.drag(node, await page.find(css="#to"))


async def test_names_of_fields_and_images_hide_nothing(browser: cdpengine.Browser) -> None:
    page = await browser.new_page()
    names = await page.evaluate(NAMES)
    assert len(names["form"]) > 300
    assert len(names["document"]) > 200
    plain = await use(page, page_with(["n"] * len(names["form"]), ["m"] * len(names["document"])))
    await page.close()
    for form, document in (
        (names["form"] + OWN, ["m"] * len(names["document"])),
        (["n"], names["document"] + OWN),
    ):
        page = await browser.new_page()
        named = await use(page, page_with(form, document))
        assert named == plain
        await page.close()
