"""Every script that the engine sends exists, and every existing script is sent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import cdpengine
from cdpengine._javascript import _TABLES, compact, script, with_dom

ROOT = Path(cdpengine.__file__).parent
SCRIPTS = {
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in ROOT.rglob("*.js")
    if path.parts[-2] != "demo_site"
}
OWN = {name for name in SCRIPTS if name.startswith("_")}


def texts() -> Iterator[str]:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_script_of_the_engine_is_sent_by_its_path() -> None:
    found = set(texts())
    parts = {name for name in OWN if name.startswith("_snapshot/sources/walk_")}  # named by `_PARTS`
    library = {name for name in OWN if name.startswith("_input/actionability/")}  # named by the library
    assert OWN - found <= parts | library
    assert {name.rpartition("/walk_")[2] for name in parts} | {
        name.rpartition("/")[2] for name in library - found
    } <= found


def test_a_script_is_read_by_its_path() -> None:
    for name in OWN:
        source = compact((ROOT / f"{name}.js").read_text("utf-8"))
        for place, table in _TABLES.items():
            source = source.replace(place, table)
        assert script(name) == source


def test_comments_and_indentation_are_removed() -> None:
    source = "// First.\n// Second.\n(function () {\n  // Third.\n\n  const a = 'b'; // stays\n    return `//${a}`;\n})\n"
    assert compact(source) == "(function () {\nconst a = 'b'; // stays\nreturn `//${a}`;\n})\n"


def test_no_string_spans_several_lines() -> None:
    """Otherwise removing indentation would change it."""
    for name in SCRIPTS:
        for line in (ROOT / f"{name}.js").read_text("utf-8").splitlines():
            if not line.lstrip().startswith("//"):
                assert line.count("`") % 2 == 0, f"{name}: {line}"
                assert not line.endswith("\\"), f"{name}: {line}"


HIDEABLE = re.compile(
    r"(?<!DOM)(?<!prototype)(?<!kit\.own)\??\."
    r"(?:parentNode|parentElement|childNodes|localName|nodeType|shadowRoot|assignedSlot|ownerDocument|isConnected|"
    r"getRootNode|matches|closest|contains|querySelector|querySelectorAll|getAttribute|hasAttribute|textContent|innerText|"
    r"checkVisibility|getBoundingClientRect|activeElement|documentElement|isContentEditable|classList)\b"
)
"""Properties that the names of a page's fields and images can hide, unless they are read through DOM (see
_dom.js).
"""

WITH_THEIR_OWN = ("_snapshot/", "cache/matching/", "_evaluate/", "_dom", "debug/")
"""Scripts that take such properties from the prototypes, and scripts that run in the page's main world."""


def test_forms_and_documents_are_read_through_their_prototypes() -> None:
    for name in SCRIPTS:
        if not name.startswith(WITH_THEIR_OWN):
            assert HIDEABLE.findall(compact((ROOT / f"{name}.js").read_text("utf-8"))) == [], name


def test_a_script_that_uses_dom_receives_it_once() -> None:
    source = with_dom("(node) => DOM.parentNode(node)")
    assert with_dom(source) == source
    assert source.endswith(f"({script('_dom')})")
    assert with_dom("() => 'the DOM.'") == "() => 'the DOM.'"


def test_used_members_of_dom_exist() -> None:
    asked = {
        name
        for path in [*ROOT.rglob("*.js"), *ROOT.rglob("*.py")]
        if path.name not in ("_dom.js", "_javascript.py")
        for name in re.findall(r"\bDOM\.(\w+)\(", path.read_text("utf-8"))
    }
    made = {name for names in re.findall(r'"([\w ]+)"', script("_dom")) for name in names.split()}
    assert asked <= made
