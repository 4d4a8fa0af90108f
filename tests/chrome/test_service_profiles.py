"""Sessions with a profile: its contents, exclusive use, and refused names."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from busy_machine import slack
from pytest_httpserver import HTTPServer

from cdpengine.service.serving import serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"
SET = "document.cookie = 'who=ada; max-age=9999'"


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    policy = UrlPolicy(allow_private=True)
    async with (
        serve(ServiceSettings(token=TOKEN, url_policy=policy, **settings)) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as http,
    ):
        yield http


async def ask(http: httpx.AsyncClient, session: str, **request: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await http.post("/act", json=request, params={"session": session})).json()
    return answer


async def cookies(http: httpx.AsyncClient, session: str, url: str) -> list[str]:
    assert (await ask(http, session, kind="navigate", url=url))["ok"]
    found = await ask(http, session, kind="cookies")
    return [each["name"] for each in found["result"]]


async def test_profile_persists_and_is_private(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/page").respond_with_data("<title>Page</title>", content_type="text/html")
    url = httpserver.url_for("/page")
    profiles = tmp_path / "profiles"
    async with running(profiles=profiles) as http:
        assert await cookies(http, "profile:work", url) == []
        assert (await ask(http, "profile:work", kind="evaluate", function=SET))["ok"]
        assert stat.S_IMODE((profiles / "work").stat().st_mode) == 0o700
        # Closed and immediately requested again: the next browser waits until the last one has ended.
        assert (await http.delete("/sessions/profile:work")).json() == {"ok": True}
        assert await cookies(http, "profile:work", url) == ["who"]


@pytest.mark.slow
async def test_profile_has_one_browser_at_a_time_and_outlives_the_service(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/page").respond_with_data("<title>Page</title>", content_type="text/html")
    url = httpserver.url_for("/page")
    async with running(profiles=tmp_path) as http:
        assert await cookies(http, "profile:work", url) == []
        assert (await ask(http, "profile:work", kind="evaluate", function=SET))["ok"]
        assert await cookies(http, "work", url) == [], "a session without the profile"
        assert (await http.get("/sessions")).json() == {"sessions": ["profile:work", "work"]}
        async with running(profiles=tmp_path) as other:
            refused = await ask(other, "profile:work", kind="tabs")
            assert refused["error"]["kind"] == "launchFailed"
            assert "in use by another browser" in refused["error"]["message"]
    async with running(profiles=tmp_path) as http:
        assert await cookies(http, "profile:work", url) == ["who"], "its browser exited normally"


async def test_invalid_profile_is_refused(tmp_path: Path) -> None:
    began = trio.current_time()
    async with running() as http:
        refused = await http.post("/act", json={"kind": "tabs"}, params={"session": "profile:work"})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "profilesDisabled")
    (tmp_path / "file").write_text("")
    async with running(profiles=tmp_path) as http:
        for name in ("profile:", "profile:..", "profile:.x", "profile:a/b", "profile:a\\b", "profile:é", "profile:a:b", "..", ".x", "a" * 65):  # fmt: skip
            answer = await ask(http, name, kind="tabs")
            assert answer["error"]["kind"] == "invalidArgument", name
        assert (await ask(http, "profile:file", kind="tabs"))["error"]["kind"] == "profileUnusable"
        assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert trio.current_time() - began < slack(3), "no refused request started a browser"
