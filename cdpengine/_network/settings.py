"""Settings of sessions that several scopes may want at once: headers, network conditions, processor speed.

Rule: what holds is made of all values that are wanted, in the order in which they came; a scope that ends leaves
the others as they are, and the last one takes Chrome back to where it was, its domain included. Headers of all
scopes go together, the latest winning by name; of conditions and speed the latest holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._network.constants import NetworkConditions
from cdpengine._network.messages import merge_headers, secret_values
from cdpengine._page.page_scope import Tell
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session

T = TypeVar("T")


@attrs.define(eq=False)
class _Wanted(Generic[T]):
    value: T


@attrs.define(eq=False)
class Setting(Generic[T]):
    """One kind of setting. `post` sends a session what these values (oldest first; none: as before) make together.

    `domain` is kept enabled on each session of which something is wanted.
    """

    post: Callable[[Session, Sequence[T]], PendingCall]
    domain: str | None = None
    _wanted: WeakKeyDictionary[Session, list[_Wanted[T]]] = attrs.field(factory=WeakKeyDictionary, init=False)

    def want(self, value: T) -> tuple[Tell, Tell]:
        """Return the two functions that begin to want `value` of a session, and end it."""
        wanted = _Wanted(value)

        def begin(session: Session) -> list[PendingCall]:
            if self.domain is not None:
                session.hold(self.domain)
            self._wanted.setdefault(session, []).append(wanted)
            return [self.post(session, self.values(session))]

        def end(session: Session) -> list[PendingCall]:
            all_wanted = self._wanted.get(session, [])
            if wanted not in all_wanted:
                return []
            all_wanted.remove(wanted)
            try:
                return [self.post(session, self.values(session))]
            finally:
                if self.domain is not None:
                    session.release_domains(self.domain)

        return begin, end

    def values(self, session: Session) -> list[T]:
        """Return what is wanted of a session now, oldest first."""
        return [wanted.value for wanted in self._wanted.get(session, [])]


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
        # Workers take them as rules alone; what `navigator` says there cannot be changed.
        rules = [{"urlPattern": "", **limits}] if layers else []
        return session.post("Network.emulateNetworkConditionsByRule", matchedNetworkConditions=rules)
    return session.post("Network.emulateNetworkConditions", **limits)


def _post_cpu_rate(session: Session, layers: Sequence[float]) -> PendingCall:
    return session.post("Emulation.setCPUThrottlingRate", rate=layers[-1] if layers else 1)


def _post_bypass(session: Session, layers: Sequence[bool]) -> PendingCall:
    return session.post("Network.setBypassServiceWorker", bypass=bool(layers))


EXTRA_HEADERS: Setting[Mapping[str, str]] = Setting(_post_headers, "Network")
CONDITIONS: Setting[NetworkConditions] = Setting(_post_conditions, "Network")
CPU_RATE: Setting[float] = Setting(_post_cpu_rate)
NO_SERVICE_WORKER: Setting[bool] = Setting(_post_bypass, "Network")
