"""SOCKS 5 (RFC 1928), as much of it as a browser speaks: no authentication, and CONNECT.

Rule: pure. What does not fit raises ValueError, and the connection ends.
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
    """What a request is answered."""

    DONE = 0
    FAILED = 1
    NOT_ALLOWED = 2
    UNREACHABLE = 4
    REFUSED = 5
    COMMAND_UNKNOWN = 7


@attrs.frozen
class Destination:
    """Where a connection is to lead. `host` is a name or an address, an IPv6 one without brackets."""

    host: str
    port: int


def accepts_no_authentication(greeting: bytes) -> bool:
    """Whether a client's greeting, all of it, offers to go without authentication. Raises ValueError."""
    if len(greeting) < 3 or greeting[0] != VERSION or len(greeting) != 2 + greeting[1]:
        raise ValueError("no greeting of SOCKS 5")
    return 0 in greeting[2:]


def length_of_request(head: bytes) -> int:
    """Return how many bytes a request has, by its first five. Raises ValueError."""
    if head[0] != VERSION:
        raise ValueError("no request of SOCKS 5")
    kind = head[3]
    if kind not in (_IPV4, _NAME, _IPV6):
        raise ValueError(f"unknown kind of address {kind}")
    address = {_IPV4: 4, _NAME: 1 + head[4], _IPV6: 16}[kind]
    return 4 + address + 2


def parse_request(request: bytes) -> Destination | None:
    """Return where a whole request leads, None for another command than CONNECT. Raises ValueError."""
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
    """Return the answer to a request."""
    return bytes((VERSION, reply, 0, _IPV4, 0, 0, 0, 0, 0, 0))
