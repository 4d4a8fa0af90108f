"""robots.txt of servers on loopback: every status, redirects, what never ends, and tasks that are cancelled."""

from __future__ import annotations

import gzip
import pickle
import ssl
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from time import time

import attrs
import pytest
import trio
import trio.testing
from raw_server import LOOPBACK_TLS, ByteStream, header, read_request, tcp_server

from cdpengine.errors import DisallowedByRobotsError
from cdpengine.pool.manners import HostLimits, HostSchedule, Manners, robots_fetch
from cdpengine.pool.manners.robots import LONGEST_KEPT, Robots
from cdpengine.pool.manners.robots_fetch import LONGEST_ROBOTS, fetch_robots
from cdpengine.pool.manners.urls import read_web_url

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n\nUser-agent: mybot\nDisallow: /no-bots\n"


def answer(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


@attrs.define
class Site:
    """A server on loopback: `answers` by path, the last one again and again; and what it was asked."""

    answers: dict[str, list[bytes]]
    asked: list[str] = attrs.field(factory=list)
    requests: list[bytes] = attrs.field(factory=list)
    origin: str = ""
    at_once: int = 0
    most_at_once: int = 0
    gate: trio.Event | None = None
    was_asked: trio.Event = attrs.field(factory=trio.Event)

    async def serve(self, stream: ByteStream) -> None:
        request = await read_request(stream)
        path = request.split(b" ")[1].decode()
        self.asked.append(path)
        self.requests.append(request)
        self.was_asked.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.gate is not None:
                await self.gate.wait()
            answers = self.answers.get(path, [answer(404)])
            await stream.send_all(answers.pop(0) if len(answers) > 1 else answers[0])
        finally:
            self.at_once -= 1

    def manners(self, **more: object) -> Manners:
        settings: dict[str, object] = {"foreign_only": False, "delay": 0.0, **more}
        return Manners(**settings)  # type: ignore[arg-type]


@asynccontextmanager
async def site_of(*robots: bytes, **paths: bytes) -> AsyncIterator[Site]:
    site = Site({"/robots.txt": list(robots), **{f"/{path}": [each] for path, each in paths.items()}})
    async with tcp_server(site.serve) as port:
        site.origin = f"http://127.0.0.1:{port}"
        yield site


def robots_of(**more: float) -> Robots:
    return Robots("cdpengine", HostLimits(HostSchedule()), **more)  # type: ignore[arg-type]


async def disallowed(manners: Manners, url: str) -> DisallowedByRobotsError | None:
    try:
        await manners.check(url)
    except DisallowedByRobotsError as error:
        return error
    return None


# --- what an answer means -----------------------------------------------------------------------------------


async def test_rules_are_obeyed_and_the_delay_is_told() -> None:
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
        assert site.asked == ["/robots.txt"]


async def test_rules_are_those_of_the_name_and_the_agent_is_sent() -> None:
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
    # 300 to 305 are no redirects that lead anywhere.
    body = RULES if status not in (204, 304) else b""
    async with site_of(answer(status, body)) as site:
        manners = site.manners()
        assert await manners.check(f"{site.origin}/private") == 0.0
        assert await manners.check(f"{site.origin}/other") == 0.0
        assert site.asked == ["/robots.txt"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
async def test_a_server_that_cannot_answer_disallows_everything(status: int) -> None:
    async with site_of(answer(status, b"User-agent: *\nAllow: /\n")) as site:
        manners = site.manners()
        for _ in range(2):
            error = await disallowed(manners, f"{site.origin}/public")
            assert error is not None
            assert f"HTTP status {status}" in error.reason
            assert error.retry_after is not None
            assert 50 < error.retry_after <= 60
        assert site.asked == ["/robots.txt"]


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
async def test_an_answer_that_cannot_be_read_disallows_everything(raw: bytes) -> None:
    async with site_of(raw) as site:
        error = await disallowed(site.manners(), f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None
        assert len(str(error)) <= 400


async def test_a_server_that_is_not_there_disallows_everything() -> None:
    async with site_of(answer()) as site:
        pass
    error = await disallowed(site.manners(), f"{site.origin}/public")
    assert error is not None
    assert error.retry_after is not None


async def test_a_certificate_that_is_not_accepted_disallows_everything() -> None:
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
    assert site.asked == []


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
        assert other.asked == ["/robots.txt"]


@pytest.mark.parametrize(("redirects", "is_read"), [(1, True), (5, True), (6, False)])
async def test_five_redirects_are_followed_and_no_more(redirects: int, is_read: bool) -> None:
    paths = {f"r{number}": answer(302, Location=f"r{number + 1}") for number in range(1, redirects)}
    paths[f"r{redirects}"] = answer(200, RULES)
    async with site_of(answer(302, Location="/r1"), **paths) as site:
        assert (await disallowed(site.manners(), f"{site.origin}/private") is not None) is is_read
        assert len(site.asked) == 6 if not is_read else redirects + 1


@pytest.mark.parametrize("target", ["file:///etc/passwd", "data:text/plain,x", "http://[", "mailto:a@b"])
async def test_a_redirect_that_leads_nowhere_disallows_everything(target: str) -> None:
    async with site_of(answer(302, Location=target)) as site:
        error = await disallowed(site.manners(), f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None


async def test_no_redirect_leads_from_elsewhere_into_this_machine() -> None:
    async with site_of(answer(200, RULES)) as inside:
        site = Site({"http://shop.example.com/robots.txt": [answer(302, Location=f"{inside.origin}/admin")]})
        async with tcp_server(site.serve) as port:
            manners = Manners(proxy=f"http://127.0.0.1:{port}")
            error = await disallowed(manners, "http://shop.example.com/")
        assert error is not None
        assert "into this machine" in error.reason
        assert inside.asked == []
        assert site.asked == ["http://shop.example.com/robots.txt"]


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
async def test_what_is_compressed_unasked_is_read(encoding: str) -> None:
    body = gzip.compress(RULES) if encoding == "gzip" else zlib.compress(RULES)
    async with site_of(answer(200, body, Content_Encoding=encoding)) as site:
        assert await disallowed(site.manners(), f"{site.origin}/private") is not None
        assert header(site.requests[0], b"Accept-Encoding") == b"identity"


async def test_a_huge_body_is_read_to_its_limit_and_no_rule_is_cut() -> None:
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


async def test_an_answer_that_takes_too_long_is_none() -> None:
    async def serve(stream: ByteStream) -> None:
        await read_request(stream)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send_all(b"#")
            await trio.sleep(0.01)

    async with tcp_server(serve) as port:
        url = read_web_url(f"http://127.0.0.1:{port}/")
        with trio.fail_after(10), pytest.raises(DisallowedByRobotsError, match=r"within 0\.2 s"):
            await robots_of(longest_fetch=0.2).check(url)


# --- kept, asked again, asked by one ------------------------------------------------------------------------


async def later(clock: trio.testing.MockClock, seconds: float) -> None:
    """Let time pass. The clock runs with the wall's meanwhile."""
    clock.jump(seconds)
    await trio.lowlevel.checkpoint()


@pytest.fixture
def clock(mock_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    mock_clock.rate = 1.0  # servers take their time
    return mock_clock


async def test_rules_hold_for_a_day(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES), answer(404)) as site:
        manners = site.manners()
        assert await disallowed(manners, f"{site.origin}/private") is not None
        await later(clock, LONGEST_KEPT - 100)
        assert await disallowed(manners, f"{site.origin}/private") is not None
        assert len(site.asked) == 1
        await later(clock, 101)
        assert await disallowed(manners, f"{site.origin}/private") is None
        assert len(site.asked) == 2


async def test_old_rules_hold_on_while_the_server_cannot_be_asked(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES), answer(500), answer(200, b"")) as site:
        manners = site.manners()
        assert await disallowed(manners, f"{site.origin}/private") is not None
        await later(clock, LONGEST_KEPT + 1)
        assert await disallowed(manners, f"{site.origin}/private") is not None
        assert await disallowed(manners, f"{site.origin}/public") is None
        assert len(site.asked) == 2
        await later(clock, 61)
        assert await disallowed(manners, f"{site.origin}/private") is None


async def test_a_server_that_cannot_answer_is_asked_less_and_less(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(500)) as site:
        manners, waits = site.manners(), list[int]()
        for _ in range(9):
            error = await disallowed(manners, f"{site.origin}/")
            assert error is not None
            assert error.retry_after is not None
            waits.append(round(error.retry_after))
            await later(clock, error.retry_after)
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
        assert len(site.asked) == 9


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_a_server_that_says_when_is_asked_then_and_left_alone_until_then(
    form: str, clock: trio.testing.MockClock
) -> None:
    value = "300" if form == "seconds" else formatdate(time() + 300, usegmt=True)
    async with site_of(answer(503, Retry_After=value), answer(200, RULES)) as site:
        manners = site.manners()
        error = await disallowed(manners, f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None
        assert 295 < error.retry_after <= 300
        again = manners.begin(f"{site.origin}/public")
        assert again is not None
        assert 295 < again - trio.current_time() <= 300
        await later(clock, 300)
        assert await disallowed(manners, f"{site.origin}/public") is None
        assert len(site.asked) == 2


async def test_one_asks_and_all_get_the_answer() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners, found = site.manners(), list[bool]()
        site.gate = trio.Event()

        async def check(number: int) -> None:
            path = "/private" if number % 2 else "/public"
            found.append((await disallowed(manners, site.origin + path) is not None) is bool(number % 2))

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(check, number)
            await site.was_asked.wait()
            await trio.testing.wait_all_tasks_blocked(0.01)
            site.gate.set()
        assert found == [True] * 20
        assert site.asked == ["/robots.txt"]
        assert site.most_at_once == 1


async def test_origins_are_asked_beside_each_other() -> None:
    async with site_of(answer(200, RULES)) as one, site_of(answer(200, b"")) as other:
        one.gate = trio.Event()
        manners = one.manners()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(manners.check, f"{one.origin}/x")
            await one.was_asked.wait()
            assert await manners.check(f"{other.origin}/private") == 0.0
            one.gate.set()


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_cancelled_task_spoils_nothing_for_the_others(waiting: bool) -> None:
    """It asks, or it waits for the one that asks."""
    async with site_of(answer(200, RULES)) as site:
        manners, found = site.manners(), list[str]()
        site.gate = trio.Event()
        scopes = [trio.CancelScope() for _ in range(3)]

        async def check(number: int) -> None:
            with scopes[number]:
                found.append(f"{number} {await disallowed(manners, f'{site.origin}/private') is not None}")

        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(check, number)
                if number == 0:
                    await site.was_asked.wait()
                await trio.testing.wait_all_tasks_blocked(0.01)
            scopes[1 if waiting else 0].cancel()
            await trio.testing.wait_all_tasks_blocked(0.01)
            site.gate.set()
        assert found == (["0 True", "2 True"] if waiting else ["1 True", "2 True"])
        assert len(site.asked) == (1 if waiting else 2)


@pytest.mark.parametrize("call", ["check", "turn"])
async def test_every_coroutine_can_be_cancelled_while_a_server_is_silent(call: str) -> None:
    async with site_of(answer(200, b"")) as site:
        manners = site.manners()
        site.gate = trio.Event()
        calls: dict[str, Callable[[], object]] = {
            "check": lambda: manners.check(f"{site.origin}/x"),
            "turn": lambda: in_turn(manners, f"{site.origin}/x"),
        }
        began = trio.current_time()
        with trio.move_on_after(0.1) as scope:
            await calls[call]()  # type: ignore[misc]
        assert scope.cancelled_caught
        assert trio.current_time() - began < 5
        site.gate.set()
        assert manners.begin(f"{site.origin}/x") is None  # no turn was taken
        manners.end(f"{site.origin}/x")
        await in_turn(manners, f"{site.origin}/x")


async def in_turn(manners: Manners, url: str) -> None:
    async with manners.turn(url):
        pass


# --- all together -------------------------------------------------------------------------------------------


async def test_a_turn_keeps_robots_delay_and_number(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners(at_once=1)
        await in_turn(manners, f"{site.origin}/1")
        again = manners.begin(f"{site.origin}/2")
        assert again is not None
        assert 2 < again - trio.current_time() <= 3
        with pytest.raises(DisallowedByRobotsError):
            await in_turn(manners, f"{site.origin}/private")
        await later(clock, 3)
        assert manners.begin(f"{site.origin}/2") is None
        manners.end(f"{site.origin}/2")


async def test_robots_may_be_off() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners(robots=False)
        assert await manners.check(f"{site.origin}/private") == 0.0
        await in_turn(manners, f"{site.origin}/private")
        assert site.asked == []


async def test_manners_are_off_at_ones_own_machine() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = Manners()
        url = f"{site.origin}/private"
        assert not manners.are_due(url)
        assert await manners.check(url) == 0.0
        for _ in range(5):
            assert manners.begin(url) is None
        assert manners.pause(url, 9.0) == 0.0
        assert manners.note_response(url, 503, {"Retry-After": "9"}) == 0.0
        async with manners.turn(url), manners.turn(url), manners.turn(url):
            pass
        manners.end(url)
        assert site.asked == []


@pytest.mark.parametrize("url", ["about:blank", "data:text/html,x", "not a URL", "http://"])
async def test_what_is_no_url_of_the_web_needs_no_manners(url: str) -> None:
    manners = Manners(foreign_only=False)
    assert await manners.check(url) == 0.0
    assert manners.begin(url) is None
    manners.end(url)
    await in_turn(manners, url)
    assert manners.pause(url, 5.0) == 0.0
    assert manners.admit(url)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {"Retry-After": "120"}, 120),
        (503, {"Retry-After": "99999"}, 600),
        (429, {}, 10),
        (503, {"Retry-After": "later"}, 10),
        (200, {"Retry-After": "120"}, 0),
        (404, {}, 0),
    ],
)
async def test_an_answer_pauses_the_host_for_all(
    status: int, headers: dict[str, str], expected: float
) -> None:
    manners = Manners(delay=0.0, robots=False)
    assert manners.note_response("https://shop.example.com/a", status, headers) == pytest.approx(expected)
    again = manners.begin("http://shop.example.com:8080/b")
    if not expected:
        assert again is None
    else:
        assert again is not None
        assert again - trio.current_time() == pytest.approx(expected, abs=2)
    assert manners.begin("http://other.example.com/") is None


WITHOUT_DESCRIPTORS = """
import os, sys, trio
from cdpengine.errors import ResourcesExhaustedError
from cdpengine.pool.manners import Manners

async def main():
    manners = Manners(foreign_only=False)
    if sys.argv[1] == "later":  # when all that it imports is there
        try:
            await manners.check("http://127.0.0.1:9/")
        except Exception:
            pass
    else:
        import cdpengine.pool.manners.robots_fetch, protego
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    try:
        await manners.check("http://127.0.0.2:9/")
    except ResourcesExhaustedError as error:
        print(error)

import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
trio.run(main)
"""


@pytest.mark.parametrize("when", ["at first", "later"])
async def test_a_shortage_of_ones_own_is_not_the_servers_fault(when: str) -> None:
    done = await trio.run_process([sys.executable, "-c", WITHOUT_DESCRIPTORS, when], capture_stdout=True)
    said = done.stdout.decode()
    assert said.startswith(
        "could not fetch http://127.0.0.2:9/robots.txt: the program has no file descriptors left"
    )


async def test_origins_in_memory_are_bounded() -> None:
    robots = robots_of()
    for number in range(3_000):
        robots._origin(f"http://h{number}.example")
    assert len(robots._origins) == 1_000
    assert "http://h2999.example" in robots._origins
