from __future__ import annotations

import pytest
from form_page import FormPage
from refusals import refused

import cdpengine
from cdpengine.errors import CoveredError, NotInteractableError, ValueRefusedError

pytestmark = pytest.mark.chrome

ARIA = """onclick="this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')" """
LATER = """onclick="setTimeout(() => this.setAttribute('aria-checked', 'true'), 100)" """

COVERED_BY_ITS_LABEL = """<label id=label style='position:relative'><input type=checkbox id=box style='opacity:0'>
<b id=b style='position:absolute;inset:0'>Y</b></label>"""
CLIPPED_AWAY = """<label id=label><input type=checkbox id=box
style='position:absolute;width:1px;height:1px;clip:rect(0 0 0 0)'>Yes</label>"""


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "wanted", "clicked"),
    [
        ("<input type=checkbox id=box>", True, ["box"]),
        ("<input type=checkbox id=box checked>", True, []),
        ("<input type=checkbox id=box checked>", False, ["box"]),
        ("<input type=checkbox id=box>", False, []),
        ("<input type=radio id=box name=a><input type=radio name=a checked>", True, ["box"]),
        ("<input type=radio id=box name=a>", False, []),
        ("<label id=label><input type=checkbox id=box>Yes</label>", True, ["box"]),
        ("<input type=checkbox id=box hidden><label id=label for=box>Yes</label>", True, ["label", "box"]),
        (
            COVERED_BY_ITS_LABEL,
            True,
            ["b", "box"],
        ),
        (
            CLIPPED_AWAY,
            True,
            ["label", "box"],
        ),
        (f"<div role=checkbox id=box tabindex=0 aria-checked=false {ARIA}>x</div>", True, ["box"]),
        (f"<div role=switch id=box aria-checked=true {ARIA}>x</div>", False, ["box"]),
        (f"<div role=menuitemcheckbox id=box {LATER}>x</div>", True, ["box"]),
        (f"<div role=radio id=box aria-checked=false {LATER}>x</div>", True, ["box"]),
    ],
)
async def test_check_and_uncheck_reach_the_state(
    form: FormPage, markup: str, wanted: bool, clicked: list[str]
) -> None:
    await form.show(markup)
    act = form.page.check if wanted else form.page.uncheck
    outcome = await act(await form.node("#box"), timeout=20)
    assert outcome.action == ("check" if wanted else "uncheck")
    assert await form.js("box.checked ?? (box.getAttribute('aria-checked') === 'true')") is wanted
    assert await form.events("click") == [("click", target, True) for target in clicked]
    native = "<input" in markup
    assert [kind for kind, _, trusted in await form.events("input", "change") if trusted] == (
        ["input", "change"] if clicked and native else []
    )
    await act(await form.node("#box"), timeout=20)
    assert len(await form.events("click")) == len(clicked)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("checked", "wanted", "clicks"), [(False, True, 1), (True, True, 2), (True, False, 1)]
)
async def test_indeterminate(form: FormPage, checked: bool, wanted: bool, clicks: int) -> None:
    await form.show("<input type=checkbox id=box>")
    await form.js(f"void (box.indeterminate = true, box.checked = {str(checked).lower()})")
    await (form.page.check if wanted else form.page.uncheck)(await form.node("#box"))
    assert await form.js("[box.checked, box.indeterminate]") == [wanted, False]
    assert len(await form.events("click")) == clicks


async def test_label_checks_its_control(form: FormPage) -> None:
    await form.show("<input type=checkbox id=box><label id=label for=box>Yes</label>")
    await form.page.check(await form.node("#label"))
    assert await form.js("box.checked") is True


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "wanted", "error", "reason"),
    [
        ("<input type=checkbox id=box onclick='return false'>", True, ValueRefusedError, "did not change"),
        ("<input type=radio id=box checked>", False, NotInteractableError, "another one of its group"),
        ("<div id=box>text</div>", True, NotInteractableError, "not a checkbox"),
        ("<input id=box>", True, NotInteractableError, "not a checkbox"),
        ("<input type=checkbox id=box disabled>", True, NotInteractableError, "is disabled"),
        ("<div role=switch id=box aria-checked=false>x</div>", True, ValueRefusedError, "did not change"),
        (
            "<input type=checkbox id=box><p style='position:fixed;inset:0;margin:0'>over</p>",
            True,
            CoveredError,
            "receives the events",
        ),
    ],
)
async def test_check_refuses_unsuitable_elements(
    form: FormPage, markup: str, wanted: bool, error: type[Exception], reason: str
) -> None:
    await form.show(markup)
    act = form.page.check if wanted else form.page.uncheck
    aim = await form.node("#box")
    await refused(error, lambda timeout: act(aim, timeout=timeout), match=reason)
    assert await form.events("change") == []


async def test_check_of_box_removed_by_its_click(form: FormPage) -> None:
    await form.show("<input type=checkbox id=box onchange='this.remove()'>")
    await form.page.check(await form.node("#box"))
    assert await form.events("click") == [("click", "box", True)]


CANCELLING = """<input type=checkbox role=switch id=box aria-checked=false><script>
on = false;
box.onclick = (event) => { event.preventDefault(); on = !on; box.ariaChecked = String(on); };
</script>"""
PRESSED_THROUGH = """<div id=item style="padding: 30px; cursor: pointer"><span id=shadow></span> Docs</div><script>
shadow.attachShadow({ mode: "open" }).innerHTML = "<input type=checkbox style='pointer-events: none'>";
box = shadow.shadowRoot.firstChild;
places = [];
item.onclick = (event) => { box.checked = !box.checked; places.push([event.clientX, event.clientY]); };
</script>"""
INTERNALS = """<my-radio id=box>Large</my-radio><my-radio id=later>Small</my-radio><my-radio id=dead>None</my-radio><script>
customElements.define("my-radio", class extends HTMLElement {
  connectedCallback() {
    const internals = this.attachInternals();
    internals.role = "radio"; internals.ariaChecked = "false";
    const check = () => { internals.ariaChecked = "true"; };
    this.onclick = () => ({ box: check, later: () => setTimeout(check, 100), dead: () => 0 })[this.id]();
  }
});
</script>"""


async def test_check_of_switch_with_state_in_attribute_only(form: FormPage) -> None:
    await form.show(CANCELLING)
    for act, on in ((form.page.check, True), (form.page.check, True), (form.page.uncheck, False)):
        await act(await form.node("#box"), timeout=20)
        assert await form.js("[on, box.checked]") == [on, False]
    # An unchanged attribute is no evidence of the state.
    await form.show("<input type=checkbox role=switch id=box aria-checked=false>")
    for act, on in ((form.page.check, True), (form.page.check, True), (form.page.uncheck, False)):
        await act(await form.node("#box"), timeout=20)
        assert await form.js("box.checked") is on


async def test_box_without_pointer_events_is_pressed_at_its_place(form: FormPage) -> None:
    await form.show(PRESSED_THROUGH)
    node = await form.node("box")
    await form.page.check(node, timeout=20)
    await form.page.check(node, timeout=20)
    assert await form.js("box.checked") is True
    assert await form.js(
        "(({ left, right, top, bottom }) => places.map(([x, y]) => x > left && x < right && y > top && y < bottom))"
        "(box.getBoundingClientRect())"
    ) == [True]
    await form.js(
        "void document.body.insertAdjacentHTML('beforeend', '<p style=position:fixed;inset:0>over</p>')"
    )
    await refused(CoveredError, lambda timeout: form.page.uncheck(node, timeout=timeout))
    assert await form.js("box.checked") is True


async def test_box_in_label_without_pointer_events_is_pressed_by_its_label(form: FormPage) -> None:
    await form.show(
        "<label style='position:relative;display:inline-block;padding:20px'><span style='position:absolute;inset:0'>"
        "<input type=radio id=box style='opacity:0;width:0;height:0;margin:0;pointer-events:none'></span>"
        "<b style='position:relative'>Night</b></label>"
    )
    await form.page.check(await form.node("#box"), timeout=20)
    assert await form.js("box.checked") is True


async def test_the_role_and_state_of_element_internals(form: FormPage) -> None:
    await form.show(INTERNALS)
    for at in ("#box", "#later"):
        await form.page.check(await form.node(at), timeout=20)
        await form.page.check(await form.node(at), timeout=20)
    assert await form.events("click") == [("click", "box", True), ("click", "later", True)]
    await form.page.fill(await form.page.find(role="radio", name="Large"), True, timeout=20)
    with pytest.raises(ValueRefusedError, match="did not change"):
        await form.page.check(await form.node("#dead"), timeout=20)
    with pytest.raises(NotInteractableError, match="another one of its group"):
        await form.page.uncheck(await form.node("#box"), timeout=20)
