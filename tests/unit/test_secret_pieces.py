"""A known secret is found in a stream that is cut anywhere, in every encoding, compressed or not."""

from __future__ import annotations

import base64
import gzip
import html
import json
import random
import string
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest
from rounds import rounds
from secret_streams import STREAMS, piece_of, wire_with

from cdpengine.debug import Redactor

TEXTS = ("a stream of text", "messages received", "messages sent", "server-sent events")
"""Streams whose pieces are strings."""

ENCODINGS: tuple[Callable[[str], bytes], ...] = (
    str.encode,
    lambda text: text.encode("utf-16-le"),
    lambda text: text.encode("utf-16-be"),
    lambda text: quote(text, safe="").encode(),
    lambda text: base64.b64encode(text.encode()),
    lambda text: json.dumps(text)[1:-1].encode(),
    lambda text: html.escape(text).encode(),
)


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


COMPRESSIONS: tuple[Callable[[bytes], bytes], ...] = (bytes, gzip.compress, zlib.compress, _deflate)
LETTERS = (
    string.ascii_letters,
    string.digits,
    string.punctuation,
    "äßéñ中文字密码🔑🙂",
    string.printable[:95],
)


def _random_secret(rng: random.Random) -> str:
    letters = "".join(rng.sample(LETTERS, rng.randint(1, len(LETTERS))))
    while True:
        secret = "".join(rng.choices(letters, k=rng.randint(6, 60))).strip()
        if len(secret) >= 6:
            return secret


def _cut(data: bytes, rng: random.Random) -> list[bytes]:
    pieces, most = [], rng.choice((1, 3, 10, 10, len(data)))
    while data:
        size = rng.randint(1, most)
        pieces.append(data[:size])
        data = data[size:]
    return pieces


CHANNELS = [kind for kind in STREAMS if kind not in TEXTS]


@pytest.mark.timeout(900)
def test_a_secret_in_any_encoding_is_in_no_stream_of_pieces() -> None:
    rng = random.Random(37)
    for number in range(rounds(150, 5_000)):
        secret = _random_secret(rng)
        encode = rng.choice(ENCODINGS)
        pack = rng.choice(COMPRESSIONS)
        written = encode(secret)
        filler = rng.randbytes(rng.randint(0, 40)).hex().encode()
        body = pack(filler + b"<p>" + written + b"</p>" + filler[::-1])
        texts = body.isascii() and b"\0" not in body
        kind = rng.choice([*STREAMS] if texts else CHANNELS)
        redactor = Redactor(secrets=[secret] if number % 2 else [])
        redactor.add_secret(secret)
        wire, _ = wire_with(kind, redactor)
        kept = []
        for piece in _cut(body, rng):
            clean = piece_of(STREAMS[kind](wire, piece))
            kept.append(b"" if clean == b"[redacted]" else clean)
        joined = b"".join(kept)
        assert written not in joined, (number, secret, kind, kept)
        if pack is not bytes:
            assert joined != body, (number, secret, kind, kept)
        elif len(written) > 12:
            assert written[:8] not in joined, (number, secret, kind, kept)


def test_a_secret_in_a_zlib_body_is_withheld() -> None:
    redactor = Redactor()
    redactor.add_secret("K7+xQ2/mZ9!rT4vW8")
    body = base64.b64encode(zlib.compress(b"<p>K7+xQ2/mZ9!rT4vW8</p>")).decode()
    marked = base64.b64encode(b"[redacted]").decode()
    reply = json.dumps({"id": 1, "result": {"body": body, "base64Encoded": True}}).encode()
    assert json.loads(redactor.redact(reply, "Network.getResponseBody"))["result"]["body"] == marked


def test_pieces_without_a_secret_stay_as_they_are() -> None:
    rng = random.Random(12)
    for kind in CHANNELS:
        redactor = Redactor()
        redactor.add_secret("QZ-unlikely-46")
        wire, _ = wire_with(kind, redactor)
        body = ("plain words of a page, " * 20).encode()
        assert b"".join(piece_of(STREAMS[kind](wire, piece)) for piece in _cut(body, rng)) == body
