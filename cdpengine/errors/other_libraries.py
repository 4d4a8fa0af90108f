"""Method names of Playwright and Puppeteer, with the engine's equivalent call.

An unknown attribute raises AttributeError as usual. If its class has a table with the name, the error adds the
engine's call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

PAGE = {
    "$": "page.find(css=...)",
    "$$": "page.find_all(css=...)",
    "locator": "page.locate(css=...), or page.find(css=...)",
    "get_by_role": "page.locate(role=..., name=...)",
    "get_by_text": "page.locate(text=...)",
    "get_by_label": "page.locate(role='textbox', name=...)",
    "get_by_placeholder": "page.locate(css='[placeholder=...]')",
    "get_by_test_id": "page.locate(css='[data-testid=...]')",
    "query_selector": "page.find(css=...)",
    "query_selector_all": "page.find_all(css=...)",
    "wait_for_selector": "page.wait_for(css=...)",
    "waitForSelector": "page.wait_for(css=...)",
    "wait_for_function": "page.wait_for(expression=...)",
    "waitForFunction": "page.wait_for(expression=...)",
    "wait_for_url": "page.wait_for(url=...)",
    "wait_for_load_state": "page.settled(), or page.wait_for(network_idle=True)",
    "wait_for_navigation": "page.click(...): it waits for the navigation that it starts",
    "waitForNavigation": "page.click(...): it waits for the navigation that it starts",
    "wait_for_timeout": "trio.sleep(seconds)",
    "wait_for_event": "page.expect_dialog(), expect_popup(), expect_download() or expect_response()",
    "expect_event": "page.expect_dialog(), expect_popup(), expect_download() or expect_response()",
    "expect_navigation": "page.click(...): it waits for the navigation that it starts",
    "expect_request": "page.activity.requests",
    "on": "page.expect_dialog(), expect_popup(), page.activity.stream() or page.session.subscribe(...)",
    "dblclick": "page.double_click(element)",
    "select_option": "page.select(element, option)",
    "set_input_files": "page.upload(element, files)",
    "setInputFiles": "page.upload(element, files)",
    "set_checked": "page.check(element) or page.uncheck(element)",
    "is_checked": "page.evaluate(...), or the state in page.snapshot()",
    "is_visible": "page.find(..., timeout=0)",
    "inner_text": "page.extract_text(target=element)",
    "text_content": "page.extract_text(target=element)",
    "inner_html": "page.elements.outer_html(element)",
    "get_attribute": "page.evaluate('(element) => element.getAttribute(...)', element)",
    "eval_on_selector": "page.evaluate('(element) => ...', element)",
    "add_init_script": "page.scripts.add_init_script(script)",
    "evaluateOnNewDocument": "page.scripts.add_init_script(script)",
    "expose_function": "page.scripts.expose(name, function)",
    "exposeFunction": "page.scripts.expose(name, function)",
    "set_viewport_size": "page.emulation.set_viewport(width, height)",
    "setViewport": "page.emulation.set_viewport(width, height)",
    "viewport_size": "page.emulation.set_viewport(width, height)",
    "set_default_timeout": "timeout= of each call, in seconds",
    "set_default_navigation_timeout": "timeout= of each call, in seconds",
    "set_extra_http_headers": "page.network.extra_headers(headers)",
    "main_frame": "page.frames[0]",
    "mainFrame": "page.frames[0]",
    "frame_locator": "page.find(..., frame=...)",
    "unroute": "page.network.unroute(...), or leave the block of page.route(...)",
    "aria_snapshot": "page.snapshot()",
    "accessibility": "page.snapshot()",
    "get": "page.goto(url)",
    "goBack": "page.go_back()",
    "goForward": "page.go_forward()",
    "setContent": "page.set_content(html)",
    "waitFor": "page.wait_for(...)",
    "is_closed": "page.closed",
    "isClosed": "page.closed",
    "cookies": "page.storage.cookies()",
    "setCookie": "page.storage.set_cookies(cookies)",
    "send": "page.session.call(method, ...)",
    "createCDPSession": "page.session",
}

BROWSER = {
    "newPage": "browser.new_page()",
    "get": "page.goto(url), on a page of browser.new_page()",
    "contexts": "browser.context, and the contexts of browser.new_context()",
    "close": "leave the block of launch() or connect()",
    "stop": "leave the block of launch() or connect()",
    "createBrowserContext": "browser.new_context()",
    "new_browser_cdp_session": "browser.session",
    "tabs": "browser.pages",
    "on": "browser.expect_page(), or browser.session.subscribe(...)",
    "is_connected": "browser.connections",
}

CONTEXT = {
    "newPage": "context.new_page()",
    "close": "leave the block of browser.new_context()",
    "add_cookies": "context.storage.set_cookies(cookies)",
    "cookies": "context.storage.cookies()",
    "clear_cookies": "context.storage.clear_cookies()",
    "storage_state": "context.storage.state()",
    "add_init_script": "page.scripts.add_init_script(script)",
    "grant_permissions": "context.emulation.set(permissions=...)",
    "set_default_timeout": "timeout= of each call, in seconds",
    "on": "browser.expect_page(), or page.expect_popup()",
}

_ON_ELEMENTS = {
    "click": "page.click({0})",
    "dblclick": "page.double_click({0})",
    "double_click": "page.double_click({0})",
    "hover": "page.hover({0})",
    "tap": "page.tap({0})",
    "fill": "page.fill({0}, value)",
    "type": "page.type({0}, text)",
    "press": "page.press(key, target={0})",
    "press_sequentially": "page.type({0}, text)",
    "check": "page.check({0})",
    "uncheck": "page.uncheck({0})",
    "select_option": "page.select({0}, option)",
    "set_input_files": "page.upload({0}, files)",
    "focus": "page.focus({0})",
    "screenshot": "page.screenshot(target={0})",
    "evaluate": "page.evaluate('(element) => ...', {0})",
    "inner_text": "page.extract_text(target={0})",
    "text_content": "page.extract_text(target={0})",
    "get_attribute": "page.evaluate('(element) => element.getAttribute(...)', {0})",
    "bounding_box": "page.elements.bounding_box({0})",
    "scroll_into_view_if_needed": "page.scroll_into_view({0})",
    "wait_for": "page.wait_for(ref={0})",
    "drag_to": "page.drag({0}, target)",
    "count": "len(await page.find_all(...))",
    "all": "page.find_all(...)",
}

LOCATOR = {name: ours.format("locator") for name, ours in _ON_ELEMENTS.items()} | {
    "first": "locator.nth(0)",
    "filter": "more conditions of page.locate(...)",
    "locator": "page.locate(css=...)",
}

ELEMENT = {name: ours.format("element") for name, ours in _ON_ELEMENTS.items()}
"""Names on a found element or its node."""

FRAME = {name: f"page.{name}(..., frame=frame)" for name in ("evaluate", "find", "find_all", "snapshot")} | {
    "locator": "page.locate(..., frame=frame)",
    "goto": "page.evaluate('location.href = ...', frame=frame)",
    "content": "page.evaluate('document.documentElement.outerHTML', frame=frame)",
    "child_frames": "the frames of page.frames whose parent_id is frame.id",
    "parent_frame": "frame.parent_id",
}


def name_ours(names: Mapping[str, str]) -> Callable[[object, str], NoReturn]:
    """Return a `__getattr__` whose AttributeError names the engine's call for a name of another library."""

    def __getattr__(self: object, name: str) -> NoReturn:  # noqa: N807 - it becomes the class's own
        ours = names.get(name)
        advice = f". In cdpengine: {ours}" if ours else ""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{advice}", name=name, obj=self
        )

    return __getattr__
