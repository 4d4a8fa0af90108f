"""Documents that return from the back/forward cache or load again, with frames of both kinds."""

from __future__ import annotations

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import NavigationFailedError, StaleRefError

LOG = """<script>window.log = []; console.log('ran', {of: 'page'});
for (const type of ['click', 'input', 'mousedown']) addEventListener(type, event => log.push(type + ' ' + event.target.id), true);
addEventListener('pageshow', event => log.push(event.persisted ? 'restored' : 'loaded'));</script>"""


@pytest.fixture
def page(new_tab: cdpengine.Page) -> cdpengine.Page:
    return new_tab


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    """A list with same-site and cross-site frames, and detail pages on both sites."""
    other = f"http://localhost:{httpserver.port}"
    pages = {
        "/list": f"<title>List</title>{LOG}<a id=same href=/detail>same</a> <a id=other href={other}/detail>other</a> "
        "<button id=press>Press</button><button id=gone>Gone</button><input id=name aria-label=Name>"
        f"<iframe src=/inner></iframe><iframe src={other}/foreign></iframe>",
        "/detail": f"<title>Detail</title>{LOG}<button id=x>Elsewhere</button><iframe src=/third></iframe>",
        "/inner": f"{LOG}<button id=inside>Inside</button>",
        "/foreign": f"{LOG}<button id=foreign>Foreign</button><iframe src=/third></iframe>",
        "/third": "<button>Third</button>",
        "/mousedown": f"{LOG}<p id=go onmousedown=\"location.href='/detail'\">Go</p><button id=press>Press</button>",
    }
    for path, html in pages.items():
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
        not_kept = f"{html}<script>addEventListener('unload', () => 0)</script>"
        httpserver.expect_request(f"/not-kept{path}").respond_with_data(not_kept, content_type="text/html")
    return f"http://127.0.0.1:{httpserver.port}"


async def leave_and_return(page: cdpengine.Page, site: str) -> None:
    """Follow the link to the detail page of the site, use that page, and go back."""
    await page.click(await page.find(role="link", name=site))
    await page.wait_for(text="Elsewhere")
    snapshot = await page.snapshot()
    await page.click(snapshot.find("button", "Elsewhere"))
    await page.go_back()


@pytest.mark.parametrize("detail", ["same", "other"])
async def test_a_restored_page_is_used_like_a_fresh_one(page: cdpengine.Page, site: str, detail: str) -> None:
    await page.goto(f"{site}/list")
    before = await page.snapshot()
    press, gone = before.find("button", "Press"), before.find("button", "Gone")
    await page.click(press)
    await page.evaluate("document.querySelector('#gone').remove()")
    async with page.evaluate_handle("document.querySelector('#name')") as old:
        for visit in range(2):
            await leave_and_return(page, detail)
            assert (await page.evaluate("log"))[-1] == "restored"
            await page.evaluate("void (log = [])")

            assert sorted(frame.url.rpartition("/")[2] for frame in page.frames) == [
                "foreign", "inner", "list", "third",
            ]  # fmt: skip
            snapshot = await page.snapshot()
            for name in ("Press", "Inside", "Foreign", "Third"):
                assert snapshot.find("button", name).id == before.find("button", name).id
            await page.click(press)
            await page.click(snapshot.find("button", "Press"))
            await page.type(snapshot.find("textbox", "Name"), "ab")
            assert await page.evaluate("log.filter(each => /click|input/.test(each))") == [
                "click press", "click press", "input name", "input name",
            ]  # fmt: skip
            await page.fill(await page.find(role="textbox", name="Name"), "c")
            assert await page.evaluate("document.querySelector('#name').value") == "c"
            for name in ("Inside", "Foreign"):
                await page.click(snapshot.find("button", name))
                await page.click(await page.find(role="button", name=name))
            for frame in page.frames:
                if frame.url.endswith(("inner", "foreign")):
                    clicks = "log.filter(each => each.startsWith('click')).length"
                    assert await page.evaluate(clicks, frame=frame) == 2 * (visit + 1), frame.url
            await page.wait_for(text="Third")
            with pytest.raises(StaleRefError):
                await page.click(gone)
            with pytest.raises(StaleRefError, match="the page left its document"):
                await page.evaluate("element => element.id", old)
            async with page.evaluate_handle("document.querySelector('#name')") as fresh:
                assert await page.evaluate("element => element.id", fresh) == "name"
            await page.settled(timeout=5)


@pytest.mark.parametrize("way", ["restored", "loaded", "reloaded"])
async def test_restored_page_has_settings_of_a_fresh_page(page: cdpengine.Page, site: str, way: str) -> None:
    given: list[object] = []

    async def exposed(value: object) -> object:
        given.append(value)
        return [value]

    path = "/not-kept/list" if way == "loaded" else "/list"
    async with (
        page.scripts.add_init_script("window.inits = (window.inits || 0) + 1"),
        page.scripts.expose("told", exposed),
        page.emulation.set(viewport=(611, 422), timezone="Asia/Tokyo"),
        page.activity.collecting() as activity,
    ):
        await page.goto(site + path)
        if way == "reloaded":
            await page.reload()
        else:
            await leave_and_return(page, "same")
            assert (await page.evaluate("log"))[-1] == way
        frames = [frame for frame in page.frames if frame.url.endswith(("list", "inner", "foreign"))]
        assert len(frames) == 3
        for frame in frames:
            assert await page.evaluate("inits", frame=frame) == 1
            assert await page.evaluate(f"told('{frame.id}')", frame=frame) == [frame.id]
        assert given == [frame.id for frame in frames]
        assert await page.evaluate("[innerWidth, innerHeight]") == [611, 422]
        assert await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") == "Asia/Tokyo"

        before = len(activity.console)
        await page.evaluate("console.log('now', {a: 1})")
        assert [message.text for message in list(activity.console)[before:]] == ["now {a: 1}"]
        assert await activity.console[-1].values() == ("now", {"a": 1})
        loads = 2 if way == "reloaded" else 1
        runs = [
            message for message in activity.console if message.url == site + path and "ran" in message.text
        ]
        assert len(runs) == (2 if way == "loaded" else loads), "Chrome repeats no message of a restored page"
        values = await runs[0].values()
        assert values == ("ran", {"of": "page"}) or isinstance(values[1], cdpengine.network.Unread)


async def test_action_interrupted_by_navigation_leaves_nothing(page: cdpengine.Page, site: str) -> None:
    """The page leaves at mousedown. A remaining observer would block the next press on another element."""
    await page.goto(f"{site}/mousedown")
    await page.click(await page.find(text="Go"))
    await page.wait_for(text="Elsewhere")
    await page.go_back()
    await page.evaluate("void (log = [])")
    await page.click(await page.find(role="button", name="Press"))
    assert await page.evaluate("log") == ["mousedown press", "click press"]


@pytest.mark.parametrize("detail", ["same", "other"])
async def test_back_and_forward_wait_until_the_page_is_active(
    page: cdpengine.Page, site: str, detail: str
) -> None:
    async def leave_by_click() -> None:
        await page.click(await page.find(role="link", name=detail))

    async def leave_and_wait() -> None:
        await leave_by_click()
        await page.wait_for(url="*/detail")

    async def leave_by_goto() -> None:
        await page.goto(f"{site}/detail", wait_until="commit")

    await page.goto(f"{site}/list")
    for leave in (leave_by_click, leave_and_wait, leave_by_goto) * 3:
        await leave()
        assert (await page.go_back()).url == f"{site}/list"
        assert (await page.go_forward(wait_until="commit")).url.endswith("/detail")
        assert (await page.go_back(wait_until="commit")).url == f"{site}/list"
    with pytest.raises(NavigationFailedError, match="no such entry"):
        while True:
            await page.go_back()
    await page.goto(f"{site}/list")
    await leave_and_wait()
    assert len(await page.screenshot()) > 0
    await page.go_back()
    await leave_and_wait()
    await page.reload()
    assert await page.title() == "Detail"
