"""Logins for the shell: the open browser of a person, a kept profile, and saved states."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Response

import cdpengine
from cdpengine.act.commands.parsing import Typed
from cdpengine.shell.background import Background, BackgroundOptions, running

pytestmark = pytest.mark.chrome

SHOP = """<!doctype html><title>Shop</title><link rel=icon href="data:,"><p id=who></p>
<button onclick="login()">Log in</button>
<script>
const show = () => { who.textContent = `${localStorage.user || "nobody"} ${document.cookie}`; };
function login() {
  localStorage.user = "Ada";
  document.cookie = "sid=1; max-age=1000";
  const opening = indexedDB.open("cart", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("items");
  opening.onsuccess = () => {
    const writing = opening.result.transaction("items", "readwrite");
    writing.objectStore("items").put("shoes", "one");
    writing.oncomplete = () => { opening.result.close(); show(); };
  };
}
show();
</script>"""
CART = """new Promise((done) => { const opening = indexedDB.open("cart"); opening.onsuccess = () => {
opening.result.transaction("items").objectStore("items").get("one").onsuccess = (e) => done(e.target.result) } })"""


@pytest.fixture
def shop(httpserver: HTTPServer) -> str:
    httpserver.expect_request("/shop").respond_with_handler(
        lambda _: Response(SHOP, content_type="text/html")
    )
    return httpserver.url_for("/shop")


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folders. The path is short because socket paths are limited."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-logins-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", f"{root}/state")
        monkeypatch.delenv("CDPENGINE_STATE_KEY", raising=False)
        Path(root, "cdpengine").mkdir(mode=0o700)
        yield Path(root, "state/cdpengine/states")


async def say(background: Background, *arguments: str, status: int = 0) -> str:
    printed = await background.perform(Typed(arguments=arguments, folder="/"))
    assert printed.status == status, printed
    return printed.out if status == 0 else printed.err


async def log_in(background: Background) -> None:
    await say(background, "click", "text=Log in")
    await say(background, "wait", "--text", "Ada sid=1")


async def test_the_open_browser_is_used_with_its_logins_and_left_as_it_was(state: Path, shop: str) -> None:
    async with cdpengine.launch(debugging_port=0) as person:
        mine = await person.new_page(shop)
        await mine.click(await mine.find(role="button", name="Log in"))
        await mine.wait_for(text="Ada sid=1")
        assert person.endpoint is not None
        endpoint = f"http://{urlsplit(person.endpoint).netloc}"
        async with running(BackgroundOptions(endpoint=endpoint)) as background:
            tabs = await say(background, "tabs", "--endpoint", endpoint)
            assert shop in tabs
            assert "*" not in tabs, "no tab of the person is chosen"
            refused = await say(background, "get", "text", "#who", status=2)
            assert "no chosen page" in refused
            await say(background, "open", shop)
            assert await say(background, "get", "text", "#who") == "Ada sid=1\n"
            await say(background, "emulate", "--color-scheme", "dark", "--network", "offline")
            await say(background, "route", "*", "--block")
        assert [page.url for page in person.pages].count(shop) == 2
        assert await mine.evaluate(
            "[navigator.onLine, matchMedia('(prefers-color-scheme: dark)').matches]"
        ) == [
            True,
            False,
        ]
        assert (await mine.goto(shop)).status == 200


async def test_the_chosen_tab_of_the_person_is_used(state: Path, shop: str) -> None:
    async with cdpengine.launch(debugging_port=0) as person:
        mine = await person.new_page(shop)
        assert person.endpoint is not None
        endpoint = f"http://{urlsplit(person.endpoint).netloc}"
        async with running(BackgroundOptions(endpoint=endpoint)) as background:
            tabs = (await say(background, "tabs", "--endpoint", endpoint)).splitlines()
            number = next(line.split()[0] for line in tabs if shop in line)
            await say(background, "focus-tab", number)
            await log_in(background)
        assert await mine.evaluate("localStorage.user") == "Ada"


async def test_a_kept_profile_has_the_logins_of_the_last_run(state: Path, shop: str, tmp_path: Path) -> None:
    options = BackgroundOptions(user_data_dir=str(tmp_path / "profile"))
    async with running(options) as background:
        await say(background, "open", shop)
        await log_in(background)
        refused = await say(background, "open", "--user-data-dir", "/elsewhere", shop, status=2)
        assert "--user-data-dir" in refused
    async with running(options) as background:
        await say(background, "open", shop)
        assert await say(background, "get", "text", "#who") == "Ada sid=1\n"


async def test_a_saved_state_has_cookies_storages_and_databases(state: Path, shop: str) -> None:
    async with running(BackgroundOptions()) as background:
        await say(background, "open", shop)
        await log_in(background)
        assert '"cookies": 1' in await say(background, "save-state", "ada")
        assert await say(background, "states", "--session", "b") != ""
        for session in ("new", "default"):  # the second one replaces its own data
            await say(background, "load-state", "ada", "--session", session)
            await say(background, "open", shop, "--session", session)
            assert await say(background, "get", "text", "#who", "--session", session) == "Ada sid=1\n"
            assert await say(background, "eval", CART, "--session", session) == "shoes\n"
        # Origins of a loaded state are saved again without a visit.
        await say(background, "load-state", "ada", "--session", "third")
        again = await say(background, "save-state", "copy", "--session", "third")
        assert shop.removesuffix("/shop") in again
    assert sorted(path.name for path in await trio.to_thread.run_sync(lambda: list(state.iterdir()))) == [
        "ada.state",
        "copy.state",
        "key",
    ]
