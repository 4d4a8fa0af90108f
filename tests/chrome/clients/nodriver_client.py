"""A nodriver program that opens the page argv[2] in the browser argv[1], uses it, and prints its results.

Run with the peers' interpreter.
"""

# mypy: ignore-errors
import asyncio
import json
import shutil
import sys
import urllib.parse

import nodriver


async def main():
    address = urllib.parse.urlsplit(sys.argv[1])
    browser = await nodriver.start(
        host=address.hostname, port=address.port, browser_executable_path=shutil.which("true")
    )
    tab = await browser.get("about:blank", new_tab=True)
    loaded = asyncio.Event()

    async def on_load(*_):
        loaded.set()

    # Its `get` returns before the page has loaded.
    await tab.send(nodriver.cdp.page.enable())
    tab.add_handler(nodriver.cdp.page.LoadEventFired, on_load)
    await tab.send(nodriver.cdp.page.navigate(sys.argv[2]))
    await loaded.wait()
    name = await tab.select("#name")
    await name.send_keys("Ada")
    await (await tab.select("#greet")).click()
    greeting = await tab.select("#greeting")
    print(json.dumps({
        "greeting": greeting.text,
        "title": await tab.evaluate("document.title"),
        "sum": await tab.evaluate("2 + 3"),
    }))  # fmt: skip
    await tab.close()


asyncio.run(main())
