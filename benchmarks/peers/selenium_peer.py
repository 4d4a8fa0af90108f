"""Selenium with Debian's chromedriver: WebDriver for actions, WebDriver BiDi for events.

One driver executes one command at a time, so concurrent work is sequential here. Only the flags that debugging needs
remain of chromedriver's own ones.
"""

# mypy: ignore-errors
import asyncio
import contextlib
import importlib.metadata
import shutil
from typing import ClassVar

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from benchmarks.peers.verbs import CLICK_PATIENCE, HANG, START_PAGE, Cannot, Verbs, cancelled, serve

CHROMEDRIVERS_FLAGS = [
    "allow-pre-commit-input", "disable-background-networking", "disable-client-side-phishing-detection",
    "disable-default-apps", "disable-hang-monitor", "disable-popup-blocking",
    "disable-prompt-on-repost", "disable-sync", "enable-automation", "enable-logging", "log-level",
    "no-first-run", "no-service-autorun", "password-store", "test-type", "use-mock-keychain",
]  # fmt: skip
"""Flags that chromedriver adds itself."""

SCRIPT_PATIENCE = 110  # seconds
ONE_AT_A_TIME = "a driver does one command at a time"


class Selenium(Verbs):
    version = importlib.metadata.version("selenium")
    attached = "webdriver"
    notes: ClassVar = {
        "round_trip": "execute_script",
        "throughput": "execute_script",
        "hover": "ActionChains with duration=0",
        "flood": "add_console_message_handler, over WebDriver BiDi",
        "requests": "network.add_event_handler, over WebDriver BiDi",
        "pages_at_once": f"one page after the other: {ONE_AT_A_TIME}",
    }
    lacks: ClassVar = {
        "jobs": "contexts of its own are not measured here",
        "snapshot": "has no accessibility snapshot: aria_role and accessible_name are asked element by element",
        "fill": "has no fill: clear empties a field, send_keys is the typing",
    }

    async def begin(self):
        self.driver = self.launched()
        self.handle = self.home = self.driver.current_window_handle

    def launched(self):
        chromedriver = shutil.which("chromedriver")
        if chromedriver is None:
            raise Cannot("there is no chromedriver here (scripts/peers.sh installs chromium-driver)")
        options = webdriver.ChromeOptions()
        options.enable_bidi = True
        options.binary_location = self.executable
        options.add_experimental_option("excludeSwitches", CHROMEDRIVERS_FLAGS)
        for flag in [*self.flags, START_PAGE]:
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        driver.set_script_timeout(SCRIPT_PATIENCE)
        return driver

    async def end(self):
        await asyncio.to_thread(self.driver.quit)  # waits for a hung script

    async def fresh(self, url):
        driver = self.launched()
        driver.get(url)

        async def close():
            driver.quit()

        return close

    def turn_to(self, tab):
        if self.handle != tab:
            self.driver.switch_to.window(tab)
            self.handle = tab

    async def new_tab(self):
        self.driver.switch_to.new_window("tab")
        self.handle = self.driver.current_window_handle
        return self.handle

    async def go(self, tab, url):
        self.turn_to(tab)
        self.driver.get(url)

    async def close_tab(self, tab):
        self.turn_to(tab)
        self.driver.close()
        self.turn_to(self.home)  # a closed window refuses all commands, even opening another

    async def front(self, tab):
        self.turn_to(tab)
        self.driver.execute_cdp_cmd("Page.bringToFront", {})

    async def value(self, tab, expression):
        self.turn_to(tab)
        return self.driver.execute_script(f"return {expression}")

    async def caller(self, tab):
        async def call():
            self.turn_to(tab)
            self.driver.execute_script("return 1")

        return call

    async def do_throughput(self, sessions, in_flight, seconds):
        if sessions > 1 or in_flight > 1:
            raise Cannot(ONE_AT_A_TIME)
        return await super().do_throughput(sessions, in_flight, seconds)

    async def part(self, tab, name):
        self.turn_to(tab)
        return tab, self.driver.find_element(By.ID, name)

    async def click(self, part):
        self.turn_to(part[0])
        part[1].click()

    async def hover(self, part):
        self.turn_to(part[0])
        ActionChains(self.driver, duration=0).move_to_element(part[1]).perform()

    async def type(self, part, text):
        self.turn_to(part[0])
        part[1].send_keys(text)

    @contextlib.asynccontextmanager
    async def messages(self, tab, see):  # noqa: ARG002 - of all tabs
        # Each event arrives in a separate thread.
        loop = asyncio.get_running_loop()

        def on_message(entry):
            if entry.text.startswith("message"):
                loop.call_soon_threadsafe(see)

        handler = self.driver.script.add_console_message_handler(on_message)
        yield
        self.driver.script.remove_console_message_handler(handler)

    @contextlib.asynccontextmanager
    async def requests(self, tab, see):  # noqa: ARG002 - of all tabs
        loop = asyncio.get_running_loop()

        def on_completed(event):
            request = event["request"] if isinstance(event, dict) else event.request
            if "/n?" in (request["url"] if isinstance(request, dict) else request.url):
                loop.call_soon_threadsafe(see)

        network = self.driver.network
        handler = network.add_event_handler("response_completed", on_completed)
        yield
        network.remove_event_handler("response_completed", handler)

    async def hang(self, tab, budget, by):
        self.turn_to(tab)
        if by == "cdp":
            with contextlib.suppress(Exception):
                hang = {"expression": HANG, "timeout": budget * 1000}
                self.driver.execute_cdp_cmd("Runtime.evaluate", hang)
            return "a raw CDP call with Chrome's own timeout"
        self.driver.set_script_timeout(budget)
        driving = asyncio.to_thread(self.driver.execute_script, HANG)
        if not await cancelled(driving, budget + CLICK_PATIENCE):
            reason = f"set_script_timeout does not end a loop: no answer {CLICK_PATIENCE:g} s after it"
            raise Cannot(f"{reason}, and {ONE_AT_A_TIME}")
        self.driver.set_script_timeout(SCRIPT_PATIENCE)
        return "set_script_timeout"


serve(Selenium)
