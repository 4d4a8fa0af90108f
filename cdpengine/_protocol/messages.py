"""The envelope of a protocol message, and the JSON of its payload.

Rule: decoding a message reads the envelope only. Parameters, results and errors stay raw JSON until the one
who asked for them decodes them, once, into the type that was asked for. Whatever Chrome adds to an envelope
is ignored; whatever it leaves out has a default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")


class Envelope(msgspec.Struct, gc=False):
    """Any message from the browser: a reply has an `id`, an event has a `method`. Payloads are raw JSON."""

    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")
    session_id: str | None = msgspec.field(default=None, name="sessionId")


class ErrorBody(msgspec.Struct):
    """The error of a reply, in Chrome's own words (JSON-RPC 2.0: code, message, data)."""

    code: int = 0
    message: str = "no message"
    data: Any = None


_decode_envelope = msgspec.json.Decoder(Envelope).decode
_encode = msgspec.json.Encoder().encode

_HALF = re.compile("[\ud800-\udfff]")

_TOO_DEEP = "the JSON is nested too deeply"


def decode_envelope(message: bytes | str) -> Envelope:
    """Read the envelope of one message. Raises msgspec.DecodeError when it is not one."""
    try:
        return _decode_envelope(message)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as refused:
        envelope = _decode_halves(message)
        if envelope is None:
            raise refused from None
        return envelope
    except UnicodeEncodeError:
        raise msgspec.DecodeError("the message holds half of a surrogate pair") from None
    except UnicodeDecodeError:
        raise msgspec.DecodeError("the message is not UTF-8") from None
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None


def envelope_or_none(message: bytes | str) -> Envelope | None:
    """Read the envelope of one message; None when it is not one."""
    try:
        return decode_envelope(message)
    except msgspec.DecodeError:
        return None


def _decode_halves(message: bytes | str) -> Envelope | None:
    """Read an envelope the slow way; None when the message is not one.

    JavaScript that cuts a text in the middle of an emoji makes strings with half a surrogate pair. Chrome sends
    them as escapes; the standard library reads them, msgspec refuses them even inside of what it leaves raw.
    """
    try:
        loaded = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, dict):
        return None
    payloads = {name: loaded.pop(name) for name in ("params", "result", "error") if name in loaded}
    envelope = msgspec.convert(loaded, Envelope)
    for name, payload in payloads.items():
        setattr(envelope, name, msgspec.Raw(json.dumps(payload, separators=(",", ":")).encode("ascii")))
    return envelope


def encode_call(call_id: int, method: str, params: Mapping[str, Any], session_id: str | None) -> bytes:
    """Return the JSON of one command.

    Raises InvalidArgumentError when a parameter has no JSON form. Strings with half a surrogate pair, which
    JavaScript allows and UTF-8 does not, are escaped and so arrive whole.
    """
    message: dict[str, Any] = {"id": call_id, "method": method, "params": params}
    if session_id is not None:
        message["sessionId"] = session_id
    try:
        return _encode(message)
    except UnicodeEncodeError:
        pass
    except (TypeError, ValueError, RecursionError) as error:
        raise _no_json(method, error) from None
    try:
        plain = msgspec.to_builtins(message, str_keys=True)
        return json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise _no_json(method, error) from None


def _no_json(method: str, error: Exception) -> InvalidArgumentError:
    return InvalidArgumentError(
        what=f"parameters of {method}",
        given=f"values that JSON cannot hold ({error})",
        expected="None, bool, numbers, str, list and dict",
    )


def decode_payload(raw: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Decode raw JSON straight into `kind` (a Struct, an attrs class, dict, ...).

    Raises msgspec.ValidationError when the JSON is of another shape, msgspec.DecodeError when it is not JSON
    or is nested deeper than Python's stack allows.
    msgspec refuses strings with half a surrogate pair, which pages do produce; those take the slower way
    through the standard library and keep the lone surrogate.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise
    except UnicodeDecodeError:
        raise msgspec.DecodeError("the JSON is not UTF-8") from None
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None
    except msgspec.DecodeError as refused:
        try:
            loaded = json.loads(bytes(raw))
            try:
                return msgspec.convert(loaded, type=kind)
            except (msgspec.ValidationError, UnicodeEncodeError):
                # A type with raw parts cannot be converted into; it gets U+FFFD in place of the halves.
                whole = _HALF.sub("\ufffd", json.dumps(loaded, ensure_ascii=False))
                return msgspec.json.decode(whole, type=kind)
        except msgspec.ValidationError:
            raise
        except ValueError:
            raise refused from None
        except RecursionError:
            raise msgspec.DecodeError(_TOO_DEEP) from None


def decode_error(raw: bytes | msgspec.Raw) -> ErrorBody:
    """Decode the error of a reply; one of an unknown shape becomes an ErrorBody that says so."""
    try:
        return decode_payload(raw, ErrorBody)
    except msgspec.DecodeError:
        return ErrorBody(code=0, message="an error of an unknown shape")
