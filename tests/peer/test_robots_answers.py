"""Answers for robots.txt: every status, redirects, bodies of all kinds, and endless answers."""

from __future__ import annotations

import gzip
import pickle
import ssl
import zlib

import pytest
import trio
from raw_server import LOOPBACK_TLS, ByteStream, header, read_request, tcp_server
from robots_site import RULES, Site, answer, disallowed, robots_of, site_of

from cdpengine._urls.reading import read_url
from cdpengine.errors import DisallowedByRobotsError
from cdpengine.pool.manners import Manners, robots_fetch
from cdpengine.pool.manners.robots_fetch import LONGEST_ROBOTS, fetch_robots

# --- the meaning of an answer
# -----------------------------------------------------------------------------------


async def test_rules_are_obeyed_and_the_delay_is_reported() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners()
        assert await manners.check(f"{site.origin}/public") == 3.0
        assert await manners.check(f"{site.origin}/no-bots") == 3.0
        for path in ("/private", "/private/x?y", "/%70rivate", "/a/../private"):
            error = await disallowed(manners, site.origin + path)
            assert error is not None, path
            assert error.retry_after is None
            assert f"{site.origin}/robots.txt disallows it" in str(error)
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert site.requested == ["/robots.txt"]


async def test_rules_match_the_name_and_the_agent_is_sent() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners(agent="mybot/1.0 (+https://me.example; not cdpengine)")
        assert await manners.check(f"{site.origin}/private") == 0.0
        error = await disallowed(manners, f"{site.origin}/no-bots")
        assert error is not None
        assert error.agent == "mybot"
        assert header(site.requests[0], b"User-Agent") == b"mybot/1.0 (+https://me.example; not cdpengine)"
        assert b"cookie" not in site.requests[0].lower()


@pytest.mark.parametrize("status", [200, 201, 206, 299])
async def test_an_answer_with_success_has_rules(status: int) -> None:
    async with site_of(answer(status, RULES)) as site:
        assert await disallowed(site.manners(), f"{site.origin}/private") is not None


@pytest.mark.parametrize("status", [204, 300, 304, 305, 400, 401, 403, 404, 410, 418, 451, 499])
async def test_a_server_without_rules_allows_everything(status: int) -> None:
    # 300 to 305 lead nowhere.
    body = RULES if status not in (204, 304) else b""
    async with site_of(answer(status, body)) as site:
        manners = site.manners()
        assert await manners.check(f"{site.origin}/private") == 0.0
        assert await manners.check(f"{site.origin}/other") == 0.0
        assert site.requested == ["/robots.txt"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
async def test_a_server_error_disallows_everything(status: int) -> None:
    async with site_of(answer(status, b"User-agent: *\nAllow: /\n")) as site:
        manners = site.manners()
        for _ in range(2):
            error = await disallowed(manners, f"{site.origin}/public")
            assert error is not None
            assert f"HTTP status {status}" in error.reason
            assert error.retry_after is not None
            assert 50 < error.retry_after <= 60
        assert site.requested == ["/robots.txt"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["closed", "cut", "no HTTP", "unknown encoding", "broken encoding", "broken chunks"],
)
async def test_an_unreadable_answer_disallows_everything(raw: bytes) -> None:
    async with site_of(raw) as site:
        error = await disallowed(site.manners(), f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None
        assert len(str(error)) <= 400


async def test_an_unreachable_server_disallows_everything() -> None:
    async with site_of(answer()) as site:
        pass
    error = await disallowed(site.manners(), f"{site.origin}/public")
    assert error is not None
    assert error.retry_after is not None


async def test_an_untrusted_certificate_disallows_everything() -> None:
    site = Site({"/robots.txt": [answer(200, RULES)]})

    async def serve(stream: ByteStream) -> None:
        with_error: Exception | None = None
        try:
            await site.serve(stream)
        except (trio.BrokenResourceError, AssertionError) as error:
            with_error = error
        assert with_error is not None

    async with tcp_server(serve, tls=True) as port:
        error = await disallowed(site.manners(), f"https://127.0.0.1:{port}/public")
    assert error is not None
    assert "certificate" in error.reason
    assert site.requested == []


async def test_an_answer_over_tls_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    robots_fetch._tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(LOOPBACK_TLS))
    site = Site({"/robots.txt": [answer(200, RULES)]})
    try:
        async with tcp_server(site.serve, tls=True) as port:
            assert isinstance(robots_fetch._tls(), ssl.SSLContext)
            assert await disallowed(site.manners(), f"https://127.0.0.1:{port}/private") is not None
            assert await disallowed(site.manners(), f"https://127.0.0.1:{port}/public") is None
    finally:
        robots_fetch._tls.cache_clear()


# --- redirects ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_to_other_origins_too(status: int) -> None:
    async with site_of(answer(200, RULES)) as other:
        async with site_of(answer(status, Location=f"{other.origin}/robots.txt")) as site:
            manners = site.manners()
            assert await disallowed(manners, f"{site.origin}/private") is not None
            assert await disallowed(manners, f"{site.origin}/public") is None
        assert other.requested == ["/robots.txt"]


@pytest.mark.parametrize(("redirects", "is_read"), [(1, True), (5, True), (6, False)])
async def test_only_five_redirects_are_followed(redirects: int, is_read: bool) -> None:
    paths = {f"r{number}": answer(302, Location=f"r{number + 1}") for number in range(1, redirects)}
    paths[f"r{redirects}"] = answer(200, RULES)
    async with site_of(answer(302, Location="/r1"), **paths) as site:
        assert (await disallowed(site.manners(), f"{site.origin}/private") is not None) is is_read
        assert len(site.requested) == 6 if not is_read else redirects + 1


@pytest.mark.parametrize("target", ["file:///etc/passwd", "data:text/plain,x", "http://[", "mailto:a@b"])
async def test_a_redirect_that_leads_nowhere_disallows_everything(target: str) -> None:
    async with site_of(answer(302, Location=target)) as site:
        error = await disallowed(site.manners(), f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None


async def test_no_redirect_leads_from_elsewhere_to_the_local_machine() -> None:
    async with site_of(answer(200, RULES)) as inside:
        site = Site({"http://shop.example.com/robots.txt": [answer(302, Location=f"{inside.origin}/admin")]})
        async with tcp_server(site.serve) as port:
            manners = Manners(proxy=f"http://127.0.0.1:{port}")
            error = await disallowed(manners, "http://shop.example.com/")
        assert error is not None
        assert "into this machine" in error.reason
        assert inside.requested == []
        assert site.requested == ["http://shop.example.com/robots.txt"]


# --- bodies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "is_disallowed"),
    [
        (b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n", True),
        (b"# caf\xe9 \xff\xfe\nUser-agent: *\r\nDisallow: /x\r\n", True),
        ("User-agent: *\nDisallow: /x\n".encode("utf-16"), False),
        (b"User-agent: *\rDisallow: /x\r", True),
        (b"\x00\x01\x02" * 100, False),
        (b"<html><body>Not found</body></html>", False),
        (b"", False),
        (b"USER-AGENT:*\nDISALLOW:/x", True),
    ],
)
async def test_a_body_is_read_as_utf_8_whatever_it_is(body: bytes, is_disallowed: bool) -> None:
    async with site_of(answer(200, body, Content_Type="text/html; charset=utf-16")) as site:
        assert (await disallowed(site.manners(), f"{site.origin}/x") is not None) is is_disallowed


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_unrequested_compression_is_decoded(encoding: str) -> None:
    body = gzip.compress(RULES) if encoding == "gzip" else zlib.compress(RULES)
    async with site_of(answer(200, body, Content_Encoding=encoding)) as site:
        assert await disallowed(site.manners(), f"{site.origin}/private") is not None
        assert header(site.requests[0], b"Accept-Encoding") == b"identity"


async def test_a_huge_body_is_read_to_its_limit_without_cutting_a_rule() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    begin = b"User-agent: *\nDisallow: /first\n"
    begin += filler * ((LONGEST_ROBOTS - len(begin)) // len(filler))
    begin += b"#" * (LONGEST_ROBOTS - len(begin) - len(b"\nDisallow: /")) + b"\nDisallow: /"
    assert len(begin) == LONGEST_ROBOTS
    async with site_of(answer(200, begin + b"last\n" + filler * 1000)) as site:
        manners = site.manners()
        assert await disallowed(manners, f"{site.origin}/first") is not None
        assert await disallowed(manners, f"{site.origin}/last") is None
        assert await disallowed(manners, f"{site.origin}/other") is None


@pytest.mark.parametrize("compressed", [False, True])
async def test_an_endless_body_is_read_to_its_limit(compressed: bool) -> None:
    sent = 0

    async def serve(stream: ByteStream) -> None:
        nonlocal sent
        await read_request(stream)
        encoding = b"Content-Encoding: gzip\r\n" if compressed else b""
        await stream.send_all(b"HTTP/1.1 200 OK\r\n" + encoding + b"\r\n")
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        plain = b"User-agent: *\nDisallow: /x\n" + b"# " * 200_000
        while True:
            piece = packer.compress(plain) + packer.flush(zlib.Z_SYNC_FLUSH) if compressed else plain
            await stream.send_all(piece)
            sent += len(piece)

    async with tcp_server(serve) as port:
        with trio.fail_after(20):
            found = await fetch_robots(f"http://127.0.0.1:{port}", agent="cdpengine", proxy=None)
    assert found.text is not None
    assert len(found.text) <= LONGEST_ROBOTS
    assert sent < 50 * LONGEST_ROBOTS


async def test_an_answer_that_takes_too_long_counts_as_missing() -> None:
    async def serve(stream: ByteStream) -> None:
        await read_request(stream)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send_all(b"#")
            await trio.sleep(0.01)

    async with tcp_server(serve) as port:
        url = read_url(f"http://127.0.0.1:{port}/")
        with trio.fail_after(10), pytest.raises(DisallowedByRobotsError, match=r"within 0\.2 s"):
            await robots_of(longest_fetch=0.2).check(url)
