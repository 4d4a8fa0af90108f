"""The map of the code is true: CONTRIBUTING.md names every file, and no file that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MAP = (
    (ROOT / "CONTRIBUTING.md")
    .read_text("utf-8")
    .partition("| file | its one thing |")[2]
    .partition("\n## ")[0]
)


def files() -> set[str]:
    package = ROOT / "cdpengine"
    found = {str(path.relative_to(package)) for end in ("py", "js") for path in package.rglob(f"*.{end}")}
    return {
        name
        for name in found
        if not name.endswith(("__init__.py", "__main__.py")) and "demo_site" not in name
    }


def test_every_file_is_on_the_map_and_nothing_else() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)?[a-z_0-9]+\.(?:py|js))`", MAP))
    assert named == files()
