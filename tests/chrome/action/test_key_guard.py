"""Keys and text reach only the element they are meant for, even if the page moves the focus meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import FocusMovedError

pytestmark = pytest.mark.chrome

TEXT = "correct horse battery"
AT_SEVEN = "a.oninput = () => { if ((a.value ?? a.textContent).length === 7) moveOn() }"
AT_FOCUS = "a.onfocus = () => Promise.resolve().then(moveOn)"
FIELD = "<input id=a aria-label=A>"
EDITABLE = "<div id=a contenteditable role=textbox aria-label=A></div>"
LOG = """<script>
  var clicks = [];
  addEventListener("click", event => clicks.push(event.composedPath()[0].id), true);
  const held = () => [...document.querySelectorAll("input:not(#a), textarea:not(#a)")].map(each => each.value).join("");
  function inShadow(mode) {
    const root = host.attachShadow({ mode });
    root.innerHTML = "<input id=a aria-label=A><input id=b>";
    [window.a, window.b] = root.children;
  }
</script>"""

MOVES = {
    "a timer": (FIELD + "<input id=b>", "a.onfocus = () => setTimeout(() => b.focus(), 2)", None),
    "at the focus": (FIELD + "<input id=b>", f"var moveOn = () => b.focus(); {AT_FOCUS}", 0),
    "a dialog": (
        FIELD,
        "var moveOn = () => { document.body.insertAdjacentHTML('beforeend', '<button id=b>Delete</button>'); b.focus() };"
        + AT_SEVEN,
        7,
    ),
    "before the key": (
        FIELD + "<input id=b>",
        "a.onkeydown = () => { if (a.value.length === 7) b.focus() }",
        7,
    ),
    "a blur": (FIELD, f"var moveOn = () => a.blur(); {AT_SEVEN}", 7),
    "a field drawn anew": (
        f"<p id=around>{FIELD}</p>",
        f"var moveOn = () => {{ around.innerHTML = '<input id=b aria-label=A>'; b.focus() }}; {AT_SEVEN}",
        7,
    ),
    "into a frame": (
        FIELD + "<iframe id=f srcdoc='<input id=b>'></iframe>",
        f"var moveOn = () => f.contentDocument.getElementById('b').focus(); {AT_SEVEN}",
        7,
    ),
    "an editable element": (
        EDITABLE + "<input id=b>",
        f"var moveOn = () => b.focus(); {AT_SEVEN}",
        7,
    ),
    "an open shadow tree": (
        "<div id=host></div>",
        f"inShadow('open'); var moveOn = () => b.focus(); {AT_SEVEN}",
        7,
    ),
    "a closed shadow tree": (
        "<div id=host></div>",
        f"inShadow('closed'); var moveOn = () => b.focus(); {AT_SEVEN}",
        7,
    ),
}


@pytest.mark.parametrize("way", MOVES)
async def test_typing_stops_before_key_would_reach_another_element(page: cdpengine.Page, way: str) -> None:
    markup, script, typed = MOVES[way]
    await page.set_content(f"{LOG}{markup}<script>{script}</script>")
    # Chrome runs timers only between keys, so they need a gap.
    delay = 0.005 if typed is None else 0
    with pytest.raises(FocusMovedError) as caught:
        await page.type(page.locate(role="textbox", name="A"), TEXT * 5, delay=delay, timeout=5)
    error = caught.value
    assert (error.total, error.held_back) == (len(TEXT * 5), True)
    assert f"typed {error.typed} of {error.total} characters" in str(error)
    assert TEXT[:7] not in str(error)
    assert await page.evaluate("clicks.length") == 0
    inner = "window.f ? f.contentDocument.getElementById('b').value : window.b?.value ?? ''"
    assert await page.evaluate(f"held() + ({inner})") == ""
    if typed is None:
        assert await page.evaluate("a.value") == (TEXT * 5)[: error.typed]
    else:
        assert error.typed == typed


async def test_error_names_the_focused_element(page: cdpengine.Page) -> None:
    await page.set_content(
        f"{FIELD}<button id=b>Delete</button><script>var moveOn = () => b.focus(); {AT_SEVEN}</script>"
    )
    delete = (await page.snapshot()).find(name="Delete")
    with pytest.raises(FocusMovedError) as caught:
        await page.type(page.locate(css="#a"), TEXT, timeout=5)
    assert caught.value.focus_ref == delete.id
    assert f"'Delete' ({delete.id})" in str(caught.value)
    # A dialog that no snapshot has included: its button gets a ref too.
    await page.set_content(
        f"{FIELD}<dialog id=d><button id=b onclick='pressed = 1'>Discard</button></dialog>"
        f"<script>var moveOn = () => {{ d.showModal(); b.focus(); }}; {AT_SEVEN}</script>"
    )
    await page.snapshot()
    with pytest.raises(FocusMovedError) as caught:
        await page.type(page.locate(css="#a"), TEXT, timeout=5)
    assert f"'Discard' ({caught.value.focus_ref})" in str(caught.value)
    await page.click(caught.value.focus_ref, refuse_renamed=True, timeout=20)
    assert await page.evaluate("pressed") == 1
    # A button in a frame of the same process.
    await page.set_content(
        f"{FIELD}<iframe id=f srcdoc='<button id=b onclick=\"parent.pressed = 2\">Inner</button>'></iframe>"
        f"<script>var moveOn = () => f.contentDocument.getElementById('b').focus(); {AT_SEVEN}</script>"
    )
    with pytest.raises(FocusMovedError) as caught:
        await page.type(page.locate(css="#a"), TEXT, timeout=5)
    await page.click(caught.value.focus_ref, refuse_renamed=True, timeout=20)
    assert await page.evaluate("pressed") == 2


async def test_every_action_that_sends_keys_is_guarded(page: cdpengine.Page) -> None:
    await page.set_content(f"""{LOG}<input id=a aria-label=A><input id=day type=date aria-label=Day value=2026-01-01>
        <input id=volume type=range aria-label=Volume><div id=rich contenteditable role=textbox aria-label=Rich>old</div>
        <input id=b onkeydown="keys++"><button id=delete>Delete</button><script>
          var keys = 0, next = b;
          for (const each of [a, day, volume, rich]) each.onfocus = () => Promise.resolve().then(() => next.focus());
        </script>""")
    find = page.locate
    ways: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: page.fill(find(css="#a"), TEXT, timeout=5),
        lambda: page.fill(find(css="#rich"), TEXT, timeout=5),
        lambda: page.fill(find(css="#rich"), "", timeout=5),
        lambda: page.fill(find(css="#day"), "2026-12-31", timeout=5),
        lambda: page.fill(find(css="#volume"), 70, timeout=5),
        lambda: page.type(find(css="#a"), "\u4f60\u597d", timeout=5),
        lambda: page.type(find(css="#a"), "", submit=True, timeout=5),
        lambda: page.press("x", find(css="#a"), timeout=5),
        lambda: page.press("Control+a", find(css="#rich"), timeout=5),
    )
    for send in ways:
        with pytest.raises(FocusMovedError):
            await send()
    await page.evaluate("next = document.getElementById('delete')")
    for key in ("Enter", "Space"):
        with pytest.raises(
            FocusMovedError, match="did not receive the key; the focus moved to button#delete"
        ):
            await page.press(key, find(css="#a"), timeout=5)
    seen = await page.evaluate(
        "[keys, b.value, a.value, day.value, volume.value, rich.textContent, clicks.length]"
    )
    assert seen == [0, "", "", "2026-01-01", "50", "old", 0]


async def test_enter_does_not_press_element_focused_by_its_keydown(page: cdpengine.Page) -> None:
    await page.set_content(f"""{LOG}{FIELD}<button id=b>Delete</button>
        <script>var downs = 0; a.onkeydown = event => {{ if (event.key === "Enter") {{ downs++; b.focus() }} }}</script>""")
    await page.press("Enter", page.locate(css="#a"), timeout=5)
    await page.type(page.locate(css="#a"), "ada", submit=True, timeout=5)
    assert await page.evaluate("[downs, a.value, clicks]") == [2, "ada", []]


async def test_page_may_move_focus_within_the_text_field(page: cdpengine.Page) -> None:
    boxes = "".join(
        f"<span><input class=code aria-label='Digit {n}' maxlength=1></span>" for n in range(1, 7)
    )
    squares = boxes.replace("maxlength=1", "style='width:20px;height:20px'").replace("Digit", "Square")
    await page.set_content(f"""{FIELD}<input id=next><p>{boxes}</p><p>{squares}</p><input id=back><script>
        for (const box of document.querySelectorAll(".code")) {{
          box.oninput = () => box.parentNode.nextElementSibling?.firstChild.focus();
        }}
        back.oninput = () => {{ a.focus(); back.focus() }};
        var code = of => [...document.querySelectorAll(`[aria-label^=${{of}}]`)].map(box => box.value).join("");
      </script>""")
    await page.type(page.locate(css="#a"), "ab\tcd", timeout=5)
    await page.type(page.locate(role="textbox", name="Digit 1"), "123456", timeout=5)
    await page.type(page.locate(role="textbox", name="Square 1"), "123456", timeout=5)
    await page.type(page.locate(css="#back"), TEXT, timeout=5)
    seen = await page.evaluate("[a.value, next.value, code('Digit'), code('Square'), back.value]")
    assert seen == ["ab", "cd", "123456", "123456", TEXT]
    with pytest.raises(FocusMovedError, match="typed 6 of 7"):
        await page.evaluate("""{
            const boxes = document.querySelectorAll(".code");
            for (const box of boxes) box.value = "";
            boxes[5].oninput = () => next.focus();
        }""")
        await page.type(page.locate(role="textbox", name="Digit 1"), "1234567", timeout=5)


async def test_slow_typing_stops_once_the_focus_is_gone(page: cdpengine.Page) -> None:
    await page.set_content(f"{FIELD}<input id=b><script>var moveOn = () => b.focus(); {AT_SEVEN}</script>")
    with pytest.raises(FocusMovedError, match="typed 7 of 1008"), trio.fail_after(20):
        await page.type(page.locate(css="#a"), TEXT * 48, delay=0.04, timeout=60)
    # The guard is gone, so other keys arrive.
    await page.keyboard.type("later")
    assert await page.evaluate("b.value") == "later"


async def test_cancelled_typing_leaves_no_guard(page: cdpengine.Page) -> None:
    await page.set_content(f"{FIELD}<input id=b>")
    with trio.move_on_after(0.2):
        await page.type(page.locate(css="#a"), TEXT * 20, delay=0.05)
    await page.evaluate("b.focus()")
    await page.keyboard.type("later")
    assert await page.evaluate("b.value") == "later"


async def test_typing_stops_when_focus_moves_to_cross_site_frame(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    inside = httpserver.url_for("/inside").replace("127.0.0.1", "localhost")
    httpserver.expect_request("/inside").respond_with_data("<input id=c>", content_type="text/html")
    httpserver.expect_request("/").respond_with_data(
        f"{FIELD}<iframe id=f src='{inside}'></iframe><script>var moveOn = () => f.focus(); {AT_SEVEN}</script>",
        content_type="text/html",
    )
    await page.goto(httpserver.url_for("/").replace("localhost", "127.0.0.1"))
    with pytest.raises(FocusMovedError, match="typed 7 of 21 characters; the focus moved to iframe#f"):
        await page.type(page.locate(css="#a"), TEXT, timeout=5)
    assert await page.evaluate("a.value") == TEXT[:7]


async def test_text_after_enter_does_not_reach_the_next_document(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/next").respond_with_data(
        "<input id=next autofocus>", content_type="text/html"
    )
    httpserver.expect_request("/").respond_with_data(
        f"<form action=/next>{FIELD}</form>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    with pytest.raises(FocusMovedError, match="the focus moved to another document"):
        await page.type(page.locate(css="#a"), "ada\n" + TEXT, delay=0.05, timeout=20)
    await page.goto(httpserver.url_for("/"))
    outcome = await page.type(page.locate(css="#a"), "ada\n", delay=0.05, timeout=20)
    assert outcome.navigation is not None


SECTIONS = """<div role=group aria-label=Date>SPANS</div><span role=spinbutton id=b contenteditable>9</span><script>
  var all = [...document.querySelectorAll("[role=group] > *")];
  for (const [number, each] of all.entries()) each.onkeydown = event => {
    event.preventDefault();
    each.textContent = (/^[0-9]+$/.test(each.textContent) ? each.textContent : "") + event.key;
    if (each.textContent.length === LENGTHS[number]) (all[number + 1] ?? NEXT)?.focus();
  };
</script>"""


async def test_typing_continues_in_next_date_section(page: cdpengine.Page) -> None:
    spans = "".join(
        f"<span role=spinbutton contenteditable aria-label={name}>{name[0]}</span>"
        for name in ("Month", "Day", "Year")
    )
    sections = SECTIONS.replace("SPANS", spans).replace("LENGTHS", "[2, 2, 4]")
    await page.set_content(sections.replace("NEXT", "null"))
    await page.type(page.locate(role="spinbutton", name="Month"), "03142026", timeout=5)
    assert await page.evaluate("all.map(each => each.textContent)") == ["03", "14", "2026"]
    await page.set_content(sections.replace("NEXT", "b"))
    with pytest.raises(FocusMovedError) as caught:
        await page.type(page.locate(role="spinbutton", name="Month"), "031420267", timeout=5)
    assert (caught.value.typed, await page.evaluate("b.textContent")) == (8, "9")
