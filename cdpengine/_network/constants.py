"""Constants of requests: types of resources, reasons why a request fails, networks with a name. Data.

Rule: the words are Chrome's own. Case does not matter where one is given; an unknown word is refused with the list
of the known ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, get_args

import attrs

from cdpengine.errors import InvalidArgumentError

ResourceType: TypeAlias = Literal[
    "Document",
    "Stylesheet",
    "Image",
    "Media",
    "Font",
    "Script",
    "TextTrack",
    "XHR",
    "Fetch",
    "Prefetch",
    "EventSource",
    "WebSocket",
    "Manifest",
    "SignedExchange",
    "Ping",
    "CSPViolationReport",
    "Preflight",
    "FedCM",
    "Other",
]
"""What a request is for, in Chrome's words. Where it intercepts, Chrome calls `fetch()` "XHR" as well, and the
script of a worker "Other" (measured)."""

RESOURCE_TYPES: tuple[ResourceType, ...] = get_args(ResourceType)

AbortReason: TypeAlias = Literal[
    "Failed",
    "Aborted",
    "TimedOut",
    "AccessDenied",
    "ConnectionClosed",
    "ConnectionReset",
    "ConnectionRefused",
    "ConnectionAborted",
    "ConnectionFailed",
    "NameNotResolved",
    "InternetDisconnected",
    "AddressUnreachable",
    "BlockedByClient",
    "BlockedByResponse",
]
"""Why a request fails, in Chrome's words."""

ABORT_REASONS: Mapping[AbortReason, str] = {
    "Failed": "net::ERR_FAILED",
    "Aborted": "net::ERR_ABORTED",
    "TimedOut": "net::ERR_TIMED_OUT",
    "AccessDenied": "net::ERR_ACCESS_DENIED",
    "ConnectionClosed": "net::ERR_CONNECTION_CLOSED",
    "ConnectionReset": "net::ERR_CONNECTION_RESET",
    "ConnectionRefused": "net::ERR_CONNECTION_REFUSED",
    "ConnectionAborted": "net::ERR_CONNECTION_ABORTED",
    "ConnectionFailed": "net::ERR_CONNECTION_FAILED",
    "NameNotResolved": "net::ERR_NAME_NOT_RESOLVED",
    "InternetDisconnected": "net::ERR_INTERNET_DISCONNECTED",
    "AddressUnreachable": "net::ERR_ADDRESS_UNREACHABLE",
    "BlockedByClient": "net::ERR_BLOCKED_BY_CLIENT",
    "BlockedByResponse": "net::ERR_BLOCKED_BY_RESPONSE",
}
"""Each reason, and the error that a navigation then ends with."""


@attrs.frozen
class NetworkConditions:
    """What a network is like. `latency`: least seconds from request to response; the others bytes a second.

    None is no limit. `offline`: no request gets through.
    """

    offline: bool = False
    latency: float = 0.0
    download: float | None = None
    upload: float | None = None


_KBIT = 1000 / 8
"""Bytes of a kilobit."""

NETWORKS: Mapping[str, NetworkConditions] = {
    "offline": NetworkConditions(offline=True),
    "slow 3g": NetworkConditions(latency=2.0, download=400 * _KBIT, upload=400 * _KBIT),
    "fast 3g": NetworkConditions(latency=0.5625, download=1440 * _KBIT, upload=675 * _KBIT),
    "slow 4g": NetworkConditions(latency=0.17, download=8100 * _KBIT, upload=1350 * _KBIT),
    "wifi": NetworkConditions(latency=0.01, download=30_000 * _KBIT, upload=15_000 * _KBIT),
}
"""Networks with a name."""

_TYPE_OF = {name.casefold(): name for name in RESOURCE_TYPES}
_REASON_OF = {name.casefold(): name for name in ABORT_REASONS}


def check_resource_types(given: object) -> frozenset[str]:
    """Return the types that the given words mean; without words none, which stands for all.

    "Fetch" means "XHR" too: Chrome calls both so where it intercepts. Raises InvalidArgumentError.
    """
    if not isinstance(given, str) and not isinstance(given, Collection):
        raise _no_type(given)
    names: Iterable[object] = [given] if isinstance(given, str) else given
    found: set[str] = set()
    for name in names:
        known = _TYPE_OF.get(name.casefold()) if isinstance(name, str) else None
        if known is None:
            raise _no_type(name)
        found.add(known)
    return frozenset(found | {"XHR"} if "Fetch" in found else found)


def check_reason(given: str) -> AbortReason:
    """Return Chrome's own word for a reason. Raises InvalidArgumentError."""
    known = _REASON_OF.get(given.casefold()) if isinstance(given, str) else None
    if known is None:
        expected = f"one of {', '.join(ABORT_REASONS)}"
        raise InvalidArgumentError(what="reason", given=repr(given)[:80], expected=expected)
    return known


def check_conditions(given: object) -> NetworkConditions:
    """Return conditions, given by name or as they are. Raises InvalidArgumentError."""
    if isinstance(given, str):
        found = NETWORKS.get(given.casefold())
        if found is None:
            expected = f"NetworkConditions, or one of {', '.join(map(repr, NETWORKS))}"
            raise InvalidArgumentError(what="conditions", given=repr(given)[:80], expected=expected)
        return found
    if not isinstance(given, NetworkConditions):
        expected = "NetworkConditions or the name of a network"
        raise InvalidArgumentError(what="conditions", given=f"a {type(given).__name__}", expected=expected)
    if not isinstance(given.offline, bool):
        raise InvalidArgumentError(what="offline", given=repr(given.offline)[:80], expected="True or False")
    _check_number("latency", given.latency, "seconds, 0 or more", least=0.0)
    for what, value in (("download", given.download), ("upload", given.upload)):
        if value is not None:
            _check_number(what, value, "bytes a second, 1 or more, or None for no limit", least=1.0)
    return given


def check_cpu_rate(rate: float) -> float:
    """Return by how much processors are slowed down.

    Raises InvalidArgumentError for less than 1, and for what is not a number.
    """
    _check_number("rate", rate, "1 (as it is) or more: 4 is four times slower", least=1.0)
    return float(rate)


def _check_number(what: str, value: object, expected: str, *, least: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 1e12:
        raise InvalidArgumentError(what=what, given=repr(value)[:80], expected=expected)


def _no_type(given: object) -> InvalidArgumentError:
    expected = f"one or more of {', '.join(RESOURCE_TYPES)}"
    return InvalidArgumentError(what="resource_type", given=repr(given)[:80], expected=expected)
