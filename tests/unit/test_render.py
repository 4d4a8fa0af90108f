"""Rendering: the contents of a line, hidden values, safety from forged lines, and cut strings."""

from __future__ import annotations

import itertools
import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_trees import (
    DATA,
    NASTY,
    RECORDED,
    REPLIES,
    SNAPSHOT_OPTIONS,
    Short,
    encoded,
    parsed,
    recorded,
    snapshot_of,
    text_of,
    tree,
)

from cdpengine._snapshot.node import SharedNodes
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.render import SnapshotOptions, render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import decode_ax_tree
from cdpengine._snapshot.text import collapse_space, quote, shorten
from cdpengine.errors import InvalidArgumentError

# --- recorded pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", RECORDED)
@pytest.mark.parametrize("mode", ["", "interactive", "compact"])
def test_recorded_pages_read_as_reviewed(page: str, mode: str) -> None:
    expected = (DATA / f"{page}{'.' + mode if mode else ''}.txt").read_text(encoding="utf-8")
    options: dict[str, Any] = {mode: True} if mode else {}
    assert snapshot_of(recorded(page), **options).text + "\n" == expected


def test_no_password_is_shown() -> None:
    text = snapshot_of(recorded("login")).text
    assert '- textbox "Password" [ref=e9] [required] [value=hidden]\n' in text
    assert "hunter2" not in text
    assert "\u2022" not in text


# --- states ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (("button", "A", {"disabled": True}), '- button "A" [ref=e1] [disabled]'),
        (("button", "A", {"disabled": False, "focused": False, "invalid": "false"}), '- button "A" [ref=e1]'),
        (("button", "A", {"focusable": True, "focused": True}), '- button "A" [ref=e1] [focused]'),
        (("checkbox", "A", {"checked": "true"}), '- checkbox "A" [ref=e1] [checked]'),
        (("checkbox", "A", {"checked": "mixed"}), '- checkbox "A" [ref=e1] [checked=mixed]'),
        (("checkbox", "A", {"checked": "false"}), '- checkbox "A" [ref=e1]'),
        (("button", "A", {"pressed": "true"}), '- button "A" [ref=e1] [pressed]'),
        (("button", "A", {"pressed": "mixed"}), '- button "A" [ref=e1] [pressed=mixed]'),
        (("button", "A", {"expanded": True}), '- button "A" [ref=e1] [expanded]'),
        (("button", "A", {"expanded": False}), '- button "A" [ref=e1] [collapsed]'),
        (("button", "A", {"hasPopup": "menu"}), '- button "A" [ref=e1] [haspopup=menu]'),
        (("combobox", "A", {"hasPopup": "listbox"}), '- combobox "A" [ref=e1]'),
        (("option", "A", {"selected": True}), '- option "A" [ref=e1] [selected]'),
        (
            ("textbox", "A", {"required": True, "readonly": True}),
            '- textbox "A" [ref=e1] [required] [readonly]',
        ),
        (("textbox", "A", {"invalid": "true"}), '- textbox "A" [ref=e1] [invalid]'),
        (("textbox", "A", {"invalid": "spelling"}), '- textbox "A" [ref=e1] [invalid=spelling]'),
        (("textbox", "A", {"invalid": 'x] [ref="e9'}), '- textbox "A" [ref=e1] [invalid="x] [ref=\\"e9"]'),
        (("columnheader", "A", {"readonly": True}), '- columnheader "A" [ref=e1]'),
        (("heading", "A", {"level": 2}), '- heading "A" [ref=e1] [level=2]'),
        (("listitem", "A", {"level": 2}), '- listitem "A" [ref=e1]'),
        (("heading", "A", {"level": "x"}), '- heading "A" [ref=e1]'),
        (("heading", "A", {"level": float("inf")}), '- heading "A" [ref=e1] [level=inf]'),
        (
            ("textbox", "A", {"value": 'say "hi"\nthere'}),
            '- textbox "A" [ref=e1] [value="say \\"hi\\"\\nthere"]',
        ),
        (("textbox", "A", {"value": ""}), '- textbox "A" [ref=e1]'),
        (("textbox", "A", {"value": "\u2022\u2022\u2022"}), '- textbox "A" [ref=e1] [value=hidden]'),
        (("textbox", "A", {"value": "\u2022\u2022x"}), '- textbox "A" [ref=e1] [value=hidden]'),
        (
            ("slider", "A", {"value": 30, "valuetext": "30 percent"}),
            '- slider "A" [ref=e1] [value="30 percent"]',
        ),
        (("slider", "A", {"value": 30, "valuetext": ""}), '- slider "A" [ref=e1] [value="30"]'),
        (("meter", "A", {"value": 0.6000000238418579}), '- meter "A" [ref=e1] [value="0.6"]'),
        (("slider", "A", {"valuemin": 0, "valuemax": 10}), '- slider "A" [ref=e1] [min=0] [max=10]'),
        (("button", "A", {"description": "why"}), '- button "A" [ref=e1] [description="why"]'),
        (("button", "A", {"description": "A"}), '- button "A" [ref=e1]'),
        (("button", "A", {"futureState": True}), '- button "A" [ref=e1]'),
        (("generic", "", {"focusable": True, "editable": "richtext"}), "- generic [ref=e1] [editable]"),
        (("textbox", "A", {"editable": "plaintext"}), '- textbox "A" [ref=e1]'),
        (("link", "A", {"url": "http://shop.test/p/1?x=2#y"}), '- link "A" [ref=e1] [url="/p/1?x=2#y"]'),
        (("link", "A", {"url": "http://shop.test/list?page=2#top"}), '- link "A" [ref=e1] [url="#top"]'),
        (
            ("link", "A", {"url": "http://shop.test.evil/p"}),
            '- link "A" [ref=e1] [url="http://shop.test.evil/p"]',
        ),
        (("link", "A", {"url": "https://shop.test/p"}), '- link "A" [ref=e1] [url="https://shop.test/p"]'),
        (("link", "A", {"url": 'javascript:"x]"'}), '- link "A" [ref=e1] [url="javascript:\\"x]\\""]'),
        (("image", "A", {"url": "http://shop.test/a.png"}), '- image "A" [ref=e1]'),
    ],
)
def test_states(node: Short, line: str) -> None:
    assert text_of(node) == line


def test_long_urls_are_visibly_cut() -> None:
    text = text_of(("link", "A", {"url": "data:text/plain," + "x" * 500}))
    (line,) = parsed(text)
    url = line.states["url"]
    assert isinstance(url, str)
    assert len(url) == 120
    assert url.endswith("x…")


def test_names_are_kept_completely_on_one_line() -> None:
    assert text_of(("button", "  a\n\t b\xa0c  " + "x" * 5000)) == f'- button "a b c {"x" * 5000}" [ref=e1]'


def test_duplicates_show_their_index() -> None:
    button = ("button", "Add")
    assert text_of(button, ("link", "Add"), button, ("button", "add")).splitlines() == [
        '- button "Add" [ref=e1]',
        '- link "Add" [ref=e2]',
        '- button "Add" [ref=e3] [nth=1]',
        '- button "add" [ref=e4]',
    ]


# --- no forged lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ('x" [ref=e9]', r'"x\" [ref=e9]"'),
        ("a\\", r'"a\\"'),
        ('\\" [ref=e9]', r'"\\\" [ref=e9]"'),
        ("a\u2028- button", r'"a\u2028- button"'),
        ("a\u2029\x85\x0b\x1c\x00\x7f", r'"a\u2029\u0085\u000b\u001c\u0000\u007f"'),
        ("\u202ecba\u2066\u200f", r'"\u202ecba\u2066\u200f"'),
        ("\x1b[31m", r'"\u001b[31m"'),
        ("a\U000e0041\U000e0100", r'"a\udb40\udc41\udb40\udd00"'),
        ("\ud800", r'"\ud800"'),
        ("\ue001", r'"\ue001"'),
        ("a\n- button", '"a - button"'),
        (
            "\U0001f468\u200d\U0001f469\ufe0f é ö 漢 ن\u200cم",
            '"\U0001f468\u200d\U0001f469\ufe0f é ö 漢 ن\u200cم"',
        ),
        ("co\xadop\u200berate\ufeff", '"cooperate"'),
    ],
)
def test_names_are_quoted_and_escaped(name: str, shown: str) -> None:
    assert quote(collapse_space(name)) == shown


@given(NASTY)
def test_quoted_text_is_a_json_string_on_one_line(text: str) -> None:
    shown = quote(text)
    assert json.loads(shown).encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")
    assert len(shown.splitlines()) == 1
    shown.encode()


@given(NASTY)
def test_collapsed_text_is_tidy(text: str) -> None:
    tidy = collapse_space(text)
    assert collapse_space(tidy) == tidy
    assert tidy.strip(" ") == tidy
    assert "  " not in tidy
    assert not set(tidy) & set("\n\r\t\f\xa0\xad\u200b")


def without_halves(text: str) -> str:
    """Return the decoded text: matching halves of surrogate pairs are one character, others U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(NASTY, NASTY, NASTY, NASTY)
def test_no_page_text_forges_a_line_or_a_ref(name: str, value: str, text: str, url: str) -> None:
    field = ("textbox", name, {"value": value, "description": value, "invalid": value})
    shown = snapshot_of(tree(field, ("paragraph", "", ("StaticText", text)), ("link", name, {"url": url})))
    lines = list(parsed(shown.text))
    name, value, text, url = map(without_halves, (name, value, text, url))
    assert [line.ref for line in lines if line.ref] == ["e1", "e2"]
    assert lines[0].name == (collapse_space(name) or None)
    assert lines[0].states.get("value") in (value, "hidden", None)
    assert len(lines) == (3 if collapse_space(text) else 2)
    assert lines[-1].states.get("url", "") == url


@given(REPLIES, SNAPSHOT_OPTIONS)
def test_any_tree_reads_back(reply: Any, options: dict[str, Any]) -> None:
    ax = decode_ax_tree(encoded(reply))
    shown = snapshot_of(ax, **options)
    lines = list(parsed(shown.text))
    refs = [line.ref for line in lines if line.ref is not None]
    assert len(refs) == len(set(refs))
    assert refs == list(shown.refs)
    for line in lines:
        if line.ref is not None:
            ref = shown.refs[line.ref]
            assert (line.role, line.name or "", line.states.get("nth", "0")) == (
                ref.role,
                ref.name,
                str(ref.nth),
            )
    depths = [-1, *(line.depth for line in lines)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(depths))
    assert shown.stats.lines == len(shown.text.splitlines()) == len(shown.text.split("\n"))
    assert (shown.stats.chars, shown.stats.refs) == (len(shown.text), len(shown.refs))
    assert shown.text == snapshot_of(ax, **options).text


# --- options ---------------------------------------------------------------------------------------------

SHOP: list[Short] = [
    ("navigation", "", ("list", "", ("listitem", "", ("link", "Home")), ("listitem", "", ("link", "Cart")))),
    ("main", "", ("heading", "Tools", {"level": 1}), ("paragraph", "", ("StaticText", "Two of them"))),
    ("listbox", "Sizes", ("group", "", ("option", "S"), ("option", "M"))),
]


def test_interactive_shows_interactive_elements() -> None:
    assert text_of(*SHOP, interactive=True).splitlines() == [
        '- link "Home" [ref=e1]',
        '- link "Cart" [ref=e2]',
        '- listbox "Sizes" [ref=e4]',
        '  - option "S" [ref=e5]',
        '  - option "M" [ref=e6]',
    ]


def test_compact_folds_lines_that_group_nothing() -> None:
    assert text_of(*SHOP, compact=True).splitlines() == [
        "- navigation",
        "  - list",
        '    - link "Home" [ref=e1]',
        '    - link "Cart" [ref=e2]',
        "- main",
        '  - heading "Tools" [ref=e3] [level=1]',
        '  - text: "Two of them"',
        '- listbox "Sizes" [ref=e4]',
        "  - group",
        '    - option "S" [ref=e5]',
        '    - option "M" [ref=e6]',
    ]


def test_max_depth_reports_the_omissions() -> None:
    assert text_of(*SHOP, max_depth=0).splitlines() == [
        "- navigation",
        "- main",
        '- listbox "Sizes" [ref=e4]',
        "# 10 lines (5 refs) below depth 0 left out; raise the depth to see them",
    ]
    assert "#" not in text_of(*SHOP, max_depth=3)


def test_max_chars_cuts_at_a_line_and_reports_the_omissions() -> None:
    whole = text_of(*SHOP)
    assert text_of(*SHOP, max_chars=len(whole)) == whole
    cut = text_of(*SHOP, max_chars=len(whole) - 1)
    assert cut.splitlines()[-1] == (
        "# 8 more lines (5 refs) left out by the limit of 272 characters; raise the limit to see them, "
        "or use interactive or compact or a maximum depth"
    )
    assert cut.splitlines()[:-1] == whole.splitlines()[:5]
    assert "use a maximum depth" in text_of(*SHOP, max_chars=100, interactive=True, compact=True)
    assert text_of(*SHOP, max_chars=0) == (
        "# 13 more lines (6 refs) left out by the limit of 0 characters; raise the limit to see them, "
        "or use interactive or compact or a maximum depth"
    )


def test_a_deep_page_has_limited_indentation() -> None:
    depth = 10_000
    nodes = [{"nodeId": str(n), "role": {"value": "button"}, "childIds": [str(n + 1)]} for n in range(depth)]
    shown = snapshot_of(decode_ax_tree(encoded({"nodes": nodes})))
    assert shown.stats.lines == depth
    assert shown.stats.chars < depth * 250
    assert snapshot_of(decode_ax_tree(encoded({"nodes": nodes})), max_depth=5_000).stats.lines == 5_002


def test_unchanged_parts_are_rendered_once() -> None:
    table, document = RefTable(), fold(tree(("button", "A"), ("link", "B")))
    document.shared = SharedNodes()
    refs, options = table.assign([document]), SnapshotOptions()
    first = render(document, refs, options)
    assert render(document, table.assign([document]), options) is first
    assert render(document, refs, SnapshotOptions(max_depth=0)).text == first.text
    other = {**refs, document.roots[0]: attrs.evolve(refs[document.roots[0]], id="e77")}
    assert "e77" in render(document, other, options).text


def test_an_empty_result_is_reported() -> None:
    assert text_of() == "# nothing to show in the accessibility tree of this document"
    assert text_of(("heading", "A"), interactive=True).startswith("# nothing that can be acted on")


@pytest.mark.parametrize("page", RECORDED)
@given(limit=st.integers(150, 3000), depth=st.none() | st.integers(0, 5))
def test_a_cut_text_keeps_its_limit(page: str, limit: int, depth: int | None) -> None:
    shown = snapshot_of(recorded(page), max_chars=limit, max_depth=depth)
    whole = snapshot_of(recorded(page), max_depth=depth)
    kept = [line for line in shown.text.splitlines() if not line.startswith("#")]
    assert whole.text.splitlines()[: len(kept)] == kept
    assert len(shown.text) <= max(
        limit, sum(len(line) + 1 for line in shown.text.splitlines() if line[0] == "#")
    )
    if len(whole.text) <= limit:
        assert shown.text == whole.text


@pytest.mark.parametrize("option", ["max_depth", "max_chars"])
@pytest.mark.parametrize("value", [-1, True, 1.5, "3"])
def test_invalid_limits(option: str, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=option):
        SnapshotOptions(**{option: value})


def test_shortening_keeps_marks_with_their_letter() -> None:
    assert shorten("abcd", 4) == "abcd"
    assert shorten("abcde", 4) == "abc…"
    assert shorten("abe\u0301e\u0301x", 5) == "abe\u0301…"
    assert shorten("abe\u0301x", 4) == "ab…"
