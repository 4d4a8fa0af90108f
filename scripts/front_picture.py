"""Draw the README's picture with the engine: the demo page with its refs, next to its snapshot.

Usage: .venv/bin/python scripts/front_picture.py docs/pictures/demo.png
"""

from __future__ import annotations

import base64
import html
import sys
from pathlib import Path

import trio

import cdpengine
from cdpengine.cli.demo import serve_shop

FRAME = """<!doctype html><style>
body { margin: 0; width: max-content; background: #fff }
main { display: flex; gap: 28px; padding: 20px; align-items: flex-start }
img { width: 640px; border: 1px solid #d0d7de; border-radius: 6px }
pre { margin: 0; font: 15px/1.5 "DejaVu Sans Mono", monospace; color: #1f2328 }
b { color: #b93a0a; font-weight: 600 }
</style><main><img src="data:image/png;base64,PICTURE"><pre>SNAPSHOT</pre></main>"""


async def draw(path: Path) -> None:
    """Write the picture to `path`."""
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        await page.emulation.set_viewport(900, 620, device_scale_factor=2)
        with serve_shop() as url:
            await page.goto(url)
            labelled = await page.pictures.labelled_screenshot()
        data = base64.b64encode(labelled.image).decode()
        await page.set_content(
            FRAME.replace("PICTURE", data).replace("SNAPSHOT", html.escape(str(labelled.snapshot)))
        )
        await page.emulation.set_viewport(1240, 700, device_scale_factor=2)
        await page.screenshot(path, target=await page.find(css="main"))


trio.run(draw, Path(sys.argv[1]))
