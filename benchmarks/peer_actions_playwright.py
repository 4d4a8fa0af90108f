"""The scene of actions.py under Playwright. Run by it with the peers' own interpreter; prints JSON."""

# mypy: ignore-errors
import asyncio
import json
import os
import sys
import time

from playwright.async_api import async_playwright


async def main(order):
    said = {}

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

    async with async_playwright() as playwright:
        args = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=order["executable"], args=args)
        context = await browser.new_context()
        page = await context.new_page()
        await page.set_content(order["scene"])
        await asyncio.sleep(order["rest"])
        await timed("click", lambda: page.click("#go"))
        assert await page.evaluate("clicks") == order["repeats"]["click"] + order["warm"]
        over = ["#go", "#other"]

        async def hover():
            over.reverse()
            await page.hover(over[0])

        await timed("hover", hover)
        assert await page.evaluate("overs") >= order["repeats"]["hover"] // 2

        async def clear():
            assert await page.evaluate("field.value") in ("", order["text"])
            await page.evaluate("void (field.value = '')")

        await timed("type", lambda: page.type("#field", order["text"]), clear)
        await timed("fill", lambda: page.fill("#field", order["text"]), clear)
        pages = [page]
        for _ in range(order["tabs"] - 1):
            pages.append(await context.new_page())
            await pages[-1].set_content(order["scene"])
        await timed("click_first_tab", lambda: pages[0].click("#go"))
        await timed("click_twentieth_tab", lambda: pages[-1].click("#go"))
        await browser.close()
    print(json.dumps(said))


asyncio.run(main(json.loads(sys.argv[1])))
