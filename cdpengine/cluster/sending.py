"""Functions, items and results as bytes, so that each that cannot be sent is an error with a name.

Rule: what Dask carries is bytes that were pickled and tried here. Dask itself would meet what cannot be pickled
when it fetches a result, would take that for a lost worker, and do the job again without an end. Functions and
classes of a program's main module are sent with their code (cloudpickle), all others by their names, unless
`send_with_code` says otherwise of their module.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from types import ModuleType
from typing import Any, cast

import attrs

from cdpengine.errors import NotSendableError, packages_named
from cdpengine.pool.jobs import Attempt, JobFunction, JobOptions, JobResult


@attrs.frozen
class JobTask:
    """What all items of a `map` have in common: the function, and how it is done."""

    function: JobFunction[Any, Any]
    options: JobOptions


def send_with_code(module: ModuleType) -> None:
    """Have functions and classes of a module go with their code, as those of the main program do."""
    with packages_named():
        import cloudpickle
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def pack(what: str, value: object) -> bytes:
    """Return a value as bytes; `what` is what it is called in the error. Raises NotSendableError."""
    with packages_named():
        import cloudpickle
    try:
        return cast("bytes", cloudpickle.dumps(value))  # type: ignore[no-untyped-call]
    except Exception as error:
        raise NotSendableError(what=what, reason=_reason(error)) from error


def unpack(what: str, data: bytes) -> Any:
    """Return the value of bytes of `pack`. Raises NotSendableError."""
    try:
        return pickle.loads(data)  # noqa: S301 - both ends are one program, on machines that run its code anyway
    except Exception as error:
        raise NotSendableError(what=what, reason=_reason(error)) from error


@lru_cache(maxsize=32)
def unpack_task(data: bytes) -> JobTask:
    """Return the task of a `map`; the same one for all its items, so that what its module keeps lasts."""
    return cast("JobTask", unpack("the function", data))


def pack_result(result: JobResult[Any]) -> bytes:
    """Return a result as bytes, without its item.

    Where its value or an error cannot be sent, it is a result that says so.
    """
    errors = {
        id(error): _sendable(error) for error in (result.error, *(each.error for each in result.attempts))
    }
    attempts = tuple(attrs.evolve(each, error=errors[id(each.error)]) for each in result.attempts)
    try:
        return pack(
            "the value of a job",
            attrs.evolve(result, item=None, error=errors[id(result.error)], attempts=attempts),
        )
    except NotSendableError as error:
        attempts = (*attempts[:-1], *(attrs.evolve(each, error=error) for each in attempts[-1:]))
        return pack("the result", JobResult(result.index, None, None, error, attempts))


def unpack_result(data: bytes, index: int, item: object) -> JobResult[Any]:
    """Return the result behind bytes, or one that says why they cannot be read here."""
    try:
        return attrs.evolve(unpack("the result", data), index=index, item=item)
    except NotSendableError as error:
        return JobResult(index, item, None, error, ())


def lost_attempts(result: JobResult[Any], lost: tuple[Attempt, ...], worker: str) -> JobResult[Any]:
    """Return a result whose attempts name the worker, after those that were lost with other workers."""
    own = (
        attrs.evolve(each, browser=f"{each.browser or 'a browser'} of {worker}") for each in result.attempts
    )
    return attrs.evolve(result, attempts=(*lost, *own))


def _sendable(error: Exception | None) -> Exception | None:
    """Return an error, or in place of one that does not come through whole, one that has its words."""
    if error is None:
        return None
    try:
        again = pickle.loads(pack("the error", error))  # noqa: S301
    except Exception:  # noqa: BLE001 - whatever its classes raise
        again = None
    if type(again) is type(error):
        return error
    return NotSendableError(what="the error of a job", reason=f"{type(error).__name__}: {error}")


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
