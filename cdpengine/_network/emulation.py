"""What sessions can be told of the network and the processor: headers, conditions, how slow. As settings.

Rule: headers of all scopes go together, the latest winning by name; of conditions and slowness the latest holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cdpengine._network.headers import merged, secret_values
from cdpengine._network.setting import Setting
from cdpengine._network.words import NetworkConditions
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session


def _post_headers(session: Session, layers: Sequence[Mapping[str, str]]) -> PendingCall:
    headers = merged(layers)
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
