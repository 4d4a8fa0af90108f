"""Functions, items and results as bytes, with a specific error for values that cannot be sent.

Rule: Dask transports bytes that were pickled and tested here. Otherwise, Dask would fail on an unpicklable value
when it fetches a result, treat the result as lost, and repeat the job forever. Functions and classes of a
program's main module are sent with their code (cloudpickle), others by name, unless `send_with_code` is called for
their module.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from types import ModuleType
from typing import Any, cast

import attrs

from cdpengine.errors import InvalidArgumentError, PoolUnavailableError, packages_named
from cdpengine.pool.jobs import Attempt, JobFunction, JobOptions, JobResult


@attrs.frozen
class JobTask:
    """The common part of all items of a `map`: the function and its options."""

    function: JobFunction[Any, Any]
    options: JobOptions


def send_with_code(module: ModuleType) -> None:
    """Send functions and classes of a module with their code, as for those of the main program."""
    with packages_named():
        import cloudpickle
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def pack(what: str, value: object) -> bytes:
    """Return a value as bytes; `what` is its name in the error. Raises InvalidArgumentError."""
    with packages_named():
        import cloudpickle
    try:
        return cast("bytes", cloudpickle.dumps(value))  # type: ignore[no-untyped-call]
    except Exception as error:
        raise _unsendable(what, error) from error


def unpack(what: str, data: bytes) -> Any:
    """Return the value that `pack` converted to bytes. Raises InvalidArgumentError."""
    try:
        return pickle.loads(data)  # noqa: S301 - both ends are one program, on machines that run its code anyway
    except Exception as error:
        raise _unsendable(what, error) from error


@lru_cache(maxsize=32)
def unpack_task(data: bytes) -> JobTask:
    """Return the task of a `map`; the same object for all its items, so that its module's state is kept."""
    return cast("JobTask", unpack("the function", data))


def pack_result(result: JobResult[Any]) -> bytes:
    """Return a result as bytes, without its item.

    If its value or an error cannot be sent, a result with InvalidArgumentError replaces it.
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
    except InvalidArgumentError as error:
        attempts = (*attempts[:-1], *(attrs.evolve(each, error=error) for each in attempts[-1:]))
        return pack("the result", JobResult(result.index, None, None, error, attempts))


def unpack_result(data: bytes, index: int, item: object) -> JobResult[Any]:
    """Return the result that the bytes contain, or a result with the error if they cannot be read here."""
    try:
        return attrs.evolve(unpack("the result", data), index=index, item=item)
    except InvalidArgumentError as error:
        return JobResult(index, item, None, error, ())


def lost_attempts(result: JobResult[Any], lost: tuple[Attempt, ...], worker: str) -> JobResult[Any]:
    """Return a result whose attempts name the worker, after the attempts on lost workers."""
    own = (
        attrs.evolve(each, browser=f"{each.browser or 'a browser'} of {worker}") for each in result.attempts
    )
    return attrs.evolve(result, attempts=(*lost, *own))


def _sendable(error: Exception | None) -> Exception | None:
    """Return an error, or an InvalidArgumentError with its message if it cannot be sent completely."""
    if error is None:
        return None
    try:
        again = pickle.loads(pack("the error", error))  # noqa: S301
    except Exception:  # noqa: BLE001 - whatever its classes raise
        again = None
    if type(again) is type(error):
        return error
    return _unsendable("the error of a job", error)


def unavailable_error(scheduler: str, reason: str) -> PoolUnavailableError:
    """Return the error for a scheduler or workers that cannot be used."""
    return PoolUnavailableError(f"use the cluster at {scheduler}", reason)


def _unsendable(what: str, error: Exception) -> InvalidArgumentError:
    reason = f"{type(error).__name__}: {error}"
    return InvalidArgumentError(
        what, f"a value that cannot be sent between processes ({reason})", "a plain value, such as a snapshot"
    )
