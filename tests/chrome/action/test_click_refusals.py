"""Clicks on elements that are not ready: the engine waits, or refuses with the reason and sends nothing."""

from __future__ import annotations

import pytest
import trio
from action_stage import BUTTON, Stage, clicked
from pytest_httpserver import HTTPServer
from refusals import refused

from cdpengine.errors import (
    CoveredError,
    NotInteractableError,
    StaleRefError,
)

pytestmark = pytest.mark.chrome

# --- refusals -------------------------------------------------------------------------------------------------


async def test_covered_names_the_cover_and_nothing_is_clicked(stage: Stage) -> None:
    await stage.show(
        BUTTON
        + "<div class='overlay dark' id=x style='position:fixed;inset:0;background:#0008'>Please wait</div>"
    )
    caught = await refused(CoveredError, lambda timeout: stage.click("#go", timeout=timeout))
    assert caught.value.covered_by == "div#x.overlay.dark 'Please wait'"
    assert "Please wait" in str(caught.value)
    assert "probed" in caught.value.steps[-1]
    assert await stage.record() == []


async def test_waits_until_the_cover_is_gone(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    await stage.js("void setTimeout(() => x.remove(), 200)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_partly_covered_element_is_clicked_at_visible_part(stage: Stage) -> None:
    await stage.show(
        BUTTON + "<div style='position:absolute;left:95px;top:45px;width:70px;height:30px'></div>"
    )
    await stage.click("#go")
    record = await stage.record("click")
    assert [e["target"] for e in record] == ["go"]
    assert record[0]["x"] >= 165


async def test_force_clicks_the_cover(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    await stage.click("#go", force=True)
    assert await clicked(stage) == ["x"]


async def test_pointer_events_none_is_named(stage: Stage) -> None:
    await stage.show("<div id=under><button id=go style='pointer-events:none'>Go</button></div>")
    await refused(
        CoveredError, lambda timeout: stage.click("#go", timeout=timeout), match="pointer-events: none"
    )
    assert await stage.record() == []


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<button id=go disabled>Go</button>", "it is disabled"),
        ("<fieldset id=set disabled><button id=go>Go</button></fieldset>", "disabled by fieldset#set"),
        ("<button disabled id=outer><b id=go>Go</b></button>", "its ancestor button#outer"),
        ("<button id=go aria-disabled=true>Go</button>", "aria-disabled"),
        ("<div inert id=box><button id=go>Go</button></div>", "is inert"),
        ("<label id=go>Name <input id=field disabled></label>", "its control input#field is disabled"),
    ],
)
async def test_disabled(stage: Stage, body: str, reason: str) -> None:
    await stage.show(body)
    caught = await refused(
        NotInteractableError, lambda timeout: stage.click("#go", timeout=timeout), state="disabled"
    )
    assert reason in caught.value.reason
    assert await stage.record() == []


async def test_legend_of_a_disabled_fieldset_is_enabled(stage: Stage) -> None:
    await stage.show("<fieldset disabled><legend><button id=go>Go</button></legend></fieldset>")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_waits_until_enabled(stage: Stage) -> None:
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js("void setTimeout(() => { go.disabled = false }, 150)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<button id=go style='display:none'>Go</button>", "it has display: none"),
        ("<div id=box style='display:none'><button id=go>Go</button></div>", "its ancestor div#box"),
        ("<button id=go style='visibility:hidden'>Go</button>", "visibility: hidden"),
        ("<div id=go style='width:0;height:0'></div>", "its size is 0 x 0"),
        ("<input type=hidden id=go>", "type hidden"),
        ("<select><option id=go>One</option></select>", "select()"),
        ("<div id=go style='display:contents'></div>", "it has no box"),
        ("<button id=go style='position:fixed;left:-500px'>Go</button>", "cannot be scrolled there"),
    ],
)
async def test_invisible(stage: Stage, body: str, reason: str) -> None:
    await stage.show(body)
    caught = await refused(
        NotInteractableError, lambda timeout: stage.click("#go", timeout=timeout), state="invisible"
    )
    assert reason in caught.value.reason
    assert await stage.record() == []


async def test_waits_until_shown(stage: Stage) -> None:
    await stage.show("<button id=go style='display:none'>Go</button>")
    await stage.js("void setTimeout(() => { go.style.display = '' }, 150)")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]


async def test_detached_element_is_stale_immediately(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    await stage.js("window.kept = go; go.remove()")
    with trio.fail_after(20), pytest.raises(StaleRefError, match="no longer in the document"):
        await stage.click(node, timeout=30)


async def test_detached_while_waiting_is_stale(stage: Stage) -> None:
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js("void setTimeout(() => go.remove(), 150)")
    with trio.fail_after(20), pytest.raises(StaleRefError):
        await stage.click("#go", timeout=30)


async def test_document_replaced_while_waiting_is_stale(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/next").respond_with_data(
        "<button id=go>Other</button>", content_type="text/html"
    )
    await stage.show("<button id=go disabled>Go</button>")
    await stage.js(f"void setTimeout(() => {{ location = {httpserver.url_for('/next')!r} }}, 150)")
    with trio.fail_after(20), pytest.raises(StaleRefError):
        await stage.click("#go", timeout=30)


# --- movement -------------------------------------------------------------------------------------------------


async def test_waits_until_an_animation_has_settled(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js("void go.animate([{left: '600px'}, {left: '100px'}], {duration: 300})")
    await stage.click("#go")
    assert [(e["target"], e["x"]) for e in await stage.record("click")] == [("go", 140)]


async def test_endless_animation_is_unstable_at_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js("void go.animate([{left: '0'}, {left: '600px'}], {duration: 900, iterations: Infinity})")
    await refused(
        NotInteractableError,
        lambda timeout: stage.click("#go", timeout=timeout),
        state="unstable",
        match="keeps moving",
    )
    assert await stage.record("mousedown") == []


async def test_animation_inside_a_shadow_root_counts(stage: Stage) -> None:
    await stage.show("<div id=host></div>")
    await stage.js(
        "host.attachShadow({mode: 'open'}).innerHTML = '<button style=\"position:absolute;left:0\">Go</button>',"
        "void host.shadowRoot.firstChild.animate([{left: '0'}, {left: '500px'}],"
        " {duration: 900, iterations: Infinity})"
    )
    aim = await stage.node("host.shadowRoot.firstChild")
    await refused(NotInteractableError, lambda timeout: stage.click(aim, timeout=timeout), state="unstable")


async def test_spinner_elsewhere_does_not_delay_the_click(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=spin style='width:9px;height:9px'></div>")
    await stage.js("void spin.animate([{opacity: 0}, {opacity: 1}], {duration: 200, iterations: Infinity})")
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
