from __future__ import annotations

import pytest
import trio
from form_page import FormPage

import cdpengine
from cdpengine._input.devices.keys import LAYOUTS, layout_named
from cdpengine.errors import InvalidArgumentError, NotInteractableError

pytestmark = pytest.mark.chrome


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    form = FormPage(page)
    await form.show("<input id=field><input id=other>")
    await form.js("field.focus()")
    return form


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("layout", "text", "downs"),
    [
        ("us", "zy@\u00e9", [("KeyZ", "z"), ("KeyY", "y"), ("Digit2", "@")]),
        ("uk", '@"\u00a3', [("Quote", "@"), ("Digit2", '"'), ("Digit3", "\u00a3")]),
        ("de", "z\u00fc@", [("KeyY", "z"), ("BracketLeft", "\u00fc"), ("KeyQ", "@")]),
        ("de", "\u00e9", [("Equal", "Dead"), ("KeyE", "\u00e9")]),
        ("fr", "a1\u00e9", [("KeyQ", "a"), ("Digit1", "1"), ("Digit2", "\u00e9")]),
        ("fr", "\u00ea^", [("BracketLeft", "Dead"), ("KeyE", "\u00ea"), ("Digit9", "^")]),
    ],
)
async def test_layouts(form: FormPage, layout: str, text: str, downs: list[tuple[str, str]]) -> None:
    form.page.keyboard.layout = layout
    await form.page.keyboard.type(text)
    assert await form.js("field.value") == text
    assert [(e["code"], e["key"]) for e in await form.record("keydown")] == downs
    assert len(await form.record("keyup")) == len(downs)


@pytest.mark.slow
async def test_every_layout_types_its_characters(form: FormPage) -> None:
    text = "".join(chr(point) for point in range(33, 127)) + "\u00e4\u00e9\u00ea\u00f1\u20ac\u4f60"
    for layout in LAYOUTS:
        form.page.keyboard.layout = layout
        await form.js("field.value = ''")
        await form.page.keyboard.type(text)
        assert await form.js("field.value") == text
    with pytest.raises(InvalidArgumentError, match='"us", "uk", "de", "fr"'):
        form.page.keyboard.layout = "dvorak"
    assert form.page.keyboard.layout == "fr"


async def test_a_layout_for_one_action(form: FormPage) -> None:
    keyboard = form.page.keyboard
    field = await form.node("#field")
    await form.page.type(field, "z", layout="de")
    await form.page.type(field, "z")
    await form.page.press("z", layout=layout_named("de"))
    await form.page.press("AltGraph+q", field, layout="de")
    await keyboard.type("a", layout="fr")
    await keyboard.press("a", layout="fr")
    await keyboard.press("a", layout=None)
    assert await form.js("field.value") == "zzz@aaa"
    codes = [e["code"] for e in await form.record("keydown")]
    assert codes == ["KeyY", "KeyZ", "KeyY", "AltRight", "KeyQ", "KeyQ", "KeyQ", "KeyA"]
    assert keyboard.layout == "us"


async def test_altgraph_chord(form: FormPage) -> None:
    form.page.keyboard.layout = "de"
    await form.page.press("AltGraph+q")
    assert await form.js("field.value") == "@"
    assert [(e["type"], e["key"]) for e in await form.record("keydown", "keyup")] == [
        ("keydown", "AltGraph"),
        ("keydown", "@"),
        ("keyup", "@"),
        ("keyup", "AltGraph"),
    ]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "key", ["F1", "F13", "F24", "AudioVolumeUp", "MediaPlayPause", "Numpad5", "NumpadEnter"]
)
async def test_rare_keys(form: FormPage, key: str) -> None:
    await form.page.press(key)
    assert [e["code"] for e in await form.record("keydown", "keyup")] == [key, key]
    assert await form.js("field.value") == ("5" if key == "Numpad5" else "")


async def test_held_key_repeats(form: FormPage) -> None:
    for _ in range(3):
        await form.page.keyboard.down("x")
    await form.page.keyboard.up("x")
    assert [e["repeat"] for e in await form.record("keydown")] == [False, True, True]
    assert await form.js("field.value") == "xxx"


@pytest.mark.sample(3)
@pytest.mark.parametrize("delay", [0, 0.002])
@pytest.mark.parametrize("markup", ["<input id=field>", "<div id=field contenteditable></div>"])
async def test_composition(form: FormPage, markup: str, delay: float) -> None:
    await form.show(markup)
    await form.js("field.focus()")
    await form.page.keyboard.compose("\u4f60\u597d", "n", "ni", "nih", delay=delay)
    assert await form.js("field.value ?? field.textContent") == "\u4f60\u597d"
    kinds = "compositionstart", "compositionupdate", "compositionend", "keydown"
    assert [(e["type"], e["data"]) for e in await form.record(*kinds)] == [
        ("compositionstart", ""),
        ("compositionupdate", "n"),
        ("compositionupdate", "ni"),
        ("compositionupdate", "nih"),
        ("compositionupdate", "\u4f60\u597d"),
        ("compositionend", "\u4f60\u597d"),
    ]
    inputs = await form.record("input")
    assert {(e["inputType"], e["composing"]) for e in inputs} == {("insertCompositionText", True)}


async def test_composition_grows_automatically(form: FormPage) -> None:
    family = "\U0001f469\u200d\U0001f467"
    await form.page.keyboard.compose(f"e\u0301{family}")
    updates = [e["data"] for e in await form.record("compositionupdate")]
    assert updates[:2] == ["e\u0301", f"e\u0301{family}"]


async def test_cancelled_composition_is_withdrawn(form: FormPage) -> None:
    await form.page.keyboard.type("a")
    with trio.move_on_after(0.1) as scope:
        await form.page.keyboard.compose("\u4f60", "n", "ni", delay=30)
    assert scope.cancelled_caught
    assert await form.js("field.value") == "a"
    assert [e["data"] for e in await form.record("compositionend")] == [""]
    await form.page.keyboard.type("b")
    assert await form.js("field.value") == "ab"


async def test_mask_typed_key_by_key(form: FormPage) -> None:
    await form.js(
        "void (field.oninput = () => { const d = field.value.replace(/\\D/g, '').slice(0, 8);"
        " field.value = d.replace(/^(..)(..)?/, (all, a, b) => a + '.' + (b ? b + '.' : '')); })"
    )
    await form.page.type(await form.node("#field"), "24122026")
    assert await form.js("field.value") == "24.12.2026"


async def test_focus_and_blur(form: FormPage) -> None:
    await form.show("<input id=field value=a><input id=other>")
    await form.page.focus(await form.node("#field"))
    await form.page.keyboard.type("b")
    outcome = await form.page.elements.blur(await form.node("#field"))
    assert outcome.action == "blur"
    assert await form.events("focus", "change", "blur") == [
        ("focus", "field", True),
        ("change", "field", True),
        ("blur", "field", True),
    ]
    assert await form.js("document.activeElement === document.body")
    await form.page.focus(await form.node("#other"))
    await form.page.elements.blur(await form.node("#field"))
    assert await form.js("document.activeElement.id") == "other"


async def test_blur_of_ancestor_of_focused_element(form: FormPage) -> None:
    await form.show("<div id=host></div><input id=stubborn onblur='setTimeout(() => 0); this.focus()'>")
    await form.js(
        "host.attachShadow({mode: 'open'}).innerHTML = '<input>'; host.shadowRoot.firstChild.focus()"
    )
    await form.page.elements.blur(await form.node("#host"))
    assert await form.js("document.activeElement === document.body")


async def test_focus_of_unfocusable_element_is_refused(form: FormPage) -> None:
    await form.show("<div id=plain>text</div>")
    with pytest.raises(NotInteractableError, match="does not take the keyboard focus"):
        await form.page.focus(await form.node("#plain"))
