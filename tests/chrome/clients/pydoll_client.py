"""A pydoll program that opens the page argv[2] in the browser argv[1], uses it, and prints its results.

Run with the peers' interpreter.
"""

# mypy: ignore-errors
import asyncio
import json
import sys
import urllib.request

from pydoll.browser import Chrome


async def main(address):
    browser = Chrome()
    await browser.connect(address)
    tab = await browser.new_tab()
    await tab.go_to(sys.argv[2])
    await (await tab.find(id="name")).insert_text("Ada")
    await (await tab.find(id="greet")).click()
    greeting = await tab.find(id="greeting", timeout=10)
    said = {
        "greeting": await greeting.text(),
        "title": (await tab.execute_script("return document.title"))["result"]["result"]["value"],
        "sum": (await tab.execute_script("return 2 + 3"))["result"]["result"]["value"],
        "screenshot": len(await tab.take_screenshot(as_base64=True)) > 1000,
    }
    await tab.close()
    print(json.dumps(said))


with urllib.request.urlopen(f"{sys.argv[1]}/json/version") as answer:
    version = json.load(answer)
asyncio.run(main(version["webSocketDebuggerUrl"]))
