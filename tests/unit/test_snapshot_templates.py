"""Templates of snapshots: a snapshot matches a template if removing lines gives the template."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node_trees import DOCUMENTS, rendered

from cdpengine._snapshot.node import Document
from cdpengine._snapshot.template.comparison import compare
from cdpengine._snapshot.template.lines import LineTree, parse_snapshot, parse_template, write_template
from cdpengine._snapshot.template.matching import Matching
from cdpengine.errors import InvalidArgumentError

PAGE = """- main
  - heading "Todos" [level=1]
  - list
    - listitem: "Buy milk"
    - listitem
      - checkbox "Done" [ref=e1] [checked]
      - text: "Pay rent 45"
  - button "Save" [ref=e3] [nth=1] [disabled]
  - textbox "Name" [ref=e4] [focused] [value="Ada"] [placeholder="your name"]
# 3 more lines (1 ref) left out"""


def matches(template: str, page: str = PAGE) -> bool:
    holds = Matching(parse_template(template), parse_snapshot(page)).holds
    assert (compare(parse_template(template), parse_snapshot(page)) == "") is holds
    return holds


@pytest.mark.parametrize("template", [
    '- heading "Todos"',
    "- heading",
    "- main\n  - button",
    '- main:\n  - heading /^to/i [level=1]\n  - button "Save"',
    "- listitem: Buy milk\n- listitem:\n  - text: /Pay rent \\d+/",
    '- listitem: "Buy milk"',
    "- listitem: /milk$/",
    "- text: Pay rent 45",
    '- checkbox "Done" [checked]',
    '- checkbox "Done" [checked] [disabled=false]',
    '- textbox "Name" [value="Ada"] [placeholder=/name/]',
    '- textbox "Name":\n  - /placeholder: your name',
    '   # a comment\n\n   - list\n     - listitem\n     - listitem\n',
    '- main\n  - /children: equal\n  - heading\n  - list\n  - button\n  - textbox',
    '- list\n  - /children: deep-equal\n  - listitem: "Buy milk"\n  - listitem\n    - checkbox\n    - text: /rent/',
    "- /children: equal\n- main",
    "- main\n  - checkbox",  # the lines between are left out
    PAGE,
])  # fmt: skip
def test_matches(template: str) -> None:
    assert matches(template)


@pytest.mark.parametrize("template", [
    '- heading "todos"',
    '- heading "Todo"',
    "- heading [level=2]",
    "- button\n- heading",  # in another order
    '- listitem "Buy milk"',  # the text is no name
    "- checkbox [checked=false]",
    "- checkbox [checked=mixed]",
    "- button [disabled=false]",
    "- text: rent",  # a part of the text
    "- button\n  - heading",
    "- main\n  - /children: equal\n  - heading\n  - list",
    "- list\n  - /children: equal\n  - listitem",
    "- list\n  - /children: deep-equal\n  - listitem: Buy milk\n  - listitem\n    - checkbox",
    "- /children: equal\n- heading",
    "- link",
])  # fmt: skip
def test_does_not_match(template: str) -> None:
    assert not matches(template)


@pytest.mark.parametrize(
    ("template", "number", "expected"),
    [
        ('- heading "a"\n- buton "x"', 2, "'button'"),
        ("button", 1, 'a line such as - button "Save"'),
        ('- button "x', 1, "marks in brackets"),
        ("- button /(/", 1, "a regular expression"),
        ('- button "a" foo', 1, "marks in brackets"),
        ("- button [checked state]", 1, "a mark such as [checked]"),
        ("- /url: x", 1, "an element around this line"),
        ("- list\n  - /children: same", 2, "contain, equal or deep-equal"),
        ('- button "\\x"', 1, "a JSON string"),
    ],
)
def test_invalid_line_is_named(template: str, number: int, expected: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(expected)) as raised:
        parse_template(template)
    assert raised.value.what == f"line {number} of the template"


@pytest.mark.parametrize("template", ["", "\n  \n", "# only a comment"])
def test_template_needs_a_line(template: str) -> None:
    with pytest.raises(InvalidArgumentError, match="at least one line"):
        parse_template(template)


def test_empty_page_is_written_as_a_template_for_an_empty_page() -> None:
    written = write_template("# the page shows nothing")
    assert written == "- /children: equal\n"
    assert matches(written, "")
    assert not matches(written, "- button")


def test_written_template_has_no_refs_remarks_and_focus() -> None:
    assert (
        write_template(PAGE)
        == """- main
  - heading "Todos" [level=1]
  - list
    - listitem: "Buy milk"
    - listitem
      - checkbox "Done" [checked]
      - text: "Pay rent 45"
  - button "Save" [disabled]
  - textbox "Name" [value="Ada"] [placeholder="your name"]
"""
    )


def test_difference_shows_the_nearest_lines_only() -> None:
    template = """
      - heading "Todos"
      - list:
        - listitem: Buy bread
        - listitem:
          - checkbox "Done" [checked=false]
          - text: /Pay/
      - button "Send"
      - link "Help"
    """
    assert (
        compare(parse_template(template), parse_snapshot(PAGE))
        == """\
--- template
+++ page
  - heading "Todos"
  - list
-   - listitem: "Buy bread"
+   - listitem: "Buy milk"
    - listitem
-     - checkbox "Done" [checked=false]
+     - checkbox "Done" [checked]
      - text: /Pay/
- - button "Send"
+ - button "Save" [disabled]
- - link "Help\""""
    )


def test_difference_of_exact_children_shows_the_additional_lines() -> None:
    template = "- list\n  - /children: equal\n  - listitem\n    - text: /rent/\n  - listitem: New"
    assert (
        compare(parse_template(template), parse_snapshot(PAGE))
        == """\
--- template
+++ page
  - list
+   - listitem: "Buy milk"
    - listitem: /rent/
-   - listitem: "New\""""
    )


def test_option_of_pytest_updates_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CDPENGINE_UPDATE_SNAPSHOTS", raising=False)
    monkeypatch.setenv("CDPENGINE_UPDATE_SNAPSHOTS", "")  # so that it is restored afterwards
    tests = tmp_path / "test_it_updates.py"
    tests.write_text(
        "import os\n\ndef test_it():\n    assert os.environ['CDPENGINE_UPDATE_SNAPSHOTS'] == '1'\n"
    )
    options = ["-q", "--import-mode=importlib", "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    options += ["-p", "no:hypothesispytest", "-p", "cdpengine.testing.pytest_plugin", str(tests)]
    pytest.main(options)
    assert "1 failed" in capsys.readouterr().out
    pytest.main([*options, "--update-snapshots"])
    assert "1 passed" in capsys.readouterr().out


# --- random trees ----------------------------------------------------------------------------------------------

Tree = tuple[str, tuple["Tree", ...]]

TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(st.sampled_from("ab"), st.just(())),
    lambda inner: st.tuples(st.sampled_from("abc"), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=8,
)
FORESTS = st.lists(TREES, min_size=1, max_size=3).map(tuple)


def written(forest: tuple[Tree, ...], depth: int = 0) -> str:
    return "".join(f'{"  " * depth}- group "{name}"\n{written(inside, depth + 1)}' for name, inside in forest)


def includes(page: tuple[Tree, ...], wanted: tuple[Tree, ...]) -> bool:
    """Return whether removing lines of `page` gives `wanted`: the definition itself."""
    if not wanted or not page:
        return not wanted
    *before, (name, inside) = page
    if includes((*before, *inside), wanted):
        return True
    *others, (wanted_name, wanted_inside) = wanted
    return name == wanted_name and includes(inside, wanted_inside) and includes(tuple(before), tuple(others))


@settings(max_examples=300, deadline=None)
@given(FORESTS, FORESTS)
def test_matches_exactly_if_removing_lines_gives_the_template(
    page: tuple[Tree, ...], wanted: tuple[Tree, ...]
) -> None:
    assert matches(written(wanted), written(page)) is includes(page, wanted)


@settings(max_examples=200, deadline=None)
@given(FORESTS, FORESTS)
def test_deep_equal_matches_only_the_same_tree(page: tuple[Tree, ...], wanted: tuple[Tree, ...]) -> None:
    assert matches(f"- /children: deep-equal\n{written(wanted)}", written(page)) is (page == wanted)
    assert matches(f"- /children: deep-equal\n{written(page)}", written(page))


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_any_snapshot_matches_itself_and_its_parts(document: Document, chance: random.Random) -> None:
    page = rendered(document).text.replace("- null", "- group")  # no role
    template = write_template(page)
    assert matches(template, page)
    tree = parse_snapshot(page)
    if tree.lines:
        assert write_template(template) == template
        assert matches(_without(tree, chance), page)


def _without(tree: LineTree, chance: random.Random) -> str:
    """Return a template with some of the lines. The lines inside removed ones move outwards."""
    kept = [bool(chance.getrandbits(1)) for _ in tree.lines]
    kept[chance.randrange(len(kept))] = True
    depths: list[int] = []
    written_lines: list[str] = []
    for index, line in enumerate(tree.lines):
        around = depths[line.parent] if line.parent >= 0 else 0
        depths.append(around + kept[index])
        if kept[index]:
            written_lines.append(f"{'  ' * around}{line}")
    return "\n".join(written_lines)
