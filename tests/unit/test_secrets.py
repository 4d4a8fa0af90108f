"""Secrets in shown strings: every form in which they occur, and words that only resemble them."""

from __future__ import annotations

import time

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cdpengine._secrets import ANYWHERE, SESSION_PARAMETERS, WHOLE_NAMES, spellings
from cdpengine.errors import shown_url
from cdpengine.errors.texts import LONGEST_URL, hide_secrets, shown

SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"https://user:{SECRET}@host/path",
        f"https://{SECRET}@host",
        f"https://user:{SECRET}@more@host/",
        f"//user:{SECRET}@host/",
        f"user:{SECRET}@host:3128",
        f"--proxy-server=http://user:{SECRET}@host:3128 failed",
        f"https://host/?a=1&token={SECRET}&b=2",
        f"https://host/?redirect=https%3A%2F%2Fother%2F%3Ftoken%3D{SECRET}%26b%3D2",
        f"https://host/?redirect=https%253A%252F%252Fother%252F%253Ftoken%253D{SECRET}",
        f"https://host/?access%5Ftoken={SECRET}",
        f"https://host/?a[token]={SECRET}&token[]={SECRET}",
        f"https://host/?password={SECRET}%26{SECRET}",
        f"https://host/?password=it's{SECRET}",
        f"https://host/#access_token={SECRET}&state=x",
        f"https://host/#/route?code={SECRET}",
        f"/path?token={SECRET}",
        f"'https://host/?token={SECRET}' failed",
        f"Authorization: Basic {SECRET}",
        f"authorization: {SECRET}",
        f"Cookie: a={SECRET}; b={SECRET}",
        f"set-cookie: a={SECRET}; Path=/",
        f"x-api-key: {SECRET}",
        f"the header was Bearer {SECRET}",
        f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
        f'{{"token": "{SECRET} \\" {SECRET}", "code": -32000}}',
        f"{{'password': '{SECRET}', 'id': 3}}",
        f'{{\\"clientSecret\\":\\"{SECRET}\\"}}',
        f"password={SECRET}",
        f"password=[redacted]{SECRET}",
        f"https://host/?token=[redacted]{SECRET}",
        f"password='a {SECRET}'",
        f"data:text/html,<input value={SECRET}> and {SECRET}",
        f"data:text/html;charset=utf-8;base64,{SECRET}",
        f"navigating to javascript:login('{SECRET}')",
    ],
)
def test_no_form_of_a_secret_passes(text: str) -> None:
    hidden = hide_secrets(text)
    assert SECRET not in hidden
    assert hide_secrets(hidden) == hidden
    assert SECRET not in hide_secrets(f"it was {text}, and so it ended")


NAMES = [
    *(f"x-{spelling}-y" for word in ANYWHERE for spelling in spellings(word)),
    *sorted(WHOLE_NAMES),
    *(name.replace("*", "abc") for name in SESSION_PARAMETERS),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form", ["https://host/?a=1&{}={}", "https://host/#{}={}", "https://host/?{}={}&b=2"]
)
def test_every_name_of_the_tables_is_recognized(name: str, form: str) -> None:
    for spelled in (name, name.upper(), name.replace("-", "%2D")):
        assert SECRET not in hide_secrets(form.format(spelled, SECRET))


@pytest.mark.parametrize(
    "text",
    [
        "https://host/path?a=1&b=2#part",
        "https://host/a@b",
        "mailto:somebody@example.com",
        "cookie: got an int, expected a Cookie or a mapping",
        "Proxy(server, username=..., password=...)",
        'textbox "Password": it is disabled',
        "Basic authentication failed",
        "token: got 'x'",
        '{"code": -32000, "key": 7}',
        "the state = 3 of key 7",
        "metadata: 3, 4",
        "a == b",
        "fault: got 'error:Page.reload@reply:1:-32000:no'",
        'Page.navigate {"url":"https://[redacted]@host/?token=[redacted]&a=1","password":"[redacted]"}',
        "authorization: [redacted]",
        '{\\"token\\":\\"[redacted]\\"}',
    ],
)
def test_words_stay(text: str) -> None:
    assert hide_secrets(text) == text


def test_the_rest_of_a_url_stays() -> None:
    url = f"https://u:{SECRET}@host:81/p/q?a=1&token={SECRET}&b=2#c=3&code={SECRET}"
    assert hide_secrets(url) == "https://***@host:81/p/q?a=1&token=***&b=2#c=3&code=***"
    assert hide_secrets(f"https://host/?to=https%3A%2F%2Fx%3Fkey%3D{SECRET}%26b%3D2&c=3") == (
        "https://host/?to=https%3A%2F%2Fx%3Fkey%3D***%26b%3D2&c=3"
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://host/", "https://host/"),
        (f"https://u:p w{SECRET}@host/", "https://***@host/"),
        (f"https://host/?password=my {SECRET}&x=1", "https://host/?password=***&x=1"),
        (f"data:text/html,<p>{SECRET}", "data:text/html,..."),
        (f" DATA:{SECRET}/{SECRET}", "data:,..."),
        (f"javascript:x({SECRET})", "javascript:..."),
        ("https://host/\n\x1b[31m", r"https://host/\n\x1b[31m"),
        ("about:blank", "about:blank"),
        ("", ""),
    ],
)
def test_a_url_is_shown(url: str, expected: str) -> None:
    assert shown_url(url) == expected
    assert shown_url(expected) == expected


def test_a_long_url_is_cut_after_its_secrets_are_hidden() -> None:
    assert shown_url("https://host/" + "x" * 300) == "https://host/" + "x" * (LONGEST_URL - 13) + "..."
    assert "hunter2" not in shown_url("https://u:" + SECRET * 50 + "@host/")


def test_a_cut_text_shows_no_half_of_a_url() -> None:
    for length in (9_970, 9_990, 10_010, 19_950, 19_980, 19_990):
        text = shown("x " * (length // 2) + f"https://user:{SECRET}@host/")
        assert SECRET not in text
        assert len(text) <= 10_003
    inner = "data:text/html," + "x" * 15_000
    assert "hunter" not in shown(
        f"https://h/?token={'y' * 15_000}&x= {'z' * 4_000} {'w ' * 500} {inner} {SECRET}"
    )


@pytest.mark.parametrize(
    "piece",
    ["://", "?a=", "&token=", "token=", "%3f", '"token":', "\\", '\\"token\\":\\"', "cookie: ", "x-token", "data:",
     "data:;", "eyJaaaaaaaaaa.", "Bearer ", "a:b@", "//", "%2525", "authorization:", "javascript:", "'", "a.b-"],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    begun = time.perf_counter()
    hide_secrets(text)
    assert time.perf_counter() - begun < 2, "it is not linear: it should take 20 ms"


@given(st.text(max_size=60), st.text(alphabet="?&#=;:/@%3dtoken\"' {}\\.", max_size=60))
def test_nothing_raises_and_hiding_twice_changes_nothing(one: str, two: str) -> None:
    hidden = hide_secrets(one + two)
    assert hide_secrets(hidden) == hidden
    assert shown(shown(one + two)) == shown(one + two)
