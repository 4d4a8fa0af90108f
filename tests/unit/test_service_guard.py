"""Access to the service: every kind of unauthorized request."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import trio
import trio.testing

from cdpengine.errors import InvalidArgumentError
from cdpengine.service.guard import Guard, check_headers
from cdpengine.service.openapi import make_document
from cdpengine.service.settings import ServiceSettings, keep_token

TOKEN = "a-token-of-some-length"
PORT = 8787
GOOD = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}"}


def settings(**more: Any) -> ServiceSettings:
    return ServiceSettings(token=TOKEN, **more)


@pytest.mark.parametrize(
    "host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}", "localhost"]
)
def test_its_own_names_are_accepted(host: str) -> None:
    assert check_headers("/act", {**GOOD, "host": host}, settings(), PORT) is None


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "127.0.0.1.evil.example", "127.0.0.1@evil.example", f"0.0.0.0:{PORT}"],
)  # fmt: skip
def test_a_foreign_host_is_refused(host: str) -> None:
    """A page whose name was made to resolve here (DNS rebinding) therefore gets nothing."""
    for path in ("/act", "/healthz"):
        refused = check_headers(path, {**GOOD, "host": host}, settings(), PORT)
        assert refused is not None
        assert (refused.status, refused.kind) == (403, "hostRefused")
    assert check_headers("/act", {**GOOD, "host": "box.lan"}, settings(hosts=("box.lan",)), PORT) is None


@pytest.mark.parametrize("origin", ["null", "https://evil.example", f"http://127.0.0.1:{PORT}", ""])
def test_web_pages_are_refused_unless_named(origin: str) -> None:
    refused = check_headers("/act", {**GOOD, "origin": origin}, settings(), PORT)
    assert refused is not None
    assert (refused.status, refused.kind) == (403, "originRefused")
    assert check_headers("/act", {**GOOD, "origin": origin}, settings(origins=(origin,)), PORT) is None


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", "Bearer wrong", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \udcff"]
)  # fmt: skip
def test_without_the_token_nothing_is_accepted(given: str | None) -> None:
    headers = {name: value for name, value in GOOD.items() if name != "authorization"}
    if given is not None:
        headers["authorization"] = given
    for path in ("/act", "/metrics", "/openapi.json", "/tabs", "/healthz/", "//healthz"):
        refused = check_headers(path, headers, settings(), PORT)
        assert refused is not None
        assert (refused.status, refused.kind) == (401, "unauthorized")
        assert TOKEN not in refused.message + refused.hint
    assert check_headers("/healthz", headers, settings(), PORT) is None
    assert check_headers("/act", {**headers, "authorization": f"bearer  {TOKEN} "}, settings(), PORT) is None


@pytest.mark.parametrize("length", ["1048577", "9" * 30, "-1", "abc", "1e3"])
def test_an_announced_size_above_the_limit_is_refused_before_reading(length: str) -> None:
    refused = check_headers("/act", {**GOOD, "content-length": length}, settings(), PORT)
    assert refused is not None
    assert refused.status == 413


# --- the body ------------------------------------------------------------------------------------------------


async def ask(
    messages: list[dict[str, Any]], *, limit: int = 100, headers: Mapping[str, str] = GOOD, kind: str = "http"
) -> tuple[int | None, Any]:
    """Send messages through the guard to an application that echoes its request. Return status and body."""
    sent: list[Any] = []
    pending = list(messages)

    async def receive() -> Any:
        if not pending:
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()
        return pending.pop(0)

    async def send(message: Any) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(len(body)).encode()})

    scope = {
        "type": kind,
        "path": "/act",
        "method": "POST",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await Guard(inner, settings(body=limit), PORT)(scope, receive, send)
    if kind == "websocket":
        return None, sent[0]["type"]
    return (sent[0]["status"], json.loads(sent[1]["body"])) if sent else (None, None)


def piece(size: int, *, more: bool) -> dict[str, Any]:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


async def test_a_body_arrives_completely_in_any_pieces() -> None:
    assert await ask([piece(100, more=False)]) == (200, 100)
    assert await ask([*(piece(10, more=True) for _ in range(9)), piece(10, more=False)]) == (200, 100)


async def test_a_body_that_grows_too_large_is_refused_immediately() -> None:
    status, body = await ask([piece(60, more=True), piece(60, more=True)])
    assert (status, body["error"]["kind"]) == (413, "tooLarge")


async def test_a_body_that_arrives_too_slowly_is_refused_in_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    began = trio.current_time()
    status, body = await ask([piece(1, more=True)])
    assert (status, body["error"]["kind"]) == (408, "tooSlow")
    assert math.isclose(trio.current_time() - began, settings().body_time)


async def ask_as_a_page(
    method: str, headers: Mapping[str, str], origins: tuple[str, ...]
) -> tuple[int, dict[str, str]]:
    """Send a request as a browser does for a page. Return the status and the headers of the answer."""
    sent: list[Any] = []

    async def receive() -> Any:
        await trio.lowlevel.checkpoint()
        return piece(0, more=False)

    async def send(message: Any) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x", b"y")]})
        await send({"type": "http.response.body", "body": b""})

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": "/act", "method": method, "headers": raw}
    await Guard(inner, settings(origins=origins), PORT)(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def test_an_allowed_page_can_read_its_answers() -> None:
    page = "https://panel.example"
    preflight = {"host": GOOD["host"], "origin": page, "access-control-request-method": "POST"}
    status, response_headers = await ask_as_a_page("OPTIONS", preflight, (page,))
    assert status == 204
    assert response_headers["access-control-allow-origin"] == page
    assert "authorization" in response_headers["access-control-allow-headers"]
    assert "access-control-allow-private-network" not in response_headers
    private = {**preflight, "access-control-request-private-network": "true"}
    assert (await ask_as_a_page("OPTIONS", private, (page,)))[1][
        "access-control-allow-private-network"
    ] == "true"
    status, response_headers = await ask_as_a_page("POST", {**GOOD, "origin": page}, (page,))
    assert (
        status,
        response_headers["x"],
        response_headers["access-control-allow-origin"],
        response_headers["vary"],
    ) == (
        200,
        "y",
        page,
        "Origin",
    )
    # The token is still required, and the page can read the error about a missing one.
    status, response_headers = await ask_as_a_page("POST", {"host": GOOD["host"], "origin": page}, (page,))
    assert (status, response_headers["access-control-allow-origin"]) == (401, page)


@pytest.mark.parametrize("method", ["OPTIONS", "POST"])
async def test_a_page_that_is_not_allowed_can_read_nothing(method: str) -> None:
    asked = {**GOOD, "access-control-request-method": "POST"}
    for headers, origins in (
        ({**asked, "origin": "https://evil.example"}, ("https://panel.example",)),
        ({**asked, "origin": "https://panel.example", "host": "evil.example"}, ("https://panel.example",)),
    ):
        status, response_headers = await ask_as_a_page(method, headers, origins)
        assert status == 403
        assert not [name for name in response_headers if name.startswith("access-control")]
    status, response_headers = await ask_as_a_page("POST", GOOD, ("https://panel.example",))
    assert status == 200
    assert not [name for name in response_headers if name.startswith("access-control")], "not a page"


async def test_a_client_that_leaves_gets_no_answer() -> None:
    assert await ask([piece(1, more=True), {"type": "http.disconnect"}]) == (None, None)


async def test_websockets_are_refused() -> None:
    assert await ask([], kind="websocket") == (None, "websocket.close")


# --- settings ------------------------------------------------------------------------------------------------


def test_the_token_file_is_private_to_its_owner(tmp_path: Path) -> None:
    place = tmp_path / "state" / "token"
    token = keep_token(place)
    assert len(token) >= 32
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert keep_token(place) == token
    assert token not in repr(ServiceSettings(token=token))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "token"
    place.write_text("x" * 40)
    place.chmod(mode)
    with pytest.raises(InvalidArgumentError, match="others can read"):
        keep_token(place)


@pytest.mark.parametrize("content", ["", "short", "\n"])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: str) -> None:
    place = tmp_path / "token"
    place.write_text(content)
    place.chmod(0o600)
    with pytest.raises(InvalidArgumentError, match="has no token"):
        keep_token(place)


@pytest.mark.parametrize(
    "wrong",
    [{"token": "short"}, {"token": "ä" * 40}, {"token": "a b\n" * 10}, {"sessions": 0}, {"requests": 0}, {"body": 0}, {"body_time": 0}, {"ending": -1},
     {"session_idle": math.nan}, {"longest": 0}],
)  # fmt: skip
def test_impossible_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        ServiceSettings(**{"token": TOKEN, **wrong})


def test_the_service_document_is_valid() -> None:
    document = make_document({"/snapshot": "snapshot", "/screenshot": "screenshot"})
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert "kind" not in document["components"]["schemas"]["TakeSnapshotFields"]["properties"]
    text = json.dumps(document)
    assert "$defs" not in text
    for name in document["components"]["schemas"]:
        assert name == "Problem" or name in text
