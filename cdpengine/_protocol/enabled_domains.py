"""EnabledDomains: the first user of a domain enables it on the session, the last one disables it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains import NEEDS


class EnabledDomains:
    """The enabled domains of one session. `enable` and `disable` post the commands.

    `enable` gets the domain, and whether to send it although the renderer is dead. It raises SessionGoneError,
    TargetCrashedError and ConnectionLostError.
    """

    def __init__(self, enable: Callable[[str, bool], SharedCall], disable: Callable[[str], None]) -> None:
        self._enable = enable
        self._disable = disable
        self.users: dict[str, int] = {}
        self._enabling: dict[str, SharedCall] = {}

    def is_enabling(self, domain: str) -> bool:
        """Return whether the `enable` of a domain is pending; events before its reply are outdated."""
        enabling = self._enabling.get(domain)
        return enabling is not None and not enabling.done

    @property
    def pending(self) -> list[SharedCall]:
        """The `enable` calls without a reply."""
        return [call for call in self._enabling.values() if not call.done]

    def acquire(self, *domains: str, also_crashed: bool = False) -> list[SharedCall]:
        """Enable domains as in `Session.enabled`, without a block or waiting. Return the pending `enable` calls.

        `release` undoes it. Raises SessionGoneError, TargetCrashedError, ConnectionLostError, and then
        holds no domain.
        """
        added: list[str] = []
        try:
            for domain in _with_needs(domains):
                added.append(domain)
                if self.add_user(domain):
                    self._enabling[domain] = self._enable(domain, also_crashed)
        except BaseException:
            self._release(added)
            raise
        return [self._enabling[domain] for domain in added if domain in self._enabling]

    def add_user(self, domain: str) -> bool:
        """Add one user to the domain. Return whether it is the first, which has to send `enable`."""
        count = self.users.get(domain, 0)
        self.users[domain] = count + 1
        return count == 0

    def release(self, *domains: str) -> None:
        """Remove one user of each domain, and disable the domains without users.

        Sends in order and does not wait: the next command finds the domain off, and a hanging page would not
        answer.
        """
        self._release(_with_needs(domains))

    def _release(self, domains: Sequence[str]) -> None:
        for domain in reversed(domains):
            self.users[domain] -= 1
            if self.users[domain]:
                continue
            del self.users[domain]
            if (enabling := self._enabling.pop(domain, None)) is not None:
                enabling.abandon()
            self._disable(domain)


def _with_needs(domains: Sequence[str]) -> list[str]:
    """Return the domains, each after the domains that it needs."""
    return [need for name in domains for need in (*NEEDS.get(name, ()), name)]
