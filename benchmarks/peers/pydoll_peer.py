"""pydoll: started with only the engine's flags, over websockets."""

# mypy: ignore-errors
import contextlib
import importlib.metadata
from typing import ClassVar

from pydoll.browser import Chrome
from pydoll.browser.options import ChromiumOptions
from pydoll.exceptions import PydollException

from benchmarks.peers.verbs import HANG, START_PAGE, Verbs, serve

ITS_OWN_FLAGS = {"--no-first-run", "--no-default-browser-check"}
"""It adds these itself, and refuses duplicates."""


class Pydoll(Verbs):
    version = importlib.metadata.version("pydoll-python")
    attached = "websocket"
    notes: ClassVar = {
        "round_trip": "tab.execute_script: it has no raw call",
        "throughput": "tab.execute_script: it has no raw call",
        "fill": "element.insert_text, which assigns the value by script",
        "type": "element.type_text, which clicks first",
    }
    lacks: ClassVar = {
        "jobs": "contexts of its own are not measured here",
        "snapshot": "has no accessibility snapshot: there are only the protocol's own commands",
    }

    async def begin(self):
        self.browser, _ = await self.launched()

    async def launched(self):
        options = ChromiumOptions()
        options.binary_location = self.executable
        for flag in [*self.flags, START_PAGE]:
            if flag not in ITS_OWN_FLAGS:
                options.add_argument(flag)
        browser = Chrome(options=options)
        return browser, await browser.start()

    async def end(self):
        await self.browser.stop()

    async def fresh(self, url):
        browser, tab = await self.launched()
        await tab.go_to(url)
        return browser.stop

    async def new_tab(self):
        tab = await self.browser.new_tab()
        await tab.enable_page_events()  # otherwise each go_to enables and disables them
        return tab

    async def go(self, tab, url):
        await tab.go_to(url)

    async def value(self, tab, expression):
        reply = await tab.execute_script(expression, await_promise=True, return_by_value=True)
        return reply["result"]["result"].get("value")

    async def caller(self, tab):
        return lambda: tab.execute_script("1")

    async def part(self, tab, name):
        return await tab.find(id=name)

    async def type(self, part, text):
        await part.type_text(text)

    async def fill(self, part, text):
        await part.insert_text(text)

    @contextlib.asynccontextmanager
    async def messages(self, tab, see):
        def on_message(event):
            arguments = event["params"]["args"]
            if arguments and arguments[0].get("value") == "message":
                see()

        await tab.enable_runtime_events()
        handler = await tab.on("Runtime.consoleAPICalled", on_message)
        yield
        await tab.remove_callback(handler)
        await tab.disable_runtime_events()

    @contextlib.asynccontextmanager
    async def requests(self, tab, see):
        sent = set()

        def on_sent(event):
            if "/n?" in event["params"]["request"]["url"]:
                sent.add(event["params"]["requestId"])

        def on_finished(event):
            if event["params"]["requestId"] in sent:
                see()

        await tab.enable_network_events()
        handlers = [
            await tab.on("Network.requestWillBeSent", on_sent),
            await tab.on("Network.loadingFinished", on_finished),
        ]
        yield
        for handler in handlers:
            await tab.remove_callback(handler)
        await tab.disable_network_events()

    async def hang(self, tab, budget, by):  # noqa: ARG002 - both ways are the same
        with contextlib.suppress(PydollException):
            await tab.execute_script(HANG, timeout=budget * 1000)
        return "execute_script's timeout, which is Chrome's own"


serve(Pydoll)
