"""Bodies that travel as base64 or in pieces are looked through; what is too large is withheld."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from cdpengine.debug import Redactor
from cdpengine.debug.recording import secret_text

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


FORMS = {WORD.encode(), WORD.encode("utf-16-le"), WORD.encode("utf-16-be")}


def decoded_texts(value: Any) -> Iterator[bytes]:
    """Give what each text of a message decodes to, where it is base64; compressed data unpacked."""
    if isinstance(value, dict):
        for each in value.values():
            yield from decoded_texts(each)
    elif isinstance(value, str) and "[redacted]" not in value:
        data = base64.b64decode(value.rpartition(",")[2] + "==")
        yield gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize(("method", "place", "carrier"), CARRIERS.values(), ids=CARRIERS.keys())
def test_a_known_secret_goes_from_every_body(method: str, place: str, carrier: Any, body: bytes) -> None:
    if method == "Page.navigate" and body == BODIES["compressed"]:
        return  # compressed data in a URL is not unpacked
    redactor = Redactor()
    redactor.add_secret(WORD)
    message = {"id": 1, "method": method, place: carrier(base64.b64encode(body).decode())}
    clean = json.loads(redactor.redact(json.dumps(message).encode(), method))
    assert clean != message
    decoded = b"".join(decoded_texts(clean[place]))
    assert not any(form in decoded for form in FORMS)


@pytest.mark.parametrize(("method", "place", "carrier"), CARRIERS.values(), ids=CARRIERS.keys())
def test_a_body_without_secrets_stays(method: str, place: str, carrier: Any) -> None:
    for body in (b"<p>nothing</p>", b"\x89PNG\x00\xff", gzip.compress(b"nothing"), b"\x1f\x8b broken", b""):
        raw = json.dumps(
            {"id": 1, "method": method, place: carrier(base64.b64encode(body).decode())}
        ).encode()
        assert Redactor().redact(raw, method) is raw


def test_what_is_too_large_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_text, "LARGEST", 1_000)
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
    redactor = Redactor()
    redactor.add_secret(WORD)
    for encoded in (True, False):
        for piece in (b"<p>correct h", b"orse</p>"):
            data = base64.b64encode(piece).decode() if encoded else piece.decode()
            message = {"id": 1, "result": {"data": data, "base64Encoded": encoded, "eof": False}}
            clean = json.loads(redactor.redact(json.dumps(message).encode(), "IO.read"))["result"]["data"]
            text = base64.b64decode(clean).decode() if encoded else clean
            assert "correct" not in text
            assert "orse" not in text
            assert "[redacted]" in text


UNKNOWN = "Zx9kQ2mP7vL4tR8w"
CUT = {
    "JSON": json.dumps({"a": 1, "refresh_token": UNKNOWN, "more": "x" * 10}),
    "blanks": json.dumps({"password": f"two {UNKNOWN}"}, separators=(",", ":")),
    "a form": f"user=ada&password={UNKNOWN}&x=1",
    "a script": f"text ü access_token='{UNKNOWN}'; more",
    "JSON in JSON": json.dumps({"inner": json.dumps({"password": UNKNOWN})}),
}


def stream_in_pieces(text: str, cuts: list[int], *, begun: bool) -> bytes:
    """Return what becomes of a stream; `begun`: its first piece is what had come before it was asked for."""
    data = text.encode()
    redactor = Redactor()
    clean = b""
    for start, end in itertools.pairwise([0, *cuts, len(data)]):
        piece = base64.b64encode(data[start:end]).decode()
        if begun and not start:
            method, message = "Network.streamResourceContent", {"id": 1, "result": {"bufferedData": piece}}
            held = json.loads(redactor.redact(json.dumps(message).encode(), method))["result"]["bufferedData"]
        else:
            method = "Network.dataReceived"
            message = {"method": method, "params": {"requestId": "7.1", "dataLength": 1, "data": piece}}
            held = json.loads(redactor.redact(json.dumps(message).encode(), method))["params"]["data"]
        clean += b"" if held == "[redacted]" else base64.b64decode(held) + b"|"
    return clean


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("text", CUT)
def test_an_unknown_secret_may_be_cut_anywhere(text: str, begun: bool) -> None:
    whole = CUT[text]
    size = len(whole.encode())
    for first in range(1, size - 1):
        for cuts in ([first], [first, min(first + 5, size - 1)]):
            clean = stream_in_pieces(whole, sorted(set(cuts)), begun=begun)
            shown = [
                UNKNOWN[at : at + 6]
                for at in range(len(UNKNOWN) - 5)
                if UNKNOWN[at : at + 6].encode() in clean
            ]
            assert not shown, (cuts, clean)


def test_pieces_without_secrets_stay_as_they_are() -> None:
    whole = json.dumps({"hello": "world", "n": 12, "text": "some words", "list": [1, 2]})
    for first in range(1, len(whole) - 4):
        assert stream_in_pieces(whole, [first, first + 3], begun=False).replace(b"|", b"") == whole.encode()
