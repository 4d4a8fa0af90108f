"""Recorded requests as an HTTP archive: checked by the format's schema, and by its contents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import recorded as recorded_module
from json_schema import breaches
from random_strings import make_strings
from recorded import HEADER, Recorded, small
from rounds import rounds

import cdpengine
from cdpengine._json import replace_unpaired
from cdpengine.debug import open_recording
from cdpengine.debug.reading.har import archive_document

SCHEMA = json.loads(Path(__file__).parent.joinpath("data", "har-1.2.schema.json").read_text("utf-8"))
S, T = "5E55", "7A26"


def archived(recorded: Recorded, tmp_path: Path, damage: int = 0) -> dict[str, Any]:
    path = recorded.write(tmp_path / "a.jsonl")
    with open_recording(path) as recording:
        document = json.loads(archive_document(recording, recording))
        assert len(recording.damage) == damage
    assert list(breaches(document, SCHEMA)) == []
    log: dict[str, Any] = document["log"]
    return log


def sent(
    recorded: Recorded, number: str, url: str, *, kind: str = "Document", at: float = 10.0, **more: Any
) -> None:
    request = {"url": url, "method": "GET", "headers": {"A": "1"}} | more.pop("request", {})
    recorded.event(
        "Network.requestWillBeSent", S, requestId=number, loaderId="1" if kind == "Document" else "0", frameId=T,
        type=kind, request=request, timestamp=at, wallTime=1.7e9 + at, **more,
    )  # fmt: skip


def response(url: str, status: int = 200, **more: Any) -> dict[str, Any]:
    return {
        "url": url, "status": status, "statusText": "OK", "headers": {"Content-Type": "text/html"}, "mimeType": "text/html",
        "protocol": "h2", "remoteIPAddress": "[::1]", "connectionId": 42, "encodedDataLength": 120,
    } | more  # fmt: skip


def exchange() -> Recorded:
    recorded = Recorded()
    recorded.attach(S, T)
    sent(recorded, "1", "https://example.com/?q=1&q=2&e=")
    timing = {
        "requestTime": 10.01, "dnsStart": 1, "dnsEnd": 3, "connectStart": 3, "connectEnd": 9, "sslStart": 5, "sslEnd": 9,
        "sendStart": 10, "sendEnd": 11, "receiveHeadersEnd": 41,
    }  # fmt: skip
    recorded.event("Network.requestWillBeSentExtraInfo", S, requestId="1", headers={"A": "1", "B": "2"})
    recorded.event(
        "Network.responseReceived", S, requestId="1", timestamp=10.06, response=response("x", timing=timing)
    )
    recorded.event(
        "Network.responseReceivedExtraInfo", S, requestId="1", statusCode=200, headers={"Set-Cookie": "a\nb"}
    )
    recorded.event(
        "Network.dataReceived", S, requestId="1", timestamp=10.07, dataLength=1000, encodedDataLength=400
    )
    recorded.event(
        "Network.dataReceived", S, requestId="1", timestamp=10.08, dataLength=234, encodedDataLength=0
    )
    recorded.event("Network.loadingFinished", S, requestId="1", timestamp=10.1, encodedDataLength=520)
    recorded.event("Page.domContentEventFired", S, timestamp=10.2)
    recorded.event("Page.loadEventFired", S, timestamp=10.3)
    return recorded


def test_an_exchange_with_everything(tmp_path: Path) -> None:
    recorded = exchange()
    recorded.exchange("Network.getResponseBody", S, requestId="1")
    log = archived(recorded, tmp_path)
    assert log["browser"] == {"name": "Chrome", "version": "156.0.1"}
    (page,) = log["pages"]
    assert page["pageTimings"] == {"onContentLoad": 200.0, "onLoad": 300.0}
    (entry,) = log["entries"]
    assert entry["startedDateTime"] == "2023-11-14T22:13:30.000+00:00"
    assert entry["timings"] == {
        "blocked": 11.0, "dns": 2.0, "connect": 6.0, "ssl": 4.0, "send": 1.0, "wait": 30.0, "receive": 50.0,
    }  # fmt: skip
    assert entry["time"] == pytest.approx(100)
    assert (entry["pageref"], entry["serverIPAddress"], entry["connection"]) == (page["id"], "::1", "42")
    assert entry["request"]["headers"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert [pair["value"] for pair in entry["request"]["queryString"]] == ["1", "2", ""]
    assert entry["response"]["headers"] == [{"name": "Set-Cookie", "value": v} for v in ("a", "b")]
    assert entry["response"]["content"] == {"size": 1234, "mimeType": "text/html", "text": ""}
    assert entry["response"]["httpVersion"] == "HTTP/2"
    assert "520 bytes" in entry["response"]["comment"]


@pytest.mark.parametrize(("result", "content"), [
    ({"body": "<p>", "base64Encoded": False}, {"text": "<p>"}),
    ({"body": "PHA+", "base64Encoded": True}, {"text": "PHA+", "encoding": "base64"}),
])  # fmt: skip
def test_a_requested_body(tmp_path: Path, result: dict[str, Any], content: dict[str, Any]) -> None:
    recorded = exchange()
    recorded.reply(recorded.call("Network.getResponseBody", S, requestId="1"), S, **result)
    (entry,) = archived(recorded, tmp_path)["entries"]
    assert {key: entry["response"]["content"][key] for key in content} == content


def test_a_cut_body_is_marked(tmp_path: Path) -> None:
    recorded = exchange()
    recorded.maker._limit = 500
    recorded.reply(recorded.call("Network.getResponseBody", S, requestId="1"), S, body="x" * 600)
    (entry,) = archived(recorded, tmp_path)["entries"]
    assert "text" not in entry["response"]["content"]
    assert "cut" in entry["response"]["content"]["comment"]


def test_a_redirect_is_two_exchanges_with_their_own_headers(tmp_path: Path) -> None:
    recorded = Recorded()
    recorded.attach(S, T)
    sent(recorded, "1", "https://example.com/a")
    recorded.event("Network.requestWillBeSentExtraInfo", S, requestId="1", headers={"first": ""})
    recorded.event(
        "Network.responseReceivedExtraInfo", S, requestId="1", statusCode=302, headers={"Location": "/b"}
    )
    # Chrome may report the second request's headers before the request.
    recorded.event("Network.requestWillBeSentExtraInfo", S, requestId="1", headers={"second": ""})
    sent(
        recorded,
        "1",
        "https://example.com/b",
        at=10.5,
        redirectResponse=response("https://example.com/a", 302),
    )
    recorded.event("Network.responseReceivedExtraInfo", S, requestId="1", statusCode=200, headers={"X": "y"})
    recorded.event("Network.responseReceived", S, requestId="1", response=response("https://example.com/b"))
    recorded.event("Network.loadingFinished", S, requestId="1", timestamp=11, encodedDataLength=5)
    log = archived(recorded, tmp_path)
    first, second = log["entries"]
    assert (first["response"]["status"], first["response"]["redirectURL"], first["time"]) == (
        302,
        "/b",
        500.0,
    )
    assert (second["request"]["url"], second["response"]["status"]) == ("https://example.com/b", 200)
    assert [e["request"]["headers"][0]["name"] for e in (first, second)] == ["first", "second"]
    assert len(log["pages"]) == 1


@pytest.mark.parametrize(("end", "comment"), [
    (("Network.loadingFailed", {"errorText": "net::ERR_CONNECTION_REFUSED"}), "net::ERR_CONNECTION_REFUSED"),
    (("Network.loadingFailed", {"canceled": True}), "canceled"),
    (("Network.requestServedFromCache", {}), "no answer was recorded; from the browser's cache"),
    (("Page.loadEventFired", {}), "no answer was recorded"),
])  # fmt: skip
def test_a_request_without_an_answer_gives_the_reason(
    tmp_path: Path, end: tuple[str, dict[str, Any]], comment: str
) -> None:
    recorded = Recorded()
    post = {
        "method": "POST",
        "hasPostData": True,
        "postData": "a=b",
        "headers": {"Content-Type": "text/plain"},
    }
    sent(recorded, "9", "https://example.com/x", kind="XHR", request=post)
    recorded.event(end[0], S, requestId="9", timestamp=11.0, **end[1])
    (entry,) = archived(recorded, tmp_path)["entries"]
    assert (entry["response"]["status"], entry["comment"]) == (0, comment)
    assert "pageref" not in entry
    assert entry["request"]["postData"] == {"mimeType": "text/plain", "text": "a=b", "params": []}


def test_a_possible_stream_is_missing_until_the_headers_rule_it_out(
    tmp_path: Path,
) -> None:
    def posted(method: str = "POST", headers: dict[str, str] | None = None, protocol: str = "") -> Any:
        recorded = Recorded()
        recorded.attach(S, T)
        sent(recorded, "1", "https://example.com/", kind="Fetch", request={"method": method})
        if headers is not None:
            recorded.event("Network.requestWillBeSentExtraInfo", S, requestId="1", headers=headers)
        if protocol:
            recorded.event(
                "Network.responseReceived", S, requestId="1", response=response("x", protocol=protocol)
            )
        (entry,) = archived(recorded, tmp_path)["entries"]
        return entry["request"]["bodySize"], entry["request"].get("postData", {}).get("comment", "none")

    assert posted("GET") == (0, "none")
    size, comment = posted()
    assert size == -1
    assert "stream" in comment
    assert posted(headers={"a": "b"}, protocol="h2") == (size, comment)
    assert posted(headers={"content-length": "0"}, protocol="h2") == (0, "none")
    assert posted(headers={"a": "b"}, protocol="http/1.1") == (0, "none")
    assert posted("PATCH") == (size, comment)


def test_cookies_of_a_recording_with_secrets_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded()
    recorded.attach(S, T)
    sent(recorded, "1", "https://example.com/")
    recorded.event(
        "Network.requestWillBeSentExtraInfo", S, requestId="1", headers={"Cookie": 'a=1; b="2=3"; c; d='}
    )
    lines = [
        "a=b=c; Path=/x; Domain=example.com; Expires=Wed, 21-Oct-2026 07:28:00 GMT; Secure; HttpOnly; SameSite=Lax",
        "e=; expires=never; MAX-AGE=5",
    ]
    recorded.event(
        "Network.responseReceivedExtraInfo", S, requestId="1", headers={"set-cookie": "\n".join(lines)}
    )
    recorded.event("Network.responseReceived", S, requestId="1", response=response("x"), hasExtraInfo=True)
    (hidden,) = archived(recorded, tmp_path)["entries"]
    assert hidden["request"]["cookies"] == hidden["response"]["cookies"] == []
    monkeypatch.setattr(recorded_module, "HEADER", msgspec.structs.replace(HEADER, redacted=False))
    (entry,) = archived(recorded, tmp_path)["entries"]
    assert entry["request"]["cookies"] == [
        {"name": "a", "value": "1"}, {"name": "b", "value": '"2=3"'}, {"name": "", "value": "c"},
        {"name": "d", "value": ""},
    ]  # fmt: skip
    assert entry["response"]["cookies"] == [
        {
            "name": "a", "value": "b=c", "path": "/x", "domain": "example.com", "httpOnly": True, "secure": True,
            "expires": "2026-10-21T07:28:00.000+00:00",
        },
        {"name": "e", "value": "", "httpOnly": False, "secure": False},
    ]  # fmt: skip


def test_cut_events_are_reported(tmp_path: Path) -> None:
    recorded = exchange()
    recorded.maker._limit = 500
    sent(recorded, "2", "data:" + "x" * 1000)
    log = archived(recorded, tmp_path)
    assert "1 events of requests are missing" in log["comment"]
    assert len(log["entries"]) == 1


def test_an_event_of_another_shape_is_damage_of_its_line(tmp_path: Path) -> None:
    recorded = exchange()
    recorded.event("Network.loadingFinished", S, requestId=["1"])
    archived(recorded, tmp_path, damage=1)


def test_events_of_unknown_requests_are_passed_over(tmp_path: Path) -> None:
    recorded = exchange()
    for name in (
        "responseReceived",
        "dataReceived",
        "loadingFinished",
        "loadingFailed",
        "requestServedFromCache",
    ):
        recorded.event(f"Network.{name}", S, requestId="before")
    recorded.reply(recorded.call("Network.getResponseBody", S, requestId="before"), S, body="x")
    assert len(archived(recorded, tmp_path)["entries"]) == 1


def test_a_recording_without_requests_gives_advice(tmp_path: Path) -> None:
    with (
        open_recording(small().write(tmp_path / "a.jsonl")) as recording,
        pytest.raises(cdpengine.errors.FileUnreadableError, match="Network.enable"),
    ):
        archive_document(recording, recording)


@pytest.mark.parametrize("change", [
    lambda log: log.pop("creator"),
    lambda log: log["entries"][0].update(startedDateTime="yesterday"),
    lambda log: log["entries"][0]["timings"].update(wait=-1),
    lambda log: log["entries"][0]["request"].update(more=1),
    lambda log: log["entries"][0]["response"]["content"].pop("mimeType"),
    lambda log: log.update(version="1.1"),
])  # fmt: skip
def test_the_schema_refuses_invalid_archives(tmp_path: Path, change: Any) -> None:
    log = archived(exchange(), tmp_path)
    change(log)
    assert list(breaches({"log": log}, SCHEMA))


def test_each_string_is_in_the_archive(tmp_path: Path) -> None:
    """Random strings of all planes, with controls and unpaired surrogates, as a header and as a body, which
    is bytes.
    """
    strings = make_strings(7, rounds(300, 20_000))
    headers = [text.replace("\n", " ") for text in strings]  # a line break begins another header
    recorded = Recorded()
    recorded.attach(S, T)
    for number, (text, header) in enumerate(zip(strings, headers, strict=True)):
        request = {"method": "POST", "headers": {"X": header}, "postData": text, "hasPostData": True}
        sent(recorded, str(number), "https://example.com/", kind="Fetch", request=request)
    path = recorded.write(tmp_path / "a.jsonl")
    with open_recording(path) as recording:
        requests = [
            each["request"] for each in json.loads(archive_document(recording, recording))["log"]["entries"]
        ]
    assert [each["postData"]["text"] for each in requests] == [replace_unpaired(text) for text in strings]
    assert [each["value"] for request in requests for each in request["headers"]] == headers
