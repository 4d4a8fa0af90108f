"""Bringing a value out of the page.

Rule: a script is asked for its value by reference, so a primitive comes with the reply, at no cost. Anything
else is read in one more call, which looks at it where it is: plain JSON data comes as JSON text, everything
else by V8's deep serialization, which tells types and identity whatever the page did to its built-ins.
"""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from cdpengine._evaluate.deserialize import deserialize, number
from cdpengine._evaluate.results import explain, to_python
from cdpengine._page.scripts.page_functions import ObjectGroup, RemoteHandle, deep
from cdpengine._protocol.domains.runtime import EvaluateReply, ExceptionDetails, RemoteObject
from cdpengine._protocol.messages import decode_payload
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    EvaluationFailedError,
    ProtocolError,
    RemoteError,
    ValueTooLargeError,
)
from cdpengine.js import script

LARGEST_VALUE = 64 * 2**20
"""Characters of a value's serialization, roughly. Chrome itself answers with up to 256 MB and no more."""

_JSON_LEVELS = 500
"""Levels of plain data; as many as an argument may have."""

_DEEP_LEVELS = 90
"""Levels of anything else. Chrome gives up at 300 levels of JSON, and an object level takes three of them."""

_MAYBE_JSON = (None, "array", "proxy")
"""Subtypes of what can be plain data; V8 knows them whatever prototype the page gave to the object."""

_DEEP = deep(1000)


def holds_objects(reply: EvaluateReply) -> bool:
    """Tell whether Chrome keeps something under the reply's object group, which must then be released."""
    return reply.result.object_id is not None or reply.exception_details is not None


class _Read(msgspec.Struct, rename="camel"):
    deep_serialized_value: Any = None


class _ReadReply(msgspec.Struct, rename="camel"):
    result: _Read
    exception_details: ExceptionDetails | None = None


async def receive_value(
    session: Session, reply: EvaluateReply, group: ObjectGroup, *, largest: int = LARGEST_VALUE
) -> Any:
    """Return the value of a reply that was asked for with `returnByValue` false, as `values` tells.

    What Chrome keeps for it is in the object group `group`; the caller releases that, however this ends.

    Reading runs in the page: getters and the traps of a Proxy are called, more than once, and may never end. So
    this belongs into the same budget as the script.

    Raises EvaluationFailedError when the script threw, or a getter did; ValueTooLargeError;
    EvaluationTerminatedError when the page went away before the value was read.
    """
    result = reply.result
    if result.object_id is None or reply.exception_details is not None:
        return _primitive(to_python(reply), result.type, largest)
    request = {
        "mayBeJSON": result.subtype in _MAYBE_JSON,
        "size": largest,
        "jsonLevels": _JSON_LEVELS,
        "deepLevels": _DEEP_LEVELS,
    }
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        # Not noted as the engine's own script: what it returns is the user's.
        call = RemoteHandle(session, result.object_id).post(script("value"), request, how=_DEEP, group=group)
        read = await call.decoded(_ReadReply)
    except RemoteError as error:
        raise _refused(error) from None
    if read.exception_details is not None:
        to_python(EvaluateReply(result=RemoteObject(), exception_details=read.exception_details))
    return _received(read.result.deep_serialized_value, largest)


def _primitive(value: Any, kind: str, largest: int) -> Any:
    if isinstance(value, str) and len(value) > largest:
        raise _too_large(largest)
    return number(value) if kind == "number" else value


def _received(answer: Any, largest: int) -> Any:
    match answer:
        case {"value": [{"value": "json"}, {"value": str(text)}]}:
            return _decoded(text)
        case {"value": [{"value": "deep"}, value, {"value": list(details)}]}:
            return deserialize(value, details)
        case {"value": [{"value": "large"}]}:
            raise _too_large(largest)
        case {"value": [{"value": "nested"}]}:
            raise _too_deep()
    raise ProtocolError("Runtime.callFunctionOn answered without the value that it was asked for")


def _decoded(text: str) -> Any:
    try:
        return decode_payload(text.encode(), object)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise EvaluationFailedError(
            text="its value cannot be read: the page replaced JSON.stringify"
        ) from None


def _refused(error: RemoteError) -> Exception:
    if "deep serialization" in error.message:
        return EvaluationFailedError(text="its value cannot be read: a getter threw")
    if "stack limit" in error.message:
        return _too_deep()
    return explain(error)


def _too_large(largest: int) -> ValueTooLargeError:
    return ValueTooLargeError(text=f"it takes more than {largest} characters")


def _too_deep() -> ValueTooLargeError:
    return ValueTooLargeError(
        text=f"it is nested more than {_DEEP_LEVELS} levels deep ({_JSON_LEVELS} where all of it is plain data)"
    )
