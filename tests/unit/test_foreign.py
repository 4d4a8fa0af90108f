"""Foreign strings made safe: escaped characters, kept characters, and an output that no terminal could obey."""

from __future__ import annotations

import json
import re
import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cdpengine._snapshot.content import Paragraph, Run, clean
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.text import python_text, quote, yaml_text
from cdpengine.errors.texts import escape_json, escape_line, escape_lines

TERMINAL = "\x1b]0;t\x07\x9b31m\r\n\b\x7f\u2028\u202e\u200bß\udc9b"
TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from(TERMINAL + "\u200d\u200c\ufe0f\ufe01\U000e0041👩नی")),
    max_size=30,
)

PERSIAN = "می\u200cخواهم"  # noqa: RUF001
HINDI = "क्\u200dष"
FAMILY = "👩\u200d👩\u200d👧"
RED_HEART = "❤\ufe0f"
KEYCAP = "1\ufe0f\u20e3"
HEART_ON_FIRE = "❤\ufe0f\u200d🔥"


def test_terminal_controls_are_escaped() -> None:
    assert escape_line(TERMINAL) == r"\x1b]0;t\x07\x9b31m\r\n\x08\x7f\u2028\u202e\u200b" + "ß" + r"\udc9b"


def test_multiline_text_keeps_its_line_feeds_and_tabs() -> None:
    assert escape_lines("a\n\tb\r\n\x1b") == "a\n\tb\\r\n\\x1b"
    assert escape_line("a\n\tb") == r"a\n\tb"


@pytest.mark.parametrize(
    "hidden",
    [
        "\x00", "\x1b", "\x7f", "\x80", "\x85", "\x9b", "\xad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b",
        "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066", "\u2069", "\u206f", "\u3164",
        "\ufe00", "\ufeff", "\uffa0", "\ufff9", "\uffff", "\udfff", "\U0001d173", "\U000e0001",
        "\U000e0041", "\U000e007f", "\U000e0100", "\U000e01ef",
    ],
)  # fmt: skip
def test_no_hidden_character_passes(hidden: str) -> None:
    for escape in (escape_line, escape_lines):
        assert hidden not in escape(f"a{hidden}b")
        assert escape(f"a{hidden}b").isascii()
    document = json.dumps({"k": f"a{hidden}b"}, ensure_ascii=False)
    assert hidden not in escape_json(document)
    assert json.loads(escape_json(document)) == {"k": f"a{hidden}b"}


@pytest.mark.parametrize(
    "text",
    [
        "Grüße",
        "日本語",
        "עברית",
        PERSIAN,
        HINDI,
        FAMILY,
        RED_HEART,
        KEYCAP,
        HEART_ON_FIRE,
        "👍🏽",
        "10\u202f000 €",
        "é",
        "\\x1b",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert escape_line(text) == escape_lines(text) == escape_json(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db",
        "👩\u200d",
        "\u200d👩",
        "👩\u200d\u200d👩",
        "a\u200cb",
        "a\ufe0f",
        "❤\ufe0f\ufe0f",
        "❤\ufe00",
        "1\ufe0f",
    ],
)
def test_joiners_and_selectors_without_effect_are_shown(text: str) -> None:
    assert "\\u" in escape_line(text)


@given(TEXTS)
def test_the_output_is_one_line_that_any_terminal_shows(text: str) -> None:
    shown = escape_line(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    assert escape_line(shown) == shown
    # Kept characters of category Cf are visible: joiners in their places, the marks of Arabic and Syriac
    # numbers and endings, marks of Kaithi, and the grouping of hieroglyphs.
    seen = re.compile(
        "[\u200c\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001345f]"
    )
    assert all(seen.match(char) for char in shown if unicodedata.category(char) == "Cf")


@given(TEXTS)
def test_lines_are_the_same_except_for_line_feeds_and_tabs(text: str) -> None:
    shown = escape_lines(text)
    assert escape_line(shown) == escape_line(text)
    assert shown.count("\n") == text.count("\n")


@given(
    st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
)
def test_json_parses_to_the_same(value: object) -> None:
    safe = escape_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(safe) == json.loads(json.dumps(value))
    assert not {unicodedata.category(char) for char in safe} & {"Cs", "Zl", "Zp"}
    assert not {char for char in safe if unicodedata.category(char) == "Cc"} - {"\n"}


@pytest.mark.parametrize(
    "hidden", ["\x1b", "\x9b", "\u034f", "\u202e", "\u3164", "\ufe01", "\U000e0041", "a\u200db"]
)
def test_snapshots_and_extracts_hide_nothing_either(hidden: str) -> None:
    for write in (quote, yaml_text, python_text, clean):
        assert hidden not in write(f"text{hidden}text")
    assert json.loads(quote(f"text{hidden}text")) == f"text{hidden}text"
    link = Paragraph((Run("text", (("a", f"https://host/{hidden}"),)),))
    assert hidden not in to_markdown([link])
    for kept in (PERSIAN, FAMILY, RED_HEART):
        assert kept in quote(kept)
        assert kept in yaml_text(kept)
        assert clean(kept) == kept
