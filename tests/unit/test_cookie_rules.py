"""Cookies, origins, proxies and permissions as data: accepted values, and refusals before anything is sent."""

from __future__ import annotations

import math
from typing import Any

import pytest

import cdpengine
from cdpengine._emulation.options import Proxy, check_proxy, context_params
from cdpengine._emulation.permissions import check_permissions
from cdpengine._protocol.domains.network import ChromeCookie, CookiePartitionKey
from cdpengine._storage.cookies import (
    Cookie,
    CookiePartition,
    check_cookie,
    checked_cookies,
    from_chrome,
    goes_to,
    to_chrome,
)
from cdpengine._urls.origins import check_origin, origin_of

HTTPS = "https://example.com/a/b?c#d"
TOP = CookiePartition("https://top.example")

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("name", {"name": 5, "domain": "a.com"}),
    ("name", {"name": "a;b", "domain": "a.com"}),
    ("name", {"name": "a=b", "domain": "a.com"}),
    ("name", {"name": " a", "domain": "a.com"}),
    ("value", {"value": "x;y", "domain": "a.com"}),
    ("value", {"value": "x\ny", "domain": "a.com"}),
    ("value", {"value": None, "domain": "a.com"}),
    ("cookie", {"name": "", "value": "", "domain": "a.com"}),
    ("cookie", {"value": "x" * 4097, "domain": "a.com"}),
    ("cookie", {"value": "\ud800", "domain": "a.com"}),
    ("domain", {"domain": ""}),
    ("domain", {"domain": "a.com/b"}),
    ("domain", {"domain": "a b"}),
    ("domain", {"domain": "http://a.com"}),
    ("domain", {"domain": "a.com:80"}),
    ("domain", {"domain": "a.com", "url": HTTPS}),
    ("url", {"url": "ftp://a.com"}),
    ("url", {"url": "about:blank"}),
    ("path", {"domain": "a.com", "path": "b"}),
    ("path", {"domain": "a.com", "path": ""}),
    ("expires", {"domain": "a.com", "expires": -5}),
    ("expires", {"domain": "a.com", "expires": math.nan}),
    ("expires", {"domain": "a.com", "expires": "soon"}),
    ("expires", {"domain": "a.com", "expires": True}),
    ("secure", {"domain": "a.com", "secure": 1}),
    ("http_only", {"domain": "a.com", "http_only": "yes"}),
    ("same_site", {"domain": "a.com", "same_site": "lax"}),
    ("priority", {"domain": "a.com", "priority": "Highest"}),
    ("source_port", {"domain": "a.com", "source_port": 70000}),
    ("same_site", {"domain": "a.com", "same_site": "None"}),
    ("partition", {"domain": "a.com", "partition": "https://top.example", "secure": True}),
    ("partition", {"domain": "a.com", "partition": CookiePartition("top.example"), "secure": True}),
    ("partition", {"domain": "a.com", "partition": TOP}),
    ("secure", {"domain": "a.com", "name": "__Secure-a"}),
    ("__Host-", {"domain": ".a.com", "name": "__Host-a", "secure": True}),
    ("__host-", {"domain": "a.com", "name": "__host-a", "secure": True, "path": "/x"}),
    ("colour", {"domain": "a.com", "colour": "red"}),
]


@pytest.mark.parametrize(("named", "wrong"), WRONG)
def test_invalid_cookies_are_refused_by_name(named: str, wrong: dict[str, Any]) -> None:
    given = {"name": "a", "value": "secret-value", **wrong}
    with pytest.raises(cdpengine.errors.InvalidArgumentError) as caught:
        check_cookie(given)
    assert named in str(caught.value)
    assert "secret-value" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [None, 5, "a=b", {"name": "a", "value": "b"}, Cookie("a", "b", "a.com"), [5]]
)
def test_invalid_cookie_lists(wrong: object) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        checked_cookies(wrong)


def test_the_invalid_cookie_of_a_list_is_named() -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match=r"cookies\[1\]\.path"):
        checked_cookies([Cookie("a", "b", "a.com"), Cookie("a", "b", "a.com", path="x")])


def test_a_url_supplies_the_domain() -> None:
    assert check_cookie({"name": "a", "value": "b", "url": HTTPS}) == Cookie(
        "a", "b", domain="example.com", secure=True
    )
    assert check_cookie(Cookie("a", "b", url="http://[::1]:80/")).domain == "[::1]"
    assert check_cookie(Cookie("a", "b", domain=".BÜcher.example")).domain == ".xn--bcher-kva.example"


def test_to_chrome_and_back() -> None:
    cookie = Cookie(
        "a",
        "b",
        ".a.com",
        "/x",
        2e9,
        True,
        True,
        "None",
        CookiePartition("https://t.com", False),
        "High",
        "Secure",
        443,
    )
    sent = to_chrome(cookie)
    assert sent["partitionKey"] == {"topLevelSite": "https://t.com", "hasCrossSiteAncestor": False}
    reply_database = ChromeCookie(
        name="a",
        value="b",
        domain=".a.com",
        path="/x",
        expires=2e9,
        http_only=True,
        secure=True,
        same_site="None",
        priority="High",
        source_scheme="Secure",
        source_port=443,
        partition_key=CookiePartitionKey("https://t.com", False),
    )
    assert from_chrome(reply_database) == cookie
    assert from_chrome(ChromeCookie("a", "b", "a.com", "/", expires=-1, session=True)) == Cookie(
        "a", "b", "a.com"
    )


@pytest.mark.parametrize(
    ("cookie", "url", "goes"),
    [
        (Cookie("a", "b", "a.com"), "http://a.com/x", True),
        (Cookie("a", "b", "a.com"), "http://b.a.com/x", False),
        (Cookie("a", "b", ".a.com"), "http://b.a.com/x", True),
        (Cookie("a", "b", ".a.com"), "http://ba.com/x", False),
        (Cookie("a", "b", "a.com", path="/x"), "http://a.com/x/y", True),
        (Cookie("a", "b", "a.com", path="/x"), "http://a.com/xy", False),
        (Cookie("a", "b", "a.com", secure=True), "http://a.com/", False),
        (Cookie("a", "b", "a.com", secure=True), "https://a.com", True),
        (Cookie("a", "b", "localhost", secure=True), "http://localhost:5/", True),
        (Cookie("a", "b", "[::1]"), "http://[::1]:5/", True),
        (Cookie("a", "b", "a.com"), "about:blank", False),
    ],
)
def test_where_a_cookie_is_sent(cookie: Cookie, url: str, goes: bool) -> None:
    assert goes_to(cookie, url) is goes


def test_values_are_not_in_the_repr() -> None:
    assert "hush" not in repr(Cookie("a", "hush", "a.com"))
    assert "hush" not in repr(Proxy("http://a:1", username="hush", password="hush"))


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        (HTTPS, "https://example.com"),
        ("HTTP://Example.com:80", "http://example.com"),
        ("http://u:p@localhost:8000/x", "http://localhost:8000"),
        ("http://[::1]:99", "http://[::1]:99"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://faß.example", "https://xn--fa-hia.example"),
        ("http://2130706433/x", "http://127.0.0.1"),
        ("about:blank", None),
        ("data:text/html,x", None),
        ("file:///x", None),
        ("example.com", None),
        ("http://", None),
        ("http://a:99999", None),
        ("http://a b", None),
        ("http://[::1", None),
    ],
)
def test_origins(given: str, origin: str | None) -> None:
    assert origin_of(given) == origin
    if origin is None:
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="origin"):
            check_origin(given)


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        "",
        "http://",
        "ftp://a:1",
        "http://a:0",
        "http://a:99999",
        "http://a:1/path",
        "http://a:1;http://b:2",
        "http=a:1",
        "a b:1",
        "http://user:hush@a:1",
        Proxy("http://a:1", bypass="a.com"),
        Proxy("http://a:1", bypass=["a,b"]),
        Proxy("http://a:1", bypass=[""]),
        Proxy("http://a:1", username="hush"),
        Proxy("http://a:1", username="hush", password=5),  # type: ignore[arg-type]
    ],
)
def test_invalid_proxies(wrong: object) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="proxy") as caught:
        check_proxy(wrong)
    assert "hush" not in str(caught.value)


def test_proxies() -> None:
    assert context_params(check_proxy("localhost:3128")) == {"proxyServer": "localhost:3128"}
    proxy = Proxy("socks5://10.0.0.1:1080/", bypass=["*.a.com", "<-loopback>"])
    assert context_params(check_proxy(proxy)) == {
        "proxyServer": "socks5://10.0.0.1:1080",
        "proxyBypassList": "<-loopback>,*.a.com",
    }
    assert context_params(check_proxy("direct://")) == {"proxyServer": "direct://"}


@pytest.mark.parametrize(
    ("states", "origin"),
    [
        ({}, None),
        ("camera", None),
        ({"cammera": "granted"}, None),
        ({"camera": "yes"}, None),
        ({"camera": "granted"}, "nowhere"),
        ({"camera": "granted"}, 5),
    ],
)
def test_invalid_permissions(states: object, origin: object) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        check_permissions(states, origin, None)


def test_an_unknown_permission_names_the_nearest() -> None:
    with pytest.raises(
        cdpengine.errors.InvalidArgumentError, match="got 'cammera', expected .* such as camera"
    ):
        check_permissions({"cammera": "granted"}, None, None)
