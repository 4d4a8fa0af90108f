"""Renamed elements: nodes that the page reuses for another item after their ref was returned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import cdpengine
from cdpengine.act import Actor, dispatch

pytestmark = pytest.mark.chrome

PAGE = """
<button id=mail>Delete mail 2</button> <a id=inbox href="#a">Inbox (3)</a> <a id=photo href="#b">Photo (1)</a>
<a href="#c">Photo (2)</a> <div id=row style="cursor: pointer">Row of Ann</div> <button id=icon aria-label=Play>x</button>
<div role=button tabindex=0 id=role>Archive</div> <input id=text aria-label=Name> <input id=hint placeholder=City>
<label>Terms<input id=box type=checkbox></label> <label>Colour<select id=list><option>red<option>blue</select></label>
<input id=file type=file aria-label=Photo> <button id=long></button> <button id=gone>Nameless</button>
<iframe srcdoc="<button id=inner>Inside</button>"></iframe>
<script>
  document.getElementById("long").textContent = "word ".repeat(60) + "one";
  window.did = [];
  for (const type of ["click", "input", "keydown", "focusin", "change", "wheel", "mousemove", "dblclick", "drop"]) {
    document.addEventListener(type, (event) => event.isTrusted && event.target.id && did.push(type + " " + event.target.id), true);
  }
  row.addEventListener("click", () => {});
</script>
"""
RENAME = """() => {
  mail.textContent = "Delete mail 52"; inbox.textContent = "Inbox (4)"; photo.textContent = "Photo (7)";
  row.textContent = "Row of Bob"; icon.setAttribute("aria-label", "Delete"); role.setAttribute("role", "link");
  text.setAttribute("aria-label", "Card number"); hint.placeholder = "PIN"; file.setAttribute("aria-label", "Key");
  box.labels[0].firstChild.data = "Delete everything"; list.labels[0].firstChild.data = "Size";
  document.getElementById("long").textContent = "word ".repeat(60) + "two"; gone.textContent = "";
  frames[0].document.querySelector("button").textContent = "Other";
  did.length = 0;
}"""

Do = Callable[[cdpengine.Page, str], Awaitable[Any]]

VERBS: dict[str, tuple[str, Do]] = {
    "click": ("mail", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "double_click": ("mail", lambda page, ref: page.double_click(ref, refuse_renamed=True)),
    "hover": ("mail", lambda page, ref: page.hover(ref, refuse_renamed=True)),
    "tap": ("mail", lambda page, ref: page.tap(ref, refuse_renamed=True)),
    "scroll": ("mail", lambda page, ref: page.scroll(0, 10, ref, refuse_renamed=True)),
    "scroll_into_view": ("mail", lambda page, ref: page.scroll_into_view(ref, refuse_renamed=True)),
    "press": ("mail", lambda page, ref: page.press("Enter", ref, refuse_renamed=True)),
    "focus": ("mail", lambda page, ref: page.focus(ref, refuse_renamed=True)),
    "drag": ("mail", lambda page, ref: page.drag(ref, (5, 5), refuse_renamed=True)),
    "forced": ("mail", lambda page, ref: page.click(ref, force=True, refuse_renamed=True)),
    "type": ("text", lambda page, ref: page.type(ref, "x", refuse_renamed=True)),
    "fill": ("hint", lambda page, ref: page.fill(ref, "x", refuse_renamed=True)),
    "check": ("box", lambda page, ref: page.check(ref, refuse_renamed=True)),
    "uncheck": ("box", lambda page, ref: page.uncheck(ref, refuse_renamed=True)),
    "fill a box": ("box", lambda page, ref: page.fill(ref, True, refuse_renamed=True)),
    "select": ("list", lambda page, ref: page.select(ref, "blue", refuse_renamed=True)),
    "upload": ("file", lambda page, ref: page.upload(ref, __file__, refuse_renamed=True)),
    "row": ("row", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "label": ("icon", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "role": ("role", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "series": ("photo", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "long": ("long", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "nameless": ("gone", lambda page, ref: page.click(ref, refuse_renamed=True)),
    "frame": ("inner", lambda page, ref: page.click(ref, refuse_renamed=True)),
}


async def stage(page: cdpengine.Page) -> dict[str, str]:
    """Show the page and return its elements' refs by id."""
    await page.set_content(PAGE)
    await page.wait_for(expression="frames[0]?.document.querySelector('button')")
    refs = [*(await page.snapshot()).refs]
    ids = [await page.evaluate("element => element.id", target=ref) for ref in refs]
    return dict(zip(ids, refs, strict=True))


async def test_every_verb_refuses_a_renamed_element(page: cdpengine.Page) -> None:
    refs = await stage(page)
    await page.evaluate(RENAME)
    for verb, (target, do) in VERBS.items():
        with pytest.raises(cdpengine.errors.StaleRefError) as refused:
            await do(page, refs[target])
        assert refused.value.became == "renamed", verb
        assert refused.value.ref == refs[target]
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.drag(refs["inbox"], refs["mail"], refuse_renamed=True)
    with pytest.raises(cdpengine.errors.FormError) as failed:
        fields: list[Any] = [(refs["text"], "x"), (refs["list"], ["blue"]), (refs["box"], True)]
        await page.fill_form(fields, refuse_renamed=True)
    assert [type(each.error) for each in failed.value.failed] == [cdpengine.errors.StaleRefError] * 3
    assert await page.evaluate("did") == []


async def test_the_outcome_reports_a_renamed_element_once(page: cdpengine.Page) -> None:
    refs = await stage(page)
    assert (await page.click(refs["mail"])).renamed is None
    await page.evaluate(RENAME)
    outcome = await page.click(refs["mail"])
    old, new = outcome.renamed
    assert (old.name, new.name) == ("Delete mail 2", "Delete mail 52")
    assert outcome.target == outcome.received_by == f'{refs["mail"]} button "Delete mail 52"'
    assert (await page.click(refs["mail"], refuse_renamed=True)).renamed is None
    outcome = await page.click(refs["inbox"], refuse_renamed=True)
    assert outcome.renamed.new.name == "Inbox (4)", "a counter does not make it another item"


async def test_requests_refuse_until_the_new_name_was_returned(browser: cdpengine.Browser) -> None:
    async with browser.new_context() as context:
        actor = Actor(browser, context)
        assert (await dispatch(actor, {"kind": "newTab"})).ok
        page = actor.current
        assert page is not None
        refs = await stage(page)
        assert (await dispatch(actor, {"kind": "snapshot"})).ok
        await page.evaluate(RENAME)
        # A read that the actor needs for the next diff does not count as returned to the caller.
        assert (await dispatch(actor, {"kind": "snapshot", "find": "Inbox"})).ok
        refused = await dispatch(actor, {"kind": "click", "ref": refs["mail"], "diff": True})
        assert refused.error is not None
        assert refused.error.kind == "staleRef"
        assert '"Delete mail 2"' in refused.error.message
        assert '"Delete mail 52"' in refused.error.message
        assert (await dispatch(actor, {"kind": "find", "name": "Delete mail 52"})).result["count"] == 1
        assert (await dispatch(actor, {"kind": "click", "ref": refs["mail"]})).ok
        assert await page.evaluate("did.filter((each) => each.startsWith('click'))") == ["click mail"]
        # The diff reports a name that the caller's own action changed.
        await page.evaluate("icon.onclick = () => icon.setAttribute('aria-label', 'Pause')")
        assert (await dispatch(actor, {"kind": "snapshot"})).ok
        for _ in range(2):
            response = await dispatch(actor, {"kind": "click", "ref": refs["icon"], "diff": True})
            assert response.ok, response.error
