"""One call of every public page method with a timeout, and a browser that answers everything they ask."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from scripted_browser import ScriptedBrowser

import cdpengine
from cdpengine._network.settings import NETWORKS
from cdpengine.testing import SILENCE, Request
from cdpengine.testing.peer import Answer

NODE, OTHER = cdpengine.BackendNode(5), cdpengine.BackendNode(6)
QUAD = [0, 0, 50, 0, 50, 50, 0, 50]

SEEN_BY_SCRIPTS = {
    "connected": True,
    "element": "button",
    "hits": [True],
    "point": [5, 5],
    "focused": True,
    "blurred": True,
    "type": "text",
    "taken": True,
    "holds": "abc",
    "found": [0],
    "labels": ["a"],
    "multiple": False,
    "names": ["a.txt"],
    "event": "change",
    "complete": True,
    "seen": ["click"],
}
"""The combined results of all the engine's functions on nodes."""

ANSWERS: dict[str, Any] = {
    "DOM.getContentQuads": {"quads": [QUAD]},
    "DOM.getBoxModel": {"model": {"content": QUAD, "border": QUAD, "width": 50, "height": 50}},
    "DOM.describeNode": {
        "node": {"nodeId": 1, "backendNodeId": 5, "nodeName": "A", "localName": "a", "attributes": []}
    },
    "DOM.getOuterHTML": {"outerHTML": "<a>a</a>"},
    "Page.getLayoutMetrics": {
        "cssLayoutViewport": {"clientWidth": 800, "clientHeight": 600, "pageX": 0, "pageY": 0},
        "cssVisualViewport": {"clientWidth": 800, "clientHeight": 600, "pageX": 0, "pageY": 0, "scale": 1},
        "cssContentSize": {"x": 0, "y": 0, "width": 800, "height": 600},
    },
    "Page.getNavigationHistory": {
        "currentIndex": 1,
        "entries": [{"id": n, "url": "about:blank"} for n in range(3)],
    },
    "Page.captureScreenshot": {"data": "iVBORw0KGgo="},
    "Page.printToPDF": {"data": "JVBERi0="},
    "Browser.getWindowForTarget": {"windowId": 1, "bounds": {"left": 0, "top": 0, "width": 9, "height": 9}},
    "IO.read": {"data": "JVBERi0=", "base64Encoded": True, "eof": True},
    "Performance.getMetrics": {"metrics": [{"name": "Nodes", "value": 1}]},
    "Page.addScriptToEvaluateOnNewDocument": {"identifier": "1"},
    "Runtime.addBinding": {},
    "Profiler.stop": {
        "profile": {"nodes": [], "samples": [], "timeDeltas": [], "startTime": 0, "endTime": 1}
    },
}


@attrs.frozen
class Call:
    """One call of a method, and the kind of control that the engine's functions see."""

    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = attrs.field(factory=dict)
    kind: str = "text"


def given(*arguments: object, kind: str = "text", **options: object) -> Call:
    return Call(arguments, options, kind)


FILE, PATH = Path(__file__), Path("to be written")

CALLS = {
    "accessibility_issues": given(),
    "scripts.add_init_script": given("1"),
    "scripts.add_script_tag": given("/a.js"),
    "scripts.add_style_tag": given(content="p {}"),
    "elements.blur": given(NODE),
    "elements.bounding_box": given(NODE),
    "content_frame": given(NODE),
    "frame.content": given(),
    "frame.frame_element": given(),
    "frame.goto": given("https://a.example/"),
    "frame.set_content": given("<p>"),
    "frame.title": given(),
    "elements.text_content": given(NODE),
    "elements.inner_text": given(NODE),
    "elements.inner_html": given(NODE),
    "elements.get_attribute": given(NODE, "a"),
    "elements.input_value": given(NODE),
    "elements.computed_style": given(NODE, "color"),
    "elements.is_visible": given(NODE),
    "elements.is_hidden": given(NODE),
    "elements.is_enabled": given(NODE),
    "elements.is_disabled": given(NODE),
    "elements.is_editable": given(NODE),
    "elements.is_focused": given(NODE),
    "elements.is_checked": given(NODE, kind="checkbox"),
    "elements.select_text": given(NODE),
    "elements.dispatch_event": given(NODE, "click"),
    "bring_to_front": given(),
    "network.bypass_service_workers": given(),
    "check": given(NODE, kind="checkbox"),
    "click": given(NODE),
    "close": given(),
    "content": given(),
    "measure.coverage": given(),
    "double_click": given(NODE),
    "drag": given(NODE, OTHER),
    "emulation.set": given(locale="de"),
    "evaluate": given("() => 1"),
    "events": given(),
    "evaluate_handle": given("() => 1"),
    "expect_dialog": given(),
    "expect_download": given(),
    "expect_file_chooser": given(),
    "expect_popup": given(),
    "expect_response": given(),
    "expect_worker": given(),
    "scripts.expose": given("name", print),
    "network.extra_headers": given({"x-a": "1"}),
    "extract_markdown": given(),
    "extract_text": given(NODE),
    "fill": given(NODE, "abc"),
    "fill_form": given({NODE: "abc", OTHER: "d"}),
    "find": given("a", timeout=0),
    "find_all": given(role="link"),
    "focus": given(NODE),
    "go_back": given(),
    "go_forward": given(),
    "goto": given("https://a.example/"),
    "measure.heap_snapshot": given(PATH),
    "elements.highlight": given(NODE),
    "hover": given(NODE),
    "locator.all": given(),
    "locator.count": given(),
    "locator.evaluate": given("() => 1"),
    "locator.press": given("Control+A"),
    "locator.ref": given(),
    "locator.screenshot": given(),
    "locator.scroll": given(0, 10),
    "locator.snapshot": given(),
    "locator.wait_for": given("attached"),
    "network.http_credentials": given("user", "secret"),
    "pictures.frames": given(),
    "pictures.labelled_screenshot": given(),
    "pictures.screencast": given(PATH),
    "measure.metrics": given(),
    "network.conditions": given(next(iter(NETWORKS))),
    "network.offline": given(),
    "elements.outer_html": given(NODE),
    "pdf": given(),
    "press": given("Control+A", NODE),
    "measure.profile": given(),
    "reload": given(),
    "scripts.remove_init_scripts": given(),
    "recover": given(),
    "emulation.reset": given(),
    "network.reset": given(),
    "record_har": given(PATH),
    "trace_steps": given(PATH, overwrite=True),
    "route": given("**", print),
    "route_websocket": given("**", print),
    "route_from_har": given(PATH, update=True),
    "pictures.save_pdf": given(PATH),
    "screenshot": given(target=NODE),
    "scroll": given(0, 10, NODE),
    "scroll_into_view": given(NODE),
    "select": given(NODE, "a", kind="select"),
    "set_content": given("<p>"),
    "emulation.set_viewport": given(300, 300),
    "window.set_bounds": given(left=1),
    "settled": given(timeout=0.1),
    "settling": given(timeout=0.1),
    "snapshot": given(),
    "tap": given(NODE),
    "network.throttle_cpu": given(2),
    "title": given(),
    "measure.trace": given(PATH),
    "type": given(NODE, "a\u4f60"),
    "uncheck": given(NODE, kind="checkbox"),
    "scripts.unexpose": given(),
    "network.unroute": given(),
    "upload": given(NODE, FILE, kind="file"),
    "wait_for": given(css="a"),
    "activity.wait_for_response": given(),
    "window.bounds": given(),
}


PARTS = {
    "": cdpengine.Page,
    "network.": cdpengine.network.Network,
    "scripts.": cdpengine.pages.PageScripts,
    "emulation.": cdpengine.emulation.PageEmulation,
    "measure.": cdpengine.measure.PageMeasure,
    "window.": cdpengine.pages.PageWindow,
    "elements.": cdpengine.pages.PageElements,
    "pictures.": cdpengine.pages.PagePictures,
}
"""A page and its parts. Its storage has rows in object_calls.py."""


def methods() -> dict[str, Callable[..., Any]]:
    """Return all public methods of a page that can wait, which are the methods with a timeout."""
    of_parts = {
        f"{part}{name}": method
        for part, kind in PARTS.items()
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and "timeout" in inspect.signature(method).parameters
    }
    of_locators = {
        f"locator.{name}": method
        for name, method in inspect.getmembers(cdpengine.Locator, inspect.isfunction)
        if "timeout" in inspect.signature(method).parameters
        and not hasattr(method, "__wrapped__")  # the page's own
    }
    of_frames = {
        f"frame.{name}": method
        for name, method in inspect.getmembers(cdpengine.Frame, inspect.isfunction)
        if "timeout" in inspect.signature(method).parameters
        and not hasattr(method, "__wrapped__")  # the page's own
    }
    return (
        of_parts
        | of_locators
        | of_frames
        | {"activity.wait_for_response": cdpengine.network.PageActivity.wait_for_response}
    )


def method_of(page: cdpengine.Page, name: str) -> Any:
    """Return a method of `methods`, of the page, of its main frame, or of a locator of its node."""
    if name.startswith("frame."):
        return getattr(page.main_frame, name.removeprefix("frame."))
    if name.startswith("locator."):
        return getattr(page.locate(ref=NODE), name.removeprefix("locator."))
    return attrgetter(name)(page)


Harm: TypeAlias = "Callable[[FaultyBrowser, Request, Answer], Answer]"


class FaultyBrowser(ScriptedBrowser):
    """A scripted browser that fails at the reply to one call, counted from `arm`."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None
        self.harm: Harm = crash
        self.target = ""
        self.control = "text"
        self.looked = 0
        for method, answer in ANSWERS.items():
            self.on(method, answer)
        self.on("Runtime.callFunctionOn", self.called)

    def arm(self, at: int | None, harm: Harm) -> None:
        self.left, self.harm, self.looked = at, harm, 0

    def called(self, request: Request) -> Answer:
        if not request.params.get("returnByValue"):
            return {"result": {"type": "object", "subtype": "node", "objectId": "O1"}}
        # A click checks the box.
        self.looked += "Tells whether something is checked" in request.params["functionDeclaration"]
        seen = SEEN_BY_SCRIPTS | {"kind": self.control, "checked": self.looked > 1}
        return {"result": {"type": "object", "value": seen}}

    def _answer(self, request: Request, answer: Any) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                answer = self.harm(self, request, answer(request) if callable(answer) else answer)
        super()._answer(request, answer)


def crash(browser: FaultyBrowser, _request: Request, _answer: Answer) -> Answer:
    browser.page_event("Inspector.targetCrashed", {}, browser.target)
    browser.tell("Inspector.targetCrashed", {}, f"L-{browser.target}", evaluation_session=True)
    return SILENCE


async def use(page: cdpengine.Page, name: str, call: Call, path: Path) -> None:
    arguments = [path if argument is PATH else argument for argument in call.arguments]
    used = method_of(page, name)(*arguments, **({"timeout": 1} | call.options))
    if isinstance(used, AbstractAsyncContextManager):
        async with used:
            pass
    else:
        await used
