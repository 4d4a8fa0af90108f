"""The ways in which a secret enters through scripts, the network and files; and the runner of all ways.

Rule: as in canary_stage.py.
"""

from __future__ import annotations

import json
from urllib.parse import quote

import canary_fields  # noqa: F401 - its ways are in the table before those that are here
import trio
from busy_machine import slack
from canaries import Canaries
from canary_site import STYLES
from canary_stage import WAYS, Stage, Way, shows, way
from rounds import rounds

import cdpengine

BOUND = 20
"""Maximum time of one way, in seconds."""


# --- scripts -----------------------------------------------------------------------------------------------------


@way()
async def evaluate_argument(stage: Stage, secret: str) -> None:
    assert await stage.page.evaluate("(text) => text.length", secret) == len(secret.encode("utf-16-le")) // 2


@way()
async def evaluate_argument_inside(stage: Stage, secret: str) -> None:
    await stage.page.evaluate("(user) => user.keys.length", {"name": "Ada", "keys": [secret, 1]})


@way(made_up=True)
async def evaluate_returned(stage: Stage, secret: str) -> None:
    assert await stage.page.evaluate("() => C('evaluate_returned')") == secret


@way(made_up=True)
async def evaluate_returned_inside(stage: Stage, secret: str) -> None:
    found = await stage.page.evaluate("() => new Map([['a', [{b: C('evaluate_returned_inside')}]]])")
    assert secret in repr(found)


@way()
async def evaluate_handle(stage: Stage, secret: str) -> None:
    async with stage.page.evaluate_handle("(text) => ({text})", secret) as handle:
        assert await stage.page.evaluate("(handle) => handle.text", handle) == secret


@way()
async def evaluate_thrown_argument(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.evaluate("(text) => { throw new Error(`no ${text}`) }", secret)


@way("token", made_up=True)
async def evaluate_thrown(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.evaluate("() => { throw new Error(`refused: password=${C('evaluate_thrown')}`) }")


@way(made_up=True)
async def exposed_argument(stage: Stage, secret: str) -> None:
    received = []

    async def vault(text: str) -> None:
        received.append(text)

    async with stage.page.scripts.expose("vault", vault):
        await stage.page.evaluate("async () => { await vault(C('exposed_argument')) }")
    assert received == [secret]


@way()
async def exposed_result(stage: Stage, secret: str) -> None:
    async def key() -> str:
        return secret

    async with stage.page.scripts.expose("key", key):
        await stage.page.evaluate("async () => (await key()).length")


@way()
async def exposed_raises(stage: Stage, secret: str) -> None:
    async def broken() -> None:
        raise ValueError(f"no password={secret}")

    async with stage.page.scripts.expose("broken", broken):
        await stage.page.evaluate("async () => { try { await broken() } catch {} }")


# --- the network -------------------------------------------------------------------------------------------------

ASK = "async (path) => { await (await fetch(path)).text() }"


@way("token")
async def extra_headers(stage: Stage, secret: str) -> None:
    headers = {"X-Api-Key": secret, "Authorization": f"Bearer {stage.secret('extra_bearer', 'token')}"}
    async with stage.page.network.extra_headers(headers):
        await stage.page.evaluate(ASK, "/asked")


@way(crosses=False)
async def headers_refused(stage: Stage, secret: str) -> None:
    with stage.refused():
        async with stage.page.network.extra_headers({"Authorization": f"Bearer {secret}\n"}):
            pass


@way()
async def route_text(stage: Stage, secret: str) -> None:
    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(json={"access_token": secret})

    async with stage.page.route("*/routed", answer):
        await stage.page.evaluate(ASK, "/routed")


@way()
async def route_binary(stage: Stage, secret: str) -> None:
    body = b"\x00\xff" + json.dumps({"access_token": secret}).encode()

    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body=body, content_type="application/octet-stream")

    async with stage.page.route("*/routed", answer):
        await stage.page.evaluate(ASK, "/routed")


@way("token")
async def route_headers(stage: Stage, secret: str) -> None:
    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(headers={"X-Auth-Token": secret}, body="x")

    async def pass_on(route: cdpengine.Route) -> None:
        sent = stage.secret("route_continued_header", "token")
        await route.continue_(headers={**route.request.headers, "X-Api-Key": sent})

    async with stage.page.route("*/routed", answer), stage.page.route("*/passed", pass_on):
        await stage.page.evaluate(ASK, "/routed")
        await stage.page.evaluate(ASK, "/passed")


@way()
async def route_posted(stage: Stage, secret: str) -> None:
    async def pass_on(route: cdpengine.Route) -> None:
        await route.continue_(post_data=json.dumps({"password": secret}))

    async with stage.page.route("*/routed", pass_on):
        await stage.page.evaluate("async () => { await post('/routed', 'x') }")


ECHO = "async (path) => { document.body.append(await (await post(path, 'x')).text()) }"


@way()
async def route_posted_form(stage: Stage, secret: str) -> None:
    """Post a value under a neutral name. The page shows it."""

    async def pass_on(route: cdpengine.Route) -> None:
        headers = {**route.request.headers, "Content-Type": "application/x-www-form-urlencoded"}
        await route.continue_(headers=headers, post_data=f"note={quote(secret, safe='')}")

    async with stage.page.route("*/echoed", pass_on):
        await stage.page.evaluate(ECHO, "/echoed")
    await shows(stage, secret)


@way()
async def route_posted_text(stage: Stage, secret: str) -> None:
    """Post plain text. The page shows it."""

    async def pass_on(route: cdpengine.Route) -> None:
        await route.fallback(post_data=secret)

    async with stage.page.route("*/echoed", pass_on):
        await stage.page.evaluate(ECHO, "/echoed")
    await shows(stage, secret)


@way()
async def route_raises_entered(stage: Stage, secret: str) -> None:
    """Raise an error whose message contains an earlier secret."""
    await stage.page.storage.session.set({"note": secret})

    async def broken(route: cdpengine.Route) -> None:
        raise ValueError(f"no {secret}")

    async with stage.page.route("*/routed", broken):
        await stage.page.evaluate("async () => { try { await fetch('/routed') } catch {} }")


@way()
async def route_fetched(stage: Stage, secret: str) -> None:
    """Read the body of a response in a route."""

    async def change(route: cdpengine.Route) -> None:
        response = await route.fetch()
        await route.fulfill(body=await response.body())

    async with stage.page.route("*/json", change):
        await stage.page.evaluate("async () => { await (await fetch('/json?again')).text() }")


@way(crosses=False)
async def route_raises(stage: Stage, secret: str) -> None:
    async def broken(route: cdpengine.Route) -> None:
        raise ValueError(f"no password={secret}")

    async with stage.page.route("*/routed", broken):
        await stage.page.evaluate("async () => { try { await fetch('/routed') } catch {} }")


# --- files -------------------------------------------------------------------------------------------------------


@way("file", made_up=True)
async def download(stage: Stage, secret: str) -> None:
    """Download a file whose name is the token of its URL."""
    stage.secret("download_content")
    async with stage.page.expect_download(stage.folder) as expected:
        await stage.page.evaluate(
            "() => { const own = encodeURIComponent(C('download')); location.href = `/file?token=${own}&name=${own}.txt` }"
        )
    path = await expected.value.wait()
    assert secret in path.name


# --- long secrets, last: all later data is searched for known secrets
# -------------------------------------------------


@way("long", field="<textarea @></textarea>")
async def fill_long(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_long"), secret)


@way("long")
async def evaluate_long(stage: Stage, secret: str) -> None:
    assert await stage.page.evaluate("(text) => text", secret) == secret


# --- running them ------------------------------------------------------------------------------------------------


def fields() -> str:
    """Return the markup of all fields."""
    return "\n".join(each.field for each in WAYS)


def prepare(canaries: Canaries) -> None:
    """Create all canaries that the site must know in advance."""
    from canary_site import PAGE_WAYS

    for name in PAGE_WAYS:
        canaries.make(name, STYLES.get(name, "text"))  # type: ignore[arg-type]
    for each in WAYS:
        canaries.make(each.name, each.style)
    canaries.make("download_content")


def made_up() -> list[str]:
    """Return the names of the canaries that the page makes up on request of a way."""
    return [each.name for each in WAYS if each.made_up]


def ways_of(client: str) -> list[Way]:
    """Return the ways of a run with a client: all of them with `--run-slow`.

    A normal run has each way once. The client that makes all outputs gets one in four and one of each style;
    the other client gets the rest. Secrets that the page makes up are in both runs.
    """
    styles = {each.style: each for each in reversed(WAYS)}
    sample = [each for place, each in enumerate(WAYS) if place % 4 == 0 or styles[each.style] is each]
    others = [each for each in WAYS if each not in sample]
    return {"websocket": sample, "pipe": others}[client] if rounds(1, 0) else WAYS


async def run_ways(stage: Stage, *, before: bool) -> None:
    """Run the ways of the stage. A failure is noted, and the others continue."""
    for each in stage.ways:
        if each.before is not before:
            continue
        try:
            with trio.fail_after(slack(BOUND)):
                await each.run(stage, stage.canaries.make(each.name, each.style).text)
        except Exception as error:  # noqa: BLE001 - noted, and asserted to be none
            stage.failures.append(f"{each.name}: {type(error).__name__}: {error}")
