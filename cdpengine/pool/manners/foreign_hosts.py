"""Detection of foreign hosts, where crawling manners are required. Pure.

Rule: the URL decides; no name is resolved. A host not known to be the program's own is foreign, so doubtful hosts
are treated with manners. A public name is foreign even if it resolves to a private address.
"""

from __future__ import annotations

import socket
from collections.abc import Collection

from cdpengine._urls.hosts import is_below, is_public, parse_address
from cdpengine._urls.reading import read_url
from cdpengine.errors import InvalidArgumentError

_OWN_ENDINGS = ("localhost", "local", "internal", "home.arpa", "test", "invalid")
"""Domains outside the public Internet: RFC 6761, 6762, 8375, and ICANN's "internal" of 2024."""


def is_foreign(url: str, *, own_names: Collection[str] = ()) -> bool:
    """Return whether a URL leads to a foreign host.

    Not foreign are: addresses of this machine, private and link-local addresses; "localhost" and other non-public
    names (".local", ".internal", ".test", names without a dot); the name of this machine; `own_names` and the
    names below them; and everything that is not an http or https URL.
    """
    try:
        host = read_url(url).host.rstrip(".")
    except InvalidArgumentError:
        return False
    address = parse_address(host.strip("[]"))
    if address is not None:
        return is_public(address) and host not in own_names
    if "." not in host:
        return False
    own = (*_OWN_ENDINGS, socket.gethostname(), *own_names)
    return not any(is_below(host, name.rstrip(".").lower()) for name in own if name)
