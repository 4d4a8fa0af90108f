"""Known secrets are found in every encoding, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from rounds import rounds

from cdpengine.debug.recording.known_secrets import REDACTED, KnownSecrets, _Form, _Index

SECRET = 'päss"wörd <4>&2+😀\u00a0/%x'

FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": json.dumps,
    "JSON with letters as they are": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON with upper-case escapes": lambda text: re.sub(
        r"\\u....", lambda escape: "\\u" + escape[0][2:].upper(), json.dumps(text)
    ),
    "JSON escaped for HTML": lambda text: json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e"),
    "a URL": lambda text: quote(text, safe=""),
    "a URL, small digits": lambda text: quote(text, safe="").lower(),
    "a path": quote,
    "a form": quote_plus,
    "encodeURIComponent": lambda text: quote(text, safe="-_.!~*'()"),
    "encodeURI": lambda text: quote(text, safe=";,/?:@&=+$-_.!~*'()#"),
    "a URL in a URL": lambda text: quote(quote(text, safe=""), safe=""),
    "HTML": html.escape,
    "an attribute of Chrome's": lambda text: text.replace("&", "&amp;").replace("\u00a0", "&nbsp;").replace('"', "&quot;"),
    "a text of Chrome's": lambda text: html.escape(text, quote=False).replace("\u00a0", "&nbsp;"),
    "HTML in JSON": lambda text: json.dumps(html.escape(text)),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, one byte before it": lambda text: base64.b64encode(b"x" + text.encode() + b"yz").decode(),
    "base64, two bytes before it": lambda text: base64.b64encode(b"xx" + text.encode() + b"y").decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(b"xx" + text.encode()).decode(),
    "base64 of UTF-16": lambda text: base64.b64encode(b"x" + text.encode("utf-16-le")).decode(),
    "each byte of a URL": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "each letter of HTML": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "bytes in JSON": lambda text: json.dumps(list(text.encode())),
    "base64 twice": lambda text: base64.b64encode(b"x" + base64.b64encode(b"yz" + text.encode())).decode(),
    "hexadecimal digits": lambda text: text.encode().hex(),
    "UTF-16 as bytes": lambda text: text.encode("utf-16-le").decode("latin-1"),
    "UTF-16 as JSON": lambda text: json.dumps(text.encode("utf-16-be").decode("latin-1")),
    "UTF-8 read as Latin-1": lambda text: text.encode().decode("latin-1"),
}  # fmt: skip


@pytest.mark.parametrize(
    "secret", ["hunter2", SECRET, "correct horse", "0123456789abcdef" * 20, "line\nline two"]
)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_secret_is_found_in_each_form(form: Callable[[str], str], secret: str) -> None:
    known = KnownSecrets()
    known.add_entered(secret)
    written = form(secret)
    text = f"before {written} behind"
    assert known.is_in(text)
    assert known.is_in(text.encode())
    clean = known.replace(text)
    assert clean.startswith("before ")
    assert clean.endswith(" behind")
    assert REDACTED in clean
    # The first and last base64 characters may encode parts of the surroundings.
    assert written[6:-6] not in clean if len(written) > 16 else written not in clean


@example(before=b"", behind=b"", secret="000\x1e0\n")  # a separator that does not end a line
@given(
    before=st.binary(max_size=5),
    behind=st.binary(max_size=5),
    secret=st.text(st.characters(codec="utf-8"), min_size=6, max_size=30),
)
def test_base64_hides_no_secret_at_any_offset(before: bytes, behind: bytes, secret: str) -> None:
    known = KnownSecrets()
    known.add_entered(secret)
    if known.secrets:  # blank strings count for nothing
        encoded = base64.b64encode(before + secret.encode() + behind).decode()
        assert REDACTED in known.replace(encoded)


def test_short_strings_are_not_searched() -> None:
    known = KnownSecrets()
    for short in ("a", "12345", "", "      ", REDACTED):
        known.add_entered(short)
        known.add_observed(short)
    assert known.secrets == ()
    assert not known.is_in("a 12345")


def test_an_explicit_secret_may_be_short_and_has_no_common_forms() -> None:
    known = KnownSecrets(["x:"])
    assert known.replace("x: y") == f"{REDACTED} y"
    assert not known.is_in("eDo 783a Og")


def test_a_long_string_is_found_in_pieces() -> None:
    known = KnownSecrets()
    text = "".join(f"{number:04} " for number in range(2_000))
    known.add_entered(text)
    clean = known.replace(f"<textarea>{text}</textarea>")
    assert "0007" not in clean
    assert "1999" not in clean


def test_each_line_is_found_separately_for_any_line_end() -> None:
    known = KnownSecrets()
    known.add_entered("first line\nsecond line")
    assert known.replace("first line, then second line") == f"{REDACTED}, then {REDACTED}"
    assert known.replace("first line\r\nsecond line") == REDACTED


def test_seen_secrets_do_not_displace_entered_ones() -> None:
    known = KnownSecrets()
    known.add_entered("hunter2")
    for number in range(1_000):
        known.add_observed(f"cookie-{number}")
        if number % rounds(10, 1) == 0:
            known.is_in("x")
    assert known.is_in("hunter2")
    assert known.is_in("cookie-999")
    assert not known.is_in("cookie-1 ")


def test_adding_secrets_one_by_one_or_together_finds_the_same() -> None:
    known = KnownSecrets()
    for number in range(40):
        known.add_entered(f"{number:02}-secret")
        assert all(known.is_in(f"x {each:02}-secret") for each in range(number + 1))
        assert not known.is_in(f"x {number + 1:02}-secret")


def test_each_value_of_a_list_is_a_secret() -> None:
    known = KnownSecrets()
    known.add_observed("sid=abcdef12; theme=dark-blue")
    assert known.replace("abcdef12 and dark-blue") == f"{REDACTED} and {REDACTED}"


def test_replacing_without_a_match_returns_the_same_object() -> None:
    known = KnownSecrets()
    known.add_entered("hunter2")
    text, data = "nothing here", b"nothing here"
    assert known.replace(text) is text
    assert known.replace_bytes(data) is data
    assert known.replace_edges(data) is data


@pytest.mark.parametrize("cut", range(4, len("correct horse") - 3))
def test_a_secret_that_is_cut_in_two_is_in_neither_piece(cut: int) -> None:
    known = KnownSecrets()
    known.add_entered("correct horse")
    first = known.replace_edges(b"<p>" + b"correct horse"[:cut])
    second = known.replace_edges(b"correct horse"[cut:] + b"</p>")
    assert first == b"<p>[redacted]"
    assert second == b"[redacted]</p>"


def test_half_a_surrogate_pair_is_harmless() -> None:
    known = KnownSecrets()
    known.add_entered("half \ud83d of it")
    assert known.replace("x half \ud83d of it y \ude00") == f"x {REDACTED} y \ude00"


def test_a_beginning_of_an_entered_text_is_found_too() -> None:
    known = KnownSecrets()
    known.add_entered("correct horse battery")
    assert known.replace("value=correct h and more") == f"value={REDACTED} and more"
    assert known.replace("correct") == "correct"
    assert known.replace("correct%20hor|") == f"{REDACTED}|"
    known.add_observed("cookie-of-some-length")
    assert known.replace("cookie-of-some") == "cookie-of-some"


def test_a_growing_text_replaces_its_beginning() -> None:
    known = KnownSecrets()
    for length in range(1, 40):
        known.add_typed(("secret text " * 4)[: length - 1], ("secret text " * 4)[:length])
    assert len(known.secrets) == 1
    assert known.replace(f"x {('secret text ' * 4)[:39]} y") == f"x {REDACTED} y"


def test_overlapping_secrets_are_removed_as_one() -> None:
    known = KnownSecrets()
    for secret in ("abcdefghij", "ghijklmnop"):
        known.add_entered(secret)
        known.is_in("x")
    assert known.replace("1 abcdefghijklmnop 2") == f"1 {REDACTED} 2"


_LETTERS = st.text("ab", min_size=1, max_size=24).map(str.encode)


@given(
    st.lists(st.tuples(_LETTERS, st.integers(1, 24), st.booleans()), min_size=1, max_size=12),
    st.text("abc", max_size=80).map(str.encode),
)
@example([(b"a" * 12 + b"b", 8, False), (b"a" * 9, 8, False), (b"a" * 10 + b"b", 8, True)], b"a" * 60)
def test_each_place_has_the_longest_matching_form(given: list[tuple[bytes, int, bool]], data: bytes) -> None:
    """Whatever the forms share, the result is as if each was compared, letter by letter, at each place."""
    forms = [_Form(written, min(head, len(written)), whole) for written, head, whole in given]
    expected = set()
    for start in range(len(data)):
        reaches = []
        for form in forms:
            same = 0
            while (
                same < len(form.written)
                and data[start + same : start + same + 1] == form.written[same : same + 1]
            ):
                same += 1
            if same == len(form.written) or (same >= form.head and not form.whole):
                reaches.append(same)
        if reaches:
            expected.add((start, start + max(reaches)))
    found: dict[int, int] = {}
    for start, end in _Index(forms).places(data):
        found[start] = max(end, found.get(start, 0))
    assert set(found.items()) == expected
