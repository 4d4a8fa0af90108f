"""A pydoll program that launches a browser, and uses the page argv[1].

It logs the frames of its websockets to standard error.
"""

# mypy: ignore-errors
import asyncio
import json
import logging
import sys

from pydoll.browser import Chrome
from pydoll.browser.options import ChromiumOptions

logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
logging.getLogger("websockets.client").setLevel(logging.DEBUG)


async def main():
    options = ChromiumOptions()
    options.binary_location = "/usr/bin/chromium"
    options.start_timeout = 60
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")
    async with Chrome(options=options) as browser:
        tab = await browser.start()
        await tab.go_to(sys.argv[1])
        await (await tab.find(id="name")).insert_text("Ada")
        await (await tab.find(id="greet")).click()
        greeting = await tab.find(id="greeting", timeout=10)
        title = await tab.execute_script("return document.title")
        print(json.dumps([await greeting.text(), title["result"]["result"]["value"]]))


asyncio.run(main())
