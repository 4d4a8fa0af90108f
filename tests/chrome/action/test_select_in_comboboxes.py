"""Select from custom comboboxes, as component libraries build them."""

from __future__ import annotations

import pytest
import trio
from form_page import FormPage

import cdpengine
from cdpengine._input.forms.listbox import Option
from cdpengine.errors import CoveredError, NotInteractableError, OptionNotFoundError, ValueRefusedError

pytestmark = pytest.mark.chrome

COMBOBOX = """<style>
  .box { width: 220px; min-height: 30px; border: 1px solid; position: relative }
  .shown { position: absolute; left: 4px; top: 4px }
  .box input { border: 0; outline: 0; width: 120px; margin: 4px 0 0 60px }
</style>
<div class=box id=box><span id=chips></span><div class=shown id=shown>Pick one</div>
<input id=fruit role=combobox aria-label=Fruit aria-expanded=false aria-haspopup=true aria-autocomplete=list></div>
<ul role=listbox aria-label=Other><li role=option>Banana</ul>
<div id=layer></div>
<script>
const ALL = SETTINGS.many ? Array.from({ length: 1000 }, (_, i) => "Item " + (i + 1)) : ["Apple", "Banana", "Cherry"];
chosen = SETTINGS.several ? ["Apple"] : [];
events = [];
function names() {
  const typed = fruit.value.toLowerCase();
  if (SETTINGS.lookup && !typed) return [];
  return ALL.filter((name) => name.toLowerCase().includes(typed) && !(SETTINGS.several && chosen.includes(name)));
}
function draw() {
  shown.hidden = SETTINGS.several;
  shown.textContent = chosen[0] ?? "Pick one";
  chips.innerHTML = SETTINGS.several ? chosen.map((name) => `<span>${name}<button aria-label="Remove ${name}">x</button></span>`).join("") : "";
  for (const button of chips.querySelectorAll("button")) {
    button.onclick = () => { chosen = chosen.filter((name) => button.ariaLabel !== "Remove " + name); events.push("remove"); draw(); };
  }
}
function show() {
  fruit.setAttribute("aria-expanded", "true");
  fruit.setAttribute("aria-controls", "list");
  layer.innerHTML = "<div role=listbox id=list>" + names().map((name, i) =>
    `<div role=option id=o${i} aria-selected=${SETTINGS.highlights && i === 0}>${name}</div>`).join("") + "</div>";
  if (SETTINGS.highlights) fruit.setAttribute("aria-activedescendant", "o0");
  for (const option of layer.querySelectorAll("[role=option]")) option.onclick = () => {
    if (SETTINGS.refuses) return hide();
    chosen = SETTINGS.several ? [...chosen, option.textContent] : [option.textContent];
    events.push("choose " + option.textContent);
    draw(); hide();
  };
}
function hide() {
  fruit.value = "";
  fruit.setAttribute("aria-expanded", "false");
  fruit.removeAttribute("aria-controls");
  layer.innerHTML = "";
}
box.onmousedown = (event) => {
  if (event.target.localName === "button") return;
  event.preventDefault(); fruit.focus(); layer.innerHTML ? hide() : show();
};
layer.onmousedown = (event) => event.preventDefault();
let timer = 0;
fruit.oninput = () => {
  clearTimeout(timer);
  if (SETTINGS.lookup) timer = setTimeout(show, 150);
  else show();
};
fruit.onblur = hide;
fruit.onkeydown = (event) => { if (event.key === "Escape") hide(); };
draw();
}</script>"""


def combobox(**settings: bool) -> str:
    given = ", ".join(f"{name}: {str(value).lower()}" for name, value in settings.items())
    return COMBOBOX.replace("<script>", f"<script>{{ const SETTINGS = {{ {given} }};", 1)


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.mark.parametrize("settings", [{}, {"highlights": True}, {"lookup": True}], ids=str)
async def test_control_shows_the_chosen_option(form: FormPage, settings: dict[str, bool]) -> None:
    await form.show(combobox(**settings))
    node = await form.node("#fruit")
    for wanted in ("Apple", Option(label="Banana")):
        await form.page.select(node, wanted, timeout=20)
    assert await form.js("events") == ["choose Apple", "choose Banana"]
    assert await form.js("[shown.textContent, fruit.value, layer.innerHTML]") == ["Banana", "", ""]


async def test_several_chips_equal_the_requested_options(form: FormPage) -> None:
    await form.show(combobox(several=True))
    node = await form.node("#fruit")
    await form.page.select(node, "Banana", "Cherry", timeout=20)
    assert await form.js("chosen") == ["Banana", "Cherry"]
    await form.page.fill_form({node: ["Cherry", "Apple"]}, timeout=20)
    assert await form.js("chosen") == ["Cherry", "Apple"]
    await form.page.select(node, "Apple", timeout=20)
    assert await form.js("chosen") == ["Apple"]


async def test_a_refused_choice_and_several_in_a_control_of_one(form: FormPage) -> None:
    await form.show(combobox(refuses=True))
    with pytest.raises(ValueRefusedError, match="does not show it as selected"):
        await form.page.select(await form.node("#fruit"), "Banana", timeout=3)
    await form.show(combobox())
    with pytest.raises(NotInteractableError, match="takes one option, and 2 were given"):
        await form.page.select(await form.node("#fruit"), "Banana", "Apple", timeout=5)


async def test_missing_option_leaves_no_typed_text(form: FormPage) -> None:
    await form.show(combobox())
    with trio.fail_after(20), pytest.raises(OptionNotFoundError, match="'Apple', 'Banana', 'Cherry'"):
        await form.page.select(await form.node("#fruit"), "Yam", timeout=1.5)
    assert await form.js("fruit.value") == ""


VIRTUAL = """<div id=control role=combobox tabindex=0 aria-label=Item aria-expanded=false aria-controls=list>Pick</div>
<div id=layer hidden><div role=listbox id=list SIZED style="height: 200px; overflow: auto"><div id=inner style="position: relative"></div></div></div>
<script>
const HEIGHT = 20, COUNT = 1000;
chosen = null;
inner.style.height = HEIGHT * COUNT + "px";
function draw() {
  const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - ABOVE);
  inner.innerHTML = Array.from({ length: 12 + ABOVE + BELOW }, (_, i) => first + i).filter((i) => i < COUNT).map((i) =>
    `<div role=option style="position: absolute; height: ${HEIGHT}px; top: ${i * HEIGHT}px" PLACED>Item ${i + 1}</div>`.replace("%", i + 1)).join("");
  for (const each of inner.children) each.onclick = () => {
    chosen = control.textContent = each.textContent; layer.hidden = true; control.ariaExpanded = "false";
  };
}
list.onscroll = () => requestAnimationFrame(draw);
control.onclick = () => { layer.hidden = false; control.ariaExpanded = "true"; draw(); };
</script>"""


@pytest.mark.parametrize(("sized", "above", "below"), [(False, 0, 0), (True, 6, 14)])
async def test_a_virtual_list_is_scrolled_to_the_option(
    form: FormPage, sized: bool, above: int, below: int
) -> None:
    placed = 'aria-setsize=1000 aria-posinset="%"' if sized else ""
    page = VIRTUAL.replace("PLACED", placed).replace("SIZED", "")
    await form.show(page.replace("ABOVE", str(above)).replace("BELOW", str(below)))
    control = await form.node("#control")
    await form.page.select(control, "Item 777", timeout=20)
    assert await form.js("chosen") == "Item 777"
    await form.page.select(control, "Item 3", timeout=20)
    assert await form.js("chosen") == "Item 3"
    if sized:
        await form.page.select(control, Option(index=400), timeout=20)
        assert await form.js("chosen") == "Item 401"
        with pytest.raises(OptionNotFoundError):
            await form.page.select(control, "Item 1001", timeout=5)


async def test_unordered_virtual_list_is_scrolled_page_by_page(form: FormPage) -> None:
    mixed = VIRTUAL.replace(">Item ${i + 1}<", ">Item ${(i * 617 + 500) % 1000 + 1}<")
    spaced = mixed.replace("height: ${HEIGHT}px", "height: ${HEIGHT - 3}px").replace("PLACED", "")
    await form.show(spaced.replace("SIZED", "").replace("ABOVE", "0").replace("BELOW", "14"))
    await form.js("scrolls = 0, void list.addEventListener('scroll', () => scrolls++)")
    control = await form.node("#control")
    await form.page.select(control, "Item 801", timeout=20)
    assert await form.js("chosen") == "Item 801"
    assert await form.js("scrolls") < 60  # 24 of 1,000 options at a time


async def test_a_virtual_list_whose_options_are_for_assistive_technology_alone(form: FormPage) -> None:
    hidden = VIRTUAL.replace("role=listbox id=list", "id=list").replace(
        "aria-controls=list", "aria-controls=told"
    )
    hidden = hidden.replace("<div role=option", "<div").replace(
        "<div id=layer hidden>",
        "<div id=layer hidden><div id=told role=listbox style='width: 0; height: 0; overflow: hidden'>"
        "<div role=option aria-label='Item 1'>i1</div></div>",
    )
    await form.show(
        hidden.replace("SIZED", "").replace("PLACED", "").replace("ABOVE", "0").replace("BELOW", "0")
    )
    await form.js("scrolls = 0, void list.addEventListener('scroll', () => scrolls++)")
    await form.page.select(await form.node("#control"), "Item 777", timeout=20)
    assert await form.js("chosen") == "Item 777"
    assert await form.js("scrolls") < 20


CLOSING = VIRTUAL.replace(
    "layer.hidden = true;", "setTimeout(() => { layer.hidden = true; }, PAUSE);"
).replace(
    "draw(); };",
    "list.scrollTop = chosen ? place(chosen) * HEIGHT : 0; draw(); }; opened = 0; control.addEventListener('click', () => opened++);",
)


@pytest.mark.parametrize(
    ("descending", "pause"), [(False, 250), pytest.param(True, 500, marks=pytest.mark.slow)]
)
async def test_a_virtual_list_that_closes_late_and_opens_at_the_choice(
    form: FormPage, descending: bool, pause: int
) -> None:
    page = CLOSING.replace("PLACED", "").replace("SIZED", "").replace("ABOVE", "0").replace("BELOW", "0")
    if descending:
        page = page.replace("${i + 1}", "${COUNT - i}")
    place = "COUNT - text.slice(5)" if descending else "text.slice(5) - 1"
    page = page.replace("chosen = null;", f"chosen = null; const place = (text) => {place};")
    await form.show(page.replace("PAUSE", str(pause)))
    control = await form.node("#control")
    for count, wanted in enumerate(("Item 5", "Item 777", "Item 5", "Item 1000"), 1):
        await form.page.select(control, wanted, timeout=10)
        assert await form.js("chosen") == wanted
        assert await form.js("opened") <= count


COLLAPSED = """<div id=control style="width: 300px"><span id=tags></span>
<input id=field role=combobox readonly aria-label=Fruit aria-haspopup=listbox aria-expanded=false aria-controls=list style="width: 20px"></div>
<ul id=list role=listbox hidden></ul><script>
const ALL = ["Apple", "Banana", "Cherry", "Durian", "Elder"];
chosen = [];
let active = "";
function draw() {
  tags.innerHTML = chosen.length ? `<i><b>${chosen[0]}</b><button aria-label="Remove">x</button></i>` : "";
  if (chosen.length > 1) tags.innerHTML += `<i><b>+ ${chosen.length - 1}</b></i>`;
  if (chosen.length) tags.querySelector("button").onclick = () => { chosen.shift(); draw(); };
  list.innerHTML = ALL.map((each) => `<li role=option id=${each} aria-selected=${chosen.includes(each)}>${each}`).join("");
  field.setAttribute("aria-activedescendant", active);
  for (const each of list.children) each.onclick = () => {
    active = each.id;
    chosen = chosen.includes(each.id) ? chosen.filter((one) => one !== each.id) : [...chosen, each.id];
    draw();
  };
}
const show = (on) => { list.hidden = !on; field.ariaExpanded = String(on); };
field.onclick = () => show(list.hidden);
field.onkeydown = (event) => { if (event.key === "Escape") show(false); };
list.onmousedown = (event) => event.preventDefault();
draw();
</script>"""


async def test_one_visible_chip_with_count_of_others(form: FormPage) -> None:
    await form.show(COLLAPSED)
    node = await form.node("#field")
    for wanted in (["Banana", "Cherry", "Elder"], ["Banana", "Durian"], ["Banana"], ["Cherry", "Apple"]):
        await form.page.select(node, *wanted, timeout=20)
        assert sorted(await form.js("chosen")) == sorted(wanted)
        assert await form.js("list.hidden") is True


SHADOW = """<x-select></x-select><script>
customElements.define("x-option", class extends HTMLElement {
  connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<div role=option><slot></slot></div>"; }
});
customElements.define("x-select", class extends HTMLElement {
  connectedCallback() {
    this.innerHTML = ["Apple", "Banana"].map((name) => `<x-option value=${name[0]}>${name}</x-option>`).join("");
    this.attachShadow({ mode: "open" }).innerHTML = `<div style="width: 200px; position: relative" id=base>
      <input id=input role=combobox readonly aria-label=Fruit aria-haspopup=listbox aria-expanded=false aria-controls=list style="width: 180px">
      <div style="position: absolute; inset: 0" id=front>Pick</div></div>
      <div role=listbox id=list hidden><slot></slot></div>`;
    const [base, input, list, front] = ["base", "input", "list", "front"].map((id) => this.shadowRoot.getElementById(id));
    const show = (on) => { list.hidden = !on; input.ariaExpanded = String(on); };
    base.onclick = () => show(list.hidden);
    this.onclick = (event) => {
      const option = event.composedPath().find((each) => each.localName === "x-option");
      if (!option) return;
      this.value = option.getAttribute("value"); front.textContent = option.textContent; show(false);
    };
  }
});
</script>"""


async def test_options_slotted_into_a_shadow_root_behind_a_placeholder(form: FormPage) -> None:
    await form.show(SHADOW)
    ref = (await form.page.snapshot()).find(role="combobox", name="Fruit")
    value = "document.querySelector('x-select').value"
    await form.page.select(ref, "Banana", timeout=10)
    assert await form.js(value) == "B"
    await form.page.fill_form({ref: "Apple"}, timeout=10)  # read-only: options are the only way to set it
    assert await form.js(value) == "A"
    await form.page.select(ref, Option(value="B"), timeout=10)
    assert await form.js(value) == "B"


VEILED = """<div id=box style="width: 200px"><input id=field role=combobox aria-label=Fruit readonly aria-haspopup=listbox
  aria-expanded=false aria-controls=list><span id=shown></span></div>
<div id=popup hidden><div id=list role=listbox style="width: 0; height: 0; overflow: hidden">
  <div role=option aria-label=Apple>a</div><div role=option aria-label=Banana>b</div></div>
  <div><div><b>Apple</b></div><div><b>Banana</b></div><div><b>Cherry</b></div></div></div>
<script>
field.onclick = () => { popup.hidden = false; field.ariaExpanded = "true"; };
for (const each of popup.querySelectorAll("b")) each.parentNode.onclick = () => {
  shown.textContent = each.textContent; popup.hidden = true; field.ariaExpanded = "false";
};
</script>"""


async def test_visible_options_next_to_those_for_assistive_technology(form: FormPage) -> None:
    await form.show(VEILED)
    for wanted in ("Banana", "Cherry"):
        await form.page.select(await form.node("#field"), wanted, timeout=10)
        assert await form.js("shown.textContent") == wanted


async def test_hidden_select_behind_control_shows_the_choice(form: FormPage) -> None:
    await form.show(
        """<div><select id=native multiple hidden tabindex=-1><option value=a selected>Apple<option value=b>Banana</select>
        <span id=control role=combobox tabindex=0 aria-label=Fruit aria-expanded=false aria-controls=list>0</span></div>
        <ul id=list role=listbox aria-multiselectable=true hidden>
        <li role=option id=o1 aria-selected=true>Apple<li role=option id=o2 aria-selected=true>Banana</ul>
        <script>
        control.onclick = () => { list.hidden = !list.hidden; control.ariaExpanded = String(!list.hidden); };
        for (const [index, each] of [...list.children].entries()) each.onclick = () => {
          native.options[index].selected = !native.options[index].selected;
        };
        </script>"""
    )
    # Both have the selected state; one of them is the option with the keyboard focus.
    await form.page.select(await form.node("#control"), "Banana", timeout=10)
    assert await form.js("Array.from(native.selectedOptions, (each) => each.value)") == ["b"]


COVERED = """<div id=box style="width: 200px; position: relative"><input role=combobox aria-label=Fruit aria-haspopup=listbox
  readonly style="width: 190px"><div id=front style="position: absolute; inset: 0">IN</div></div><script>
pressed = [];
document.onclick = (event) => pressed.push(event.target.id);
</script>"""


async def test_placeholder_of_combobox_does_not_cover_it(form: FormPage) -> None:
    for page in (COVERED, f"<div>{COVERED.replace('id=box', 'id=box tabindex=-1', 1)}"):
        await form.show(page.replace("IN", "Pick one"))
        outcome = await form.page.click(
            (await form.page.snapshot()).find(role="combobox", name="Fruit"), timeout=5
        )
        assert outcome.delivered
        assert await form.js("pressed") == ["front"]


@pytest.mark.parametrize(
    "inner",
    [
        "<button style='width: 200px'>Remove</button>",
        "<p style='position: fixed; inset: 0; margin: 0'>Wait</p>",
    ],
)
async def test_button_or_overlay_in_combobox_covers_it(form: FormPage, inner: str) -> None:
    await form.show(COVERED.replace("IN", inner))
    ref = (await form.page.snapshot()).find(role="combobox", name="Fruit")
    with pytest.raises(CoveredError):
        await form.page.click(ref, timeout=1)
    assert await form.js("pressed") == []


SUGGESTIONS = """<input id=city role=combobox aria-expanded=false aria-controls=found aria-label=City>
<ul id=found role=listbox hidden></ul>
<script>
city.oninput = () => setTimeout(() => {
  found.hidden = false;
  found.innerHTML = ["Berlin", "Bern", "Bergen"].filter((name) => name.startsWith(city.value)).map((name) => `<li role=option>${name}`).join("");
}, 100);
found.onmousedown = (event) => { event.preventDefault(); city.value = event.target.textContent; found.hidden = true; };
</script>"""


async def test_second_choice_from_a_list_that_hides_its_old_suggestions(form: FormPage) -> None:
    await form.show(SUGGESTIONS)
    city = await form.page.find(role="combobox")
    await form.page.type(city, "Ber")
    await form.page.click(await form.page.find(role="option", name="Bern", timeout=5))
    for name in ("Bergen", "Berlin"):
        await form.page.select(city, name)
        assert await form.page.evaluate("city.value") == name
