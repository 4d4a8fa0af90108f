"""Watch the network traffic of one page load.

Run: python examples/watch_traffic.py           (a page of this program)
     python examples/watch_traffic.py URL       (your page)
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

import trio
from pages import serve

import cdpengine

PAGES = {
    "/": "<title>Traffic</title><h1>Hello</h1><iframe src=/inner></iframe><script>fetch('/missing')</script>",
    "/inner": "<p>A page in the page</p>",
}


async def main(urls: list[str]) -> None:
    """Subscribe before loading, so that no event is missed."""
    with ExitStack() as stack:
        url = urls[0] if urls else stack.enter_context(serve(PAGES)) + "/"
        async with cdpengine.launch() as browser:
            page = await browser.new_page()
            async with page.session.subscribe("Network.*", buffer=5000) as events:
                await page.goto(url, wait_until="networkidle")
                with trio.move_on_after(0.5):  # events of the next half second
                    async for event in events:
                        print_event(event.method, event.params)


def print_event(method: str, params: dict[str, object]) -> None:
    """Print one line for each request, response and failure."""
    match method, params:
        case "Network.requestWillBeSent", {"request": {"method": verb, "url": url}}:
            print(f"-> {verb} {url}")
        case "Network.responseReceived", {"response": {"status": status, "url": url}, "type": kind}:
            print(f"<- {status} {kind} {url}")
        case "Network.loadingFailed", {"errorText": reason, "type": kind}:
            print(f"!! {kind}: {reason}")


if __name__ == "__main__":
    trio.run(main, sys.argv[1:])
