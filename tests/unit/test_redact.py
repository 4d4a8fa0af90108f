"""Redaction: no secret passes in any encoding, and nothing else is changed."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import re
from typing import Any
from urllib.parse import quote

import cdp
import hypothesis.strategies as st
import pytest
from hypothesis import given

import cdpengine
from cdpengine.debug import Redactor
from cdpengine.debug.recording.secret_words import OPEN_FIELDS

CANARY = 'cAnArY-7f3/é "q" 42'


def redacted(message: dict[str, Any], method: str = "", *, with_: Redactor | None = None) -> str:
    return (with_ or Redactor()).redact(json.dumps(message).encode(), method).decode()


def gone(text: str) -> bool:
    forms = {CANARY, json.dumps(CANARY)[1:-1], quote(CANARY), quote(CANARY, safe="")}
    forms |= {json.dumps(CANARY, ensure_ascii=False)[1:-1], json.dumps(json.dumps(CANARY)[1:-1])[1:-1]}
    return not any(form in text for form in forms)


TOKEN = "cAnArY7f3.42-x_y"

PLACES: list[tuple[str, dict[str, Any], str]] = [
    ("typed text", {"method": "Input.insertText", "params": {"text": CANARY}}, ""),
    (
        "a composition",
        {"method": "Input.imeSetComposition", "params": {"text": CANARY, "selectionStart": 0}},
        "",
    ),
    ("a cookie set", {"method": "Network.setCookie", "params": {"name": "a", "value": CANARY}}, ""),
    (
        "cookies set",
        {"method": "Storage.setCookies", "params": {"cookies": [{"name": "a", "value": CANARY}]}},
        "",
    ),
    (
        "cookies got",
        {"id": 1, "result": {"cookies": [{"name": "a", "value": CANARY}]}},
        "Network.getAllCookies",
    ),
    (
        "a cookie in an event",
        {"method": "X.y", "params": {"cookie": {"name": "a", "value": CANARY, "domain": "d"}}},
        "",
    ),
    ("a header", {"method": "N.e", "params": {"headers": {"Cookie": f"a={CANARY}"}}}, ""),
    (
        "a header in lower case",
        {"method": "N.e", "params": {"headers": {"set-cookie": f"a={CANARY}; Path=/"}}},
        "",
    ),
    (
        "a list of headers",
        {"params": {"headers": [{"name": "Authorization", "value": f"Bearer {CANARY}"}]}},
        "",
    ),
    ("a header of one's own", {"params": {"headers": {"X-Api-Key": CANARY}}}, ""),
    ("raw headers", {"params": {"headersText": f"GET / HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n"}}, ""),
    (
        "a form",
        {"method": "Network.requestWillBeSent", "params": {"request": {"postData": f"p={CANARY}"}}},
        "",
    ),
    (
        "a password for a proxy",
        {"method": "Fetch.continueWithAuth", "params": {"r": {"password": CANARY}}},
        "",
    ),
    ("storage", {"method": "DOMStorage.domStorageItemAdded", "params": {"key": "a", "newValue": CANARY}}, ""),
    ("all storage", {"id": 1, "result": {"entries": [["a", CANARY]]}}, "DOMStorage.getDOMStorageItems"),
    ("a field named password", {"id": 1, "result": {"password": CANARY}}, ""),
    ("a URL's password", {"params": {"url": f"https://user:{TOKEN}@example.com/"}}, ""),
    ("a URL's token", {"params": {"url": f"https://example.com/?a=1&access_token={TOKEN}#x"}}, ""),
    ("a URL's key", {"params": {"url": f"https://example.com/?key={TOKEN}"}}, ""),
    ("a fragment's token", {"params": {"url": f"https://example.com/#id_token={TOKEN}&state=1"}}, ""),
    ("a body", {"id": 1, "result": {"body": json.dumps({"refresh_token": TOKEN})}}, ""),
    ("a body in a body", {"id": 1, "result": {"body": json.dumps(json.dumps({"client_secret": TOKEN}))}}, ""),
    ("a script", {"params": {"expression": f"login({{password: '{TOKEN}'}})"}}, ""),
    (
        "a bearer in a script",
        {"params": {"expression": f"fetch(u, {{authorization: 'Bearer {TOKEN}'}})"}},
        "",
    ),
    ("a field named bearer", {"id": 1, "result": {"<bearer": CANARY}}, ""),
    ("a name in which letters are escaped", {"id": 1, "result": {"value": f"tokené={TOKEN}"}}, ""),
    ("a letter that lower case makes longer", {"id": 1, "result": {"value": f"tokenİ: {TOKEN}"}}, ""),
    ("a common word after an escape", {"id": 1, "result": {"value": f"<\npwd: {TOKEN}"}}, ""),
    ("a long text", {"id": 1, "result": {"value": f"{'<p>monkey</p>' * 99}token: {TOKEN}"}}, ""),
    ("a JSON Web Token", {"id": 1, "result": {"value": f"eyJhbGciOiJub25lIn0.{TOKEN}"}}, ""),
]


@pytest.mark.parametrize(
    ("message", "method"), [place[1:] for place in PLACES], ids=[place[0] for place in PLACES]
)
def test_a_secret_is_gone(message: dict[str, Any], method: str) -> None:
    text = redacted(message, method)
    assert gone(text)
    assert TOKEN not in text
    assert "[redacted]" in text
    json.loads(text)


@pytest.mark.parametrize("key", ["key", "text", "code", "unmodifiedText"])
def test_typed_keys_are_gone(key: str) -> None:
    text = redacted({"id": 1, "method": "Input.dispatchKeyEvent", "params": {"type": "keyDown", key: "KeyQ"}})
    assert "KeyQ" not in text
    assert "keyDown" in text


@pytest.mark.parametrize(
    "later",
    [
        {"id": 2, "result": {"value": f"it is {CANARY}!"}},
        {"id": 2, "result": {"value": json.dumps({"a": CANARY})}},
        {"params": {"url": f"http://x/{quote(CANARY, safe='')}"}},
        {"params": {CANARY[:3]: [{"deep": CANARY}]}},
    ],
)
def test_a_known_secret_is_redacted_everywhere(later: dict[str, Any]) -> None:
    redactor = Redactor()
    redacted({"method": "Input.insertText", "params": {"text": CANARY}}, with_=redactor)
    assert gone(redacted(later, with_=redactor))


def test_each_cookie_of_a_header_is_learned() -> None:
    redactor = Redactor()
    redacted({"params": {"headers": {"cookie": f"sid={TOKEN}; theme=dark-blue"}}}, with_=redactor)
    assert (
        redacted({"id": 1, "result": {"value": f"document.cookie is sid={TOKEN}"}}, with_=redactor).count(
            TOKEN
        )
        == 0
    )


def test_exact_secrets_and_patterns_of_the_caller() -> None:
    redactor = Redactor(secrets=[CANARY], patterns=[r"card (\d{4})", "PIN[0-9]+"])
    text = redacted({"result": {"a": f"x{CANARY}y", "b": "card 1234 and PIN77"}}, with_=redactor)
    assert json.loads(text)["result"] == {"a": "x[redacted]y", "b": "card [redacted] and [redacted]"}


@pytest.mark.parametrize("pattern", ["(", "x*", ""])
def test_an_invalid_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="pattern"):
        Redactor(patterns=[pattern])


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "Runtime.evaluate", "params": {"expression": "1 + 1"}},
        {
            "method": "Network.responseReceived",
            "params": {"response": {"url": "https://example.com/a?page=2"}},
        },
        {"id": 3, "result": {"nodes": [{"role": {"value": "button"}, "name": {"value": "Reset password"}}]}},
        {"id": 4, "result": {"title": "How tokens work; a monkey's keyboard"}},
        {"method": "Input.insertText", "params": {"text": ""}},
    ],
)
def test_harmless_content_stays_byte_for_byte(message: dict[str, Any]) -> None:
    raw = json.dumps(message).encode()
    assert Redactor().redact(raw) is raw


def test_invalid_json_is_redacted_as_text() -> None:
    assert Redactor().redact(f"<html>password={TOKEN}</html>".encode()) == b"<html>password=[redacted]</html>"


def test_half_a_surrogate_pair_does_not_let_a_secret_through() -> None:
    raw = b'{"id":1,"result":{"half":"\\ud83d","password":"' + TOKEN.encode() + b'"}}'
    clean = Redactor().redact(raw)
    assert TOKEN.encode() not in clean
    assert json.loads(clean)["result"]["half"] == "\ud83d"


def test_nesting_beyond_all_measure_does_not_let_a_secret_through() -> None:
    raw = b'{"id":1,"result":' + b'{"a":' * 900 + b'{"password":"' + TOKEN.encode() + b'"}' + b"}" * 901
    assert TOKEN.encode() not in Redactor().redact(raw)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(value=json_values, secret=st.text(st.characters(codec="utf-8"), min_size=6, max_size=40))
def test_an_explicit_secret_never_passes(value: Any, secret: str) -> None:
    message = {"id": 1, "result": {"before": value, "text": f"a{secret}b", secret: 1}}
    clean = json.loads(Redactor(secrets=[secret]).redact(json.dumps(message).encode()))
    assert secret not in clean["result"]["text"] or secret in "a[redacted]b"


@given(value=json_values)
def test_the_shape_stays(value: Any) -> None:
    clean = json.loads(Redactor().redact(json.dumps({"id": 7, "result": value, "password": "x"}).encode()))
    assert clean["id"] == 7
    assert clean["password"] == "[redacted]"


pieces = st.one_of(
    st.sampled_from([place[1] for place in PLACES]).map(json.dumps),
    st.builds(lambda value: json.dumps({"id": 1, "result": value}), json_values),
    st.lists(
        st.sampled_from(
            [
                "token",
                "pass",
                "key",
                "session",
                "=",
                ":",
                '"',
                "\\",
                " ",
                "bearer",
                "@",
                "://",
                "x",
                CANARY[:8],
                "\0",
            ]
        ),
        max_size=8,
    ).map("".join),
    st.just('{"id":2,"result":"' + "<p>monkey</p>" * 400 + 'token: abcdef"}'),
)


@given(texts=st.lists(pieces, max_size=6), learned=st.booleans())
def test_a_batch_is_checked_as_strictly_as_single_messages(texts: list[str], learned: bool) -> None:
    redactor = Redactor(secrets=["x:"])
    if learned:
        redactor.hide(CANARY[:8])
    messages = [text.encode() for text in texts]
    for message, free in zip(messages, redactor.sift(messages), strict=True):
        assert not (free and redactor.suspicious(message, ""))
        if b"\0" not in message:
            assert free is not redactor.suspicious(message, "")


cookie_texts = st.sampled_from([
    "a", "plain-name", "csrf-token", "sid", "value", 'with"quote', "back\\slash", "", CANARY, CANARY[:8], "cAnArY7f3x42",
    "eyJhbGciOiJI.eyJzdWIiOiIx.abc", "https://u:p@x/", "key=abcdef", "\ud83d", "é" * 8, "[redacted]", "a b;c=cAnArYcA",
])  # fmt: skip
cookies = st.fixed_dictionaries(
    {"name": cookie_texts, "value": cookie_texts | st.integers(0, 9), "domain": cookie_texts},
    optional={
        "path": cookie_texts,
        "session": st.booleans(),
        "partitionKey": st.dictionaries(cookie_texts, cookie_texts),
    },
)


@given(
    lists=st.lists(st.lists(cookies, max_size=4), min_size=1, max_size=4),
    method=st.sampled_from(["Network.getCookies", "Storage.getCookies", "Network.setCookies"]),
    called=st.booleans(),
    spaced=st.booleans(),
    entered=st.sampled_from(["", "theme", "domain"]) | cookie_texts,
)
def test_cookies_are_redacted_in_raw_text_as_when_decoded(
    lists: list[list[dict[str, Any]]], method: str, called: bool, spaced: bool, entered: str
) -> None:
    by_text, one_by_one = Redactor(), Redactor(patterns=["\x01"])  # with patterns, everything is decoded
    if not called:
        method = method.replace("set", "get")  # setCookies returns nothing
    # Some are repeated: a value that was harmless the first time may be a known secret later.
    for number, listed in enumerate([*lists, *lists]):
        if number == len(lists):
            by_text.add_secret(entered)
            one_by_one.add_secret(entered)
        message: dict[str, Any] = {"id": number, "result": {"cookies": listed}}
        if called:
            message = {"method": method, "params": {"cookies": listed}}
        encoded = json.dumps(message, separators=None if spaced else (",", ":")).encode()
        for _ in range(2):  # secrets learned in the first pass are removed from names too
            found = json.loads(by_text.redact(encoded, method))
            expected = json.loads(one_by_one.redact(encoded, method))
        assert found == expected
        assert sorted(by_text._known.secrets) == sorted(one_by_one._known.secrets)


@pytest.mark.parametrize("secret", ["hidden.example", "its-own-name"])
def test_a_harmless_cookie_is_redacted_once_its_value_is_known_as_secret(secret: str) -> None:
    listed = [{"name": "its-own-name", "value": "v", "domain": "hidden.example"}, {"name": "b", "value": "w"}]
    message = json.dumps({"id": 1, "result": {"cookies": listed}}, separators=(",", ":")).encode()
    redactor = Redactor()
    for _ in range(2):
        assert secret.encode() in redactor.redact(message, "Network.getCookies")
    redactor.add_secret(secret)
    assert secret.encode() not in redactor.redact(message, "Network.getCookies")


KNOWN_COOKIE = {"name": "one", "value": "cAnArY7f3x42", "domain": "shop.example", "path": "/"}


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"value": "another-cAnArY"},
        {"value": "cAnArY7f3x4"},
        {"value": ""},
        {"value": 'cAnArY7f3x42"'},
        {"value": "cAnArY7f3x42\\"},
        {"domain": "token=cAnArYdomain"},
        {"path": "https://user:cAnArYpath@x/"},
        {"name": "cAnArY7f3x42"},
        {"partitionKey": {"value": "cAnArYkey"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_a_list_with_one_change_is_redacted_as_if_decoded(changed: dict[str, Any], *, first: bool) -> None:
    other = {"name": "two", "value": "v-of-two-is-long", "domain": "shop.example", "path": "/"}
    by_text, one_by_one = Redactor(), Redactor(patterns=["\x01"])

    def both(number: int, *listed: dict[str, Any]) -> tuple[Any, Any]:
        message = {"id": number, "result": {"cookies": [*listed]}, "sessionId": "S"}
        encoded = json.dumps(message, separators=(",", ":")).encode()
        clean = [json.loads(each.redact(encoded, "Network.getCookies")) for each in (by_text, one_by_one)]
        return clean[0], clean[1]

    known = (KNOWN_COOKIE, other) if first else (other, KNOWN_COOKIE)
    for number in (1, 22):
        found, expected = both(number, *known)
        assert found == expected
    now = [each | changed if each is KNOWN_COOKIE else each for each in known]
    for number in (333, 4):
        found, expected = both(number, *now)
        assert found == expected
        assert "another" not in str(found)
    assert by_text._known.secrets == one_by_one._known.secrets


def test_plain_cookies_need_not_be_decoded() -> None:
    listed = [
        {"name": "csrf-token", "value": "cAnArY7f3x42", "domain": "x", "session": True},
        {"name": "b", "value": ""},
    ]
    message = json.dumps({"id": 1, "result": {"cookies": listed}}, separators=(",", ":")).encode()
    redactor = Redactor()
    clean = redactor._cookies.drop_values(message, entered=False)
    assert clean == message.replace(b"cAnArY7f3x42", b"[redacted]")
    assert redactor.redact(message, "Network.getCookies") == clean
    assert redactor._known.secrets == ("cAnArY7f3x42",)
    assert redactor.redact(b'{"text":"cAnArY7f3x42"}', "") == b'{"text":"[redacted]"}'


@pytest.mark.parametrize("expression", ["1", "token='abcdef'", f"'{CANARY[:8]}'"])
def test_a_repeated_command_is_redacted_as_the_first_time(expression: str) -> None:
    redactor = Redactor()

    def call(number: int) -> bytes:
        message = {"id": number, "method": "Runtime.evaluate", "params": {"expression": expression}}
        return json.dumps(message, separators=(",", ":")).encode()

    for number in (1, 2, 30):
        if number == 30:
            redactor.hide(CANARY[:8])  # no longer harmless
        expected = json.loads(redactor.redact(call(number), "Runtime.evaluate"))
        for _ in range(2):
            assert json.loads(redactor.redact_call(call(number), "Runtime.evaluate", number)) == expected
    spaced = b'{ "id":30,"method":"Runtime.evaluate","params":{"expression":"password=abcdef"}}'
    assert b"abcdef" not in redactor.redact_call(spaced, "Runtime.evaluate", 30)


WORDS = (
    "method",
    "params",
    "id",
    "sessionId",
    "headers",
    "value",
    "name",
    "type",
    "requestId",
    "request",
    "url",
    "nodes",
    "role",
)


@pytest.mark.parametrize("word", WORDS)
def test_a_secret_equal_to_a_word_of_the_protocol_keeps_field_names(word: str) -> None:
    messages: list[dict[str, Any]] = [
        {"method": "Network.requestWillBeSent", "sessionId": "A", "params": {"requestId": "1", "request": {
            "url": f"http://a/?x={word}", "headers": {"X-Own": "b"}}}},
        {"id": 1, "result": {"nodes": [{"role": {"type": "role", "value": "button"}, "name": {"type": "x", "value": "y"}}]}},
        {"method": "Fetch.requestPaused", "params": {"responseHeaders": [{"name": "a", "value": "b"}]}},
    ]  # fmt: skip
    for message in messages:
        redactor = Redactor(secrets=[word])
        assert shape(json.loads(redacted(message, with_=redactor))) == shape(message)
    archive = {
        "log": {
            "entries": [{"request": {"url": "u", "headers": [{"name": "a", "value": "b"}]}}],
            "version": word,
        }
    }
    cleaned = Redactor(secrets=[word]).clean(archive)
    assert shape(cleaned) == shape(archive)
    assert cleaned["log"]["version"] == "[redacted]"


def shape(value: Any) -> Any:
    """Return the names of all fields, in their structure."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


@pytest.mark.parametrize("field", ["value", "data", "headers"])
def test_a_name_chosen_by_a_page_is_searched(field: str) -> None:
    redactor = Redactor(secrets=[CANARY])
    assert gone(json.dumps(redactor.clean({"result": {field: {CANARY: 1, "inside": [{CANARY: 2}]}}})))
    if field != "headers":
        assert gone(json.dumps(redactor.clean({"result": {field: [{CANARY: 1}]}})))


def test_fields_with_open_names_are_known() -> None:
    """The table has all fields whose structure the protocol's description leaves open."""
    open_fields = set()
    for module in pkgutil.iter_modules(cdp.__path__):
        domain = importlib.import_module(f"cdp.{module.name}")
        for kind in vars(domain).values():
            if (
                isinstance(kind, type)
                and dataclasses.is_dataclass(kind)
                and kind.__module__ == domain.__name__
            ):
                open_fields |= {
                    field.name for field in dataclasses.fields(kind)
                    if re.search(r"\bdict\b|\bAny\b|\bHeaders\b", str(field.type))
                }  # fmt: skip
    camel = {re.sub("_(.)", lambda found: found[1].upper(), name) for name in open_fields}
    assert camel <= OPEN_FIELDS


@pytest.mark.parametrize("entered", ["Qz7", 'k"\\é'])
def test_a_short_entered_string_is_no_value_in_a_reply_to_an_own_script(entered: str) -> None:
    redactor = Redactor()
    redactor.add_secret(entered)
    found = {"taken": False, "holds": entered, "unchanged": True, "name": entered}
    reply = {"id": 1, "result": {"result": {"type": "object", "value": found}}}
    message = json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()
    clean = json.loads(redactor.redact(message, "Runtime.callFunctionOn", own=True))
    assert clean["result"]["result"]["value"] == {**found, "holds": "[redacted]"}
