"""Programs on asyncio, in real Chromium: facades, callbacks, events, cancellation, signals, a server and a notebook."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from asyncio_browser import run_program
from pytest_httpserver import HTTPServer

import cdpengine
import cdpengine.asyncio as engine
from cdpengine.asyncio.guest_run import _RUNS

pytestmark = pytest.mark.chrome

ROOT = Path(__file__).parents[2]
PAGE = """<title>Shop</title><label>Name <input></label>
<button onclick="this.textContent = confirm('Sure?') ? 'Sold' : 'Kept'">Buy</button>
<a href=/more target=_blank>More</a>"""


def test_pages_routes_functions_dialogs_and_popups() -> None:
    calls: list[tuple[int, int]] = []

    async def add(first: int, second: int) -> int:
        await asyncio.sleep(0.001)
        calls.append((first, second))
        return first + second

    async def answer(route: engine.AsyncioRoute) -> None:
        await asyncio.sleep(0.001)
        assert asyncio.current_task() is not None
        assert route.request.method == "GET"
        await route.fulfill(body=PAGE, content_type="text/html")

    async def accept(dialog: cdpengine.Dialog) -> bool:
        await asyncio.sleep(0.001)
        return dialog.message == "Sure?"

    async def main() -> None:
        async with (
            engine.launch() as browser,
            browser.new_context(base_url="https://shop.example/") as context,
            context.route("*", answer),
        ):
            page = await context.new_page()
            await page.scripts.expose("add", add)
            navigation = await page.goto("/")
            assert navigation.status == 200
            assert await page.evaluate("add(1, 2)") == 3
            assert calls == [(1, 2)]
            page.dialogs.set_policy(accept)
            await page.locate(label="Name").fill("Ada")
            button = page.locate(role="button")
            await button.click()
            await engine.expect(button).to_have_text("Sold")
            assert await page.evaluate("document.querySelector('input').value") == "Ada"
            async with page.events("popups") as events, page.expect_popup() as expected:
                await page.click(page.locate("a"))
                event = await anext(events)
                assert isinstance(event, engine.AsyncioPopupEvent)
            assert event.page == expected.value
            assert await expected.value.title() == "Shop"
            assert expected.value.opener == page
            async with page.evaluate_handle("document.body") as body:
                assert await page.evaluate("given => given.body.tagName", {"body": body}) == "BODY"
            assert (await page.snapshot()).find(role="button").name == "Sold"

    run_program(main)
    assert not _RUNS


def test_a_cancelled_task_ends_a_hung_script_and_the_page_goes_on() -> None:
    async def main() -> None:
        async with engine.launch() as browser:
            page = await browser.new_page()
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await page.evaluate("while (true);")
            assert time.monotonic() - began < 5
            assert await page.evaluate("1 + 1") == 2
            async with asyncio.TaskGroup() as group:
                pages = [group.create_task(browser.new_page("data:text/html,<title>one")) for _ in range(3)]
            assert [await each.result().title() for each in pages] == ["one"] * 3

    run_program(main)


PROGRAM = """
import asyncio, sys
import cdpengine.asyncio

async def main():
    async with cdpengine.asyncio.launch() as browser:
        page = await browser.new_page()
        print("ready", flush=True)
        try:
            await asyncio.sleep(60)
        finally:
            print(await asyncio.sleep(0.1, "left"), flush=True)

asyncio.run(main())
"""


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Yield a temporary folder whose path is short enough for Chrome's sockets."""
    with tempfile.TemporaryDirectory(prefix="cdp", dir="/tmp") as folder:
        yield Path(folder)


def test_a_signal_leaves_the_blocks_of_a_program_and_ends_its_browser(short_folder: Path) -> None:
    environment = os.environ | {"TMPDIR": str(short_folder)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        assert program.stdout.read() == "left\n"
        assert program.wait(30) == -signal.SIGTERM
    assert list(short_folder.iterdir()) == []


def test_the_screenshot_server(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import screenshot_server

    httpserver.expect_request("/").respond_with_data("<h1>Hello</h1>", content_type="text/html")
    with TestClient(screenshot_server.app) as client:
        found = client.get(
            "/screenshot", params={"url": httpserver.url_for("/"), "width": 300, "height": 200}
        )
        assert found.status_code == 200
        assert found.headers["content-type"] == "image/png"
        assert found.content.startswith(b"\x89PNG")
        assert client.get("/screenshot", params={"url": "http://127.0.0.1:1/"}).status_code == 502
        assert client.get("/screenshot", params={"url": ""}).status_code == 422


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_notebook_runs() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=250, kernel_name="python3").execute()
    printed = [
        output["text"] for cell in notebook.cells for output in cell.get("outputs", ()) if "text" in output
    ]
    assert printed == ['- button "Save" [ref=e1]\n', "Saved\n"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ipython_with_autoawait_trio() -> None:
    pytest.importorskip("IPython")
    cells = textwrap.dedent(
        """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        for cell in ("%autoawait trio", "import cdpengine",
                     "async with cdpengine.launch() as browser:\\n"
                     "    page = await browser.new_page('data:text/html,<title>here')\\n"
                     "    print(await page.title())"):
            shell.run_cell(cell).raise_error()
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", cells], capture_output=True, text=True, timeout=250, check=False
    )
    assert "here" in done.stdout, done.stdout + done.stderr
