"""The texts of all errors that the engine makes while tests run: kept short, and written down for reading.

Rule: only errors that the engine's own code makes count; one that a test makes by hand can be as long as it likes.
CDPENGINE_ERROR_TEXTS=FILE appends each text that was not seen before to FILE, a JSON object a line: "kind", "place",
"text" and the test's "test".
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import cdpengine
from cdpengine.errors import EngineError

LONGEST = 400
"""Characters of the text of any error that is made in a test."""

ENGINE = str(Path(cdpengine.__file__).parent) + os.sep
ERRORS = ENGINE + "errors" + os.sep


class ErrorTexts:
    """Sees each error of the engine's as it is made. `begin` and `end` stand around a test."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._written: set[tuple[str, str, str]] = set()
        self._test = ""
        self._wrong: list[str] = []

    def install(self) -> None:
        """Watch the making of all errors, in this process, from now on."""
        for kind in (EngineError, *subclasses(EngineError)):
            # A class without fields of its own is made as its parent is.
            if "__init__" in vars(kind) or kind is EngineError:
                setattr(kind, "__init__", self._watched(getattr(kind, "__init__")))  # noqa: B009, B010 - for the type checker

    def begin(self, test: str) -> None:
        self._test = test
        self._wrong.clear()

    def end(self) -> list[str]:
        """Return what is wrong with the texts that were made since `begin`."""
        return [*self._wrong]

    def _watched(self, make: Callable[..., None]) -> Callable[..., None]:
        @wraps(make)
        def init(error: EngineError, *args: Any, **fields: Any) -> None:
            make(error, *args, **fields)
            if place := place_of(sys._getframe(1)):
                self._note(error, place)

        return init

    def _note(self, error: EngineError, place: str) -> None:
        text = str(error)
        if fault := fault_of(text):
            self._wrong.append(f"{type(error).__name__} made in {place}: {fault}:\n{text[: 3 * LONGEST]}")
        seen = type(error).__name__, place, text
        if self._path and seen not in self._written:
            self._written.add(seen)
            line = json.dumps({"kind": seen[0], "place": place, "text": text, "test": self._test})
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def subclasses(kind: type[EngineError]) -> Iterator[type[EngineError]]:
    """Give all classes below one."""
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def place_of(frame: Any) -> str:
    """Return file and function that make an error, "" where it is no code of the engine's."""
    while frame is not None and frame.f_code.co_filename.startswith(ERRORS):
        frame = frame.f_back
    if frame is None or not frame.f_code.co_filename.startswith(ENGINE):
        return ""
    return f"{frame.f_code.co_filename.removeprefix(ENGINE)}:{frame.f_code.co_qualname}"


def fault_of(text: str) -> str:
    """Return what is wrong with a text: "" where it is short, and says each thing once."""
    if len(text) > LONGEST:
        return f"{len(text)} characters, expected at most {LONGEST}"
    said = Counter(part.strip(" -") for line in text.splitlines()[1:] for part in line.split("; "))
    twice = [part for part, count in said.items() if count > 1 and part]
    return f"{twice[0]!r} is said {said[twice[0]]} times" if twice else ""
