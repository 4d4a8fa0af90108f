"""The reads after all secrets have come in: everything that reads a page, its storage or its traffic.

Rule: these functions enter no secrets. Each makes existing secrets cross the wire again, in its own way.
"""

from __future__ import annotations

from contextlib import AsyncExitStack

from canary_stage import Stage

MODES = ("ai", "numbered", "webarena", "aria")
SOURCES = ("computed", "ax", "dom", "hybrid")


async def look_at_all(stage: Stage, *, measured: bool) -> None:
    """Read the page in all ways, optionally measure it, take pictures, and read its storage."""
    page = stage.page
    async with AsyncExitStack() as measuring:
        if measured:
            await measuring.enter_async_context(page.measure.trace(stage.folder / "trace.json"))
            await measuring.enter_async_context(page.measure.profile(stage.folder / "page.cpuprofile"))
            await measuring.enter_async_context(page.measure.coverage())
        await page.evaluate("() => echo()")
        for source in SOURCES:
            await page.snapshot(source=source, fresh=True)  # type: ignore[arg-type]
        for mode in MODES:
            await page.snapshot(mode=mode)  # type: ignore[arg-type]
        await page.content()
        await page.title()
        await page.extract_text()
        await page.extract_markdown()
    await page.screenshot()
    await page.pdf()
    if measured:
        await page.measure.heap_snapshot(stage.folder / "page.heapsnapshot")
    await _ask_the_protocol(stage)


async def _ask_the_protocol(stage: Stage) -> None:
    page, call = stage.page, stage.page.session.call
    origin = stage.site.url.rstrip("/")
    await call("Network.getCookies")
    await page.context.storage.cookies()
    await page.storage.local.items()
    await page.storage.session.items()
    await page.context.storage.state()
    where = {"securityOrigin": origin, "databaseName": "canaries", "objectStoreName": "kept"}
    await call("IndexedDB.requestData", **where, skipCount=0, pageSize=10)
    await call("DOM.getDocument", depth=-1, pierce=True)
    await call("DOMSnapshot.captureSnapshot", computedStyles=[])
    await call("Accessibility.getFullAXTree")
    await call("Page.getNavigationHistory")
    await call("Page.captureSnapshot")
    await call("Page.getResourceTree")
    # The debugger's preview of page objects.
    field = (await call("Runtime.evaluate", expression="document.getElementById('fill')"))["result"]
    await call(
        "Runtime.getProperties",
        objectId=field["objectId"],
        accessorPropertiesOnly=False,
        generatePreview=True,
    )
    shown = await call("Runtime.evaluate", expression="({password: fill.value})", generatePreview=True)
    assert shown["result"]["preview"]


async def replace_content(stage: Stage) -> None:
    """Replace the page's document by one with secrets. This must run last."""
    password = stage.secret("set_content_password", "token")
    hidden = stage.secret("set_content_hidden", "token")
    await stage.page.set_content(
        f'<title>over</title><input type="password" value="{password}"><input type=hidden name=token value={hidden}>'
    )
    await stage.page.snapshot(source="dom", fresh=True)
    await stage.page.content()
