"""The scene of hung_evaluate.py under Playwright. Run by it with the peers' own interpreter; prints JSON."""

# mypy: ignore-errors
import asyncio
import json
import os
import sys
import time

from playwright.async_api import Error, async_playwright

CLICK_PATIENCE = 3000
"""Milliseconds after which a click is given up on."""


async def main(executable, scene, hang, budget):
    said = {}
    async with async_playwright() as playwright:
        args = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=executable, args=args)
        page = await browser.new_page()
        await page.set_content(scene)
        await page.click("button")
        started = time.perf_counter()
        hung = asyncio.ensure_future(page.evaluate(hang))
        try:
            await asyncio.wait_for(asyncio.shield(hung), budget)
        except TimeoutError:
            said["late_ms"] = (time.perf_counter() - started - budget) * 1000
            said["evaluate"] = "has no timeout of its own; given up on from outside, its script goes on"
        started = time.perf_counter()
        try:
            await page.click("button", timeout=CLICK_PATIENCE)
            said["click_ms"] = (time.perf_counter() - started) * 1000
        except Error as error:
            said["click"] = "cannot: " + str(error).splitlines()[0]
        hung.cancel()
        await browser.close()
        await asyncio.gather(hung, return_exceptions=True)
    print(json.dumps(said))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])))
