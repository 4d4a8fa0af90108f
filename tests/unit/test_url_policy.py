"""Permitted destinations of pages: every spelling of a host, judged as the browser reads it."""

from __future__ import annotations

import ipaddress

import pytest

from cdpengine._urls.hosts import is_public, parse_address
from cdpengine._urls.reading import split_url
from cdpengine.service.url_policy import UrlPolicy

LOOPBACK = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.255.255.254",
    "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.0.0.1.",
)  # fmt: skip
PRIVATE = (
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0", "[fd00::1]",
    "[fe80::1]", "[::]", "198.18.0.1", "224.0.0.1", "255.255.255.255", "[ff02::1]", "3232235777", "0xA9FEA9FE",
    "192.0.0.8", "192.0.0.200", "192.0.2.1", "192.88.99.1", "198.51.100.1", "203.0.113.1", "240.0.0.1",
    "[fec0::1]", "[feff::1]", "[fe9f::1]", "[fc00::1]", "[::2]", "[::8.8.8.8]", "[::ffff:0:8.8.8.8]", "[::ffff:10.0.0.1]",
    "[64:ff9b:1::1]", "[64:ff9b::a00:1]", "[100::1]", "[100:0:0:1::1]", "[2001::1]", "[2001:2::1]", "[2001:10::1]",
    "[2001:20::1]", "[2001:db8::1]", "[2002:a00:1::]", "[3fff::1]", "[5f00::1]", "[4000::1]", "[e000::1]", "[200::1]",
)  # fmt: skip
PUBLIC = (
    "93.184.216.34",
    "8.8.8.8",
    "1.1.1.1",
    "[2606:4700::1111]",
    "172.15.0.1",
    "172.32.0.1",
    "[::ffff:8.8.8.8]",
    "[64:ff9b::808:808]",
    "[2002:808:808::]",
    "[2a00:1450::1]",
    "[3ffe::1]",
    "192.0.1.1",
)


@pytest.mark.parametrize("host", LOOPBACK + PRIVATE)
@pytest.mark.parametrize(
    "form", ["http://{}/", "https://{}:8443/x", "HTTP://user:pw@{}/", "http:\\\\{}\\x", " ht\ntp://{}"]
)
def test_private_addresses_are_refused_however_they_are_written(host: str, form: str) -> None:
    url = form.format(host)
    assert "has an address" in UrlPolicy().refusal(url), url
    assert UrlPolicy(allow_private=True).refusal(url) == ""


@pytest.mark.parametrize("host", PUBLIC)
def test_public_addresses_are_allowed(host: str) -> None:
    assert UrlPolicy().refusal(f"https://{host}/") == ""
    assert not UrlPolicy().needs_addresses(f"https://{host}/")


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://settings", "ftp://example.com/", "view-source:http://a/",
     "blob:http://a/b", "ws://example.com", "", "example.com", "//example.com/", "\x00javascript:1", "java\nscript:1", "devtools://x"],
)  # fmt: skip
def test_other_schemes_are_refused(url: str) -> None:
    assert "scheme" in UrlPolicy().refusal(url)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("notaurl", "is not an address"), ("/dlg", "is a path without a host"), ("", "is empty"),
        ("localhost:8000", "has no scheme"), ("http://", "names no host"),
    ],
)  # fmt: skip
def test_a_string_that_is_no_url_is_named_as_such(url: str, reason: str) -> None:
    refusal = UrlPolicy(schemes=frozenset({"http", "data"})).refusal(url)
    assert refusal.startswith(f"this URL {reason}; expected one with a scheme and a host, such as http")


def test_urls_without_a_server_are_allowed() -> None:
    assert UrlPolicy().refusal("about:blank") == ""
    assert UrlPolicy(schemes=frozenset({"file"})).refusal("file:///a") == ""


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://example.com/", True), ("https://EXAMPLE.com./", True), ("https://a.example.com/", False),
        ("https://a.shop.example/", True), ("https://shop.example/", False), ("https://notshop.example/", False),
        ("https://example.com.evil.org/", False), ("https://example.com@evil.org/", False), ("https://evil.org/#example.com", False),
        ("http://10.0.0.7/", True), ("http://10.0.0.8/", False), ("https://bad.shop.example/", False),
    ],
)  # fmt: skip
def test_lists_of_hosts(url: str, allowed: bool) -> None:
    policy = UrlPolicy(allow=("example.com", "*.shop.example", "10.0.0.7"), deny=("bad.shop.example",))
    assert (policy.refusal(url) == "") is allowed
    assert not policy.needs_addresses(url)


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("localhost", "%6C%6Fcalhost"), ("127.0.0.1", "0x7f.1"), ("::1", "[0::1]"), ("[::1]", "[::1]"),
        ("bücher.example", "xn--bcher-kva.example"), ("*.bücher.example", "a.BÜCHER.example"), ("Evil.org.", "evil.org"),
    ],
)  # fmt: skip
def test_a_pattern_applies_to_every_spelling_of_a_host(pattern: str, host: str) -> None:
    assert "denied" in UrlPolicy(deny=(pattern,), allow_private=True).refusal(f"http://{host}/")
    assert UrlPolicy(allow=(pattern,)).refusal(f"http://{host}/") == ""


def test_an_invalid_host_is_refused() -> None:
    everywhere = UrlPolicy(allow_private=True)
    for host in ("256.1.1.1", "a%2Fb", "[::1", "xn--ü.example"):
        assert everywhere.refusal(f"http://{host}/") == "it has no valid host"


def test_a_denied_host_is_refused_where_all_are_allowed() -> None:
    policy = UrlPolicy(deny=("*.ads.example", "evil.org"), allow_private=True)
    assert "denied" in policy.refusal("https://x.ads.example/")
    assert "denied" in policy.refusal("https://evil.org/")
    assert policy.refusal("https://example.com/") == ""


async def test_a_name_is_judged_by_its_addresses() -> None:
    assert "of this machine" in await UrlPolicy().check("http://localhost:9222/")
    assert await UrlPolicy(allow_private=True).check("http://localhost/") == ""
    assert await UrlPolicy().check("http://no-such-host.invalid/") == "", "the browser reports the error"


@pytest.mark.parametrize(
    ("host", "address"),
    [("0x", "0.0.0.0"), ("256", "0.0.1.0"), ("1.256", "1.0.1.0"), ("256.1", None), ("1.2.3.4.5", None), ("08", None), ("a.1", None),
     ("4294967296", None), ("1..2", None), ("", None)],
)  # fmt: skip
def test_hosts_of_numbers_are_read_as_browsers_do(host: str, address: str | None) -> None:
    assert parse_address(host) == (None if address is None else ipaddress.ip_address(address))


def test_a_url_is_split_as_browsers_do() -> None:
    assert split_url("http:/\\/example.com/x") == ("http", "example.com")
    assert split_url("http:example.com") == ("http", "example.com")
    assert split_url("http://[::1") == ("http", "")
    assert split_url("HTTP://%6C%6Fcalhost./") == ("http", "localhost")
    assert split_url("https://[::1]:8443/") == ("https", "::1")
    assert split_url("Chrome://Settings") == ("chrome", "")
    assert not is_public(ipaddress.ip_address("::ffff:10.0.0.1"))
