"""Take screenshots for HTTP requests: FastAPI on asyncio, with one browser for all requests.

Run: uvicorn --app-dir examples screenshot_server:app
     curl -o page.png 'http://127.0.0.1:8000/screenshot?url=https://example.com'

Every caller can load any address that this machine can reach. Serve only callers that you trust.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request, Response

import cdpengine.asyncio
import cdpengine.errors


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep one browser open while the server runs."""
    async with cdpengine.asyncio.launch() as browser:
        app.state.browser = browser
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/screenshot")
async def screenshot(request: Request, url: str, width: int = 1280, height: int = 720) -> Response:
    """Return a picture of a page. Each request has a context of its own, without others' cookies."""
    browser: cdpengine.asyncio.AsyncioBrowser = request.app.state.browser
    try:
        async with browser.new_context(viewport=(width, height)) as context:
            page = await context.new_page(url, timeout=20)
            picture = await page.screenshot()
    except cdpengine.errors.InvalidArgumentError as error:
        raise HTTPException(422, str(error)) from error
    except cdpengine.errors.EngineError as error:
        raise HTTPException(502, str(error)) from error
    return Response(picture, media_type="image/png")
