"""Playwright for Python: the asynchronous API, locators, and raw CDP sessions for bare calls."""

# mypy: ignore-errors
import contextlib
import importlib.metadata
import tempfile
from typing import ClassVar

from playwright.async_api import Error, async_playwright

from benchmarks.peers.verbs import HANG, START_PAGE, Verbs, cancelled, serve


class Playwright(Verbs):
    version = importlib.metadata.version("playwright")
    attached = "pipe"
    notes: ClassVar = {
        "round_trip": "a raw CDP session",
        "throughput": "raw CDP sessions",
        "click": "locator.click, which waits until a click can land",
        "click_tab": "page.bring_to_front, without which a click takes two seconds, and locator.click",
        "snapshot": 'aria_snapshot(mode="ai")',
        "first_look": 'aria_snapshot(mode="ai")',
        "step": 'locator.click, and aria_snapshot(mode="ai")',
    }

    async def begin(self):
        self.profiles = []
        self.playwright = await async_playwright().start()
        self.browser, self.context = await self.launched()
        self.callers = {}

    async def launched(self):
        """Start a browser on a pipe with only the engine's flags, and return it with a context for its pages."""
        profile = tempfile.TemporaryDirectory(prefix="playwright-peer-", ignore_cleanup_errors=True)
        browser = await self.playwright.chromium.launch(
            executable_path=self.executable,
            ignore_default_args=True,
            args=["--remote-debugging-pipe", f"--user-data-dir={profile.name}", *self.flags, START_PAGE],
        )
        self.profiles.append(profile)
        return browser, await browser.new_context()

    async def end(self):
        await self.browser.close()
        await self.playwright.stop()
        for profile in self.profiles:
            profile.cleanup()

    async def fresh(self, url):
        playwright, self.playwright = self.playwright, await async_playwright().start()
        mine = self.playwright
        try:
            browser, context = await self.launched()
        finally:
            self.playwright = playwright
        await (await context.new_page()).goto(url)

        async def close():
            await browser.close()
            await mine.stop()

        return close

    async def new_tab(self):
        return await self.context.new_page()

    @contextlib.asynccontextmanager
    async def own_context(self):
        context = await self.browser.new_context()
        yield await context.new_page()
        await context.close()

    async def value(self, tab, expression):
        return await tab.evaluate(expression)

    async def caller(self, tab):
        if tab not in self.callers:
            self.callers[tab] = await self.context.new_cdp_session(tab)
        session, params = self.callers[tab], {"expression": "1"}
        return lambda: session.send("Runtime.evaluate", params)

    async def part(self, tab, name):
        return tab.locator(f"#{name}")

    async def row_button(self, tab, number):
        return tab.locator(f"li:nth-child({number + 1}) button")

    async def click_among(self, tab, part):
        await tab.bring_to_front()
        await part.click()

    async def type(self, part, text):
        await part.press_sequentially(text)

    async def fill(self, part, text):
        await part.fill(text)

    @contextlib.asynccontextmanager
    async def messages(self, tab, see):
        def on_message(message):
            if message.text.startswith("message"):
                see()

        tab.on("console", on_message)
        yield
        tab.remove_listener("console", on_message)

    @contextlib.asynccontextmanager
    async def requests(self, tab, see):
        def on_finished(request):
            if "/n?" in request.url:
                see()

        tab.on("requestfinished", on_finished)
        yield
        tab.remove_listener("requestfinished", on_finished)

    async def tree(self, tab):
        return await tab.locator("body").aria_snapshot(mode="ai", timeout=120_000)

    async def hang(self, tab, budget, by):
        if by == "cdp":
            await self.caller(tab)
            with contextlib.suppress(Error):
                await self.callers[tab].send(
                    "Runtime.evaluate", {"expression": HANG, "timeout": budget * 1000}
                )
            return "a raw CDP call with Chrome's own timeout"
        await cancelled(tab.evaluate(HANG), budget)
        return "page.evaluate has no timeout: cancelled from outside, the script continues"


serve(Playwright)
