"""Pictures of twelve open tabs in random order: none hangs, and each shows its tab."""

from __future__ import annotations

import base64
import io
import random
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from PIL import Image
from rounds import rounds, slow_but

import cdpengine
from cdpengine.act import Actor, dispatch

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(300)]

Colour = tuple[int, int, int]
TABS = 12
LISTENING = re.compile(rb"DevTools listening on (ws://\S+)\s")
KINDS = ("visible", "visible", "whole", "element", "labels", "request", "pdf")


@asynccontextmanager
async def foreign_browser(profile: Path) -> AsyncIterator[cdpengine.Browser]:
    """Start a browser without any of the engine's switches, and connect to it."""
    program = str(cdpengine.find_browser().path)
    switches = ["--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    process = await trio.lowlevel.open_process(
        [program, *switches], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        output = b""
        with trio.fail_after(60):
            while (listening := LISTENING.search(output)) is None:
                output += await process.stderr.receive_some()
        async with cdpengine.connect(listening[1].decode()) as browser:
            yield browser
    finally:
        process.kill()
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 30):
            await process.wait()


@asynccontextmanager
async def open_browser(way: str, profile: Path) -> AsyncIterator[cdpengine.Browser]:
    if way == "connected":
        async with foreign_browser(profile) as browser:
            yield browser
    else:
        async with cdpengine.launch(transport="pipe" if way == "pipe" else "websocket") as browser:
            yield browser


def colour_of(data: bytes) -> Colour:
    pixel = Image.open(io.BytesIO(data)).convert("RGB").getpixel((8, 8))
    assert isinstance(pixel, tuple)
    return (pixel[0], pixel[1], pixel[2])


async def take_picture(kind: str, page: cdpengine.Page, actor: Actor) -> bytes:
    match kind:
        case "element":
            return await page.screenshot(target=await page.find(css="main"), timeout=20)
        case "labels":
            return (await page.pictures.labelled_screenshot(timeout=20)).image
        case "request":
            response = await dispatch(
                actor, {"kind": "screenshot", "targetId": page.target_id, "timeoutMs": 20_000}
            )
            assert response.ok, response
            return base64.b64decode(str(response.to_json()["result"]["base64"]))
        case _:
            return await page.screenshot(full_page=kind == "whole", timeout=20)


@pytest.mark.parametrize("way", slow_but(["pipe", "websocket", "connected"], ["pipe", "connected"]))
async def test_pictures_in_random_order(way: str, tmp_path: Path) -> None:
    chosen = random.Random(way)
    async with open_browser(way, tmp_path) as browser, browser.new_context() as context:
        actor = Actor(browser, context)
        tabs: list[tuple[cdpengine.Page, Colour]] = []
        for number in range(TABS):
            colour = (20 * number, 255 - 20 * number, 128)
            page = await context.new_page()
            await page.set_content(
                f"<main style='background: rgb{colour}; height: 300px; display: flow-root'><button style='margin: 90px'>x</button></main>"
                "<style>body { margin: 0 }</style>"
            )
            tabs.append((page, colour))
        for _ in range(rounds(10, 200)):
            page, colour = chosen.choice(tabs)
            if (kind := chosen.choice(KINDS)) == "pdf":
                assert (await page.pdf(timeout=20)).startswith(b"%PDF")
            else:
                seen = colour_of(await take_picture(kind, page, actor))
                assert max(abs(a - b) for a, b in zip(seen, colour, strict=True)) <= 6, (kind, seen, colour)
