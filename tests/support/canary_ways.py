"""The ways in which a secret comes to the engine: entered by its actions, by scripts, by settings, by the protocol.

Rule: one function a way, in the order in which they run; what it enters is the canary of its own name. What a page
does by itself is in canary_site.py, what is looked at afterwards in canary_exposures.py.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs
import trio
from busy_machine import slack
from canaries import Canaries, Style
from canary_site import STYLES, CanarySite
from rounds import rounds

import cdpengine
from cdpengine.errors import EngineError

BOUND = 20
"""Seconds that one way may take."""


@attrs.define
class Stage:
    """What a way acts on, and what came of all of them."""

    page: cdpengine.Page
    site: CanarySite
    folder: Path
    canaries: Canaries
    ways: Sequence[Way]
    errors: list[BaseException] = attrs.field(factory=list)
    failures: list[str] = attrs.field(factory=list)

    def secret(self, name: str, style: Style = "text") -> str:
        """Return the canary of a way that enters several."""
        return self.canaries.make(name, style).text

    async def field(self, name: str) -> Any:
        """Return the field of a way."""
        return await self.page.find(f"#{name}")

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Keep the error of the engine's that the block must raise."""
        try:
            yield
        except EngineError as error:
            self.errors.append(error)
        else:
            raise AssertionError("nothing was raised")


Run = Callable[[Stage, str], Awaitable[None]]


@attrs.frozen
class Way:
    """One way in. `field` is the markup that it needs, `made_up`: it is the page that makes the canary up.

    `before`: it runs before the page of the site is loaded. `crosses`: what is entered is seen on the wire.
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
    """Put a function into the table; "@" in the markup of its field stands for the attributes of all fields."""

    def take(run: Run) -> Run:
        name = run.__name__
        markup = field.replace("@", f"id={name} data-echo=plain")
        WAYS.append(Way(name, run, style, markup, made_up, before, crosses))
        return run

    return take


INPUT = "<input @>"


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


# --- fields ------------------------------------------------------------------------------------------------------


@way(field=INPUT)
async def fill(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill"), secret)


@way(field="<textarea @></textarea>")
async def fill_textarea(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_textarea"), secret)


@way(field="<div contenteditable @></div>")
async def fill_editable(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_editable"), secret)


@way(field="<input type=password @>")
async def fill_password(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_password"), secret)


@way("short", field=INPUT)
async def fill_short(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_short"), secret)


@way(field="<input maxlength=10 @>")
async def fill_maxlength(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_maxlength"), secret)


@way(field="<input readonly @>", crosses=False)
async def fill_readonly(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_readonly"), secret, timeout=0.5)


@way(field="<input disabled @>", crosses=False)
async def fill_disabled(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_disabled"), secret, timeout=0.5)


@way(field="<input type=number @>")
async def fill_number(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_number"), secret)


@way(field="<input type=date @>", crosses=False)
async def fill_date(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_date"), secret, timeout=0.5)


FORMS = (
    "url", "plus", "lower", "base64", "base64_1", "base64_2", "base64url", "json", "json_twice", "html", "hex",
    "utf16", "utf16_base64",
)  # fmt: skip


@way(field="".join(f"<input id=echo_{form} data-echo={form}>" for form in FORMS))
async def fill_form(stage: Stage, secret: str) -> None:
    """Fill in a field for each form in which the page echoes it."""
    fields = [(await stage.field(f"echo_{form}"), stage.secret(f"echo_{form}")) for form in FORMS]
    await stage.page.fill_form([*fields, (await stage.field("fill"), secret)])


@way("typed", field=INPUT)
async def type_keys(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.field("type_keys"), secret)


@way("short", field=INPUT)
async def type_short(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.field("type_short"), secret)


@way(field=INPUT)
async def type_all(stage: Stage, secret: str) -> None:
    """Type what is not on a keyboard, too."""
    await stage.page.type(await stage.field("type_all"), secret)


@way(field=INPUT)
async def type_in_two(stage: Stage, secret: str) -> None:
    field = await stage.field("type_in_two")
    middle = len(secret) // 3
    await stage.page.type(field, secret[:middle])
    await stage.page.type(field, secret[middle:])


@way("typed", field="<input data-live @>")
async def type_live(stage: Stage, secret: str) -> None:
    """Type into a field that the page echoes at each key."""
    await stage.page.type(await stage.field("type_live"), secret)


@way(field="<input data-live @>")
async def fill_live(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_live"), secret)


@way("typed", field=INPUT)
async def keyboard_type(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_type"))
    await stage.page.keyboard.type(secret)


@way("typed", field=INPUT)
async def keyboard_press(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_press"))
    for key in secret:
        await stage.page.keyboard.press(key)


@way("typed", field=INPUT)
async def page_press(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("page_press"))
    for key in secret:
        await stage.page.press(key)


@way(field=INPUT)
async def keyboard_insert(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_insert"))
    await stage.page.keyboard.insert_text(secret)


@way("typed", field=INPUT)
async def keyboard_down_up(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_down_up"))
    for key in secret:
        name = key
        await stage.page.keyboard.down(name)
        await stage.page.keyboard.up(name)


@way(field=INPUT)
async def keyboard_compose(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_compose"))
    await stage.page.keyboard.compose(secret, secret[:10])


@way(crosses=False)
async def press_refused(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.press(secret)


@way(field=INPUT)
async def paste(stage: Stage, secret: str) -> None:
    """Fill in a field, cut the text out and paste it again."""
    field = await stage.field("paste")
    await stage.page.fill(field, secret)
    for chord in ("Control+A", "Control+X", "Control+V"):
        await stage.page.press(chord, field)


@way(field="<input type=checkbox name=token @>", made_up=True)
async def check(stage: Stage, secret: str) -> None:
    """Check a box whose value is a token, and post its form."""
    await stage.page.evaluate("() => { document.getElementById('check').value = C('check') }")
    await stage.page.check(await stage.field("check"))
    await stage.page.evaluate("async () => { await post('/post', new FormData(fields)) }")


@way(
    "file", field="<input type=file id=upload onchange='this.files[0].text().then((t) => post(`/post`, t))'>"
)
async def upload(stage: Stage, secret: str) -> None:
    """Give a file: what is in it is secret, what it is called is not."""
    path = stage.folder / "upload.txt"
    path.write_text(f"{stage.secret('upload_content')} {secret}")
    async with stage.page.expect_response("*/post"):
        await stage.page.upload(await stage.field("upload"), path)


@way(field=INPUT)
async def prompt(stage: Stage, secret: str) -> None:
    async with stage.page.expect_dialog(text=secret):
        await stage.page.evaluate("() => { document.getElementById('prompt').value = prompt('Password?') }")


@way(field=INPUT)
async def raw_insert(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("raw_insert"))
    await stage.page.session.call("Input.insertText", text=secret)


@way(field="<input type=password @>")
async def raw_attribute(stage: Stage, secret: str) -> None:
    call = stage.page.session.call
    root = (await call("DOM.getDocument", depth=0))["root"]["nodeId"]
    found = await call("DOM.querySelector", nodeId=root, selector="#raw_attribute")
    await call("DOM.setAttributeValue", nodeId=found["nodeId"], name="value", value=secret)


@way("cookie")
async def raw_cookie(stage: Stage, secret: str) -> None:
    await stage.page.session.call("Network.setCookie", name="raw", value=secret, url=stage.site.url)


@way(made_up=True)
async def raw_evaluate_returned(stage: Stage, secret: str) -> None:
    expression = "C('raw_evaluate_returned')"
    reply = await stage.page.session.call("Runtime.evaluate", expression=expression, returnByValue=True)
    assert reply["result"]["value"] == secret


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
    given = []

    async def vault(text: str) -> None:
        given.append(text)

    async with stage.page.scripts.expose("vault", vault):
        await stage.page.evaluate("async () => { await vault(C('exposed_argument')) }")
    assert given == [secret]


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


# --- long ones, last: what is known is searched for in all that comes after it -----------------------------------


@way("long", field="<textarea @></textarea>")
async def fill_long(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_long"), secret)


@way("long")
async def evaluate_long(stage: Stage, secret: str) -> None:
    assert await stage.page.evaluate("(text) => text", secret) == secret


# --- running them ------------------------------------------------------------------------------------------------

UNSEEN = ("download_content",)
"""Canaries that only files hold: they must not be on the wire either, and need not be."""


def fields() -> str:
    """Return the markup of all fields."""
    return "\n".join(each.field for each in WAYS)


def prepare(canaries: Canaries) -> None:
    """Make all canaries that the site must know beforehand."""
    from canary_site import PAGE_WAYS

    for name in PAGE_WAYS:
        canaries.make(name, STYLES.get(name, "text"))  # type: ignore[arg-type]
    for each in WAYS:
        canaries.make(each.name, each.style)
    canaries.make("download_content")


def made_up() -> list[str]:
    """Return the names of those that the page makes up when a way asks it to."""
    return [each.name for each in WAYS if each.made_up]


def ways_of(client: str) -> list[Way]:
    """Return the ways that a run with a client has: all of them with `--run-slow`.

    A usual run has each way once: one in four and one of each style with the client that makes all outputs, the others
    with the other one. What the page itself makes secret is in both runs.
    """
    styles = {each.style: each for each in reversed(WAYS)}
    sample = [each for place, each in enumerate(WAYS) if place % 4 == 0 or styles[each.style] is each]
    others = [each for each in WAYS if each not in sample]
    return {"websocket": sample, "pipe": others}[client] if rounds(1, 0) else WAYS


async def run_ways(stage: Stage, *, before: bool) -> None:
    """Run those of the stage; one that fails is noted, and the others go on."""
    for each in stage.ways:
        if each.before is not before:
            continue
        try:
            with trio.fail_after(slack(BOUND)):
                await each.run(stage, stage.canaries.make(each.name, each.style).text)
        except Exception as error:  # noqa: BLE001 - noted, and asserted to be none
            stage.failures.append(f"{each.name}: {type(error).__name__}: {error}")
