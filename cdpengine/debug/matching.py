"""Whether a call is the one that was recorded, and what is different where it is not. Pure.

Rule: methods and sessions are equal or they are not; parameters may differ in what changes from run to run
and means nothing to the browser, and in nothing else:

- the values of VOLATILE, and the numbers of LEFT_OF_DEADLINES;
- the names by which the engine counts what it puts into pages ("w21");
- ports of this machine (127.0.0.1:41234), since servers of tests take a free one, and tokens of 16 or more
  hexadecimal digits in small letters, UUIDs too, since those are made up by chance. Chrome's own ids are in
  capitals;
- what was redacted or cut when it was recorded fits everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from cdpengine.debug.known_secrets import REDACTED
from cdpengine.debug.recording import CUT
from cdpengine.debug.redact import Redactor
from cdpengine.debug.secret_words import SECRET_PARAMETERS
from cdpengine.debug.skeleton import LEFT_OF_DEADLINES

VOLATILE = frozenset({"objectGroup", "timestamp", "wallTime"})
"""Parameters whose values the client makes up: names, times."""

_LOOPBACK = re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}\b")
_TOKEN = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{16,64}\b")
_COUNTED = re.compile(r"w\d+")
_SHOWN = 90
_MISSING = object()


def decode_params(raw: bytes | msgspec.Raw) -> Any:
    """Return parameters as plain values; an empty dict where there are none."""
    if not bytes(raw):
        return {}
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return bytes(raw)  # halves of surrogate pairs: equal bytes are equal


def same(recorded: Any, asked: Any) -> bool:
    """Say whether two values are equal, what is volatile aside."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        if recorded.keys() != asked.keys():
            return False
        return all(
            _made_up(key, value, asked[key]) or same(value, asked[key]) for key, value in recorded.items()
        )
    if isinstance(recorded, list) and isinstance(asked, list):
        return len(recorded) == len(asked) and all(map(same, recorded, asked))
    return bool(recorded == asked)


def fits(method: str, recorded: Any, asked: Any) -> bool:
    """Say whether parameters are the recorded ones, but for what may differ."""
    return not any(_differences(recorded, asked, "", SECRET_PARAMETERS.get(method, ())))


def describe(method: str, recorded: Any, asked: Any, most: int = 12) -> list[str]:
    """Return the lines of a diff: "- " what was recorded, "+ " what was asked. Secrets are not shown."""
    redactor = Redactor()
    lines: list[str] = []
    for path, old, new in _differences(recorded, asked, "", SECRET_PARAMETERS.get(method, ())):
        if len(lines) >= 2 * most:
            lines.append("  ...")
            break
        if old is not _MISSING:
            lines.append(f"- {path}: {_shown(old, new, redactor)}")
        if new is not _MISSING:
            lines.append(f"+ {path}: {_shown(new, old, redactor)}")
    return lines


def _differences(
    recorded: Any, asked: Any, path: str, secret: tuple[str, ...]
) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(recorded, dict) and CUT in recorded:
        return
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in [*recorded, *(key for key in asked if key not in recorded)]:
            inner = f"{path}.{key}" if path else str(key)
            old, new = recorded.get(key, _MISSING), asked.get(key, _MISSING)
            if _made_up(key, old, new) or (key in secret and old is not _MISSING and new is not _MISSING):
                continue
            if old is _MISSING or new is _MISSING:
                yield inner, old, new
            else:
                yield from _differences(old, new, inner, secret)
    elif isinstance(recorded, list) and isinstance(asked, list) and len(recorded) == len(asked):
        for index, (old, new) in enumerate(zip(recorded, asked, strict=True)):
            yield from _differences(old, new, f"{path}[{index}]", secret)
    elif isinstance(recorded, str) and isinstance(asked, str):
        if recorded != asked and not _text_fits(recorded, asked):
            yield path, recorded, asked
    elif recorded != asked:
        yield path, recorded, asked


def _made_up(key: Any, recorded: Any, asked: Any) -> bool:
    """Say whether two values of a field mean the same to the browser whatever they are."""
    if key in VOLATILE:
        return True
    if key in LEFT_OF_DEADLINES:
        return _is_number(recorded) and _is_number(asked)
    return key == "id" and _is_counted(recorded) and _is_counted(asked)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_counted(value: Any) -> bool:
    return isinstance(value, str) and _COUNTED.fullmatch(value) is not None


def _text_fits(recorded: str, asked: str) -> bool:
    recorded, asked = _normal(recorded), _normal(asked)
    if REDACTED not in recorded:
        return recorded == asked
    pattern = ".*".join(map(re.escape, recorded.split(REDACTED)))
    return re.fullmatch(pattern, asked, re.DOTALL) is not None


def _normal(text: str) -> str:
    return _TOKEN.sub("<token>", _LOOPBACK.sub(r"\1:<port>", text))


def _shown(value: Any, other: Any, redactor: Redactor) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if isinstance(value, str) and isinstance(other, str) and len(text) > _SHOWN:
        # A long text is shown from where it begins to differ.
        at = next(
            (i for i, (a, b) in enumerate(zip(value, other, strict=False)) if a != b),
            min(len(value), len(other)),
        )
        start = max(0, at - 20)
        text = ("..." if start else "") + text[start:]
    text = redactor.text(text)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return repr(shown) if isinstance(value, str) else shown
