"""Roles, names, states and `aria-hidden` set through `ElementInternals`, in all three sources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from source_lines import lines, request_of

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom

pytestmark = pytest.mark.chrome

DEFINITIONS = """<!doctype html><script>
customElements.get("x-a") || customElements.define("x-a", class extends HTMLElement {
  constructor() { super(); this.i = this.attachInternals(); }
});
customElements.get("x-s") || customElements.define("x-s", class extends HTMLElement {
  constructor() {
    super();
    this.i = this.attachInternals();
    this.attachShadow({ mode: "open" }).innerHTML = "<section>Own words<slot></slot></section>";
  }
});
</script>"""


async def read_all(page: cdpengine.Page, worlds: IsolatedWorlds) -> list[str]:
    """Return the lines, which are the same in each source."""
    readers = (read_ax, read_computed, read_dom)
    expected, computed, dom = [
        lines(await read(request_of(page, worlds, clickables=True))) for read in readers
    ]
    assert computed == expected
    assert dom == expected
    return [line.split(" backend=")[0] + " hidden" * ("aria-hidden=True" in line) for line in expected]


async def test_content_hidden_through_internals_is_shown_and_marked(page: cdpengine.Page) -> None:
    await page.set_content(
        DEFINITIONS + "<h1>Title</h1><x-s id=outer><p>Outer text</p><x-s id=inner><p>Inner text</p>"
        "<x-a id=leaf>Leaf text</x-a><x-a id=act tabindex=0>Act</x-a></x-s></x-s>"
    )
    worlds = IsolatedWorlds()
    open_lines = ["heading 'Title'", "paragraph ''", "paragraph ''", "generic ''"]
    assert await read_all(page, worlds) == open_lines

    async def after(script: str) -> list[str]:
        await page.evaluate(script)
        return await read_all(page, worlds)

    all_hidden = [
        "heading 'Title'",
        "generic '' hidden",
        "  paragraph ''",
        "  paragraph ''",
        "  generic ''",
    ]
    inner_hidden = ["heading 'Title'", "paragraph ''", "generic '' hidden", "  paragraph ''", "  generic ''"]
    leaf_hidden = [*open_lines[:3], "generic '' hidden", "generic ''"]
    act_hidden = [*open_lines[:3], "button '' hidden"]
    assert await after("outer.i.ariaHidden = 'true'") == all_hidden
    assert await after("inner.i.ariaHidden = 'true'") == all_hidden
    assert await after("outer.i.ariaHidden = null") == inner_hidden
    assert await after("inner.i.ariaHidden = 'false'") == open_lines
    assert await after("leaf.i.ariaHidden = 'true'") == leaf_hidden
    await page.evaluate("leaf.i.ariaHidden = null; act.setAttribute('role', 'button')")
    assert await after("act.i.ariaHidden = 'true'") == [
        act_hidden[0],
        *act_hidden[1:3],
        "button 'Act' hidden",
    ]
    assert await after("act.i.ariaHidden = null") == [*open_lines[:3], "button 'Act'"]


@pytest.mark.parametrize("read", [read_computed, read_dom])
async def test_many_leaves_are_queried_over_several_snapshots(
    page: cdpengine.Page, monkeypatch: pytest.MonkeyPatch, read: Callable[[FrameRequest], Awaitable[Document]]
) -> None:
    monkeypatch.setattr("cdpengine._snapshot.sources.internals._MOST_LEAVES", 2)
    await page.set_content(DEFINITIONS + "".join(f"<x-a>Words {number}</x-a>" for number in range(6)))
    worlds = IsolatedWorlds()

    async def marks() -> int:
        found = lines(await read(request_of(page, worlds, clickables=True)))
        return sum("aria-hidden=True" in line for line in found)

    assert await marks() == 0
    await page.evaluate("document.querySelectorAll('x-a').forEach((each) => each.i.ariaHidden = 'true')")
    assert [await marks() for _ in range(3)] == [2, 4, 6]
    await page.evaluate("document.querySelectorAll('x-a').forEach((each) => each.i.ariaHidden = null)")
    assert await marks() == 0


async def test_names_around_elements_with_internals(page: cdpengine.Page) -> None:
    await page.set_content(
        DEFINITIONS + "<button>Push <x-a id=icon>x</x-a></button><h2>Head <x-a id=range>y</x-a></h2>"
        "<p id=caption>Caption</p><x-a id=labelled><input></x-a><x-a id=area>text</x-a>"
        "<x-a id=list><div role=listitem>one</div></x-a><x-a id=box></x-a><h3>Not <x-a id=gone>this</x-a></h3>"
        "<script>icon.i.role = 'img'; icon.i.ariaLabel = 'Icon'; range.i.role = 'slider';"
        "range.i.ariaValueNow = '7'; range.i.ariaValueMax = '9'; labelled.i.role = 'button';"
        "labelled.i.ariaLabelledByElements = [caption]; area.i.role = 'region'; area.i.ariaLabel = 'Area';"
        "list.i.role = 'list'; box.i.role = 'checkbox'; box.i.ariaLabel = 'Box'; box.i.ariaChecked = 'true';"
        "gone.i.ariaHidden = 'true'</script>"
    )
    found = [line.strip() for line in await read_all(page, IsolatedWorlds())]
    wanted = ["button 'Push Icon'", "heading 'Head 7'", "button 'Caption'", "region 'Area'", "list ''"]
    assert set(wanted) | {"listitem ''", "checkbox 'Box'", "heading 'Not'"} <= set(found)


async def test_values_of_secret_fields_are_in_no_name_of_the_tree(page: cdpengine.Page) -> None:
    await page.set_content(
        DEFINITIONS
        + "<input id=card autocomplete=cc-number value=4111111111111111><x-a id=by tabindex=0>t</x-a>"
        "<x-a id=holder><input autocomplete=cc-number value=4222222222222222></x-a>"
        "<script>by.i.role = holder.i.role = 'button'; by.i.ariaLabelledByElements = [card]</script>"
    )
    worlds = IsolatedWorlds()
    for read in (read_computed, read_dom):
        found = lines(await read(request_of(page, worlds)))
        assert sum(line.startswith("button '\u2022\u2022") for line in found) == 2
        assert not any("4111" in line or "4222" in line for line in found)


async def test_find_sees_content_hidden_through_internals(page: cdpengine.Page) -> None:
    await page.set_content(
        DEFINITIONS
        + "<x-s id=outer><button>Inside</button><p>Some text</p></x-s><x-a id=act tabindex=0>Act</x-a>"
        "<div aria-hidden=true><button>Marked</button></div>"
    )
    await page.evaluate("outer.i.ariaHidden = 'true'; act.i.ariaHidden = 'true'; act.i.role = 'checkbox'")
    for role, name in (("button", "Inside"), ("checkbox", "Act"), ("button", "Marked")):
        (found,) = await page.find_all(role=role, name=name)
        assert f'{role} "{name}"' in (await page.snapshot()).text
        assert await page.evaluate("(at) => at.textContent", found) == name
    await page.evaluate("outer.i.ariaHidden = null; outer.hidden = true; act.hidden = true")
    assert not await page.find_all(role="checkbox", name="Act")
    assert not await page.find_all(role="button", name="Inside")
