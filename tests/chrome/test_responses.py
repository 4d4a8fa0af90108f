"""Responses: waiting, reading, buffering and streaming of bodies, the reasons for missing bodies, and
archives.
"""

from __future__ import annotations

import gzip
import json
import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from json_schema import breaches
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

SCHEMA = json.loads(
    (Path(__file__).parent.parent / "unit" / "data" / "har-1.2.schema.json").read_text("utf-8")
)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db000"
    "00000049454e44ae426082"
)
BIG = bytes(range(256)) * 2**14  # 4 MiB


@pytest.fixture
async def here(page: cdpengine.Page, httpserver: HTTPServer) -> str:
    """Show a page that can fetch resources, and return the server's address."""
    html = "<!doctype html><meta charset=utf-8><title>t</title>"

    def slow(_request: Request) -> Response:
        def parts() -> Iterator[bytes]:
            for number in range(5):
                yield b"part %d;" % number * 1000

        return Response(parts(), content_type="application/x-parts")

    httpserver.expect_request("/").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/other").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/favicon.ico").respond_with_data("", status=404)
    httpserver.expect_request("/data").respond_with_json({"n": 1})
    httpserver.expect_request("/latin").respond_with_data(
        "caf\xe9".encode("latin-1"), content_type="text/plain; charset=latin-1"
    )
    httpserver.expect_request("/zipped").respond_with_data(
        gzip.compress(b"unzipped " * 1000), content_type="text/plain", headers={"Content-Encoding": "gzip"}
    )
    httpserver.expect_request("/pixel").respond_with_data(PIXEL, content_type="image/png")
    httpserver.expect_request("/big").respond_with_data(BIG, content_type="application/octet-stream")
    httpserver.expect_request("/slow").respond_with_handler(slow)
    httpserver.expect_request("/wrong").respond_with_data('{"a": ]', content_type="application/json")
    httpserver.expect_request("/login").respond_with_json(
        {"token": "s3cr3t-token-in-body"}, headers={"Set-Cookie": "sid=s3cr3t-cookie-value"}
    )
    address = httpserver.url_for("/")
    await page.goto(address)
    return address.rstrip("/")


def fetching(*paths: str) -> str:
    """JavaScript that fetches the paths in sequence and reads their bodies."""
    return f"(async () => {{ for (const path of {list(paths)}) await fetch(path).then(r => r.arrayBuffer()) }})()"


async def test_response_expected_by_a_block(page: cdpengine.Page, here: str) -> None:
    async with page.expect_response("*/data?2") as expected:
        await page.evaluate(fetching("/data?1", "/data?2", "/data?3"))
    assert expected.value.url == f"{here}/data?2"
    assert await expected.value.json() == {"n": 1}
    async with page.expect_response(
        re.compile(r"/data\?[45]$"), where=lambda response: response.url.endswith("5")
    ) as expected:
        await page.evaluate(fetching("/data?4", "/data?5"))
    assert (expected.value.status, expected.value.url) == (200, f"{here}/data?5")
    assert not page.activity.started  # it needs no buffers
    await page.activity.stop()
    assert set(page.session.domains.users) == {"Page"}


async def test_waiting_for_a_response(page: cdpengine.Page, here: str) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.evaluate, f"setTimeout(() => {fetching('/data', '/wrong')}, 50), 0")
        response = await page.activity.wait_for_response(url=lambda url: url.endswith("/wrong"))
    with pytest.raises(cdpengine.errors.BodyUndecodableError, match="JSON"):
        await response.json()
    await page.evaluate(f"setTimeout(() => {fetching('/pixel')}, 50), 0")
    with pytest.raises(
        cdpengine.errors.DeadlineExceededError, match=r"wait for a response from \*/never[\s\S]*/pixel"
    ):
        await page.activity.wait_for_response("*/never", timeout=1.5)
    for wrong in ({"url": 5}, {"url": ""}, {"where": 1}):
        with pytest.raises(cdpengine.errors.InvalidArgumentError):
            await page.activity.wait_for_response(**wrong)
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="no response came"):
        async with page.expect_response(timeout=0.2):
            pass
    with pytest.raises(ZeroDivisionError):
        async with page.expect_response():
            raise ZeroDivisionError


async def test_bodies_are_unchanged(page: cdpengine.Page, here: str) -> None:
    await page.activity.start(console=0, errors=0)
    await page.evaluate(fetching("/latin", "/zipped", "/pixel", "/data"))
    for request in page.activity.requests:
        await request.finished()
    got = {request.url.rpartition("/")[2]: request.response for request in page.activity.requests}
    latin, zipped, pixel = got["latin"], got["zipped"], got["pixel"]
    assert latin is not None
    assert zipped is not None
    assert pixel is not None
    assert await latin.text() == "café"
    assert await zipped.body() == b"unzipped " * 1000
    assert zipped.request.body_size == 9000
    assert await pixel.body() == PIXEL
    await page.activity.stop()
    with pytest.raises(cdpengine.errors.BodyUnavailableError):
        await latin.body()


async def test_kept_bodies_outlive_their_document_and_are_bounded(page: cdpengine.Page, here: str) -> None:
    rules = cdpengine.network.KeepBodies(types=["Document", "fetch"], largest=200_000)
    await page.activity.start(console=0, errors=0, bodies=rules)
    await page.goto(f"{here}/other")
    await page.evaluate(fetching("/data", "/latin", "/slow", "/big", "/pixel"))
    for request in page.activity.requests:
        await request.finished()
    got = {request.url.rpartition("/")[2]: request.response for request in page.activity.requests}
    await page.goto("about:blank")
    for name, body in {
        "other": b"<!doctype",
        "data": b"{",
        "latin": b"caf\xe9",
        "pixel": PIXEL,
    }.items():
        response = got[name]
        assert response is not None
        assert (await response.body()).startswith(body), name
    assert got["latin"] is not None
    assert await got["latin"].text() == "café"
    assert got["slow"] is not None
    assert len(await got["slow"].body()) == 5 * 7000
    with pytest.raises(
        cdpengine.errors.BodyUnavailableError, match=f"{len(BIG)} bytes, more than largest=200000"
    ):
        assert got["big"] is not None
        await got["big"].body()

    # All together: the oldest are removed.
    await page.activity.start(
        console=0, errors=0, bodies=cdpengine.network.KeepBodies(total=20_000, url="*/zipped*")
    )
    page.activity.clear()
    await page.goto(here)
    await page.evaluate(fetching(*(f"/zipped?{number}" for number in range(4)), "/data"))
    zipped = [request for request in page.activity.requests if "zipped" in request.url]
    for request in zipped:
        await request.finished()
    await page.goto("about:blank")
    with trio.fail_after(20):
        while [request.internals.stored_body is not None for request in zipped] != [False, False, True, True]:
            await trio.lowlevel.checkpoint()
    with pytest.raises(cdpengine.errors.BodyUnavailableError, match="made room"):
        assert zipped[0].response is not None
        await zipped[0].response.body()


async def test_large_bodies_in_pieces(page: cdpengine.Page, here: str, httpserver: HTTPServer) -> None:
    listening = threading.Event()

    def dripping(_request: Request) -> Response:
        def parts() -> Iterator[bytes]:
            for number in range(64):
                yield BIG[number * 2**16 : (number + 1) * 2**16]
                listening.wait(20)

        return Response(parts(), content_type="application/octet-stream")

    httpserver.expect_request("/drip").respond_with_handler(dripping)
    for path in ("/drip", "/big"):
        async with page.expect_response(f"*{path}") as expected:
            await page.evaluate(f"void fetch('{path}').then(r => r.arrayBuffer())")
        pieces = []
        async with expected.value.stream() as stream:
            listening.set()
            with trio.fail_after(30):
                async for piece in stream:
                    pieces.append(piece)  # noqa: PERF401
        assert b"".join(pieces) == BIG
        assert len(pieces) > 1 or path == "/big", "the data before the first read is one piece"
    # A stream that has ended, and one whose reader is too slow for the buffer.
    async with expected.value.stream() as stream:
        assert sum([len(piece) async for piece in stream]) == len(BIG)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="backlog"):
        async with expected.value.stream(backlog=1):
            pass


async def test_missing_body_raises_with_reason(page: cdpengine.Page, here: str) -> None:
    await page.activity.start(console=0, errors=0)
    await page.evaluate("fetch('/data').then(r => r.text())")
    (request,) = [request for request in page.activity.requests if "/data" in request.url]
    await request.finished()
    assert request.response is not None
    other = await page.browser.new_page(f"{here}/other", activity=True)
    await other.activity.requests[0].finished()
    await other.close()
    theirs = other.activity.requests[0].response  # the buffer keeps its contents
    assert theirs is not None
    with pytest.raises(cdpengine.errors.BodyUnavailableError, match="gone"):
        await theirs.body()
    # A body that never ends, and that no reader follows any more.
    await page.activity.stop()
    request._exchange.finished = None
    with pytest.raises(cdpengine.errors.BodyUnavailableError, match="nothing follows"):
        await request.response.body()


async def test_archive_matches_its_schema_and_contains_no_secrets(
    page: cdpengine.Page, here: str, tmp_path: Path
) -> None:
    activity = page.activity
    with pytest.raises(cdpengine.errors.InvalidStateError):
        await activity.har()
    await activity.start(requests=20, console=0, errors=0)
    await page.goto(f"{here}/other?key=s3cr3t-query-value")
    await page.evaluate(
        """(async () => {
          const options = {method: "POST", body: "user=ada&password=s3cr3t-password", headers: {Authorization: "Bearer s3cr3t-bearer"}}
          await fetch("/login", options).then(r => r.text()); await fetch("http://127.0.0.1:1/").catch(() => {}) })()"""
    )
    await page.evaluate(fetching("/data", "/pixel", "/big"))
    for request in activity.requests:
        await request.finished()
    document: dict[str, Any] = await activity.har(largest_body=100_000)
    assert list(breaches(document, SCHEMA)) == []
    text = json.dumps(document)
    assert "s3cr3t" not in text
    log = document["log"]
    assert log["browser"]["name"]
    assert "secrets are redacted" in log["comment"]
    entries = {
        entry["request"]["url"].rpartition("/")[2].partition("?")[0]: entry for entry in log["entries"]
    }
    assert entries["other"]["request"]["queryString"] == [{"name": "key", "value": "[redacted]"}]
    assert entries["login"]["request"]["postData"]["text"] == "[redacted]"
    assert json.loads(entries["data"]["response"]["content"]["text"]) == {"n": 1}
    assert entries["pixel"]["response"]["content"]["encoding"] == "base64"
    assert "at most 100000 were wanted" in entries["big"]["response"]["content"]["comment"]
    failed = next(entry for entry in log["entries"] if entry["response"]["status"] == 0)
    assert "net::ERR" in failed["comment"]
    (visit,) = [entry for entry in log["pages"] if entry["id"] == entries["other"]["pageref"]]
    assert visit["pageTimings"]["onLoad"] > 0

    whole = await activity.har(redacted=False, bodies=False)
    assert list(breaches(whole, SCHEMA)) == []
    assert "s3cr3t-password" in json.dumps(whole)
    assert "text" not in json.dumps(
        [entry["response"]["content"].get("text", "") for entry in whole["log"]["entries"]]
    )

    path = tmp_path / "a.har"
    path.write_text("before")
    assert await activity.save_har(path) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(breaches(json.loads(path.read_bytes()), SCHEMA)) == []
    with pytest.raises(cdpengine.errors.FileNotWrittenError, match="No such file"):
        await activity.save_har(tmp_path / "not there" / "a.har")
    assert [each.name for each in tmp_path.iterdir()] == ["a.har"]

    await activity.start(requests=3, console=0, errors=0)
    await page.goto("about:blank")
    gone = await activity.har()
    assert f"{activity.requests.dropped} earlier requests were not kept" in gone["log"]["comment"]
    assert "the body is missing: Chrome does not have it" in json.dumps(gone)
    assert list(breaches(gone, SCHEMA)) == []


async def test_websockets_are_requests_too(page: cdpengine.Page, here: str) -> None:
    await page.activity.start(console=0, errors=0)
    await page.evaluate(
        f"new Promise(done => new WebSocket('{here}/data'.replace('http', 'ws')).onerror = () => done(0))"
    )
    with trio.fail_after(20):
        while not [
            request for request in page.activity.requests if request.type == "WebSocket" and request.ended
        ]:
            await page.evaluate("0")
    (socket,) = [request for request in page.activity.requests if request.type == "WebSocket"]
    assert socket.url.startswith("ws://")
    assert socket.failure
    assert socket.time > 1.6e9
    assert list(breaches(await page.activity.har(), SCHEMA)) == []
