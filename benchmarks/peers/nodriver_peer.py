"""nodriver and its fork zendriver: attached over a websocket to a browser with the flags of all sides.

Their own start does not accept all flags. Pages are loaded by the protocol's navigation and its load event, because
`get` does not wait for it. `Element.mouse_click` draws a dot that receives the next clicks for half a second.
"""

# mypy: ignore-errors
import asyncio
import contextlib
import importlib
import importlib.metadata
import inspect
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

from benchmarks.peers.verbs import HANG, START_PAGE, Verbs, cancelled, serve

NAME = sys.argv[2]
driver = importlib.import_module(NAME)
cdp = driver.cdp

PAGES = [START_PAGE] if NAME == "nodriver" else []
"""zendriver adds it itself; with two pages, a headless Chrome ends immediately."""

PATIENT = {"browser_connection_max_tries": 80} if NAME == "zendriver" else {}
"""zendriver waits for a browser only 2.5 s by default."""


class Driver(Verbs):
    version = importlib.metadata.version(NAME)
    attached = "websocket"
    notes: ClassVar = {
        "round_trip": "tab.send of the raw call",
        "throughput": "tab.send of the raw call",
        "click": "tab.mouse_click at the element's position, without the dot that element.mouse_click draws",
        "click_tab": "tab.mouse_click at the element's position",
        "type": "element.send_keys, which sends characters and no keys",
        "hover": "tab.mouse_move at the element's position, which waits 50 ms"
        if NAME == "nodriver"
        else "element.mouse_move",
        "navigations": "page.navigate and its load event",
        "start": "with its own flags besides the engine's",
    }
    lacks: ClassVar = {
        "jobs": "contexts of its own are not measured here",
        "fill": "has no fill: clear_input assigns the value, send_keys is the typing",
        "snapshot": "has no accessibility snapshot: there is only the protocol's own Accessibility.getFullAXTree",
    }

    async def begin(self):
        self.profile = tempfile.TemporaryDirectory(prefix=f"{NAME}-peer-", ignore_cleanup_errors=True)
        folder = f"--user-data-dir={self.profile.name}"
        command = [self.executable, "--remote-debugging-port=0", folder, *self.flags, START_PAGE]
        quiet = subprocess.DEVNULL
        self.process = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)
        listening = Path(self.profile.name) / "DevToolsActivePort"
        while not (listening.exists() and "/devtools" in listening.read_text()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)
        port = int(listening.read_text().split()[0])
        self.browser = await driver.start(
            host="127.0.0.1", port=port, browser_executable_path=self.executable
        )

    async def launched(self):
        profile = tempfile.TemporaryDirectory(prefix=f"{NAME}-peer-", ignore_cleanup_errors=True)
        browser = await driver.start(
            browser_executable_path=self.executable,
            browser_args=[*self.flags, *PAGES],
            user_data_dir=profile.name,
            headless=False,  # as the flags say
            **PATIENT,
            sandbox="--no-sandbox" not in self.flags,
        )

        async def close():
            process = browser._process  # noqa: SLF001 - nothing public waits for its end
            stopped = browser.stop()
            if inspect.isawaitable(stopped):
                await stopped
            ended = process.wait()
            if inspect.isawaitable(ended):
                await ended
            profile.cleanup()

        return browser, close

    async def end(self):
        self.process.kill()
        await self.process.wait()
        self.profile.cleanup()

    async def fresh(self, url):
        browser, close = await self.launched()
        await self.go(browser.main_tab, url)
        return close

    async def new_tab(self):
        return await self.browser.get("about:blank", new_tab=True)

    async def go(self, tab, url):
        loaded = asyncio.Event()

        async def on_load(*_):
            loaded.set()

        await tab.send(cdp.page.enable())
        tab.add_handler(cdp.page.LoadEventFired, on_load)
        await tab.send(cdp.page.navigate(url))
        await loaded.wait()
        self.remove(tab, cdp.page.LoadEventFired, on_load)

    @staticmethod
    def remove(tab, event, handler):
        (tab.remove_handler if NAME == "nodriver" else tab.remove_handlers)(event, handler)

    async def value(self, tab, expression):
        return await tab.evaluate(expression, await_promise=True)

    async def caller(self, tab):
        return lambda: tab.send(cdp.runtime.evaluate("1"))

    async def part(self, tab, name):
        return await tab.select(f"#{name}")

    async def click(self, part):
        await part.tab.mouse_click(*(await part.get_position()).center)

    async def hover(self, part):
        if NAME == "zendriver":
            await part.mouse_move()
        else:
            await part.tab.mouse_move(*(await part.get_position()).center, steps=1)

    async def type(self, part, text):
        await part.send_keys(text)

    @contextlib.asynccontextmanager
    async def messages(self, tab, see):
        await tab.send(cdp.runtime.enable())
        async with self.handling(tab, {cdp.runtime.ConsoleAPICalled: self.each(see, of_the_burst)}):
            yield
        await tab.send(cdp.runtime.disable())

    @contextlib.asynccontextmanager
    async def requests(self, tab, see):
        sent = set()
        await tab.send(cdp.network.enable())
        handlers = {
            cdp.network.RequestWillBeSent: self.each(
                lambda: None, lambda event: "/n?" in event.request.url and sent.add(event.request_id)
            ),
            cdp.network.LoadingFinished: self.each(see, lambda event: event.request_id in sent),
        }
        async with self.handling(tab, handlers):
            yield
        await tab.send(cdp.network.disable())

    @staticmethod
    def each(see, wanted):
        """Return the cheapest kind of handler: zendriver runs plain functions in threads."""

        def on_event(event, _tab=None):
            if wanted(event):
                see()

        async def on_event_in_a_task(event):
            on_event(event)

        return on_event if NAME == "nodriver" else on_event_in_a_task

    @contextlib.asynccontextmanager
    async def handling(self, tab, handlers):
        for event, handler in handlers.items():
            tab.add_handler(event, handler)
        yield
        for event, handler in handlers.items():
            self.remove(tab, event, handler)

    async def hang(self, tab, budget, by):
        if by == "cdp":
            limit = cdp.runtime.TimeDelta(budget * 1000)
            with contextlib.suppress(Exception):
                await tab.send(cdp.runtime.evaluate(HANG, timeout=limit))
            return "a raw CDP call with Chrome's own timeout"
        await cancelled(tab.evaluate(HANG), budget)
        return "tab.evaluate has no timeout: cancelled from outside, the script continues"


def of_the_burst(event):
    return bool(event.args) and event.args[0].value == "message"


serve(Driver)
