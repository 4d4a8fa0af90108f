"""What Chrome says of itself under /json, made to point elsewhere; and how it is asked. Pure.

Rule: only addresses of websockets are changed, wherever they stand; what is no JSON is passed on as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

_IN_FRONTEND = re.compile(r"([?&])wss?=[^/&#]+")


def pointing_here(page: bytes, authority: str) -> bytes:
    """Return a page of /json in which every websocket is at `authority` ("127.0.0.1:9222")."""
    try:
        document = json.loads(page)
    except ValueError:
        return page
    return json.dumps(_changed(document, authority), indent=3).encode()


def _changed(value: Any, authority: str) -> Any:
    if isinstance(value, list):
        return [_changed(item, authority) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, item in value.items():
        if name == "webSocketDebuggerUrl" and isinstance(item, str):
            item = urlsplit(item)._replace(scheme="ws", netloc=authority).geturl()
        elif name in ("devtoolsFrontendUrl", "devtoolsFrontendUrlCompat") and isinstance(item, str):
            item = _IN_FRONTEND.sub(rf"\g<1>ws={authority}", item)
        else:
            item = _changed(item, authority)
        changed[name] = item
    return changed


def http_params(target: str) -> dict[str, str]:
    """Return what is asked over HTTP as parameters: the path, and the URL for a new tab."""
    path, _, query = target.partition("?")
    if not target.startswith("/"):
        path = urlsplit(target).path
    path = path.rstrip("/")
    return {"path": "/json/list" if path == "/json" else path, "url": query}
