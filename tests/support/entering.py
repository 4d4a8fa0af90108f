"""Every way in which a program enters text into a page: each public method, with a call that exercises it.

A method has either ways (functions of a stage and a secret string, which they enter) or a reason why its
arguments are never secret. Public classes are listed in CLASSES. A method without an entry fails a test.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable

import attrs
from network_site import Site, ask

import cdpengine
from cdpengine._api.page.expecting import ExpectedFileChooser
from cdpengine._evaluate.handles import JSHandle
from cdpengine._network.route import Route
from cdpengine._storage.cookies import Cookie
from cdpengine._storage.storage_state import OriginState, StorageState

CLASSES: tuple[type, ...] = (
    cdpengine.Page,
    cdpengine.BrowserContext,
    cdpengine.Browser,
    cdpengine.pages.Keyboard,
    cdpengine.pages.Mouse,
    cdpengine.pages.Touch,
    cdpengine.network.Network,
    cdpengine.pages.PageScripts,
    cdpengine.emulation.PageEmulation,
    cdpengine.emulation.ContextEmulation,
    cdpengine.storage.PageStorage,
    cdpengine.storage.ContextStorage,
    cdpengine.storage.DocumentStorage,
    cdpengine.storage.OriginStorage,
    cdpengine.measure.PageMeasure,
    cdpengine.measure.BrowserMeasure,
    cdpengine.pages.PageWindow,
    cdpengine.pages.PageElements,
    cdpengine.pages.PagePictures,
    cdpengine.pages.Dialogs,
    cdpengine.pages.Worker,
    Route,
    ExpectedFileChooser,
    JSHandle,
)

FORM = """<!doctype html><input id=field><input id=secret type=password><textarea id=area></textarea>
<input id=number type=number><input id=code autocomplete=one-time-code><div id=rich contenteditable>old</div>
<input id=date type=date><input id=moment type=datetime-local step=1><input id=week type=week>
<input id=short maxlength=3>"""


@attrs.frozen
class Stage:
    """A page in a new context, on a site, with FORM in it."""

    browser: cdpengine.Browser
    context: cdpengine.BrowserContext
    page: cdpengine.Page
    site: Site

    async def node(self, css: str) -> cdpengine.FoundNode:
        return (await self.page.find_all(css))[0]


Way = Callable[[Stage, str], Awaitable[object]]


async def _type(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.node("#secret"), secret)


async def _type_slowly(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.node("#area"), secret, delay=0.001, submit=True)


def _fill(css: str) -> Way:
    async def fill(stage: Stage, secret: str) -> None:
        await stage.page.fill(await stage.node(css), secret)

    return fill


async def _fill_refused(stage: Stage, secret: str) -> None:
    try:
        await stage.page.fill(await stage.node("#short"), secret)
    except cdpengine.errors.ValueRefusedError:
        return
    raise AssertionError("it was not refused")


async def _fill_form(stage: Stage, secret: str) -> None:
    await stage.page.fill_form([(await stage.node("#secret"), secret)])


async def _policy(stage: Stage, secret: str) -> None:
    stage.page.dialogs.set_policy("accept", prompt_text=secret)
    await stage.page.evaluate("void prompt('?')")
    stage.page.dialogs.set_policy(
        lambda _dialog: cdpengine.DialogAnswer(accept=True, prompt_text=f"{secret}!")
    )
    await stage.page.evaluate("void prompt('?')")
    stage.page.dialogs.set_policy("default")


async def _policy_of_all(stage: Stage, secret: str) -> None:
    stage.browser.set_dialog_policy("accept", prompt_text=secret)
    page = await stage.context.new_page()
    await page.evaluate("void prompt('?')")
    stage.browser.set_dialog_policy("default")
    await page.close()


async def _expect_dialog(stage: Stage, secret: str) -> None:
    async with stage.page.expect_dialog(text=secret):
        await stage.page.evaluate("void prompt('?', 'the page\\'s own')")


async def _credentials(stage: Stage, secret: str) -> None:
    async with stage.page.network.http_credentials("ada", secret):
        await ask(stage.page, "/secret/a")


async def _credentials_of_context(stage: Stage, secret: str) -> None:
    async with stage.context.network.http_credentials("ada", secret):
        await ask(stage.page, "/secret/b")


async def _extra_headers(stage: Stage, secret: str) -> None:
    async with stage.page.network.extra_headers(
        {"Authorization": f"Bearer {secret}", "Accept-Language": "de"}
    ):
        await ask(stage.page, "/echo")


async def _extra_headers_of_context(stage: Stage, secret: str) -> None:
    async with stage.context.network.extra_headers({"X-Api-Key": secret}):
        await ask(stage.page, "/echo")


def _routed(answer: Callable[[Route, str], Awaitable[object]], *, of_context: bool = False) -> Way:
    async def route(stage: Stage, secret: str) -> None:
        async def handle(route: Route) -> None:
            await answer(route, secret)

        scope: cdpengine.Page | cdpengine.BrowserContext = stage.context if of_context else stage.page
        async with scope.route("*/echo*", handle):
            await ask(stage.page, "/echo")

    return route


def _posting(secret: str) -> str:
    """Return a form with files and fields that include the secret."""
    parts = (f'name="note"\r\n\r\n{secret}', 'name="file"; filename="a.txt"\r\n\r\nof a file')
    return "".join(f"--b\r\nContent-Disposition: form-data; {each}\r\n" for each in parts) + "--b--\r\n"


def _with_credentials(stage: Stage, secret: str) -> str:
    return stage.site.url.replace("//", f"//ada:{secret}@")


async def _goto(stage: Stage, secret: str) -> None:
    await stage.page.goto(_with_credentials(stage, secret))
    await stage.page.goto(stage.site.url)  # a document with credentials in its URL cannot fetch by a path


async def _new_page(stage: Stage, secret: str) -> None:
    await (await stage.browser.new_page(_with_credentials(stage, secret))).close()


async def _new_page_of_context(stage: Stage, secret: str) -> None:
    await (await stage.context.new_page(_with_credentials(stage, secret))).close()


async def _continue_response(route: Route, secret: str) -> None:
    await route.fetch()
    await route.continue_(headers=[("X-Token", secret)])


async def _fetch_posting(route: Route, secret: str) -> None:
    await route.fetch(method="POST", post_data=secret)
    await route.continue_()


async def _fetch(route: Route, secret: str) -> None:
    await route.fetch(headers={**route.request.headers, "X-Token": secret})
    await route.continue_()


def _cookie(stage: Stage, secret: str, name: str = "a") -> Cookie:
    return Cookie(name=name, value=secret, domain="127.0.0.1")


def _state(stage: Stage, secret: str) -> StorageState:
    origin = stage.site.url.rstrip("/")
    return StorageState((_cookie(stage, f"{secret}-c", "b"),), (OriginState(origin, {"key": f"{secret}-i"}),))


async def _restore(stage: Stage, secret: str) -> None:
    # Twice: the second read returns the same values as the read before the change.
    await stage.context.storage.restore_state(_state(stage, secret))
    await stage.context.storage.restore_state(_state(stage, secret))


async def _new_context(stage: Stage, secret: str) -> None:
    proxy = cdpengine.Proxy("direct://", username="ada", password=f"{secret}-p")
    async with stage.browser.new_context(storage_state=_state(stage, secret), proxy=proxy) as context:
        await context.new_page()


POINTS = "it points"
READS = "it only reads"
ANSWERS = "responses of a file, for the page"
LOOKS_FOR = "a search term is already on the page and is not entered"
CODE = "the user's JavaScript: recorders withhold its arguments and results"
SWITCHES = "names, numbers and states"
ENDS = "it ends an operation and enters nothing"
FILES = "names of files, which are locations"
WAITS = "it waits"
MESSAGES = "messages of websockets: recorders withhold the scripts that carry them"
MARKUP = "a document that the program makes: recorders withhold it"
OWN = "for the engine's own parts"
KEYS = "keys one by one: recorders put them together"

WAYS: dict[str, dict[str, Way] | str] = {
    "PageScripts.add_init_script": CODE,
    "PageScripts.add_script_tag": CODE,
    "PageScripts.add_style_tag": MARKUP,
    "PageElements.blur": POINTS,
    "PageElements.bounding_box": READS,
    "Page.content_frame": READS,
    "Page.console_handles": READS,
    "PageElements.text_content": READS,
    "JSHandle.json_value": READS,
    "JSHandle.get_property": READS,
    "JSHandle.properties": READS,
    "JSHandle.items": READS,
    "JSHandle.release": ENDS,
    "JSHandle.check_usable": OWN,
    "JSHandle.stale": OWN,
    "JSHandle.short": OWN,
    "PageElements.inner_text": READS,
    "PageElements.inner_html": READS,
    "PageElements.get_attribute": READS,
    "PageElements.input_value": READS,
    "PageElements.computed_style": READS,
    "PageElements.is_visible": READS,
    "PageElements.is_hidden": READS,
    "PageElements.is_enabled": READS,
    "PageElements.is_disabled": READS,
    "PageElements.is_editable": READS,
    "PageElements.is_focused": READS,
    "PageElements.is_checked": READS,
    "PageElements.select_text": POINTS,
    "PageElements.dispatch_event": "an event of the program, whose properties recorders withhold with its script",
    "Page.bring_to_front": SWITCHES,
    "Network.bypass_service_workers": SWITCHES,
    "Page.check": POINTS,
    "Page.click": POINTS,
    "Page.close": ENDS,
    "Page.content": READS,
    "PageMeasure.coverage": READS,
    "Page.double_click": POINTS,
    "Page.drag": POINTS,
    "PageEmulation.set": SWITCHES,
    "Page.events": READS,
    "Page.evaluate": CODE,
    "Page.evaluate_handle": CODE,
    "PageMeasure.evaluate_statistics": READS,
    "Page.expect_dialog": {"text": _expect_dialog},
    "Page.expect_download": WAITS,
    "Page.expect_file_chooser": WAITS,
    "Page.expect_popup": WAITS,
    "Page.expect_response": WAITS,
    "Page.expect_worker": WAITS,
    "PageScripts.expose": CODE,
    "Network.extra_headers": {"authorization": _extra_headers, "key": _extra_headers_of_context},
    "Page.accessibility_issues": READS,
    "Page.extract_markdown": READS,
    "Page.extract_text": READS,
    "Page.fill": {
        "text": _fill("#field"),
        "password": _fill("#secret"),
        "textarea": _fill("#area"),
        "code": _fill("#code"),
        "contenteditable": _fill("#rich"),
        "refused": _fill_refused,
    },
    "Page.fill_form": {"password": _fill_form},
    "Page.find": LOOKS_FOR,
    "Page.find_all": LOOKS_FOR,
    "Page.focus": POINTS,
    "Page.frame_locator": LOOKS_FOR,
    "Page.go_back": SWITCHES,
    "Page.go_forward": SWITCHES,
    "Page.goto": {"password": _goto},
    "PageMeasure.heap_snapshot": READS,
    "PageElements.highlight": POINTS,
    "Page.hover": POINTS,
    "Network.http_credentials": {"page": _credentials, "context": _credentials_of_context},
    "PagePictures.frames": READS,
    "PagePictures.labelled_screenshot": READS,
    "PageMeasure.metrics": READS,
    "Network.conditions": SWITCHES,
    "Network.offline": SWITCHES,
    "PageElements.outer_html": READS,
    "Page.locate": LOOKS_FOR,
    "Page.pdf": READS,
    "Page.press": KEYS,
    "PageMeasure.profile": READS,
    "Page.reload": SWITCHES,
    "PageScripts.remove_init_scripts": ENDS,
    "Page.recover": ENDS,
    "PageEmulation.reset": ENDS,
    "Network.reset": ENDS,
    "Page.route_websocket": MESSAGES,
    "Page.record_har": READS,
    "Page.trace_steps": READS,
    "Page.route_from_har": ANSWERS,
    "BrowserContext.record_har": READS,
    "BrowserContext.trace_steps": READS,
    "BrowserContext.route_from_har": ANSWERS,
    "Page.route": {
        "continue": _routed(lambda route, secret: route.continue_(headers={"X-Token": secret})),
        "fulfill": _routed(lambda route, secret: route.fulfill(headers={"Set-Cookie": f"sid={secret}"})),
    },
    "PagePictures.save_pdf": FILES,
    "PagePictures.screencast": READS,
    "Page.screenshot": READS,
    "Page.scroll": POINTS,
    "Page.scroll_into_view": POINTS,
    "Page.select": "values and labels are the page's own",
    "Page.set_content": MARKUP,
    "Dialogs.set_policy": {"prompt_text": _policy},
    "PageEmulation.set_viewport": SWITCHES,
    "PageWindow.set_bounds": SWITCHES,
    "Page.settled": WAITS,
    "Page.settling": WAITS,
    "Page.snapshot": READS,
    "Page.tap": POINTS,
    "Network.throttle_cpu": SWITCHES,
    "Page.title": READS,
    "PageMeasure.trace": READS,
    "Page.type": {"password": _type, "delay": _type_slowly},
    "Page.uncheck": POINTS,
    "PageScripts.unexpose": ENDS,
    "PageMeasure.unresponsive_for": READS,
    "Network.unroute": ENDS,
    "Page.upload": FILES,
    "Page.wait_for": LOOKS_FOR,
    "PageWindow.bounds": READS,
    "BrowserContext.allow_downloads": FILES,
    "ContextStorage.caches": READS,
    "ContextStorage.clear_cookies": ENDS,
    "ContextStorage.clear_http_cache": ENDS,
    "ContextStorage.clear": ENDS,
    "ContextStorage.cookies": READS,
    "ContextStorage.databases": READS,
    "ContextStorage.delete_cookies": ENDS,
    "ContextEmulation.set": SWITCHES,
    "ContextEmulation.grant_permissions": SWITCHES,
    "ContextStorage.local": "its result has ways listed separately",
    "BrowserContext.expect_service_worker": WAITS,
    "BrowserContext.new_page": {"password": _new_page_of_context},
    "ContextEmulation.reset": ENDS,
    "ContextEmulation.reset_permissions": ENDS,
    "ContextStorage.restore_state": {"cookies and items": _restore},
    "BrowserContext.route": {
        "continue": _routed(
            lambda route, secret: route.continue_(headers={"X-Token": secret}), of_context=True
        ),
    },
    "BrowserContext.route_websocket": MESSAGES,
    "ContextStorage.set_cookies": {
        "value": lambda stage, secret: stage.context.storage.set_cookies([_cookie(stage, secret)])
    },
    "ContextEmulation.set_permissions": SWITCHES,
    "ContextStorage.state": READS,
    "Browser.context_of": OWN,
    "Browser.expect_page": WAITS,
    "Browser.new_context": {"storage_state": _new_context},
    "Browser.new_page": {"password": _new_page},
    "Browser.page": READS,
    "Browser.set_activity": SWITCHES,
    "Browser.set_dialog_policy": {"prompt_text": _policy_of_all},
    "Browser.statistics": READS,
    "BrowserMeasure.trace": READS,
    "Browser.wait_for_page": WAITS,
    "Worker.attached": OWN,
    "Worker.evaluate": CODE,
    "Worker.evaluate_handle": CODE,
    "Worker.wait_for_close": WAITS,
    "Keyboard.compose": {
        "text": lambda stage, secret: stage.page.keyboard.compose(secret),
        "steps": lambda stage, secret: stage.page.keyboard.compose("\u4f60\u597d", secret),
        "delay": lambda stage, secret: stage.page.keyboard.compose(secret, delay=0.001),
    },
    "Keyboard.down": KEYS,
    "Keyboard.insert_text": {"text": lambda stage, secret: stage.page.keyboard.insert_text(secret)},
    "Keyboard.press": KEYS,
    "Keyboard.type": {"text": lambda stage, secret: stage.page.keyboard.type(secret)},
    "Keyboard.up": KEYS,
    "Mouse.click": POINTS,
    "Mouse.down": POINTS,
    "Mouse.hover": POINTS,
    "Mouse.move": POINTS,
    "Mouse.up": POINTS,
    "Mouse.wheel": POINTS,
    "Touch.tap": POINTS,
    "PageStorage.clear_cookies": ENDS,
    "PageStorage.cookies": READS,
    "PageStorage.delete_cookies": ENDS,
    "PageStorage.set_cookies": {
        "value": lambda stage, secret: stage.page.storage.set_cookies([_cookie(stage, secret)])
    },
    "DocumentStorage.clear": ENDS,
    "DocumentStorage.delete": "keys of items, not their values",
    "DocumentStorage.items": READS,
    "DocumentStorage.set": {
        "local": lambda stage, secret: stage.page.storage.local.set({"a": secret}),
        "session": lambda stage, secret: stage.page.storage.session.set({"a": secret}),
    },
    "OriginStorage.clear": ENDS,
    "OriginStorage.delete": "keys of items, not their values",
    "OriginStorage.items": READS,
    "OriginStorage.set": {
        "local": lambda stage, secret: stage.context.storage.local(stage.site.url.rstrip("/")).set(
            {"b": secret}
        )
    },
    "Route.abort": SWITCHES,
    "Route.continue_": {
        "response": _routed(_continue_response),
        "text": _routed(lambda route, secret: route.continue_(method="POST", post_data=secret)),
        "JSON": _routed(
            lambda route, secret: route.continue_(method="POST", post_data=f'{{"p":"{secret}"}}')
        ),
        "form": _routed(lambda route, secret: route.continue_(method="POST", post_data=f"p=1&q={secret}")),
        "fields and files": _routed(
            lambda route, secret: route.continue_(method="POST", post_data=_posting(secret))
        ),
        "url": _routed(
            lambda route, secret: route.continue_(url=route.request.url.replace("//", f"//ada:{secret}@"))
        ),
    },
    "Route.fallback": {
        "headers": _routed(lambda route, secret: route.fallback(headers={"X-Token": secret})),
        "post_data": _routed(lambda route, secret: route.fallback(method="POST", post_data=secret)),
    },
    "Route.fetch": {"headers": _routed(_fetch), "post_data": _routed(_fetch_posting)},
    "Route.fulfill": {
        "headers": _routed(lambda route, secret: route.fulfill(headers={"X-Token": secret})),
    },
    "ExpectedFileChooser.set_files": FILES,
}

DATES: dict[str, tuple[cdpengine.actions.FillValue, str]] = {
    "#date": (dt.date(2031, 5, 17), "2031-05-17"),
    "#moment": (dt.datetime(2032, 6, 18, 10, 11, 12), "2032-06-18T10:11:12"),
    "#week": (dt.date(2033, 7, 19), "2033-W29"),
    "#number": (1234567.5, "1234567.5"),
}
"""Values with a field-specific format, and the format in which they are sent."""


def public_methods() -> set[str]:
    """Return the names of all public methods of CLASSES."""
    return {
        f"{kind.__name__}.{name}"
        for kind in CLASSES
        for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }
