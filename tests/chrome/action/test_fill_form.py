from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
import trio
from form_page import FormPage

import cdpengine
from cdpengine._api.page.forms import Field
from cdpengine._input.forms.form import FieldValue
from cdpengine._input.forms.listbox import Option
from cdpengine.act import Actor, dispatch
from cdpengine.errors import (
    AmbiguousNodeError,
    FormError,
    InvalidArgumentError,
    NodeNotFoundError,
    NotInteractableError,
    OptionNotFoundError,
    SessionGoneError,
    StaleRefError,
    ValueRefusedError,
)

pytestmark = pytest.mark.chrome

FORM = """<form>
<input id=name value=old><textarea id=notes></textarea><input id=born type=date><input id=size type=number>
<input id=agree type=checkbox><input id=no type=checkbox checked>
<select id=one><option>a<option>b</select><select id=several multiple><option>a<option>b<option>c</select>
<input id=file type=file><input id=files type=file multiple><div id=rich contenteditable>old</div>
<input id=locked disabled><input id=short maxlength=2>
</form>"""

STATE = """[document.getElementById('name').value, notes.value, born.value, size.value, agree.checked, no.checked,
  one.value, Array.from(several.selectedOptions, each => each.value), file.files.length, files.files.length,
  rich.innerText]"""


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    """A new page for each test, because one of them closes it."""
    return new_tab


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    form = FormPage(page)
    await form.show(FORM)
    return form


async def test_fill_form_fills_every_kind_of_field(form: FormPage, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("x")
    values: list[tuple[str, FieldValue]] = [
        ("name", "ada"),
        ("notes", "one\ntwo"),
        ("born", dt.date(1815, 12, 10)),
        ("size", 1.5),
        ("agree", True),
        ("no", False),
        ("one", Option(index=1)),
        ("several", ["a", "c"]),
        ("file", paths[0]),
        ("files", paths),
        ("rich", "new"),
    ]
    fields = [Field(await form.node(f"#{name}"), value) for name, value in values]
    outcome = await form.page.fill_form(fields, timeout=10)
    assert (outcome.action, outcome.target) == ("fill form", "11 fields")
    wanted = ["ada", "one\ntwo", "1815-12-10", "1.5", True, False, "b", ["a", "c"], 1, 2, "new"]
    assert await form.js(STATE) == wanted
    changed = [target for _, target, _ in await form.events("change")]
    assert changed[0] == "name"
    assert {"born", "agree", "no", "one", "several", "file", "files"} <= set(changed)


async def test_a_string_for_a_file_input_is_a_path(form: FormPage, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("x")
    page, strings = form.page, [str(path) for path in paths]
    await page.fill_form([(page.locate("#file"), strings[0]), (page.locate("#files"), strings)], timeout=10)
    names = "[file, files].map(each => Array.from(each.files, one => one.name))"
    assert await form.js(names) == [["a.txt"], ["a.txt", "b.txt"]]
    missing = str(tmp_path / "none.txt")
    with pytest.raises(FormError) as caught:
        await page.fill_form([(page.locate("#file"), missing), (page.locate("#files"), [missing])], timeout=5)
    assert [type(each.error) for each in caught.value.failed] == [InvalidArgumentError] * 2
    assert str(caught.value).count(missing) == 2
    assert await form.js(names) == [["a.txt"], ["a.txt", "b.txt"]]


async def test_a_request_names_no_file_in_the_value_of_a_field(
    form: FormPage, browser: cdpengine.Browser, tmp_path: Path
) -> None:
    actor = Actor(browser)
    actor.focus(form.page)
    path = tmp_path / "secret.txt"
    path.write_text("x")
    for value in (str(path), [str(path)]):
        response = await dispatch(actor, {"kind": "fill", "fields": [{"selector": "#file", "value": value}]})
        assert response.error is not None
        assert response.error.message.startswith("the field was not filled in:")
        assert response.error.message.endswith("it takes files; use an upload request")
        assert response.error.hint == "Use another element or another action."
    assert await form.js("file.files.length") == 0


async def test_a_dict_of_refs(form: FormPage) -> None:
    snapshot = await form.page.snapshot()
    box = snapshot.find(role="checkbox")
    await form.page.fill_form({box: True, snapshot.find(role="spinbutton").id: 7})
    assert await form.js("[agree.checked, size.value]") == [True, "7"]


async def test_locators_are_resolved_one_after_the_other(form: FormPage) -> None:
    page = form.page
    await form.js("""document.getElementById('name').oninput = () => {
      notes.insertAdjacentHTML('beforebegin', '<label>Street <input id=street></label>');
    }""")
    fields: list[tuple[cdpengine.Locator, FieldValue]] = [
        (page.locate("#name"), "ada"),
        (page.locate(role="textbox", name="Street"), "Main 1"),
    ]
    fields += [(page.locate("#agree"), True), (page.locate(role="combobox"), "b")]
    await page.fill_form(fields, timeout=10)
    state = "[document.getElementById('name').value, street.value, agree.checked, one.value]"
    assert await form.js(state) == ["ada", "Main 1", True, "b"]
    with pytest.raises(FormError) as caught:
        await page.fill_form(
            [(page.locate("#none"), "x"), (page.locate("input"), "x"), *fields[2:]], timeout=1.5
        )
    assert [type(each.error) for each in caught.value.failed] == [NodeNotFoundError, AmbiguousNodeError]
    assert caught.value.filled == 2


async def test_locator_of_replaced_field_is_resolved_again(form: FormPage) -> None:
    # The first node is disabled until the page replaces it, so it disappears while fill waits for it.
    await form.js(
        """setTimeout(() => locked.replaceWith(Object.assign(document.createElement('input'), { id: 'locked' })), 300)"""
    )
    await form.page.fill_form({form.page.locate("#locked"): "x"}, timeout=10)
    assert await form.js("locked.value") == "x"


async def test_all_errors_are_reported_together_and_other_fields_are_filled(
    form: FormPage, tmp_path: Path
) -> None:
    gone = await form.node("#notes")
    await form.js("notes.remove()")
    missing = tmp_path / "name.txt"
    fields = [
        (await form.node("#short"), "too long"),
        (await form.node("#locked"), "x"),
        (gone, "x"),
        (await form.node("#one"), "z"),
        (await form.node("#agree"), "yes"),
        (await form.node("#file"), str(missing)),
        (await form.node("#name"), "ada"),
    ]
    with trio.fail_after(10), pytest.raises(FormError) as caught:
        await form.page.fill_form(fields, timeout=4)
    kinds = [type(field.error) for field in caught.value.failed]
    assert kinds == [
        ValueRefusedError,
        NotInteractableError,
        StaleRefError,
        OptionNotFoundError,
        InvalidArgumentError,
        InvalidArgumentError,
    ]
    assert caught.value.filled == 1
    assert [field.target for field in caught.value.failed] == [
        f"backend node {node.id}" for node, _ in fields[:6]
    ]
    first, *others = str(caught.value).splitlines()
    assert first == "6 of 7 fields were not filled in:"
    assert len(others) == 6
    for line, word in zip(
        others,
        ("2 characters at most", "disabled", "is stale", "'a', 'b'", "true", str(missing)),
        strict=True,
    ):
        assert word in line
    assert await form.js("document.getElementById('name').value") == "ada"


async def test_page_closes_during_fill_form(form: FormPage) -> None:
    name, notes = await form.node("#name"), await form.node("#notes")
    fields = [(await form.node("#locked"), "x"), (name, "a"), (notes, "b")]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(form.page.close)
        with trio.fail_after(10), pytest.raises(SessionGoneError):
            await form.page.fill_form(fields, timeout=20)
