"""get: ask a server for one document over HTTP, as a browser's debugging port offers them.

Rule: what is no answer is told by its first bytes, and an answer is read no further than it may be long. Nothing
is logged, no redirection is followed and no proxy is used, as websockets to the same server know none either.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

import h11
import trio

from cdpengine._protocol.handshake import CLOSED, ELSE, Obstacle, ServerAnswer, sent_secrets
from cdpengine._protocol.sockets import checked_header, failed, host_and_port, open_stream

_RECEIVE = 65_536
_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~-._?[]"


async def get(url: str, headers: Mapping[str, str], *, shown: str, longest: int) -> bytes:
    """Return the body that an "http://..." or "https://..." URL is answered with, its beginning when it is long.

    `shown` is the URL in errors, `longest` counts bytes. Raises ConnectFailedError for every answer but 200, and
    for none; InvalidArgumentError for headers that HTTP does not allow. Has no timeout: put it in a cancel scope.
    """
    parts = urlsplit(url)
    answer = ServerAnswer(sent_secrets(url, headers), what=parts.path)
    request = _request(url, headers)
    client = h11.Connection(h11.CLIENT)
    sent = (client.send(request) or b"") + (client.send(h11.EndOfMessage()) or b"")
    port = parts.port or _PORTS[parts.scheme]
    stream = await open_stream(parts.hostname or "", port, tls=parts.scheme == "https", shown=shown)
    async with stream:
        try:
            await stream.send_all(sent)
            return await _read(stream, client, answer, longest, shown)
        except trio.BrokenResourceError:
            raise failed(shown, answer.end() or CLOSED) from None
        except h11.RemoteProtocolError as error:
            # Its text may repeat what the server wrote, as a Python object: that may be what the server was sent.
            why = str(error).partition(": bytearray(")[0]
            reason = f"what answers there does not speak HTTP as expected ({why})"
            raise failed(shown, answer.end() or Obstacle(reason, ELSE)) from None


def _request(url: str, headers: Mapping[str, str]) -> h11.Request:
    parts = urlsplit(url)
    given = [checked_header(name, value) for name, value in headers.items()]
    default = _PORTS[parts.scheme]
    host = host_and_port(parts.hostname or "", parts.port or default, default)
    own = [(b"Host", host.encode("idna" if not host.isascii() else "ascii")), (b"Connection", b"close")]
    own.append((b"Accept", b"*/*"))
    names = {name.lower() for name, _value in given}
    target = quote(parts.path or "/", safe=_SAFE) + (
        f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    )
    return h11.Request(
        method="GET", target=target, headers=[*(pair for pair in own if pair[0].lower() not in names), *given]
    )


async def _read(
    stream: trio.abc.ReceiveStream, client: h11.Connection, answer: ServerAnswer, longest: int, shown: str
) -> bytes:
    body = bytearray()
    while len(body) <= longest:
        event = client.next_event()
        if event is h11.NEED_DATA:
            data = await stream.receive_some(_RECEIVE)
            if (obstacle := answer.feed(data) if data else answer.end()) is not None:
                raise failed(shown, obstacle)
            if not data and answer.is_empty:
                raise failed(shown, CLOSED)
            client.receive_data(bytes(data))
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
    return bytes(body)
