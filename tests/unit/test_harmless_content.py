"""Redaction leaves harmless content unchanged."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest

from cdpengine.debug.recording.redact import Redactor

HARMLESS = {
    "source": "function f() { const secret = compute(); let token = next(secret); return token ? secret : null; }",
    "source with members": "this.token = token; options.password = options.password || read(); a.key = b.key;",
    "types": "interface Login { password: string; token?: string; state: 'open' | 'closed' }",
    "prose": "The token: what a lexer gives. A password is not shown. Secret gardens, cookies and keys.",
    "prose with an equals sign": "where token = what the lexer gives, and state = what comes of it",
    "CSS": ".password { color: red } input[type=password]:hover { width: 3px } a[href*=token] { x: y }",
    "HTML": "<label for=password>Password</label><input id=password type=password name=password autocomplete=off>",
    "ARIA": '<div role="dialog" aria-expanded="true" data-state="open" data-session="on">Session</div>',
    "state": '{"state": "open", "code": 404, "key": "Enter", "type": "keydown"}',
    "state in a text": 'state: "open", code: 404, key: Enter',
    "codes": '{"code": "ERR_NAME", "errorCode": 12, "statusCode": 200, "zipcode": "code"}',
    "an URL": "https://example.com/search?q=tokens&page=2&sort=key&lang=en#state",
    "paths": "/auth/login /session/new /password-reset /oauth/token",
    "a key event": '{"type": "keyDown", "key": "Enter", "code": "Enter"}',
    "a table": "key\tcode\tstate\nEnter\t13\topen\n",
    "English": "She kept the secret: nobody knew. Signature: see below. Ticket: none. Pass: yes.",
}


def _library() -> str:
    """Return third-party minified JavaScript, installed with the import checker."""
    found = sorted(Path(sys.prefix).rglob("site-packages/**/*.js"), key=lambda path: path.stat().st_size)
    assert found, "no JavaScript is installed with the tests"
    return found[-1].read_text("utf-8")


def _messages(text: str) -> dict[str, tuple[dict[str, object], str]]:
    """Return messages with a string, and the method that a reply answers."""
    return {
        "an expression": ({"id": 1, "method": "Runtime.evaluate", "params": {"expression": text}}, ""),
        "a script's source": ({"id": 1, "result": {"scriptSource": text}}, "Debugger.getScriptSource"),
        "a body": ({"id": 1, "result": {"body": text, "base64Encoded": False}}, "Network.getResponseBody"),
        "a node": ({"id": 1, "result": {"node": {"nodeValue": text}}}, "DOM.describeNode"),
        "markup": ({"id": 1, "result": {"outerHTML": text}}, "DOM.getOuterHTML"),
        "a name": (
            {"id": 1, "result": {"nodes": [{"name": {"type": "x", "value": text}}]}},
            "Accessibility.getFullAXTree",
        ),
    }


def _changes(text: str) -> list[str]:
    """Return the changes that redaction makes to a string, by the message that contains it."""
    changed = []
    for name, (message, method) in _messages(text).items():
        raw = msgspec.json.encode(message)
        made = Redactor().redact(raw, method)
        if msgspec.json.decode(made) != message:
            kept = str(msgspec.json.decode(made))
            count = kept.count("[redacted")
            changed.append(f"{name}: {count} places: {_around(kept)}")
    return changed


def _around(text: str) -> str:
    return " ... ".join(
        text[max(0, at.start() - 40) : at.end() + 20] for at in list(re.finditer(r"\[redacted", text))[:3]
    )


@pytest.mark.parametrize("document", HARMLESS)
def test_harmless_content_stays(document: str) -> None:
    assert _changes(HARMLESS[document]) == []


def test_the_javascript_of_others_stays() -> None:
    assert _changes(_library()) == []


def test_the_scripts_of_the_engine_stay() -> None:
    changed = {}
    for path in sorted(Path(__file__).parents[2].glob("cdpengine/_*/**/*.js")):
        if found := _changes(path.read_text("utf-8")):
            changed[path.name] = found
    assert changed == {}


def test_long_prose_stays() -> None:
    root = Path(__file__).parents[2]
    with_passwords = {root / "docs" / "cache.md", root / "docs" / "http.md"}  # their examples log in
    changed = {}
    for path in [
        root / "README.md",
        root / "CHANGELOG.md",
        *sorted({*(root / "docs").rglob("*.md")} - with_passwords),
    ]:
        if found := _changes(path.read_text("utf-8")):
            changed[path.name] = found
    assert changed == {}
