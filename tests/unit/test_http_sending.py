"""Sending of HTTP requests without a browser: answers to challenges, and reasons of failures."""

from __future__ import annotations

import hashlib
import socket

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from cdpengine._api.http.body import HttpBody
from cdpengine._api.http.sending import HttpMessage, HttpReply, send
from cdpengine._emulation.options import Proxy
from cdpengine._network.interceptor import Credentials
from cdpengine.errors import HttpRequestFailedError

ADA = Credentials("ada", "hush")
DIGEST = 'Digest realm="r", nonce="n1", qop="auth", algorithm={}'


async def ask(
    url: str, *, method: str = "GET", body: bytes | None = None, proxy: Proxy | None = None
) -> HttpReply:
    return await send(HttpMessage(method, url, (), HttpBody(content=body), ADA), proxy=proxy, verify=True)


def hashed(*parts: str, by: str) -> str:
    return hashlib.new(by, ":".join(parts).encode()).hexdigest()


@pytest.mark.parametrize(("algorithm", "by"), [("MD5", "md5"), ("SHA-256", "sha256")])
async def test_a_digest_challenge_is_answered(httpserver: HTTPServer, algorithm: str, by: str) -> None:
    bodies = []

    def guarded(request: Request) -> Response:
        bodies.append(request.get_data())
        given = request.authorization
        if given is None or given.type != "digest":
            challenges = [("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", 'Basic realm="r"')]
            return Response("who?", 401, [*challenges, ("WWW-Authenticate", DIGEST.format(algorithm))])
        first, second = (
            hashed("ada", "r", "hush", by=by),
            hashed(request.method, given.parameters["uri"] or "", by=by),
        )
        parts = (given.parameters["nonce"], given.parameters["nc"], given.parameters["cnonce"], "auth")
        expected = hashed(first, *map(str, parts), second, by=by)
        return Response("welcome" if given.parameters["response"] == expected else "wrong", 200)

    httpserver.expect_request("/guarded").respond_with_handler(guarded)
    reply = await ask(httpserver.url_for("/guarded?a=1"), method="POST", body=b"posted")
    assert (reply.status, reply.content) == (200, b"welcome")
    assert set(bodies) == {b"posted"}


async def test_basic_is_found_among_other_challenges(httpserver: HTTPServer) -> None:
    def guarded(request: Request) -> Response:
        if request.authorization is not None and request.authorization.password == "hush":
            return Response("welcome")
        return Response(
            "who?", 401, [("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", 'Basic realm="r"')]
        )

    httpserver.expect_request("/").respond_with_handler(guarded)
    assert (await ask(httpserver.url_for("/"))).content == b"welcome"


@pytest.mark.parametrize(
    "challenge",
    [
        'Digest realm="r", nonce="n", qop="auth-int"',
        'Digest realm="r", nonce="n", algorithm=SHA3',
        "Digest x",
    ],
)
async def test_a_digest_challenge_that_is_not_supported_has_a_named_error(
    httpserver: HTTPServer, challenge: str
) -> None:
    httpserver.expect_request("/").respond_with_data("who?", 401, {"WWW-Authenticate": challenge})
    with pytest.raises(HttpRequestFailedError) as caught:
        await ask(httpserver.url_for("/"))
    assert "Digest authentication" in str(caught.value)


def free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as one:
        one.bind((host, 0))
        port: int = one.getsockname()[1]
        return port


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_a_refused_connection_names_host_port_and_advice(host: str) -> None:
    try:
        port = free_port("::1" if ":" in host else "127.0.0.1")
    except OSError:
        pytest.skip("no IPv6 on this machine")
    advice = f"{host}:{port} refused the connection. Check that the server runs and listens on this port"
    with pytest.raises(HttpRequestFailedError) as caught:
        await ask(f"http://{host}:{port}/x")
    assert str(caught.value) == f"GET http://{host}:{port}/x failed: {advice}"
    with pytest.raises(HttpRequestFailedError) as caught:
        await ask("http://shop.example/", proxy=Proxy(f"http://{host}:{port}"))
    assert str(caught.value) == f"GET http://shop.example/ failed: {advice}"


async def test_an_unknown_host_is_named() -> None:
    with pytest.raises(HttpRequestFailedError, match=r"the host nowhere\.invalid is unknown \(.+\)\. Check"):
        await ask("http://nowhere.invalid/")
