"""HostSchedule: when a host may be visited next. Pure: it has no clock, and waits for nothing.

Rule: `begin` either begins a visit, or changes nothing and says when to ask again. At one host at most `at_once`
visits are under way, two begin no closer than the delay, and none begins before a pause has ended. Hosts have
nothing to do with each other. A host whose past says nothing any more takes no memory.

All moments are seconds of one clock that only goes forward, such as `trio.current_time()`.
"""

from __future__ import annotations

import math

import attrs

from cdpengine.errors import InvalidArgumentError

_FEWEST_TO_FORGET = 1_024
"""Hosts from which on it is worth to look for those that can be forgotten."""


@attrs.define(eq=False)
class _HostState:
    under_way: int = 0
    last_start: float = -math.inf
    paused_until: float = -math.inf


def _check_seconds(_instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidArgumentError(
            what=attribute.name, given=repr(value)[:80], expected="seconds, 0 or more, and not without end"
        )


@attrs.define(eq=False)
class HostSchedule:
    """What each host may be asked next.

    `at_once`: how many visits of one host may be under way. `delay`: seconds between the beginnings of two, at
    least. `longest_delay` and `longest_pause`: no host gets more than these, whatever it asks for (Crawl-delay,
    Retry-After).
    """

    at_once: int = attrs.field(default=2)
    delay: float = attrs.field(default=1.0, validator=_check_seconds)
    longest_delay: float = attrs.field(default=60.0, validator=_check_seconds, kw_only=True)
    longest_pause: float = attrs.field(default=600.0, validator=_check_seconds, kw_only=True)
    _hosts: dict[str, _HostState] = attrs.field(factory=dict, init=False, repr=False)
    _look_at: int = attrs.field(default=_FEWEST_TO_FORGET, init=False, repr=False)

    @at_once.validator
    def _check_at_once(self, _attribute: object, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidArgumentError(what="at_once", given=repr(value)[:80], expected="a number, 1 or more")

    def begin(self, host: str, now: float, *, delay: float = 0.0) -> float | None:
        """Begin a visit, if one may begin now: then return None, and `end` has to be called once for it.

        Otherwise return the moment to ask again: `math.inf` where a visit of this host has to end before. `delay`
        is what this host asks for itself; the longer one of the two counts.
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
        """End a visit that began."""
        state = self._hosts.get(host)
        if state is None or not state.under_way:
            raise RuntimeError("a visit was ended that had not begun")
        state.under_way -= 1

    def pause(self, host: str, now: float, seconds: float) -> float:
        """Let no visit of a host begin for so many seconds, `longest_pause` at most; return the seconds left now.

        What is under way goes on. A pause that is under way is never made shorter.
        """
        state = self._hosts.get(host)
        if state is None:
            self._forget_old(now)
            state = self._hosts[host] = _HostState()
        state.paused_until = max(state.paused_until, now + min(max(seconds, 0.0), self.longest_pause))
        return max(0.0, state.paused_until - now)

    def under_way(self, host: str) -> int:
        """Return how many visits of a host are under way."""
        state = self._hosts.get(host)
        return 0 if state is None else state.under_way

    def __len__(self) -> int:
        """How many hosts are remembered."""
        return len(self._hosts)

    def _forget_old(self, now: float) -> None:
        """Forget the hosts whose past says nothing any more. Costs a constant for each host that is added."""
        if len(self._hosts) < self._look_at:
            return
        kept = max(self.delay, self.longest_delay)
        self._hosts = {
            host: state
            for host, state in self._hosts.items()
            if state.under_way or now < max(state.paused_until, state.last_start + kept)
        }
        self._look_at = max(_FEWEST_TO_FORGET, 2 * len(self._hosts))
