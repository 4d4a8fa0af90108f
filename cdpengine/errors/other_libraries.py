"""Names and forms of Playwright and Puppeteer, with the engine's equivalent.

Rule: only errors use these tables (`misuse.py`); no name is one of the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping

PAGE = {
    "$": "page.find(css=...)",
    "$$": "page.find_all(css=...)",
    "locator": "page.locate(css=...), or page.find(css=...)",
    "get_by_role": "page.locate(role=..., name=...)",
    "get_by_text": "page.locate(text=...)",
    "get_by_label": "page.locate(label=...)",
    "get_by_placeholder": "page.locate(placeholder=...)",
    "get_by_alt_text": "page.locate(alt_text=...)",
    "get_by_title": "page.locate(title=...)",
    "get_by_test_id": "page.locate(test_id=...)",
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
    "wait_for_event": "page.events(...) and events.wait_for(...), page.expect_dialog() or expect_popup()",
    "expect_event": "page.events(...) and events.wait_for(...), page.expect_dialog() or expect_popup()",
    "expect_console_message": "page.events('console') and events.wait_for(cdpengine.ConsoleMessage)",
    "remove_listener": "the end of the block of page.events(...)",
    "once": "page.events(...) and events.wait_for(...)",
    "expect_navigation": "page.click(...): it waits for the navigation that it starts",
    "expect_request": "page.events('requests') and events.wait_for(cdpengine.Request)",
    "on": "page.events(...), page.expect_dialog(), expect_popup() or page.session.subscribe(...)",
    "dblclick": "page.double_click(element)",
    "select_option": "page.select(element, option)",
    "set_input_files": "page.upload(element, files)",
    "setInputFiles": "page.upload(element, files)",
    "set_checked": "page.check(element) or page.uncheck(element)",
    "is_checked": "page.elements.is_checked(element)",
    "is_visible": "page.elements.is_visible(element)",
    "is_hidden": "page.elements.is_hidden(element)",
    "is_enabled": "page.elements.is_enabled(element)",
    "is_disabled": "page.elements.is_disabled(element)",
    "is_editable": "page.elements.is_editable(element)",
    "inner_text": "page.elements.inner_text(element)",
    "text_content": "page.elements.text_content(element)",
    "inner_html": "page.elements.inner_html(element)",
    "get_attribute": "page.elements.get_attribute(element, name)",
    "input_value": "page.elements.input_value(element)",
    "dispatch_event": "page.elements.dispatch_event(element, type)",
    "eval_on_selector": "page.evaluate('(element) => ...', element)",
    "add_init_script": "page.scripts.add_init_script(script)",
    "add_script_tag": "page.scripts.add_script_tag(url)",
    "add_style_tag": "page.scripts.add_style_tag(url)",
    "addScriptTag": "page.scripts.add_script_tag(url)",
    "addStyleTag": "page.scripts.add_style_tag(url)",
    "evaluateOnNewDocument": "page.scripts.add_init_script(script)",
    "expose_function": "page.scripts.expose(name, function)",
    "exposeFunction": "page.scripts.expose(name, function)",
    "set_viewport_size": "page.emulation.set_viewport(width, height)",
    "setViewport": "page.emulation.set_viewport(width, height)",
    "viewport_size": "page.emulation.set_viewport(width, height)",
    "set_default_timeout": "timeout= of each call, in seconds",
    "set_default_navigation_timeout": "timeout= of each call, in seconds",
    "set_extra_http_headers": "page.network.extra_headers(headers)",
    "mainFrame": "page.main_frame",
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
    "get_by_ref": "page.locate(ref=...), or the ref itself as the target",
    "eval_on_selector_all": "page.evaluate(function), which queries the elements itself",
    "drag_and_drop": "page.drag(source, destination)",
    "expose_binding": "page.scripts.expose(name, function)",
    "expect_websocket": "page.events('websockets') and events.wait_for(...)",
    "expect_request_finished": "page.events('finished') and events.wait_for(...)",
    "route_web_socket": "page.route_websocket(pattern, handler)",
    "unroute_all": "page.network.unroute(), or leave the block of page.route(...)",
    "requests": "page.activity.requests",
    "console_messages": "page.activity.console",
    "page_errors": "page.activity.errors",
    "clear_console_messages": "page.activity.clear()",
    "clear_page_errors": "page.activity.clear()",
    "emulate_media": "page.emulation.set(media=..., color_scheme=...)",
    "emulate": "page.emulation.set(device=...)",
    "frame": "page.frames, or frame= of page.find(...)",
    "touchscreen": "page.touch",
    "local_storage": "page.storage.local",
    "session_storage": "page.storage.session",
    "video": "page.measure.trace(path, screenshots=True): there are no videos",
    "screencast": "page.measure.trace(path, screenshots=True): there are no videos",
    "add_locator_handler": "CoveredError names the covering element: close it, and repeat the action",
    "hide_highlight": "leave the block of page.elements.highlight(...)",
    "pause": "trio.sleep_forever(), with launch(headless=False)",
    "request_gc": "page.session.call('HeapProfiler.collectGarbage')",
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
    "browser_type": "browser.version",
    "start_tracing": "browser.measure.trace(path)",
    "stop_tracing": "leave the block of browser.measure.trace(path)",
    "bind": "browser.endpoint, with launch(debugging_port=0)",
    "unbind": "leave the block of launch()",
}

CONTEXT = {
    "newPage": "context.new_page()",
    "close": "leave the block of browser.new_context()",
    "add_cookies": "context.storage.set_cookies(cookies)",
    "cookies": "context.storage.cookies()",
    "clear_cookies": "context.storage.clear_cookies()",
    "storage_state": "context.storage.state()",
    "set_storage_state": "context.storage.restore_state(state)",
    "add_init_script": "context.scripts.add_init_script(script)",
    "expose_function": "context.scripts.expose(name, function)",
    "expose_binding": "context.scripts.expose(name, function)",
    "grant_permissions": "context.emulation.grant_permissions(name, origin=...)",
    "clear_permissions": "context.emulation.reset_permissions()",
    "set_geolocation": "context.emulation.set(geolocation=...)",
    "set_offline": "context.network.offline()",
    "set_extra_http_headers": "context.network.extra_headers(headers)",
    "unroute": "context.network.unroute(...), or leave the block of context.route(...)",
    "route_web_socket": "context.route_websocket(pattern, handler)",
    "clock": "page.clock",
    "unroute_all": "context.network.unroute(), or leave the block of context.route(...)",
    "new_cdp_session": "page.session",
    "tracing": "context.trace_steps(path)",
    "expect_page": "browser.expect_page(where=...)",
    "expect_event": "browser.expect_page(), or page.events(...)",
    "wait_for_event": "browser.expect_page(), or page.events(...)",
    "set_default_timeout": "timeout= of each call, in seconds",
    "set_default_navigation_timeout": "timeout= of each call, in seconds",
    "on": "browser.expect_page(), or page.expect_popup()",
}

_STATES = ("visible", "hidden", "enabled", "disabled", "editable", "checked", "focused")

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
    "inner_text": "page.elements.inner_text({0})",
    "text_content": "page.elements.text_content({0})",
    "get_attribute": "page.elements.get_attribute({0}, name)",
    "inner_html": "page.elements.inner_html({0})",
    "input_value": "page.elements.input_value({0})",
    **{f"is_{state}": f"page.elements.is_{state}({{0}})" for state in _STATES},
    "select_text": "page.elements.select_text({0})",
    "dispatch_event": "page.elements.dispatch_event({0}, type)",
    "blur": "page.elements.blur({0})",
    "bounding_box": "page.elements.bounding_box({0})",
    "scroll_into_view_if_needed": "page.scroll_into_view({0})",
    "wait_for": "page.wait_for(ref={0})",
    "drag_to": "page.drag({0}, target)",
    "count": "len(await page.find_all(...))",
    "all": "page.find_all(...)",
    "set_checked": "page.check({0}) or page.uncheck({0})",
    "query_selector": "page.locate(ref={0}).locate(css=...)",
    "query_selector_all": "page.locate(ref={0}).locate(css=...)",
    "eval_on_selector": "page.evaluate('(element) => ...', target={0})",
    "eval_on_selector_all": "page.evaluate('(element) => ...', target={0})",
    "wait_for_element_state": "page.wait_for(ref={0}, state=...)",
    "wait_for_selector": "page.locate(ref={0}).locate(css=...).wait_for()",
    "content_frame": "page.locate(ref={0}).content_frame",
    "owner_frame": "the frame of page.frames whose id is frame_id of {0}",
}

_WAYS = {
    "locator": "locate(css=...)",
    "get_by_role": "locate(role=..., name=...)",
    "get_by_text": "locate(text=...)",
    "get_by_label": "locate(label=...)",
    "get_by_placeholder": "locate(placeholder=...)",
    "get_by_alt_text": "locate(alt_text=...)",
    "get_by_title": "locate(title=...)",
    "get_by_test_id": "locate(test_id=...)",
}

LOCATOR = {name: f"locator.{ours}" for name, ours in _WAYS.items()} | {
    "dblclick": "locator.double_click()",
    "press_sequentially": "locator.type(text)",
    "select_option": "locator.select(option)",
    "set_input_files": "locator.upload(files)",
    "set_checked": "locator.check() or locator.uncheck()",
    "clear": "locator.fill('')",
    "scroll_into_view_if_needed": "locator.scroll_into_view()",
    "drag_to": "locator.drag(target)",
    "evaluate_all": "page.evaluate(function, await page.find_all(...))",
    "element_handle": "locator.ref()",
    "element_handles": "locator.all()",
    "aria_snapshot": "locator.snapshot()",
    "highlight": "page.elements.highlight(locator)",
    "hide_highlight": "leave the block of page.elements.highlight(locator)",
    "visible": "locator.filter(visible=True)",
    "describe": "locator.description, which is made from the criteria",
    "all_inner_texts": "[await each.inner_text() for each in await locator.all()]",
    "all_text_contents": "[await each.text_content() for each in await locator.all()]",
    "evaluate_handle": "page.evaluate_handle(function, target=locator)",
    "wait_for_function": "page.wait_for(expression=...)",
}

FRAME_LOCATOR = {name: f"page.frame_locator(...).{ours}" for name, ours in _WAYS.items()}
"""Names on the locator of a frame. Its element is `owner`."""

ELEMENT = {name: ours.format("element") for name, ours in _ON_ELEMENTS.items()}
"""Names on a found element or its node."""

HANDLE = {
    "evaluate": "page.evaluate(function, handle)",
    "evaluate_handle": "page.evaluate_handle(function, handle)",
    "as_element": "the handle itself, as the target of an action: page.click(handle)",
    "get_properties": "handle.properties()",
    "dispose": "handle.release(), or leave the block of evaluate_handle()",
    "jsonValue": "handle.json_value()",
    "content_frame": "page.content_frame(handle)",
} | {
    name: ours.format("handle")
    for name, ours in _ON_ELEMENTS.items()
    if name not in ("evaluate", "count", "all")
}
"""Names on a handle."""

FRAME = {
    **{name: f"frame.{ours}" for name, ours in _WAYS.items()},
    **{
        name: f"frame.locate(...).{name}(...)"
        for name in _ON_ELEMENTS
        if name in PAGE
        or name in ("click", "hover", "tap", "fill", "type", "press", "focus", "check", "uncheck")
    },
    "query_selector": "frame.find(css=...)",
    "query_selector_all": "frame.find_all(css=...)",
    "eval_on_selector": "frame.locate(...).evaluate(function)",
    "eval_on_selector_all": "frame.evaluate(function), which queries the elements itself",
    "dblclick": "frame.locate(...).double_click()",
    "select_option": "frame.locate(...).select(option)",
    "set_input_files": "frame.locate(...).upload(files)",
    "set_checked": "frame.locate(...).check() or uncheck()",
    "drag_and_drop": "frame.locate(...).drag(destination)",
    "frame_locator": "frame.locate(...).content_frame",
    "child_frames": "frame.children",
    "childFrames": "frame.children",
    "parent_frame": "frame.parent",
    "parentFrame": "frame.parent",
    "is_detached": "frame.attached",
    "wait_for_selector": "frame.wait_for(css=...)",
    "wait_for_function": "frame.wait_for(expression=...)",
    "wait_for_load_state": "frame.wait_for(load_state=...)",
    "wait_for_url": "frame.wait_for(url=...)",
    "wait_for_timeout": "trio.sleep(seconds)",
}

LAUNCH = {
    "executable_path": "executable=...",
    "executablePath": "executable=...",
    "browser_executable_path": "executable=...",
    "channel": "executable='chrome', 'chromium', 'edge' or 'brave'",
    "proxy": "browser.new_context(proxy=...), or args=['--proxy-server=...']",
    "slowMo": "slow_mo=..., in seconds",
    "headful": "headless=False",
    "headed": "headless=False",
    "devtools": "headless=False, args=['--auto-open-devtools-for-tabs']",
    "userDataDir": "user_data_dir=...",
    "browser_args": "args=[...]",
    "defaultViewport": "viewport=(width, height)",
    "default_viewport": "viewport=(width, height)",
    "no_viewport": "viewport=None",
    "window_size": "viewport=(width, height)",
    "chromium_sandbox": "args=['--no-sandbox'] to turn the sandbox off",
    "no_sandbox": "args=['--no-sandbox']",
    "downloads_path": "browser.new_context(downloads=...)",
    "storage_state": "browser.new_context(storage_state=...)",
    "user_agent": "browser.new_context(user_agent=...)",
    "locale": "browser.new_context(locale=...)",
    "timezone_id": "browser.new_context(timezone=...)",
    "port": "debugging_port=...",
    "remote_debugging_port": "debugging_port=...",
    "": "names for all arguments: cdpengine.launch(executable=...)",
}
"""Arguments of `launch`. "" is for positional arguments, here and in the tables below."""

CONNECT = {
    "endpoint_url": "cdpengine.connect('http://127.0.0.1:9222')",
    "ws_endpoint": "cdpengine.connect('ws://...')",
    "browserWSEndpoint": "cdpengine.connect('ws://...')",
    "browserURL": "cdpengine.connect('http://127.0.0.1:9222')",
    "cdp_url": "cdpengine.connect('http://127.0.0.1:9222')",
    "url": "cdpengine.connect('http://127.0.0.1:9222')",
    "port": "cdpengine.connect('http://127.0.0.1:9222')",
    "no_viewport": "viewport=None",
    "defaultViewport": "viewport=(width, height)",
    "": "cdpengine.connect(endpoint, headers=...): names for all arguments but the first",
}

NEW_PAGE = {
    "no_viewport": "viewport=None",
    "user_agent": "browser.new_context(user_agent=...), and its new_page()",
    "locale": "browser.new_context(locale=...), and its new_page()",
    "timezone_id": "browser.new_context(timezone=...), and its new_page()",
    "storage_state": "browser.new_context(storage_state=...), and its new_page()",
    "proxy": "browser.new_context(proxy=...), and its new_page()",
}

NEW_CONTEXT = {
    "timezone_id": "timezone=...",
    "timezoneId": "timezone=...",
    "userAgent": "user_agent=...",
    "baseURL": "base_url=...",
    "storageState": "storage_state=...",
    "is_mobile": "mobile=...",
    "isMobile": "mobile=...",
    "has_touch": "touch=...",
    "hasTouch": "touch=...",
    "deviceScaleFactor": "device_scale_factor=...",
    "colorScheme": "color_scheme=...",
    "no_viewport": "viewport=None",
    "java_script": "java_script_enabled=...",
    "javaScriptEnabled": "java_script_enabled=...",
    "bypassCSP": "bypass_csp=...",
    "ignoreHTTPSErrors": "ignore_https_errors=...",
    "serviceWorkers": "service_workers=...",
    "acceptDownloads": "accept_downloads=...",
    "downloads_path": "downloads=...",
    "extra_http_headers": "context.network.extra_headers(headers)",
    "extraHTTPHeaders": "context.network.extra_headers(headers)",
    "http_credentials": "context.network.http_credentials(username, password)",
    "httpCredentials": "context.network.http_credentials(username, password)",
    "offline": "context.network.offline()",
    "record_har_path": "context.record_har(path)",
    "recordHar": "context.record_har(path)",
    "strict_selectors": "no such argument: a locator always needs exactly one element",
    "client_certificates": "no such argument: Chrome's protocol has no command that chooses a certificate",
    "clientCertificates": "no such argument: Chrome's protocol has no command that chooses a certificate",
}
"""Arguments of `new_context`."""

GOTO = {
    "waitUntil": "wait_until=...",
    "new_tab": "browser.new_page(url)",
}

WAIT_FOR = {
    "selector": "page.wait_for(css=...)",
    "predicate": "page.wait_for(expression=...)",
    "function": "page.wait_for(expression=...)",
    "role": "page.locate(role=..., name=...).wait_for()",
    "name": "page.locate(role=..., name=...).wait_for()",
    "": "a name for the condition: page.wait_for(css='h1'), wait_for(text=...), wait_for(url=...) or "
    "wait_for(seconds=...)",
}

FIND = {
    "selector": "page.find(css=...)",
    "has_text": "page.find(css, text=...), or page.locate(css).filter(has_text=...)",
    "has": "page.locate(css).filter(has=locator)",
    "has_not": "page.locate(css).filter(has_not=locator)",
    "visible": "page.locate(css).filter(visible=True)",
    "": "names for all arguments but the first: page.find(css, role=..., name=..., text=...)",
}

ACTION = {
    "selector": "page.locate(css=...) as the target",
    "no_wait_after": "no such argument: an action waits only for the document of a navigation that it starts",
    "noWaitAfter": "no such argument: an action waits only for the document of a navigation that it starts",
    "trial": "page.hover(target), which makes the same checks",
    "strict": "no such argument: an action always needs exactly one element",
    "click_count": "count=...",
    "clickCount": "count=...",
    "files": "page.upload(target, *files)",
}
"""Arguments of the actions on an element."""

TYPE = ACTION | {
    "value": "page.fill(target, value)",
    "": "page.type(target, text)",
}

SELECT = dict.fromkeys(("value", "values", "label", "index"), "page.select(target, 'value or label')") | {
    "selector": "page.locate(css=...) as the target",
    "option": "page.select(target, option)",
}

SCREENSHOT = {
    "type": "format='png', 'jpeg' or 'webp'",
    "fullPage": "full_page=True",
    "selector": "target=await page.find(css)",
    "element": "target=...",
    "encoding": "page.screenshot(): it returns bytes",
    "": "names for all arguments but the first: page.screenshot(path, full_page=True)",
}

EVALUATE = {"arg": "page.evaluate(function, argument, ...)", "args": "page.evaluate(function, argument, ...)"}

SET_CONTENT = {
    "wait_until": "page.set_content(html), and page.wait_for(...)",
    "waitUntil": "page.set_content(html), and page.wait_for(...)",
}


ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("click", "hover", "tap", "drag", "fill", "focus", "check", "uncheck", "upload"), ACTION),
    "press": ACTION,
    "type": TYPE,
    "select": SELECT,
    "goto": GOTO,
    "wait_for": WAIT_FOR,
    "evaluate": EVALUATE,
    "set_content": SET_CONTENT,
}
"""Arguments of the announced methods of a page, by method."""
