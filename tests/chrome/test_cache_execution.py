"""Entries run on pages on loopback, and the pages' log shows the effects."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import trio
from cache_executions import LOG, SECRET, entry_of, execute, log_of, step, targets_of

import cdpengine
from cdpengine.act import Check, Click, Fill, FormField, Hover, Navigate, Press, Select, Type, Wait
from cdpengine.cache import (
    CacheEntry,
    PostCondition,
    Target,
    Values,
    describe_target,
    find_target,
    read_features,
)
from cdpengine.cache.matching.probing import QueriedElement, has_counts, probe_page
from cdpengine.errors import InvalidArgumentError, VariablesError

pytestmark = pytest.mark.chrome

LOGIN = f"""<!doctype html><title>Log in</title>{LOG}
<h1>Welcome</h1><nav><a href="#home">Home</a><a href="#help">Help</a></nav>
<form aria-label="Log in" onsubmit="event.preventDefault(); out.textContent = 'Hello ' + user.value">
  <label>User <input id=user></label> <label>Password <input id=password type=password></label>
  <label><input type=checkbox id=remember> Remember me</label><button id=go>Log in</button>
</form><form aria-label="Search"><label>Words <input id=words></label><button id=search type=button>Search</button></form>
<p id=out></p>"""

REDESIGN = f"""<!doctype html><title>Sign in</title>{LOG}
<a href="#a">Register</a><main><section aria-label="Sign in">
<form onsubmit="event.preventDefault(); out.textContent = 'Hello ' + user.value">
  <div><div><label for=user>User name</label></div><input id=user></div>
  <div><label for=password>Your password</label><input id=password type=password></div><button id=go>Sign in</button>
</form></section><button type=button id=delete>Delete account</button></main><p id=out></p>"""


async def login_entry(page: cdpengine.Page, url: str, **more: Any) -> CacheEntry:
    await page.goto(url)
    targets = await targets_of(page, t1="textbox User", t2="textbox Password", t3="button Log in")
    fields = (FormField(ref="t1", value="${user}"), FormField(ref="t2", value="${password}"))
    fill = step(Fill(fields=fields), {slot: targets[slot] for slot in ("t1", "t2")})
    go = step(
        Click(ref="t1"), {"t1": targets["t3"]}, after=PostCondition(text="Hello ${user}"), label="log in"
    )
    return entry_of(url, fill, go, features=read_features(await page.snapshot()), **more)


# --- one entry, two designs ----------------------------------------------------------------------------------


async def test_an_entry_is_carried_out(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    entry = await login_entry(page, serve(LOGIN))
    await page.reload()
    report = await execute(page, entry)
    assert report.ok, report.to_table()
    assert [(each.status, each.level, each.kind) for each in report.steps] == [
        ("done", "exact", "fill"),
        ("done", "exact", "click"),
    ]
    assert await log_of(page) == ["input user", "input password", "click go"]
    assert (report.healed, report.change, report.screenshot, report.stopped_at) == (None, None, None, None)
    assert SECRET not in repr(report) + str(report.to_json()) + report.to_table()
    assert report.to_json()["steps"][1]["matches"]["t1"]["level"] == "exact"
    assert "log in" in report.to_table()


async def test_a_redesign_is_healed_and_the_healed_entry_is_exact(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN))
    serve(REDESIGN)
    await page.reload()
    report = await execute(page, entry)
    assert report.ok, report.to_table()
    assert [each.level for each in report.steps] == ["healed", "healed"]
    assert await log_of(page) == ["input user", "input password", "click go"]
    assert report.healed is not None
    assert [target.name for each in report.healed.all_steps() for target in each.targets.values()] == [
        "User name", "Your password", "Sign in",
    ]  # fmt: skip
    await page.reload()
    again = await execute(page, report.healed)
    assert [each.level for each in again.steps] == ["exact", "exact"]


async def test_another_control_in_its_place_is_never_clicked(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN))
    serve(LOGIN.replace("<button id=go>Log in", "<button id=go>Delete account"))
    await page.reload()
    report = await execute(page, entry)
    assert (report.ok, report.stopped_at, report.steps[1].status) == (False, 1, "failed")
    assert report.steps[1].level == "missing"
    assert "click go" not in await log_of(page)
    assert report.reason.startswith("step 1: missing: button 'Log in' is not there")


@pytest.mark.parametrize("echo", [False, True])
async def test_a_failed_run_shows_the_page_without_the_secret(
    echo: bool, page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN))
    shown = LOGIN.replace("type=password", "type=text").replace("Log in</button>", "Delete</button>")
    # A label of the page repeats the typed value. The label is a bare text without a box to paint over.
    script = "<p id=echo></p><script>password.oninput = () => { echo.textContent = password.value }</script>"
    serve(shown + (script if echo else ""))
    await page.reload()
    report = await execute(page, entry)
    assert not report.ok
    assert report.diff is not None
    assert "***" in report.diff
    assert SECRET not in str(report.to_json())
    if echo:
        assert report.screenshot is None
        assert report.remarks == (
            "no picture: a part of the page that may show a secret could not be painted over",
        )
    else:
        assert report.screenshot is not None
        assert await grey_at(page, report.screenshot, "#password") > 0.8
        assert await grey_at(page, report.screenshot, "#user") == 0


async def grey_at(page: cdpengine.Page, picture: bytes, css: str) -> float:
    """Return the painted-over fraction of an element in a picture."""
    from PIL import Image

    box = await page.evaluate(
        f"(() => {{ const b = document.querySelector('{css}').getBoundingClientRect(); return [b.x, b.y, b.right, b.bottom] }})()"
    )
    assert isinstance(box, list)
    left, top, right, bottom = map(int, box)
    cut = Image.open(io.BytesIO(picture)).convert("RGB").crop((left, top, right, bottom))
    return sum(
        cut.getpixel((x, y)) == (128, 128, 128) for x in range(cut.width) for y in range(cut.height)
    ) / (cut.width * cut.height)


async def test_a_failed_run_without_secrets_has_a_plain_picture(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve(LOGIN)
    await page.goto(url)
    entry = entry_of(url, step(Click(ref="t1"), {"t1": Target(role="button", name="Nowhere")}))
    report = await execute(page, entry, Values({}))
    assert report.screenshot is not None
    assert report.screenshot.startswith(b"\x89PNG")
    assert report.diff is not None


# --- before the first step -----------------------------------------------------------------------------------


async def test_all_variables_without_a_value_are_named_before_anything_is_done(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN))
    with pytest.raises(VariablesError) as caught:
        await execute(page, entry, Values({}))
    assert list(caught.value.missing) == ["user", "password"]
    assert await log_of(page) == []
    # Only the variables of the requested steps.
    with pytest.raises(VariablesError, match="user"):
        await execute(page, entry, Values({"password": "x"}), from_index=1)


@pytest.mark.parametrize(
    "bounds",
    [
        {"from_index": -1},
        {"from_index": 2},
        {"to_index": 0},
        {"to_index": 3},
        {"from_index": 1, "to_index": 1},
    ],
)
async def test_missing_range_is_refused(
    bounds: dict[str, Any], page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = entry_of(serve(LOGIN), step(Press(key="Tab")), step(Press(key="Tab")))
    with pytest.raises(InvalidArgumentError):
        await execute(page, entry, **bounds)


async def test_a_range_of_steps(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    entry = await login_entry(page, serve(LOGIN))
    report = await execute(page, entry, to_index=1)
    assert [each.index for each in report.steps] == [0]
    report = await execute(page, entry, from_index=1)
    assert [each.index for each in report.steps] == [1]
    assert await log_of(page) == ["input user", "input password", "click go"]


async def test_another_page_stops_unless_it_is_forced(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN), page_type="static")
    other = "<!doctype html><h1>A</h1>" + "<ul><li><a href='#'>x</a></ul>" * 30 + LOG
    other += "<form aria-label='Log in'><label>User <input id=user></label><label>Password <input type=password id=password></label><button id=go type=button onclick='out.textContent=`Hello ada`'>Log in</button></form><p id=out></p>"
    serve(other)
    await page.reload()
    report = await execute(page, entry)
    assert (report.ok, report.stopped_at, {each.status for each in report.steps}) == (
        False,
        None,
        {"skipped"},
    )
    assert report.change is not None
    assert report.change.kind == "structure"
    assert await log_of(page) == []
    report = await execute(page, entry, force=True)
    assert report.ok, report.to_table()
    elsewhere = serve(LOGIN, "/other")
    await page.goto(elsewhere)
    report = await execute(page, entry)
    assert "the entry is for" in report.reason
    assert await log_of(page) == []


async def test_a_dry_run_does_nothing(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    entry = await login_entry(page, serve(LOGIN))
    later = step(Click(ref="t1"), {"t1": Target(role="button", name="Log out")})
    entry = attrs.evolve(entry, steps=(*entry.steps, later))
    report = await execute(page, entry, dry_run=True)
    assert (report.ok, report.dry_run) == (False, True) or report.ok
    assert [each.status for each in report.steps] == ["planned", "planned", "skipped"]
    assert report.ok, report.reason
    assert report.steps[0].what == "fill textbox 'User', textbox 'Password'"
    assert await log_of(page) == []
    report = await execute(page, attrs.evolve(entry, steps=(later,)), dry_run=True)
    assert (report.ok, report.stopped_at, report.steps[0].status) == (False, 0, "failed")


@pytest.mark.parametrize("dry_run", [False, True])
async def test_run_cancelled_before_its_start_does_nothing(
    dry_run: bool, page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await login_entry(page, serve(LOGIN))
    with trio.CancelScope() as scope:
        scope.cancel()
        await execute(page, entry, dry_run=dry_run)
    assert scope.cancelled_caught
    assert await log_of(page) == []


# --- every kind of target ------------------------------------------------------------------------------------

MANY = f"""<!doctype html><title>Many</title>{LOG}<label>Words <input id=words></label>
<label>Size <select id=size><option>Small<option>Large</select></label><label><input type=checkbox id=gift> As a gift</label>
<button id=menu>Menu</button><ul><li>Blue shoes <button id=blue>Remove</button><li>Red hat <button id=red>Remove</button></ul>
<iframe title=Card srcdoc="<button onclick='parent.done.push(`paid`)'>Pay</button>"></iframe>"""


async def test_kinds_of_requests_and_places(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    url = serve(MANY)
    await page.goto(url)
    await page.find(role="button", name="Pay", timeout=5)
    one = await targets_of(
        page,
        t1="textbox Words",
        t2="combobox Size",
        t3="checkbox As a gift",
        t4="button Menu",
        t5="button Pay",
    )
    snapshot = await page.snapshot()
    red = describe_target(snapshot, snapshot.find("button", "Remove", 1).id)
    entry = entry_of(
        url,
        step(Type(ref="t1", text="${user}"), {"t1": one["t1"]}),
        step(Select(ref="t1", values=("Large",)), {"t1": one["t2"]}),
        step(Check(ref="t1"), {"t1": one["t3"]}),
        step(Hover(ref="t1"), {"t1": one["t4"]}),
        step(Click(ref="t1"), {"t1": red}),
        step(Click(ref="t1"), {"t1": one["t5"]}),
        step(Wait(text="Menu")),
        step(Navigate(url=url)),
        features=read_features(snapshot),
    )
    report = await execute(page, entry, to_index=7)
    assert report.ok, report.reason
    assert [each.level for each in report.steps] == ["exact"] * 6 + [""]
    assert await page.evaluate("[words.value, size.value, gift.checked]") == ["ada", "Large", True]
    assert [each for each in await log_of(page) if each in ("paid", "click red", "click blue")] == [
        "click red",
        "paid",
    ]
    assert (await execute(page, entry, from_index=7)).ok


# --- the probe -----------------------------------------------------------------------------------------------

PROBED = """<!doctype html><title>Probed</title><style>.x::before { content: "Styled " }</style>
<h1>Words</h1><form aria-label=Top><label>User <input></label><label for=p>Pass</label><input id=p type=password>
<button>Save all</button><button aria-label="Close it">x</button><input type=submit value="Send off"></form>
<button class=x>name</button><div role=button tabindex=0>Custom one</div><a href=#a>Link <b>one</b></a><button hidden>Lost</button>
<button>Lost</button><button>Twice</button><button>Twice</button><div inert><button>Inert one</button></div>
<div aria-hidden=true><button>Silent one</button></div><form><input name=parentElement><input name=contains><button>In a trap</button></form>
<my-element></my-element><select aria-label=Choice><option>A</select><textarea aria-label=Text></textarea>
<input type=search aria-label=Find><input type=checkbox aria-label=Yes><input type=radio aria-label=Or><input type=number aria-label=Count>
<input type=range aria-label=Range><div role=tab>Tab one</div><div role=menuitem>Item one</div><div role=switch aria-checked=true>Switch one</div>
<dialog open aria-label=Asking><button>Answer it</button></dialog><details><summary>More of it</summary>x</details>
<script>customElements.define("my-element", class extends HTMLElement { constructor() { super();
this.attachShadow({ mode: "open" }).innerHTML = "<button>In a shadow</button>" } })</script>"""


async def test_probe_agrees_with_snapshot(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    await page.goto(serve(PROBED))
    snapshot = await page.snapshot()
    targets = {ref.id: describe_target(snapshot, ref.id) for ref in snapshot.refs.values() if ref.name}
    wanted = {
        ref: QueriedElement(target=each, name=each.name, item=each.item) for ref, each in targets.items()
    }
    probed = await probe_page(page, wanted)
    assert probed is not None
    assert {ref for ref in probed.refs if probed.refs[ref] != ref} == set()
    unsure = {targets[ref].name for ref in targets.keys() - probed.refs.keys()}
    # Elements without a unique selector, duplicates, and names or neighbours that the DOM does not show.
    left = {"Words", "Top", "Twice", "Asking", "A", "Styled name", "In a shadow", "Custom one"}
    left |= {"Silent one", "In a trap"}  # under aria-hidden, and next to that
    assert unsure == left
    assert has_counts(read_features(snapshot), (await probe_page(page, {}, counted=True) or probed).roles)
    hidden = {
        name: QueriedElement(target=Target(role="button", name=name), name=name, item="")
        for name in ("Inert one", "Silent one")
    }
    assert (await probe_page(page, hidden) or probed).refs == {}


async def test_probe_leaves_unsure_elements_to_snapshot(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    await page.goto(serve(LOGIN))
    snapshot = await page.snapshot()
    go = describe_target(snapshot, snapshot.find("button", "Log in").id)
    for script in (
        "go.insertAdjacentHTML('afterend', '<button>Log in</button>')",
        "document.body.append(go)",
        "const box = document.createElement('dialog'); box.open = true; document.body.append(box); box.append(go)",
        "go.textContent = 'Sign in'",
    ):
        await page.reload()
        await page.evaluate(f"{{ {script} }}")
        probed = await probe_page(page, {"t1": QueriedElement(target=go, name=go.name, item="")})
        assert probed is not None
        assert probed.refs == {}, script


async def test_a_probe_of_a_new_document_has_a_ref_that_a_snapshot_keeps(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    await page.goto(serve(LOGIN))
    snapshot = await page.snapshot()
    go = describe_target(snapshot, snapshot.find("button", "Log in").id)
    await page.reload()
    probed = await probe_page(page, {"t1": QueriedElement(target=go, name=go.name, item="")})
    assert probed is not None
    assert find_target(await page.snapshot(), go, Values({})).ref == probed.refs["t1"]
    await page.click(probed.refs["t1"])
    assert await log_of(page) == ["click go"]
