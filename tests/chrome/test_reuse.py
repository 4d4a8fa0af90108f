"""A later snapshot, which skips unchanged parts of the page, equals one from scratch.

The page changes at random in all the ways of tests/support/mutations.js. The oracle is `fresh=True` right
after.
"""

from __future__ import annotations

import difflib
import random
from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine
from cdpengine._protocol.instruments import Traffic
from cdpengine._snapshot.snapshot import Snapshot

pytestmark = pytest.mark.chrome

MUTATIONS = (Path(__file__).parents[1] / "support" / "mutations.js").read_text()
RICH = (Path(__file__).parent / "data" / "reuse.html").read_text()
CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.html"))

ROW = '<li><a href="/{0}">Item {0}</a> <button>Buy {0}</button> <label><input type=checkbox> Mark {0}</label></li>'


def said(snapshot: Snapshot) -> tuple[str, list[tuple[str, int]], int]:
    refs = [(str(ref), ref.backend_node_id) for ref in snapshot.refs.values()]
    return snapshot.text, refs, snapshot.stats.nodes_seen


def difference(scratch: Snapshot, further: Snapshot) -> str:
    lines = difflib.unified_diff(
        scratch.text.split("\n"), further.text.split("\n"), "scratch", "further", n=1, lineterm=""
    )
    return "\n".join(lines) or "the refs differ"


async def compared(page: cdpengine.Page) -> int:
    """Compare a later snapshot with one from scratch, and return the number of reused parts.

    A page may change by itself in between, for example when an animation ends. So a difference is checked
    once more.
    """
    for last in (False, True):
        further = await page.snapshot()
        scratch = await page.snapshot(fresh=True)
        if said(further) == said(scratch):
            break
        assert not last, difference(scratch, further)
    assert scratch.stats.parts_reused == 0
    for _ in range(2):  # so that the next change affects a page that was unchanged
        await page.snapshot()
    return further.stats.parts_reused


def rows(count: int) -> str:
    return "<h1>Stock</h1><ul>" + "\n".join(ROW.format(number) for number in range(count)) + "</ul>"


def mixed(first: int) -> str:
    """Return a page with every eighth page of the corpus, surrounded by rows."""
    parts = [f"<section>{path.read_text()}</section>" for path in CORPUS[first::8]]
    return f"<!doctype html><title>Mixed</title><body>{rows(20)}{''.join(parts)}{rows(10)}"


# Its parts do not refer to each other, so all of them can be reused. Every few steps the page is as before.
PLAIN = f"""<!doctype html><title>Plain</title><style>
.note::before {{ content: 'Note: ' }} .loud {{ text-transform: uppercase }} .off {{ display: none }}
</style><main>{rows(20)}<section><h2>Form</h2><p class=note>Fill it in</p><p>Name <input> <textarea>T</textarea></p>
<p><select><option>One<option selected>Two</select> <input type=password> <input type=range></p>
<details><summary>More</summary><p>Inside <b class=loud>loud</b></p></details><p class=off>Hidden <a href=/x>x</a></p>
</section><nav>{"".join(f"<a href=/{number}>Place {number}</a> " for number in range(40))}</nav></main>"""


STEPS = rounds(10, 90)
FEW_STEPS = rounds(12, 25)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "steps", "again", "seed"),
    [
        (RICH, STEPS, 30, 1),
        pytest.param(RICH, STEPS, 30, 2, marks=pytest.mark.slow),
        (PLAIN, STEPS, 5, 3),
        (mixed(0), 25, 30, 10),  # each of the first dozen changes affects every part
        (mixed(2), FEW_STEPS, 30, 12),
        *(pytest.param(mixed(n), FEW_STEPS, 30, 10 + n, marks=pytest.mark.slow) for n in (4, 6)),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
async def test_later_snapshot_equals_fresh_one_after_random_changes(
    page: cdpengine.Page, httpserver: HTTPServer, markup: str, steps: int, again: int, seed: int
) -> None:
    httpserver.expect_request("/").respond_with_data(markup, content_type="text/html")
    chance = random.Random(seed)
    reused = 0
    for step in range(steps):
        if step % again == 0:  # changes accumulate, and a hidden area stays hidden
            await page.goto(httpserver.url_for("/"))
            await page.evaluate(MUTATIONS)
            for _ in range(3):
                await page.snapshot()
        if chance.random() < 0.1:
            x, y = chance.randrange(700), chance.randrange(500)
            await page.session.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        else:
            await page.evaluate("seed => mutate(seed)", seed * 1_000_003 + step)
        reused += await compared(page)
    assert reused > steps  # otherwise the test checked nothing


SHEET = """<style>
input:checked ~ .x { display: none } .row:hover .tip { display: none } main:has(.flag) .has { display: none }
.up { text-transform: uppercase } .far { content-visibility: hidden } p.made::before { content: 'A' }
</style>"""
PAGE = f"""<!doctype html>{SHEET}<main>{rows(30)}
<div class=row style="height:50px"><b class=tip>Tip</b> <button>Hover</button></div>
<div><input type=checkbox id=c><span class=x>unless checked</span><button>x</button></div>
<div><label for=f id=l>Name of field</label></div><div><input id=f><button>y</button></div>
<div><i class=has>Unless flag</i><button>z</button></div><div id=t>Described</div>
<div><button aria-describedby=t>w</button></div><div id=host><button>light</button></div>
<div><select id=s><option>One<option>Two</select><input type=password id=p></div>
<div><button aria-describedby=late>v</button></div><div><details open><summary>Sum</summary><i>In it</i></details></div>
<p class=made>text</p><div><fieldset id=fs><input aria-label=In></fieldset></div></main>"""

CHANGES = {
    "a value": ("f.value = 'typed'", '[value="typed"]'),
    "a secret": ("p.value = 'x'", "[value=hidden]"),
    "a checked state": (
        "document.querySelectorAll('li input')[7].checked = true",
        '"Mark 7" [ref=MARK_7] [checked]',
    ),
    "a mixed state": ("document.querySelectorAll('li input')[8].indeterminate = true", "[checked=mixed]"),
    "a selected option": ("s.options[1].selected = true", '[value="Two"]'),
    "the focus": ("document.querySelectorAll('li button')[4].focus()", "[focused]"),
    "a label elsewhere": ("l.textContent = 'Other name'", 'textbox "Other name"'),
    "a new label elsewhere": (
        "host.insertAdjacentHTML('beforebegin', '<label for=c>Fresh</label>')",
        '"Fresh"',
    ),
    "a description elsewhere": ("t.firstChild.data = 'Otherwise'", '[description="Otherwise"]'),
    "a sibling's state": ("c.checked = true", None),
    "another element's class": ("host.classList.add('flag')", None),
    "a rule of a sheet": ("document.styleSheets[0].insertRule('button { display: none }')", None),
    "a rule of a sheet, changed": ("document.styleSheets[0].cssRules[5].style.display = 'none'", None),
    "an adopted sheet": (
        "(s => { s.replaceSync('i { visibility: hidden }'); document.adoptedStyleSheets = [s] })(new CSSStyleSheet())",
        None,
    ),
    "a made-up text": ("document.styleSheets[0].cssRules[5].style.content = \"'Made up'\"", "Made up"),
    "a class on the body": ("document.body.classList.add('up')", "ITEM 3"),
    "a shadow root": ("host.attachShadow({ mode: 'open' }).innerHTML = '<button>dark</button>'", '"dark"'),
    "a modal in a shadow root": (
        "const root = host.attachShadow({ mode: 'open' }); root.innerHTML = '<dialog>'; root.firstChild.showModal()",
        None,
    ),
    "a disabled group": ("fs.disabled = true", "[disabled]"),
    "an attribute far above": ("document.querySelector('main').inert = true", None),
    "an owner": ("host.setAttribute('aria-owns', 'f')", None),
    "a validity": ("f.setCustomValidity('no')", "[invalid]"),
    "a base": ("document.head.innerHTML += '<base href=\"http://elsewhere/\">'", "http://elsewhere/3"),
    "a moved row": ("document.querySelector('ul').prepend(document.querySelector('li:last-child'))", None),
    "a new target of an old reference": (
        "document.querySelector('.made').id = 'late'",
        '[description="Atext"]',
    ),
    "an image instead of elements": (
        "document.styleSheets[0].insertRule('li { content: url(data:image/gif;base64,R0lGODlhAQABAAAAACw=) }')",
        None,
    ),
    "contents of closed details": (
        "document.styleSheets[0].insertRule('details::details-content { content-visibility: hidden }')",
        None,
    ),
    "a handler in an attribute": ("t.setAttribute('onclick', '1')", "[clickable]"),
    "an element with a handler": (
        "t.parentNode.insertAdjacentHTML('beforeend', '<div onclick=1>Press me</div>')",
        'generic "Press me"',
    ),
    "labels around a control": (
        "document.querySelectorAll('li label')[3].outerHTML = '<label>Around <input type=checkbox></label>'",
        'checkbox "Around"',
    ),
    "an animation": (
        "document.querySelector('h1').animate([{ visibility: 'hidden' }], { duration: 1e6, fill: 'both' }).finish()",
        None,
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize(("change", "shown"), CHANGES.values(), ids=CHANGES)
async def test_changes_without_an_event_are_seen(
    page: cdpengine.Page, change: str, shown: str | None
) -> None:
    await page.set_content(PAGE)
    await page.snapshot()
    assert await compared(page) > 30
    snapshot = await page.snapshot()
    before, mark = snapshot.text, snapshot.find(role="checkbox", name="Mark 7").id
    await page.evaluate(f"() => {{ {change}; }}")
    after = await page.snapshot()
    assert said(after) == said(await page.snapshot(fresh=True))
    if shown is not None:
        shown = shown.replace("MARK_7", mark)
        assert shown in after.text
        assert shown not in before
    else:
        assert after.text != before


SHEETS = "document.styleSheets[0]"
STILL_CHANGES = {
    "a value": "document.querySelector('p input').value = 'typed'",
    "a checked state": "document.querySelectorAll('li input')[7].checked = true",
    "a selected option": "document.querySelector('select').selectedIndex = 0",
    "a text": "document.querySelector('h2').firstChild.data = 'Other'",
    "an attribute": "document.querySelector('nav a').ariaLabel = 'Named'",
    "the focus": "document.querySelectorAll('li button')[4].focus()",
    "the title": "document.title = 'Other'",
    "the address": "history.replaceState(null, '', '#there')",
    "a rule for a part": f"{SHEETS}.insertRule('nav a {{ display: none }}')",
    "a rule for the trunk": f"{SHEETS}.insertRule('ul {{ visibility: hidden }}')",
    "letters in the trunk": f"{SHEETS}.insertRule('main {{ text-transform: uppercase }}')",
    "letters in a control": f"{SHEETS}.insertRule('li button {{ text-transform: uppercase }}')",
    "letters beside controls": f"{SHEETS}.insertRule('h2 {{ text-transform: uppercase }}')",
    "a cursor": f"{SHEETS}.insertRule('h2 {{ cursor: pointer }}')",
    "skipped contents of the trunk": f"{SHEETS}.insertRule('ul {{ content-visibility: hidden }}')",
    "skipped contents of parts": f"{SHEETS}.insertRule('li {{ content-visibility: hidden }}')",
    "an image in place of contents": f"{SHEETS}.insertRule('li {{ content: url(data:image/gif;base64,AA=) }}')",
    "no box around parts": f"{SHEETS}.insertRule('main {{ display: none }}')",
    "no box of parts": f"{SHEETS}.insertRule('li {{ display: none }}')",
    "a made-up text": f"{SHEETS}.cssRules[0].style.content = \"'Made up'\"",
    "a made-up text of the trunk": f"{SHEETS}.insertRule('nav::after {{ content: \"The end\" }}')",
    "an adopted sheet": "(s => { s.replaceSync('h2::after { content: \"!\" }'); document.adoptedStyleSheets = [s] })"
    "(new CSSStyleSheet())",
    "a shadow root in a part": "document.querySelector('h2').attachShadow({mode: 'open'}).innerHTML = '<b>dark</b>'",
    "a shadow root in the trunk": "document.querySelector('main').attachShadow({mode: 'open'}).innerHTML = 'dark'",
    "a modal": "document.body.append(document.createElement('dialog')); document.querySelector('dialog').showModal()",
    "a modal in a shadow root": "const root = document.querySelector('section').attachShadow({ mode: 'open' });"
    "root.innerHTML = '<dialog>Box</dialog>'; root.firstChild.showModal()",
    "an animation": "document.querySelector('nav').animate([{ visibility: 'hidden' }], "
    "{ duration: 1e6, fill: 'both' }).finish()",
    "an option": "document.querySelector('select').add(new Option('Three', '', true, true))",
    "an owner": "document.querySelector('h2').setAttribute('aria-owns', 'o'); document.querySelector('nav a').id = 'o'",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("change", STILL_CHANGES.values(), ids=STILL_CHANGES)
async def test_change_of_unchanged_page_is_seen(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer, change: str
) -> None:
    httpserver.expect_request("/").respond_with_data(PLAIN, content_type="text/html")
    await page.goto(httpserver.url_for("/"))
    answers: list[str] = []

    def note(traffic: Traffic) -> None:
        message = traffic.message if isinstance(traffic.message, str) else traffic.message.decode()
        if traffic.direction == "received" and '\\"same\\":true' in message:
            answers.append(message.partition('"result"')[2])

    with browser.instruments.attached(note):
        for _ in range(4):
            before = await page.snapshot()
    assert answers[-1] == answers[-2]  # the same number: nothing was walked
    await page.evaluate(f"() => {{ {change}; }}")
    after = await page.snapshot()
    assert said(after) == said(await page.snapshot(fresh=True))
    assert (after.text, after.title, after.url) != (before.text, before.title, before.url)
    for _ in range(3):  # and it can be unchanged once more
        assert said(await page.snapshot()) == said(after)


async def test_hovering(page: cdpengine.Page) -> None:
    await page.set_content(
        f"<!doctype html>{SHEET}<div class=row id=r><b class=tip>Tip</b><button>Hover</button></div>{rows(30)}"
    )
    assert "Tip" in (await page.snapshot()).text
    assert await compared(page) > 25
    await page.hover(next(ref for ref in (await page.snapshot()).refs.values() if ref.name == "Hover"))
    assert await page.evaluate("() => r.matches(':hover')")
    assert "Tip" not in (await page.snapshot()).text
    assert await compared(page) > 25


async def test_other_options_reuse_nothing(page: cdpengine.Page) -> None:
    await page.set_content(rows(60))
    await page.snapshot()
    assert (await page.snapshot()).stats.parts_reused > 55
    for snapshot in (
        await page.snapshot(fresh=True),
        await page.snapshot(root="ul"),
        await page.snapshot(max_chars=500),
        await page.snapshot(mode="ai"),
        await page.snapshot(source="dom"),
    ):
        assert snapshot.stats.parts_reused == 0
    assert await compared(page) > 55  # and none of these prevents it


async def test_new_document_reuses_nothing(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(rows(60), content_type="text/html")
    await page.goto(httpserver.url_for("/"))
    await page.snapshot()
    assert await compared(page) > 55
    await page.reload()
    assert await compared(page) == 0
    assert await compared(page) > 55
    await page.set_content(rows(40))
    assert (await page.snapshot()).stats.parts_reused == 0
    assert await compared(page) > 35


@pytest.mark.parametrize("moved", [False, True])
async def test_separate_part_becomes_part_of_a_larger_one(page: cdpengine.Page, moved: bool) -> None:
    """A list that becomes short is one part with its rows. It becomes long again, and a row may move to
    another list.
    """
    await page.set_content(rows(40) + "<ul id=other></ul>")
    await compared(page)
    last = "document.querySelector('li:nth-child(2) button').firstChild.data"
    for length in (3, 40, 4):
        await page.evaluate(
            """(length, moved, row) => {
                const list = document.querySelector("ul");
                const rows = list.children;
                if (moved) document.getElementById("other").append(rows[rows.length - 1]);
                while (rows.length > length) rows[rows.length - 1].remove();
                while (rows.length < length) list.insertAdjacentHTML("beforeend", row);
            }""",
            length,
            moved,
            ROW.format("anew"),
        )
        await compared(page)
        for number in range(2):
            await page.evaluate(f"() => {{ {last} = 'Changed {length} {number}'; }}")
            await compared(page)
            assert f"Changed {length} {number}" in (await page.snapshot()).text


async def test_unchanged_page(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(
        f"{rows(20)}<table><th>Head<td>x</table>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    await page.snapshot()
    reused = [await compared(page) for _ in range(3)]
    assert reused[0] == reused[1] == reused[2] >= 20
    whole = (await page.snapshot()).text
    assert (await page.snapshot(interactive=True)).text != whole
    assert (await page.snapshot()).text == whole
    await page.evaluate("() => { document.title = 'New'; history.pushState(null, '', '/deeper/') }")
    snapshot = await page.snapshot()
    assert (snapshot.title, snapshot.url) == ("New", httpserver.url_for("/deeper/"))
    await page.evaluate(
        "() => { const frame = document.createElement('iframe'); document.body.append(frame) }"
    )
    for count in range(3):
        await page.evaluate(
            "n => { document.querySelector('iframe').contentDocument.body.innerHTML = `<button>In ${n}</button>` }",
            count,
        )
        assert f'"In {count}"' in (await page.snapshot()).text
        await compared(page)


async def test_two_readers_of_one_page(
    browser: cdpengine.Browser, page: cdpengine.Page, shared_endpoint: str
) -> None:
    await page.set_content(rows(60))
    async with cdpengine.connect(shared_endpoint) as second:
        other = next(each for each in second.pages if each.target_id == page.target_id)
        for number in range(4):
            await page.evaluate(
                "n => { document.querySelectorAll('li button')[n].textContent = `Sold ${n}` }", number
            )
            assert await compared(page) >= (50 if number else 0)
            if number % 2:
                assert await compared(other) >= (50 if number > 1 else 0)


async def test_at_the_same_time(page: cdpengine.Page) -> None:
    await page.set_content(rows(60))
    for number in range(5):
        await page.evaluate(
            "n => { document.querySelectorAll('li button')[n].textContent = `Sold ${n}` }", number
        )
        texts: list[str] = []

        async def look(texts: list[str] = texts) -> None:
            texts.append((await page.snapshot()).text)

        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(look)
        assert set(texts) == {(await page.snapshot(fresh=True)).text}


async def test_lost_response_loses_nothing(page: cdpengine.Page) -> None:
    await page.set_content(rows(100))
    await page.snapshot()
    for number in range(10):
        await page.evaluate(
            "n => { document.querySelectorAll('li button')[n].textContent = `Sold ${n}` }", number
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.snapshot)
            for _ in range(number * 4):
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        assert f"Sold {number}" in (await page.snapshot()).text
        await compared(page)


async def test_very_many_changes_reset_the_reuse(page: cdpengine.Page) -> None:
    await page.set_content(rows(60))
    await page.snapshot()
    assert await compared(page) > 55
    await page.evaluate("async () => { for (let i = 0; i < 30_000; i++) document.body.dataset.x = i }")
    assert (await page.snapshot()).stats.parts_reused == 0
    assert await compared(page) > 55


async def test_added_and_removed_listeners_without_other_changes(page: cdpengine.Page) -> None:
    """No mutation reports it. The page no longer counts as unchanged, and the affected part is read again."""
    await page.set_content(f"<ul>{rows(60)}</ul><p>text <b id=b>bold</b> <i id=i>it</i></p>")
    await page.evaluate("() => { listen = () => 0 }")
    for _ in range(3):
        assert "clickable" not in (await page.snapshot()).text
    for element, name in (("b", "bold"), ("i", "it")):
        await page.evaluate("id => document.getElementById(id).addEventListener('click', listen)", element)
        assert f'generic "{name}" [ref=' in (await page.snapshot()).text
        assert await compared(page) > 50
    for element, name in (("i", "it"), ("b", "bold")):
        await page.evaluate("id => document.getElementById(id).removeEventListener('click', listen)", element)
        assert f'generic "{name}" [ref=' not in (await page.snapshot()).text
        assert await compared(page) > 50
    await page.evaluate("() => { b.style.cursor = 'pointer' }")
    assert 'generic "bold" [ref=' in (await page.snapshot()).text
    assert await compared(page) > 50
