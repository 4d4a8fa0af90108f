"""Settings of sessions that combine the values of several scopes: headers, network conditions, processor speed.

Rule: the effective setting combines all values, in the order of their scopes. When a scope ends, the others stay;
after the last one, Chrome's previous setting returns, and its domain is disabled. Headers of all scopes are
merged; of two with the same name, the latest wins. For conditions and speed, the latest value applies. Networks
have names, in any case; an unknown name is refused with the list of known names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._checks import check_flag, check_number, invalid, wrong_type
from cdpengine._network.messages import merge_headers, secret_values
from cdpengine._page.navigation.activation import later_sessions
from cdpengine._page.page_scope import PostCommands
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import SessionGoneError

T = TypeVar("T")


@attrs.frozen
class NetworkConditions:
    """The conditions of a network.

    `latency` is the minimum number of seconds from request to response. `download` and `upload` are bytes per
    second.

    None means no limit. `offline`: every request fails.
    """

    offline: bool = False
    latency: float = 0.0
    download: float | None = None
    upload: float | None = None


_MOST = 1e12
"""Maximum of each number in these settings."""

_KBIT = 1000 / 8
"""Bytes per kilobit."""

NETWORKS: Mapping[str, NetworkConditions] = {
    "offline": NetworkConditions(offline=True),
    "slow 3g": NetworkConditions(latency=2.0, download=400 * _KBIT, upload=400 * _KBIT),
    "fast 3g": NetworkConditions(latency=0.5625, download=1440 * _KBIT, upload=675 * _KBIT),
    "slow 4g": NetworkConditions(latency=0.17, download=8100 * _KBIT, upload=1350 * _KBIT),
    "wifi": NetworkConditions(latency=0.01, download=30_000 * _KBIT, upload=15_000 * _KBIT),
}
"""Named networks."""


def check_conditions(given: object) -> NetworkConditions:
    """Return conditions, passed by name or as an object. Raises InvalidArgumentError."""
    if isinstance(given, str):
        found = NETWORKS.get(given.casefold())
        if found is None:
            expected = f"NetworkConditions, or one of {', '.join(map(repr, NETWORKS))}"
            raise invalid("conditions", given, expected)
        return found
    if not isinstance(given, NetworkConditions):
        raise wrong_type("conditions", given, "NetworkConditions or the name of a network")
    check_flag("offline", given.offline)
    check_number("latency", given.latency, least=0, most=_MOST, expected="seconds, 0 or more")
    for what, value in (("download", given.download), ("upload", given.upload)):
        if value is not None:
            expected = "bytes a second, 1 or more, or None for no limit"
            check_number(what, value, least=1, most=_MOST, expected=expected)
    return given


def check_cpu_rate(rate: float) -> float:
    """Return `rate`, the slowdown factor of the processor.

    Raises InvalidArgumentError for numbers below 1, and for other types.
    """
    expected = "1 (normal speed) or more: 4 is four times slower"
    return check_number("rate", rate, least=1, most=_MOST, expected=expected)


@attrs.define(eq=False)
class _Registration(Generic[T]):
    value: T


@attrs.define(eq=False)
class Setting(Generic[T]):
    """One kind of setting. Each scope adds a value, and a session has the combination of all values.

    `post` sends the values to a session, the oldest first; without values it restores the previous setting.
    `domain` is kept enabled on each session that has a value.
    """

    post: Callable[[Session, Sequence[T]], PendingCall]
    domain: str | None = None
    _registrations: WeakKeyDictionary[Session, list[_Registration[T]]] = attrs.field(
        factory=WeakKeyDictionary, init=False
    )

    def want(self, value: T) -> tuple[PostCommands, PostCommands]:
        """Return two functions that set `value` on a session, and remove it."""
        registration = _Registration(value)

        def begin(session: Session) -> list[PendingCall]:
            if self.domain is not None:
                session.domains.acquire(self.domain)
            self._registrations.setdefault(session, []).append(registration)
            return [self.post(session, self.values(session))]

        def end(session: Session) -> list[PendingCall]:
            registrations = self._registrations.get(session, [])
            if registration not in registrations:
                return []
            registrations.remove(registration)
            try:
                return [self.post(session, self.values(session))]
            finally:
                if self.domain is not None:
                    session.domains.release(self.domain)

        return begin, end

    async def renew(self, session: Session) -> None:
        """Send the current values to a session whose document Chrome had prerendered."""
        await self.post(session, self.values(session)).raw()

    def values(self, session: Session) -> list[T]:
        """Return the current values of a session, oldest first."""
        return [registration.value for registration in self._registrations.get(session, [])]


def _post_headers(session: Session, layers: Sequence[Mapping[str, str]]) -> PendingCall:
    headers = merge_headers(layers)
    for value in secret_values(headers.items()):
        session.connection.instruments.add_secret(value)
    return session.post("Network.setExtraHTTPHeaders", headers=headers)


def _post_conditions(session: Session, layers: Sequence[NetworkConditions]) -> PendingCall:
    conditions = layers[-1] if layers else NetworkConditions()
    limits = {
        "offline": conditions.offline,
        "latency": conditions.latency * 1000,
        "downloadThroughput": -1 if conditions.download is None else conditions.download,
        "uploadThroughput": -1 if conditions.upload is None else conditions.upload,
    }
    if session.target_type == "worker":
        # Workers accept conditions only as rules; `navigator` cannot be changed there.
        rules = [{"urlPattern": "", **limits}] if layers else []
        return session.post("Network.emulateNetworkConditionsByRule", matchedNetworkConditions=rules)
    for later in later_sessions(session):
        with suppress(SessionGoneError):
            later.post("Network.enable")  # without it, the conditions have no effect
            later.post("Network.emulateNetworkConditions", **limits)
            if not layers:
                later.post("Network.disable")
    return session.post("Network.emulateNetworkConditions", **limits)


def _post_cpu_rate(session: Session, layers: Sequence[float]) -> PendingCall:
    return session.post("Emulation.setCPUThrottlingRate", rate=layers[-1] if layers else 1)


def _post_bypass(session: Session, layers: Sequence[bool]) -> PendingCall:
    return session.post("Network.setBypassServiceWorker", bypass=bool(layers))


EXTRA_HEADERS: Setting[Mapping[str, str]] = Setting(_post_headers, "Network")
CONDITIONS: Setting[NetworkConditions] = Setting(_post_conditions, "Network")
CPU_RATE: Setting[float] = Setting(_post_cpu_rate)
NO_SERVICE_WORKER: Setting[bool] = Setting(_post_bypass, "Network")
