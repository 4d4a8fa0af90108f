"""Markdown of content: the output parses back to its source, whatever the page's words are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cdpengine._snapshot.content import (
    Block,
    Code,
    Heading,
    Items,
    Paragraph,
    Quote,
    Rule,
    Run,
    Table,
    clean,
    shorten,
    to_text,
)
from cdpengine._snapshot.markdown import to_markdown
from cdpengine._snapshot.readable import blocks_of

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

CASES: list[tuple[str, list[Any], str]] = [
    ("white space", ["  a ", ["b"], " b ", 0, " c\n"], "a **b** c"),
    ("emphasis in words", ["un", ["b"], "frigging", 0, "real ", ["i"], "x", 0, "y"], "un**frigging**real xy"),
    ("emphasis next to punctuation", [["b"], "Note:", 0, "text"], "Note:text"),
    ("two kinds side by side", [["b"], "a", 0, ["i"], "b", 0], "**a**b"),
    ("code", [["code"], "a`b|", 0], "``a`b|``"),
    ("a link of blocks", [["a", "http://h/(x) y"], ["h", 3], "T", 0, 2, "p", 2, 0],
     "### [T](http://h/%28x%29%20y)\n\n[p](http://h/%28x%29%20y)"),
    ("no image of a bang", ["Hi!", ["a", "http://h/"], "l", 0], "Hi\\![l](http://h/)"),
    ("image in link", [["a", "http://h/"], ["img", "an ]alt", "http://h/i.png"], 0],
     "[![an \\]alt](http://h/i.png)](http://h/)"),
    ("line starts", ["# a", 1, "- b", 1, "1. c", 1, "> d", 1, "+ e", 1, "---", 1, "===", 1, "-5", 3, "# f"],
     "\\# a\n\n\\- b\n\n1\\. c\n\n\\> d\n\n\\+ e\n\n\\---\n\n\\===\n\n-5\\\n\\# f"),
    ("html", ["<b>&amp; a < b & c"], "\\<b>\\&amp; a < b & c"),
    ("two lists", [["ul"], ["li"], "a", 0, 0, ["ul"], ["li"], "b", 0, 0], "- a\n\n* b"),
    ("nested lists", [["ul"], ["li"], "a", ["ol"], ["li", 3], "b", 0, 0, 0, ["li"], "c", 0, 0], "- a\n\n  3. b\n\n- c"),
    ("items without a list", [["li"], "a", 0, ["li"], "b", 0], "- a\n- b"),
    ("table", [["table"], ["row"], ["cell", 1, 2, 1], "A|", 0, 0, ["row"], ["cell", 0, 1, 1], "1", 3, "2", 0,
               ["cell", 0, 1, 1], "3", 0, 0, 0], "| A\\| |  |\n| --- | --- |\n| 1<br>2 | 3 |"),
    ("table without headings", [["table"], ["row"], ["cell", 0, 1, 2], "a", 0, ["cell", 0, 1, 1], "b", 0, 0, ["row"],
                                ["cell", 0, 1, 1], "c", 0, 0, 0], "|  |  |\n| --- | --- |\n| a | b |\n|  | c |"),
    ("fence", [["pre", "py"], ["=", "a\n```\n"], 0], "````py\na\n```\n````"),
    ("rule in an item", [["ul"], ["li"], ["hr"], 0, 0], "- ___"),
    ("definitions", [["dt"], "T", 0, ["dd"], "D", 0, ["dd"], "E", 0], "**T**\n\n- D\n- E"),
    ("cell outside of a table", [["cell", 0, 1, 1], "lost?", 0], "lost?"),
    ("never closed", [["ul"], ["li"], ["b"], "a"], "- **a**"),
    ("unseen", ["a\u202eb\u200bc\U000e0041\x1b[1m"], "abc\\[1m"),
    ("frame in a cell", [["table"], ["row"], ["cell", 1, 1, 1], "A", ["frame", 0], 0, 0, 0],
     "Frame\n\n| A |\n| --- |"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_markdown(parts: list[Any], expected: str) -> None:
    assert to_markdown(blocks_of(parts, lambda _: [Paragraph((Run("Frame"),))])) == expected


words = st.text(
    st.sampled_from("ab1 *_`[]()<>!#+-=~|\\&;:./\"'\n") | st.characters(codec="utf-8"),
    min_size=1,
    max_size=12,
)


def plain_text(text: str) -> str:
    return " ".join(clean(text).split())


def shape(text: str) -> list[tuple[str, str]]:
    """Return the parsed structure: each block's type, and its text."""
    out = []
    for token in PARSER.parse(text):
        if token.type == "inline":
            kinds = {child.type for child in token.children or ()}
            assert kinds <= {"text", "softbreak", "text_special"}, (text, kinds)
            out.append(("inline", " ".join("".join(c.content or " " for c in token.children or ()).split())))
        else:
            out.append((token.type, token.content))
    return out


def paragraph(text: str) -> list[Any]:
    return [2, text, 2]


@given(st.lists(words, max_size=5))
def test_words_of_a_page_are_never_structure(texts: list[str]) -> None:
    parts = [
        part
        for text in texts
        for part in (["h", 2], text, 0, ["li"], text, 0, ["quote"], text, 0, 2, text, 2)
    ]
    expected: list[str] = [plain_text(text) for text in texts if plain_text(text) for _ in range(4)]
    found = [
        content for kind, content in shape(to_markdown(blocks_of(parts, lambda _: ()))) if kind == "inline"
    ]
    assert found == expected


marks = st.sampled_from(["b", "i", "s", "code", "a"])


@given(st.lists(st.tuples(st.lists(marks, max_size=3), words), max_size=6))
def test_marked_words_stay_whole(runs: list[tuple[list[str], str]]) -> None:
    parts: list[Any] = []
    for kinds, text in runs:
        parts += [["a", "http://h/?a=(b)&copy;`|*_"] if kind == "a" else [kind] for kind in kinds] + [text]
        parts += [0] * len(kinds)
    tokens = PARSER.parse(to_markdown(blocks_of(parts, lambda _: ())))
    found = "".join(child.content for token in tokens for child in token.children or ())
    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", clean("".join(text for _, text in runs)))


def test_code_reads_back() -> None:
    for text in ("a\n\n  b", "```\nx\n````", "~~~"):
        assert [
            t.content for t in PARSER.parse(to_markdown([Items(((Code(text),),))])) if t.type == "fence"
        ] == [text + "\n"]


MANY: list[Block] = [
    Heading(1, (Run("Title"),)),
    Paragraph((Run("word " * 30, (("b", ""),)),)),
    Items(tuple((Paragraph((Run(f"item {n}"),)),) for n in range(20))),
    Code("line\n" * 20),
    Rule(),
    Quote((Paragraph((Run("quoted " * 10),)),)),
    Table(tuple(((Run(f"a{n}"),), (Run("b"),)) for n in range(20)), header=True),
]


@given(st.integers(1, 1500), st.sampled_from([to_markdown, to_text]))
def test_a_shortened_text_fits_and_is_marked(most: int, write: Any) -> None:
    whole = write(MANY)
    text = shorten(MANY, write, most)
    if len(whole) <= most:
        assert text == whole
    else:
        remark = text.splitlines()[-1]
        assert remark.startswith("[cut: ")
        assert len(text) <= max(most, len(remark))
        assert text.count("```") % 2 == 0


@given(st.data())
def test_no_word_is_lost_in_odd_nesting(data: st.DataObject) -> None:
    kinds = st.sampled_from([["h", 1], ["ul"], ["ol"], ["li"], ["li", 4], ["a", "http://h/"], ["b"], ["table"], ["row"],
                             ["cell", 0, 1, 1], ["quote"], ["dt"], ["dd"], ["caption"]])  # fmt: skip
    parts: list[Any] = []
    opened = 0
    for number in range(data.draw(st.integers(0, 12))):
        chosen = data.draw(kinds | st.just(0) | st.just(1))
        if chosen == 0:
            parts += [0] if opened else []
            opened -= bool(opened)
        else:
            parts.append(chosen)
            opened += chosen != 1
        parts.append(f" w{number} ")
    text = to_text(blocks_of(parts, lambda _: ()))
    assert sorted(re.findall(r"w\d+", text)) == sorted(re.findall(r"w\d+", str(parts)))
