"""Arguments of interception and network settings: names, headers, answers, patterns. As pure functions."""

from __future__ import annotations

import base64
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._network.active_route import RouteMatch
from cdpengine._network.exchange import Overrides
from cdpengine._network.interceptor import Credentials
from cdpengine._network.messages import (
    ABORT_REASONS,
    RESOURCE_TYPES,
    AbortReason,
    InterceptedRequest,
    InterceptedResponse,
    ResourceType,
    check_headers,
    check_reason,
    check_resource_types,
    fulfil_params,
    is_at_response,
    merge_headers,
    to_request,
)
from cdpengine._network.settings import NETWORKS, NetworkConditions, check_conditions, check_cpu_rate
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.messages import decode_payload
from cdpengine._urls.patterns import chrome_url_of, url_test, url_words
from cdpengine.errors import (
    BodyUnavailableError,
    BodyUndecodableError,
    InvalidArgumentError,
)


def test_the_tables_and_the_types_are_the_same() -> None:
    assert get_args(ResourceType) == RESOURCE_TYPES
    assert get_args(AbortReason) == tuple(ABORT_REASONS)
    for conditions in NETWORKS.values():
        assert check_conditions(conditions) is conditions


@pytest.mark.parametrize(
    ("given_types", "expected"),
    [
        ((), set()),
        ("image", {"Image"}),
        (["XHR", "font"], {"XHR", "Font"}),
        ("Fetch", {"Fetch", "XHR"}),
    ],
)
def test_resource_types(given_types: object, expected: set[str]) -> None:
    assert check_resource_types(given_types) == expected


@pytest.mark.parametrize("wrong", ["", "images", ["image", 1], 7, None])
def test_invalid_resource_types(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError, match="Stylesheet"):
        check_resource_types(wrong)


def test_reasons() -> None:
    assert check_reason("connectionrefused") == "ConnectionRefused"
    for wrong in ("", "refused", None):
        with pytest.raises(InvalidArgumentError, match="ConnectionRefused"):
            check_reason(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        "5g",
        None,
        NetworkConditions(latency=-0.1),
        NetworkConditions(download=0),
        NetworkConditions(upload=float("nan")),
        NetworkConditions(offline=1),  # type: ignore[arg-type]
        NetworkConditions(latency=True),
    ],
)
def test_invalid_conditions(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError):
        check_conditions(wrong)


def test_rates() -> None:
    assert check_cpu_rate(1) == 1.0
    for wrong in (0.99, 0, -1, float("inf"), "4", True):
        with pytest.raises(InvalidArgumentError):
            check_cpu_rate(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"": "a"},
        {"a:": "b"},
        {"a": 1},
        {"a": "b\nc: d"},
        {1: "a"},
        "a: b",
        [("a",)],
        [["a", "b"]],
        None,
    ],
)
def test_invalid_headers(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError):
        check_headers(wrong)


def test_a_refused_header_is_not_shown() -> None:
    with pytest.raises(InvalidArgumentError) as note_refusal:
        check_headers({"Authorization": "Bearer s3cret\n"})
    assert "s3cret" not in str(note_refusal.value)
    assert "Authorization" in str(note_refusal.value)


def test_headers_of_layers() -> None:
    layers = [{"X-A": "1", "X-B": "1"}, {"x-a": "2"}, {"X-C": "3"}]
    assert merge_headers(layers) == {"x-a": "2", "X-B": "1", "X-C": "3"}
    assert check_headers([("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]) == [
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    ]


def answer(**given_parts: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "status": None,
        "headers": None,
        "body": None,
        "json": None,
        "content_type": None,
    }
    made = fulfil_params(**{**parts, **given_parts})
    made["body"] = base64.b64decode(made["body"])
    made["responseHeaders"] = [(entry["name"], entry["value"]) for entry in made["responseHeaders"]]
    return made


def test_answers() -> None:
    assert answer() == {"responseCode": 200, "responsePhrase": "OK", "responseHeaders": [], "body": b""}
    assert answer(json=[1])["responseHeaders"] == [("Content-Type", "application/json")]
    assert answer(body="é")["body"] == b"\xc3\xa9"
    assert answer(body=b"x")["responseHeaders"] == []
    assert answer(body=b"x", file_name="a.css")["responseHeaders"] == [("Content-Type", "text/css")]
    assert answer(body=b"x", file_name="a")["responseHeaders"] == [
        ("Content-Type", "application/octet-stream")
    ]
    given_type = answer(body="x", headers={"content-type": "a/b"})
    assert given_type["responseHeaders"] == [("content-type", "a/b")]
    assert answer(body="x", headers={"content-type": "a/b"}, content_type="c/d")["responseHeaders"] == [
        ("Content-Type", "c/d")
    ]
    assert answer(status=599)["responsePhrase"] == "Unknown"


def test_an_answer_in_place_of_a_response() -> None:
    response = InterceptedResponse(
        url="http://a/",
        status=203,
        header_list=(
            ("Content-Encoding", "gzip"),
            ("Content-Length", "9"),
            ("ETag", "e"),
            ("Content-Type", "a/b"),
        ),
    )
    made = answer(body="new", response=response)
    assert made["responseCode"] == 203
    assert made["responseHeaders"] == [("ETag", "e"), ("Content-Type", "a/b")]
    assert answer(body="new", headers={}, response=response)["responseHeaders"] == [
        ("Content-Type", "text/plain; charset=utf-8")
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 99},
        {"status": 101},
        {"status": 600},
        {"status": True},
        {"body": 1},
        {"body": "a", "json": {}},
        {"json": object()},
        {"content_type": "a\r\nb"},
    ],
)
def test_invalid_answers(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        answer(**wrong)


def chrome_matches(pattern: str, url: str) -> bool:
    """Match a pattern as Chrome does: "*" matches any run, "?" one character, a backslash escapes."""
    regex, escaped = "", False
    for character in pattern:
        if escaped or character not in "*?\\":
            regex, escaped = regex + re.escape(character), False
        elif character == "\\":
            escaped = True
        else:
            regex += ".*" if character == "*" else "."
    return re.fullmatch(regex, url, re.DOTALL) is not None


@given(st.text("ab*?\\./", min_size=1, max_size=8), st.text("ab?\\./", max_size=8))
def test_a_glob_means_the_same_to_chrome(glob: str, url: str) -> None:
    assert chrome_matches(chrome_url_of(glob), url) == url_test(glob)(url)


@pytest.mark.parametrize("glob", ["**/*.{png,jpg}", "http://a/{b,c}/d"])
def test_alternatives_of_other_libraries_are_refused(glob: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r'only "\*" is special'):
        url_test(glob)


@pytest.mark.parametrize("glob", ["*?filter={a,b}", "*/{id}/*"])
def test_braces_without_alternatives_are_literal(glob: str) -> None:
    assert url_test(glob)(glob.replace("*", "http://a/"))


def test_matches() -> None:
    match = RouteMatch(
        test=url_test("*/a"), words=url_words("*/a"), types=frozenset({"Image", "XHR"}), stage="response"
    )
    assert match.patterns() == [
        {"urlPattern": "*", "requestStage": "Response", "resourceType": "Image"},
        {"urlPattern": "*", "requestStage": "Response", "resourceType": "XHR"},
    ]
    image = InterceptedRequest(url="http://x/a", resource_type="Image")
    assert match.matches(image, "response")
    assert not match.matches(image, "request")
    assert not match.matches(InterceptedRequest(url="http://x/b", resource_type="Image"), "response")
    assert not match.matches(InterceptedRequest(url="http://x/a", resource_type="Font"), "response")


def test_credentials_are_for_one_origin() -> None:
    credentials = Credentials.checked("ada", "s3cret", "https://Example.com", False)
    assert credentials.fit("https://example.com", "Server")
    assert credentials.fit("https://example.com:443", "Server")
    assert not credentials.fit("http://example.com", "Server")
    assert not credentials.fit("https://example.com", "Proxy")
    assert not credentials.fit("https://example.com.evil.org", "Server")
    assert "s3cret" not in repr(credentials)
    foreign = Credentials.checked("ada", "s3cret", "https://bücher.example:8443/", False)
    assert foreign.fit("https://xn--bcher-kva.example:8443", "Server")
    assert Credentials.checked("ada", "s3cret", "http://[::1]:80", False).fit("http://[0::1]", "Server")
    for wrong in (
        "example.com",
        "https://",
        "https://a/path",
        "https://u:p@a",
        "https://a/?b",
        "http://a:port",
        1,
    ):
        with pytest.raises(InvalidArgumentError):
            Credentials.checked("ada", "s3cret", wrong, False)  # type: ignore[arg-type]


def test_later_changes_go_over_earlier_ones() -> None:
    earlier = Overrides(url="a://", headers=(("A", "1"),))
    assert Overrides(method="POST", headers=()).over(earlier) == Overrides(
        url="a://", method="POST", headers=()
    )


def test_a_request_in_the_form_of_chrome() -> None:
    payload = b"""{"requestId": "r", "frameId": "F", "resourceType": "XHR", "request": {"url": "http://a/", "method": "POST",
        "headers": {"X-A": "1"}, "hasPostData": true, "postData": "a",
        "postDataEntries": [{"bytes": "Yf8="}, {"bytes": ""}, {"bytes": "Yg=="}]}}"""
    paused = decode_payload(payload, RequestPaused)
    request = to_request(paused, "T")
    assert not is_at_response(paused)
    assert (request.post_data, request.header("x-a"), request.header("x-b")) == (b"a\xffb", "1", None)
    partly = decode_payload(payload.replace(b'{"bytes": ""}', b"{}"), RequestPaused)
    assert to_request(partly, "T").post_data is None
    assert "files on disk and the streams" in to_request(partly, "T").post_data_missing
    untold = decode_payload(
        b'{"requestId": "r", "request": {"url": "u", "hasPostData": true}}', RequestPaused
    )
    assert (to_request(untold, "T").post_data, to_request(untold, "T").has_post_data) == (None, True)
    with pytest.raises(BodyUndecodableError, match="does not report files"):
        to_request(untold, "T").json()
    nothing = to_request(decode_payload(b'{"requestId": "r", "request": {"url": "u"}}', RequestPaused), "T")
    assert (nothing.post_data, nothing.post_data_missing, nothing.has_post_data) == (None, "", False)
    with pytest.raises(BodyUndecodableError, match="no body"):
        nothing.json()


async def test_a_response_is_read_once_and_in_its_charset() -> None:
    reads = 0

    async def read() -> bytes:
        nonlocal reads
        reads += 1
        return b"\xe9"

    response = InterceptedResponse(
        url="u", status=200, header_list=(("content-type", 'text/plain; charset="latin-1"'),), read=read
    )
    assert (await response.text(), await response.body(), reads) == ("é", b"\xe9", 1)
    with pytest.raises(BodyUndecodableError):
        await response.json()
    unknown = InterceptedResponse(
        url="u", status=200, header_list=(("Content-Type", "a/b;charset=klingon"),), read=read
    )
    assert await unknown.text() == "\ufffd"
    with pytest.raises(BodyUnavailableError, match="TimedOut"):
        await InterceptedResponse(url="u", status=0, failure="TimedOut", read=read).body()
