"""The scene of actions.py under pydoll. Run by it with the peers' own interpreter; prints JSON."""

# mypy: ignore-errors
import asyncio
import json
import sys
import time
import urllib.parse

from pydoll.browser import Chrome
from pydoll.browser.options import ChromiumOptions


async def value_of(tab, expression):
    reply = await tab.execute_script(f"return {expression}")
    return reply["result"]["result"].get("value")


async def main(order):
    said = {}
    options = ChromiumOptions()
    options.binary_location = order["executable"]
    for argument in ("--headless=new", "--no-sandbox"):
        options.add_argument(argument)
    address = "data:text/html," + urllib.parse.quote(order["scene"])

    async def timed(case, action, before=None):
        said[case] = []
        for number in range(order["warm"] + order["repeats"][case]):
            if before is not None:
                await before()
            started = time.perf_counter()
            await action()
            if number >= order["warm"]:
                said[case].append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(0.004)

    async def attempt(case, work):
        try:
            await asyncio.wait_for(work, 40)
        except Exception as error:  # noqa: BLE001 - a stranger's library: whatever it raises is its answer
            said[case] = f"cannot: {type(error).__name__}: {error}"[:200]

    async with Chrome(options=options) as browser:
        tab = await browser.start()
        await tab.go_to(address)
        await asyncio.sleep(order["rest"])
        go, other, field = [await tab.find(id=name) for name in ("go", "other", "field")]

        async def clicks():
            await timed("click", go.click)
            done = await value_of(tab, "clicks")
            if done != order["repeats"]["click"] + order["warm"]:
                said["click"] = (
                    f"cannot: {done} of {order['repeats']['click'] + order['warm']} clicks arrived"
                )

        async def hovers():
            over = [go, other]

            async def hover():
                over.reverse()
                await over[0].hover()

            await timed("hover", hover)
            if await value_of(tab, "overs") < order["repeats"]["hover"] // 2:
                said["hover"] = "cannot: the page was not told of the moves"

        async def clear():
            await tab.execute_script("field.value = ''")

        async def typing():
            await timed("type", lambda: field.type_text(order["text"]), clear)
            if await value_of(tab, "field.value") != order["text"]:
                said["type"] = "cannot: another text arrived"

        async def filling():
            await timed("fill", lambda: field.insert_text(order["text"]), clear)
            if await value_of(tab, "field.value") != order["text"]:
                said["fill"] = "cannot: another text arrived"

        async def tabs():
            buttons = [go]
            for _ in range(order["tabs"] - 1):
                new = await browser.new_tab(address)
                buttons.append(await new.find(id="go", timeout=10))
            await timed("click_first_tab", buttons[0].click)
            await timed("click_twentieth_tab", buttons[-1].click)

        await attempt("click", clicks())
        await attempt("hover", hovers())
        await attempt("type", typing())
        await attempt("fill", filling())
        await attempt("click_twentieth_tab", tabs())
        print(json.dumps(said), flush=True)


asyncio.run(main(json.loads(sys.argv[1])))
