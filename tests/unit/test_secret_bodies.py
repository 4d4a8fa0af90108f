"""Bodies in base64 or in pieces are searched. Bodies above the limit are withheld."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from secret_streams import STREAMS, Wire, event, frame, piece_of, wire_with

from cdpengine.debug import Redactor
from cdpengine.debug.recording import secret_bodies
from cdpengine.debug.recording.content_streams import Piece

WORD = "correct horse"

BODIES: dict[str, bytes] = {
    "a text": f"<p>{WORD}</p>".encode(),
    "a field of JSON": json.dumps({"access_token": "abc", "x": WORD}).encode(),
    "bytes": b"\x89PNG\x00\xff" + WORD.encode() + b"\xfe",
    "UTF-16 with a mark": WORD.encode("utf-16"),
    "UTF-16 in bytes": b"\xff\x00\x01" + WORD.encode("utf-16-le"),
    "compressed": gzip.compress(WORD.encode() * 3),
}
CARRIERS: dict[str, tuple[str, str, Any]] = {
    "a fulfilled request": (
        "Fetch.fulfillRequest",
        "params",
        lambda body: {"responseCode": 200, "body": body},
    ),
    "a response": ("Network.getResponseBody", "result", lambda body: {"body": body, "base64Encoded": True}),
    "a stopped response": (
        "Fetch.getResponseBody",
        "result",
        lambda body: {"body": body, "base64Encoded": True},
    ),
    "a stream": ("IO.read", "result", lambda body: {"data": body, "base64Encoded": True, "eof": True}),
    "a piece": ("Network.dataReceived", "params", lambda body: {"dataLength": 9, "data": body}),
    "a frame": (
        "Network.webSocketFrameSent",
        "params",
        lambda body: {"response": {"opcode": 2, "payloadData": body}},
    ),
    "a data URL": ("Page.navigate", "params", lambda body: {"url": f"data:text/plain;base64,{body}"}),
}


WHOLE = Piece(("a stream",), "first")
"""The place of the first piece, for bodies that arrive in pieces."""

FORMS = {WORD.encode(), WORD.encode("utf-16-le"), WORD.encode("utf-16-be")}


def decoded_texts(value: Any) -> Iterator[bytes]:
    """Yield the decoded form of each base64 string of a message, with compressed data unpacked."""
    if isinstance(value, dict):
        for each in value.values():
            yield from decoded_texts(each)
    elif isinstance(value, str) and "[redacted]" not in value:
        data = base64.b64decode(value.rpartition(",")[2] + "==")
        yield gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(("method", "place", "carrier"), CARRIERS.values(), ids=CARRIERS.keys())
def test_a_known_secret_is_removed_from_every_body(
    method: str, place: str, carrier: Any, body: bytes
) -> None:
    if method == "Page.navigate" and body == BODIES["compressed"]:
        return  # compressed data in a URL is not unpacked
    redactor = Redactor()
    redactor.add_secret(WORD)
    message = {"id": 1, "method": method, place: carrier(base64.b64encode(body).decode())}
    clean = json.loads(redactor.redact(json.dumps(message).encode(), method, piece=WHOLE))
    assert clean != message
    decoded = b"".join(decoded_texts(clean[place]))
    assert not any(form in decoded for form in FORMS)


@pytest.mark.parametrize(("method", "place", "carrier"), CARRIERS.values(), ids=CARRIERS.keys())
def test_a_body_without_secrets_stays(method: str, place: str, carrier: Any) -> None:
    for body in (b"<p>nothing</p>", b"\x89PNG\x00\xff", gzip.compress(b"nothing"), b"\x1f\x8b broken", b""):
        raw = json.dumps(
            {"id": 1, "method": method, place: carrier(base64.b64encode(body).decode())}
        ).encode()
        assert Redactor().redact(raw, method, piece=WHOLE) is raw


def test_bodies_above_the_limit_are_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_bodies, "LARGEST", 1_000)
    body = base64.b64encode(b"x" * 2_000).decode()
    clean = Redactor().redact(
        json.dumps({"id": 1, "result": {"body": body, "base64Encoded": True}}).encode(),
        "Network.getResponseBody",
    )
    assert json.loads(clean)["result"]["body"] == "[redacted]"
    bomb = base64.b64encode(gzip.compress(b"x" * 100_000)).decode()
    assert len(bomb) < 1_000
    clean = Redactor().redact(
        json.dumps({"id": 1, "result": {"body": bomb, "base64Encoded": True}}).encode(),
        "Network.getResponseBody",
    )
    assert bomb.encode() not in clean


def test_a_secret_that_two_pieces_of_a_stream_share_is_in_neither() -> None:
    for encoded in (True, False):
        redactor = Redactor()
        redactor.add_secret(WORD)
        wire = Wire(redactor)
        wire.answer("IO.resolveBlob", {"objectId": "1"}, {"uuid": "7"})
        for piece in (b"<p>correct h", b"orse</p>"):
            data = base64.b64encode(piece).decode() if encoded else piece.decode()
            result = {"data": data, "base64Encoded": encoded, "eof": False}
            clean = wire.answer("IO.read", {"handle": "blob:7"}, result)["result"]["data"]
            text = base64.b64decode(clean).decode() if encoded else clean
            assert "correct" not in text
            assert "orse" not in text
            assert "[redacted]" in text


UNKNOWN = "Zx9kQ2mP7vL4tR8w"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Zx9kQ2mP7vL4tR8w"
CUT = {
    "JSON": ({"a": 1, "refresh_token": UNKNOWN, "more": "x" * 10}, UNKNOWN),
    "blanks": ({"password": f"two {UNKNOWN}"}, UNKNOWN),
    "a form": (f"user=ada&password={UNKNOWN}&x=1", UNKNOWN),
    "a script": (f"text ü access_token='{UNKNOWN}'; more", UNKNOWN),
    "JSON in JSON": ({"inner": json.dumps({"password": UNKNOWN})}, UNKNOWN),
    "a URL in a URL": (f"see https://a.example/?to=%2Fx%3Ftoken%3D{UNKNOWN}&b=2 for more", UNKNOWN),
    "a password in a URL": (f"git clone https://ada:{UNKNOWN}@a.example/x and more", UNKNOWN),
    "a separate token": ({"id": TOKEN, "kind": "a"}, UNKNOWN),
    "credentials": (f"Authorization: Bearer {UNKNOWN}{UNKNOWN}\r\nAccept: text/html\r\n", UNKNOWN),
    "markup": (f'<p>one</p><input type="password" name="p" value="{UNKNOWN}"><p>two</p>', UNKNOWN),
}
"""Strings, and a secret in each of which no six characters may remain."""


def stream_in_pieces(text: str, cuts: Sequence[int], kind: str, *, begun: bool = False) -> bytes:
    """Return the written form of a stream, with its pieces in brackets.

    `begun`: its first piece contains the data from before it was requested.
    """
    data = text.encode()
    cuts = [0, *cuts, len(data)]
    wire, clean = wire_with(kind, begun=data[: cuts[1]] if begun else b"")
    for start, end in itertools.pairwise(cuts[1:] if begun else cuts):
        clean += b"|" + piece_of(STREAMS[kind](wire, data[start:end]))
    return clean


def text_of(whole: object) -> str:
    return whole if isinstance(whole, str) else json.dumps(whole, separators=(",", ":"))


def left_of(secret: str, clean: bytes, length: int = 6) -> list[str]:
    """Return the remaining parts of a secret."""
    parts = (secret[at : at + length] for at in range(len(secret) - length + 1))
    return [part for part in parts if part.encode() in clean]


@pytest.mark.parametrize("kind", [*STREAMS, "begun"])
@pytest.mark.parametrize("text", CUT)
def test_an_unknown_secret_may_be_cut_anywhere(text: str, kind: str) -> None:
    whole, secret = text_of(CUT[text][0]), CUT[text][1]
    size = len(whole.encode())
    begun, kind = kind == "begun", "a body" if kind == "begun" else kind
    every = 1 if kind == "a body" else 3
    for first in range(1, size - 1, every):
        for cuts in ([first], sorted({first, min(first + 5, size - 1)})):
            if not whole.isascii() and "ü".encode()[1:] in (whole.encode()[cut : cut + 1] for cut in cuts):
                continue  # a piece of text never ends inside a letter
            clean = stream_in_pieces(whole, cuts, kind, begun=begun)
            assert not left_of(secret, clean), (cuts, clean)


LONG = {
    "JSON": '{"user":"ada","private_key":"%s","more":"some words"}',
    "a form": "user=ada&password=%s&more=some+words",
    "a script": "let a = 1, access_token='%s'; more.words()",
    "a separate token": "see eyJhbGciOiJIUzI1NiJ9.%s for more",
    "credentials": "Authorization: Bearer %s\r\nAccept: text/html\r\n",
}


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize(
    ("kind", "length"), [("a body", 500), ("a body", 20_000), *((kind, 9_000) for kind in STREAMS)]
)
def test_a_long_secret_may_be_cut_anywhere(text: str, kind: str, length: int) -> None:
    chosen = random.Random(length)
    secret = "".join(chosen.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))
    whole = LONG[text] % secret
    at = whole.index(secret)
    within = (10, length // 2, length - 9_000, length - 8_192, length - 3)
    places = sorted({at + place for place in within if 10 <= place < length})
    for cuts in (*([each] for each in places), places, range(at + 10, at + length, 1 + length // 5)):
        clean = stream_in_pieces(whole, cuts, kind)
        assert (cuts, left_of(secret, clean, 12)[:3]) == (cuts, [])
        assert clean.endswith(whole[at + length + 2 :].encode())


def test_streams_do_not_run_into_each_other() -> None:
    wire = Wire()

    def pass_on(name: str, piece: str, request: str) -> bytes:
        message = event(name, **frame(1, piece))
        message["params"]["requestId"] = request
        return piece_of(wire.receive(message))

    assert UNKNOWN[:8].encode() not in pass_on("webSocketFrameReceived", '{"password":"' + UNKNOWN[:8], "1")
    assert pass_on("webSocketFrameReceived", 'hello","n":12', "2") == b'hello","n":12'
    assert pass_on("webSocketFrameSent", 'hello","n":12', "1") == b'hello","n":12'
    assert left_of(UNKNOWN, pass_on("webSocketFrameReceived", UNKNOWN[8:] + '","n":12', "1"), 4) == []


@pytest.mark.parametrize("length", [600, 5_000])
@pytest.mark.parametrize("kind", STREAMS)
def test_a_long_known_secret_may_be_cut_anywhere(kind: str, length: int) -> None:
    secret = "".join(random.Random(length).choices("0123456789abcdef", k=length))
    whole = f"<p>here: {secret} and more</p>"
    at = whole.index(secret)
    for cut in (10, 300, 511, 512, 513, length // 2, length - 10):
        wire, clean = wire_with(kind, Redactor(secrets=[secret]))
        for piece in (whole[: at + cut], whole[at + cut :]):
            clean += b"|" + piece_of(STREAMS[kind](wire, piece.encode()))
        assert not left_of(secret, clean, 8), (cut, clean)
        assert clean.lstrip(b"|").startswith(b"<p>here: ")
        assert clean.endswith(b" and more</p>")


@pytest.mark.parametrize("kind", STREAMS)
def test_pieces_without_secrets_stay_as_they_are(kind: str) -> None:
    whole = json.dumps({"hello": "world", "n": 12, "text": "some words", "list": [1, 2]})
    for first in range(1, len(whole) - 4):
        assert stream_in_pieces(whole, [first, first + 3], kind).replace(b"|", b"") == whole.encode()
