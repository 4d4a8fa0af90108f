"""The scene of activity.py under Playwright: one burst a turn, until a handler has seen all of it."""

# mypy: ignore-errors
import asyncio
import json
import os
import sys
import time

from playwright.async_api import async_playwright


async def main(executable, url):
    async with async_playwright() as playwright:
        args = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(executable_path=executable, args=args)
        page = await browser.new_page()
        await page.goto(url)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            turn = json.loads(line)
            done = asyncio.Event()
            seen = 0

            def count(wanted, turn=turn, done=done):
                nonlocal seen
                if wanted:
                    seen += 1
                    if seen == turn["count"]:
                        done.set()

            def on_message(message, count=count):
                count(message.text.startswith("message"))

            def on_finished(request, count=count):
                count("/n?" in request.url)

            name, handler = (
                ("console", on_message) if turn["case"] == "messages" else ("requestfinished", on_finished)
            )
            page.on(name, handler)
            started = time.perf_counter()
            burst = asyncio.ensure_future(page.evaluate(f"{turn['case']}({turn['count']})"))
            await asyncio.wait_for(done.wait(), 100)
            await burst
            seconds = time.perf_counter() - started
            page.remove_listener(name, handler)
            print(json.dumps({"seconds": seconds}), flush=True)
        await browser.close()


asyncio.run(main(sys.argv[1], sys.argv[2]))
