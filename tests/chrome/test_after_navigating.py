"""Reads, actions and navigations after an action that navigates belong to the next document.

The server is slow. Between the action and its response, Chrome delays commands to the page or lets the old
document respond. Titles, the page's events and the server's log show which document responded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from pytest_httpserver import HTTPServer
from slow_site import DELAY, OLD, SlowSite
from werkzeug import Response

import cdpengine
from cdpengine.act import dispatch
from cdpengine.errors import EvaluationTerminatedError, NavigationFailedError, StaleRefError

LEADS = {
    "link": "<a id=x href=/slow>Go</a>",
    "form": "<form action=/slow><button id=x>Send</button></form>",
    "posted form": "<form action=/slow method=post><button id=x>Send</button></form>",
    "Enter": "<form action=/slow><input id=x></form>",
    "script": "<button id=x onclick=\"location = '/slow'\">Go</button>",
    "submitting script": "<form action=/slow></form><button id=x onclick='document.forms[0].submit()'>Go</button>",
    "microtask": "<button id=x onclick=\"Promise.resolve().then(() => location = '/slow')\">Go</button>",
    "redirect": "<a id=x href=/redirect>Go</a>",
    "redirect of a posted form": "<form action=/redirect method=post><button id=x>Send</button></form>",
    "refresh": "<a id=x href=/refresh>Go</a>",
    "redirecting script": "<a id=x href=/hop>Go</a>",
    "question before leaving": "<a id=x href=/slow>Go</a><script>onbeforeunload = e => e.preventDefault()</script>",
}
STAYS = {
    "no content": "<a id=x href=/none>Go</a>",
    "download": "<a id=x href=/file>Go</a>",
    "fragment": "<a id=x href=#there>Go</a>",
    "pushState": "<button id=x onclick=\"history.pushState(1, '', '/pushed')\">Go</button>",
    "new tab": "<a id=x href=/slow target=_blank>Go</a>",
}


@pytest.fixture
def site(httpserver: HTTPServer) -> SlowSite:
    return SlowSite(httpserver)


async def go(page: cdpengine.Page, way: str) -> cdpengine.ActionOutcome:
    """Perform the action that navigates."""
    target = await page.find(css="#x")
    return await (page.press("Enter", target) if way == "Enter" else page.click(target))


# --- next calls --------------------------------------------------------------------------------------------------


async def title(page: cdpengine.Page, _site: SlowSite) -> str:
    return await page.title()


async def evaluate(page: cdpengine.Page, _site: SlowSite) -> str:
    return str(await page.evaluate("document.title"))


async def find(page: cdpengine.Page, _site: SlowSite) -> str:
    return (await page.find(css="#b")).description


async def snapshot(page: cdpengine.Page, _site: SlowSite) -> str:
    return (await page.snapshot()).text


async def click(page: cdpengine.Page, _site: SlowSite) -> str:
    await page.click(page.locate(css="#b"))
    return str(await page.evaluate("document.querySelector('[data-on]').textContent"))


async def fill(page: cdpengine.Page, _site: SlowSite) -> str:
    await page.fill(page.locate(css="#i"), "text")
    return str(await page.evaluate("document.querySelector('#i').value && document.title"))


async def screenshot(page: cdpengine.Page, _site: SlowSite) -> str:
    assert await page.screenshot()
    return await page.title()


async def goto(page: cdpengine.Page, site: SlowSite) -> str:
    assert (await page.goto(site.url("/third"))).url == site.url("/third")
    return await page.title()


async def reload(page: cdpengine.Page, _site: SlowSite) -> str:
    before = page.url
    assert (await page.reload()).url == before
    return await page.title()


async def go_back(page: cdpengine.Page, _site: SlowSite) -> str:
    await page.go_back()
    return await page.title()


READS: list[Callable[[cdpengine.Page, SlowSite], Awaitable[str]]] = [
    title, evaluate, find, snapshot, click, fill, screenshot, goto, reload, go_back,
]  # fmt: skip


def expected(read: object, way: str) -> str:
    """Return the word that the next call returns: that of the document it belongs to."""
    if read is goto:
        return "third"
    if read is go_back and way in LEADS:
        return "old"
    if read is go_back and way not in ("fragment", "pushState"):
        return "first"
    if read is reload and way == "pushState":
        return "pushed"
    return "new" if way in LEADS else "old"


async def check(page: cdpengine.Page, site: SlowSite, way: str, reads: list[int]) -> None:
    for number in reads:
        read = READS[number % len(READS)]
        await site.show(page, (LEADS | STAYS)[way])
        with trio.fail_after(20):
            await go(page, way)
            seen = await read(page, site)
        word = expected(read, way)
        assert word in seen, (way, read, seen)
        assert not ({"old", "new"} - {word}) & set(seen.replace('"', " ").split()), (way, read, seen)
        for popup in page.popups:
            await popup.close()


@pytest.mark.sample(6)
@pytest.mark.parametrize("way", [*LEADS, *STAYS])
async def test_next_call_belongs_to_the_next_document(
    used_page: cdpengine.Page, site: SlowSite, way: str
) -> None:
    first = [*LEADS, *STAYS].index(way) * 3
    await check(used_page, site, way, [0, first + 1, first + 2])


@pytest.mark.sample(4)
@pytest.mark.parametrize("milliseconds", [0, 15, 50, 150, 300])
async def test_a_navigation_after_the_action_breaks_no_read(
    used_page: cdpengine.Page, site: SlowSite, milliseconds: int
) -> None:
    """A read belongs to one of the two documents. Once the navigation has begun, it belongs to the next one."""
    later = f"<button id=x onclick=\"setTimeout(() => location = '/slow', {milliseconds})\">Go</button>"
    for read in (title, find, snapshot):
        await site.show(used_page, later)
        await go(used_page, "")
        seen = await read(used_page, site)
        assert ("old" in seen) != ("new" in seen), seen
        await site.wait_until_requested()
        seen = await read(used_page, site)
        assert "new" in seen, seen
        assert "old" not in seen
    for path in (
        ("/third", "/late") if milliseconds < DELAY * 1000 else ("/third",)
    ):  # the page interrupts /late
        await site.show(used_page, later)
        await go(used_page, "")
        assert (await used_page.goto(site.url(path))).url == site.url(path)
        assert await used_page.title() == path[1:]
    await site.show(used_page, later)
    await go(used_page, "")
    assert (await used_page.reload()).url == used_page.url


@pytest.mark.parametrize("way", ["reload", "go_back"])
async def test_response_without_document_ends_reload_and_back(
    used_page: cdpengine.Page, site: SlowSite, way: str
) -> None:
    """In every second round the old document is still being parsed, and Chrome reports less."""
    answer: list[Response] = []
    fresh = {"Cache-Control": "no-store"}  # otherwise Chrome sends the server no request
    html = "<title>changing</title><script>addEventListener('unload', () => 0)</script>"
    shown = Response(html, content_type="text/html", headers=fresh)
    site.server.expect_request("/changing").respond_with_handler(lambda _request: answer[0])
    site.start = OLD
    for end, told in (
        (Response(status=204), "status 204"),
        (Response(status=205), "status 205"),
        (Response(b"a", headers={"Content-Disposition": "attachment; filename=a.txt"}), "is a download"),
    ):
        for state in ("load", "commit"):
            answer[:] = [shown]
            await used_page.goto(site.url("/changing"))
            if way == "go_back":
                await used_page.goto(site.url("/start"), wait_until=state)
            elif state == "commit":
                await used_page.reload(wait_until=state)
            answer[:] = [end]
            with trio.fail_after(5), pytest.raises(NavigationFailedError, match=told):
                await getattr(used_page, way)()
            assert used_page.url == site.url("/start" if way == "go_back" else "/changing")
            assert await used_page.evaluate("1 + 1") == 2


async def test_callers_navigation_wins_over_the_pages(used_page: cdpengine.Page, site: SlowSite) -> None:
    """A timer of the old document fires at about the same time."""
    for milliseconds in range(0, 12, 3):
        await site.show(used_page, "")
        await used_page.evaluate(f"void setTimeout(() => {{ location = '/third' }}, {milliseconds})")
        assert (await used_page.goto(site.url("/pushed"))).url == site.url("/pushed")
        assert await used_page.title() == "pushed"
        await site.show(used_page, "<script>addEventListener('unload', () => 0)</script>")
        await used_page.evaluate(f"void setTimeout(() => {{ location = '/late' }}, {milliseconds + 2})")
        assert (await used_page.go_back()).url in (site.url("/first"), site.url("/start"))


async def test_a_script_of_the_caller_is_not_run_twice(used_page: cdpengine.Page, site: SlowSite) -> None:
    await site.show(used_page, "")
    await used_page.evaluate("sessionStorage.runs = 0")
    script = "sessionStorage.runs++; setTimeout(() => location = '/slow', 20); new Promise(() => {})"
    with pytest.raises(EvaluationTerminatedError, match="navigated away"):
        await used_page.evaluate(script)
    assert await used_page.evaluate("document.title + sessionStorage.runs") == "new1"


LATER = "<button id=x onclick=\"setTimeout(() => location = '/slow')\">Go</button>"
SCRIPTS = {
    "document.querySelector('#x').click()": LEADS["link"],
    "document.forms[0].requestSubmit()": LEADS["posted form"],
    "() => document.querySelector('#x').click()": LATER,
    "void setTimeout(() => { location = '/slow' })": "",
    "c = new MessageChannel(); c.port1.onmessage = () => { location = '/slow' }; c.port2.postMessage(1)": "",
}


@pytest.mark.parametrize("script", [*SCRIPTS])
async def test_call_after_script_that_navigates_belongs_to_next_document(
    used_page: cdpengine.Page, site: SlowSite, script: str
) -> None:
    site.delay = 0.05
    for read in (evaluate, evaluate, title):
        await site.show(used_page, SCRIPTS[script])
        await used_page.evaluate(script)
        assert await read(used_page, site) == "new"


async def test_keys_and_presses_of_the_devices_count_too(used_page: cdpengine.Page, site: SlowSite) -> None:
    """These calls return no outcome and do not wait. The next call does."""
    site.delay = 0.1
    for number in range(4):
        await site.show(used_page, LEADS["Enter"] if number % 2 else LEADS["posted form"])
        await used_page.focus(used_page.locate(css="#x"))
        await used_page.keyboard.press("Enter")
        assert await (evaluate if number < 2 else title)(used_page, site) == "new"


async def test_the_end_of_the_document_before_is_no_end_of_a_navigation(
    used_page: cdpengine.Page, site: SlowSite
) -> None:
    """Chrome reports the old document's end after the start of a navigation that directly follows a load."""
    site.delay = 0.1
    for _ in range(8):
        await site.show(used_page, "")
        await used_page.evaluate("void (location = '/slow')")
        assert await used_page.evaluate("document.title") == "new"


# --- frames ------------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("start", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("end", ["127.0.0.1", "localhost"])
async def test_a_link_in_a_frame(used_page: cdpengine.Page, site: SlowSite, start: str, end: str) -> None:
    origin = f"http://{end}:{site.server.port}"
    site.server.expect_request("/inner").respond_with_data(
        f"<title>inner</title><a id=x href={origin}/slow>Go</a>", content_type="text/html"
    )
    await site.show(used_page, f"<iframe src=http://{start}:{site.server.port}/inner></iframe>")
    before = used_page.frames[1]
    outcome = await used_page.click(await used_page.find(css="#x", frame=before, timeout=5))
    assert outcome.navigation is not None
    assert outcome.navigation.url == f"{origin}/slow"
    assert outcome.navigation.state == "arrived"
    (frame,) = [each for each in used_page.frames if each.id == outcome.navigation.frame_id]
    assert await used_page.evaluate("document.title", frame=frame) == "new"
    assert await used_page.evaluate("document.title", frame=before) == "new", "in another process or not"
    assert "new" in (await used_page.find(css="#b", frame=frame)).description
    assert await used_page.title() == "old"


async def test_frame_without_response_delays_only_one_read(
    used_page: cdpengine.Page, site: SlowSite, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cdpengine._page.navigation.document_waits.PATIENCE", 0.4)
    link = (
        f"<a id=x href=http://127.0.0.1:{silent_port}/ target=f>Go</a><iframe name=f srcdoc=inner></iframe>"
    )
    await site.show(used_page, link)
    outcome = await used_page.click(used_page.locate(css="#x"), timeout=2)
    assert outcome.navigation is not None
    assert outcome.navigation.state == "under way"
    with trio.fail_after(20):
        for _ in range(3):
            assert "old" in (await used_page.find(css="#b")).description
            assert await used_page.title() == "old"


# --- outcomes ----------------------------------------------------------------------------------------------------


async def test_the_outcome_names_where_the_page_went(used_page: cdpengine.Page, site: SlowSite) -> None:
    main = used_page.frames[0].id
    seen = {}
    site.delay = 0.05
    for way in (
        "redirect of a posted form",
        "redirecting script",
        "refresh",
        "no content",
        "fragment",
        "pushState",
    ):
        await site.show(used_page, (LEADS | STAYS)[way])
        seen[way] = (await go(used_page, way)).navigation
    started = cdpengine.actions.NavigationStarted
    assert seen == {
        "redirect of a posted form": started(main, site.url("/slow")),
        "redirecting script": started(main, site.url("/slow")),
        "refresh": started(main, site.url("/slow")),
        "no content": started(main, site.url("/none"), state="no document"),
        "fragment": started(main, site.url("/start") + "#there", within_document=True),
        "pushState": started(main, site.url("/pushed"), within_document=True),
    }


async def test_a_download_and_a_refused_connection(used_page: cdpengine.Page, site: SlowSite) -> None:
    await site.show(used_page, STAYS["download"])
    outcome = await go(used_page, "download")
    assert outcome.navigation is not None
    assert outcome.navigation.state == "no document"
    assert outcome.download is not None, "Chrome reports it after the end of the navigation"
    await site.show(used_page, "<a id=x href=http://127.0.0.1:1/>Go</a>")
    refused = (await go(used_page, "link")).navigation
    assert refused == cdpengine.actions.NavigationStarted(
        used_page.frames[0].id, "http://127.0.0.1:1/", state="failed"
    )


async def test_a_document_that_still_loads_does_not_hide_the_end_of_a_navigation(
    used_page: cdpengine.Page, site: SlowSite, silent_port: int
) -> None:
    """In this case Chrome reports no end of a navigation without a document."""
    await site.show(used_page, STAYS["no content"])
    await used_page.evaluate("url => { new Image().src = url }", f"http://127.0.0.1:{silent_port}/")
    with trio.fail_after(4):
        outcome = await go(used_page, "no content")
        assert await used_page.title() == "old"
    assert outcome.navigation is not None
    assert outcome.navigation.state == "no document"


async def test_unresponsive_server_delays_no_action(
    used_page: cdpengine.Page, site: SlowSite, silent_port: int
) -> None:
    await site.show(used_page, f"<a id=x href=http://127.0.0.1:{silent_port}/>Go</a>")
    with trio.fail_after(10):
        outcome = await used_page.click(used_page.locate(css="#x"), timeout=1)
        assert outcome.navigation is not None
        assert outcome.navigation.state == "under way"
        with pytest.raises(cdpengine.errors.PageUnresponsiveError, match="waits for another document"):
            await used_page.title(timeout=0.7)
        arrival = await used_page.goto(site.url("/third"))
    assert arrival.url == site.url("/third")
    assert await used_page.title() == "third"


async def test_a_dialog_ends_the_wait(used_page: cdpengine.Page, site: SlowSite) -> None:
    """The next document opens a dialog before it can be read. The action returns and reports the dialog."""
    site.server.expect_request("/asks").respond_with_data(
        "<title>asks</title><script>alert('hello')</script>", content_type="text/html"
    )
    await site.show(used_page, "<a id=x href=/asks>Go</a>")
    with trio.fail_after(10):
        outcome = await go(used_page, "link")
    assert [dialog.message for dialog in outcome.dialogs] == ["hello"]
    assert outcome.navigation is not None
    assert outcome.navigation.url == site.url("/asks")


async def test_dismissed_beforeunload_dialog_ends_the_wait(used_page: cdpengine.Page, site: SlowSite) -> None:
    await site.show(used_page, LEADS["question before leaving"])
    async with used_page.expect_dialog(accept=False):
        outcome = await used_page.click(used_page.locate(css="#x"))
    assert outcome.navigation is not None
    assert outcome.navigation.state == "no document"
    assert await used_page.title() == "old"
    assert not site.requested


async def test_a_cancelled_wait_leaves_a_page_that_can_be_used(
    used_page: cdpengine.Page, site: SlowSite
) -> None:
    verbs: list[Callable[[], Awaitable[object]]] = [
        lambda: used_page.click(used_page.locate(css="#x")),
        used_page.title,
        lambda: used_page.evaluate("1"),
        lambda: used_page.find(css="#b"),
    ]
    for number, verb in enumerate(verbs):
        await site.show(used_page, LEADS["posted form"])
        if number:
            await used_page.evaluate("setTimeout(() => document.forms[0].submit())")
            await site.wait_until_requested()
        ended = False
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                nonlocal ended
                await verb()  # noqa: B023
                ended = True

            nursery.start_soon(run)
            await site.wait_until_requested()
            nursery.cancel_scope.cancel()
        assert not ended, number
        assert await used_page.title() == "new", number
        assert site.requested == ["POST /slow"], number


async def test_a_ref_of_the_document_before_is_stale(used_page: cdpengine.Page, site: SlowSite) -> None:
    await site.show(used_page, LEADS["link"])
    ref = (await used_page.snapshot()).find("button", "old button")
    await used_page.evaluate("setTimeout(() => location = '/slow')")
    await site.wait_until_requested()
    with pytest.raises(StaleRefError):
        await used_page.click(ref)
    assert (
        await used_page.evaluate("document.title + document.querySelectorAll('[data-on]').length") == "new0"
    )


async def test_responses_have_the_new_page_url(used_page: cdpengine.Page, site: SlowSite) -> None:
    browser, target_id = used_page.browser, used_page.target_id
    await site.show(used_page, LEADS["redirect of a posted form"])
    answer = await dispatch(browser, {"kind": "click", "selector": "#x", "targetId": target_id})
    assert answer.url == site.url("/slow")
    assert answer.to_json()["effects"]["navigation"] == {"url": site.url("/slow")}
    await site.show(used_page, STAYS["no content"])
    answer = await dispatch(browser, {"kind": "click", "selector": "#x", "targetId": target_id})
    assert answer.to_json()["effects"]["navigation"] == {"url": site.url("/none"), "state": "no document"}
