"""A nodriver program that leaves the search for a browser to nodriver, and uses the page argv[1].

It logs the frames of its websockets to standard error.
"""

# mypy: ignore-errors
import json
import logging
import sys

import nodriver

logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
logging.getLogger("websockets.client").setLevel(logging.DEBUG)


async def main():
    browser = await nodriver.start(headless=True, sandbox=False)
    tab = await browser.get(sys.argv[1])
    # get() can return while the new document replaces the old one.
    while not await tab.evaluate("document.readyState == 'complete' && document.title == 'Hall'"):
        await tab.sleep(0.05)
    await (await tab.select("#name")).send_keys("Ada")
    await (await tab.select("#greet")).click()
    greeting = await tab.select("#greeting")
    print(json.dumps([greeting.text, await tab.evaluate("document.title")]))
    browser.stop()


nodriver.loop().run_until_complete(main())
