"""Posted bodies in routes, activity, archives and recordings, compared with those that the server received."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import trio
from json_schema import breaches
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine import Route, debug
from cdpengine.debug import open_recording
from cdpengine.debug.reading.har import archive_document

SUPPORT = Path(__file__).parents[1] / "support"
SCHEMA = json.loads((Path(__file__).parents[1] / "unit" / "data" / "har-1.2.schema.json").read_text("utf-8"))
SCRIPT = (SUPPORT / "uploads.js").read_text("utf-8")
PAGE = f"<!doctype html><meta charset=utf-8><input id=disk type=file><iframe name=sink></iframe><script>{SCRIPT}</script>"

ON_DISK = {"multipart, file on disk", "form data, file on disk", "XHR, file on disk"}
NOT_IN_ROUTES = {*ON_DISK, "stream"}
"""Bodies that Chrome reports in no way."""

NOT_IN_EVENTS = {
    *NOT_IN_ROUTES, "multipart, text file", "multipart, binary file", "multipart, two files", "multipart, large file",
    "multipart, empty file", "blob", "empty blob", "file", "file on disk", "part of a file on disk", "form data, file",
    "kept alive, blob", "beacon, blob", "beacon, form data", "XHR, blob",
}  # fmt: skip
"""Bodies with a file or blob, which Chrome's network events lack."""

WITHOUT = {"nothing", "nothing to put", "nothing to patch"}
EMPTY = {"no text", "empty blob", *WITHOUT}


class Uploads:
    """A page that posts in many ways, and the bodies that the server received, by name."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/")
        self.received: dict[str, bytes] = {}
        server.expect_request("/").respond_with_data(PAGE, content_type="text/html")
        server.expect_request(re.compile("/up/.*")).respond_with_handler(self._take)

    def _take(self, request: Request) -> Response:
        self.received[name_of(request.path)] = request.get_data()
        return Response("ok", headers={"Set-Cookie": "session=s3cr3t; HttpOnly; Max-Age=0"})

    async def do_all(self, page: cdpengine.Page) -> list[str]:
        """Post in all ways, and return their names."""
        self.received.clear()
        names: list[str] = await page.evaluate("Object.keys(UPLOADS)")
        await page.evaluate(
            "(async () => { for (const [name, upload] of Object.entries(UPLOADS)) await upload(name) })()"
        )
        with trio.fail_after(20):
            while self.received.keys() < set(names) - {"stream"}:  # noqa: ASYNC110 - another thread
                await trio.sleep(0.01)
        return names


def name_of(url: str) -> str:
    return unquote(url).rpartition("/")[2]


def alike(body: bytes | None) -> bytes | None:
    """Return the body with a fixed boundary instead of a random one."""
    return None if body is None else re.sub(rb"(----WebKitFormBoundary)\w{16}", rb"\1", body)


@pytest.fixture
async def uploads(httpserver: HTTPServer, page: cdpengine.Page, tmp_path: Path) -> Uploads:
    uploads = Uploads(httpserver)
    await page.goto(uploads.url)
    (tmp_path / "note.txt").write_text("x" * 400)
    await page.upload(await page.find(css="#disk"), tmp_path / "note.txt")
    return uploads


async def test_route_has_whole_bodies_or_the_reason(page: cdpengine.Page, uploads: Uploads) -> None:
    seen: dict[str, cdpengine.InterceptedRequest] = {}

    async def look(route: Route) -> None:
        seen[name_of(route.request.url)] = route.request
        await route.continue_()

    async def send_again(route: Route) -> None:
        await route.continue_(post_data=route.request.post_data)

    async with page.route("*/up/*", look):
        names = await uploads.do_all(page)
    received = dict(uploads.received)
    assert seen.keys() == set(names)
    missing = {name for name, request in seen.items() if request.post_data_missing}
    assert missing == NOT_IN_ROUTES
    assert all("files on disk and the streams" in seen[name].post_data_missing for name in missing)
    assert {name for name in names if seen[name].post_data is None} == missing | {*WITHOUT, "no text"}
    assert {name for name in names if not seen[name].has_post_data} == {*WITHOUT, "no text"}
    for name in set(names) - missing:
        assert (seen[name].post_data or b"") == received[name], name
    with pytest.raises(cdpengine.errors.BodyUndecodableError, match="files on disk"):
        seen["XHR, file on disk"].json()

    async with page.route("*/up/*", send_again):
        await uploads.do_all(page)
    for name, body in uploads.received.items():
        assert alike(body) == alike(received[name]), name


async def test_activity_and_archives_have_whole_bodies_or_the_reason(
    page: cdpengine.Page, uploads: Uploads, tmp_path: Path
) -> None:
    recording = tmp_path / "wire.jsonl"
    redacted = tmp_path / "redacted.jsonl"
    async with (
        debug.record(page.browser, recording, limit=0, unredacted=True),
        debug.record(page.browser, redacted, limit=0),
        page.activity.collecting(requests=500, console=0, errors=0) as activity,
    ):
        names = await uploads.do_all(page)
        requests = {name_of(each.url): each for each in activity.requests if "/up/" in each.url}
        assert requests.keys() == set(names)
        for request in requests.values():
            await request.finished()
        with trio.fail_after(20):
            while any(requests[name].post_data_missing for name in WITHOUT):  # noqa: ASYNC110 - the length arrives late
                await trio.sleep(0.01)
        for name, request in requests.items():
            check_body(name, request, uploads.received)
        archive = await activity.har(redacted=False, bodies=False)
        check_archive(archive, uploads.received)
        assert list(cookies_of(archive)) == [("session", "s3cr3t", True)] * len(uploads.received)
        hidden = await activity.har(bodies=False)
    check_hidden(hidden)
    assert not list(cookies_of(hidden))
    check_archive(read_archive(recording), uploads.received)
    check_hidden(read_archive(redacted))


def check_body(name: str, request: cdpengine.Request, received: dict[str, bytes]) -> None:
    posted = request.post_data
    if name in NOT_IN_EVENTS:
        assert posted is None, name
        assert "Chrome does not report" in request.post_data_missing, name
        return
    assert request.post_data_missing == "", name
    body = posted.encode() if isinstance(posted, str) else posted
    assert (body or b"") == received[name], name
    assert (posted is None) is (name in WITHOUT)
    try:
        received[name].decode()
    except UnicodeDecodeError:
        assert isinstance(posted, bytes), name
    else:
        assert not isinstance(posted, bytes), name


def read_archive(path: Path) -> dict[str, Any]:
    with open_recording(path) as recording:
        document: dict[str, Any] = json.loads(archive_document(recording, recording))
        assert not list(recording.damage)
    return document


def cookies_of(archive: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    for entry in archive["log"]["entries"]:
        for cookie in entry["response"]["cookies"]:
            yield cookie["name"], cookie["value"], cookie["httpOnly"]


def entries_of(archive: dict[str, Any]) -> dict[str, dict[str, Any]]:
    assert list(breaches(archive, SCHEMA)) == []
    entries = archive["log"]["entries"]
    assert max(Counter(entry["request"]["url"] for entry in entries).values()) == 1
    return {
        name_of(entry["request"]["url"]): entry["request"]
        for entry in entries
        if "/up/" in entry["request"]["url"]
    }


def check_archive(archive: dict[str, Any], received: dict[str, bytes]) -> None:
    for name, request in entries_of(archive).items():
        posted = request.get("postData", {})
        assert request["bodySize"] == (len(received[name]) if name != "stream" else -1), name
        if name in NOT_IN_EVENTS:
            assert posted["text"] == ""
            assert "the body is missing: Chrome does not report" in posted["comment"], name
        elif name in WITHOUT:
            assert posted == {}
        elif "comment" in posted:
            assert "base64" in posted["comment"]
            assert base64.b64decode(posted["text"]) == received[name], name
        else:
            assert posted["text"].encode() == received[name], name


def check_hidden(archive: dict[str, Any]) -> None:
    for name, request in entries_of(archive).items():
        posted = request.get("postData", {})
        assert posted.get("text", "") == ("" if name in NOT_IN_EVENTS or name in EMPTY else "[redacted]"), (
            name
        )
        assert ("comment" in posted) is (name in NOT_IN_EVENTS), name
