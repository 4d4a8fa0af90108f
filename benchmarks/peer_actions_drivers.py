"""The scene of actions.py under nodriver or zendriver (one is a fork of the other). Run by it; prints JSON."""

# mypy: ignore-errors
import asyncio
import importlib
import json
import sys
import time
import urllib.parse

NO_FILL = "has no fill: clear_input assigns `value`, send_keys is the typing above"


async def main(order, driver):
    said = {"fill": NO_FILL}
    browser = await driver.start(
        headless=True,
        sandbox=False,
        browser_executable_path=order["executable"],
        browser_args=["--no-first-run"],
    )
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

    tab = await browser.get(address)
    await asyncio.sleep(order["rest"])  # also: the document may still be replaced when `get` returns
    go, other = await tab.select("#go"), await tab.select("#other")
    field = await tab.select("#field")

    async def clicks():
        await timed("click", go.mouse_click)
        done = await tab.evaluate("clicks")
        if done != order["repeats"]["click"] + order["warm"]:
            said["click"] = f"cannot: {done} of {order['repeats']['click'] + order['warm']} clicks arrived"

    async def hovers():
        over = [go, other]

        async def hover():
            over.reverse()
            await over[0].mouse_move()

        await timed("hover", hover)
        if await tab.evaluate("overs") < order["repeats"]["hover"] // 2:
            said["hover"] = "cannot: the page was not told of the moves"

    async def typing():
        async def clear():
            await tab.evaluate("void (field.value = '')")

        await timed("type", lambda: field.send_keys(order["text"]), clear)
        if await tab.evaluate("field.value") != order["text"]:
            said["type"] = "cannot: another text arrived"

    async def tabs():
        opened = [(tab, go)]
        for _ in range(order["tabs"] - 1):
            new = await browser.get(address, new_tab=True)
            await asyncio.sleep(0.2)
            opened.append((new, await new.select("#go")))
        await timed("click_first_tab", opened[0][1].mouse_click)
        await timed("click_twentieth_tab", opened[-1][1].mouse_click)
        if isinstance(said["click"], str):
            said["click_first_tab"] = said["click_twentieth_tab"] = said["click"]

    await attempt("click", clicks())
    await attempt("hover", hovers())
    await attempt("type", typing())
    await attempt("click_twentieth_tab", tabs())
    print(json.dumps(said), flush=True)
    stopped = browser.stop()
    if asyncio.iscoroutine(stopped):
        await stopped


asyncio.run(main(json.loads(sys.argv[1]), importlib.import_module(sys.argv[2])))
