"""Endpoints as strings: refusals, redaction, and the URL made from Chrome's answer."""

from __future__ import annotations

import contextlib
import json
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._launch.endpoint import check_endpoint, redact_endpoint, resolve_endpoint, websocket_url
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("", "http://127.0.0.1:9222"),
        ("localhost:9222", 'a scheme: "http://localhost:9222"'),
        ("127.0.0.1:9222", 'a scheme: "http://127.0.0.1:9222"'),
        ("9222", "http://127.0.0.1:9222"),
        ("ftp://x", "ws://127.0.0.1:9222"),
        ("http://", "host is missing"),
        ("http://:9222", "host is missing"),
        ("http://x:99999", "port from 1 to 65535"),
        ("http://x:0", "port from 1 to 65535"),
        ("http://x:port", "port from 1 to 65535"),
        (f"http://{'a' * 64}.example:1", "has 1 to 63 characters"),
        ("ws://a..example/x", "has 1 to 63 characters"),
        ("http://[::1", "ws://127.0.0.1:9222"),
        ("http://a b/", "ws://127.0.0.1:9222"),
        ("ws://x\n", "ws://127.0.0.1:9222"),
        ("http://ada:secret@x:9222", "headers="),
        ("/devtools/browser/1", "ws://127.0.0.1:9222"),
    ],
)
async def test_invalid_endpoints_are_refused(endpoint: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await resolve_endpoint(endpoint)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_other_types_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="an int"):
        check_endpoint(9222)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "endpoint",
    [
        "ws://127.0.0.1:9222/devtools/browser/1",
        "wss://gateway.example/x?token=abc",
        "ws://[::1]:9222/devtools/browser/1",
        "ws://localhost/devtools/browser/1",
    ],
)
async def test_websocket_urls_are_used_unchanged(endpoint: str) -> None:
    resolved = await resolve_endpoint(endpoint, {"X": "1"})
    assert resolved.ws_url == endpoint
    assert resolved.headers == {"X": "1"}
    assert "abc" not in str(resolved)


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
        ("wss://x/y?token=abc&n=1", "wss://x/y?token=***&n=***"),
        ("wss://x/y?abc", "wss://x/y?***"),
        ("wss://ada:abc@x/y", "wss://***@x/y"),
        ("wss://ada:a@bc@x/y", "wss://***@x/y"),
        ("ada:abc@x", "***@x"),
        ("", ""),
    ],
)
def test_redaction(endpoint: str, shown: str) -> None:
    assert redact_endpoint(endpoint) == shown


secrets = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1).map(
    lambda text: "Zq" + "".join(c for c in text if c not in "/?#&;=") + "qZ"
)


@given(secret=secrets, scheme=st.sampled_from(["http", "https", "ws", "wss", "nonsense"]))
def test_no_secret_survives_redaction(secret: str, scheme: str) -> None:
    for endpoint in [
        f"{scheme}://host/x?token={secret}",
        f"{scheme}://host/x?{secret}",
        f"{scheme}://ada:{secret}@host/x",
        f"{scheme}://{secret}@host?a=1&b={secret}#{secret}",
        f"ada:{secret}@host",
    ]:
        assert secret not in redact_endpoint(endpoint)


@given(st.text())
def test_redaction_and_checking_never_fail_otherwise(text: str) -> None:
    redact_endpoint(text)
    with contextlib.suppress(InvalidArgumentError):
        check_endpoint(text)


def answer(url: str) -> bytes:
    return json.dumps({"Browser": "Chrome/1", "webSocketDebuggerUrl": url}).encode()


@pytest.mark.parametrize(
    ("asked", "given_url", "result"),
    [
        (
            "http://10.0.0.5:9333",
            "ws://localhost/devtools/browser/1",
            "ws://10.0.0.5:9333/devtools/browser/1",
        ),
        (
            "http://[::1]:9333/",
            "ws://127.0.0.1:9222/devtools/browser/1",
            "ws://[::1]:9333/devtools/browser/1",
        ),
        (
            "https://gate.example",
            "ws://127.0.0.1:9222/devtools/browser/1",
            "wss://gate.example/devtools/browser/1",
        ),
        ("https://gate/pool/7/", "ws://inner/devtools/browser/1", "wss://gate/pool/7/devtools/browser/1"),
        ("http://h:1/json/version", "ws://inner/devtools/browser/1", "ws://h:1/devtools/browser/1"),
        (
            "https://gate?token=a%20b",
            "ws://inner/devtools/browser/1",
            "wss://gate/devtools/browser/1?token=a+b",
        ),
        ("https://gate?token=a", "ws://inner/d?token=z", "wss://gate/d?token=z"),
    ],
)
def test_host_and_port_are_put_back(asked: str, given_url: str, result: str) -> None:
    assert websocket_url(answer(given_url), urlsplit(asked)) == result


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<!doctype html>", "HTML"),
        (b"", "no JSON"),
        (b"hello", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "no webSocketDebuggerUrl"),
        (b"{}", "no webSocketDebuggerUrl"),
        (b'{"webSocketDebuggerUrl": 7}', "no webSocketDebuggerUrl"),
        (answer("http://x/"), "not a websocket URL"),
        (answer("ws://[x"), "not a websocket URL"),
    ],
)
def test_answers_that_are_not_chromes(body: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        websocket_url(body, urlsplit("http://127.0.0.1:9222"))
