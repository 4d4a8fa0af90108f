"""Canaries are found in every form and container, and nowhere else.

Redaction leaves harmless documents alone.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import msgspec
import pytest
import zstandard
from canaries import WINDOW, Canaries, Canary, Finder, report

from cdpengine.debug.recording.redact import Redactor

SECRETS = Canaries(1)
FIRST = SECRETS.make("first")
LONG = SECRETS.make("long", "long")
SHORT = SECRETS.make("short", "short")
TYPED = SECRETS.make("typed", "typed")
FINDER = Finder(SECRETS.all.values())


def _escaped(text: str) -> str:
    return "".join(rf"\u{ord(letter):04x}" for letter in text if ord(letter) < 0x10000)


FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "URL-encoded": lambda text: quote(text, safe="").encode(),
    "URL-encoded, lower case": lambda text: re.sub(
        r"%..", lambda m: m[0].lower(), quote(text, safe="")
    ).encode(),
    "+ for blanks": lambda text: quote_plus(text).encode(),
    "all percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()).encode(),
    "all percent, lower case": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()).encode(),
    "JSON": lambda text: json.dumps(text).encode(),
    "JSON, not ASCII": lambda text: json.dumps(text, ensure_ascii=False).encode(),
    "JSON twice": lambda text: json.dumps(json.dumps(text)).encode(),
    "JSON escapes": lambda text: _escaped(text).encode(),
    "HTML": lambda text: html.escape(text).encode(),
    "HTML, numbers": lambda text: "".join(f"&#{ord(letter)};" for letter in text).encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "hex, upper case": lambda text: text.encode().hex().upper().encode(),
    "UTF-16LE": lambda text: text.encode("utf-16-le"),
    "UTF-16BE": lambda text: text.encode("utf-16-be"),
    "UTF-16 in JSON": lambda text: json.dumps(text.encode("utf-16-le").decode("latin-1")).encode(),
    "UTF-16 in JSON twice": lambda text: json.dumps(
        json.dumps(text.encode("utf-16-be").decode("latin-1"))
    ).encode(),
    "bytes as numbers": lambda text: json.dumps(list(text.encode())).encode(),
    "its beginning": lambda text: text[:WINDOW].encode(),
    "its end": lambda text: text[-WINDOW:].encode(),
    "UTF-16 in base64, of 1": lambda text: base64.b64encode(b"a" + text.encode("utf-16-le")),
    "UTF-16BE in base64": lambda text: base64.b64encode(text.encode("utf-16-be")),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).rstrip(b"="),
}


def _base64_after(offset: int) -> Callable[[str], bytes]:
    return lambda text: base64.b64encode(b"\xff" * offset + text.encode() + b"\xff")


FORMS |= {f"base64, of {offset}": _base64_after(offset) for offset in range(6)}

CONTAINERS: dict[str, Callable[[bytes], bytes]] = {
    "alone": lambda raw: raw,
    "in a line": lambda raw: b'{"t":1.0,"n":1,"k":"event","m":"A.b","msg":{"params":{"x":"' + raw + b'"}}}\n',
    "glued": lambda raw: b"abcDEF012" + raw + b"abcDEF012",
    "gzip": gzip.compress,
    "zstandard": zstandard.compress,
    "gzip in base64": lambda raw: b'{"data":"' + base64.b64encode(gzip.compress(raw)) + b'"}',
    "zlib in base64": lambda raw: b"<script>" + base64.b64encode(zlib.compress(raw)) + b"</script>",
    "base64 in zstandard": lambda raw: zstandard.compress(b"[" + base64.b64encode(raw) + b"]"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_planted_canary_is_found(form: str) -> None:
    for name, pack in CONTAINERS.items():
        for canary in (FIRST, LONG, SHORT, TYPED):
            planted = pack(b" " + FORMS[form](canary.text) + b" ")
            assert FINDER.names(planted) == {canary.name}, f"{canary.name}, {name}: {planted[:300]!r}"
            assert not FINDER.missing(planted, {canary.name}), f"{canary.name}, {name}"


def _line(number: int, method: str, **params: object) -> bytes:
    message = {"method": method, "params": params}
    head = {"t": number / 10, "n": number, "k": "event", "m": method, "msg": message}
    return msgspec.json.encode(head) + b"\n"


def _keys(typed: str, /, **more: Callable[[str], object]) -> bytes:
    return b"".join(
        _line(number, "Input.dispatchKeyEvent", type=kind, **{name: of(letter) for name, of in more.items()})
        for number, letter in enumerate(typed)
        for kind in ("keyDown", "char", "keyUp")
    )


def _chunks(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


PIECES: dict[str, Callable[[str], bytes]] = {
    "key by key": lambda text: _keys(text, text=str),
    "by the codes of keys": lambda text: _keys(
        text, windowsVirtualKeyCode=lambda letter: ord(letter.upper()) if ord(letter) < 128 else 0
    ),
    "by the names of keys": lambda text: _keys(
        text, code=lambda letter: f"Key{letter.upper()}" if letter.isalpha() else f"Digit{letter}"
    ),
    "typed in pieces": lambda text: b"".join(
        _line(number, "Input.insertText", text=piece)
        for number, piece in enumerate(re.findall("(?s).{1,7}", text))
    ),
    "a stream's chunks": lambda text: b"".join(
        _line(
            number,
            "Network.dataReceived",
            data=base64.b64encode(b"x" * 20 + piece if not number else piece + b"x" * 20).decode(),
        )
        for number, piece in enumerate([text.encode()[:6], text.encode()[6:12]])
    ),
}


@pytest.mark.parametrize("pieces", PIECES)
def test_a_canary_in_pieces_is_found(pieces: str) -> None:
    for canary in (FIRST, TYPED):
        text = canary.text
        if pieces in ("by the names of keys",):
            text = re.sub("[^A-Za-z0-9]", "", text)
        assert FINDER.names(PIECES[pieces](text)) == {canary.name}
        assert FINDER.missing(PIECES[pieces](text), {canary.name, "another"}) == {"another"}
        printed = re.sub(rb'"msg":', b"", PIECES[pieces](text))
        assert FINDER.names(printed) == {canary.name}


def test_a_leak_names_its_place_and_form() -> None:
    data = _line(1, "Page.navigate", url=f"http://x/?q={quote(FIRST.text, safe='')}") + _line(2, "A.b", x="y")
    (leak,) = FINDER.find(data)
    assert str(leak) == "first -> event Page.navigate.url -> URL-encoded"
    assert report({"log": [leak]}) == ("first\n    -> log\n        event Page.navigate.url (URL-encoded)")


def test_no_leak_is_found_in_clean_data() -> None:
    others = Canaries(2)
    for name in ("a", "b", "c"):
        others.make(name)
    harmless = b"".join(path.read_bytes() for path in Path(__file__).parents[2].glob("cdpengine/*/*.py"))
    strangers = "\n".join(canary.text for canary in others.all.values()).encode()
    assert FINDER.find(harmless + strangers + base64.b64encode(harmless)) == set()


def test_canaries_have_characters_that_encodings_change() -> None:
    assert all(letter in FIRST.text for letter in ' &"<%+é🦊')
    assert len(LONG.text) == 5_000
    assert len(SHORT.text) == WINDOW
    assert Canaries().make("a").text != Canaries().make("a").text
    assert FIRST.text not in repr(FIRST)
    assert Canary("x", "short").windows == ()


# --- harmless content stays
# --------------------------------------------------------------------------------------

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
    with_passwords = {root / "docs" / "cache.md"}  # its example logs in
    changed = {}
    for path in [
        root / "README.md",
        root / "CHANGELOG.md",
        *sorted({*(root / "docs").rglob("*.md")} - with_passwords),
    ]:
        if found := _changes(path.read_text("utf-8")):
            changed[path.name] = found
    assert changed == {}
