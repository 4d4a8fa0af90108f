"""Values that answers to intercepted requests enter: the program's values, extracted from forms and JSON."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from cdpengine._network.entered_secrets import entered_by
from cdpengine._network.messages import InterceptedRequest, InterceptedResponse
from cdpengine._urls.reading import credentials_in, without_credentials

MULTIPART = (
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nfirst field\r\n'
    b'--x\r\nContent-Disposition: form-data; name="b"; filename="b.txt"\r\n\r\nof a file\r\n--x--\r\n'
)


def posted(body: bytes, asked: bytes | None = None) -> list[str]:
    request = InterceptedRequest(url="http://host/", post_data=asked)
    return entered_by({"postData": base64.b64encode(body).decode()}, request, None)


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (b"a whole text", ["a whole text"]),
        ("käse-käse".encode(), ["käse-käse"]),
        (b'"a text of JSON"', ["a text of JSON"]),
        (
            b'{"user": "ada", "deep": [{"key": "hush-hush"}, 12345678], "last": "the last"}',
            ["hush-hush", "the last"],
        ),
        (b"user=ada&key=hush%2Bhush&note=two+words", ["hush+hush", "two words"]),
        (MULTIPART, ["first field"]),
        (b"<a><key>hush-hush</key></a>", ["hush-hush"]),
        (b'{"key": "hush-hush"}\n{"key": "another"}\n', ["hush-hush", "another"]),
        (b"\xff\xfe\x00binary", []),
        (b"short", []),
        (b"", []),
        (b"--", []),
        (b"x" * 100_001, []),
        (b"[" * 50_000, []),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_values_of_posted_bodies(body: bytes, values: list[str]) -> None:
    assert posted(body) == values


def test_values_that_the_page_posted_are_not_entered() -> None:
    assert posted(b'{"a": "of the page", "b": "of the program"}', b'{"a": "of the page"}') == [
        "of the program"
    ]


def test_values_of_a_large_body_are_limited() -> None:
    assert len(posted("&".join(f"n{number}=value-{number}" for number in range(500)).encode())) == 64


def test_headers_and_the_url_of_an_answer() -> None:
    own = [
        {"name": "X-Key", "value": "hush"},
        {"name": "X-Theirs", "value": "page"},
        {"name": "X-S", "value": "s"},
    ]
    params: dict[str, Any] = {"headers": own, "url": "http://ada:p%40ss@host/"}
    request = InterceptedRequest(url="http://host/", headers={"X-Theirs": "page"})
    response = InterceptedResponse(url="http://host/", status=200, header_list=(("X-S", "s"),))
    assert entered_by(params, request, response) == ["hush", "ada", "p@ss"]


@pytest.mark.parametrize(
    ("url", "credentials"),
    [
        ("http://ada:hush@host/", ["ada", "hush"]),
        ("HTTPS://ada:a:b@c@host:1/x@y", ["ada", "a:b@c"]),
        ("https://token@host?a@b", ["token"]),
        ("http:\\\\ada:hush@host", ["ada", "hush"]),
        ("ws://:hush@host", ["hush"]),
        ("http://host/a@b", []),
        ("http://host?a:b@c", []),
        ("http://host#a:b@c", []),
        ("mailto:ada@host", []),
        ("javascript:f('a:b@c')", []),
        ("data:text/html,a:b@c", []),
        ("", []),
    ],
)
def test_credentials_in_urls(url: str, credentials: list[str]) -> None:
    assert credentials_in(url) == credentials
    assert credentials_in(without_credentials(url)) == []
    assert credentials or without_credentials(url) == url
