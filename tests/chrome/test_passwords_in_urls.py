"""A user and password in a navigation URL, by every way in: no response, string or log contains them."""

from __future__ import annotations

import json
import logging

import pytest
from pytest_httpserver import HTTPServer
from ways_in import WAYS, open_way
from werkzeug import Request, Response

pytestmark = pytest.mark.chrome

USER, PASSWORD = "canaryuser", "Zx81kQw93LmV77"


@pytest.mark.parametrize("name", WAYS)
async def test_no_response_contains_the_credentials(
    name: str, shared_endpoint: str, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[tuple[str | None, str | None]] = []

    def answer(request: Request) -> Response:
        if request.authorization is None:
            return Response("", 401, headers={"WWW-Authenticate": 'Basic realm="x"'})
        received.append((request.authorization.username, request.authorization.password))
        return Response("<title>In</title><button>Go</button>", content_type="text/html")

    httpserver.expect_request("/").respond_with_handler(answer)
    httpserver.expect_request("/favicon.ico").respond_with_data("")
    url = httpserver.url_for("/").replace("http://", f"http://{USER}:{PASSWORD}@")
    caplog.set_level(logging.DEBUG, "cdpengine")
    async with open_way(name, shared_endpoint) as way:
        responses = [
            await way.ask({"kind": "newTab", "url": url}),
            await way.ask({"kind": "navigate", "url": url}),
            await way.ask({"kind": "reload"}),
            await way.ask({"kind": "snapshot"}),
            await way.ask({"kind": "tabs"}),
            await way.ask({"kind": "navigate", "url": url.replace(str(httpserver.port), "1")}),
        ]
        assert [each["ok"] for each in responses] == [True] * 5 + [False]
        shown = json.dumps(responses) + "\n".join(way.words)
    assert set(received) == {(USER, PASSWORD)}
    assert "button" in shown
    for text in (shown, caplog.text):
        assert PASSWORD not in text
        assert USER not in text
