"""Endpoints that answer without being a browser, over http, https, ws and wss: reported immediately and
without secrets.
"""

from __future__ import annotations

import logging

import attrs
import pytest
import trio
from raw_server import LOOPBACK_TLS, ByteStream, accepting, answering, read_request, tcp_server

import cdpengine
from cdpengine.errors.root import describe_fields

SECRETS = ("sesame-in-query", "sesame-in-header", "c2VzYW1l")
QUERY = f"token={SECRETS[0]}&stealth=true"
HEADERS = {"Authorization": f"Bearer {SECRETS[1]}", "X-Api-Key": SECRETS[2]}

NOT_THERE = "Is Chrome running there"


@attrs.frozen
class Answer:
    """`head` answers any request, and the connection stays open: a client must not wait for more."""

    head: bytes
    explanation: str
    advised: str
    status: int | None = None


def with_status(status: int, phrase: str, *headers: str) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status} {phrase}", *headers, "", "")).encode()


def refused(status: int, phrase: str, advised: str, *headers: str, told: str | None = None) -> Answer:
    """Return a refusal whose body never completes: it is missing, shorter than announced, or open until the end."""
    return Answer(with_status(status, phrase, *headers), f"{status} ({told or phrase})", advised, status)


ANSWERS = {
    "401, body until the end": refused(401, "Unauthorized", "headers="),
    "401, body cut short": Answer(
        with_status(401, "Unauthorized", "Content-Length: 100") + f"bad token {SECRETS[0]}".encode(),
        "401 (Unauthorized)",
        "token in the URL",
        401,
    ),
    "401, its phrase echoes a token": refused(
        401, f"No {SECRETS[0]}!", "headers=", "Content-Length: 0", told="Unauthorized"
    ),
    "401, its phrase echoes a header": refused(
        401, f"{SECRETS[1].upper()}?", "headers=", told="Unauthorized"
    ),
    "401, its phrase is long": refused(401, "x" * 1000, "headers=", "Content-Length: 0", told="Unauthorized"),
    "401, no phrase": refused(401, "", "headers=", "Content-Length: 0", told="Unauthorized"),
    "401, with its own phrase": refused(401, "Token expired", "headers=", "Content-Length: 0"),
    "403": refused(403, "Forbidden", "Origin", "Content-Length: 0"),
    "404": refused(404, "Not Found", "ws", "Content-Length: 0"),
    "407": refused(407, "Proxy Authentication Required", "headers=", "Content-Length: 0"),
    "400": refused(400, "Bad Request", "check the URL", "Content-Length: 0"),
    "426": refused(426, "Upgrade Required", "check the URL", "Content-Length: 0"),
    "429": refused(429, "Too Many Requests", "other sessions", "Content-Length: 0"),
    "500": refused(500, "Internal Server Error", "failed", "Content-Length: 0"),
    "502": refused(502, "Bad Gateway", "failed", "Content-Length: 0"),
    "503": refused(503, "Service Unavailable", "try again", "Content-Length: 0"),
    "599, an unknown status": Answer(with_status(599, ""), "599", "failed", 599),
    "302 to another host": refused(
        302,
        "Found",
        "redirects to (at https://login.example:8443)",
        f"Location: https://login.example:8443/in?back={SECRETS[0]}",
    ),
    "302 to a path": refused(302, "Found", "redirects to", f"Location: /login?{QUERY}"),
    "308 to nowhere": refused(308, "Permanent Redirect", "redirects to", "Content-Length: 0"),
    "another protocol": Answer(b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak", "Check host and port"),
    "binary": Answer(b"\x00\x01\x02\x03\n" * 10, "does not speak", "Check host and port"),
    "HTTP of another age": Answer(b"HTTP/9.7 200 OK\r\n\r\n", "does not speak", "Check host and port"),
}
TRICKLED = "401, body until the end"


@pytest.fixture(params=["ws", "wss", "http", "https"])
def scheme(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_TLS))
    chosen: str = request.param
    return chosen


def is_tls(scheme: str) -> bool:
    return scheme in ("wss", "https")


async def refusal_of(
    scheme: str, port: int, caplog: pytest.LogCaptureFixture
) -> cdpengine.errors.ConnectFailedError:
    caplog.set_level(logging.DEBUG)
    path = "/devtools/browser/1" if scheme.startswith("ws") else "/"
    with trio.fail_after(20), pytest.raises(cdpengine.errors.ConnectFailedError) as caught:
        async with cdpengine.connect(
            f"{scheme}://127.0.0.1:{port}{path}?{QUERY}", headers=HEADERS, timeout=60
        ):
            pytest.fail("connected")
    error = caught.value
    for shown in (str(error), repr(error), str(describe_fields(error)), error.endpoint, caplog.text):
        for secret in SECRETS:
            assert secret.lower() not in shown.lower()
    assert f"127.0.0.1:{port}" in str(error)
    return error


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_answer_is_reported_immediately(
    name: str, scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = ANSWERS[name]

    async def serve(stream: ByteStream) -> None:
        await read_request(stream)
        await stream.send_all(answer.head)
        await trio.sleep_forever()

    async with tcp_server(serve, tls=is_tls(scheme)) as port:
        error = await refusal_of(scheme, port, caplog)
    message = str(error)
    assert answer.explanation.lower() in message.lower()
    assert answer.advised.lower() in message.lower()
    assert NOT_THERE not in message
    assert error.status == answer.status


async def test_a_trickling_refusal_is_reported_with_its_first_line(
    scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer comes byte by byte, each in a separate packet. The body never ends."""

    async def serve(stream: ByteStream) -> None:
        await read_request(stream)
        for byte in ANSWERS[TRICKLED].head:
            await stream.send_all(bytes((byte,)))
        while True:
            await stream.send_all(b"x")
            await trio.sleep(0.01)

    async with tcp_server(serve, tls=is_tls(scheme)) as port:
        error = await refusal_of(scheme, port, caplog)
    assert error.status == 401


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 4", b"HTTP/1.1 101 X\r\nUpgrade: web"])
async def test_a_server_that_closes_before_its_answer(
    head: bytes, scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with tcp_server(answering(head), tls=is_tls(scheme)) as port:
        error = await refusal_of(scheme, port, caplog)
    assert NOT_THERE not in str(error)
    assert error.status is None


@pytest.mark.parametrize("scheme", ["ws", "http"])
@pytest.mark.parametrize("first", [b"\x15\x03\x01\x00\x02\x02\x46", b""])
async def test_a_server_that_expects_tls(scheme: str, first: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with tcp_server(answering(first)) as port:
        error = await refusal_of(scheme, port, caplog)
    assert {"ws": "wss://", "http": "https://"}[scheme] in str(error)
    assert NOT_THERE not in str(error)


@pytest.mark.parametrize("scheme", ["wss", "https"])
async def test_an_untrusted_certificate(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    async with tcp_server(answering(b""), tls=True) as port:
        error = await refusal_of(scheme, port, caplog)
    assert "certificate is not accepted: self-signed certificate" in str(error)
    assert NOT_THERE not in str(error)


@pytest.mark.parametrize("scheme", ["wss", "https"])
async def test_tls_with_a_server_without_it(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    async def serve(stream: ByteStream) -> None:
        await stream.receive_some(4096)
        await stream.send_all(with_status(400, "Bad Request"))

    async with tcp_server(serve) as port:
        error = await refusal_of(scheme, port, caplog)
    assert "TLS failed" in str(error)
    assert NOT_THERE not in str(error)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 20"])
async def test_an_answer_that_never_comes_ends_with_the_timeout(head: bytes, scheme: str) -> None:
    async def serve(stream: ByteStream) -> None:
        await read_request(stream)
        await stream.send_all(head)
        await trio.sleep_forever()

    async with tcp_server(serve, tls=is_tls(scheme)) as port:
        with pytest.raises(cdpengine.errors.ConnectFailedError, match=r"no answer within 0\.1 s") as caught:
            async with cdpengine.connect(f"{scheme}://127.0.0.1:{port}/?{QUERY}", timeout=0.1):
                pytest.fail("connected")
    assert SECRETS[0] not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"HTTP/1.1 200 OK\r\nno header " + SECRETS[0].encode() + b"\r\n\r\n", "(illegal header line)"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + SECRETS[0].encode() + b"\r\n",
            "(illegal chunk header)",
        ),
    ],
)
async def test_anything_but_http_is_not_repeated(
    head: bytes, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with tcp_server(answering(head)) as port:
        assert told in str(await refusal_of("http", port, caplog))


async def test_a_websocket_that_closes_after_its_handshake() -> None:
    reason = b"\x03\xe8" + SECRETS[0].encode()
    async with tcp_server(answering(bytes((0x88, len(reason))) + reason, upgrade=True)) as port:
        with trio.fail_after(20), pytest.raises(cdpengine.errors.ConnectFailedError) as caught:
            async with cdpengine.connect(f"ws://127.0.0.1:{port}/?{QUERY}", timeout=60):
                pytest.fail("connected")
    assert "with code 1000 NORMAL_CLOSURE. " in str(caught.value)
    assert SECRETS[0] not in str(caught.value)


# --- a websocket without a browser behind it
# -----------------------------------------------------------------


def text_frame(text: str) -> bytes:
    return bytes((0x81, len(text))) + text.encode()


NO_BROWSERS = {
    "node": (
        '{"id":1,"error":{"code":-32601,"message":"no such method"}}',
        "Browser.getVersion: no such method",
    ),
    "an answer of another shape": ('{"id":1,"result":{"product":7}}', "Browser.getVersion"),
}


@pytest.mark.parametrize("name", NO_BROWSERS)
async def test_an_endpoint_that_speaks_the_protocol_without_a_browser(name: str) -> None:
    """Node.js answers this way: it has scripts to debug, but neither tabs nor a browser version."""
    said, told = NO_BROWSERS[name]

    async def serve(stream: ByteStream) -> None:
        await stream.send_all(accepting(await read_request(stream)))
        await stream.receive_some(4096)  # Browser.getVersion
        await stream.send_all(text_frame(said))
        await trio.sleep_forever()

    async with tcp_server(serve) as port:
        with trio.fail_after(20), pytest.raises(cdpengine.errors.ConnectFailedError, match=told) as caught:
            async with cdpengine.connect(f"ws://127.0.0.1:{port}/?{QUERY}", timeout=60):
                pytest.fail("connected")
    assert NOT_THERE not in str(caught.value)
    assert SECRETS[0] not in str(caught.value)


@pytest.mark.parametrize(("said", "told"), [("no session", ": no session"), (f"bad: {SECRETS[0]}", "")])
async def test_a_websocket_that_closes_with_a_reason(said: str, told: str) -> None:
    """Services accept the connection, then close it with a code and a reason if they have no session to give."""
    reason = b"\x03\xf0" + said.encode()

    async def serve(stream: ByteStream) -> None:
        await stream.send_all(accepting(await read_request(stream)))
        await stream.receive_some(4096)
        await stream.send_all(bytes((0x88, len(reason))) + reason)
        await stream.receive_some(4096)

    async with tcp_server(serve) as port:
        with (
            trio.fail_after(20),
            pytest.raises(
                cdpengine.errors.ConnectFailedError, match=f"code 1008 POLICY_VIOLATION{told}[.]"
            ) as caught,
        ):
            async with cdpengine.connect(f"ws://127.0.0.1:{port}/?{QUERY}", timeout=60):
                pytest.fail("connected")
    assert NOT_THERE not in str(caught.value)
    assert SECRETS[0] not in str(caught.value)
