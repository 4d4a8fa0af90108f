"""Conversion of callers' path arguments to a `Path` that the system accepts."""

from __future__ import annotations

import os
from pathlib import Path

from cdpengine.errors import InvalidArgumentError


def to_path(what: str, given: object, expected: str = "a path, as str or Path") -> Path:
    """Return `given` as a Path.

    `what` names the argument. Raises InvalidArgumentError for a value of another type, for an empty string, and
    for an impossible file name: one with a null character, or with an unpaired surrogate that represents no byte.
    """
    try:
        if isinstance(given, str | os.PathLike) and (path := os.fspath(given)) and isinstance(path, str):
            if b"\0" not in os.fsencode(path):
                return Path(path)
            expected = f"{expected}, without a null character"
    except UnicodeEncodeError:
        expected = f"{expected}, without unpaired surrogates"
    displayed = repr(given)[:200] if isinstance(given, str | Path) else f"a {type(given).__name__}"
    raise InvalidArgumentError(what=what, given=displayed, expected=expected)
