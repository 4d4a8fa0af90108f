"""CONTRIBUTING.md locates everything, and every module opens with its description."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "cdpengine"
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MOST_LINES = 150


def folders() -> set[str]:
    inside = {
        path.parent for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    return {f"{path.relative_to(ROOT)}/" for path in inside - {PACKAGE}}


def rows() -> Iterator[str]:
    """Yield the names in backticks in each folder's row of the package table."""
    for line in TEXT.partition("\n## The layers\n")[2].partition("\n## ")[0].splitlines():
        if line.startswith("|"):
            yield from re.findall(r"`([^`]+/)`", line)


def named_files() -> set[str]:
    return set(re.findall(r"`([\w./-]+\.(?:py|js|sh|md|toml|lock|txt|json))`", TEXT))


def first_line(path: Path) -> str:
    """Return the first line of a module's description: a docstring, or the comment at the top of a script."""
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    return (re.match(r"(?://|/\*)\s*([^\n]*)", source) or ["", ""])[1]


def test_every_folder_has_its_line_and_nothing_else() -> None:
    named = list(rows())
    assert len(named) == len(set(named))
    assert set(named) == folders()


def test_every_named_file_exists() -> None:
    places = (ROOT, PACKAGE)
    missing = [name for name in named_files() if not any((place / name).is_file() for place in places)]
    assert named_files()
    assert missing == []


def test_no_list_of_files_exists() -> None:
    assert len(TEXT.splitlines()) <= MOST_LINES, (
        "CONTRIBUTING.md lists no files any more: take such rows out again"
    )


def test_every_module_opens_with_its_description() -> None:
    modules = [
        path for kind in ("py", "js") for path in PACKAGE.rglob(f"*.{kind}") if "demo_site" not in path.parts
    ]
    assert len(modules) > 100
    assert [str(path) for path in modules if len(first_line(path).split()) < 2] == []
