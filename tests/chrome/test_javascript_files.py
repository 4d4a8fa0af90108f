"""The package's JavaScript files: parsed by Chrome itself and checked against a few rules.

This needs no linter and no Node.js. A breach of these rules would harm a page: the files must leave nothing
behind and must not be breakable by the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cdpengine
from cdpengine._protocol.session import Session

pytestmark = pytest.mark.chrome


def javascript_files() -> list[Path]:
    root = Path(cdpengine.__file__).parent
    return sorted(root.rglob("*.js"))


FILES = javascript_files()

FORBIDDEN = {
    r"\bdebugger\b": "would stop the page",
    r"\bconsole\.": "would be seen by the page's owner",
    r"\beval\s*\(|\bnew Function\b": "is blocked by content security policies",
    r"\bvar\b": "use const or let",
    r"[^=!]==[^=]|!=[^=]": "use === or !==",
    r"\b(?:window|globalThis|self)\.[\w$]+\s*=[^=]": "would leave a trace in the page",
    r"\balert\s*\(|\bconfirm\s*\(|\bprompt\s*\(": "would block the page",
}


def code_of(source: str) -> str:
    """Return the source without comments and without the contents of plain string literals."""
    pattern = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    return re.sub(pattern, lambda found: '""' if found[0][0] in "\"'" else "", source, flags=re.DOTALL)


def test_package_has_javascript_files() -> None:
    assert {"actionability.js", "shop.js", "recording.js"} <= {file.name for file in FILES}


async def complaint(session: Session, source: str, name: str) -> str | None:
    """Return the parser's error message, or None if the source is a strict script or expression."""
    for form in (f'"use strict";\n({source}\n)', f'"use strict";\n{source}'):
        reply = await session.call(
            "Runtime.compileScript", expression=form, sourceURL=name, persistScript=False
        )
        if "exceptionDetails" not in reply:
            return None
    return str(reply["exceptionDetails"]["exception"]["description"])


async def test_the_browser_parses_every_file() -> None:
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        async with page.session.enabled("Runtime"):
            for file in FILES:
                assert await complaint(page.session, file.read_text(encoding="utf-8"), file.name) is None
            assert "SyntaxError" in str(await complaint(page.session, "let a = ;", "broken.js"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file_starts_with_its_purpose(file: Path) -> None:
    assert re.match(r"// [A-Z]", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_keeps_to_the_rules(file: Path) -> None:
    code = code_of(file.read_text(encoding="utf-8"))
    breaches = [f"{found[0]!r} {why}" for rule, why in FORBIDDEN.items() for found in re.finditer(rule, code)]
    assert breaches == []
