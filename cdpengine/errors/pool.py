"""Errors of pools and clusters: ended leases, missing browsers or workers, unwritten or unsendable values."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import duration, listed


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
class PoolClosedError(EngineError):
    """The pool leases no more pages: it drains, was stopped, or its block ended. `action` is the attempt."""

    action: str
    reason: str

    def _describe(self) -> str:
        return f"cannot {self.action}: the pool {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PoolUnavailableError(EngineError):
    """No browser of the pool was usable for `seconds`. `reasons` has the result of each member's last attempt."""

    seconds: float
    reasons: Sequence[str]

    def _describe(self) -> str:
        reasons = listed(self.reasons, ".reasons", last=True)
        return f"the pool had no browser for {duration(self.seconds)}:{reasons}"


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


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ClusterUnavailableError(EngineError):
    """The scheduler at `scheduler` could not be reached, stopped answering, or has no worker with pages."""

    scheduler: str
    reason: str

    def _describe(self) -> str:
        return f"the cluster at {self.scheduler} cannot be used: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotSendableError(EngineError):
    """`what` cannot be sent between processes: one process cannot pickle it, or the other cannot read it."""

    what: str
    reason: str

    def _describe(self) -> str:
        return f"{self.what} cannot be sent between processes: {self.reason}"
