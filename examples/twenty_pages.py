"""Read twenty pages concurrently, in twenty tabs of one browser.

Run: python examples/twenty_pages.py            (pages of this program)
     python examples/twenty_pages.py URL ...    (your pages)
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

import trio
from pages import serve

import cdpengine

COUNT = 20


async def read(browser: cdpengine.Browser, url: str, results: dict[str, str]) -> None:
    """Store a description of the page, or the error, in `results`. Other pages are not affected."""
    try:
        page = await browser.new_page(url)
        try:
            snapshot = await page.snapshot(timeout=20)
            results[url] = f"{await page.title()}, {len(snapshot.refs)} refs"
        finally:
            await page.close()
    except cdpengine.errors.EngineError as error:
        results[url] = f"{type(error).__name__}: {error}"


async def main(urls: list[str]) -> None:
    """Read all pages concurrently and print one line for each."""
    with ExitStack() as stack:
        if not urls:
            pages = {
                f"/{number}": f"<title>Page {number}</title>" + "<p><a href=#>A link</a>" * number
                for number in range(1, COUNT + 1)
            }
            address = stack.enter_context(serve(pages))
            urls = [address + path for path in pages]
        results: dict[str, str] = {}
        start = time.perf_counter()
        async with cdpengine.launch() as browser, trio.open_nursery() as nursery:
            for url in urls:
                nursery.start_soon(read, browser, url, results)
        for url in urls:
            print(f"{url}: {results[url]}")
        print(
            f"{len(urls)} pages in {time.perf_counter() - start:.1f} s, including the browser's start and end"
        )


if __name__ == "__main__":
    trio.run(main, sys.argv[1:])
