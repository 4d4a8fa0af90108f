"""The URL policy: which pages a client may open, by scheme, host and address, redirects included.

Rule: a disallowed URL is refused before a request leaves, with the reason. The policy checks every address of a
host's name, because Chrome may use any of them. The decision is pure; `resolve` looks up the addresses.

A name's addresses may change between this check and a connection. So the gate (`gate/gate.py`) checks connections
again, and connects to the address that it has checked.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

import attrs
import trio

from cdpengine._urls.hosts import Address, UnreadableUrl, is_below, is_public, parse_address, read_host
from cdpengine._urls.mistakes import explain_no_url
from cdpengine._urls.reading import WEB, split_url
from cdpengine.errors import shown_url

_NO_NETWORK = frozenset({"about"})
"""Schemes of documents that come from no server and contain none of the caller's data."""

_PRIVATE, _DENIED, _NOT_LISTED = "has an address of", "is denied", "is not on the list of allowed hosts"


@attrs.frozen(kw_only=True)
class UrlPolicy:
    """The allowed URLs.

    `schemes` are the allowed schemes besides about:. `allow_private` allows addresses of private networks, of
    this machine and link-local ones. `allow` and `deny` are patterns of hosts: "example.com" is that host,
    "*.example.com" its subdomains. `deny` has precedence. If `allow` is not empty, only its hosts are allowed,
    and they may be private. `private_remedy` is the way to allow private addresses, for hints.
    """

    schemes: frozenset[str] = frozenset({"http", "https"})
    allow_private: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    private_remedy: str = "a service that is started with --allow-private"

    def remedy(self, refusal: str) -> str:
        """Return the way to allow a refused URL, for hints; "" if only other URLs are allowed."""
        if _PRIVATE in refusal:
            return self.private_remedy
        if _DENIED in refusal:
            return "a service that is started without --deny for this host"
        return "a service that is started with --allow for this host" if _NOT_LISTED in refusal else ""

    def refusal(self, url: str) -> str:
        """Return why a URL is refused by its parts; "" if it is allowed or depends on addresses."""
        problem, suggestion = explain_no_url(url)
        if problem:
            return (
                f"this URL {problem}; expected one with a scheme and a host, such as {shown_url(suggestion)}"
            )
        scheme, host = split_url(url)
        if scheme in _NO_NETWORK:
            return ""
        if scheme not in self.schemes:
            allowed = ", ".join(sorted(self.schemes))
            return f"the scheme {scheme[:20] or 'of it'} is not allowed; allowed are {allowed}"
        if not host:
            return "it has no valid host" if scheme in WEB else ""
        if refusal := self._refusal_by_lists(host):
            return refusal
        address = parse_address(host)
        return "" if address is None else self.refusal_of_address(host, address)

    def _refusal_by_lists(self, host: str) -> str:
        if _matches(host, self.deny):
            return f"the host {host[:80]} {_DENIED}"
        if self.allow and not _matches(host, self.allow):
            return f"the host {host[:80]} {_NOT_LISTED}"
        return ""

    def needs_addresses(self, url: str) -> bool:
        """Return whether the decision depends on the addresses of the host's name."""
        scheme, host = split_url(url)
        return (
            scheme in self.schemes
            and bool(host)
            and not self.allow_private
            and not self.allow
            and parse_address(host) is None
        )

    def refusal_of_address(self, host: str, address: Address) -> str:
        """Return why a host is refused for one of its addresses, or ""."""
        if self.allow_private or _matches(host, self.allow) or is_public(address):
            return ""
        kind = "this machine" if address.is_loopback else "a private network"
        return f"the host {host[:80]} {_PRIVATE} {kind}"

    @property
    def allows_everything(self) -> bool:
        """Return whether the policy refuses no host."""
        return self.allow_private and not self.allow and not self.deny

    async def judge_host(self, host: str) -> tuple[str, Sequence[Address]]:
        """Return why a host (a name or an address, in lower case) is refused, or "" and its addresses."""
        if refusal := self._refusal_by_lists(host):
            return refusal, ()
        literal = parse_address(host)
        addresses = await resolve(host) if literal is None else (literal,)
        for address in addresses:
            if refusal := self.refusal_of_address(host, address):
                return refusal, ()
        return "", addresses

    async def check(self, url: str) -> str:
        """Return why a URL is refused, or "". A name without addresses is left to the browser."""
        if refusal := self.refusal(url):
            return refusal
        if not self.needs_addresses(url):
            return ""
        _, host = split_url(url)
        for address in await resolve(host):
            if refusal := self.refusal_of_address(host, address):
                return refusal
        return ""


async def resolve(host: str) -> Sequence[Address]:
    """Return the addresses of a host, or none if its name has none."""
    try:
        found = await trio.socket.getaddrinfo(host, None)
    except OSError:
        return ()
    return tuple({ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found})


def _matches(host: str, patterns: Iterable[str]) -> bool:
    return any(_matches_pattern(host, pattern) for pattern in patterns)


def _matches_pattern(host: str, pattern: str) -> bool:
    domain = pattern.removeprefix("*.").strip("[]").rstrip(".")
    try:
        name = read_host(f"[{domain}]" if ":" in domain else domain).strip("[]")
    except UnreadableUrl:
        return False
    return is_below(host, name) and host != name if pattern.startswith("*.") else host == name
