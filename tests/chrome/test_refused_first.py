"""A session whose first navigation is refused: later requests report this, and how to allow it."""

from __future__ import annotations

import pytest

from cdpengine.service.app import Service
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

NEEDS_PAGE: list[dict[str, object]] = [
    {"kind": "snapshot"},
    {"kind": "click", "ref": "e1"},
    {"kind": "back"},
    {"kind": "console"},
    {"kind": "close", "index": 0},
    {"kind": "evaluate", "function": "1"},
]


async def refusal_of(service: Service, request: dict[str, object], session: str) -> str:
    response = await service.perform(session, request)
    assert response.error is not None
    return f"{response.error.message}\n{response.error.hint}"


async def test_later_requests_name_the_refused_navigation(shared_endpoint: str) -> None:
    settings = ServiceSettings(
        token="x" * 32, endpoint=shared_endpoint, url_policy=UrlPolicy(deny=("a.example",))
    )
    async with open_service(settings) as service:
        for first, reason, remedy in (
            ("http://127.0.0.1:9/", "an address of this machine", "--allow-private"),
            ("http://10.0.0.1/", "an address of a private network", "--allow-private"),
            ("http://a.example/", "is denied", "--deny"),
            ("file:///etc/passwd", "the scheme file is not allowed", ""),
        ):
            name = f"s{first[:6].strip(':/')}-{len(first)}"
            pageless = await service.perform(name, {"kind": "snapshot"})
            assert pageless.error is not None
            assert (pageless.error.kind, pageless.error.no_page) == ("invalidArgument", True)
            refused = await refusal_of(service, {"kind": "navigate", "url": first}, name)
            assert reason in refused
            assert remedy in refused
            for request in NEEDS_PAGE:
                later = await refusal_of(service, request, name)
                assert remedy in later, later
                assert "newTab" not in later
                assert "a navigate request to another URL" in later
                if request["kind"] != "close":
                    assert reason in later
            assert (await service.perform(name, {"kind": "navigate", "url": "about:blank"})).ok
            assert (await service.perform(name, {"kind": "snapshot"})).ok
            assert (await service.perform(name, {"kind": "close"})).ok
            assert reason not in await refusal_of(service, {"kind": "snapshot"}, name), "it is an old one"
