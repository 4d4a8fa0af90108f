"""Session ids and tokens in URLs: generalised before a key is built, and distinguished from other strings."""

from __future__ import annotations

import pytest

from cdpengine.cache import Viewport, make_key, normalize_url
from cdpengine.cache.addresses import clean_url, is_random
from cdpengine.cache.learning.templating import Templating

HASH = "d41d8cd98f00b204e9800998ecf8427e"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
SITE = "https://a.example"


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/x;jsessionid=1A530637289A03B07199A44E8D531427", "/x"),
        ("/x;JSESSIONID=1A5.node1?b=2", "/x?b=2"),
        ("/a;jsessionid=1A5/b", "/a/b"),
        ("/x;v=2;jsessionid=1A5", "/x;v=2"),
        ("/x%3Bjsessionid=1A5", "/x%3Bjsessionid=1A5"),
        ("/x?PHPSESSID=hunter2&b=2", "/x?b=2"),
        ("/x?sessionId=hunter2", "/x"),
        ("/x?ASPSESSIONIDQQABC=hunter2", "/x"),
        ("/x?CFID=12&CFTOKEN=34", "/x"),
        ("/x?sid=hunter2", "/x?sid=*"),
        ("/x?access_token=hunter2", "/x?access_token=*"),
        ("/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "/x.aspx"),
        (f"/reset/{HASH}", "/reset/*"),
        (f"/reset/{HASH}/", "/reset/*/"),
        (f"/o/{UUID}/edit", "/o/*/edit"),
        ("/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit", "/d/*/edit"),
        ("/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "/t/*"),
        ("/t/kJ8-x_9Lm2Qp-Rt7Vw3Xy_Zb5Nc", "/t/*"),
        ("/t/SGVsbG8gd29ybGQhISE%3D", "/t/*"),
        ("/t/XkQpLmNvBtRsWyZaHcJd", "/t/*"),
        (f"/#/reset/{HASH}?PHPSESSID=1", "/#/reset/*"),
    ],
)
def test_no_session_id_and_no_token_is_in_a_key(path: str, form: str) -> None:
    assert normalize_url(SITE + path) == SITE + form
    key = make_key("login", SITE + path, Viewport(width=1280, height=720))
    assert key.address == SITE + form
    assert key.pattern.matches(SITE + path)


@pytest.mark.parametrize(
    "segment",
    [
        "how-to-build-a-house-in-2024-with-10-tips", "getUserAccountDetailsForCustomer", "internationalization",
        "internationalization-and-localization", "2024-11-27T02-22-26-report", "electronics_and_computers_2024",
        "windows-11-pro-x64-iso-22h2-download", "sku-ABC123-XYZ789-000111", "B08N5WRWNW", "iphone-15-pro-max-256gb",
        "mp4-1080p-h264-aac-x265-10bit", "12345678901234567890123", "the.quick.brown.fox.v2.0.1",
        "%E7%94%A8%E6%88%B7%E7%99%BB%E5%BD%95", "index.html", "",
    ],
)  # fmt: skip
def test_words_and_numbers_are_not_random(segment: str) -> None:
    assert not is_random(segment)
    assert normalize_url(f"{SITE}/x/{segment}/y") == f"{SITE}/x/{segment}/y"


def test_a_url_without_session_ids_stays_as_it_is() -> None:
    for url in (
        f"{SITE}?x=1",
        f"{SITE}/a/b.html?x=1&y=#top",
        f"{SITE}/#/cart?b=2",
        "about:blank",
        f"{SITE}/;v=1",
    ):
        assert clean_url(url) == url


def test_a_learned_url_keeps_no_session_id_and_no_token() -> None:
    templating = Templating({"order": UUID})
    assert templating.address(f"{SITE}/login;jsessionid=1A5?PHPSESSID=x&next=1") == f"{SITE}/login?next=1"
    assert templating.address(f"{SITE}/orders/{UUID}/edit") == f"{SITE}/orders/${{order}}/edit"
    assert templating.generalized == []
    assert templating.address(f"{SITE}/r/{HASH}?again=1") == f"{SITE}/r/${{path_id}}?again=1"
    assert templating.address(f"{SITE}/r/{HASH}/two") == f"{SITE}/r/${{path_id}}/two"
    assert templating.generalized == ["path_id"]
    assert templating.used == {"order", "path_id"}
