"""The engine for programs on asyncio: `cdpengine.asyncio.launch()`, and facades of all objects.

    async with cdpengine.asyncio.launch() as browser:
        page = await browser.new_page("https://example.com")
        await page.click("text=More")

guest_run   trio beside an asyncio loop, in the loop's thread: calls, blocks and callbacks
facades     objects of the engine whose coroutine methods are awaited in asyncio
entering    launch and connect
classes     the classes that have facades; scripts/write_asyncio.py writes it, and the stub

A facade has the name of its class after `Asyncio`: `AsyncioPage`. Names are imported on first use.
"""

_FUNCTIONS = {"launch": "entering", "connect": "entering", "expect": "entering"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if (module := _FUNCTIONS.get(name)) is not None:
        return getattr(import_module(f"{__name__}.{module}"), name)
    if name.startswith("__"):
        raise AttributeError(name)
    from cdpengine.asyncio.facades import find_class

    return find_class(name)


def __dir__() -> list[str]:
    from cdpengine.asyncio.classes import CLASSES

    return [*_FUNCTIONS, *(f"Asyncio{name}" for names in CLASSES.values() for name in names)]
