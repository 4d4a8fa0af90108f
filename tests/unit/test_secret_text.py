"""Secrets in strings are recognized by their form. Programs, prose and data without secrets stay complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cdpengine
from cdpengine.debug import Redactor
from cdpengine.debug.recording.secret_text import redact_text

SECRETS = {
    "https://x/?token=abcdef": "https://x/?token=[redacted]",
    "https://x/?a=1&code=7&b=2": "https://x/?a=1&code=[redacted]&b=2",
    "https://x/#access_token=abc&state=xyz": "https://x/#access_token=[redacted]&state=[redacted]",
    "https://x/?next=%2Fcb%3Ftoken%3Dabc": "https://x/?next=%2Fcb%3Ftoken%3D[redacted]",
    "https://ada:pw@x/": "https://[redacted]@x/",
    "https://ghp16C7e42F292c6912E7710c838347Ae178B4a@x/": "https://[redacted]@x/",
    "password=hunter2&user=ada": "password=[redacted]&user=ada",
    '{"password": "correct horse", "user": "ada"}': '{"password": "[redacted]", "user": "ada"}',
    "{'api_key': 'abc'}": "{'api_key': '[redacted]'}",
    '{"otp": 123456}': '{"otp": [redacted]}',
    '{\\"token\\": \\"a b\\", \\"x\\": \\"y\\"}': '{\\"token\\": \\"[redacted]\\", \\"x\\": \\"y\\"}',
    '{"token": "a\\"b", "x": 1}': '{"token": "[redacted]", "x": 1}',
    "login({password: 'hunter2'})": "login({password: '[redacted]'})",
    '<div data-csrf="abcdef">': '<div data-csrf="[redacted]">',
    "Authorization: Bearer abc123def": "Authorization: Bearer [redacted]",
    "curl -H 'authorization: Basic YWRhOnB3'": "curl -H 'authorization: Basic [redacted]'",
    'Digest username="ada", response="0f"': "Digest [redacted]",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.sig": "[redacted]",
    "X-Api-Key: a1b2c3d4e5": "X-Api-Key: [redacted]",
    "your code, otp: 123456, is": "your code, otp: [redacted], is",
}

HARMLESS = [
    "const secret = compute()",
    "const token = this.tokens[0]; let password = form.password.value;",
    "if (token=next()) return token",
    '{token:"comment.line.double-dash",regex:"x"}',
    "a.password=b.password,c.token=d[0].token;",
    "`${protocol}://${user}:${password}@${host}`",
    '"?token=" + encodeURIComponent(token) + "&x=1"',
    "prompt('Password: ', password)",
    'state: "open", "key": "Enter", "code": 404, session: "new"',
    '{"state": "open", "key": "Enter", "code": "E404"}',
    "Basic usage: see the bearer of this; digest the news; negotiate a price",
    "Reset your password: required. How tokens work; a monkey's keyboard",
    "git+ssh://git@example.com/x and ssh://git@x",
    'pattern: "^https?://[-a-zA-Z0-9+&@#/%?=~_|!:,.;]*$"',
    ".token { color: red } .password::before { content: 'x' }",
    "<label for=password>Password:</label>",
    '<input id="password" type="password" placeholder="Password">',
    "auth = `Bearer ${auth.token}`",
    "token: string; password?: string | undefined",
    "tokens=12 keys=4",
]


@pytest.mark.parametrize(("text", "clean"), SECRETS.items())
def test_strings_that_look_like_secrets_are_removed(text: str, clean: str) -> None:
    assert redact_text(text) == clean
    assert redact_text(clean) == clean, "redacted text is left alone"


@pytest.mark.parametrize("text", HARMLESS)
def test_text_without_secrets_stays_complete(text: str) -> None:
    assert redact_text(text) == text
    assert Redactor().text(text) == text
    within = json.dumps({"id": 1, "result": {"scriptSource": text}}).encode()
    assert json.loads(Redactor().redact(within))["result"]["scriptSource"] == text


def test_the_programs_of_the_engine_stay_complete() -> None:
    sources = [*Path(cdpengine.__file__).parent.rglob("*.js")]
    assert len(sources) > 30
    for source in sources:
        text = source.read_text()
        assert Redactor().text(text) == text, source.name
