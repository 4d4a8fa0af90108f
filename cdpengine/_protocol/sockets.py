"""open_stream: a connection to a server, with TLS where asked, and what stood in the way of it.

Rule: each way to fail has its own reason, and advice that fits it; no header's value is repeated.
"""

from __future__ import annotations

import re
import ssl

import trio

from cdpengine._protocol.handshake import Obstacle, tls_obstacle
from cdpengine.errors import ConnectFailedError, InvalidArgumentError, Shortage, os_reason, shortage_of

_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"(?:[^\x00-\x20\x7f](?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?")


async def open_stream(
    host: str, port: int, *, tls: bool, shown: str
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    """Connect to a host.

    Raises ConnectFailedError, in which `shown` is the endpoint, with what stood in the way.
    """
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise lacking(shown, shortage) from error
        raise ConnectFailedError(endpoint=shown, reason=_os_reason(error)) from None
    if not tls:
        return stream
    secure = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        raise failed(shown, tls_obstacle(error.__cause__)) from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secure


def _os_reason(error: OSError) -> str:
    # trio raises "all attempts to connect failed", with the attempts in a group behind it.
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, ConnectionRefusedError):
        return "nothing listens there (connection refused)"
    return os_reason(cause if isinstance(cause, OSError) else error)


def lacking(endpoint: str, shortage: Shortage) -> ConnectFailedError:
    """Return the error for an endpoint that was not reached because this side lacks something."""
    return ConnectFailedError(
        endpoint=endpoint, reason=f"{shortage.reason} ({shortage.name})", advice=shortage.advice
    )


def failed(shown: str, obstacle: Obstacle) -> ConnectFailedError:
    """Return the error for an endpoint (`shown`) that something stands in the way of."""
    return ConnectFailedError(
        endpoint=shown, reason=obstacle.reason, advice=obstacle.advice, status=obstacle.status
    )


def host_and_port(host: str, port: int, default: int) -> str:
    """Return what stands in the Host header."""
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed if port == default else f"{bracketed}:{port}"


def checked_header(name: str, value: str) -> tuple[bytes, bytes]:
    """Return a header as bytes. Raises InvalidArgumentError for what HTTP does not allow."""
    # The value is not repeated in the error: headers carry tokens.
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidArgumentError(what="header", given=repr(name), expected="a name as HTTP allows it")
    if not _HEADER_VALUE.fullmatch(value):
        raise InvalidArgumentError(
            what=f"header {name}",
            given="a value with control characters, or with space around it",
            expected="one line of text",
        )
    return name.encode(), value.encode()
