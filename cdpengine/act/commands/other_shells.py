"""Commands of agent-browser, playwright-cli and browser-use, with the equivalent command.

Rule: no name is a command of this shell. If a name has two words, the first can be one ("cookies set").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

OURS: Mapping[str, str] = {
    name: ours
    for ours, names in {
        "open URL": "goto, navigate, visit, go, launch, start",
        "get title": "title",
        "get url": "url",
        "eval SCRIPT": "js, run-code",
        "extract": "content, read",
        "get text TARGET": "inner-text, get-text",
        "snapshot": "state, tree, aria, accessibility, look",
        "snapshot --diff": "diff",
        "snapshot --frame FRAME": "frame",
        "requests": "network, net",
        "console --level error": "errors",
        "click --double-click": "dblclick, double-click",
        "click": "tap, focus",
        "press": "keyboard, keys, key, keydown, keyup",
        "type": "send-keys, input, write, keyboard type, keyboard inserttext",
        "fill": "clear",
        "back": "go-back",
        "forward": "go-forward",
        "reload": "refresh",
        "close": "quit, exit, stop",
        "close --all": "close-all, kill-all",
        "tabs": "tab, tab-list, tab list",
        "new-tab": "tab-new, tab new, window, new",
        "focus-tab": "tab-select",
        "close-tab": "tab-close, tab close",
        "resize WIDTH HEIGHT": "resize-window, viewport, set viewport",
        "emulate DEVICE": "set device",
        "emulate --geolocation LATITUDE,LONGITUDE": "set geo",
        "emulate --network offline": "set offline, offline",
        "emulate --headers JSON": "set headers",
        "emulate --credentials JSON": "set credentials",
        "emulate --color-scheme dark": "set media",
        "route URL": "network route",
        "unroute": "network unroute, unroute-all",
        "routes": "route-list",
        "screenshot": "shot",
        "find": "query",
        "sessions": "session, session-list, list, status",
        "doctor": "install",
        "dialog accept": "dialog-accept",
        "dialog dismiss": "dialog-dismiss",
        "hover": "mouse, mousemove, mouse move",
        "drag FROM TO": "mousedown, mouseup, mouse down, mouse up",
        "scroll": "mousewheel, mouse wheel, swipe",
        "scroll-into-view": "scrollintoview",
        "upload": "drop",
        "cookies": "cookie-list, cookie-get, cookies get, cookies-get",
        "set-cookies": "cookie-set, cookies set",
        "clear-cookies": "cookie-delete, cookie-clear, cookies clear",
        "storage": "state-save, state save, localstorage, localstorage-list, localstorage-get, storage local",
        "storage --area session": "sessionstorage, sessionstorage-list, sessionstorage-get, storage session",
        "set-storage": "state-load, state load, localstorage-set, sessionstorage-set",
        "clear-storage": "localstorage-delete, localstorage-clear, sessionstorage-delete, sessionstorage-clear",
        "start-recording": "trace-start, tracing-start",
        "stop-recording": "tracing-stop, trace-stop",
        "start-measurement profile": "profiler",
        "trace URL": "trace-page",
        "run": "batch",
        "--help": "help",
        "--version": "version",
    }.items()
    for name in names.split(", ")
}
"""The command for each name."""


def name_ours(words: Sequence[str]) -> str:
    """Return the command for a line of another shell, of which the first two words count, or ""."""
    return OURS.get(" ".join(words[:2])) or OURS.get(words[0] if words else "", "")
