"""Where a protocol is from: a running browser's /json/protocol, or a file that it was saved to.

Rule: the browser is asked over HTTP, once; nothing is attached to it. A file is exactly what was answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import trio

from cdpengine._launch.endpoint import redact_endpoint, resolve_endpoint
from cdpengine._protocol.http_connections import get
from cdpengine.debug.protocol import Protocol, decode_protocol
from cdpengine.errors import ConnectFailedError, InvalidArgumentError

_PATH = "/json/protocol"
_LONGEST = 1 << 26
"""Bytes of a protocol. Chrome's is 2 MB."""


async def fetch_protocol(
    endpoint: str, *, headers: Mapping[str, str] | None = None, timeout: float = 30
) -> Protocol:
    """Ask the browser at `endpoint` ("http://host:port" or its "ws://...") for its protocol.

    Raises InvalidArgumentError for what is no endpoint or no protocol, ConnectFailedError when nobody answers in
    `timeout` seconds.
    """
    shown = redact_endpoint(endpoint)
    answer: bytes | None = None
    with trio.move_on_after(timeout):
        resolved = await resolve_endpoint(endpoint, headers)
        answer = await get(_protocol_url(resolved.ws_url), headers or {}, shown=shown, longest=_LONGEST)
    if answer is None:
        raise ConnectFailedError(endpoint=shown, reason=f"no answer of {_PATH} within {timeout:g} s")
    return decode_protocol(answer, f"{_PATH} of {shown}")


def read_protocol(path: Path) -> Protocol:
    """Read a protocol that was saved. Raises InvalidArgumentError."""
    try:
        document = path.read_bytes()
    except OSError as error:
        raise InvalidArgumentError(
            what="protocol", given=str(path), expected=f"a file that can be read ({error.strerror})"
        ) from None
    return decode_protocol(document, str(path))


def _protocol_url(ws_url: str) -> str:
    parts = urlsplit(ws_url)
    prefix = parts.path.partition("/devtools/")[0] if "/devtools/" in parts.path else ""
    scheme = "https" if parts.scheme == "wss" else "http"
    return parts._replace(scheme=scheme, path=prefix.rstrip("/") + _PATH, fragment="").geturl()
