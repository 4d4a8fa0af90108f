"""A server on loopback with a robots.txt and a list of the received requests, and manners for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import trio
from raw_server import ByteStream, read_request, tcp_server

from cdpengine.errors import DisallowedByRobotsError
from cdpengine.pool.manners import HostLimits, HostSchedule, Manners
from cdpengine.pool.manners.robots import Robots

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n\nUser-agent: mybot\nDisallow: /no-bots\n"


def answer(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


@attrs.define
class Site:
    """A server on loopback.

    `answers` are the responses by path; the last one repeats. It remembers its requests.
    """

    answers: dict[str, list[bytes]]
    requested: list[str] = attrs.field(factory=list)
    requests: list[bytes] = attrs.field(factory=list)
    origin: str = ""
    at_once: int = 0
    most_at_once: int = 0
    gate: trio.Event | None = None
    was_requested: trio.Event = attrs.field(factory=trio.Event)

    async def serve(self, stream: ByteStream) -> None:
        request = await read_request(stream)
        path = request.split(b" ")[1].decode()
        self.requested.append(path)
        self.requests.append(request)
        self.was_requested.set()
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
