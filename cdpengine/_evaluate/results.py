"""What Chrome answers to an evaluation, as Python values and errors. Pure.

Rule: a value comes back as itself; a script that threw, and a script that somebody ended, are two errors.
"""

from __future__ import annotations

from typing import Any

from cdpengine._protocol.domains.runtime import EvaluateReply, ExceptionDetails, RemoteObject
from cdpengine.errors import EngineError, EvaluationFailedError, EvaluationTerminatedError, RemoteError

_SPECIAL_NUMBERS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "-0": "-0.0"}

_ENDED = {
    "Internal error": "a termination hit every script of this page's process, this one too",
    "Execution was terminated": "a termination hit every script of this page's process, this one too",
    "Inspected target navigated or closed": "the page navigated away or was closed",
    "Execution context was destroyed.": "the page navigated away",
    "Cannot find context with specified id": "the page navigated away",
}


def to_python(reply: EvaluateReply) -> Any:
    """Return the value of a reply that was asked for by value. Raises EvaluationFailedError when the script threw.

    undefined and null are None, a BigInt is an int, NaN, the infinities and -0 are floats.
    """
    if reply.exception_details is not None:
        raise _failed(reply.exception_details)
    special = reply.result.unserializable_value
    if special is None:
        return reply.result.value
    if special in _SPECIAL_NUMBERS:
        return float(_SPECIAL_NUMBERS[special])
    if reply.result.type == "bigint":
        return _integer(special.removesuffix("n"))
    return special


def _integer(digits: str) -> int:
    # In pieces: Python refuses to read large numbers in base 10 at once.
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    value = 0
    for start in range(0, len(digits), _DIGITS):
        piece = digits[start : start + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


_DIGITS = 600
"""Digits that Python always reads at once (sys.set_int_max_str_digits takes no less than 640)."""


def explain(error: RemoteError) -> EngineError:
    """Turn Chrome's refusal of an evaluation into what it means; one not known here stays as it is."""
    if reason := _ENDED.get(error.message):
        return EvaluationTerminatedError(reason=reason)
    if error.message == "Promise was collected":
        return EvaluationFailedError(
            text="its promise can never settle: nothing holds it any more", threw=False
        )
    if error.message.startswith(("Object reference chain", "Object couldn't be returned")):
        return EvaluationFailedError(
            text=f"{error.message} (a cycle, or nested too deeply). Return the parts that you need",
            threw=False,
        )
    return error


def _failed(details: ExceptionDetails) -> EvaluationFailedError:
    exception = details.exception
    text, stack = details.text, ""
    if exception is not None and exception.description:
        # An Error's description is its message, then its stack, each frame on a line "    at ...".
        text, separator, frames = exception.description.partition("\n    at ")
        stack = (separator + frames).lstrip("\n")
    elif exception is not None:
        text = f"{details.text} {_thrown(exception)}".strip()
    if not stack and details.stack_trace is not None:
        stack = "\n".join(
            f"    at {frame.function_name or '<anonymous>'} "
            f"({frame.url}:{frame.line_number + 1}:{frame.column_number + 1})"
            for frame in details.stack_trace.call_frames
        )
    return EvaluationFailedError(
        text=text, stack=stack, line=details.line_number, column=details.column_number
    )


def _thrown(exception: RemoteObject) -> str:
    if exception.unserializable_value is not None:
        return exception.unserializable_value
    return "undefined" if exception.type == "undefined" else repr(exception.value)[:200]
