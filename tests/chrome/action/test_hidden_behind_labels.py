"""Controls hidden behind labels, and other elements without a box, are pressed at the place a person would
press.
"""

from __future__ import annotations

import pytest
from form_page import FormPage
from refusals import refused

import cdpengine
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    OptionNotFoundError,
)

pytestmark = pytest.mark.chrome

HIDING = {
    "not displayed": "style='display:none'",
    "invisible": "style='visibility:hidden'",
    "hidden": "hidden",
    "no size": "style='width:0;height:0;margin:0;appearance:none'",
    "clipped": "style='position:absolute;width:1px;height:1px;clip:rect(0 0 0 0);overflow:hidden'",
    "clipped by a path": "style='position:absolute;clip-path:inset(50%)'",
    "off the page": "style='position:absolute;left:-9999px'",
    "transparent": "style='opacity:0;position:absolute'",
}
LABELS = {
    "for": "{}<label for=box>Express</label>",
    "around": "<label>{} Express</label>",
    "second of two": "{}<label for=box style='display:none'>No</label><label for=box>Express</label>",
    "far away": "<p style='height:3000px'></p><div>{}</div><label for=box>Express</label>",
    "of a hidden block": "<label for=box>Express</label><div hidden>{}</div>",
    "by a script": "{}<span id=name onclick=box.click()>Express</span>",
    "link": "{}<label for=box style='display:inline-block'>I accept the <a href='#bad'>long terms</a> ok</label>",
    "padding": "<label style='display:block;padding:9px'>{}<a href='#bad'>long terms of use</a></label>",
    "button": "<label>{}<button class=bad>A big button in the label</button> ok</label>",
    "field": "<label>{} Other: <input class=bad> please</label>",
    "handler": "<label>{} I <span class=bad onclick='event.preventDefault()'>accept all the terms</span></label>",
}
WATCH = """void addEventListener('click', (event) => {
  if (!event.target.closest('a, .bad')) return;
  (window.bad ??= []).push(event.target.localName);
  event.preventDefault();
}, true)"""


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


QUICK = ("not displayed", "transparent", "clipped")


@pytest.mark.parametrize(
    "hiding",
    [pytest.param(h, marks=[] if h in QUICK else pytest.mark.slow) for h in HIDING],
)
async def test_label_is_pressed_instead_of_hidden_control(form: FormPage, hiding: str) -> None:
    for label, markup in LABELS.items():
        named = "aria-labelledby=name" if label == "by a script" else ""
        await form.show(markup.format(f"<input type=checkbox id=box {named} {HIDING[hiding]}>"))
        await form.js(WATCH)
        outcome = await form.page.click(await form.node("#box"), timeout=20)
        assert outcome.delivered
        assert await form.js("[box.checked, window.bad]") == [True, None], label
        await form.page.uncheck(await form.node("#box"), timeout=20)
        await form.page.fill(await form.node("#box"), True, timeout=20)
        assert await form.js("[box.checked, window.bad]") == [True, None], label


async def test_label_fully_covered_by_link_is_not_clicked(form: FormPage) -> None:
    markup = "<input type=checkbox id=box {}><label id=label for=box><a href='#bad'>terms</a></label>"
    await form.show(markup.format("hidden"))
    await form.js(WATCH)
    for act, at in ((form.page.check, "#box"), (form.page.click, "#box"), (form.page.click, "#label")):
        with pytest.raises(NotInteractableError, match="no point of its label is free of links"):
            await act(await form.node(at), timeout=20)
    assert await form.js("[box.checked, window.bad]") == [False, None]
    # The keyboard checks a control that can have the focus.
    await form.show(markup.format("style='opacity:0;position:absolute;left:-99px'"))
    await form.js(WATCH)
    await form.page.check(await form.node("#box"), timeout=20)
    assert await form.js("[box.checked, window.bad]") == [True, None]


async def test_label_is_clicked_next_to_its_link(form: FormPage) -> None:
    await form.show(
        "<label id=label><input type=checkbox id=box> I <a href='#bad'>accept all the terms</a></label>"
    )
    await form.js(WATCH)
    await form.page.click(await form.node("#label"), timeout=20)
    assert await form.js("[box.checked, window.bad]") == [True, None]


@pytest.mark.parametrize(
    ("markup", "error", "reason"),
    [
        (
            "<input type=radio id=box hidden><label for=box hidden>no</label>",
            NotInteractableError,
            "display: none",
        ),
        ("<input type=radio id=box hidden>", NotInteractableError, "display: none"),
        (
            "<input type=radio id=box hidden disabled><label for=box>no</label>",
            NotInteractableError,
            "disabled",
        ),
        ("<input id=box hidden><label for=box>no</label>", NotInteractableError, "display: none"),
    ],
)
async def test_hidden_controls_that_cannot_be_clicked(
    form: FormPage, markup: str, error: type[Exception], reason: str
) -> None:
    await form.show(markup)
    aim = await form.node("#box")
    await refused(error, lambda timeout: form.page.click(aim, timeout=timeout), match=reason)


async def test_a_hidden_file_input_opens_its_chooser_by_its_label(form: FormPage) -> None:
    await form.show("<label>Photo <input type=file id=box hidden></label>")
    async with form.page.expect_file_chooser() as chooser:
        await form.page.click(await form.node("#box"), timeout=20)
    assert not chooser.value.multiple


@pytest.mark.parametrize("kind", ["frame", "other process", "shadow"])
async def test_behind_a_label_in_a_frame_or_shadow_tree(form: FormPage, kind: str) -> None:
    inner = f"<p style='height:900px'></p>{LABELS['link'].format('<input type=checkbox id=box hidden>')}"
    if kind == "shadow":
        await form.show("<div id=host></div>")
        await form.js(f"void (host.attachShadow({{ mode: 'open' }}).innerHTML = {inner!r})")
        where = "host.shadowRoot"
    else:
        sandbox = "sandbox=allow-scripts" if kind == "other process" else ""
        await form.show(f'<p style="height:900px"></p><iframe id=frame {sandbox} srcdoc="{inner}"></iframe>')
        where = "frame.contentDocument"
    await form.page.settled(timeout=20)
    box = await form.page.find(css="#box", timeout=20)
    await form.page.check(box, timeout=20)
    if kind == "other process":
        assert await form.page.evaluate("box.checked", frame=form.page.frames[1])
    else:
        assert await form.js(f"{where}.querySelector('#box').checked")


STRETCHED = "<style>#at::after { content: ''; position: absolute; inset: 0 }</style>"
BOXLESS = {
    "floated child": "<a id=at href='#in'><b style='float:left;width:90px;height:40px'>Cart</b></a>",
    "child placed elsewhere": "<a id=at href='#in'><b style='position:absolute;left:200px;top:150px'>Cart</b></a>",
    "child far below": "<a id=at href='#in'><b style='position:absolute;left:20px;top:4000px'>Cart</b></a>",
    "stretched ::after": f"{STRETCHED}<div style='position:relative;height:60px'><a id=at href='#in'></a></div>",
    "no font size": "<a id=at href='#in' style='font-size:0'><i style='float:left;font-size:9px'>A</i></a>",
    "block of no height": "<a id=at href='#in' style='display:block'><i style='float:left'>A</i></a>",
    "half covered": "<a id=at href='#in'><b style='float:left;width:90px'>A</b><b style='float:left;width:60px'>B</b></a>"
    "<p style='position:absolute;left:0;top:0;width:100px;height:90px;background:#0009'></p>",
}


async def test_link_without_box_is_clicked(form: FormPage) -> None:
    for what, markup in BOXLESS.items():
        await form.show(markup)
        await form.js("void history.replaceState(null, '', '#')")
        await form.page.hover(await form.node("#at"), timeout=20)
        outcome = await form.page.click(await form.node("#at"), timeout=20)
        assert outcome.delivered
        assert await form.js("location.hash") == "#in", what
    await form.show(
        "<a id=at href='#in' style='display:block;height:0;overflow:hidden'><i style='float:left'>A</i></a>"
    )
    aim = await form.node("#at")
    await refused(
        NotInteractableError,
        lambda timeout: form.page.click(aim, timeout=timeout),
        state="invisible",
        match="its size is",
    )


STARS = """<style>.star { display: inline-flex; width: 24px; height: 24px; cursor: pointer }
.star input { position: absolute; width: 1px; height: 1px; opacity: 0; pointer-events: none }</style>
<span id=stars>STARS</span><script>
rating = 0;
for (const [at, star] of [...stars.children].entries()) star.onclick = () => {
  rating = at + 1; star.firstChild.checked = true;
};
</script>"""
SWITCH = """<label for=box>Wifi</label><div><div id=switch style="display: inline-flex">
<input type=checkbox role=switch id=box aria-checked=false style="position: absolute; width: 0; height: 0; margin: 0">
<span style="width: 40px; height: 20px; cursor: pointer; background: gray"></span></div></div><script>
on = false;
this.switch.onclick = (event) => {
  event.preventDefault(); on = !on; box.ariaChecked = String(on); queueMicrotask(() => { box.checked = on; });
};
</script>"""


async def test_visual_substitute_of_hidden_control_is_pressed(form: FormPage) -> None:
    star = (
        "<span class=star><input type=radio name=stars aria-label=S{}><svg width=20 height=20></svg></span>"
    )
    await form.show(STARS.replace("STARS", "".join(star.format(n) for n in range(1, 6))))
    snapshot = await form.page.snapshot()
    await form.page.check(snapshot.find(role="radio", name="S4"), timeout=20)
    assert await form.js("rating") == 4
    await form.page.click(snapshot.find(role="radio", name="S2"), timeout=20)
    assert await form.js("rating") == 2
    # The input receives the label's click, and the page cancels it. The custom switch keeps both states
    # equal.
    await form.show(SWITCH)
    for act, on in ((form.page.check, True), (form.page.check, True), (form.page.uncheck, False)):
        await act(await form.node("#box"), timeout=20)
        assert await form.js("[on, box.checked, box.ariaChecked]") == [on, on, str(on).lower()]


async def test_a_block_with_another_control_is_not_pressed_for_a_hidden_one(form: FormPage) -> None:
    await form.show(
        "<div style='cursor:pointer;width:200px' id=block><input type=checkbox id=box style='opacity:0;position:absolute;"
        "left:-99px'><a href='#bad' style='display:block'>Delete</a></div>"
    )
    aim = await form.node("#box")
    await refused(
        NotInteractableError, lambda timeout: form.page.click(aim, timeout=timeout), state="invisible"
    )
    assert await form.events("click") == []


GROUP = """<fieldset id=group role=radiogroup><legend>Delivery</legend>
<input type=radio name=d id=a value=std {0}><label for=a>Standard</label>
<input type=radio name=d id=b value=exp {0}><label for=b>Express</label></fieldset>
<input type=checkbox id=box {0}><label for=box>Agree</label> <input type=file id=file {0}><label for=file>Photo</label>"""
STATES = "[a.checked, b.checked, box.checked]"


@pytest.mark.parametrize("hiding", ["", *(HIDING[each] for each in QUICK)])
async def test_string_sets_state_of_visible_or_hidden_control(form: FormPage, hiding: str) -> None:
    page = form.page
    await form.show(GROUP.format(hiding))
    a, b, box, group, file = [await form.node(f"#{each}") for each in ("a", "b", "box", "group", "file")]
    for value, state in {"true": True, "false": False, "on": True, "off": False, "checked": True}.items():
        await page.fill(box, value, timeout=20)
        assert await form.js("box.checked") is state, value
    await page.fill(b, "true", timeout=20)
    assert await form.js(STATES) == [False, True, True]
    await page.select(a, timeout=20)
    assert await form.js(STATES) == [True, False, True]
    await page.select(group, "Express", timeout=20)
    assert await form.js(STATES) == [False, True, True]
    await page.fill(group, "std", timeout=20)
    assert await form.js(STATES) == [True, False, True]
    await page.select(a, "exp", timeout=20)
    assert await form.js(STATES) == [False, True, True]
    await page.fill_form({b: "Standard"}, timeout=20)
    assert await form.js(STATES) == [True, False, True]
    await page.fill_form({a: ["Express"]}, timeout=20)
    assert await form.js(STATES) == [False, True, True]
    await refused(
        NotInteractableError, lambda timeout: page.fill(b, "false", timeout=timeout), match="unchecked by"
    )
    await refused(
        OptionNotFoundError, lambda timeout: page.fill(a, "Slow", timeout=timeout), match="'Standard'"
    )
    await refused(
        OptionNotFoundError, lambda timeout: page.select(group, "Slow", timeout=timeout), match="Express"
    )
    await refused(
        InvalidArgumentError, lambda timeout: page.fill(box, "Yes", timeout=timeout), match='"true" or'
    )
    await refused(NotInteractableError, lambda timeout: page.fill(file, "x", timeout=timeout), match="upload")
    await refused(
        NotInteractableError, lambda timeout: page.select(box, timeout=timeout), match="check\\(\\)"
    )
    assert await form.js(STATES) == [False, True, True]


async def test_control_without_position_is_refused_immediately(form: FormPage) -> None:
    page = form.page
    await form.show(GROUP.format("hidden"))
    b, file = await form.node("#b"), await form.node("#file")
    for act in (
        lambda timeout: page.press("Space", b, timeout=timeout),
        lambda timeout: page.focus(b, timeout=timeout),
        lambda timeout: page.click(b, position=(2, 2), timeout=timeout),
        lambda timeout: page.hover(b, position=(2, 2), timeout=timeout),
        lambda timeout: page.focus(file, timeout=timeout),
        lambda timeout: page.type(b, "x", timeout=timeout),
    ):
        await refused(NotInteractableError, act, match="click\\(\\) without a position|use press\\(\\)")
    assert await form.js(STATES) == [False, False, False]


async def test_custom_radio_button_is_chosen_by_its_label(form: FormPage) -> None:
    await form.show(
        "<div role=radiogroup id=group><div role=radio tabindex=0 id=a>Small</div> <div role=radio tabindex=0>Big</div></div>"
        "<script>for (const each of document.querySelectorAll('[role=radio]')) each.onclick = () => {"
        "for (const other of document.querySelectorAll('[role=radio]')) other.ariaChecked = other === each }</script>"
    )
    group, small = await form.node("#group"), await form.node("#a")
    checked = "document.querySelector('[aria-checked=true]').textContent"
    await form.page.select(group, "Big", timeout=20)
    assert await form.js(checked) == "Big"
    await form.page.fill(small, "true", timeout=20)
    assert await form.js(checked) == "Small"
