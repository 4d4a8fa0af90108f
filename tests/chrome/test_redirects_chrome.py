"""Redirects in a real Chrome: each request of a chain has its own status and headers, in every report.

CDPENGINE_REDIRECTS is the number of redirects (default: 30).
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

REDIRECTS = int(os.environ.get("CDPENGINE_REDIRECTS", "30"))

FRAME = "<script>parent.postMessage('there', '*')</script>"


@pytest.fixture
def here(httpserver: HTTPServer) -> str:
    """Documents with two redirects, each with an identifying header."""

    def answer(request: Request) -> Response:
        headers = {
            "Set-Cookie": f"at={request.path.replace('/', '-')}",
            "X-At": request.path,
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "X-Asks",
        }
        if request.method == "OPTIONS":
            return Response("", 204, headers)
        _, step, name = request.path.split("/")
        if step in ("302", "303"):
            following = {"302": "303", "303": "200"}[step]
            return Response("", int(step), {**headers, "Location": f"/{following}/{name}"})
        return Response(FRAME, 200, headers, content_type="text/html")

    script = "fetch('/302/worker').then(reply => reply.text()).then(postMessage)"
    httpserver.expect_request("/worker.js").respond_with_data(script, content_type="text/javascript")
    httpserver.expect_request("/favicon.ico").respond_with_data("", status=404)
    httpserver.expect_request(re.compile("/[0-9]+/.*")).respond_with_handler(answer)
    return httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")


def right(request: cdpengine.Request) -> bool:
    path = request.url[request.url.index("/", 8) :]
    response = request.response
    assert response is not None, request
    told = (response.status, response.header("X-At"), response.header("Set-Cookie"))
    return told == (int(path[1:4]), path, f"at={path.replace('/', '-')}")


def entries_of(archive: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in archive["log"]["entries"] if re.search("/[0-9]{3}/", entry["request"]["url"])]


def right_entry(entry: dict[str, Any]) -> bool:
    path = entry["request"]["url"][entry["request"]["url"].index("/", 8) :]
    headers = {pair["name"].lower(): pair["value"] for pair in entry["response"]["headers"]}
    status = entry["response"]["status"]
    if entry["request"]["method"] == "OPTIONS":
        return bool(status == 204)
    return (status, headers.get("x-at"), headers.get("set-cookie")) == (
        int(path[1:4]),
        path,
        f"at={path.replace('/', '-')}",
    )


async def test_redirects_of_documents(page: cdpengine.Page, here: str) -> None:
    await page.activity.start(requests=REDIRECTS * 3)
    for number in range(REDIRECTS // 2):
        async with page.expect_response(f"*/200/{number}") as expected:
            await page.goto(f"{here}/302/{number}")
        chain = [*expected.value.request.redirect_chain, expected.value.request]
        assert [request.response.status for request in chain if request.response] == [302, 303, 200]
        assert all(right(request) for request in chain), [request.response for request in chain]
    kept = [request for request in page.activity.requests if re.search("/[0-9]{3}/", request.url)]
    assert len(kept) == REDIRECTS // 2 * 3
    assert all(right(request) for request in kept)
    entries = entries_of(await page.activity.har(bodies=False, redacted=False))
    assert len(entries) == len(kept)
    assert all(right_entry(entry) for entry in entries)
