"""Custom date and time fields with a spin button for each part, filled in as a whole."""

from __future__ import annotations

import datetime as dt

import pytest
from form_page import FormPage
from refusals import refused

import cdpengine
from cdpengine.errors import FocusMovedError, NotInteractableError

pytestmark = pytest.mark.chrome

# Like MUI: a form input that passes the focus on, and sections that advance automatically.
FIELD = """<label id=label for=hidden>Due</label>
<div role=group id=group aria-labelledby=label><div id=list></div><input id=hidden aria-hidden=true tabindex=-1></div>
<script>
  var wanted = WANTED;
  var date = {};
  var sections = wanted.map(([name, shown, least, most]) => {
    const section = document.createElement("span");
    Object.assign(section, { role: "spinbutton", ariaLabel: name, ariaValueMin: least, ariaValueMax: most, contentEditable: true });
    section.textContent = shown;
    section.oninput = () => {
      const typed = section.textContent.trim();
      const number = name === "ampm" ? "AP".indexOf(typed[0]) : Number(typed);
      const good = typed !== shown && number >= least && number <= most;
      section.textContent = good ? (name === "ampm" ? typed : typed.padStart(shown.length, "0")) : shown;
      section.ariaValueNow = good ? number : null;
      date[name] = good ? number : null;
      if (good) sections[sections.indexOf(section) + 1]?.focus();
    };
    section.onkeydown = (event) => {
      if (event.key !== "Backspace") return;
      event.preventDefault();
      section.textContent = shown;
      section.ariaValueNow = date[name] = null;
    };
    return section;
  });
  document.getElementById("list").append(...sections.flatMap((each) => [each, "/"]));
  document.getElementById("hidden").onfocus = () => sections[0].focus();
</script>"""
# Like React Aria: numbers without zeros, Backspace removes one digit, and the form's input has `hidden`.
PLAIN = (
    FIELD.replace('typed.padStart(shown.length, "0")', "String(number)")
    .replace(
        "section.textContent = shown;\n      section.ariaValueNow = date[name] = null;",
        "shorten(section, name, shown);",
    )
    .replace("<input id=hidden aria-hidden=true tabindex=-1>", "<input id=hidden hidden type=text>")
    + """<script>
  function shorten(section, name, shown) {
    const left = section.textContent.slice(0, -1);
    section.textContent = section.ariaValueNow === null || left === "" ? shown : left;
    section.ariaValueNow = date[name] = section.textContent === shown ? null : Number(left);
  }
</script>"""
)
DATE = """[["month", "MM", 1, 12], ["day", "DD", 1, 31], ["year", "YYYY", 0, 9999]]"""
TIMES = """[["hour", "hh", 1, 12], ["minute", "mm", 0, 59], ["ampm", "aa", 0, 1]]"""


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


async def test_fill_date_fills_each_section(form: FormPage) -> None:
    await form.show(FIELD.replace("WANTED", DATE))
    for where in ("#group", "#list", "#label", "#hidden"):
        node = await form.node(where)
        for value, written in (
            ("2026-11-26", [11, 26, 2026]),
            ("1/2/2027", [1, 2, 2027]),
            (dt.date(2025, 2, 3), [2, 3, 2025]),
            ("", [None, None, None]),
        ):
            await form.page.fill(node, value, timeout=20)
            assert await form.js("[date.month, date.day, date.year]") == written, (where, value)
    await form.page.fill_form({await form.node("#label"): "11/26/2026"}, timeout=20)
    group = await form.node("#group")
    for value in ("2026-13-01", "13/1/2026", "1/2/26", "tomorrow", "2026-11-26 14:30", "9:05 PM"):
        await refused(
            NotInteractableError,
            lambda timeout, value=value: form.page.fill(group, value, timeout=timeout),  # type: ignore[misc]
            match="date or time of month, day, year",
        )
    assert await form.js("[date.month, date.day, date.year]") == [11, 26, 2026], "nothing changed"


async def test_fill_time_fills_each_section(form: FormPage) -> None:
    await form.show(FIELD.replace("WANTED", TIMES))
    label = await form.node("#label")
    for value, written in (("23:15", [11, 15, 1]), ("9:05 AM", [9, 5, 0]), (dt.time(0, 30), [12, 30, 0])):
        await form.page.fill(label, value, timeout=20)
        assert await form.js("[date.hour, date.minute, date.ampm]") == written
    both = DATE[:-1] + ", " + TIMES[1:]
    await form.show(FIELD.replace("WANTED", both))
    await form.page.fill(await form.node("#group"), dt.datetime(2026, 3, 14, 14, 30), timeout=20)
    assert await form.js("Object.values(date)") == [3, 14, 2026, 2, 30, 1]


async def test_dialog_that_steals_focus_from_section_is_reported(form: FormPage) -> None:
    await form.show(
        FIELD.replace("WANTED", DATE) + "<dialog id=ask><button id=delete>Delete</button></dialog>"
    )
    await form.js(
        "void (sections[1].onfocus = () => { ask.showModal(); document.getElementById('delete').focus(); })"
    )
    with pytest.raises((FocusMovedError, NotInteractableError)):
        await form.page.fill(await form.node("#label"), "2026-11-26", timeout=2)
    assert await form.js("[date.day ?? null, date.year ?? null]") == [None, None]


async def test_sections_that_show_numbers_without_zeros_are_filled_and_emptied(form: FormPage) -> None:
    await form.show(PLAIN.replace("WANTED", DATE))
    group = await form.node("#group")
    for value, written in (
        ("2026-01-31", [1, 31, 2026]),
        (dt.date(2024, 12, 9), [12, 9, 2024]),
        ("", [None, None, None]),
    ):
        await form.page.fill(group, value, timeout=20)
        assert await form.js("[date.month, date.day, date.year]") == written
    await form.show(PLAIN.replace("WANTED", TIMES))
    await form.page.fill(await form.node("#group"), "14:05", timeout=20)
    assert await form.js("[date.hour, date.minute, date.ampm]") == [2, 5, 1]


async def test_slider_of_a_group_is_named(form: FormPage) -> None:
    await form.show(
        "<div role=group id=group aria-labelledby=label><span id=label>Volume</span><input type=range aria-labelledby=label></div>"
    )
    group = await form.node("#group")
    await refused(
        NotInteractableError,
        lambda timeout: form.page.fill(group, "40", timeout=timeout),
        match='fill in one of its fields: slider "Volume"',
    )
