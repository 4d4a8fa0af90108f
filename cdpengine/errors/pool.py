"""Errors of pools and clusters: ended leases, missing browsers, lost workers."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import listed


@attrs.define(eq=False, slots=False, str=False, repr=False)
class LeaseEndedError(EngineError):
    """The browser of a leased page ended or was replaced during the block.

    `browser` is its name in the pool ("browser 2.1" is the first browser of the second member), `reason` the
    cause.
    """

    browser: str
    reason: str

    def _describe(self) -> str:
        return f"the lease of a page of {self.browser} ended: {self.reason}. Lease another one to continue"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PoolUnavailableError(EngineError):
    """A pool or a cluster has no page for `action`. `reasons` has the last failure of each browser.

    `closed`: the pool drains or was stopped, or its block has ended or not begun. Otherwise no browser was usable,
    or the cluster's scheduler or workers were not; a later attempt may succeed.
    """

    action: str
    reason: str
    reasons: Sequence[str] = ()
    closed: bool = False

    def _describe(self) -> str:
        reasons = f":{listed(self.reasons, '.reasons', last=True)}" if self.reasons else ""
        return f"cannot {self.action}: {self.reason}{reasons}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class JobCancelledError(EngineError):
    """The job was cancelled by its number, `index`, before it ended."""

    index: int

    def _describe(self) -> str:
        return f"job {self.index} was cancelled"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class WorkerLostError(EngineError):
    """The worker with a cluster's job was lost before the job's result was fetched.

    `worker` is its address. The job may have been done not at all, in part, or completely.
    """

    worker: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the worker {self.worker} was lost with a job: {self.reason}. The job may have been done, in part or "
            "completely; pass `retries` if it is safe to repeat"
        )
