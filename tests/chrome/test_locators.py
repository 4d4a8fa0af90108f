"""Locators: trees of criteria against a plain walk over the page, and their use on pages that change."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
import trio
from rounds import every_nth

import cdpengine
from cdpengine import Locator, Page
from cdpengine._api.page.script_arguments import make_script
from cdpengine._input.devices.mouse import MouseDevice
from cdpengine._input.forms.form import FieldValue
from cdpengine.errors import (
    AmbiguousNodeError,
    FormError,
    InvalidArgumentError,
    NodeNotFoundError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

ORACLE = (Path(__file__).parent.parent / "support" / "locator_oracle.js").read_text("utf-8")

PART = """<section aria-label=Fruit title="A fruit"><ul><li>apple <button title="Fresh fruit">Buy apple</button></li>
<li class=x>pear <button>Buy pear</button><img alt="A red pear"></li><li hidden>plum <button>Buy plum</button></li></ul>
<p data-testid=note class=x>apple and pear</p><label>Apple count <input placeholder="How many apples"></label></section>"""

FORM = """<div class=x id=f><label for=c>Colour of pear</label><input id=c class=x placeholder="Red"><span id=w>Weight</span>
<input aria-labelledby=w data-testid=weight><input aria-label="apple SIZE" title=size><button class=x>Buy pear</button>
<div class=x><div class=x><b title="deep apple">apple</b><i class=x>pear</i></div></div><img alt=apple><br></div>"""

PAGE = f"""<!doctype html><title>t</title>{PART}{FORM}<x-light>{PART}<b class=x>pear</b></x-light><x-deep></x-deep>
<script>
  const light = document.querySelector("x-light").attachShadow({{mode: "open"}});
  light.innerHTML = "<section aria-label=Outer class=x><p>pear before</p><slot></slot><button>Buy apple</button></section>";
  document.querySelector("x-deep").attachShadow({{mode: "open"}}).innerHTML =
    `<div class=x>${{{FORM!r}}}</div><x-deeper></x-deeper>`;
  const deeper = document.querySelector("x-deep").shadowRoot.querySelector("x-deeper");
  deeper.attachShadow({{mode: "open"}}).innerHTML = `${{{PART!r}}}`;
  let n = 0;
  (function number(root) {{
    for (const at of root.querySelectorAll("*")) {{ at.dataset.n = n++; if (at.shadowRoot) number(at.shadowRoot); }}
  }})(document);
</script>"""

LEAVES: list[dict[str, Any]] = [
    {"css": "button"}, {"css": ".x"}, {"css": "li"}, {"css": "section, div.x"}, {"role": "button"}, {"role": "listitem"},
    {"role": "region"}, {"text": "pear"}, {"text": "Buy apple", "exact": True}, {"label": "apple"},
    {"label": "Weight", "exact": True}, {"placeholder": "red"}, {"alt_text": "PEAR"}, {"title": "fruit"},
    {"test_id": "note"}, {"css": ".x", "text": "pear"}, {"css": "input", "label": "apple"}, {"role": "img", "alt_text": "apple"},
]  # fmt: skip
"""One criterion each, and some together. A string of `text` stands directly in an element."""


class Tree:
    """A locator and the same query for the oracle."""

    def __init__(self, locator: Locator, query: dict[str, Any]) -> None:
        self.locator = locator
        self.query = query

    def inside(self, scope: Tree) -> Tree:
        return Tree(self.locator.within(scope.locator), {"inside": [self.query, scope.query]})

    def both(self, other: Tree) -> Tree:
        return Tree(self.locator.and_(other.locator), {"both": [self.query, other.query]})

    def either(self, other: Tree) -> Tree:
        return Tree(self.locator.or_(other.locator), {"either": [self.query, other.query]})

    def nth(self, index: int) -> Tree:
        return Tree(self.locator.nth(index), {"nth": [self.query, index]})

    def filter(self, **conditions: Any) -> Tree:
        located: dict[str, Any] = {
            name: each.locator if isinstance(each, Tree) else each for name, each in conditions.items()
        }
        asked = {name: each.query if isinstance(each, Tree) else each for name, each in conditions.items()}
        return Tree(self.locator.filter(**located), {"filter": [self.query, asked]})


def leaf(page: Page, criteria: dict[str, Any], **where: Any) -> Tree:
    return Tree(page.locate(**criteria, **where), {"leaf": criteria})


def combined(tree: Tree, other: Tree) -> list[Tree]:
    return [
        tree, tree.inside(other), tree.filter(has=other), tree.filter(has_not=other), tree.filter(has_text="apple"),
        tree.filter(has_not_text="apple"), tree.filter(visible=True), tree.filter(visible=False), tree.nth(0), tree.nth(2),
        tree.nth(-1), tree.both(other), tree.either(other), tree.inside(other.nth(1)), tree.filter(has=other.nth(1)),
        tree.nth(-2).either(other),
    ]  # fmt: skip


def random_tree(page: Page, chance: random.Random, depth: int, **where: Any) -> Tree:
    if depth == 0:
        return leaf(page, chance.choice(LEAVES), **where)
    tree = random_tree(page, chance, depth - 1, **where)
    other = random_tree(page, chance, chance.randrange(depth), **where)
    return chance.choice(combined(tree, other))


async def agree(page: Page, tree: Tree, frame: cdpengine.Frame) -> int:
    """Compare the matches with the oracle's, and return their number."""
    found = await tree.locator.internals.find_all(tree.locator.query, 0, 0.0)
    numbers = await page.evaluate("(...found) => found.map((at) => at.dataset.n)", *found, frame=frame)
    assert numbers == await page.evaluate(ORACLE, tree.query, frame=frame), str(tree.locator)
    return len(numbers)


@pytest.mark.sample(8)
@pytest.mark.parametrize("number", range(len(LEAVES)))
@pytest.mark.parametrize("place", ["page", "frame"])
async def test_leaves_and_combinations_match_the_same_elements_as_a_plain_walk(
    page: Page, number: int, place: str
) -> None:
    frame = await show(page, place)
    where = {} if place == "page" else {"frame": page.locate("iframe")}
    total = 0
    for other in (LEAVES[1], LEAVES[5], LEAVES[7]):
        for tree in combined(leaf(page, LEAVES[number], **where), leaf(page, other, **where)):
            total += await agree(page, tree, frame)
    assert total > 3


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(8))
async def test_deep_trees_match_the_same_elements_as_a_plain_walk(page: Page, seed: int) -> None:
    frame = await show(page, "page")
    chance = random.Random(seed)
    counts = [await agree(page, random_tree(page, chance, 3), frame) for _ in range(25)]
    assert sum(counts) > 10


async def show(page: Page, place: str) -> cdpengine.Frame:
    """Show PAGE in the page, or in a frame of it, and return that frame."""
    if place == "page":
        await page.set_content(PAGE)
        return page.frames[0]
    await page.set_content("<p class=x>apple</p><iframe width=900 height=900></iframe>")
    await page.evaluate("(html) => { document.querySelector('iframe').srcdoc = html }", PAGE)
    await page.wait_for(css="x-deep")
    return page.frames[1]


async def test_a_choice_by_number_counts_the_matches_of_all_frames(page: Page) -> None:
    await page.set_content("<ul><li>a</ul><iframe srcdoc='<ul><li>b<li>c</ul><ul><li>d</ul>'></iframe>")
    await page.wait_for(text="d")
    lists = page.locate("ul")

    async def texts(locator: Locator) -> list[str]:
        return [await each.extract_text() for each in await locator.all()]

    assert await texts(lists.nth(1).locate("li")) == ["- b", "- c"]
    assert await texts(lists.locate("li").nth(-1)) == ["- d"]
    assert await texts(lists.first.or_(lists.last).locate("li")) == ["- a", "- d"]
    assert await texts(lists.filter(has=page.locate("li").nth(1)).locate("li")) == ["- b", "- c"]
    assert await texts(page.frame_locator("iframe").locate("ul").first.locate("li").last) == ["- c"]
    assert await lists.nth(3).locate("li").count() == 0


async def test_patterns(page: Page) -> None:
    await page.set_content(PAGE)
    found = {
        page.locate(label=re.compile("^Apple")): 3, page.locate(label=re.compile("(?i)^apple")): 5,
        page.locate(placeholder=re.compile("^red")): 0, page.locate(title=re.compile("t$")): 6,
        page.locate("li").filter(has_text=re.compile(r"^apple Buy")): 3,
        page.locate("li").filter(has_not_text=re.compile(r"^apple Buy"), visible=True): 3,
        page.locate(role="textbox", label=re.compile("SIZE")): 2,
        page.locate(text=re.compile("^pear$")).within(page.locate("x-deep")): 1,
    }  # fmt: skip
    assert {str(locator): await locator.count() for locator in found} == {
        str(locator): count for locator, count in found.items()
    }


async def test_descriptions_and_equality(page: Page) -> None:
    save = page.locate(role="button", name="Save")
    assert str(save.within(page.locate("#dialog"))) == "button \"Save\" inside css '#dialog'"
    assert save == page.locate(role="button", name="Save") != page.locate(role="button", name="save")
    assert {save.first: 1}[page.locate(role="button", name="Save").first] == 1
    assert str(save.or_(page.locate("a")).filter(has_text="x").last) == (
        "((button \"Save\" or css 'a') with the text 'x') (nth=-1)"
    )
    inner = page.frame_locator("iframe.pay").locate("input")
    assert repr(inner) == "<Locator css 'input' in the frame css 'iframe.pay'>"
    assert inner != page.locate("input")


async def test_locators_that_do_not_fit_are_refused(page: Page, browser: cdpengine.Browser) -> None:
    here: Any = page.locate("a")
    frame = page.frame_locator("iframe")
    assert here.within(frame.locate("b")) == frame.locate("a").within(page.locate("b"))
    other = await browser.new_page()
    refused = [
        here.filter, lambda: here.filter(has="b"), lambda: here.and_("b"), lambda: here.nth(True),
        lambda: here.within(other.locate("b")), lambda: frame.locate("a").or_(page.frame_locator("b").locate("a")),
        lambda: page.locate("a", ref="e1"), page.locate, lambda: here.filter(has_text=5),
    ]  # fmt: skip
    for call in refused:
        with pytest.raises(InvalidArgumentError):
            call()
    await other.close()


async def test_locators_and_refs_convert_into_each_other(page: Page) -> None:
    await page.set_content(
        "<div><p>one</p><button onclick='this.dataset.hit = 1'>Go</button></div><p hidden>two</p>"
    )
    ref = await page.locate("button").ref()
    assert (await page.snapshot()).find(role="button").id == ref.id
    await page.locate(ref=ref).click()
    assert await page.locate(ref=ref.id).evaluate("(at) => at.dataset.hit") == "1"
    for css, html in (("div", "one"), ("p[hidden]", "two")):
        made = await page.locate(css).ref()
        assert html in await page.locate(ref=made).evaluate("(at) => at.outerHTML")
    inside = page.locate(ref=await page.locate("div").ref()).locate("p")
    assert await inside.count() == 1
    await page.evaluate("document.querySelector('div').remove()")
    began = trio.current_time()
    for target in (page.locate(ref=ref), inside):
        with pytest.raises((StaleRefError, NodeNotFoundError)):
            await target.click(timeout=2)
    assert trio.current_time() - began < 10


async def test_several_matches_are_listed_with_refs(page: Page) -> None:
    await page.set_content("<div id=d><p>one</p><p>two</p></div><p>three</p>")
    with pytest.raises(AmbiguousNodeError) as caught:
        await page.locate("#d").locate("p").click()
    refs = [text.split(" ")[0] for text in caught.value.candidates]
    assert [await page.locate(ref=ref).evaluate("(at) => at.textContent") for ref in refs] == ["one", "two"]
    assert "css 'p' inside css '#d'" in str(caught.value)


REDRAWN = """<main></main><script>
  var clicked = [], round = 0;
  function draw() {
    round += 1;
    document.querySelector("main").innerHTML = `<div class=row><b>one</b><button disabled>Pay</button></div>
      <div class=row><b>two</b><button ${round < 5 ? "disabled" : ""} onclick="clicked.push(${round})">Pay</button></div>`;
    if (round < 5) setTimeout(draw, 60);
  }
  setTimeout(draw, 60);
</script>"""


async def test_action_on_a_chain_while_the_page_redraws(page: Page) -> None:
    await page.set_content(REDRAWN)
    pay = page.locate(".row").filter(has=page.locate(text="two")).locate(role="button", name="Pay")
    assert (await pay.click(timeout=20)).delivered
    assert await page.evaluate("clicked") == [5]


async def test_frame_replaced_while_its_element_is_awaited(page: Page) -> None:
    await page.set_content("<main><iframe srcdoc='<p>first</p>'></iframe></main>")
    await page.evaluate("""void setTimeout(() => {
        document.querySelector("main").innerHTML =
          `<iframe srcdoc="<button onclick='parent.hit = 1'>Go</button>"></iframe>`;
    }, 200)""")
    await page.frame_locator("iframe").locate("button").click(timeout=20)
    assert await page.evaluate("hit") == 1


async def test_navigation_between_uses(page: Page) -> None:
    go = page.locate("div").filter(has_text="here").locate("button").last
    for number in range(2):
        html = f"<div>here<button>no</button><button onclick='this.id=1'>n{number}</button></div>"
        await page.goto(f"data:text/html,{html}")
        await go.click()
        assert await go.evaluate("(at) => at.textContent + at.id") == f"n{number}1"


async def test_cancelled_wait_leaves_nothing(page: Page) -> None:
    await page.set_content("<div id=d></div>")
    late = page.locate("#d").locate("button")
    with trio.move_on_after(0.3):
        await late.click()
    await page.evaluate(
        """document.querySelector('#d').innerHTML = "<button onclick='this.id = 1'>Go</button>" """
    )
    assert await page.evaluate("document.querySelector('button').id") == ""
    await late.click()
    assert await late.evaluate("(at) => at.id") == "1"


async def test_verbs_of_locators(page: Page, tmp_path: Path) -> None:
    await page.set_content("""<form><label>Name <input id=n></label><label><input type=checkbox> Agree</label>
      <select><option>a<option>b</select><input type=file></form><div style="height:3000px"></div><p>end</p>""")
    (tmp_path / "a.txt").write_text("a")
    name, agree_box, choice = page.locate(label="name"), page.locate(label="agree"), page.locate("select")
    await name.fill("ada")
    await name.type(" l", delay=0)
    await name.press("ArrowLeft")
    await agree_box.check()
    await choice.select("b")
    await page.locate("[type=file]").upload(tmp_path / "a.txt")
    await page.locate(text="end").scroll_into_view()
    assert await page.evaluate("scrollY") > 0
    await name.focus()
    assert await page.evaluate("[n.value, document.querySelector('[type=checkbox]').checked, "
        "document.querySelector('select').value, document.querySelector('[type=file]').files[0].name, "
        "document.activeElement.id]") == ["ada l", True, "b", "a.txt", "n"]  # fmt: skip
    values: dict[Locator, FieldValue] = {name: "eve", agree_box: False, choice: "a"}
    await page.fill_form(values)
    assert await name.evaluate("(at) => at.value") == "eve"
    assert (await name.screenshot())[:4] == b"\x89PNG"
    assert 'textbox "Name"' in (await page.locate("form").snapshot()).text
    assert (await page.locate("p").extract_text()).strip() == "end"
    assert await page.locate("p").bounding_box() is not None
    await page.locate("p").wait_for()
    await page.snapshot(root=page.locate("form").filter(has=name))


async def test_a_document_gets_the_search_script_once(page: Page) -> None:
    """A later search in a document sends no source. A new document gets its own finder."""
    await page.set_content("<button>Go</button>")
    frame = page.frames[0]
    finder = page.internals.worlds.finder
    await page.find("button")
    kept = finder(page.session, frame.id)
    assert kept is not None
    await page.find(text="go")
    assert finder(page.session, frame.id) is kept
    for html in ("<button>One</button>", "<button>Two</button>"):
        await page.goto(f"data:text/html,{html}")
        assert await page.locate("button").count() == 1
        assert finder(page.session, frame.id) is not kept


async def test_element_of_an_earlier_search_is_not_mistaken_for_one_of_the_last(page: Page) -> None:
    await page.set_content("<button onclick='hit = 1'>One</button><button onclick='hit = 2'>Two</button>")
    first, second = await page.find_all("button")
    await page.find(text="two")
    await page.click(first)
    assert await page.evaluate("hit") == 1
    await page.find(text="one")
    await page.click(second)
    assert await page.evaluate("hit") == 2


ROLES_AND_NAMES = """<button>One</button><button aria-hidden=true>One</button><button hidden>One</button><div inert><button>One</button></div>
<div style="visibility:hidden"><button>One</button></div><button>Two</button><a role=button href=x>two</a><button aria-label=Three>x</button>
<button><h2>Four</h2></button><h2>Four</h2><details><summary>Five</summary><button>Six</button></details><label>Seven<input
type=checkbox style="display:none"></label><select aria-label=Eight><option>Nine</select><div role=presentation><button>Ten</button></div>
<div role=img aria-label=Eleven><button>In picture</button></div><svg aria-label=Twelve role=img></svg><p aria-hidden=true><button>Thirteen</button></p>
<div id=open></div><script>document.getElementById('open').attachShadow({mode: 'open'}).innerHTML = '<button>Open</button>'</script>"""

CLOSED = """<div id=closed></div><script>
  document.getElementById('closed').attachShadow({mode: 'closed'}).innerHTML = '<button>Closed</button>'</script>"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "more",
    [CLOSED, "<video controls></video>", "<x-a></x-a>", "<iframe srcdoc='<button>Two</button>'></iframe>"],
)
async def test_search_for_one_role_agrees_with_the_search_for_all(page: Page, more: str) -> None:
    await page.set_content(ROLES_AND_NAMES + more)
    names = [
        "One",
        "Two",
        "Three",
        "Four",
        "Five",
        "Six",
        "Seven",
        "Eight",
        "Nine",
        "Ten",
        "Eleven",
        "Twelve",
        "Thirteen",
        "Open",
        "Closed",
    ]
    for role in ("button", "heading", "checkbox", "combobox", "option", "image"):
        for name in every_nth(2, [*names, "In picture"], start=len(role)):
            every = await page.find_all(role=role, name=name)
            count = 0
            try:
                single = [await page.find(role=role, name=name)]
            except NodeNotFoundError:
                single = []
            except AmbiguousNodeError as error:
                single, count = every, error.count
            assert single == every, (role, name)
            assert count == (len(every) if len(every) > 1 else 0), (role, name)


async def test_waiting_for_the_state_of_a_match(page: Page) -> None:
    await page.set_content("<main></main>")
    main, go = page.locate("main"), page.locate("main").locate("button")
    waits = {
        "attached": "main.innerHTML = '<button disabled hidden>Go</button>'", "visible": "main.firstChild.hidden = false",
        "enabled": "main.innerHTML = '<button>Go</button>'", "disabled": "main.innerHTML = '<button disabled>Go</button>'",
        "hidden": "main.innerHTML = ''",
    }  # fmt: skip
    await page.evaluate("void (main = document.querySelector('main'))")
    state: Any
    for state, change in waits.items():
        with pytest.raises(cdpengine.errors.DeadlineExceededError, match=f"is {state}"):
            await go.wait_for(state, timeout=0.3)
        await page.evaluate(f"void setTimeout(() => {{ {change} }}, 100)")
        await go.wait_for(state, timeout=20)
    await go.wait_for("detached", timeout=5)
    await page.evaluate("main.innerHTML = '<button>Go</button><button>Go</button>'")
    with pytest.raises(AmbiguousNodeError):
        await go.wait_for(timeout=20)
    await page.evaluate(
        "void setTimeout(() => { document.body.innerHTML += '<input type=checkbox checked>' }, 100)"
    )
    await page.locate("[type=checkbox]").wait_for("checked", timeout=20)
    await page.wait_for(ref=main, state="visible", text="Go", timeout=20)


async def test_readings_wait_for_the_match(page: Page) -> None:
    await page.set_content("<main></main>")
    await page.evaluate(
        "void setTimeout(() => { document.querySelector('main').innerHTML = '<p>late</p>' }, 200)"
    )
    assert (await page.locate("p").extract_text(timeout=20)).strip() == "late"
    assert "late" in (await page.locate("p").snapshot(timeout=20)).text


async def test_selectors_relative_to_a_match(page: Page) -> None:
    await page.set_content("<ul id=o><li>a<ul><li>b<li>c</ul><li>d</ul><ul><li>e</ul>")
    outer = page.locate("#o")
    assert [
        await each.evaluate("(at) => at.firstChild.data") for each in await outer.locate("> li").all()
    ] == ["a", "d"]
    assert await outer.locate(":scope > li > ul > li").count() == 2
    assert await page.locate("ul").locate("> li").count() == 5
    assert await page.locate("ul").filter(has=page.locate("> li", text="e")).count() == 1
    assert await outer.locate("> li", text="d", exact=True).count() == 1
    with pytest.raises(InvalidArgumentError, match="> >"):
        await outer.locate("> > li").count()


REPLACING = """<div style='height:2000px'>top</div><main></main><script>
  function render() { document.querySelector("main").innerHTML = "<button onclick='hits++'>Buy</button> <p>note</p>"; }
  hits = 0; render();
</script>"""


async def test_hover_finds_an_element_again_that_was_replaced_under_the_pointer(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page replaces the element after its check, and before the mouse moves."""
    hover, moves = MouseDevice.hover, []

    async def replace_and_hover(mouse: MouseDevice, *args: Any, **options: Any) -> bool:
        moves.append(args)
        if len(moves) == 1:
            await page.session.call("Runtime.evaluate", expression="render()")
        return await hover(mouse, *args, **options)

    await page.set_content(REPLACING)
    monkeypatch.setattr(MouseDevice, "hover", replace_and_hover)
    outcome = await page.locate("button").hover(timeout=20)
    assert outcome.delivered
    assert len(moves) == 2


async def test_click_heals_a_ref_whose_element_is_replaced_during_the_action(page: Page) -> None:
    await page.set_content(REPLACING)
    button = (await page.snapshot()).find(role="button", name="Buy")
    await page.evaluate("addEventListener('pointermove', render, {once: true, capture: true})")
    outcome = await page.click(button, heal=True, timeout=20)
    assert outcome.healed is not None
    assert await page.evaluate("hits") == 1


async def test_screenshot_and_box_of_an_element_that_scrolling_replaced(page: Page) -> None:
    await page.set_content(REPLACING)
    await page.evaluate("addEventListener('scroll', render, {once: true})")
    assert (await page.locate("button").screenshot(timeout=20)).startswith(b"\x89PNG")
    assert await page.locate("button").bounding_box() is not None
    stale = await page.find("button")
    await page.evaluate("render()")
    with pytest.raises(StaleRefError):
        await page.elements.bounding_box(stale)


async def test_script_gets_the_match_that_replaced_another_one(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page replaces the element after the engine has found it, and before the script runs."""
    replaced: list[bool] = []

    async def make_and_replace(*args: Any) -> Any:
        made = await make_script(*args)
        if not replaced:
            replaced.append(True)
            await page.evaluate("render()")
        return made

    await page.set_content(REPLACING)
    monkeypatch.setattr("cdpengine._api.page.evaluating.make_script", make_and_replace)
    button = page.locate("button")
    assert await button.evaluate("(button) => button.textContent", timeout=20) == "Buy"
    replaced.clear()
    assert await page.evaluate("([button]) => button.isConnected", [button], timeout=20)
    replaced.clear()
    async with page.evaluate_handle("(button) => button", target=button, timeout=20) as handle:
        assert (await page.click(handle)).delivered
    replaced.clear()
    with pytest.raises(StaleRefError):
        await page.evaluate("(button) => 1", await page.find("button"))


async def test_locator_of_another_page_is_refused_without_a_search(
    browser: cdpengine.Browser, page: Page
) -> None:
    await page.set_content(REPLACING)
    other = await browser.new_page("data:text/html,<button>Buy</button>")
    foreign = page.locate("button")
    for refused in (
        lambda: other.click(foreign),
        lambda: other.elements.text_content(foreign),
        lambda: other.wait_for(ref=foreign),
        lambda: other.evaluate("(button) => 1", foreign),
        lambda: other.snapshot(root=foreign),
        lambda: other.fill_form({foreign: "x"}),
    ):
        with trio.fail_after(15), pytest.raises((InvalidArgumentError, FormError), match="of another page"):
            await refused()
    with pytest.raises(InvalidArgumentError, match="of another page"):
        other.locate(ref=foreign)
    await other.close()


async def test_locator_in_a_frame_that_leaves_the_page(page: Page) -> None:
    await page.set_content("<iframe srcdoc='<button>Pay</button>'></iframe>")
    frame = page.frames[1]
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            with pytest.raises(NodeNotFoundError, match="no longer in the page"):
                await frame.locate("p").click(timeout=60)

        with trio.fail_after(30):
            nursery.start_soon(wait)
            await frame.locate("button").click()
            await page.evaluate("document.querySelector('iframe').remove()")
    with trio.fail_after(30):
        with pytest.raises(NodeNotFoundError, match="no longer in the page"):
            await frame.locate("button").click(timeout=60)
        with pytest.raises(NodeNotFoundError, match="no longer in the page"):
            await frame.locate("button").count()
        assert await frame.locate("button").is_hidden()
