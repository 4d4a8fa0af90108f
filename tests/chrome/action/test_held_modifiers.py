"""Held modifier keys apply to later keys and mouse events, by Chrome's rules."""

from __future__ import annotations

import pytest

import cdpengine

pytestmark = pytest.mark.chrome

PAGE = """<input id=field aria-label=Field><button id=go>Go</button><script>
  var log = [];
  const of = (event) => ["shift", "ctrl", "alt", "meta"].filter(name => event[name + "Key"]).join("+");
  for (const type of ["keydown", "mousedown", "mouseup", "click", "mousemove", "wheel"]) {
    addEventListener(type, event => log.push([type, event.key ?? "", of(event)]), true);
  }
</script>"""


async def seen(page: cdpengine.Page, *types: str) -> list[tuple[str, str]]:
    log = await page.evaluate("log.splice(0)")
    return [(key, held) for kind, key, held in log if kind in types]


async def typed(page: cdpengine.Page) -> object:
    return await page.evaluate("(() => { const text = field.value; field.value = ''; return text })()")


async def test_shift_makes_capitals_of_later_keys(page: cdpengine.Page) -> None:
    await page.set_content(PAGE)
    field, keyboard = page.locate(css="#field"), page.keyboard
    await page.focus(field)
    await keyboard.down("Shift")
    for key in ("a", "A", "KeyA"):
        await keyboard.press(key)
    await keyboard.down("b")
    await keyboard.up("b")
    assert await seen(page, "keydown") == [("Shift", "shift"), *[("A", "shift")] * 3, ("B", "shift")]
    await keyboard.type("c1\u4f60")
    await page.press("d", field)
    await page.type(field, "e", submit=True)
    await keyboard.press("ArrowLeft")
    await keyboard.up("Shift")
    await keyboard.type("f")
    assert await seen(page, "keydown") == [
        ("C", "shift"), ("!", "shift"), ("D", "shift"), ("E", "shift"), ("Enter", "shift"), ("ArrowLeft", "shift"),
        ("f", ""),
    ]  # fmt: skip
    assert await typed(page) == "AAABC!\u4f60Df"  # the arrow selected the E
    await keyboard.press("A")
    assert await seen(page, "keydown") == [("A", "shift")]


async def test_control_makes_commands_of_later_keys(page: cdpengine.Page) -> None:
    await page.set_content(PAGE)
    field, keyboard = page.locate(css="#field"), page.keyboard
    await page.type(field, "old")
    await seen(page)
    await keyboard.down("Control")
    await keyboard.type("a")
    await keyboard.press("A")
    await keyboard.down("Shift")
    await keyboard.press("Y")
    assert await seen(page, "keydown") == [
        ("Control", "ctrl"), ("a", "ctrl"), ("a", "ctrl"), ("Shift", "shift+ctrl"), ("Y", "shift+ctrl"),
    ]  # fmt: skip
    await keyboard.up("Shift")
    await page.fill(field, "filled")
    await keyboard.up("Control")
    assert await typed(page) == "filled"


async def test_held_modifiers_are_in_the_events_of_the_mouse(page: cdpengine.Page) -> None:
    await page.set_content(PAGE)
    go = page.locate(css="#go")
    for key, held in (("Shift", "shift"), ("Alt", "alt"), ("Control", "ctrl")):
        await page.keyboard.down(key)
        await page.click(go)
        await page.mouse.move(300, 300)
        await page.mouse.down()
        await page.mouse.up()
        await page.scroll(0, 10, go)
        await page.keyboard.up(key)
        of_mouse = await seen(page, "mousedown", "mouseup", "click", "mousemove", "wheel")
        assert {each for _, each in of_mouse} == {held}
    await page.click(go)
    assert {each for _, each in await seen(page, "mousedown", "mouseup", "click")} == {""}


async def test_date_is_filled_with_any_held_modifier(page: cdpengine.Page) -> None:
    await page.set_content("<input id=day type=date>")
    await page.keyboard.down("Shift")
    outcome = await page.fill(page.locate(css="#day"), "2026-12-31", timeout=5)
    await page.keyboard.up("Shift")
    assert await page.evaluate("day.value") == "2026-12-31"
    assert not outcome.set_by_script
