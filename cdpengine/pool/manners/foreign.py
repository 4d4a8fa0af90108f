"""is_foreign: whether a URL leads to somebody else's machine, where manners are due. Pure.

Rule: judged by what the URL says, no name is looked up. What is not known to be one's own is foreign, so a
doubtful host is treated with manners: a name of the Internet is foreign, even where its address is a private one.
"""

from __future__ import annotations

import socket
from collections.abc import Collection

from cdpengine._urls import is_public, parse_address
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners.urls import read_web_url

_OWN_ENDINGS = ("localhost", "local", "internal", "home.arpa", "test", "invalid")
"""Domains that are no part of the Internet's: RFC 6761 and 6762, RFC 8375, and ICANN's "internal" of 2024."""


def is_foreign(url: str, *, own_names: Collection[str] = ()) -> bool:
    """Say whether a URL leads to a host of somebody else's.

    These are not foreign: addresses of this machine, of private networks and link-local ones; "localhost" and
    other names that are no part of the Internet's (".local", ".internal", ".test", names without a dot); the name
    of this machine; `own_names`, each with the names below it; and all that is not a URL of http or https.
    """
    try:
        host = read_web_url(url).host.rstrip(".")
    except InvalidArgumentError:
        return False
    address = parse_address(host.strip("[]"))
    if address is not None:
        return is_public(address) and host not in own_names
    if "." not in host:
        return False
    own = (*_OWN_ENDINGS, socket.gethostname(), *own_names)
    return not any(_is_below(host, name.rstrip(".").lower()) for name in own if name)


def _is_below(host: str, name: str) -> bool:
    return host == name or host.endswith(f".{name}")
