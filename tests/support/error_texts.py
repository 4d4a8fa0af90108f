"""The messages of all errors that the engine raises while tests run: checked for length, and optionally
logged.

Rule: only errors that the engine's code creates count. A test may create an error with any message.
CDPENGINE_ERROR_TEXTS=FILE appends each new message to FILE, one JSON object per line: "kind", "place", "text"
and "test".
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
"""Maximum length of an error message in a test run, in characters."""

LONGEST_LIST = 2_400
"""The same for errors that list several elements with their refs or reasons."""

LISTS = ("AmbiguousNodeError", "AssertionFailedError", "FormError")

ENGINE = str(Path(cdpengine.__file__).parent) + os.sep
ERRORS = ENGINE + "errors" + os.sep


class ErrorTexts:
    """Observes the creation of engine errors. Call `begin` before a test and `end` after it."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._written: set[tuple[str, str, str]] = set()
        self._test = ""
        self._wrong: list[str] = []

    def install(self) -> None:
        """Observe all errors of this process from now on."""
        for kind in (EngineError, *subclasses(EngineError)):
            # A class without fields is created by the initializer of its parent.
            if "__init__" in vars(kind) or kind is EngineError:
                setattr(kind, "__init__", self._watched(getattr(kind, "__init__")))  # noqa: B009, B010 - for the type checker

    def begin(self, test: str) -> None:
        self._test = test
        self._wrong.clear()

    def end(self) -> list[str]:
        """Return the faults in messages created since `begin`."""
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
        if fault := fault_of(text, is_list=type(error).__name__ in LISTS):
            self._wrong.append(f"{type(error).__name__} made in {place}: {fault}:\n{text[: 3 * LONGEST]}")
        entry = type(error).__name__, place, text
        if self._path and entry not in self._written:
            self._written.add(entry)
            line = json.dumps({"kind": entry[0], "place": place, "text": text, "test": self._test})
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def subclasses(kind: type[EngineError]) -> Iterator[type[EngineError]]:
    """Yield all subclasses of a class, recursively."""
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def place_of(frame: Any) -> str:
    """Return the file and function that create an error, or "" for code outside of the engine."""
    while frame is not None and frame.f_code.co_filename.startswith(ERRORS):
        frame = frame.f_back
    if frame is None or not frame.f_code.co_filename.startswith(ENGINE):
        return ""
    return f"{frame.f_code.co_filename.removeprefix(ENGINE)}:{frame.f_code.co_qualname}"


def fault_of(text: str, *, is_list: bool) -> str:
    """Return the fault of a message, or "" if it is short and repeats nothing.

    The items of a list can have equal parts, such as the same reason.
    """
    longest = LONGEST_LIST if is_list else LONGEST
    if len(text) > longest:
        return f"{len(text)} characters, expected at most {longest}"
    counts = Counter(
        part.strip(" -")
        for line in text.splitlines()[1:]
        for part in ([line] if is_list else line.split("; "))
    )
    twice = [part for part, count in counts.items() if count > 1 and part]
    return f"{twice[0]!r} appears {counts[twice[0]]} times" if twice else ""
