"""One call of every public method with a timeout, for all objects except pages, and the source of each
object.

Rule: introspection of all classes of the package finds the methods. `page_calls.py` covers the methods of
pages.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import trio
from page_calls import FaultyBrowser
from scripted_browser import NUMBER, quiet, target_of

import cdpengine
from cdpengine._network.settings import NETWORKS
from cdpengine.testing import SILENCE, Request
from cdpengine.testing.peer import Answer

ORIGIN = "https://a.example"
COOKIE = cdpengine.Cookie(name="a", value="b", domain="a.example", path="/")
STATE = cdpengine.StorageState((COOKIE,), ())
REMOTE = {"type": "object", "className": "Thing", "description": "Thing", "objectId": "9"}

ATTRIBUTES = {"size": 2, "httpOnly": False, "secure": False, "session": True}
"""Attributes of a cookie that Chrome adds to the given ones."""

Used: TypeAlias = "Awaitable[Any] | AbstractAsyncContextManager[Any]"

ANSWERS: dict[str, Any] = {
    "Storage.getStorageKey": {"storageKey": f"{ORIGIN}/"},
    "DOMStorage.getDOMStorageItems": {"entries": [["a", "b"]]},
    "IndexedDB.requestDatabaseNames": {"databaseNames": ["d"]},
    "IndexedDB.requestDatabase": {
        "databaseWithObjectStores": {"name": "d", "version": 1, "objectStores": [{"name": "s"}]}
    },
    "CacheStorage.requestCacheNames": {"caches": [{"cacheId": "1", "cacheName": "c"}]},
    "Network.getResponseBody": {"body": "{}", "base64Encoded": False},
    "IO.read": {"data": "{}", "eof": True},
}


class StagedBrowser(FaultyBrowser):
    """A browser that answers a number of calls after `arm`, and then none, on any session."""

    def __init__(self) -> None:
        super().__init__()
        for method, answer in ANSWERS.items():
            self.on(method, answer)
        self.cookies: list[dict[str, Any]] = []
        self.on("Storage.getCookies", lambda _: {"cookies": [each | ATTRIBUTES for each in self.cookies]})
        self.on("Storage.setCookies", lambda request: self.cookies.extend(request.params["cookies"]))
        self.on("Page.navigate", self.navigate)
        self.on("Tracing.end", self.end_tracing)

    def _answer(self, request: Request, answer: Any) -> None:
        super()._answer(request, SILENCE if self.left is not None and self.left <= 1 else answer)

    def navigate(self, request: Request) -> Answer:
        reply = super().navigate(request)
        assert isinstance(reply, dict)
        # A page that the engine attached to by hand gets its document events on that session.
        frame = self.frame(target_of(request)) | {"securityOrigin": ORIGIN, "loaderId": reply["loaderId"]}
        self.tell("Page.frameNavigated", {"frame": frame}, request.session_id)
        return reply

    def end_tracing(self, request: Request) -> Answer:
        request.reply({})
        self.tell("Tracing.tracingComplete", {"dataLossOccurred": False, "stream": "1"})
        return SILENCE


@attrs.frozen
class Stage:
    """The objects that calls start from. `path` is for a file that does not exist yet."""

    scripted: StagedBrowser
    browser: cdpengine.Browser
    context: cdpengine.BrowserContext
    page: cdpengine.Page
    path: Path
    stack: AsyncExitStack
    """Contexts entered here are closed after the call."""

    async def send_event(self, method: str, params: dict[str, Any]) -> None:
        self.scripted.page_event(method, params, self.page.target_id)
        await quiet()

    async def request(self) -> cdpengine.Request:
        await self.page.activity.start()
        params = {"requestId": "1", "timestamp": 1.0, "wallTime": 1.7e9, "type": "XHR"}
        request = {"request": {"url": f"{ORIGIN}/x", "method": "GET"}}
        await self.send_event("Network.requestWillBeSent", params | request)
        return self.page.activity.requests[0]

    async def response(self) -> cdpengine.Response:
        request = await self.request()
        answer = {"url": f"{ORIGIN}/x", "status": 200, "mimeType": "application/json", "headers": {}}
        await self.send_event(
            "Network.responseReceived", {"requestId": "1", "timestamp": 1.0, "response": answer}
        )
        await self.send_event(
            "Network.loadingFinished", {"requestId": "1", "timestamp": 2.0, "encodedDataLength": 2}
        )
        assert request.response is not None
        return request.response

    async def message(self) -> cdpengine.ConsoleMessage:
        await self.page.activity.start()
        await self.send_event(
            "Runtime.consoleAPICalled", {"type": "log", "args": [REMOTE, REMOTE], "timestamp": 1.0}
        )
        return self.page.activity.console[0]

    async def handle(self) -> cdpengine.JSHandle:
        nth = self.scripted.count("Runtime.evaluate") + 1
        self.scripted.on("Runtime.evaluate", result={"result": REMOTE}, nth=nth)
        return await self.stack.enter_async_context(self.page.evaluate_handle("({})"))

    async def primitive(self) -> cdpengine.JSHandle:
        return await self.stack.enter_async_context(self.page.evaluate_handle("1"))

    async def error(self) -> cdpengine.PageError:
        await self.page.activity.start()
        thrown = {"text": "Uncaught", "exception": REMOTE}
        await self.send_event("Runtime.exceptionThrown", {"timestamp": 1.0, "exceptionDetails": thrown})
        return self.page.activity.errors[0]

    async def download(self) -> cdpengine.Download:
        beginning = {
            "guid": "g",
            "url": f"{ORIGIN}/f",
            "suggestedFilename": "f",
            "frameId": self.page.target_id,
        }
        self.scripted.tell("Browser.downloadWillBegin", beginning)
        await quiet()
        return self.browser.downloads[0]

    async def chooser(self) -> cdpengine.pages.ExpectedFileChooser:
        self.scripted.control = "file"
        await trio.Path(self.path).touch()
        chooser = await self.stack.enter_async_context(self.page.expect_file_chooser(timeout=5))
        await self.send_event(
            "Page.fileChooserOpened",
            {"frameId": self.page.target_id, "mode": "selectSingle", "backendNodeId": 5},
        )
        return chooser

    async def worker(self) -> cdpengine.pages.Worker:
        info = {"targetId": "W1", "type": "worker", "url": f"{ORIGIN}/worker.js"}
        attached = {"sessionId": "S-W1", "targetInfo": info, "waitingForDebugger": True}
        await self.send_event("Target.attachedToTarget", attached)
        self.scripted.tell("Inspector.workerScriptLoaded", {}, "S-W1")
        await quiet()
        self.scripted.on("Runtime.evaluate", self.evaluate_in_worker)
        return self.page.workers[0]

    @staticmethod
    def evaluate_in_worker(request: Request) -> Answer:
        return {"result": REMOTE} if request.params["expression"] == "[1]" else NUMBER

    async def activity(self) -> cdpengine.network.PageActivity:
        await self.response()
        return self.page.activity


@attrs.frozen
class Row:
    """`given` creates the object. `use` calls the method with a timeout, in seconds.

    `waits`: the call waits for an event that never occurs, so it ends at its deadline even if every call is
    answered. `threads`: the call works in threads, which a jumping clock does not wait for.
    """

    given: Callable[[Stage], Any]
    use: Callable[[Any, Stage, float], Used]
    waits: bool = False
    threads: bool = False


def on_context(name: str, /, *arguments: object, threads: bool = False, **options: Any) -> Row:
    return calling(lambda stage: stage.context, name, *arguments, threads=threads, **options)


def on_page_storage(name: str, /, *arguments: object, **options: Any) -> Row:
    return calling(lambda stage: stage.page.storage, name, *arguments, **options)


ASSERTIONS: list[tuple[Any, ...]] = [
    ("to_be_attached",),
    ("to_be_visible",),
    ("to_be_hidden",),
    ("to_be_enabled",),
    ("to_be_disabled",),
    ("to_be_editable",),
    ("to_be_focused",),
    ("to_be_empty",),
    ("to_be_checked",),
    ("to_be_in_viewport",),
    ("to_have_text", "a"),
    ("to_contain_text", "a"),
    ("to_have_value", "a"),
    ("to_have_values", ["a"]),
    ("to_have_attribute", "a"),
    ("to_have_id", "a"),
    ("to_have_class", "a"),
    ("to_contain_class", "a"),
    ("to_have_css", "color", "red"),
    ("to_have_count", 1),
    ("to_have_js_property", "checked", True),
    ("to_have_role", "link"),
    ("to_have_accessible_name", "a"),
    ("to_have_accessible_description", "a"),
    ("to_have_accessible_error_message", "a"),
    ("to_match_snapshot", "- link"),
]
"""Assertions about elements, with their arguments."""


def on_assertions(name: str, /, *arguments: object) -> Row:
    # The scripted page answers no search, so the assertions raise.
    node = cdpengine.BackendNode(5)
    return calling(lambda stage: cdpengine.expect(stage.page.locate(ref=node)), name, *arguments, waits=True)


def on_page_assertions(name: str, /, *arguments: object) -> Row:
    return calling(lambda stage: cdpengine.expect(stage.page), name, *arguments)


def calling(
    given: Callable[[Stage], Any],
    name: str,
    /,
    *arguments: object,
    waits: bool = False,
    threads: bool = False,
    **options: Any,
) -> Row:
    def use(target: Any, stage: Stage, timeout: float) -> Used:
        here = [stage.path if argument is PATH else argument for argument in arguments]
        used: Used = attrgetter(name)(target)(*here, **options, timeout=timeout)
        return used

    return Row(given, use, waits, threads)


PATH = object()
"""Placeholder for the stage's path."""


def _browser(stage: Stage) -> cdpengine.Browser:
    return stage.browser


def _page_storage(stage: Stage) -> Any:
    return stage.page.storage.local


def _origin_storage(stage: Stage) -> Any:
    return stage.context.storage.local(ORIGIN)


async def wait_for_event(page: cdpengine.Page, _stage: Stage, timeout: float) -> None:
    async with page.events(timeout=timeout / 2) as events:
        await events.wait_for(cdpengine.events.PopupEvent, timeout=timeout / 2)


CALLS: dict[str, Row] = {
    "Browser.new_page": calling(_browser, "new_page"),
    "Browser.new_page, url": calling(_browser, "new_page", f"{ORIGIN}/"),
    "Browser.new_page, viewport": calling(_browser, "new_page", viewport=(800, 600)),
    "Browser.new_page, activity": calling(_browser, "new_page", activity=True),
    "Browser.new_context": calling(_browser, "new_context"),
    "Browser.new_context, all": calling(
        _browser,
        "new_context",
        storage_state=STATE,
        permissions=["geolocation"],
        timezone="Europe/Berlin",
    ),
    "Browser.wait_for_page": calling(_browser, "wait_for_page", url="https://never.example/", waits=True),
    "Browser.expect_page": calling(_browser, "expect_page", waits=True),
    "BrowserMeasure.trace": calling(_browser, "measure.trace", PATH, threads=True),
    "BrowserContext.new_page": on_context("new_page"),
    "ContextStorage.cookies": on_context("storage.cookies"),
    "ContextStorage.set_cookies": on_context("storage.set_cookies", [COOKIE]),
    "ContextStorage.clear_cookies": on_context("storage.clear_cookies"),
    "ContextStorage.delete_cookies": on_context("storage.delete_cookies", name="a"),
    "ContextEmulation.set_permissions": on_context("emulation.set_permissions", {"geolocation": "denied"}),
    "ContextEmulation.grant_permissions": on_context("emulation.grant_permissions", "geolocation"),
    "ContextEmulation.reset_permissions": on_context("emulation.reset_permissions"),
    "ContextEmulation.set": on_context("emulation.set", timezone="Europe/Berlin"),
    "ContextEmulation.reset": on_context("emulation.reset"),
    "BrowserContext.allow_downloads": on_context("allow_downloads", PATH, threads=True),
    "ContextStorage.databases": on_context("storage.databases", ORIGIN),
    "ContextStorage.caches": on_context("storage.caches", ORIGIN),
    "ContextStorage.clear": on_context("storage.clear", ORIGIN),
    "ContextStorage.clear_http_cache": on_context("storage.clear_http_cache"),
    "ContextStorage.state": on_context("storage.state", origins=[ORIGIN]),
    "ContextStorage.state, path": on_context("storage.state", PATH, threads=True),
    "ContextStorage.restore_state": on_context("storage.restore_state", STATE),
    "BrowserContext.route": on_context("route", "**", print),
    "BrowserContext.route_websocket": on_context("route_websocket", "**", print),
    "BrowserContext.record_har": on_context("record_har", PATH, threads=True),
    "BrowserContext.trace_steps": on_context("trace_steps", PATH, overwrite=True, threads=True),
    "BrowserContext.route_from_har": on_context("route_from_har", PATH, update=True, threads=True),
    "BrowserContext.expect_service_worker": calling(
        lambda stage: stage.context, "expect_service_worker", waits=True
    ),
    "Worker.attached": calling(Stage.worker, "attached"),
    "Worker.evaluate": calling(Stage.worker, "evaluate", "1"),
    "Worker.evaluate_handle": calling(Stage.worker, "evaluate_handle", "[1]"),
    "Worker.wait_for_close": calling(Stage.worker, "wait_for_close", waits=True),
    "Network.unroute": on_context("network.unroute"),
    "Network.http_credentials": on_context("network.http_credentials", "user", "secret"),
    "Network.extra_headers": on_context("network.extra_headers", {"x-a": "1"}),
    "Network.conditions": on_context("network.conditions", next(iter(NETWORKS))),
    "Network.offline": on_context("network.offline"),
    "Network.throttle_cpu": on_context("network.throttle_cpu", 2),
    "Network.bypass_service_workers": on_context("network.bypass_service_workers"),
    "Network.reset": on_context("network.reset"),
    "Scripts.add_init_script": on_context("scripts.add_init_script", "1"),
    "Scripts.remove_init_scripts": on_context("scripts.remove_init_scripts"),
    "Scripts.expose": on_context("scripts.expose", "name", print),
    "Scripts.unexpose": on_context("scripts.unexpose"),
    "ConsoleMessage.values": calling(Stage.message, "values"),
    "JSHandle.json_value": calling(Stage.primitive, "json_value"),
    "JSHandle.get_property": calling(Stage.primitive, "get_property", "a"),
    "JSHandle.properties": calling(Stage.handle, "properties"),
    "JSHandle.items": calling(Stage.handle, "items"),
    "PageError.read": calling(Stage.error, "read"),
    "PageEvents.wait_for": Row(lambda stage: stage.page, wait_for_event, waits=True),
    "PageActivity.start": calling(lambda stage: stage.page.activity, "start"),
    "PageActivity.start_with": calling(
        lambda stage: stage.page.activity, "start_with", cdpengine.ActivityOptions()
    ),
    "PageActivity.collecting": calling(lambda stage: stage.page.activity, "collecting"),
    "PageActivity.har": calling(Stage.activity, "har"),
    "PageActivity.save_har": calling(Stage.activity, "save_har", PATH, threads=True),
    "Request.finished": calling(Stage.request, "finished", waits=True),
    "Response.body": calling(Stage.response, "body"),
    "Response.text": calling(Stage.response, "text"),
    "Response.json": calling(Stage.response, "json"),
    "Download.wait": calling(Stage.download, "wait", waits=True),
    "Download.cancel": calling(Stage.download, "cancel", waits=True),
    "ExpectedFileChooser.set_files": calling(Stage.chooser, "set_files", PATH, threads=True),
    "PageStorage.cookies": on_page_storage("cookies"),
    "PageStorage.set_cookies": on_page_storage("set_cookies", [COOKIE]),
    "PageStorage.clear_cookies": on_page_storage("clear_cookies"),
    "PageStorage.delete_cookies": on_page_storage("delete_cookies", name="a"),
    "DocumentStorage.items": calling(_page_storage, "items"),
    "DocumentStorage.set": calling(_page_storage, "set", {"a": "b"}),
    "DocumentStorage.delete": calling(_page_storage, "delete", "a"),
    "DocumentStorage.clear": calling(_page_storage, "clear"),
    "OriginStorage.items": calling(_origin_storage, "items"),
    "OriginStorage.set": calling(_origin_storage, "set", {"a": "b"}),
    "OriginStorage.delete": calling(_origin_storage, "delete", "a"),
    "OriginStorage.clear": calling(_origin_storage, "clear"),
    **{f"LocatorAssertions.{name}": on_assertions(name, *rest) for name, *rest in ASSERTIONS},
    "PageAssertions.to_have_url": on_page_assertions("to_have_url", "**"),
    "PageAssertions.to_have_title": on_page_assertions("to_have_title", ""),
    "PageAssertions.to_match_snapshot": on_page_assertions("to_match_snapshot", "- /children: equal"),
}
"""Rows by class and method. The part after a comma names a second way to call it."""

NOT_HERE = {
    "PageClock": "it evaluates in the page: tests/chrome/test_clock.py",
    "HttpClient": "it uses sockets of its own: tests/chrome/test_http.py",
    "Page": "page_calls.py has its methods",
    "PageEmulation": "page_calls.py has its methods",
    "PageMeasure": "page_calls.py has its methods",
    "PageWindow": "page_calls.py has its methods",
    "SettingScope": "the base of settings",
    "PageElements": "page_calls.py has its methods",
    "Locator": "page_calls.py has its methods",
    "Assertion": "the assertions on pages and locators call it",
    "Frame": "page_calls.py has its methods",
    "NodeSearch": "the search of a locator",
    "PageSearch": "the search of a locator",
    "PagePictures": "page_calls.py has its methods",
    "PageScripts": "page_calls.py has its methods",
    "Actor": "it calls a page's own methods, and hands its timeout on",
    "ActionCache": "its steps are requests, which have their own time: tests/chrome/test_action_cache.py",
    "OpenScope": "an actor's own: tests/chrome/test_act_observing.py",
    "OpenScopes": "an actor's own: tests/chrome/test_act_observing.py",
    "RequestCache": "its requests have their own time: tests/chrome/test_cache_ways.py",
    "CacheRequests": "its requests have their own time: tests/chrome/test_cache_ways.py",
    "SharedCache": "its requests have their own time: tests/chrome/test_cache_ways.py",
    "BrowserPool": "tests/chrome/test_pool.py has its methods",
    "PooledBrowser": "a pool's own",
    "BrowserCluster": "tests/chrome/test_cluster.py has its method",
    "BrowserWorker": "called by Dask: tests/chrome/test_cluster.py",
    "PageCore": "the base of a page's methods",
    "ContextCore": "the base of a context's methods",
    "LineTarget": "the console's own: it calls page.recover",
    "Source": "the command line's own: it calls browser.new_page",
    "Budget": "it only starts a clock",
    "EvaluationCounters": "its `timeout` counts evaluations that timed out",
}


ENGINE_OWN = {
    "evaluation session",
    "evaluation session connection in doubt",
    "questions before deadlines",
    "_set_up_page",
    "take back",
    "Target.createTarget",
    "Target.createBrowserContext",
    "terminate further",
    "answers to terminations",
    "cdpengine._page.navigation.liveness._one_of.<locals>.wait",
}
"""Tasks of a page or context that the browser has or may still create, and of the termination of its scripts. They
end with it, or undo it."""


def running() -> list[str]:
    """Return the names of all tasks, including tasks that a method started."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    names, waiting = [], [root]
    while waiting:
        task = waiting.pop()
        names.append(task.name)
        for nursery in task.child_nurseries:
            waiting += nursery.child_tasks
    return sorted(names)


def methods_with_timeout() -> set[str]:
    """Return all public methods that take a timeout, as "Class.method".

    These are the methods of all leaf classes, and those of Scripts, which contexts have.
    """
    classes: set[type] = set()
    for module in pkgutil.walk_packages(cdpengine.__path__, "cdpengine."):
        if not module.name.endswith("__main__"):
            loaded = importlib.import_module(module.name)
            classes |= {
                each
                for each in vars(loaded).values()
                if inspect.isclass(each) and each.__module__ == module.name
            }
    return {
        f"{each.__name__}.{name}"
        for each in classes
        if not each.__name__.startswith("_")
        and (each is cdpengine.pages.Scripts or not any(each in other.__mro__[1:] for other in classes))
        for name, method in inspect.getmembers(each, callable)
        if not name.startswith("_") and "timeout" in _parameters(method)
    }


def _parameters(method: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return set()  # a method of a built-in base
