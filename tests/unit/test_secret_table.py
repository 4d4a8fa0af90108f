"""One table names secrets for errors, recordings, pages and the cache. Each scope applies where it should."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from cdpengine._javascript import script
from cdpengine._secrets import (
    ANYWHERE,
    AUTOCOMPLETE,
    COMMON_NAMES,
    SECRETS,
    SESSION_PARAMETERS,
    UNTYPED,
    WHOLE_NAMES,
    field_variable,
    is_secret_header,
    is_secret_name,
    is_secret_parameter,
    is_sensitive_name,
    spellings,
)
from cdpengine.cache import normalize_url
from cdpengine.cache.learning.fields import FieldFacts, secret_name
from cdpengine.debug import Redactor
from cdpengine.debug.recording.secret_fields import is_secret_control
from cdpengine.errors.texts import hide_secrets

VALUE = "hunter2hunter2"

PARTS = [(word, spelling) for word in ANYWHERE for spelling in spellings(word)]
SESSIONS = [name.replace("*", "abc") for name in SESSION_PARAMETERS]


def test_the_words_are_lower_case_and_listed_once() -> None:
    words = [
        word
        for kind in SECRETS
        for word in (*kind.fields, *kind.words, *kind.names, *kind.parameters, *kind.anywhere)
    ]
    assert len(set(words)) == len(words)
    assert all(word == word.lower() and word.strip("* ") for word in words)


def test_scripts_get_their_lists_from_the_table() -> None:
    for path in ("_page/scripts/secret_field", "_snapshot/sources/walk_steady"):
        source = script(path)
        assert f"new Set({list(UNTYPED)})" in source
        assert re.search(r'"\{[A-Z]+\}"', source) is None
    assert f"const TOKENS = new Set({list(AUTOCOMPLETE)});" in script("_page/scripts/secret_field")


@pytest.mark.parametrize(
    "form", ["{}={}", "https://h/?{}={}", "https://h/?a=1&{}={}#b", "u=https%3A%2F%2Fh%2F%3F{}%3D{}"]
)
@pytest.mark.parametrize("name", sorted({*(spelling for _, spelling in PARTS), *WHOLE_NAMES, *SESSIONS}))
def test_each_parameter_is_hidden_from_errors_recordings_and_keys(name: str, form: str) -> None:
    assert is_secret_parameter(name)
    assert is_secret_parameter(quote(name))
    for spelled in (name, name.upper()):
        text = form.format(spelled, VALUE)
        assert VALUE not in Redactor().text(text)
        assert form.startswith("{}") or VALUE not in hide_secrets(text)
    assert VALUE not in normalize_url(f"https://a.example/?{name}={VALUE}")


@pytest.mark.parametrize(("word", "spelling"), PARTS)
def test_each_word_is_found_in_messages(word: str, spelling: str) -> None:
    name = f"{'my-' if word.startswith('*') else ''}{spelling}{'-x' if word.endswith('*') else ''}"
    escaped = name.encode("ascii", "backslashreplace").decode()
    for written in (name, name.upper(), escaped):
        message = f'''{{"method":"A.b","params":{{"text":"{{\\"{written}\\":\\"{VALUE}\\"}}"}}}}'''
        assert VALUE.encode() not in Redactor().redact(message.encode()), written


@pytest.mark.parametrize(
    "text",
    [
        "https://h/?shipping=hunter2hunter2&spinner=hunter2hunter2",
        "https://h/?footprint=hunter2hunter2&keyCode=hunter2hunter2&zipcode=hunter2hunter2",
        "https://h/?iban_country=hunter2hunter2&passed=hunter2hunter2&passenger=hunter2hunter2",
        '{"shipping":"hunter2hunter2","keyCode":"hunter2hunter2","card number":"hunter2hunter2"}',
        '{"key":"hunter2hunter2","code":"hunter2hunter2","session":"hunter2hunter2","sessionId":"hunter2hunter2"}',
        "card-expiry-date: hunter2hunter2",
    ],
)
def test_words_of_fields_hide_nothing_in_data_and_urls(text: str) -> None:
    assert Redactor().text(text) == text
    assert hide_secrets(text) == text


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("customer-iban", "account_number"), ("cardPin", "pin"), ("pin1", "pin"), ("cvv2", "card_code"),
        ("密碼", "password"), ("Kennwort", "password"), ("mot de passe", "password"), ("motDePasse", "password"),
        ("contraseña", "password"), ("Contrasena", "password"), ("passcode", "password"), ("pass", "password"),
        ("Prüfnummer", "card_code"), ("Kreditkartennummer", "card_number"), ("银行卡号", "card_number"),
        ("有效期", "card_expiry"), ("Authorisation code", "code"), ("credentials", "token"),
        ("shipping", None), ("opinion", None), ("spin", None), ("footprint", None), ("passenger", None),
        ("keyCode", None), ("Postal code", None), ("state", None), ("signature", None), ("cookie_policy", None),
        ("authorized_person", None), ("Boarding pass", None), ("compass", None), ("dépassement", None),
    ],
)  # fmt: skip
def test_fields_are_secret_for_the_cache_and_for_recordings(name: str, variable: str | None) -> None:
    assert field_variable((name,)) == variable
    assert secret_name(FieldFacts(tag="input", type="text", name=name, editable=True)) == variable
    if variable is not None:
        assert is_secret_control("input", {"name": name})
        assert is_secret_control("input", {"id": name})


@pytest.mark.parametrize("kind", [each for each in SECRETS if each.variable], ids=lambda kind: kind.variable)
def test_the_variables_of_secret_fields_are_sensitive(kind: object) -> None:
    assert is_sensitive_name(kind.variable)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["account_iban", "ssn", "my_csc", "pass", "user_pwd", "密码", "card_expiry"])
def test_sensitive_variables(name: str) -> None:
    assert is_sensitive_name(name)


def test_common_names_are_secret_in_urls_only() -> None:
    for name in COMMON_NAMES:
        assert is_secret_parameter(name)
        assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("Authorization", True), ("X-Api-Key", True), ("X-Anything", True), ("Content-Disposition", True),
        ("X-Forwarded-Access-Token", True), ("X-Forwarded-For", False), ("Alt-Svc", False), ("Sec-CH-UA", False),
        ("Access-Control-Allow-Credentials", False), ("If-None-Match", False), ("accept", False),
    ],
)  # fmt: skip
def test_headers(name: str, secret: bool) -> None:
    assert is_secret_header(name) is secret
