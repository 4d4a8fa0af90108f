"""The stage for the ways of a secret into the engine, their table, and the ways before the page is loaded.

Rule: one function for each way, in execution order. Each enters the canary of its own name. The page's own
activity is in canary_site.py, the reads afterwards are in canary_exposures.py. Importing canary_ways.py
completes the table.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs
from canaries import Canaries, Style
from canary_site import CanarySite

import cdpengine
from cdpengine.errors import EngineError


@attrs.define
class Stage:
    """The objects that a way acts on, and the collected results of all ways."""

    page: cdpengine.Page
    site: CanarySite
    folder: Path
    canaries: Canaries
    ways: Sequence[Way]
    errors: list[BaseException] = attrs.field(factory=list)
    failures: list[str] = attrs.field(factory=list)

    def secret(self, name: str, style: Style = "text") -> str:
        """Return one canary of a way that enters several."""
        return self.canaries.make(name, style).text

    async def field(self, name: str) -> Any:
        """Return the field of a way."""
        return await self.page.find(f"#{name}")

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Keep the EngineError that the block must raise."""
        try:
            yield
        except EngineError as error:
            self.errors.append(error)
        else:
            raise AssertionError("nothing was raised")


Run = Callable[[Stage, str], Awaitable[None]]


@attrs.frozen
class Way:
    """One way in. `field` is the markup that it needs. `made_up`: the page makes up the canary.

    `before`: it runs before the page of the site is loaded. `crosses`: the secret crosses the wire.
    """

    name: str
    run: Run
    style: Style
    field: str
    made_up: bool
    before: bool
    crosses: bool


WAYS: list[Way] = []


def way(
    style: Style = "text",
    *,
    field: str = "",
    made_up: bool = False,
    before: bool = False,
    crosses: bool = True,
) -> Callable[[Run], Run]:
    """Add a function to the table.

    "@" in the markup of its field becomes the attributes that all fields share.
    """

    def take(run: Run) -> Run:
        name = run.__name__
        markup = field.replace("@", f"id={name} data-echo=plain")
        WAYS.append(Way(name, run, style, markup, made_up, before, crosses))
        return run

    return take


async def shows(stage: Stage, secret: str) -> None:
    """Check that the page shows a string, and read it in each way."""
    assert secret in await stage.page.evaluate("document.body.textContent")
    await stage.page.snapshot()
    await stage.page.content()


# --- before the page ---------------------------------------------------------------------------------------------


@way(before=True)
async def goto_query(stage: Stage, secret: str) -> None:
    await stage.page.goto(f"{stage.site.url}landed?token={quote(secret, safe='')}")


@way(before=True)
async def goto_hash(stage: Stage, secret: str) -> None:
    await stage.page.goto(f"{stage.site.url}landed#access_token={quote(secret, safe='')}")


@way(before=True)
async def goto_password(stage: Stage, secret: str) -> None:
    url = stage.site.url.replace("http://", f"http://ada:{quote(secret, safe='')}@")
    await stage.page.goto(f"{url}protected")


@way(before=True)
async def goto_password_shown(stage: Stage, secret: str) -> None:
    url = stage.site.url.replace("http://", f"http://ada:{quote(secret, safe='')}@")
    await stage.page.goto(f"{url}shown")
    await shows(stage, secret)


@way(before=True)
async def goto_refused(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.goto(f"http://127.0.0.1:1/?token={quote(secret, safe='')}")


@way("token", before=True, crosses=False)
async def endpoint_password(stage: Stage, secret: str) -> None:
    with stage.refused():
        async with cdpengine.connect(f"http://ada:{secret}@127.0.0.1:1/?token={secret}"):
            pass


@way("typed", before=True)
async def http_credentials(stage: Stage, secret: str) -> None:
    async with stage.page.network.http_credentials("ada", secret):
        await stage.page.goto(stage.site.elsewhere + "protected")


@way("cookie", before=True)
async def cookie_api(stage: Stage, secret: str) -> None:
    short = stage.secret("cookie_short", "short")
    for name, value in (("set", secret), ("short", short)):
        await stage.page.context.storage.set_cookies([{"name": name, "value": value, "url": stage.site.url}])
    assert {secret, short} <= {cookie.value for cookie in await stage.page.context.storage.cookies()}


@way(before=True, crosses=False)
async def cookie_refused(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.context.storage.set_cookies(
            [{"name": "set", "value": f"{secret};\n", "url": stage.site.url}]
        )


@way("cookie", before=True)
async def state_restored(stage: Stage, secret: str) -> None:
    kept = {"name": "kept", "value": stage.secret("state_restored_item")}
    cookie = {"name": "restored", "value": secret, "domain": "127.0.0.1", "path": "/"}
    origin = {"origin": stage.site.url.rstrip("/"), "localStorage": [kept]}
    state = cdpengine.StorageState.from_json(json.dumps({"cookies": [cookie], "origins": [origin]}))
    await stage.page.context.storage.restore_state(state)
    assert secret in (await stage.page.context.storage.state()).to_json()


@way(before=True)
async def storage_api(stage: Stage, secret: str) -> None:
    storage = stage.page.context.storage.local(stage.site.url.rstrip("/"))
    await storage.set({"api": secret})
    assert (await storage.items())["api"] == secret


@way(before=True)
async def init_script(stage: Stage, secret: str) -> None:
    async with stage.page.scripts.add_init_script(f"window.session_token = {json.dumps(secret)};"):
        await stage.page.goto(stage.site.url + "landed")
