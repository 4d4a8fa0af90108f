"""Console messages, errors and values in events, and the memory of exchanges, tested as pure functions."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest

import cdpengine
from cdpengine._activity.bodies import (
    Body,
    Incoming,
    charset_of,
    json_of,
    restore_bytes,
    text_of,
)
from cdpengine._activity.console import PageError, all_frames
from cdpengine._activity.exchange import Exchanges
from cdpengine._activity.options import ActivityOptions, KeepBodies, check_options
from cdpengine._activity.values import Unread, format_argument, format_message, value_in_event
from cdpengine._headers import HeaderMapping
from cdpengine._protocol.domains.network import REQUEST_EVENTS
from cdpengine._protocol.domains.runtime import ExceptionThrown, RemoteArgument, StackTrace
from cdpengine._protocol.messages import decode_payload


def argument(**told: Any) -> RemoteArgument:
    return decode_payload(json.dumps(told).encode(), RemoteArgument)


def preview(*properties: tuple[str, str, str | None], overflow: bool = False, **told: Any) -> RemoteArgument:
    listed = [{"name": name, "type": kind, "value": value} for name, kind, value in properties]
    description = f"Array({len(listed)})" if told.get("subtype") == "array" else "Object"
    told = {"type": "object", "className": "Object", "description": description, "objectId": "1"} | told
    return argument(**told, preview={"overflow": overflow, "properties": listed})


ARRAY: dict[str, Any] = {"subtype": "array", "className": "Array"}


@pytest.mark.parametrize(("told", "value"), [
    ({"type": "string", "value": "é\ud800"}, "é\ud800"),
    ({"type": "number", "value": 1.5}, 1.5),
    ({"type": "number", "value": 2**60}, float(2**60)),
    ({"type": "number", "unserializableValue": "-0"}, -0.0),
    ({"type": "number", "unserializableValue": "-Infinity"}, -math.inf),
    ({"type": "bigint", "unserializableValue": "-12345678901234567890n"}, -12345678901234567890),
    ({"type": "boolean", "value": False}, False),
    ({"type": "undefined"}, None),
    ({"type": "object", "subtype": "null", "value": None}, None),
])  # fmt: skip
def test_primitives_are_exact(told: dict[str, Any], value: object) -> None:
    found = value_in_event(argument(**told))
    assert found == value
    assert type(found) is type(value)
    if isinstance(value, float) and isinstance(found, float):
        assert math.copysign(1, found) == math.copysign(1, value)


@pytest.mark.parametrize(("remote", "value"), [
    (preview(("a", "number", "1"), ("b", "string", "x"), ("c", "boolean", "true")), {"a": 1, "b": "x", "c": True}),
    (preview(("n", "number", "1e+21"), ("z", "number", "-0"), ("u", "undefined", "undefined")), {"n": 1e21, "z": -0.0, "u": None}),
    (preview(("0", "number", "7"), ("1", "bigint", "5n"), **ARRAY), [7, 5]),
    (preview(**ARRAY), []),
    (preview(), {}),
])  # fmt: skip
def test_small_plain_objects_are_at_hand(remote: RemoteArgument, value: object) -> None:
    assert value_in_event(remote) == value


@pytest.mark.parametrize("remote", [
    preview(("a", "number", "1"), overflow=True),
    preview(("a", "object", "Object")),
    preview(("a", "accessor", None)),
    preview(("a", "string", "x" * 100)),
    preview(("Symbol(a)", "number", "1")),
    preview(("0", "number", "7"), ("2", "number", "8"), **ARRAY),
    preview(("0", "number", "7"), **ARRAY, description="Array(2)"),
    preview(("a", "number", "1"), className="Point"),
    preview(("size", "number", "1"), subtype="map", className="Map"),
    preview(("a", "bigint", "1" * 99 + "…n")),
    argument(type="function", className="Function", description="() => 1", objectId="1"),
    argument(type="symbol", description="Symbol(s)", objectId="1"),
    argument(type="bigint", unserializableValue="1" * 700 + "n"),
])  # fmt: skip
def test_a_value_that_the_event_abbreviates_is_unread(remote: RemoteArgument) -> None:
    assert isinstance(value_in_event(remote), Unread)


TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize(("told", "text"), [
    ([], ""),
    ([{**TEXT, "value": "%"}], "%"),
    ([{**TEXT, "value": "a"}, {**NUMBER, "value": 3.0}, {**NUMBER, "value": 0.5}], "a 3 0.5"),
    ([{**TEXT, "value": "%s=%d%%"}, {**TEXT, "value": "x"}, {**NUMBER, "value": -2.9}], "x=-2%"),
    ([{**TEXT, "value": "%d"}, {**TEXT, "value": "x"}], "NaN"),
    ([{**TEXT, "value": "%d"}, {**NUMBER, "unserializableValue": "Infinity"}], "inf"),
    ([{**TEXT, "value": "%cred%c, %s"}, {**TEXT, "value": "color: red"}, {**TEXT, "value": ""}], "red, %s"),
    ([{**NUMBER, "value": 1}, {**TEXT, "value": "%s"}], "1 %s"),
    ([{"type": "boolean", "value": True}, {"type": "undefined"}], "true undefined"),
])  # fmt: skip
def test_formats(told: list[dict[str, Any]], text: str) -> None:
    assert format_message([argument(**each) for each in told]) == text


def test_objects_are_shown_by_their_preview() -> None:
    assert (
        format_argument(preview(("a", "number", "1"), overflow=True, className="Point")) == "Point {a: 1, …}"
    )
    assert (
        format_argument(argument(type="object", subtype="date", description="Thu Jan 01 1970"))
        == "Thu Jan 01 1970"
    )


class Session:
    """The parts of a session that a record remembers."""

    target_type, target_id, documents_shown = "page", "T", 0


@pytest.mark.parametrize(("exception", "name", "message", "stack"), [
    ({"subtype": "error", "className": "TypeError", "description": "TypeError: a: b\n    at f (x:1:2)"}, "TypeError", "a: b", True),
    ({"subtype": "error", "className": "MyError", "description": "MyError\n    at f (x:1:2)"}, "MyError", "", True),
    ({"subtype": "error", "className": "Error", "description": "some words: here"}, "Error", "some words: here", False),
    ({"type": "string", "value": "text"}, "", "text", False),
])  # fmt: skip
def test_thrown_values_are_reported(exception: dict[str, Any], name: str, message: str, stack: bool) -> None:
    told = {
        "exceptionDetails": {"text": "Uncaught", "exception": {"type": "object", **exception}, "url": "u"}
    }
    error = PageError(msgspec.json.decode(json.dumps(told), type=ExceptionThrown), Session())  # type: ignore[arg-type]
    assert (error.name, error.message, bool(error.stack), error.kind) == (name, message, stack, "exception")


def test_a_stack_includes_its_async_parents() -> None:
    inner = {"callFrames": [{"functionName": "a"}], "parent": {"callFrames": [{"functionName": "b"}]}}
    assert [frame.function_name for frame in all_frames(msgspec.convert(inner, StackTrace))] == ["a", "b"]
    assert all_frames(None) == ()


def event(name: str, **params: Any) -> Any:
    return msgspec.convert({"requestId": "1", **params}, REQUEST_EVENTS[f"Network.{name}"])


def test_exchanges_are_forgotten_in_the_order_of_their_ends() -> None:
    exchanges = Exchanges(1000)
    for number in range(3000):
        exchanges.take(None, event("requestWillBeSent", requestId=str(number)))
        exchanges.take(None, event("loadingFinished", requestId=str(number), timestamp=1.0))
    assert len(exchanges._known) <= 201
    for number in range(5000):
        exchanges.take(None, event("requestWillBeSent", requestId=f"x{number}"))
        exchanges.take(None, event("requestWillBeSentExtraInfo", requestId=f"unknown{number}"))
    assert len(exchanges._known) == 1000
    assert len(exchanges.under_way()) == 1000
    assert len(exchanges._early) <= 1000


def test_a_websocket_is_an_exchange() -> None:
    exchanges = Exchanges()
    exchange = exchanges.take(None, event("webSocketCreated", url="ws://x/"))
    assert exchange is not None
    exchanges.take(
        None, event("webSocketWillSendHandshakeRequest", wallTime=5.0, request={"headers": {"a": "b"}})
    )
    exchanges.take(None, event("webSocketHandshakeResponseReceived", response={"status": 101}))
    assert not exchange.ended
    exchanges.take(None, event("webSocketClosed", timestamp=3.0))
    assert exchange.response is not None
    assert (exchange.sent.wall_time, exchange.response.status, exchange.finished) == (5.0, 101, 3.0)


def test_a_body_as_it_arrives() -> None:
    incoming = Incoming(10)
    incoming.feed(b"cd")
    assert not incoming.begun
    assert incoming.whole(4) is None
    incoming.begin(b"ab")
    assert incoming.whole(4) == b"abcd"
    assert incoming.whole(5) is None
    assert [incoming.take(), incoming.take(), incoming.take()] == [b"ab", b"cd", None]
    incoming.feed(b"x" * 11)
    assert incoming.over
    assert incoming.take() is None


@pytest.mark.parametrize(("text", "kind", "size", "data"), [
    ("é", "text/html; charset=latin-1", 1, b"\xe9"),
    ("é", "text/html; charset=latin-1", 2, "é".encode()),
    ("é", "text/html; charset=utf-8", 5, b"\xef\xbb\xbf" + "é".encode()),
    ("é€", "text/html; charset=latin-1", 2, "é€".encode()),
    ("é", "text/html; charset=nonsense", 1, "é".encode()),
])  # fmt: skip
def test_a_body_keeps_its_received_bytes_if_the_size_matches(
    text: str, kind: str, size: int, data: bytes
) -> None:
    assert restore_bytes(Body(text.encode(), text), HeaderMapping({"content-type": kind}), size) == Body(
        data, text
    )


@pytest.mark.parametrize(("data", "kind", "text"), [
    ("é".encode(), "text/html", "é"),
    ("é".encode("latin-1"), 'text/html; charset="ISO-8859-1"', "é"),
    (b"\xef\xbb\xbfa", "text/plain; charset=latin-1", "a"),
    ("é".encode("utf-16"), "", "é"),
    (b"\xff", "text/plain; charset=no-such-thing", "\ufffd"),
])  # fmt: skip
def test_text_of_a_body(data: bytes, kind: str, text: str) -> None:
    assert text_of(Body(data), HeaderMapping({"Content-Type": kind})) == text
    assert text_of(Body(b"", "given"), HeaderMapping()) == "given"


def test_an_invalid_json_body_names_the_position() -> None:
    assert json_of("u", "[1]") == [1]
    for wrong in ("[1", "[" * 100_000):
        with pytest.raises(cdpengine.errors.BodyUndecodableError, match="not JSON"):
            json_of("u", wrong)
    assert charset_of(HeaderMapping()) == ""


@pytest.mark.parametrize("make", [
    lambda: KeepBodies(largest=0),
    lambda: KeepBodies(total=True),
    lambda: KeepBodies(types="Document"),
    lambda: KeepBodies(types=[1]),  # type: ignore[list-item]
    lambda: KeepBodies(url=5),  # type: ignore[arg-type]
    lambda: ActivityOptions(console=-1),
    lambda: check_options(1),
])  # fmt: skip
def test_wrong_options(make: Any) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        make()


def test_options() -> None:
    rules = KeepBodies(types=["XHR"], url="*.json")
    assert rules.wants("x.json", "xhr")
    assert not rules.wants("x.json", "Fetch")
    assert not rules.wants("x.html", "XHR")
    assert check_options(False) is check_options(None) is None
    assert check_options(True) == ActivityOptions(bodies=False)
    assert ActivityOptions(console=0, requests=0).parts == {"errors"}
