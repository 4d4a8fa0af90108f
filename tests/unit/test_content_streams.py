"""Contents in pieces: in any order and with any other traffic, no two pieces together contain a secret."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from cdpengine._protocol.instruments import Direction, Traffic
from cdpengine.debug import Redactor
from cdpengine.debug.recording import content_streams, secret_bodies
from cdpengine.debug.recording.lines import LineMaker

SECRET = "Zx9kQ2mP7vL4tR8w"
TEXT = '{"a":"b c","token":"' + SECRET + '","z":"more"}'
BODY = TEXT.encode()
AT = TEXT.index(SECRET)

Message = tuple[Direction, dict[str, Any]]


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def call(number: int, method: str, session: str = "S", **params: Any) -> Message:
    return "sent", {"id": number, "method": method, "params": params, "sessionId": session}


def reply(number: int, session: str = "S", **result: Any) -> Message:
    return "received", {"id": number, "result": result, "sessionId": session}


def refusal(number: int, session: str = "S") -> Message:
    return "received", {"id": number, "error": {"code": -32000, "message": "no"}, "sessionId": session}


def event(name: str, session: str = "S", request: str = "1", **params: Any) -> Message:
    given = {"requestId": request, **params}
    return "received", {"method": f"Network.{name}", "params": given, "sessionId": session}


def ask(number: int = 1, session: str = "S", request: str = "1") -> Message:
    return call(number, "Network.streamResourceContent", session, requestId=request)


def begin(data: bytes, number: int = 1, session: str = "S") -> Message:
    return reply(number, session, bufferedData=in_base64(data))


def come(data: bytes, session: str = "S", request: str = "1") -> Message:
    return event("dataReceived", session, request, dataLength=len(data), data=in_base64(data))


def traffic_of(messages: Sequence[Message], connection: str = "c") -> list[Traffic]:
    return [Traffic(1.0, direction, connection, json.dumps(message)) for direction, message in messages]


def lines_of(*traffic: Traffic, at_once: bool = False, **options: Any) -> list[bytes]:
    settings: dict[str, Any] = {"limit": 0, "redactor": Redactor()} | options
    maker = LineMaker(began=0.0, **settings)
    return maker.lines(*traffic) if at_once else [line for each in traffic for line in maker.lines(each)]


def contents(lines: Sequence[bytes]) -> list[bytes]:
    """Return the decoded contents in the lines."""
    found = []
    for line in lines:
        message = json.loads(line)["msg"]
        held = message.get("params") or message.get("result") or {}
        held = held.get("response", held.get("message", held))
        if isinstance(held, dict):
            for name in ("data", "bufferedData", "payloadData"):
                if isinstance(data := held.get(name), str):
                    is_text = data == "[redacted]" or held.get("opcode") == 1 or "eventId" in held
                    found.append(data.encode() if is_text else base64.b64decode(data))
    return found


def left(lines: Sequence[bytes], length: int = 6) -> list[str]:
    """Return the remaining parts of the secret, in a line or across consecutive contents."""
    held = contents(lines)
    everything = b"\n".join((*lines, *held, b"".join(held)))
    parts = (SECRET[at : at + length] for at in range(len(SECRET) - length + 1))
    return [part for part in parts if part.encode() in everything]


def cuts_of(first: range = range(1, len(BODY) - 2)) -> Iterator[tuple[bytes, bytes, bytes]]:
    for one in first:
        for two in sorted({one + 1, min(one + 7, len(BODY) - 1)}):
            yield BODY[:one], BODY[one:two], BODY[two:]


AROUND = range(AT - 3, AT + len(SECRET) + 2, 3)
"""The cuts at and around the secret."""

# --- the order of the events
# -------------------------------------------------------------------------------------

STEPS = ("asked", "answered", "one", "two", "response", "finished")
ORDERS = [
    order
    for order in itertools.permutations(STEPS)
    if order.index("asked") < order.index("answered") and order.index("one") < order.index("two")
]
"""All orders in which a client could see the events of one body. Chrome uses only a few of them."""


def in_order(order: Sequence[str], pieces: tuple[bytes, bytes, bytes]) -> list[Message]:
    steps = {
        "asked": ask(),
        "answered": begin(pieces[0]),
        "one": come(pieces[1]),
        "two": come(pieces[2]),
        "response": event("responseReceived", type="Fetch"),
        "finished": event("loadingFinished"),
    }
    return [event("requestWillBeSent", type="Fetch"), *(steps[name] for name in order)]


@pytest.mark.parametrize("after", STEPS)
def test_no_order_of_events_lets_a_secret_through(after: str) -> None:
    for order in ORDERS:
        if order[-1] != after:
            continue
        for pieces in cuts_of(range(AT - 1, AT + len(SECRET), 3)):
            assert left(lines_of(*traffic_of(in_order(order, pieces)))) == [], (order, pieces)


def test_in_the_order_of_chrome_earlier_text_stays_for_every_cut() -> None:
    for pieces in cuts_of():
        lines = lines_of(
            *traffic_of(in_order(("response", "asked", "answered", "one", "two", "finished"), pieces))
        )
        assert left(lines) == []
        assert b"".join(contents(lines)).startswith(b'{"a":"b c","'), pieces


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_body_may_arrive_byte_by_byte(size: int) -> None:
    pieces = [BODY[at : at + size] for at in range(0, len(BODY), size)]
    assert left(lines_of(*traffic_of([ask(), begin(b""), *map(come, pieces)]))) == []
    assert left(lines_of(*traffic_of([ask(), begin(pieces[0]), *map(come, pieces[1:])]))) == []


# --- with other traffic
# ----------------------------------------------------------------------------------------------

OTHER = b'{"other":[1,2,3],"key":"'

COMPANY: dict[str, list[tuple[str, Message]]] = {
    "another body of the session": [
        ("c", ask(2, request="2")), ("c", begin(OTHER, 2)), ("c", come(OTHER, request="2")),
    ],
    "another body without a beginning": [("c", ask(2, request="2")), ("c", begin(b"", 2))],
    "a refused stream": [("c", ask(2, request="2")), ("c", refusal(2))],
    "the same one, requested again without success": [("c", ask(2)), ("c", refusal(2))],
    "the same request in another session": [
        ("c", ask(2, "T")), ("c", begin(OTHER, 2, "T")), ("c", come(OTHER, "T")),
    ],
    "the same session and request on another connection": [
        ("d", ask(1)), ("d", begin(OTHER, 1)), ("d", come(OTHER)),
    ],
    "a stream read by IO.read": [
        ("c", call(2, "Page.printToPDF")), ("c", reply(2, stream="1")),
        ("c", call(3, "IO.read", handle="1")), ("c", reply(3, data=in_base64(OTHER), eof=False)),
    ],
    "a websocket of that name": [
        ("c", event("webSocketFrameReceived", response={"opcode": 1, "payloadData": OTHER.decode()})),
    ],
    "server-sent events": [("c", event("eventSourceMessageReceived", eventId="", data=OTHER.decode()))],
    "data reported only by its length": [("c", event("dataReceived", dataLength=9))],
}  # fmt: skip
"""Traffic between the pieces of a body: the connection, and the message."""


@pytest.mark.parametrize("company", COMPANY)
def test_traffic_between_the_pieces_of_a_body_changes_nothing(company: str) -> None:
    for pieces in cuts_of(AROUND):
        own = traffic_of([ask(), begin(pieces[0]), come(pieces[1]), come(pieces[2])])
        alone = contents(lines_of(*own))
        others = [each for name, message in COMPANY[company] for each in traffic_of([message], name)]
        # Each foreign message occurs once between any two pieces of the body.
        for shift in range(len(own)):
            mixed = [*own[:shift]]
            for place, each in enumerate(others):
                mixed.append(each)
                mixed += own[shift + place : shift + place + 1]
            mixed += own[shift + len(others) :]
            lines = lines_of(*mixed)
            assert left(lines) == [], (shift, pieces)
            mine = [line for line, each in zip(lines, mixed, strict=True) if each in own]
            assert contents(mine) == alone


def test_two_sessions_may_alternate_pieces_of_the_same_body() -> None:
    for pieces in cuts_of(AROUND):
        both = [
            message
            for one, other in zip(
                [ask(1, "S"), begin(pieces[0], 1, "S"), *(come(each, "S") for each in pieces[1:])],
                [ask(2, "T"), begin(pieces[0], 2, "T"), *(come(each, "T") for each in pieces[1:])],
                strict=True,
            )
            for message in (one, other)
        ]
        assert left(lines_of(*traffic_of(both))) == []


def test_the_maximum_of_concurrent_streams_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (2, 100):
        monkeypatch.setattr(content_streams, "MOST_STREAMS", most)
        monkeypatch.setattr(secret_bodies, "MOST_STREAMS", most)
        names = [str(number) for number in range(5)]
        cut = AT + 4
        messages = [
            *(ask(int(name), request=name) for name in names),
            *(begin(BODY[:cut], int(name)) for name in names),
            *(come(BODY[cut:], request=name) for name in names),
        ]
        lines = lines_of(*traffic_of(messages))
        assert left(lines) == []
        assert (b"".join(contents(lines)).count(b'"z":"more"}')) == (5 if most == 100 else 2)


# --- unknown parts
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        [],
        [ask()],
        [begin(BODY[: AT + 4])],
        [ask(), refusal(1)],
        [ask(), begin(BODY[: AT + 4]), event("loadingFailed")],
        [ask(1, "T"), begin(BODY[: AT + 4], 1, "T")],
        [ask(1, request="2"), begin(BODY[: AT + 4])],
    ],
)  # fmt: skip
def test_a_piece_whose_beginning_was_not_seen_is_withheld(before: list[Message]) -> None:
    lines = lines_of(*traffic_of([*before, come(BODY[AT + 4 :]), come(b'{"plain":1}')]))
    assert contents(lines)[-2:] == [b"[redacted]", b"[redacted]"]


@pytest.mark.parametrize("kind", ["a body", "a stream"])
def test_pieces_after_a_lost_one_are_withheld(kind: str) -> None:
    maker = LineMaker(began=0.0, limit=0, redactor=Redactor())
    before, behind, again = {
        "a body": ([ask(), begin(BODY[:4])], [come(BODY[AT + 4 :])], [ask(2), begin(BODY, 2)]),
        "a stream": (
            [call(1, "Page.printToPDF"), reply(1, stream="1"), *_read(2, BODY[:4])],
            _read(3, BODY[AT + 4 :]),
            _read(4, BODY, offset=0),
        ),
    }[kind]
    lines = [line for each in traffic_of(before) for line in maker.lines(each)]
    maker.lost(1.0, 1)
    lines += [line for each in traffic_of(behind) for line in maker.lines(each)]
    assert contents(lines)[-1] == b"[redacted]"
    lines += [line for each in traffic_of(again) for line in maker.lines(each)]
    assert contents(lines)[-1] == BODY.replace(SECRET.encode(), b"[redacted]")
    assert left(lines) == []


# --- reading a stream --------------------------------------------------------------------------------------------


def _read(number: int, data: bytes, **more: Any) -> list[Message]:
    asked = call(number, "IO.read", handle="1", **more)
    return [asked, reply(number, data=in_base64(data), base64Encoded=True, eof=False)]


GIVES: dict[str, dict[str, Any]] = {
    "Page.printToPDF": {"data": "", "stream": "1"},
    "Fetch.takeResponseBodyAsStream": {"stream": "1"},
    "Network.takeResponseBodyForInterceptionAsStream": {"stream": "1"},
    "Network.loadNetworkResource": {"resource": {"success": True, "stream": "1"}},
    "IO.resolveBlob": {"uuid": "1"},
}


@pytest.mark.parametrize("giver", [*GIVES, "Tracing.tracingComplete"])
def test_a_stream_is_read_from_its_beginning(giver: str) -> None:
    made: list[Message] = (
        [call(9, giver), reply(9, **GIVES[giver])]
        if giver in GIVES
        else [("received", {"method": giver, "params": {"stream": "1"}})]
    )
    for one, two, three in cuts_of(AROUND):
        lines = lines_of(*traffic_of([*made, *_read(1, one), *_read(2, two), *_read(3, three)]))
        assert left(lines) == []
        assert contents(lines)[-3].startswith(b'{"a":"b c",')


NEW_HANDLE: list[Message] = [call(9, "Page.printToPDF"), reply(9, stream="1")]
CUT = AT + 4


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        (_read(1, BODY[CUT:]), [False]),
        (_read(1, BODY, offset=0), [True]),
        ([*NEW_HANDLE, *_read(1, BODY[CUT:], offset=CUT)], [False]),
        ([*NEW_HANDLE, *_read(1, BODY[CUT:], offset=CUT), *_read(2, b"plain")], [False, False]),
        ([*NEW_HANDLE, *_read(1, BODY[CUT:], offset=CUT), *_read(2, b"plain", offset=0)], [False, True]),
        ([*NEW_HANDLE, *_read(1, BODY[:9]), *_read(2, BODY[9:], offset=9)], [True, True]),
        ([*NEW_HANDLE, *_read(1, BODY[:CUT]), *_read(2, BODY[CUT + 1 :], offset=CUT + 1)], [True, False]),
        ([*NEW_HANDLE, *_read(1, BODY[:CUT]), call(2, "IO.read", handle="1"), refusal(2), *_read(3, BODY[CUT:])], [True, True]),
        ([*NEW_HANDLE, _read(1, b"")[0], _read(2, b"")[0], _read(2, BODY[CUT:])[1], _read(1, BODY[:CUT])[1]], [False, False]),
        ([*NEW_HANDLE, _read(1, b"")[0], _read(2, b"")[0], _read(1, BODY[:CUT])[1], _read(2, BODY[CUT:])[1]], [True, True]),
    ],
)  # fmt: skip
def test_a_read_at_an_unknown_place_is_withheld(messages: list[Message], kept: list[bool]) -> None:
    lines = lines_of(*traffic_of(messages))
    assert left(lines) == []
    assert [each != b"[redacted]" for each in contents(lines)] == kept


@pytest.mark.parametrize("size", [1, 7, 100, 900])
def test_a_stream_of_compressed_data_is_unpacked(size: int) -> None:
    noise = random.Random(1).randbytes(300).hex()
    for text, cut in (
        ('{"pad":"' + noise + '","z":1,"token":"' + SECRET + '","more":"' + noise + '"}', True),
        ('{"pad":"' + noise + '","z":1}', False),
    ):
        packed = gzip.compress(text.encode())
        pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
        reads = [each for number, piece in enumerate(pieces, 1) for each in _read(number, piece)]
        made = contents(lines_of(*traffic_of([*NEW_HANDLE, *reads])))
        if not cut:
            assert made == pieces
        else:
            kept = b"".join(itertools.takewhile(lambda each: each != b"[redacted]", made))
            shown = zlib.decompressobj(wbits=31).decompress(kept)
            assert b"[redacted]" in made
            assert SECRET[:6].encode() not in shown


def test_data_that_only_begins_like_compressed_data_is_searched() -> None:
    for one, two, three in cuts_of(AROUND):
        lines = lines_of(*traffic_of([ask(), begin(b"\x1f"), come(one), come(two), come(three)]))
        assert left(lines) == []


# --- in every recording ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": 90}, {"limit": 120, "foreign": True}])
@pytest.mark.parametrize("at_once", [False, True])
def test_no_way_of_making_lines_leaves_a_secret_in_them(options: dict[str, Any], at_once: bool) -> None:
    noise = [("c", event("responseReceived", type="Fetch", response={"url": "https://a.example/"}))]
    others = [
        each
        for name, message in (*noise, *COMPANY["another body of the session"])
        for each in traffic_of([message], name)
    ]
    for pieces in cuts_of(AROUND):
        own = traffic_of([ask(), begin(pieces[0]), come(pieces[1]), come(pieces[2])])
        assert left(lines_of(*own[:2], *others, *own[2:], at_once=at_once, **options)) == []


MESSAGES: dict[str, Callable[[bytes], Message]] = {
    "text": lambda piece: event(
        "webSocketFrameReceived", response={"opcode": 1, "payloadData": piece.decode()}
    ),
    "sent": lambda piece: event("webSocketFrameSent", response={"opcode": 1, "payloadData": piece.decode()}),
    "binary": lambda piece: event(
        "webSocketFrameSent", response={"opcode": 2, "payloadData": in_base64(piece)}
    ),
    "server-sent": lambda piece: event("eventSourceMessageReceived", eventId="", data=piece.decode()),
    "UDP": lambda piece: event(
        "directUDPSocketChunkSent", identifier="1", message={"data": in_base64(piece)}
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_messages_cut_by_a_program_contain_no_secret_together(kind: str) -> None:
    for pieces in cuts_of(AROUND):
        assert left(lines_of(*traffic_of([MESSAGES[kind](each) for each in pieces]))) == []
    (line,) = lines_of(*traffic_of([MESSAGES[kind](b'{"plain":"text"}')]))
    assert contents([line]) == [b'{"plain":"text"}']
