"""Descriptions of a divergence contain no secret of either side, in any form."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from cdpengine.debug.recording_format import Header, Line
from cdpengine.debug.replaying.divergences import DifferenceDescriber
from cdpengine.debug.replaying.matching import differences
from cdpengine.debug.replaying.playback import Playback

SECRET = 'c4nary p"ss/wörd&1'
"""A space, a quote, a slash, a non-ASCII letter and an ampersand: some encoding changes each of them."""

FORMS = {
    "plain": SECRET,
    "in a URL": quote(SECRET),
    "in a URL, all of it": quote(SECRET, safe=""),
    "in a form": quote_plus(SECRET),
    "in JSON": json.dumps(SECRET)[1:-1],
    "in JSON in JSON": json.dumps(json.dumps(SECRET))[1:-1],
}

PLACES: dict[str, tuple[str, Any]] = {
    "a URL's path": ("Page.navigate", {"url": "http://a.example/{}/x"}),
    "a URL's query": ("Page.navigate", {"url": "http://a.example/?q={}"}),
    "a URL's user": ("Page.navigate", {"url": "http://ada:{}@a.example/"}),
    "an argument": ("Runtime.callFunctionOn", {"functionDeclaration": "f", "arguments": [{"value": "{}"}]}),
    "deep in an argument": ("Runtime.callFunctionOn", {"arguments": [{"value": {"o": [{"v": "{}"}]}}]}),
    "a script": ("Runtime.evaluate", {"expression": "document.querySelector('#a').value = '{}'"}),
    "a template": ("Runtime.evaluate", {"expression": "login(`user ${{1}} {}`)"}),
    "a function": ("Runtime.callFunctionOn", {"functionDeclaration": '() => login("{}")'}),
    "a header": ("Network.setExtraHTTPHeaders", {"headers": {"X-Custom": "{}"}}),
    "a custom header": ("Network.setExtraHTTPHeaders", {"headers": {"Authorization": "Custom {}"}}),
    "a list of headers": ("Fetch.continueRequest", {"headers": [{"name": "authorization", "value": "{}"}]}),
    "a body": ("Fetch.continueRequest", {"postData": "{}"}),
    "an answer": ("Fetch.fulfillRequest", {"body": "{}"}),
    "a cookie": ("Network.setCookie", {"name": "a", "value": "{}"}),
    "a stored item": ("DOMStorage.setDOMStorageItem", {"key": "a", "value": "{}"}),
    "a field of that name": ("A.a", {"password": "{}"}),
    "a message in a message": ("Target.sendMessageToTarget", {"message": '{{"a":"{}"}}'}),
    "a name": ("A.a", {"{}": 1}),
    "another field": ("A.a", {"x": ["{}"]}),
}


def put(value: Any, text: str) -> Any:
    """Return a value with a string in its places."""
    if isinstance(value, str):
        return value.format(text)
    if isinstance(value, list):
        return [put(item, text) for item in value]
    if isinstance(value, dict):
        return {put(key, text): put(item, text) for key, item in value.items()}
    return value


def assert_hidden(text: str) -> None:
    assert "c4nary" not in text
    assert "rd&1" not in text
    assert "rd%261" not in text


def raw(message: dict[str, Any]) -> Any:
    import msgspec

    return msgspec.Raw(msgspec.json.encode(message))


def recorded(method: str, params: Any) -> list[Line]:
    typing = {"id": 1, "method": "Input.insertText", "params": {"text": "[redacted]"}}
    return [
        Line(n=1, k="call", d=">", c="one", id=1, m="Input.insertText", msg=raw(typing)),
        Line(n=2, k="reply", d="<", c="one", id=1, msg=raw({"id": 1, "result": {}})),
        Line(
            n=3,
            k="call",
            d=">",
            c="one",
            id=2,
            m=method,
            msg=raw({"id": 2, "method": method, "params": params}),
        ),
    ]


@pytest.mark.parametrize("find_typed", ["text", "keys"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_typed_text_is_nowhere_in_a_divergence(
    place: str, form: str, find_typed: str, caplog: pytest.LogCaptureFixture
) -> None:
    method, template = PLACES[place]
    lines = recorded(method, put(template, "else"))
    if find_typed == "keys":
        keys = [{"type": "keyDown", "key": "[redacted]", "text": "[redacted]"} for _ in SECRET]
        lines[:2] = [
            Line(n=1, k="call", d=">", c="one", id=n, m="Input.dispatchKeyEvent",
                 msg=raw({"id": n, "method": "Input.dispatchKeyEvent", "params": key}))
            for n, key in enumerate(keys)
        ]  # fmt: skip
    playback = Playback("tape", lines)
    client = playback.join("/")
    errors = []
    if find_typed == "keys":
        for letter in SECRET:
            key = {"type": "keyDown", "key": letter, "text": letter}
            playback.ask(client, json.dumps({"id": 9, "method": "Input.dispatchKeyEvent", "params": key}))
    else:
        playback.ask(client, json.dumps({"id": 9, "method": "Input.insertText", "params": {"text": SECRET}}))
    errors.append(playback.divergence)
    asked = {"id": 10, "method": method, "params": put(template, FORMS[form])}
    playback.ask(client, json.dumps(asked))
    errors.append(playback.divergence)
    before, error = errors
    assert before is None
    if error is None:  # the place accepts any value
        assert place in ("a body", "a cookie", "a stored item")
        return
    assert_hidden(str(error))
    assert_hidden("".join((error.got, error.reason, *error.diff, *error.expected)))
    for delivery in playback.due():
        assert_hidden(delivery.message.decode())
    assert_hidden(caplog.text)


UNKNOWN = {
    place: PLACES[place]
    for place in ("an argument", "deep in an argument", "a script", "a template", "a function", "a custom header",
                  "a list of headers", "an answer", "a URL's user", "a field of that name", "a message in a message")
}  # fmt: skip


@pytest.mark.parametrize("place", UNKNOWN)
@pytest.mark.parametrize("side", ["recorded", "asked"])
def test_untyped_secrets_are_not_shown_in_secret_places(place: str, side: str) -> None:
    method, template = UNKNOWN[place]
    values = [put(template, "c4nary-unknown"), put(template, "else")]
    old, new = values if side == "recorded" else reversed(values)
    lines = DifferenceDescriber().describe(method, old, new, differences(method, old, new))
    assert lines
    assert "c4nary" not in "".join(lines)


def test_the_recorded_side_of_an_unredacted_recording_is_hidden_too() -> None:
    lines = recorded("Page.navigate", {"url": f"http://a.example/{quote(SECRET)}"})
    lines[0].msg = raw({"id": 1, "method": "Input.insertText", "params": {"text": SECRET}})
    playback = Playback("tape", lines, header=Header(redacted=False), strict=True)
    client = playback.join("/")
    playback.ask(
        client, json.dumps({"id": 1, "method": "Page.navigate", "params": {"url": "http://a.example/b"}})
    )
    assert playback.divergence is not None
    assert_hidden(str(playback.divergence))


def test_a_secret_across_the_edge_of_the_window_is_hidden_completely() -> None:
    describer = DifferenceDescriber()
    describer.add("c4nary-typed")
    for length in range(60, 100):
        text = "x" * length + "c4nary-typed"
        old, new = {"q": "x" * 20}, {"q": text}
        assert "c4n" not in "".join(describer.describe("A.a", old, new, differences("A.a", old, new)))


def test_basic_credentials_are_not_shown() -> None:
    basic = base64.b64encode(b"ada:c4nary-pass").decode()
    old, new = ({"headers": {"x": f"Basic {value}"}} for value in ("abcdefgh", basic))
    lines = DifferenceDescriber().describe("A.a", old, new, differences("A.a", old, new))
    assert basic not in "".join(lines)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a('b') + c", "a('x') + c", ["~ expression: the difference is not shown"]),
        ("a('b') + c", "a('b') + d", ["- expression: \"a('b') + c\"", "+ expression: \"a('b') + d\""]),
        ("a('b')", "a('b', 'x')", ["- expression: \"a('b')\"", "+ expression: \"a('b', '(not shown)')\""]),
        ("a() /* it's b */", "a() /* it's c */", ["- expression: \"a() /* it's b */\"", "+ expression: \"a() /* it's c */\""]),
    ],
)  # fmt: skip
def test_of_a_script_only_differing_strings_are_hidden(old: str, new: str, expected: list[str]) -> None:
    sides = {"expression": old}, {"expression": new}
    assert (
        DifferenceDescriber().describe("Runtime.evaluate", *sides, differences("Runtime.evaluate", *sides))
        == expected
    )
