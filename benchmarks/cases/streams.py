"""The cost of recording a streamed body: milliseconds for a piece, compared with its decoding alone.

Rule: no browser takes part, because its work would hide the cost. The pieces are messages in Chrome's form, 64 kB
each, all different. Ten secrets are known. The floor decodes the message from JSON, and the body from base64 and UTF-8.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.site import WORDS
from cdpengine._protocol.instruments import Traffic
from cdpengine.debug import Redactor
from cdpengine.debug.recording.lines import LineMaker

PIECE = 65_536
PIECES = 12

REQUEST = b'{"id":1,"method":"Network.streamResourceContent","params":{"requestId":"1.2"},"sessionId":"S"}'
RESPONSE = b'{"id":1,"result":{"bufferedData":""},"sessionId":"S"}'
"""Messages before the pieces, so that the recorder knows their positions."""


def words(chosen: random.Random, count: int) -> str:
    return " ".join(chosen.choices(WORDS, k=count))


def markup(chosen: random.Random) -> str:
    number = chosen.randrange(1_000_000)
    return (
        f'<li class="item" id="i{number}"><a href="/list?page={number}">{words(chosen, 3)}</a> of many</li>\n'
    )


def script(chosen: random.Random) -> str:
    name = f"f{chosen.randrange(1_000_000)}"
    body = f"const at = list.indexOf(item.{name}); if (at < 0) {{ return null; }} // {words(chosen, 4)}"
    return f"function {name}(list, item) {{ {body} return list[at + 1].value === 'one' ? at : {name}(list, null); }}\n"


def data(chosen: random.Random) -> str:
    number = chosen.randrange(1_000_000)
    fields = {"id": number, "name": words(chosen, 3), "state": "open", "url": f"https://a.example/{number}"}
    return json.dumps(fields) + ","


KINDS: dict[str, Callable[[random.Random], str]] = {"markup": markup, "script": script, "JSON": data}


def messages(kind: str) -> list[bytes]:
    chosen = random.Random(kind)
    body = ""
    while len(body) < PIECE * PIECES:
        body += "".join(KINDS[kind](chosen) for _ in range(1_000))
    made = []
    for start in range(0, PIECE * PIECES, PIECE):
        piece = base64.b64encode(body[start : start + PIECE].encode()).decode()
        sizes = {"dataLength": PIECE, "encodedDataLength": 0}
        params = {"requestId": "1.2", "timestamp": 1.5, **sizes, "data": piece}
        event = {"method": "Network.dataReceived", "params": params, "sessionId": "S"}
        made.append(json.dumps(event, separators=(",", ":")).encode())
    return made


def decode(pieces: Sequence[bytes]) -> None:
    for piece in pieces:
        base64.b64decode(json.loads(piece)["params"]["data"]).decode()


def record(pieces: Sequence[bytes], redactor: Redactor | None) -> None:
    maker = LineMaker(began=0.0, limit=0, redactor=redactor)
    maker.pieces(Traffic(1.0, "sent", "main", REQUEST), Traffic(1.0, "received", "main", RESPONSE))
    for piece in pieces:
        maker.pieces(Traffic(1.0, "received", "main", piece))


def turn_of(work: Callable[[], object]) -> Turn:
    async def turn() -> float:
        started = time.perf_counter()
        work()
        return (time.perf_counter() - started) * 1000 / PIECES

    return turn


async def run(bench: Bench) -> None:
    redactor = Redactor(secrets=[f"secret-number-{number}-of-ten" for number in range(10)])
    for kind in KINDS:
        pieces = messages(kind)
        sides = {
            "floor: decoded": turn_of(partial(decode, pieces)),
            "engine: without redaction": turn_of(partial(record, pieces, None)),
            "engine: recording": turn_of(partial(record, pieces, redactor)),
        }
        await bench.turns(sides, f"a piece of 64 kB: {kind}", unit="ms", turns=bench.turn_count * 3)


CASE = Case("streams", "What recording costs of a streamed body", run, 30, 15)
