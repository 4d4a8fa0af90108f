"""resolve_endpoint against servers other than Chrome, and against closed ports."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from cdpengine._launch.endpoint import resolve_endpoint
from cdpengine.errors import ConnectFailedError

PATH = "/devtools/browser/1"


def serve(server: HTTPServer, **arguments: Any) -> str:
    server.expect_request("/json/version").respond_with_data(**arguments)
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A reserved port without a listener."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
async def refused_by_chrome(httpserver: HTTPServer) -> HTTPServer:
    """Answer as Chrome does: with status 500 if the Host is a DNS name."""

    def handle(request: Request) -> Response:
        if request.host.partition(":")[0] not in ("127.0.0.1", "localhost"):
            return Response("Host header is specified and is not an IP address or localhost.", status=500)
        return Response('{"webSocketDebuggerUrl": "ws://' + request.host + PATH + '"}')

    httpserver.expect_request("/json/version").respond_with_handler(handle)
    return httpserver


class _Names(trio.abc.HostnameResolver):
    """Resolves chrome.test to loopback addresses. The first one has no listener."""

    async def getaddrinfo(self, host: bytes | None, port: object, *_: object) -> Any:
        if host == b"chrome.test":
            return [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
                for address in ("127.0.0.7", "127.0.0.1")
            ]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        raise NotImplementedError


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_dns_name_becomes_the_address_that_answers(
    refused_by_chrome: HTTPServer, scheme: str
) -> None:
    trio.socket.set_custom_hostname_resolver(_Names())
    port = refused_by_chrome.port
    resolved = await resolve_endpoint(f"{scheme}://chrome.test:{port}{'' if scheme == 'http' else PATH}")
    assert resolved.ws_url == f"ws://127.0.0.1:{port}{PATH}"


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_an_unknown_name(scheme: str) -> None:
    trio.socket.set_custom_hostname_resolver(_Names())
    with pytest.raises(ConnectFailedError, match="Name or service not known"):
        await resolve_endpoint(f"{scheme}://nobody.test:9222/?token=abc")


async def test_localhost_stays_localhost(refused_by_chrome: HTTPServer) -> None:
    port = refused_by_chrome.port
    resolved = await resolve_endpoint(f"http://localhost:{port}/")
    assert resolved.ws_url == f"ws://localhost:{port}{PATH}"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"response_data": "<html>", "content_type": "text/html"}, "HTML"),
        ({"response_data": "{}"}, "no webSocketDebuggerUrl"),
        ({"response_data": "x" * 1_000_000}, "no JSON"),
        ({"response_data": "gone", "status": 404}, "status 404"),
        ({"response_data": "broken", "status": 500}, "status 500"),
        (
            {"response_data": "", "status": 302, "headers": {"Location": "/login"}},
            "/login was answered with HTTP status 500",
        ),
    ],
)
async def test_servers_other_than_chrome(httpserver: HTTPServer, answer: dict[str, Any], reason: str) -> None:
    endpoint = serve(httpserver, **answer)
    with pytest.raises(ConnectFailedError, match=reason) as caught:
        await resolve_endpoint(f"{endpoint}?token=abc")
    assert endpoint in str(caught.value)
    assert "abc" not in str(caught.value)


async def test_a_refusal_mentions_headers(httpserver: HTTPServer) -> None:
    with pytest.raises(ConnectFailedError, match="headers="):
        await resolve_endpoint(serve(httpserver, response_data="", status=401))


async def test_headers_and_query_go_along(httpserver: HTTPServer) -> None:
    httpserver.expect_request(
        "/pool/json/version", query_string="token=abc", headers={"Authorization": "Bearer x"}
    ).respond_with_json({"webSocketDebuggerUrl": f"ws://inner{PATH}"})
    resolved = await resolve_endpoint(
        f"http://127.0.0.1:{httpserver.port}/pool?token=abc", {"Authorization": "Bearer x"}
    )
    assert resolved.ws_url == f"ws://127.0.0.1:{httpserver.port}/pool{PATH}?token=abc"
    assert resolved.headers == {"Authorization": "Bearer x"}
    assert "Bearer" not in repr(resolved)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_closed_port(closed_port: int, host: str) -> None:
    with pytest.raises(ConnectFailedError, match="nothing listens there"):
        await resolve_endpoint(f"http://{host}:{closed_port}")


async def test_a_server_without_http() -> None:
    async def greet(stream: trio.SocketStream) -> None:
        await stream.send_all(b"220 mail ready\r\n")

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, greet, 0)
        port = listeners[0].socket.getsockname()[1]
        with pytest.raises(ConnectFailedError, match="does not speak HTTP"):
            await resolve_endpoint(f"http://127.0.0.1:{port}")
        nursery.cancel_scope.cancel()


async def test_plain_http_behind_https(httpserver: HTTPServer) -> None:
    with pytest.raises(ConnectFailedError, match="TLS"):
        await resolve_endpoint(f"https://127.0.0.1:{httpserver.port}")


async def test_no_proxy_is_used_for_loopback(
    refused_by_chrome: HTTPServer, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert (await resolve_endpoint(f"http://127.0.0.1:{refused_by_chrome.port}")).ws_url.endswith(PATH)


async def say_nothing(stream: trio.SocketStream) -> None:
    await trio.sleep_forever()


async def test_a_silent_server_can_be_cancelled() -> None:
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, say_nothing, 0)
        port = listeners[0].socket.getsockname()[1]
        with trio.move_on_after(0.1) as scope:
            await resolve_endpoint(f"http://127.0.0.1:{port}")
        assert scope.cancelled_caught
        nursery.cancel_scope.cancel()


REDIRECTS = {
    "a slash": ("/json/version/", PATH),
    "a whole URL": ("http://127.0.0.1:{port}/json/version/", PATH),
    "another name of this machine": ("http://localhost:{port}/json/version/", PATH),
    "a gateway's folder": ("/chrome/json/version", f"/chrome{PATH}"),
    "another document": ("/version.json", PATH),
}


@pytest.mark.parametrize("name", REDIRECTS)
async def test_a_redirect_on_the_same_host_is_followed(name: str, httpserver: HTTPServer) -> None:
    location, path = REDIRECTS[name]
    location = location.format(port=httpserver.port)
    server = f"127.0.0.1:{httpserver.port}"
    serve(httpserver, response_data="", status=302, headers={"Location": location})
    target = "/" + location.removeprefix("http://").partition("/")[2]
    answer = {"webSocketDebuggerUrl": f"ws://{server}{PATH}"}
    httpserver.expect_request(target, headers={"X-Key": "sesame"}).respond_with_json(answer)
    resolved = await resolve_endpoint(f"http://{server}?token=t", {"X-Key": "sesame"})
    assert resolved.ws_url == f"ws://{server}{path}?token=t"


async def test_a_redirect_to_another_port_receives_no_header_and_no_token(
    httpserver: HTTPServer,
) -> None:
    chrome = HTTPServer()
    chrome.start()
    try:
        there = f"127.0.0.1:{chrome.port}"
        serve(chrome, response_data=f'{{"webSocketDebuggerUrl": "ws://{there}{PATH}"}}')
        here = serve(
            httpserver, response_data="", status=307, headers={"Location": f"http://{there}/json/version"}
        )
        assert (await resolve_endpoint(f"{here}?token=t")).ws_url == f"ws://{there}{PATH}"
        with pytest.raises(ConnectFailedError, match=f"redirects to .at http://{there}"):
            await resolve_endpoint(here, {"X-Key": "sesame"})
        assert [request.query_string for request, _response in chrome.log] == [b""]
    finally:
        chrome.stop()


async def test_circular_redirects_end(httpserver: HTTPServer) -> None:
    here = serve(httpserver, response_data="", status=302, headers={"Location": "/json/version"})
    with pytest.raises(ConnectFailedError, match="302"):
        await resolve_endpoint(here)
    assert len(httpserver.log) == 6
