"""Replies of scripts, as values or exceptions.

Rule: a script's value is requested by reference, so a primitive arrives with the reply, at no cost. Any other
value is read in one more call, in the page: plain JSON data as JSON text, other values by V8's deep serialization,
which keeps types and identity whatever the page did to its built-ins. JSON text is accepted only if JSON.stringify
is V8's own function, which V8 confirms in the same round trip.
"""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from cdpengine import _json
from cdpengine._evaluate.literals import to_literal
from cdpengine._evaluate.values import LARGEST_EXACT, deserialize
from cdpengine._javascript import own, script
from cdpengine._json_values import SPECIAL_NUMBERS
from cdpengine._page.scripts.node_lists import deep
from cdpengine._page.scripts.page_functions import OBJECT, ObjectGroup, RemoteHandle
from cdpengine._protocol.calls import NEIGHBOR_STOPPED, PendingCall, pending_group
from cdpengine._protocol.domains.runtime import EvaluateReply, ExceptionDetails, RemoteObject
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    EngineError,
    EvaluationFailedError,
    EvaluationTerminatedError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
)

_ENDED = {
    "Internal error": NEIGHBOR_STOPPED,
    "Execution was terminated": NEIGHBOR_STOPPED,
    "Inspected target navigated or closed": "the page navigated away or was closed",
    "Execution context was destroyed.": "the page navigated away",
    "Cannot find context with specified id": "the page navigated away",
}


def to_python(reply: EvaluateReply) -> Any:
    """Return the Python value of a reply requested by value. Raises EvaluationFailedError if the script threw.

    undefined and null become None, a BigInt an int, NaN, the infinities and -0 floats.
    """
    if reply.exception_details is not None:
        raise _explain_exception(reply.exception_details)
    special = reply.result.unserializable_value
    if special is None:
        return reply.result.value
    if special in SPECIAL_NUMBERS:
        return SPECIAL_NUMBERS[special]
    if reply.result.type == "bigint":
        return _read_integer(special.removesuffix("n"))
    return special


def source_of_primitive(found: RemoteObject) -> str:
    """Return the JavaScript source of a value that is not an object."""
    if found.unserializable_value is not None:
        return found.unserializable_value
    if found.type == "number":  # an int outside of ±2^53 is a BigInt as an argument
        return repr(float(found.value))
    return "undefined" if found.type == "undefined" else to_literal(found.value)


_DIGITS = 600
"""Digits that Python always converts in one step (sys.set_int_max_str_digits allows no less than 640)."""


def explain_refusal(error: RemoteError) -> EngineError:
    """Return the engine's error for Chrome's refusal of an evaluation; unknown refusals are returned unchanged."""
    if reason := _ENDED.get(error.message):
        return EvaluationTerminatedError(reason=reason)
    if "same JavaScript world" in error.message:
        expected = "nodes of one document"
        return InvalidArgumentError(what="nodes", given="nodes of several frames", expected=expected)
    if error.message == "Promise was collected":
        return EvaluationFailedError(text="its promise can never settle: no code refers to it", threw=False)
    if error.message.startswith(("Object reference chain", "Object couldn't be returned")):
        return EvaluationFailedError(
            text=f"{error.message} (a cycle, or nested too deeply). Return the parts that you need",
            threw=False,
        )
    return error


LARGEST_VALUE = 64 * 2**20
"""Approximate maximum size of a serialized value, in characters. Chrome's own limit is 256 MB."""

_JSON_LEVELS = 500
"""Maximum depth of plain data, the same as for an argument."""

_DEEP_LEVELS = 90
"""Maximum depth of other values. Chrome's limit is 300 JSON levels, and an object level takes three of them."""

_MAYBE_JSON = (None, "array", "proxy")
"""Subtypes of possible plain data; V8 determines them independently of the object's prototype."""

_DEEP = deep(1000)


def holds_objects(reply: EvaluateReply) -> bool:
    """Return whether Chrome keeps an object of the reply in its object group, which must then be released."""
    return reply.result.object_id is not None or reply.exception_details is not None


class _Read(msgspec.Struct, rename="camel"):
    deep_serialized_value: Any = None


class _ReadReply(msgspec.Struct, rename="camel"):
    result: _Read
    exception_details: ExceptionDetails | None = None


async def receive_value(
    session: Session, reply: EvaluateReply, group: ObjectGroup, *, largest: int = LARGEST_VALUE
) -> Any:
    """Return the value of a reply requested with `returnByValue` false, converted as in `values`.

    The object group `group` has the objects that Chrome keeps for it; the caller releases it in any case.

    Reading runs in the page: it calls getters and the traps of a Proxy, more than once, and they may never end. So
    the budget of the script must include it.

    Raises EvaluationFailedError if the script or a getter threw or the value is too large,
    EvaluationTerminatedError if the page navigated before the value was read.
    """
    result = reply.result
    if result.object_id is None or reply.exception_details is not None:
        return _check_primitive(to_python(reply), result.type, largest)
    value = RemoteHandle(session, result.object_id)
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        if result.subtype in _MAYBE_JSON:
            with pending_group() as post:
                reading = post(_post_read(value, group, largest, may_be_json=True))
                stringify = post(value.post(_STRINGIFY, how=OBJECT, group=group))
                answer = await _answer_of(reading)
                if (
                    not _is_json(answer)
                    or (await stringify.decoded(EvaluateReply)).result.description == _NATIVE_STRINGIFY
                ):
                    return _read_answer(answer, largest)
        return _read_answer(await _answer_of(_post_read(value, group, largest, may_be_json=False)), largest)
    except RemoteError as error:
        raise _explain_unread(error) from None


_STRINGIFY = own("function () { return JSON.stringify; }")
_NATIVE_STRINGIFY = "function stringify() { [native code] }"
"""V8's description of its JSON.stringify. No function of a page can have it, and no page can change it."""


def _post_read(value: RemoteHandle, group: ObjectGroup, largest: int, *, may_be_json: bool) -> PendingCall:
    request = {
        "mayBeJSON": may_be_json,
        "size": largest,
        "jsonLevels": _JSON_LEVELS,
        "deepLevels": _DEEP_LEVELS,
    }
    # Not marked as the engine's own script, because its value is the user's. Not repeated after a termination,
    # because the getters that it calls may be the script that had to be terminated.
    return value.post(script("_evaluate/value"), request, how=_DEEP, group=group, repeats=False)


async def _answer_of(reading: PendingCall) -> Any:
    read = await reading.decoded(_ReadReply)
    if read.exception_details is not None:
        to_python(EvaluateReply(result=RemoteObject(), exception_details=read.exception_details))
    return read.result.deep_serialized_value


def _read_integer(digits: str) -> int:
    # In pieces, because Python refuses to read large numbers in base 10.
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    value = 0
    for start in range(0, len(digits), _DIGITS):
        piece = digits[start : start + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


def _explain_exception(details: ExceptionDetails) -> EvaluationFailedError:
    exception = details.exception
    text, stack = details.text, ""
    if exception is not None and exception.description:
        # An Error's description is its message, then its stack, each frame on a line "    at ...".
        text, separator, frames = exception.description.partition("\n    at ")
        stack = (separator + frames).lstrip("\n")
    elif exception is not None:
        text = f"{details.text} {_describe_thrown(exception)}".strip()
    if not stack and details.stack_trace is not None:
        stack = "\n".join(
            f"    at {frame.function_name or '<anonymous>'} "
            f"({frame.url}:{frame.line_number + 1}:{frame.column_number + 1})"
            for frame in details.stack_trace.call_frames
        )
    return EvaluationFailedError(
        text=text, stack=stack, line=details.line_number, column=details.column_number
    )


def _describe_thrown(exception: RemoteObject) -> str:
    if exception.unserializable_value is not None:
        return exception.unserializable_value
    return "undefined" if exception.type == "undefined" else repr(exception.value)[:200]


def _check_primitive(value: Any, kind: str, largest: int) -> Any:
    if isinstance(value, str) and len(value) > largest:
        raise _too_large_error(largest)
    if kind == "number" and abs(value) > LARGEST_EXACT:
        return float(value)
    return value


def _is_json(answer: Any) -> bool:
    match answer:
        case {"value": [{"value": "json"}, _]}:
            return True
    return False


def _read_answer(answer: Any, largest: int) -> Any:
    match answer:
        case {"value": [{"value": "json"}, {"value": str(text)}]}:
            return _read_json(text)
        case {"value": [{"value": "deep"}, value, {"value": list(details)}]}:
            return deserialize(value, details)
        case {"value": [{"value": "large"}]}:
            raise _too_large_error(largest)
        case {"value": [{"value": "nested"}]}:
            raise _too_deep_error()
    raise ProtocolError("Runtime.callFunctionOn answered without the requested value")


def _read_json(text: str) -> Any:
    try:
        return _json.decode(text)
    except msgspec.DecodeError:
        raise EvaluationFailedError(
            text="cannot read the result: the page overrides JSON.stringify"
        ) from None


def _explain_unread(error: RemoteError) -> Exception:
    if "deep serialization" in error.message:
        return EvaluationFailedError(text="cannot read the result: a getter threw")
    if "stack limit" in error.message:
        return _too_deep_error()
    return explain_refusal(error)


def _too_large_error(largest: int) -> EvaluationFailedError:
    return _not_returned(f"its size exceeds {largest} characters")


def _too_deep_error() -> EvaluationFailedError:
    return _not_returned(f"it is nested more than {_DEEP_LEVELS} levels deep ({_JSON_LEVELS} for plain data)")


def _not_returned(reason: str) -> EvaluationFailedError:
    return EvaluationFailedError(f"{reason}. Return the parts that you need", threw=False)
