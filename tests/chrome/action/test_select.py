from __future__ import annotations

import logging
import threading

import pytest
import trio
from form_page import FormPage
from pytest_httpserver import HTTPServer
from refusals import refused
from werkzeug import Request, Response

import cdpengine
from cdpengine._input.forms.listbox import Option
from cdpengine.errors import (
    NotInteractableError,
    OptionNotFoundError,
    ValueRefusedError,
)

pytestmark = pytest.mark.chrome

COLOURS = """
<select id=list>
  <option value=r>Red<option value=g selected>Green
  <optgroup label=Dark><option value=b>Deep  blue<option disabled value=k>Black</optgroup>
  <optgroup label=Light disabled><option value=w>White</optgroup>
  <option>Grey<option value=Red>Rot
</select>
"""
SEVERAL = COLOURS.replace("id=list", "id=list multiple")

LISTBOX = """
<button id=open aria-haspopup=listbox aria-controls=list aria-expanded=false>Choose</button>
<ul id=list role=listbox hidden>
  <li role=option id=o1 data-value=r>Red</li><li role=option id=o2>Green</li>
  <li role=option id=o3 aria-disabled=true>Blue</li>
</ul>
<script>
  const button = document.getElementById("open"), list = document.getElementById("list");
  button.onclick = () => { list.hidden = !list.hidden; };
  for (const option of list.children) {
    option.onclick = () => {
      for (const each of list.children) each.setAttribute("aria-selected", each === option);
      button.textContent = option.textContent;
      list.hidden = true;
    };
  }
</script>
"""


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ("r", "r"),
        ("Grey", "Grey"),
        ("Red", "Red"),
        ("Deep blue", "b"),
        (Option(label="Red"), "r"),
        (Option(value="b"), "b"),
        (Option(index=0), "r"),
        (Option(label="Rot", index=6), "Red"),
    ],
)
async def test_select_one_option_by_keyboard(form: FormPage, wanted: str | Option, value: str) -> None:
    await form.show(COLOURS)
    outcome = await form.page.select(await form.node("#list"), wanted, timeout=20)
    assert (outcome.action, outcome.chosen) == ("select", (value,))
    assert await form.js("list.value") == value
    assert await form.events("input", "change") == [("input", "list", True), ("change", "list", True)]
    assert [e["value"] for e in await form.record("change")] == [value]
    # The open list receives the keys. The engine then releases the control that opened it.
    assert [(e["type"], e["key"]) for e in await form.record("keydown", "keyup")] == [
        ("keydown", "F4"),
        ("keyup", "Enter"),
        ("keyup", "F4"),
    ]


async def test_selected_option_is_left_alone(form: FormPage) -> None:
    await form.show(COLOURS)
    outcome = await form.page.select(await form.node("#list"), "Green")
    assert outcome.chosen == ("g",)
    assert await form.events("input", "change", "keydown") == []


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("wanted", "selected"),
    [
        (["r", "Grey"], ["r", "Grey"]),
        ([Option(index=2)], ["b"]),
        ([], []),
        (["g"], ["g"]),
    ],
)
async def test_several(form: FormPage, wanted: list[str | Option], selected: list[str]) -> None:
    await form.show(SEVERAL)
    outcome = await form.page.select(await form.node("#list"), *wanted)
    assert await form.js("Array.from(list.selectedOptions, each => each.value)") == selected
    assert list(outcome.chosen) == selected
    assert not outcome.set_by_script
    changed = len({"g"} ^ set(selected))  # one change for each option whose state differs
    assert (
        await form.events("input", "change") == [("input", "list", True), ("change", "list", True)] * changed
    )


async def test_select_several_in_page_that_blocks_keys(form: FormPage) -> None:
    await form.show(SEVERAL)
    await form.js("void list.addEventListener('keydown', (event) => event.preventDefault())")
    outcome = await form.page.select(await form.node("#list"), "r", "b", timeout=20)
    assert await form.js("Array.from(list.selectedOptions, each => each.value)") == ["r", "b"]
    assert outcome.set_by_script
    assert await form.events("input", "change") == [("input", "list", False), ("change", "list", False)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("call", ["select", "fill", "click", "select its ref"])
async def test_an_option_itself(form: FormPage, call: str) -> None:
    await form.show(COLOURS)
    if call == "select":
        await form.page.select(await form.node("document.querySelector('[value=b]')"))
    elif call == "fill":
        await form.page.fill(await form.node("#list"), "Deep blue")
    else:
        ref = (await form.page.snapshot()).find(role="option", name="Deep blue")
        await (form.page.click(ref) if call == "click" else form.page.select(ref.id))
    assert await form.js("list.value") == "b"
    assert await form.events("change") == [("change", "list", True)]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("markup", "wanted", "error", "reason"),
    [
        (COLOURS, ["Yellow"], OptionNotFoundError, "does not exist. It has: 'Red', 'Green'"),
        (COLOURS, ["Black"], NotInteractableError, "'Black' is disabled"),
        (COLOURS, ["w"], NotInteractableError, "'White' is disabled"),
        (COLOURS, ["r", "b"], NotInteractableError, "takes one option, and 2"),
        (COLOURS, [], NotInteractableError, "takes one option, and 0"),
        (COLOURS.replace("id=list", "id=list disabled"), ["r"], NotInteractableError, "it is disabled"),
        (COLOURS.replace("id=list", "id=list hidden"), ["r"], NotInteractableError, "display: none"),
        ("<div id=list>text</div>", ["r"], NotInteractableError, "it is no select, listbox or radio button"),
        (
            COLOURS.replace("id=list", "id=list onchange='this.value = \"g\"'"),
            ["r"],
            ValueRefusedError,
            "did not keep the selection",
        ),
    ],
)
async def test_select_refuses_missing_and_disabled_options(
    form: FormPage, markup: str, wanted: list[str], error: type[Exception], reason: str
) -> None:
    await form.show(markup)
    aim = await form.node("#list")
    await refused(error, lambda timeout: form.page.select(aim, *wanted, timeout=timeout), match=reason)
    assert "Red" not in await form.js("list.value ?? ''")
    assert await form.js("document.querySelector(':open') === null")


async def test_waits_until_option_exists_and_is_enabled(form: FormPage) -> None:
    await form.show("<select id=list></select>")
    await form.js("void setTimeout(() => list.innerHTML = '<option>a<option disabled>b', 100)")
    await form.js("void setTimeout(() => list.options[1].disabled = false, 250)")
    await form.page.select(await form.node("#list"), "b", timeout=20)
    assert await form.js("list.value") == "b"


NUMBERS = "<select id=list><option>one<option>two</select>"


async def test_missing_option_of_static_list_is_refused_immediately(form: FormPage) -> None:
    """Changes outside its options are no reason to wait."""
    await form.show(NUMBERS)
    await form.js(
        "void setInterval(() => { list.dataset.at = performance.now(); list.options[0].className = 'a' }, 50)"
    )
    aim = await form.node("#list")
    took = []
    for _ in range(2):  # the machine may be busy for a moment
        started = trio.current_time()
        with pytest.raises(OptionNotFoundError, match="does not exist. It has: 'one', 'two'"):
            await form.page.select(aim, "three", timeout=20)
        took.append(trio.current_time() - started)
        if took[-1] < 1:
            break
    assert min(took) < 1
    assert await form.js("list.value") == "one"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "fill"),
    [
        # Only a placeholder, whatever its label.
        ("<select id=list></select>", "setTimeout(add, 650)"),
        ("<select id=list><option>Loading</select>", "setTimeout(add, 650)"),
        ("<select id=list><option value=''>Country<option value=''>-</select>", "setTimeout(add, 650)"),
        (f"<div aria-busy=true>{NUMBERS}</div>", "setTimeout(add, 650)"),
        # The options change one after the other.
        (
            NUMBERS,
            "(function more(n) { n ? list.add(new Option(n)) : add(); n && setTimeout(more, 250, n - 1) })(3)",
        ),
        # It is filled when it gets the focus.
        (NUMBERS, "list.addEventListener('focus', () => setTimeout(add, 200))"),
    ],
)
async def test_select_waits_for_list_that_is_still_being_filled(
    form: FormPage, markup: str, fill: str
) -> None:
    await form.show(markup)
    await form.js(f"window.add = () => list.add(new Option('three')); void {fill}")
    await form.page.select(await form.node("#list"), "three", timeout=20)
    assert await form.js("list.value") == "three"


async def test_select_waits_for_list_of_loading_document(
    form: FormPage, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The script that fills the list starts after the log reports the missing option. The engine waits for
    it.
    """
    logged = threading.Event()

    class Watch(logging.Handler):
        def emit(self, _record: logging.LogRecord) -> None:
            logged.set()

    def script(_request: Request) -> Response:
        assert logged.wait(20)
        return Response("list.add(new Option('three'))", content_type="text/javascript")

    httpserver.expect_request("/slow.js").respond_with_handler(script)
    httpserver.expect_request("/list").respond_with_data(
        f"{NUMBERS}<script src=/slow.js async></script>", content_type="text/html"
    )
    await form.page.goto(httpserver.url_for("/list"), wait_until="domcontentloaded")
    watch, logger = Watch(), logging.getLogger("cdpengine.action")
    caplog.set_level(logging.INFO, "cdpengine.action")
    logger.addHandler(watch)
    try:
        await form.page.select(await form.node("#list"), "three", timeout=20)
    finally:
        logger.removeHandler(watch)
        logged.set()
    assert await form.js("list.value") == "three"


async def test_page_that_blocks_keys(form: FormPage) -> None:
    await form.show(COLOURS)
    await form.js("void list.addEventListener('keydown', (event) => event.preventDefault())")
    outcome = await form.page.select(await form.node("#list"), "Grey", timeout=20)
    assert outcome.set_by_script
    assert await form.js("list.value") == "Grey"
    assert [kind for kind, _, _ in await form.events("input", "change")] == ["input", "change"]


async def test_select_that_navigates(form: FormPage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/there").respond_with_data("<p>there</p>", content_type="text/html")
    url = httpserver.url_for("/there")
    await form.show(f"<select id=list onchange='location.href = this.value'><option><option value={url}>go")
    await form.page.select(await form.node("#list"), "go", timeout=20)
    with trio.fail_after(20):
        while form.page.url != url:
            await form.page.title()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("target", "wanted", "chosen"),
    [
        ("open", ["Green"], "o2"),
        ("open", ["r"], "o1"),
        ("open", [Option(index=1)], "o2"),
        ("open", [Option(label="Red", value="r")], "o1"),
    ],
)
async def test_custom_listbox(form: FormPage, target: str, wanted: list[str | Option], chosen: str) -> None:
    await form.show(LISTBOX)
    await form.page.select(await form.node(f"#{target}"), *wanted, timeout=20)
    assert await form.js(f"{chosen}.getAttribute('aria-selected')") == "true"
    assert await form.events("click") == [("click", "open", True), ("click", chosen, True)]
    assert await form.js("list.hidden") is True


async def test_custom_option(form: FormPage) -> None:
    await form.show(LISTBOX.replace(" hidden>", ">"))
    await form.page.select(await form.node("#o2"))
    assert await form.events("click") == [("click", "o2", True)]


async def test_click_on_custom_option_is_a_plain_click(form: FormPage) -> None:
    await form.show(LISTBOX.replace(" hidden>", ">"))
    ref = (await form.page.snapshot()).find(role="option", name="Green")
    outcome = await form.page.click(ref)
    assert (outcome.action, outcome.delivered) == ("click", True)
    assert await form.events("click") == [("click", "o2", True)]


async def test_open_listbox_with_the_option_already_selected(form: FormPage) -> None:
    await form.show(LISTBOX.replace(" hidden>", ">").replace("id=o2", "id=o2 aria-selected=true"))
    await form.page.select(await form.node("#list"), "Green")
    assert await form.events("click") == []


async def test_a_listbox_of_several(form: FormPage) -> None:
    await form.show(
        """<ul id=list role=listbox aria-multiselectable=true>
        <li role=option id=o1 aria-selected=true>a</li><li role=option id=o2>b</li>
        <li role=option id=o3>c</li></ul>
        <script>for (const each of document.querySelectorAll("li")) {
          each.onclick = () => each.setAttribute("aria-selected", each.getAttribute("aria-selected") !== "true");
        }</script>"""
    )
    await form.page.select(await form.node("#list"), "b", "c", timeout=20)
    chosen = "Array.from(document.querySelectorAll('[aria-selected=true]'), each => each.id)"
    assert await form.js(chosen) == ["o2", "o3"]
    assert [target for _, target, _ in await form.events("click")] == ["o2", "o3", "o1"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("markup", "wanted", "error", "reason"),
    [
        (LISTBOX, "Blue", NotInteractableError, "'Blue' is disabled"),
        (LISTBOX, "Yellow", OptionNotFoundError, "It has: 'Red', 'Green', 'Blue'"),
        (
            LISTBOX.replace("option.onclick", "option.onfocus"),
            "Red",
            ValueRefusedError,
            "does not show it as selected",
        ),
    ],
)
async def test_no_such_option_in_a_listbox(
    form: FormPage, markup: str, wanted: str, error: type[Exception], reason: str
) -> None:
    await form.show(markup)
    with trio.fail_after(20), pytest.raises(error, match=reason):
        await form.page.select(await form.node("#open"), wanted, timeout=1)
