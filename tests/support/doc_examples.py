"""The examples of the documentation: collected from its pages, and run the way a reader would run them."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import CodeType
from typing import Any

import attrs

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"#  ?-> (.*)$")


def pages() -> list[Path]:
    """Return all pages: the README, CONTRIBUTING, and the documentation."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@attrs.frozen
class Block:
    """A block of code in a page. `line` is the line of its fence, from 1."""

    page: Path
    line: int
    language: str
    source: str

    @property
    def name(self) -> str:
        """The block's file and line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_program(self) -> bool:
        """Whether the block is a complete program, and not the body of an async function."""
        return "trio.run(" in self.source or "asyncio.run(" in self.source

    def compiled(self) -> CodeType:
        """Return the compiled code, with the line numbers of the page."""
        source = "\n" * self.line + self.source
        code: CodeType = compile(
            source, self.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        return code

    def promised(self) -> dict[int, str]:
        """Return the output that comments in the block promise, by line."""
        lines = enumerate(self.source.splitlines(), start=self.line + 1)
        return {number: found[1] for number, line in lines if (found := OUTPUT.search(line))}

    async def run(self, names: dict[str, Any]) -> dict[int, str]:
        """Run the block with these names. Return the output of the lines that promise some."""
        printed: defaultdict[int, list[str]] = defaultdict(list)

        def note(*values: object) -> None:
            printed[sys._getframe(1).f_lineno].append(" ".join(map(str, values)))

        result = eval(self.compiled(), {**names, "print": note, "__name__": "example"})
        if inspect.isawaitable(result):
            await result
        return {number: "\n".join(printed[number]) for number in self.promised()}


def blocks(page: Path) -> list[Block]:
    """Return all blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in FENCE.finditer(text)
    ]
