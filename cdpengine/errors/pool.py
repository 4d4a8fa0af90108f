"""Errors of pools and clusters: leases that ended, no browser, no worker, what cannot be written or sent."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import listed


@attrs.define(eq=False, slots=False, str=False, repr=False)
class LeaseEndedError(EngineError):
    """The browser of a leased page went away, or was replaced, before the block had ended.

    `browser` is its name in the pool ("browser 2.1": the second member's first), `reason` says what happened.
    """

    browser: str
    reason: str

    def _describe(self) -> str:
        return f"the lease of a page of {self.browser} ended: {self.reason}. Lease another one to go on"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PoolClosedError(EngineError):
    """The pool gives no pages any more: it drains, was stopped, or its block ended. `action`: what was asked."""

    action: str
    reason: str

    def _describe(self) -> str:
        return f"cannot {self.action}: the pool {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PoolUnavailableError(EngineError):
    """No browser of the pool could be used for `seconds`. `reasons` has what each member's last attempt met."""

    seconds: float
    reasons: Sequence[str]

    def _describe(self) -> str:
        return (
            f"the pool had no browser for {self.seconds:.3g} s:{listed(self.reasons, '.reasons', last=True)}"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class JobCancelledError(EngineError):
    """The job was cancelled by its number, `index`, before it had ended."""

    index: int

    def _describe(self) -> str:
        return f"job {self.index} was cancelled"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ResultsNotWrittenError(EngineError):
    """Results of many jobs could not be written to `path`.

    What it holds is whole; the jobs of the others count as not done.
    """

    path: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the results could not be written to {self.path}: {self.reason}. What was written before is whole; "
            "the same command goes on from there"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class WorkerLostError(EngineError):
    """The worker of a cluster that a job was given to was lost before its result was fetched.

    `worker` is its address. The job may have been done: not at all, in part, or to its end.
    """

    worker: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the worker {self.worker} was lost with a job: {self.reason}. The job may have been done, in part or "
            "wholly; give `retries` where it can be done again without harm"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ClusterUnavailableError(EngineError):
    """The scheduler at `scheduler` could not be reached, does not answer any more, or has no worker with pages."""

    scheduler: str
    reason: str

    def _describe(self) -> str:
        return f"the cluster at {self.scheduler} cannot be used: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NotSendableError(EngineError):
    """`what` cannot go from one process to another: it cannot be pickled there, or not be read here."""

    what: str
    reason: str

    def _describe(self) -> str:
        return f"{self.what} cannot be sent between processes: {self.reason}"
