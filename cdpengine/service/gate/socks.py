"""SOCKS 5 (RFC 1928), the part that browsers use: no authentication, only CONNECT.

Rule: pure. Invalid input raises ValueError, and the connection is closed.
"""

from __future__ import annotations

import ipaddress
from enum import IntEnum

import attrs

VERSION = 5
NO_AUTHENTICATION = b"\x05\x00"
NO_METHOD = b"\x05\xff"

_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4


class Reply(IntEnum):
    """The reply codes."""

    DONE = 0
    FAILED = 1
    NOT_ALLOWED = 2
    UNREACHABLE = 4
    REFUSED = 5
    COMMAND_UNKNOWN = 7


@attrs.frozen
class Destination:
    """The destination of a connection. `host` is a name or an address; an IPv6 address has no brackets."""

    host: str
    port: int


def accepts_no_authentication(greeting: bytes) -> bool:
    """Return whether a complete greeting offers "no authentication". Raises ValueError."""
    if len(greeting) < 3 or greeting[0] != VERSION or len(greeting) != 2 + greeting[1]:
        raise ValueError("not a SOCKS 5 greeting")
    return 0 in greeting[2:]


def length_of_request(head: bytes) -> int:
    """Return the length of a request in bytes, from its first five. Raises ValueError."""
    if head[0] != VERSION:
        raise ValueError("not a SOCKS 5 request")
    kind = head[3]
    if kind not in (_IPV4, _NAME, _IPV6):
        raise ValueError(f"unknown address type {kind}")
    address = {_IPV4: 4, _NAME: 1 + head[4], _IPV6: 16}[kind]
    return 4 + address + 2


def parse_request(request: bytes) -> Destination | None:
    """Return the destination of a complete request, None for another command than CONNECT. Raises ValueError."""
    kind, address, port = request[3], request[4:-2], int.from_bytes(request[-2:], "big")
    if request[1] != _CONNECT:
        return None
    if kind == _NAME:
        host = address[1:].decode("ascii").strip("[]")
        if not host:
            raise ValueError("an empty name")
        return Destination(host, port)
    return Destination(str(ipaddress.ip_address(address)), port)


def make_reply(reply: Reply) -> bytes:
    """Return the bytes that answer a request."""
    return bytes((VERSION, reply, 0, _IPV4, 0, 0, 0, 0, 0, 0))
