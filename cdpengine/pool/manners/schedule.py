"""The schedule of visits to hosts. Pure: it has no clock and never waits.

Rule: `begin` either begins a visit, or changes nothing and returns the time to ask again. A host has at most
`at_once` running visits, two visits begin no closer than the delay, and none begins during a pause. Hosts are
independent. A host whose history has no more effect is forgotten.

All times are seconds of one monotonic clock, such as `trio.current_time()`.
"""

from __future__ import annotations

import math

import attrs

from cdpengine._checks import check_count, check_number, checked

_FEWEST_TO_FORGET = 1_024
"""Number of remembered hosts above which outdated hosts are removed."""


@attrs.define(eq=False)
class _HostState:
    under_way: int = 0
    last_start: float = -math.inf
    paused_until: float = -math.inf


_SECONDS = checked(check_number, least=0, unit="seconds")


@attrs.define(eq=False)
class HostSchedule:
    """The next allowed visit of each host.

    `at_once`: maximum number of running visits of a host. `delay`: minimum seconds between the starts of two
    visits. `longest_delay` and `longest_pause`: upper bounds for the values that a host requests (Crawl-delay,
    Retry-After).
    """

    at_once: int = attrs.field(default=2, validator=checked(check_count, least=1))
    delay: float = attrs.field(default=1.0, validator=_SECONDS)
    longest_delay: float = attrs.field(default=60.0, validator=_SECONDS, kw_only=True)
    longest_pause: float = attrs.field(default=600.0, validator=_SECONDS, kw_only=True)
    _hosts: dict[str, _HostState] = attrs.field(factory=dict, init=False, repr=False)
    _look_at: int = attrs.field(default=_FEWEST_TO_FORGET, init=False, repr=False)

    def begin(self, host: str, now: float, *, delay: float = 0.0) -> float | None:
        """Begin a visit if it is allowed now, and return None. Call `end` once after it.

        Otherwise return the time to ask again; `math.inf` if a visit of this host must end first. `delay` is the
        value requested by the host; the longer delay applies.
        """
        state = self._hosts.get(host)
        if state is None:
            self._forget_old(now)
            state = self._hosts[host] = _HostState()
        elif state.under_way >= self.at_once:
            return math.inf
        earliest = max(state.paused_until, state.last_start + max(self.delay, min(delay, self.longest_delay)))
        if now < earliest:
            return earliest
        state.under_way += 1
        state.last_start = now
        return None

    def end(self, host: str) -> None:
        """End a visit."""
        state = self._hosts.get(host)
        if state is None or not state.under_way:
            raise RuntimeError("a visit was ended that had not begun")
        state.under_way -= 1

    def pause(self, host: str, now: float, seconds: float) -> float:
        """Block new visits of a host for at most `longest_pause` seconds. Return the remaining seconds.

        Running visits continue. A pause is never shortened.
        """
        state = self._hosts.get(host)
        if state is None:
            self._forget_old(now)
            state = self._hosts[host] = _HostState()
        state.paused_until = max(state.paused_until, now + min(max(seconds, 0.0), self.longest_pause))
        return max(0.0, state.paused_until - now)

    def under_way(self, host: str) -> int:
        """Return the number of running visits of a host."""
        state = self._hosts.get(host)
        return 0 if state is None else state.under_way

    def __len__(self) -> int:
        """Return the number of remembered hosts."""
        return len(self._hosts)

    def _forget_old(self, now: float) -> None:
        """Remove the hosts whose history has no more effect. Takes constant time for each added host."""
        if len(self._hosts) < self._look_at:
            return
        retention = max(self.delay, self.longest_delay)
        self._hosts = {
            host: state
            for host, state in self._hosts.items()
            if state.under_way or now < max(state.paused_until, state.last_start + retention)
        }
        self._look_at = max(_FEWEST_TO_FORGET, 2 * len(self._hosts))
